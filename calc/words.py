"""Changes of a scenario in words, and what each costs in quality where that is known, with who says so."""

import numpy as np

from calc.charts.tables import name_of
from calc.scenarios.read import CATALOG_OF
from calc.search.allowed import MARKETS

WORDS = {
    "model": "{0}",
    "work": "{0}",
    "tuning": "{0} tuning",
    "precision": "{0}",
    "optimizer": "{0}",
    "recompute": "recompute {0}",
    "loss": "{0} loss",
    "compile": "compile {0}",
    "implementation": "{0}",
    "kv_precision": "{0}",
    "sharding": "{0}",
    "offload": "{0} in CPU memory",
    "tensor_parallel": "tensor parallel {0:.0f}",
    "pipeline_parallel": "{0:.0f} pipeline stages",
    "context_parallel": "context parallel {0:.0f}",
    "gpus": "{0:.0f} GPUs",
    "batch": "micro-batch {0:.0f}",
    "accumulation_steps": "{0:.0f} accumulation steps",
    "instance": "{0}",
    "region": "{0}",
    "market": "{0}",
}
SPOKEN = {
    ("recompute", "none"): "no recompute",
    ("sharding", "none"): "no sharding",
    ("offload", "none"): "nothing offloaded",
    ("offload", "all"): "all offloaded to CPU memory",
    ("offload", "optimizer"): "optimizer state in CPU memory",
    ("compile", "yes"): "compiled blocks",
    ("compile", "no"): "blocks not compiled",
    ("tuning", "full"): "all weights trained",
    ("tuning", "lora"): "LoRA",
    ("pipeline_parallel", 1.0): "no pipeline",
    ("tensor_parallel", 1.0): "no tensor parallel",
    ("context_parallel", 1.0): "no context parallel",
    ("gpus", 1.0): "1 GPU",
    ("accumulation_steps", 1.0): "no accumulation",
}
SAME = "the same numbers"
REBATCHED = "the same tokens per step in more micro-batches"
UNCHANGED = (SAME, REBATCHED, "the reference", "none")
QUALITY = {
    "recompute": (SAME, "Chen et al. 2016, arXiv 1604.06174"),
    "sharding": (SAME, "Rajbhandari et al. 2019, arXiv 1910.02054"),
    "offload": (SAME, "Ren et al. 2021, arXiv 2101.06840"),
    "tuning": ("learns less than full tuning on far tasks", "Biderman et al. 2024, arXiv 2405.09673"),
    "loss": (SAME, "Hsu et al. 2024, arXiv 2410.10989"),
    "batch": (REBATCHED, "Goyal et al. 2017, arXiv 1706.02677"),
    "kv_precision": ("small loss, more on long contexts", "Hooper et al. 2024, arXiv 2401.18079"),
    "tensor_parallel": (SAME, "Shoeybi et al. 2019, arXiv 1909.08053"),
}
MEASURED_BY = {
    "adamw-8bit": "Dettmers et al. 2022, arXiv 2110.02861",
    "adafactor": "Shazeer and Stern 2018, arXiv 1804.04235",
    "lion": "Chen et al. 2023, arXiv 2302.06675",
    "muon": "Liu et al. 2025, arXiv 2502.16982",
    "bf16": "Zamirai et al. 2020, arXiv 2010.06192",
    "fp8": "Micikevicius et al. 2022, arXiv 2209.05433",
    "fp8-mixed": "Micikevicius et al. 2022, arXiv 2209.05433",
    "int8": "Dettmers et al. 2022, arXiv 2208.07339",
    "nf4": "Dettmers et al. 2023, arXiv 2305.14314",
    "nf4-dq": "Dettmers et al. 2023, arXiv 2305.14314",
    "gptq-4bit": "Frantar et al. 2022, arXiv 2210.17323",
    "awq-4bit": "Lin et al. 2023, arXiv 2306.00978",
}
NOTED = ("precision", "optimizer")  # whose catalog says what a value costs in quality


def said(name, value, catalogs):
    """One choice as people say it."""
    if name == "market":
        return MARKETS[value].label
    if name == "implementation":
        return str(catalogs.implementations["name"].get(value, value))
    if (name, value) in SPOKEN:
        return SPOKEN[name, value]
    number = isinstance(value, int | float | np.integer | np.floating)
    return WORDS[name].format(value if number else name_of(name, value, catalogs))


def in_words(change, catalogs, serves=False):
    """A change of choices as people say it."""
    if serves and "batch" in change:
        rest = {name: value for name, value in change.items() if name != "batch"}
        return ", ".join(filter(None, [in_words(rest, catalogs), f"{change['batch']:.0f} at once"]))
    if change.get("tuning") == "lora" and "precision" in change:
        rest = {name: value for name, value in change.items() if name not in ("tuning", "precision")}
        first = f"LoRA over {said('precision', change['precision'], catalogs)}"
        return ", ".join(filter(None, [first, in_words(rest, catalogs)]))
    return ", ".join(said(name, value, catalogs) for name, value in change.items() if name in WORDS)


def quality(change, catalogs, serves=False):
    """What a change costs in quality, and who says so; both empty where nothing is known."""
    told = {}
    for name, value in change.items():
        note, source = QUALITY.get(name, ("", "")) if not (serves and name == "batch") else ("", "")
        if name in NOTED and not (value == "bf16" and change.get("tuning") == "lora"):
            note = str(getattr(catalogs, CATALOG_OF[name])["quality_note"].get(value, ""))
            trained, _, served = note.partition("; serving: ")
            note, source = (served or trained) if serves else trained, MEASURED_BY.get(value, "")
        if note:
            told[note] = source
    if any(note not in UNCHANGED for note in told):
        told = {note: source for note, source in told.items() if note not in UNCHANGED}
    return "; ".join(told), "; ".join(dict.fromkeys(filter(None, told.values())))
