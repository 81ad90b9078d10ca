"""How a row is set up, in one line that names everything by which its memory differs from the usual."""

from calc.scenarios.inputs import DEFAULTS
from calc.search.comparisons import replicas
from calc.words import card_name, name_of, said
from views.wording.numbers import is_missing

SHARDINGS = {"none": "DDP", "zero1": "ZeRO 1", "zero2": "ZeRO 2", "zero3": "FSDP (ZeRO 3)"}
DEGREES = {"tensor_parallel": "tensor parallel", "pipeline_parallel": "pipeline", "context_parallel": "context parallel"}
# What is said of a column where it is not its default; {0} is the value, in the words of its catalog where it has any.
BESIDE = {
    "optimizer_kernel": "{0} optimizer kernel",
    "gradient_precision": "{0} gradients",
    "attention": "{0} attention",
    "loss": "{0} loss",
    "compile": "compiled",
    "reduce_precision": "{0} reduction",
    "tie_embeddings": "embeddings tied: {0}",
    "expert_parallel": "expert parallel {0}",
    "offload": "{0} in CPU memory",
    "images_per_sequence": "{0} images in each",
    "image_tokens": "{0} tokens an image",
    "logits": "{0} logits",
    "max_sequences": "at most {0} sequences",
    "max_batched_tokens": "at most {0} batched tokens",
    "memory_utilization": "{0} of the card",
}
LORA = {"lora_rank": "rank {0}", "lora_targets": "on {0}", "adapter_precision": "{0} adapters"}


def setting(row, catalogs):
    """bf16 mixed · AdamW · FSDP over 8 GPUs · micro-batch 1 × 4 steps of 4,096 tokens · recompute full."""
    trains, software = row["work"] == "training", row["implementation"]
    parts = [_method(row, catalogs), *(_training(row, catalogs) if trains else _serving(row, catalogs))]
    parts += [f"{words} {row[name]:.0f}" for name, words in DEGREES.items() if row[name] > 1]
    own_loss = catalogs.implementations["default_loss"].get(software) if trains else row["loss"]
    own_share = catalogs.implementations["reserves_share"].get(software)
    usual = {**DEFAULTS, "loss": own_loss, "memory_utilization": own_share}
    parts += [_said(name, words, row) for name, words in BESIDE.items() if not is_missing(row.get(name)) and row[name] != usual.get(name)]
    parts += [said("implementation", software, catalogs)] if software != "transformers" or not trains else []
    return " · ".join(part for part in parts if part)


def _method(row, catalogs):
    precision = name_of("precision", row["precision"], catalogs)
    if row["work"] != "training" or row["tuning"] != "lora":
        return precision
    beside = [_said(name, words, row) for name, words in LORA.items()]
    return f"LoRA {' '.join(beside[:2])}, {beside[2]}, over {precision}"


def _training(row, catalogs):
    copies = replicas(row)
    steps = f" × {row['accumulation_steps']:.0f} steps" if row["accumulation_steps"] > 1 else ""
    how = SHARDINGS.get(row["sharding"]) or name_of("sharding", row["sharding"], catalogs)
    shared = f"{how} over {copies:.0f} {'GPUs' if copies == row['gpus'] else 'replicas'}"
    yield name_of("optimizer", row["optimizer"], catalogs)
    yield "1 GPU" if row["gpus"] == 1 else shared if copies > 1 else ""
    yield f"micro-batch {row['batch']:.0f}{steps} of {row['sequence_tokens']:,.0f} tokens"
    yield said("recompute", row["recompute"], catalogs)
    if not is_missing(row["decoder_tokens"]) and row["decoder_tokens"] != row["sequence_tokens"]:
        yield f"decoder {row['decoder_tokens']:,.0f} tokens"


def _serving(row, catalogs):
    copies = replicas(row)
    yield f"{copies:.0f} replicas" if copies > 1 else ""
    at_once = "on each" if copies > 1 else "at once"
    yield f"{row['batch']:.0f} sequence{'s' if row['batch'] > 1 else ''} {at_once} of {row['sequence_tokens']:,.0f} tokens"
    yield f"prompt {row['prompt_tokens']:,.0f}" if row["prompt_tokens"] != row["sequence_tokens"] else ""
    yield name_of("kv_precision", row["kv_precision"], catalogs) if row["kv_precision"] else ""


def _said(name, words, row):
    value = row[name]
    return words.format(f"{value:,.10g}" if isinstance(value, int | float) else value)


def card(row, catalogs):
    """8 × H100 SXM5 80GB."""
    return f"{row['gpus']:.0f} × {card_name(row['gpu'], catalogs)}" if row["gpu"] else f"{row['gpus']:.0f} GPUs"
