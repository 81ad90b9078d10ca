"""What four published systems say for the same scenarios, beside our own estimate: A, B, C and D of the Method page.

Each system is a row: the choices it knows with the numbers its formulas take, its unit, what it leaves out. Bytes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.columns import COMPONENTS as OUR_COMPONENTS
from calc.engine.pipeline import parts
from calc.evaluate import Columns, evaluate_all
from calc.explain.calculator_formulas import COMPONENTS, TOTALS
from calc.scenarios.inputs import DEFAULTS
from calc.scenarios.read import as_frame
from calc.table import Words
from calc.units import GIB

SIXTEEN_BITS = dict.fromkeys(("bf16", "fp16", "bf16-mixed", "fp16-mixed", "bf16-master", "fp16-master"), 2)
FOUR_BITS = dict.fromkeys(("int4", "nf4", "nf4-dq", "gptq-4bit", "awq-4bit"), 0.5)
BY_BITS = {"fp32": 4, **SIXTEEN_BITS, "int8": 1, **FOUR_BITS}
NONE = {"none": 0}
Choice = tuple[str, str, Mapping[str, float]]


@dataclass(frozen=True)
class Origin:
    """One system. A choice is (column of the scenario, column that the formulas read, {value known: its number}).

    A value that is not there is one that the system cannot express. Training choices are asked only of rows that train.
    """

    letter: str
    title: str
    unit: str
    leaves_out: str
    choices: tuple[Choice, ...]
    training_choices: tuple[Choice, ...]

    @property
    def components(self) -> tuple[Callable, ...]:
        return COMPONENTS[self.letter]


ORIGINS = (
    Origin(
        letter="a",
        title="GPU Sizing for ML Workloads",
        unit="its GB adds activations in GiB (2^30) to all else in GB (10^9)",
        leaves_out="It leaves out logits, the KV cache, attention's heads, flash attention and sharing among GPUs.",
        choices=(
            ("model_kind", "origin_a_known", {"decoder": 1, "encoder": 1, "encoder-decoder": 1}),
            ("precision", "origin_a_bytes_each", BY_BITS),
            ("sharding", "origin_a_shards", NONE),
            ("offload", "origin_a_offloads", NONE),
        ),
        training_choices=(
            ("tuning", "origin_a_adds_adapters", {"full": 0}),
            ("optimizer", "origin_a_state_bytes_each", {"adamw": 8, "sgd-momentum": 4, "sgd": 0}),
            ("recompute", "origin_a_recomputes", {"none": 0, "full": 1}),
        ),
    ),
    Origin(
        letter="b",
        title="GPU Memory Benchmarks: Will This Model Fit?",
        unit="GB of 10^9 bytes",
        leaves_out="It leaves out overhead, logits, grouped heads, attention scores, recompute and gathered shards.",
        choices=(
            ("model_kind", "origin_b_known", {"decoder": 1}),
            ("precision", "origin_b_bytes_each", BY_BITS),
            ("sharding", "origin_b_shards", {"none": 0, "zero3": 1}),
            ("offload", "origin_b_offloads", NONE),
        ),
        training_choices=(
            ("tuning", "origin_b_adds_adapters", {"full": 0}),
            ("optimizer", "origin_b_state_bytes_each", {"adamw": 12, "sgd": 4}),
            ("recompute", "origin_b_recomputes", NONE),
        ),
    ),
    Origin(
        letter="c",
        title="Training Memory Calculator",
        unit="GB of 10^9 bytes",
        leaves_out="It leaves out logits, flash attention (it keeps scores), gathered shards, all sharing but ZeRO.",
        choices=(
            ("model_kind", "origin_c_known", {"decoder": 1}),
            ("precision", "origin_c_bytes_each", {**SIXTEEN_BITS, "fp8": 1, "fp8-mixed": 1, "mxfp4": 0.5, "nvfp4": 0.5}),
            ("sharding", "origin_c_stage", {"none": 0, "zero1": 1, "zero2": 2, "zero3": 3}),
            ("offload", "origin_c_offloads", NONE),
        ),
        training_choices=(
            ("tuning", "origin_c_adds_adapters", {"full": 0}),
            ("optimizer", "origin_c_state_bytes_each", {"adamw": 12, "adamw-8bit": 6, "sgd-momentum": 8}),
            ("recompute", "origin_c_hidden_multiple", {"none": 34, "selective": 34, "full": 2}),
            ("recompute", "origin_c_scores_multiple", {"none": 5, "selective": 0, "full": 0}),
        ),
    ),
    Origin(
        letter="d",
        title="Do you have enough GPU memory to handle large models?",
        unit="GB of 10^9 bytes, as a range",
        leaves_out="It leaves out how activations grow with the work, logits, grouped heads and sharing among GPUs.",
        choices=(
            ("model_kind", "origin_d_known", {"decoder": 1}),
            ("precision", "origin_d_bytes_each", {"fp32": 4, **SIXTEEN_BITS}),
            ("sharding", "origin_d_shards", NONE),
            ("offload", "origin_d_offloads", NONE),
        ),
        training_choices=(
            ("tuning", "origin_d_adds_adapters", {"full": 0, "lora": 1}),
            ("optimizer", "origin_d_state_bytes_each", {"adamw": 8}),
            ("recompute", "origin_d_recomputes", NONE),
        ),
    ),
)
PARALLEL = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")


def origin_problems(origin: Origin, table: Columns) -> np.ndarray:
    """Per row, empty or one sentence: which choice of the scenario the system does not know."""
    trains = table["trains"] > 0
    problems = np.full(trains.shape, "", dtype=object)
    asked = [(choice, True) for choice in origin.choices] + [(choice, trains) for choice in origin.training_choices]
    for (column, _, known), where in asked:
        for value in set(pd.unique(table[column])) - set(known):
            sentence = f"System {origin.letter.upper()} knows no {column.replace('_', ' ')} {value}."
            problems[where & (table[column] == value) & (problems == "")] = sentence
    for column in PARALLEL:
        words = column.replace("_", " ")
        problems[(table[column] > 1) & (problems == "")] = f"System {origin.letter.upper()} knows no {words} layout."
    return problems


def origin_columns(origin: Origin, table: Columns) -> Columns:
    """The columns of one system for a table of scenarios: components, total, the figure it prints, and its problem."""
    letter = origin.letter
    inputs = dict(table)
    for column, reads, known in origin.choices + origin.training_choices:
        inputs[reads] = pd.Series(table[column]).map(known).to_numpy(dtype=float)
    evaluate_all(origin.components, inputs)
    inputs[f"origin_{letter}_bytes"] = sum(inputs[formula.__name__] for formula in origin.components)
    evaluate_all(TOTALS[letter], inputs)
    problems = origin_problems(origin, table)
    names = [*(f.__name__ for f in origin.components), f"origin_{letter}_bytes", *(f.__name__ for f in TOTALS[letter])]
    columns = {name: np.where(problems == "", inputs[name], np.nan) for name in names}
    return {**columns, f"origin_{letter}_problem": problems}


def origins(table: Columns) -> Columns:
    """All four systems for a table of scenarios (a dict of arrays): a dict of columns."""
    return {name: column for origin in ORIGINS for name, column in origin_columns(origin, table).items()}


def beside_ours(ours: dict[str, Any], catalogs: Catalogs) -> pd.DataFrame:
    """Our estimate (a row of results) and what each system says: rows of system, component, bytes; NaN where it cannot.

    `low_bytes` and `high_bytes` are the range that the system itself states, if it states one.
    """
    joined = next(parts(as_frame({name: ours[name] for name in DEFAULTS}), catalogs)).table
    table = {name: values.each(1) if isinstance(values, Words) else values for name, values in joined.items()}
    said = {name: column[0] for name, column in origins(table).items()}
    components = {name: ours[name] for name in OUR_COMPONENTS}
    low, high = ours["memory_low_bytes"], ours["memory_high_bytes"]
    rows = [_system("ours", "Headroom", components, low, high, ours["problem"], "")]
    for origin in ORIGINS:
        prefix = f"origin_{origin.letter}_"
        components = {formula.__name__.removeprefix(prefix): said[formula.__name__] for formula in origin.components}
        low, high = (said.get(f"{prefix}{end}_bytes", np.nan) for end in ("low", "high"))
        rows.append(_system(origin.letter, origin.title, components, low, high, said[f"{prefix}problem"], origin.leaves_out))
    return pd.concat(rows, ignore_index=True)


def _system(system, title, parts, low_bytes, high_bytes, problem, leaves_out):
    """The rows of one system."""
    return pd.DataFrame(
        {
            "system": system,
            "title": title,
            "component": list(parts),
            "bytes": list(parts.values()),
            "total_bytes": sum(parts.values()),
            "low_bytes": low_bytes,
            "high_bytes": high_bytes,
            "problem": problem,
            "leaves_out": leaves_out,
        }
    )


def bars(beside: pd.DataFrame, component_labels: dict[str, str], card_bytes: float) -> pd.DataFrame:
    """The rows of `beside_ours` as stacked bars: GiB by component, and the system's total on the last of its rows."""
    parts = list(component_labels)
    systems = beside.drop_duplicates("system")
    table = pd.DataFrame(
        [(rank, system, part) for rank, system in enumerate(systems["system"]) for part in parts], columns=["rank", "system", "component"]
    ).merge(beside, how="left", on=["system", "component"])
    totals = systems.set_index("system")["total_bytes"].astype(float).reindex(table["system"]).to_numpy()
    sizes = table["bytes"].astype(float).fillna(0)
    return pd.DataFrame(
        {
            "label": np.where(table["system"] == "ours", "Headroom", "System " + table["system"].str.upper()),
            "rank": table["rank"],
            "system": table["system"],
            "component": table["component"].map(component_labels),
            "order": table["component"].map(parts.index),
            "gib": sizes / GIB,
            "share_ratio": (sizes / totals).fillna(0),
            "total_gib": totals / GIB,
            "card_gib": card_bytes / GIB,
            "last": table["component"] == parts[-1],
        }
    )
