"""One step of a whole model on fake CUDA tensors: no GPU and no weights.

Only transformers' own code runs.

The model is the class of transformers that a config names, its widths as they are; run by
validation/simulate/here.py.
"""

import contextlib
import inspect
from functools import partial

from validation.simulate.device import torch, transformers
from validation.simulate.ledger import Ledger
from validation.simulate.observe import WEIGHTS, build
from validation.steps import TARGETS, optimizer_of

from torch._subclasses.fake_tensor import FakeTensorMode  # isort: skip
from transformers.models.auto import modeling_auto as auto  # isort: skip

ROUNDED_TO = 512  # bytes (c10/core/CachingDeviceAllocator.h, kMinBlockSize)
FORMATS = {"bf16": "bf16", "fp32": "fp32", "bf16-mixed": "amp"}
HEADS = (
    auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
    auto.MODEL_FOR_CTC_MAPPING_NAMES,
    auto.MODEL_MAPPING_NAMES,
)
KEPT_AS_SAVED = (
    "model_type",
    "transformers_version",
    "auto_map",
    "architectures",
    "quantization_config",
    "torch_dtype",
    "dtype",
)


class Refused(Exception):
    """One sentence: what cannot be simulated, and what to do."""


class Sizes(Ledger):
    """A ledger of the bytes alive, rounded as by the caching allocator, and of their peak.

    The peak counts since `peak` was last set.
    """

    def __init__(self):
        super().__init__()
        self.alive_bytes = self.peak_bytes = 0

    def enter_tensor(self, tensor, operator, kind="activation"):
        storage = super().enter_tensor(tensor, operator, kind)
        if storage is not None:
            self.alive_bytes += allocator_bytes(storage.bytes)
            self.peak_bytes = max(self.peak_bytes, self.alive_bytes)
        return storage

    def leave(self, key, reference):
        storage = self.live.get(key)
        super().leave(key, reference)
        if storage is not None and key not in self.live:
            self.alive_bytes -= allocator_bytes(storage.bytes)


def allocator_bytes(size):
    return -(-size // ROUNDED_TO) * ROUNDED_TO


def config_of(fields):
    """The config class of transformers for this model_type; code from a hub is never run."""
    name = str(fields.get("model_type"))
    if name not in transformers.CONFIG_MAPPING:
        raise Refused(
            f"model_type {name[:40]} has no class in transformers "
            f"{transformers.__version__}, and code from a hub is never run here; "
            "update transformers, or give the config of a type that it has."
        )
    values = {key: value for key, value in fields.items() if key not in KEPT_AS_SAVED}
    return transformers.AutoConfig.for_model(name, **values)


def class_of(fields, name):
    """The class that a config names, or else the usual one for its type."""
    named = [
        cls
        for cls in fields.get("architectures") or ()
        if isinstance(cls, str) and hasattr(transformers, cls)
    ]
    usual = [names[name] for names in HEADS if name in names]
    for one in (*named, *usual):
        of_class = getattr(transformers, one if isinstance(one, str) else one[0], None)
        if isinstance(of_class, type) and issubclass(of_class, transformers.PreTrainedModel):
            return of_class
    raise Refused(f"transformers {transformers.__version__} has no model of model_type {name}.")


def build_model(fields, attention, lora=None):
    """Build the model on the current device with this kind of attention, or eager."""
    config = config_of(fields)
    of_class = class_of(fields, config.model_type)
    try:
        model = of_class._from_config(config, attn_implementation=attention)
    except (ValueError, ImportError):
        if attention == "eager":
            raise
        return build_model(fields, "eager", lora)
    if lora:
        from peft import LoraConfig, get_peft_model

        targets, rank = lora
        model = get_peft_model(
            model,
            LoraConfig(
                r=rank,
                lora_alpha=rank,
                lora_dropout=0.0,
                target_modules=TARGETS.get(targets, targets),
            ),
        )
    return model


def batch_of(model, config, batch, tokens, dtype):
    """Inputs that the class takes by its signature: tokens of both sides, images, or sound."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    takes = inspect.signature(base.forward).parameters
    ids = torch.zeros(batch, tokens, dtype=torch.long, device="cuda")
    given = {}
    if "input_ids" in takes:
        given["input_ids"] = ids
        if config.is_encoder_decoder and "decoder_input_ids" in takes:
            given["decoder_input_ids"] = torch.zeros_like(ids)
    elif "pixel_values" in takes:
        side = getattr(config, "image_size", 224)
        height, width = side if isinstance(side, list | tuple) else (side, side)
        given["pixel_values"] = torch.empty(
            batch, getattr(config, "num_channels", 3), height, width, dtype=dtype, device="cuda"
        )
    elif "input_values" in takes:
        given["input_values"] = torch.empty(batch, tokens * 320 + 80, dtype=dtype, device="cuda")
    else:
        raise Refused(
            f"{type(base).__name__} takes neither tokens, pictures nor a waveform, which are "
            f"all that is fed here."
        )
    if "labels" in takes:
        given["labels"] = (
            torch.zeros(batch, dtype=torch.long, device="cuda")
            if "pixel_values" in given
            else torch.zeros_like(ids)
        )
    if "use_cache" in takes:
        given["use_cache"] = False
    return given


def experts_of(config):
    """Routed experts of a layer; 1 without any."""
    text = config.get_text_config()
    named = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
    return next(
        (
            value
            for name in named
            if isinstance(value := getattr(text, name, None), int) and value > 0
        ),
        1,
    )


def loss_of(out):
    """The loss of a class that has one, or else the sum of its output."""
    loss = getattr(out, "loss", None)
    return (
        loss
        if loss is not None
        else next(value for value in out.values() if isinstance(value, torch.Tensor)).float().sum()
    )


def step(fields, row):
    """Peak of one scenario: of the second training step, or of a prefill and one token. [B]"""
    number_format = FORMATS.get(row["precision"])
    if number_format is None:
        raise Refused(
            f"Precision {row['precision']} is not simulated; choose {', '.join(FORMATS)}."
        )
    stored = WEIGHTS[number_format]
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    lora = (
        (row["lora_targets"], int(row["lora_rank"]))
        if row["tuning"] == "lora" and row["work"] == "training"
        else None
    )
    attention = "eager" if row["attention"] == "eager" else "sdpa"
    model = build(
        partial(build_model, fields, attention, lora), stored, mode, torch.float32 if lora else None
    )
    ledger = Sizes()
    ledger.experts = experts_of(model.config)
    with mode, ledger:
        ledger.enter_model(model)
        run = train if row["work"] == "training" else serve
        run(model, row, stored, ledger)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return {"allocated_peak_bytes": ledger.peak_bytes, "parameters": parameters}


def train(model, row, stored, ledger):
    """Run two steps. The first makes the optimizer's state; the peak is that of the second."""
    model.train()
    config = getattr(model, "config", None)
    batch = batch_of(model, config, int(row["batch"]), int(row["sequence_tokens"]), stored)
    for tensor in batch.values():
        if isinstance(tensor, torch.Tensor):
            ledger.enter_tensor(tensor, "input", "input")
    if row["recompute"] == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        if row["tuning"] == "lora":
            model.enable_input_require_grads()
    optimizer = optimizer_of(
        row, [parameter for parameter in model.parameters() if parameter.requires_grad]
    )
    mixed = row["precision"] == "bf16-mixed"
    for _ in range(2):
        ledger.peak_bytes = ledger.alive_bytes
        with torch.autocast("cuda", dtype=torch.bfloat16) if mixed else contextlib.nullcontext():
            loss = loss_of(model(**batch))
        loss.backward()
        del loss
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def serve(model, row, stored, ledger):
    """Run a prefill of all tokens, whose cache stays, and decode one more token."""
    model.eval()
    batch = batch_of(model, model.config, int(row["batch"]), int(row["sequence_tokens"]), stored)
    batch.pop("labels", None)
    ids = batch.get("input_ids")
    caches = "use_cache" in batch
    last = (
        {"logits_to_keep": 1}
        if "logits_to_keep" in inspect.signature(model.forward).parameters
        else {}
    )
    with torch.no_grad():
        out = model(**batch | ({"use_cache": True} | last if caches else {}))
        cache = getattr(out, "past_key_values", None) if caches else None
        if cache is not None and not model.config.is_encoder_decoder:
            del out
            model(input_ids=ids[:, :1], past_key_values=cache, use_cache=True)
