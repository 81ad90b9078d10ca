"""The words of the data files in those of the scenario columns, and what makes a case of a row."""

import csv
from pathlib import Path

DATA = Path(__file__).parent / "data"

MODELS = {  # names in the data that are not the catalog's id in capitals
    "BERT-base": "bert-base-uncased",
    "BERT-large": "bert-large-uncased",
    "GPT-2": "gpt2",
    "GPT-2-medium": "gpt2-medium",
    "GPT-2-large": "gpt2-large",
    "GPT-2-xl": "gpt2-xl",
    "Gemma-3-4B-text": "gemma-3-4b",
    "Gemma-3-12B-text": "gemma-3-12b",
    "Gemma-3-27B-text": "gemma-3-27b",
    "ViT-L/16": "vit-large-patch16",
}
PRECISIONS = {"bf16": "bf16", "fp32": "fp32", "fp16": "fp16", "amp": "bf16-mixed"}
OPTIMIZERS = {
    "adamw_foreach": ("adamw", "foreach"),
    "adamw_fused": ("adamw", "fused"),
    "adamw_forloop": ("adamw", "loop"),
    "sgd": ("sgd", "foreach"),
    "sgd_momentum": ("sgd-momentum", "foreach"),
    "sgd_momentum_forloop": ("sgd-momentum", "loop"),
    "adafactor_hf": ("adafactor", "fused"),
    "adafactor_torch": ("adafactor", "loop"),
    "adafactor_torch_foreach": ("adafactor", "foreach"),
}
ATTENTION = {"sdpa": "flash", "eager": "eager"}
LORA_TARGETS = {"attn": "attention", "all": "all-linear"}


def model_id(name):
    return MODELS.get(name, name.lower())


def read(name):
    """The rows of a data file as dicts of text; none where the file is not there yet."""
    path = DATA / name
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def size(row):
    return {"batch": int(row["batch"]), "sequence_tokens": int(row["seq"])}


def case(group, row, scenario, quantity, truth, left_out=()):
    """One case; `left_out` maps reasons to whether they hold."""
    reasons = [reason for reason, holds in dict(left_out).items() if holds]
    return {
        **scenario,
        "group": group,
        "layers": int(row.get("layers") or 0),
        "quantity": quantity,
        "truth": float(truth),
        "left_out": "; ".join(reasons),
    }
