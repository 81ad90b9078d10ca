"""One case on a real device, by phase: a training step, or a prefill with some tokens."""

import json
from contextlib import nullcontext
from pathlib import Path

import torch
import transformers
from peft import LoraConfig, get_peft_model
from transformers.optimization import Adafactor

CONFIGS = json.loads((Path(__file__).parent / "configs.json").read_text(encoding="utf-8"))
TOKENS_DECODED = 4
STORED = {"bf16": torch.bfloat16, "fp16": torch.float16}
ATTENTION = {"flash": "sdpa", "eager": "eager"}
TARGETS = {"all-linear": "all-linear", "attention": ["q_proj", "k_proj", "v_proj", "o_proj"]}
LAYERS = {
    "gpt2": ("n_layer",),
    "t5": ("num_layers", "num_decoder_layers"),
    "whisper": ("encoder_layers", "decoder_layers"),
}


def build(case, device):
    """Return the model of a case, random in its stored precision, and its config."""
    fields = dict(CONFIGS[case["model"]])
    architecture, model_type = fields.pop("architecture"), fields.pop("model_type")
    if case["layers"]:
        fields |= dict.fromkeys(LAYERS.get(model_type, ("num_hidden_layers",)), int(case["layers"]))
    config = transformers.AutoConfig.for_model(model_type, **fields)
    stored = STORED.get(case["precision"], torch.float32)
    attention = ATTENTION[case["attention"]]
    with torch.device(device):
        model = getattr(transformers, architecture)._from_config(
            config, dtype=stored, attn_implementation=attention
        )
    if case["tuning"] == "lora":
        targets, rank = TARGETS[case["lora_targets"]], int(case["lora_rank"])
        adapters = LoraConfig(
            r=rank, target_modules=targets, lora_dropout=0.0, task_type="CAUSAL_LM"
        )
        model = get_peft_model(model, adapters)
    return model.to(device), config


def inputs(case, config, device):
    """One batch, with labels where the model trains."""
    batch, tokens = int(case["batch"]), int(case["sequence_tokens"])
    stored = STORED.get(case["precision"], torch.float32)
    if config.model_type == "vit":
        pictures = torch.randn(
            batch, 3, config.image_size, config.image_size, device=device, dtype=stored
        )
        return {
            "pixel_values": pictures,
            "labels": torch.randint(0, config.num_labels, (batch,), device=device),
        }
    ids = torch.randint(1, config.vocab_size, (batch, tokens), device=device)
    if config.model_type == "whisper":
        sound = torch.randn(batch, config.num_mel_bins, 3000, device=device, dtype=stored)
        return {"input_features": sound, "labels": ids, "use_cache": False}
    if case["work"] == "inference":
        return {"input_ids": ids}
    return {
        "input_ids": ids,
        "labels": ids,
        **({} if config.model_type == "bert" else {"use_cache": False}),
    }


def optimizer_of(case, parameters):
    name, kernel, rate = case["optimizer"], case["optimizer_kernel"], 1e-5
    foreach = kernel == "foreach"
    if name == "adamw":
        return torch.optim.AdamW(parameters, rate, foreach=foreach, fused=kernel == "fused")
    if name == "adafactor" and kernel == "fused":
        return Adafactor(parameters, lr=rate, scale_parameter=False, relative_step=False)
    if name == "adafactor":
        return torch.optim.Adafactor(parameters, rate, foreach=foreach)
    return torch.optim.SGD(
        parameters, rate, momentum=0.9 if name == "sgd-momentum" else 0.0, foreach=foreach
    )


def train(case, model, batch, device, read):
    """Run two steps. The first makes the optimizer's state; the second is read phase by phase."""
    model.train()
    if case["recompute"] == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        if case["tuning"] == "lora":
            model.enable_input_require_grads()
    optimizer = optimizer_of(
        case, [parameter for parameter in model.parameters() if parameter.requires_grad]
    )
    mixed = case["precision"] == "bf16-mixed"

    def loss_of_a_batch():
        with torch.autocast(device, dtype=torch.bfloat16) if mixed else nullcontext():
            return model(**batch).loss

    loss_of_a_batch().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    read("first_step")
    loss = loss_of_a_batch()
    read("forward")
    loss.backward()
    del loss
    read("backward")
    optimizer.step()
    read("step")


def serve(case, model, batch, read):
    """Run a prefill of all tokens, then decode a few tokens one by one."""
    model.eval()
    with torch.no_grad():
        last = {} if case["logits"] == "all" else {"logits_to_keep": 1}
        out = model(**batch, use_cache=True, **last)
        read("prefill")
        cache = out.past_key_values
        del out
        for _ in range(TOKENS_DECODED):
            model(input_ids=batch["input_ids"][:, :1], past_key_values=cache, use_cache=True)
        read("decode")


def run(case, device, read):
    """Run the phases of a case and call `read` after each. Return the number of parameters."""
    model, config = build(case, device)
    read("build")
    batch = inputs(case, config, device)
    if case["work"] == "training":
        train(case, model, batch, device, read)
    else:
        serve(case, model, batch, read)
    return sum(parameter.numel() for parameter in model.parameters())
