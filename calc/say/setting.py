"""The setting of a row in words: one choice, the full line, the short form."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from calc.catalogs.load import Catalogs
from calc.catalogs.strict_yaml import read_strictly
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.layout import replicas
from calc.say.numbers import is_missing, parameter_count, with_noun
from calc.say.place import card_name
from calc.scenarios.inputs import CATALOG_OF, DEFAULTS

FILE = Path(__file__).with_suffix(".yaml")
WORDS, PHRASES, SHARDINGS, DEGREES, UNUSUAL, LORA = read_strictly(
    FILE.read_text("utf-8"), FILE.name
).values()
CALLED_BY_ID = ("implementation", "gpu", "instance")


def phrase_of(name: str, value: Any) -> str:
    """The phrase for a value that has one of its own (no recompute, 1 GPU); else empty."""
    return PHRASES.get(name, {}).get(
        f"{value:g}" if isinstance(value, int | float | np.number) else value, ""
    )


def name_of(column: str, value: Any, catalogs: Catalogs) -> str:
    """A choice by its name in the catalog; the value itself if no catalog has it."""
    if column == "kv_precision":
        return f"KV {value or '16-bit'}"
    if column in CATALOG_OF and column not in CALLED_BY_ID:
        return str(getattr(catalogs, CATALOG_OF[column])["name"].get(value, value))
    return f"{column} {value:g}" if isinstance(value, float) else str(value)


def model_size(model: str, catalogs: Catalogs) -> str:
    """Return the size of a model: 30.5B parameters, 3.35B active, 48 layers."""
    entry = catalogs.models.loc[model]
    parts = [f"{parameter_count(entry['parameters'])} parameters"]
    if entry["active_parameters"] < entry["parameters"]:
        parts.append(f"{parameter_count(entry['active_parameters'])} active")
    return ", ".join([*parts, with_noun(int(entry["layers"]), "layer")])


def choice(name: str, value: Any, catalogs: Catalogs) -> str:
    """A choice in a sentence: selective recompute, tensor parallel 2, spot."""
    if name == "market":
        return MARKETS[value].label
    if name == "implementation":
        return str(catalogs.implementations["name"].get(value, value))
    if phrase := phrase_of(name, value):
        return phrase
    number = isinstance(value, int | float | np.integer | np.floating)
    return WORDS[name].format(value if number else name_of(name, value, catalogs))


def arrangement(row: Row, catalogs: Catalogs) -> str:
    """The layout in short: ZeRO 2 over 8 A100 SXM4 80GB, tensor parallel 2."""
    apart = _generating_apart(row)
    row = {**row, "gpus": row["gpus"] - apart}
    sharing = copies_of_attention(row)
    copies = replicas(row) / sharing
    gpus = row["gpus"]
    card = card_name(row["gpu"], catalogs)
    kinds = ("tensor", "pipeline", "context", "expert")
    groups = (
        f"{copies:.0f} replicas of {gpus / copies:.0f} {card}"
        if copies > 1
        else f"{gpus:.0f} {card}"
    )
    degree = ", ".join(
        f"{kind} parallel {row[f'{kind}_parallel']:.0f}"
        for kind in kinds
        if row.get(f"{kind}_parallel", 1) > 1
    )
    if row["work"] == "inference":
        cache = f" with {row['kv_precision']} cache" if row["kv_precision"] else ""
        attention = f"attention data parallel {sharing:.0f}" if sharing > 1 else ""
        parts = [groups, attention, degree, row["precision"] + cache, _sequences_at_once(row)]
    else:
        machines = f"{gpus:.0f} {card}" if sharding_ranks(row) == gpus else groups
        recompute = ""
        if row["recompute"] != "none":
            recompute = choice("recompute", row["recompute"], catalogs)
        parts = [
            f"{sharding(row, catalogs)} over {machines}" if sharding_ranks(row) > 1 else machines,
            degree,
            recompute,
            "compiled blocks" if row.get("compile") == "yes" else "",
        ]
        parts += [f"{apart:.0f} more generate answers"] if apart else []
    return ", ".join(filter(None, parts))


def copies_of_attention(row: Row) -> float:
    """Copies of attention that share one copy of the experts in a service; 1 if none do."""
    if row["work"] != "inference":
        return 1
    return max(row.get("expert_parallel", 1) / row["tensor_parallel"], 1)


def _generating_apart(row: Row) -> float:
    """GPUs of a training that generate answers apart from those that train."""
    return row["rollout_gpus"] if row.get("rollout") == "own gpus" else 0


def sharding_ranks(row: Row) -> float:
    """GPUs or replicas over which a training run is sharded, with those of context parallelism."""
    return replicas(row) * (row.get("context_parallel", 1) if row["sharding"] != "none" else 1)


def sharding(row: Row, catalogs: Catalogs) -> str:
    """The sharding by its usual name: DDP, ZeRO 2, FSDP (ZeRO 3)."""
    return SHARDINGS.get(row["sharding"]) or name_of("sharding", row["sharding"], catalogs)


def _sequences_at_once(row: Row) -> str:
    """The concurrency of a service: 16 concurrent sequences, or 16 on each of its replicas."""
    if copies_of_attention(row) > 1:
        return f"{with_noun(int(row['batch']), 'sequence')} on each copy of attention"
    if replicas(row) > 1:
        return f"{with_noun(int(row['batch']), 'sequence')} on each"
    return with_noun(int(row["batch"]), "concurrent sequence")


def setting(row: Row, catalogs: Catalogs) -> str:
    """All choices that decide memory: bf16 mixed · AdamW · FSDP (ZeRO 3) over 8 GPUs · ..."""
    trains, software = row["work"] == "training", row["implementation"]
    parts = [
        _method(row, catalogs),
        *(_training(row, catalogs) if trains else _serving(row, catalogs)),
    ]
    parts += [f"{words} {row[name]:.0f}" for name, words in DEGREES.items() if row[name] > 1]
    default_loss = catalogs.implementations["default_loss"].get(software) if trains else row["loss"]
    defaults = {
        **DEFAULTS,
        "loss": default_loss,
        "memory_utilization": catalogs.serving_engines["share"].get(row.get("inference_engine")),
    }
    defaults |= {
        "reference": "none",
        "rollout": "none",
        "rollout_gpus": row["gpus"],
        "rollout_tensor_parallel": 1,
    }
    unusual = [
        name
        for name in UNUSUAL
        if not is_missing(row.get(name)) and row[name] != defaults.get(name)
    ]
    parts += [_fill(UNUSUAL[name], row[name]) for name in unusual]
    return " · ".join(filter(None, [*parts, _software(row, catalogs)]))


def _software(row: Row, catalogs: Catalogs) -> str:
    """Return the training software, empty for Transformers; for a service its engine."""
    software = row["implementation"]
    if row["work"] == "training":
        return "" if software == "transformers" else choice("implementation", software, catalogs)
    if software in catalogs.serving_engines.index and row.get("inference_engine"):
        return phrase_of("inference_engine", row["inference_engine"])
    return choice("implementation", software, catalogs)


def _method(row: Row, catalogs: Catalogs) -> str:
    """Return the number format, and the adapters of LoRA."""
    precision = name_of("precision", row["precision"], catalogs)
    if row["work"] != "training" or row["tuning"] != "lora":
        return precision
    rank, targets, adapters = (_fill(words, row[name]) for name, words in LORA.items())
    return f"LoRA {rank} {targets}, {adapters}, over {precision}"


def _training(row: Row, catalogs: Catalogs) -> Iterator[str]:
    """Yield the parts of a training's setting that are worth telling."""
    row = {**row, "gpus": row["gpus"] - _generating_apart(row)}
    ranks = sharding_ranks(row)
    steps = f" × {row['accumulation_steps']:.0f} steps" if row["accumulation_steps"] > 1 else ""
    sharing = (
        f"{sharding(row, catalogs)} over {ranks:.0f} "
        f"{'GPUs' if ranks == row['gpus'] else 'replicas'}"
    )
    yield phrase_of("objective", row["objective"]) if row.get("objective", "sft") != "sft" else ""
    yield name_of("optimizer", row["optimizer"], catalogs)
    if row["gpus"] == 1:
        yield "1 GPU"
    elif ranks > 1:
        yield sharing
    yield f"micro-batch {row['batch']:.0f}{steps} of {row['sequence_tokens']:,.0f} tokens"
    yield choice("recompute", row["recompute"], catalogs)
    if not is_missing(row["decoder_tokens"]) and row["decoder_tokens"] != row["sequence_tokens"]:
        yield f"decoder {row['decoder_tokens']:,.0f} tokens"


def _serving(row: Row, catalogs: Catalogs) -> Iterator[str]:
    """Yield the parts of a service's setting; a part that says nothing new is empty."""
    sharing = copies_of_attention(row)
    copies = replicas(row) / sharing
    yield f"{copies:.0f} replicas" if copies > 1 else ""
    yield f"attention data parallel {sharing:.0f}" if sharing > 1 else ""
    yield (
        f"{_sequences_at_once(row)} of {row['sequence_tokens']:,.0f} tokens"
        if row["sequence_tokens"] > 1
        else _sequences_at_once(row)
    )
    yield (
        f"prompt {row['prompt_tokens']:,.0f}"
        if row["prompt_tokens"] != row["sequence_tokens"]
        else ""
    )
    yield name_of("kv_precision", row["kv_precision"], catalogs) if row["kv_precision"] else ""


def _fill(words: str, value: Any) -> str:
    return words.format(f"{value:,.10g}" if isinstance(value, int | float) else value)
