"""What four published calculators say of the same scenario, beside our own estimate.

Each system is its formula, as its own text states it, and the choices that it knows with the numbers that the formula takes.
"""

from collections.abc import Callable, Mapping
from math import floor, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.columns import COMPONENTS
from calc.engine.pipeline import parts
from calc.evaluate import Row
from calc.scenarios.inputs import DEFAULTS
from calc.scenarios.read import as_frame
from calc.table import Words

GB = 10**9
TWO_BYTES = dict.fromkeys(("bf16", "fp16", "bf16-mixed", "fp16-mixed", "bf16-master", "fp16-master"), 2)
HALF_A_BYTE = dict.fromkeys(("int4", "nf4", "nf4-dq", "gptq-4bit", "awq-4bit"), 0.5)
BY_WIDTH = {"fp32": 4, **TWO_BYTES, "int8": 1, **HALF_A_BYTE}
NARROW = {"fp8": 1, "fp8-mixed": 1, "mxfp4": 0.5, "nvfp4": 0.5}
PARALLEL = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")
DECODER, ONLY_NONE = {"decoder": 1}, {"none": 0}


class System(NamedTuple):
    """One calculator. A choice is a column and the number of each value that it can express."""

    letter: str
    title: str
    leaves_out: str
    choices: dict[str, Mapping[str, float]]
    training_choices: dict[str, Mapping[str, float]]  # asked only of a scenario that trains
    formula: Callable[[Row], dict[str, float]]
    range_bytes: float = np.nan  # to either side of its total, where it states one


def _said_by_a(of: Row) -> dict[str, float]:
    """P e; gradients 2 P; layers (b s² e + 6 b s h e) + b s h e; a fifth on everything. [B]

    With checkpointing floor(sqrt(layers)) + 1 layers count; inference takes a tenth of that. Scores are of one head.
    """
    parameters, width = of["parameters"], of["precision"]
    stream = of["batch"] * of["sequence_tokens"] * of["hidden"] * width
    layer = of["batch"] * of["sequence_tokens"] ** 2 * width + 6 * stream
    checkpointed = layer * (floor(sqrt(of["layers"])) + 1) + stream
    whole = layer * of["layers"] + stream
    said = {
        "weights_bytes": parameters * width,
        "gradients_bytes": 2 * parameters * of["trains"],
        "optimizer_bytes": parameters * of["optimizer"],
        "activations_bytes": (checkpointed if of["recompute"] else whole) if of["trains"] else checkpointed / 10,
    }
    return said | {"overhead_bytes": 0.2 * sum(said.values())}


def _said_by_b(of: Row) -> dict[str, float]:
    """N e, N e and 12 N over the GPUs under ZeRO-3; 12 h s L e b; heads of 128, none shared. [B]"""
    here = of["parameters"] / (of["gpus"] if of["sharding"] else 1)
    tokens = of["batch"] * of["sequence_tokens"] * of["layers"] * of["hidden"] * of["precision"]
    return {
        "weights_bytes": here * of["precision"],
        "gradients_bytes": here * of["precision"] * of["trains"],
        "optimizer_bytes": here * of["optimizer"],
        "activations_bytes": 12 * tokens * of["trains"],
        "kv_cache_bytes": 2 * tokens * (1 - of["trains"]),
    }


def _said_by_c(of: Row) -> dict[str, float]:
    """N e and 12 N by ZeRO stage; L s b h (34 + 5 a s / h), recomputed 2 L s b h; a tenth. [B]

    Activations: Korthikanti et al. 2022, equation 2 and sections 5 and 6.
    """
    parameters, stage, width = of["parameters"], of["sharding"], of["precision"]
    tokens = of["batch"] * of["sequence_tokens"] * of["layers"]
    scores = 5 * of["heads"] * of["sequence_tokens"] if of["recompute"] == 0 else 0
    said = {
        "weights_bytes": parameters * width / (of["gpus"] if stage >= 3 else 1),
        "gradients_bytes": parameters * width * of["trains"] / (of["gpus"] if stage >= 2 else 1),
        "optimizer_bytes": parameters * of["optimizer"] / (of["gpus"] if stage >= 1 else 1),
        "activations_bytes": tokens * (of["hidden"] * (2 if of["recompute"] == 2 else 34) + scores) * of["trains"],
        "kv_cache_bytes": 2 * tokens * of["kv_heads"] * of["head_dim"] * width * (1 - of["trains"]),
    }
    return said | {"overhead_bytes": 0.1 * sum(said.values())}


def _said_by_d(of: Row) -> dict[str, float]:
    """N e and e, 8 per trained parameter; the middles of its activations and overhead. [B]

    It states 10 to 30 GB of activations and 1 to 2 GB of overhead whatever the model.
    """
    adapters = of["trained_parameters"] * of["tuning"]
    return {
        "weights_bytes": (of["parameters"] + adapters) * of["precision"],
        "gradients_bytes": of["trained_parameters"] * of["precision"] * of["trains"],
        "optimizer_bytes": of["trained_parameters"] * of["optimizer"],
        "activations_bytes": 20 * GB,
        "kv_cache_bytes": 2 * of["layers"] * of["hidden"] * of["precision"] * of["batch"] * of["sequence_tokens"] * (1 - of["trains"]),
        "overhead_bytes": 1.5 * GB,
    }


SYSTEMS = (
    System(
        "a",
        "GPU Sizing for ML Workloads",
        "It leaves out logits, the KV cache, attention's heads, flash attention and sharing among GPUs.",
        {
            "model_kind": {"decoder": 1, "encoder": 1, "encoder-decoder": 1},
            "precision": BY_WIDTH,
            "sharding": ONLY_NONE,
            "offload": ONLY_NONE,
        },
        {"tuning": {"full": 0}, "optimizer": {"adamw": 8, "sgd-momentum": 4, "sgd": 0}, "recompute": {"none": 0, "full": 1}},
        _said_by_a,
    ),
    System(
        "b",
        "GPU Memory Benchmarks: Will This Model Fit?",
        "It leaves out overhead, logits, grouped heads, attention scores, recompute and gathered shards.",
        {"model_kind": DECODER, "precision": BY_WIDTH, "sharding": {"none": 0, "zero3": 1}, "offload": ONLY_NONE},
        {"tuning": {"full": 0}, "optimizer": {"adamw": 12, "sgd": 4}, "recompute": ONLY_NONE},
        _said_by_b,
    ),
    System(
        "c",
        "Training Memory Calculator",
        "It leaves out logits, flash attention (it keeps scores), gathered shards, all sharing but ZeRO.",
        {
            "model_kind": DECODER,
            "precision": TWO_BYTES | NARROW,
            "sharding": {"none": 0, "zero1": 1, "zero2": 2, "zero3": 3},
            "offload": ONLY_NONE,
        },
        {
            "tuning": {"full": 0},
            "optimizer": {"adamw": 12, "adamw-8bit": 6, "sgd-momentum": 8},
            "recompute": {"none": 0, "selective": 1, "full": 2},
        },
        _said_by_c,
    ),
    System(
        "d",
        "Do you have enough GPU memory to handle large models?",
        "It leaves out how activations grow with the work, logits, grouped heads and sharing among GPUs.",
        {"model_kind": DECODER, "precision": {"fp32": 4, **TWO_BYTES}, "sharding": ONLY_NONE, "offload": ONLY_NONE},
        {"tuning": {"full": 0, "lora": 1}, "optimizer": {"adamw": 8}, "recompute": ONLY_NONE},
        _said_by_d,
        range_bytes=10.5 * GB,
    ),
)


def said_by(system: System, scenario: Row) -> tuple[dict[str, float], str]:
    """The bytes of each component by one calculator, NaN where it cannot express the scenario."""
    read = system.choices | (system.training_choices if scenario["trains"] else {})
    unknown = [f"{column} {scenario[column]}" for column, numbers in read.items() if scenario[column] not in numbers]
    unknown += [f"{column} layout" for column in PARALLEL if scenario[column] > 1]
    numbers = {column: known.get(scenario[column], np.nan) for column, known in read.items()}
    said = system.formula({**scenario, **dict.fromkeys(system.training_choices, 0.0), **numbers})
    if not unknown:
        return said, ""
    column, _, value = unknown[0].partition(" ")
    return dict.fromkeys(said, np.nan), f"System {system.letter.upper()} knows no {column.replace('_', ' ')} {value}."


def beside_ours(ours: Row, catalogs: Catalogs) -> pd.DataFrame:
    """Our estimate and what each calculator says, a row each, with the range that it states.

    What a system cannot express is NaN, with the reason in `problem`; a component that it does not count is 0.
    """
    joined = next(parts(as_frame({name: ours[name] for name in DEFAULTS}), catalogs)).table
    columns = {name: joined[name].by_row(1) if isinstance(joined[name], Words) else joined[name] for name in joined}
    scenario = {name: values[0] for name, values in columns.items() if np.ndim(values) == 1}
    named = ("work", "fits", "gpu_memory_bytes", "memory_bytes", "memory_low_bytes", "memory_high_bytes", "problem", *COMPONENTS)
    rows = [{name: ours[name] for name in named} | {"system": "ours", "title": "Headroom", "leaves_out": ""}]
    for system in SYSTEMS:
        said, problem = said_by(system, scenario)
        total = sum(said.values())
        stated = {"memory_low_bytes": total - system.range_bytes, "memory_high_bytes": total + system.range_bytes}
        of_system = {"system": system.letter, "title": system.title, "leaves_out": system.leaves_out, "problem": problem, "fits": ""}
        rows.append(rows[0] | dict.fromkeys(COMPONENTS, 0 * total) | said | {"memory_bytes": total} | stated | of_system)
    return pd.DataFrame(rows)
