"""One update of preference or reward training by TRL's own losses, on fake CUDA tensors.

Gives the peak of each phase.

    PYTHONPATH=RELEASE_OF_TRL:. python -m validation.simulate.post_training CONFIG OBJECTIVE
    [name=value ...]

CONFIG is a model's config.json; values of `simulate` may follow. The release's own `compute_loss`
runs on a trainer that was never set up: no data, no processes, the attributes that its config
gives. The optimizer's state stands before, as in every step but the first.
`data/post_training_families.csv` was made so.
"""

import contextlib
import functools
import gc
import importlib
import json
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

from validation.simulate.device import aten, torch  # isort: skip
import transformers
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_map

from validation.simulate.ledger import Ledger
from validation.simulate.observe import build

PROMPT_TOKENS, ANSWER_TOKENS, RANK = 128, 896, 16
PAIRS = ("dpo", "reward")  # two sequences of each example
ROLLED_OUT = ("grpo", "rloo")
# Of trainers and configs.
NAMES = {
    "dpo": "DPO",
    "kto": "KTO",
    "grpo": "GRPO",
    "rloo": "RLOO",
    "reward": "Reward",
    "sft": "SFT",
}
HEAD_OUTPUTS = {  # what the trainers ask of a fused head beside log-probabilities
    "dpo": ("entropy", "mean_logits", "is_top1"),
    "kto": ("entropy", "mean_logits"),
    "sft": ("entropy", "is_top1"),
    "grpo": ("entropy",),
    "rloo": ("entropy",),
}
SETTLED = {  # what the trainers' __init__ would settle
    **dict.fromkeys(
        (
            "aux_loss_enabled",
            "precompute_ref_logps",
            "_entropy_bonus_enabled",
            "use_adaptive_entropy",
        ),
        False,
    ),
    **dict.fromkeys(
        (
            "use_liger_kernel",
            "use_liger_loss",
            "is_fsdp_enabled",
            "model_accepts_loss_kwargs",
            "_is_vlm",
        ),
        False,
    ),
    **dict.fromkeys(("_is_vision_dataset", "log_completions"), False),
    **dict.fromkeys(
        (
            "ref_model",
            "compute_metrics",
            "compute_loss_func",
            "label_smoother",
            "off_policy_mask_threshold",
        ),
        None,
    ),
    **dict.fromkeys(("padding_value", "pad_token_id", "_total_train_tokens", "_step"), 0),
    **dict.fromkeys(
        (
            "current_gradient_accumulation_steps",
            "num_iterations",
            "_tp_size",
            "top_entropy_quantile",
        ),
        1,
    ),
    **dict.fromkeys(("epsilon_low", "epsilon_high"), 0.2),
    "calculate_KL": True,
    "model_kwarg_keys": {"logits_to_keep"},
    "max_completion_length": ANSWER_TOKENS,
    "importance_sampling_level": "token",
    "f_divergence_type": "reverse_kl",
    "loss_weights": [1.0],
}


def chosen_tokens(mask):
    """Number of tokens that a mask selects.

    A mask of (sequences, tokens) selects the answers'; a mask of sequences selects all of them.
    """
    return mask.shape[0] * (ANSWER_TOKENS if mask.dim() > 1 else 1)


def at_mask(values, indices):
    """Return values[mask], or the values at integer indices."""
    mask = indices[0]
    if mask is None or mask.dtype != torch.bool:
        return aten.index.Tensor(values, indices)
    return values.new_empty((chosen_tokens(mask), *values.shape[mask.dim() :]))


# what hangs on the values of a mask has the shape that answers without padding give it; half of the
# examples are chosen
MASKED = {
    aten.index.Tensor: at_mask,
    aten.nonzero.default: lambda mask: mask.new_empty(
        (mask.shape[0] // 2, mask.dim()), dtype=torch.long
    ),
    aten.masked_select.default: lambda values, mask: values.new_empty(chosen_tokens(mask)),
}


class Peaks(Ledger):
    """A ledger with the peak of each phase and the operator that caused it."""

    def __init__(self):
        super().__init__()
        self.total, self.peaks, self.stand_ins = 0, {}, MASKED

    def enter_tensor(self, tensor, operator, kind="activation"):
        storage = super().enter_tensor(tensor, operator, kind)
        if storage is not None:
            self.total += storage.bytes
            if self.total > self.peaks.get(self.period, (0,))[0]:
                self.peaks[self.period] = self.total, operator
        return storage

    def leave(self, key, reference):
        storage = self.live.get(key)
        super().leave(key, reference)
        if storage is not None and key not in self.live:
            self.total -= storage.bytes


class Kernel:
    """A Triton kernel, which works in place: launching it on any grid allocates nothing."""

    def __init__(self, _source):
        pass

    def __getitem__(self, _grid):
        return lambda *arguments, **named: None


def with_kernels():
    """Let the release take the code paths that it takes if Triton is installed."""
    triton = ModuleType("triton")
    triton.jit, triton.cdiv, triton.language = (
        Kernel,
        lambda cells, block: -(-cells // block),
        MagicMock(),
    )
    sys.modules |= {"triton": triton, "triton.language": triton.language}
    transformers.utils.is_triton_available = lambda *version: True


def trainer_of(objective):
    """A trainer of the release on the path, with its config and a stand-in for accelerate."""
    module = importlib.import_module(f"trl.trainer.{objective}_trainer")
    config = importlib.import_module(f"trl.trainer.{objective}_config")
    arguments = getattr(config, f"{NAMES[objective]}Config")(
        output_dir="unused", report_to=[], use_cpu=True
    )
    trainer = object.__new__(getattr(module, f"{NAMES[objective]}Trainer"))
    trainer.__dict__.update(
        {key: value for key, value in vars(arguments).items() if not key.startswith("_")} | SETTLED
    )
    same = lambda values, **_: values  # noqa: E731
    processes = {
        "num_processes": 1,
        "is_main_process": True,
        "parallelism_config": None,
        "autocast": contextlib.nullcontext,
    }
    gathers = dict.fromkeys(("gather", "gather_for_metrics", "unwrap_model", "reduce"), same)
    trainer.accelerator = SimpleNamespace(device=torch.device("cuda"), **processes, **gathers)
    trainer.args, trainer.state = arguments, SimpleNamespace(global_step=1, num_input_tokens_seen=0)
    for name in ("_metrics", "_logs"):
        setattr(trainer, name, defaultdict(lambda: defaultdict(list)))
    loss_type = getattr(arguments, "loss_type", None)
    trainer.loss_types = loss_type if isinstance(loss_type, list) else [loss_type]
    return trainer


def batch_of(objective, sequences, precomputed):
    """The batch that an objective's collator makes of prompts and answers without padding."""
    ids = lambda tokens: torch.zeros(sequences, tokens, dtype=torch.long, device="cuda")  # noqa: E731
    every = ids(PROMPT_TOKENS + ANSWER_TOKENS)
    plain = {"input_ids": every, "attention_mask": torch.ones_like(every)}
    answered = {"completion_mask": torch.cat([ids(PROMPT_TOKENS), ids(ANSWER_TOKENS) + 1], dim=1)}
    if objective in ROLLED_OUT:
        scores = {
            f"{name}_per_token_logps": torch.zeros(sequences, ANSWER_TOKENS, device="cuda")
            for name in ("ref", "old")
        }
        made = {
            "advantages": torch.zeros(sequences, device="cuda"),
            "num_items_in_batch": torch.ones((), device="cuda"),
        }
        parts = {"prompt": PROMPT_TOKENS, "completion": ANSWER_TOKENS}
        texts = {f"{name}_ids": ids(tokens) for name, tokens in parts.items()}
        return (
            texts
            | {f"{name}_mask": ids(tokens) + 1 for name, tokens in parts.items()}
            | scores
            | made
        )
    if objective == "kto":
        mismatched = {f"KL_{name}": values.clone() for name, values in (plain | answered).items()}
        return (
            plain
            | answered
            | mismatched
            | {"label": torch.ones(sequences, dtype=torch.long, device="cuda")}
        )
    if objective == "dpo":
        names = ("chosen", "rejected") if precomputed else ()
        return (
            plain
            | answered
            | {f"ref_{name}_logps": torch.zeros(sequences // 2, device="cuda") for name in names}
        )
    return plain | ({"labels": every.clone()} if objective == "sft" else {})


def build_policy(path, objective, precision, tuning, mode):
    """Build the policy, or a model of its kind, with parameters in their formats."""
    fields = json.loads(Path(path).read_text())
    config = transformers.AutoConfig.for_model(fields.pop("model_type"), **fields)
    config.use_cache = False
    scores = objective == "reward"
    if scores:
        config.num_labels, config.pad_token_id = 1, 0
    classes = (
        transformers.AutoModelForSequenceClassification
        if scores
        else transformers.AutoModelForCausalLM
    )
    make = functools.partial(classes.from_config, config)
    if tuning == "lora":
        from peft import LoraConfig, get_peft_model

        task = "SEQ_CLS" if scores else "CAUSAL_LM"
        adapted = LoraConfig(
            r=RANK, lora_alpha=RANK, lora_dropout=0.0, target_modules="all-linear", task_type=task
        )
        plain = make
        make = lambda: get_peft_model(plain(), adapted)  # noqa: E731
    stored = torch.float32 if precision == "bf16-mixed" else torch.bfloat16
    return build(make, stored, mode, torch.float32 if tuning == "lora" else None)


def prepared(model, precision):
    """Return the model as accelerate prepares it: forward under autocast, outputs in fp32."""
    if precision == "bf16":
        return model
    forward = torch.autocast("cuda", dtype=torch.bfloat16)(model.forward)

    def widened(values):
        is_float = isinstance(values, torch.Tensor) and values.is_floating_point()
        return values.float() if is_float else values

    model.forward = functools.wraps(model.forward)(
        lambda *args, **named: tree_map(widened, forward(*args, **named))
    )
    return model


def fuse_head(model, objective, outputs):
    """Compute head and log-probabilities in tiles, if the release does so for the objective."""
    utilities = importlib.import_module("trl.trainer.utils")
    if objective in HEAD_OUTPUTS and hasattr(utilities, "add_fused_lm_head"):
        utilities.add_fused_lm_head(model, outputs=("log_probs", *outputs))


def simulate(
    path, objective, batch=2, precision="bf16", tuning="full", recompute="full", reference="none"
):
    """Return the bytes before an update, and each phase's peak with the operator that caused it."""
    with_kernels()
    trainer = trainer_of(objective)
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    ledger = Peaks()
    model = build_policy(path, objective, precision, tuning, mode).train()
    fuse_head(
        model.get_base_model() if tuning == "lora" else model,
        objective,
        HEAD_OUTPUTS.get(objective, ()),
    )
    if recompute == "full":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        if tuning == "lora":
            model.enable_input_require_grads()
    other = (
        build_policy(path, objective, precision, "full", mode).eval().requires_grad_(False)
        if reference == "kept"
        else None
    )
    if other is not None:
        fuse_head(other, objective, ())
        prepared(other, precision)
    trainer.model, trainer.ref_model = prepared(model, precision), other
    trainer.precompute_ref_logps = reference == "precomputed"
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    with mode, ledger:
        inputs = batch_of(
            objective, int(batch) * (2 if objective in PAIRS else 1), reference == "precomputed"
        )
        for one in filter(None, (model, other)):
            ledger.enter_model(one)
        states = [torch.zeros_like(parameter) for parameter in trained for _ in range(2)]  # AdamW's
        peaks = {"before": (ledger.total, "")}
        for parameter in trained:
            parameter.register_post_accumulate_grad_hook(
                lambda each: ledger.name(each.grad, "gradient")
            )
        if objective in ROLLED_OUT and reference != "none":
            ledger.period = "log-probs"
            with (
                torch.no_grad(),
                contextlib.nullcontext() if other is not None else model.disable_adapter(),
            ):
                ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1)
                mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], dim=1)
                trainer._get_per_token_logps_and_entropies(
                    other or model, ids, mask, ANSWER_TOKENS, batch_size=len(ids)
                )
        ledger.period = "forward"
        loss = trainer.compute_loss(model, inputs)
        gc.collect()
        ledger.period = "backward"
        loss.backward()
        del states
    return peaks | {
        name: ledger.peaks[name]
        for name in ("log-probs", "forward", "backward")
        if name in ledger.peaks
    }


if __name__ == "__main__":
    print(
        json.dumps(
            simulate(*sys.argv[1:3], **dict(argument.split("=", 1) for argument in sys.argv[3:]))
        )
    )
