"""The results of four published calculators for a scenario, next to our own estimate.

A system is its formula, as its own text states it, and the choices that it can express
(calculators.yaml).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.catalogs.strict_yaml import read_strictly
from calc.columns import ALLOCATED, COMPONENTS
from calc.engine.pipeline import parts
from calc.evaluate import Row
from calc.mappings import Json
from calc.models.expressions import compute, formula_of
from calc.scenarios.inputs import DEFAULTS
from calc.scenarios.read import as_frame
from calc.table import Words

GB = 10**9
RANGE = "range_bytes"
PARALLEL = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")
WITHOUT: dict[str, Row] = {  # what a system counts instead of what it does not know
    "one-gpu": {"gpus": 1.0, "sharding": "none", **dict.fromkeys(PARALLEL, 1.0)},
    "no-recompute": {"recompute": "none"},
}
INSTEAD = {**dict.fromkeys(("sharding", *PARALLEL), "one-gpu"), "recompute": "no-recompute"}


class System(NamedTuple):
    """A calculator. A choice is a column with a number for each of its values."""

    letter: str
    title: str
    rule: str  # its formula in words
    leaves_out: str
    choices: dict[str, Mapping[str, float]]
    training_choices: dict[str, Mapping[str, float]]  # of scenarios that train
    formula: Json  # bytes of each component, and RANGE, by expressions in order
    degrees: tuple[str, ...] = ()  # the parallel layouts that it knows
    warns: str = ""  # of a mixture of experts
    slip: Json | None = None  # a figure of its text that cannot be
    also_trains_in: Mapping[
        str, str
    ] = {}  # formats that are not estimated here, each with what is to be said of it


class Lack(NamedTuple):
    """The choices that a calculator does not know, and what it counts instead (WITHOUT).

    If it counts nothing instead, it has no figure.
    """

    choices: tuple[tuple[str, str], ...]
    instead: tuple[str, ...] = ()


FILE = Path(__file__).with_suffix(".yaml")
SYSTEMS = [
    System(letter, **entry | {"formula": formula_of(entry["formula"])})
    for letter, entry in read_strictly(FILE.read_text("utf-8"), FILE.name).items()
]


def parts_by(system: System, scenario: Row) -> tuple[dict[str, float], Lack | None]:
    """Return the components by one calculator, NaN if it cannot express the scenario. [B]

    The second value says what it lacks, if anything. RANGE is how far the total may be off to
    either side, if the calculator states that. If the calculator only lacks the layout or the
    recompute, the figures are those without it.
    """
    choices_read = system.choices | (system.training_choices if scenario["trains"] else {})
    unknown = {
        column: str(scenario[column])
        for column, numbers in choices_read.items()
        if scenario[column] not in numbers
    }
    unknown |= {
        column: "layout"
        for column in PARALLEL
        if scenario[column] > 1 and column not in system.degrees
    }
    instead = {INSTEAD[column] for column in unknown if column in INSTEAD}
    settings = scenario | {name: value for code in instead for name, value in WITHOUT[code].items()}
    numbers = {
        column: values.get(settings[column], np.nan) for column, values in choices_read.items()
    }
    values = compute(
        system.formula,
        {**settings, **dict.fromkeys(system.training_choices, 0.0), **numbers}.get,
    )
    result = {name: value for name, value in values.items() if name in (*COMPONENTS, RANGE)}
    if not unknown:
        return result, None
    choices = tuple(unknown.items())
    if unknown.keys() <= INSTEAD.keys():
        return result, Lack(choices, tuple(sorted(instead)))
    return dict.fromkeys(result, np.nan), Lack(choices)


def compared_with_ours(ours: Row, catalogs: Catalogs) -> pd.DataFrame:
    """Our estimate of what must fit and that of each calculator, a row each, with its range.

    A system that cannot express the scenario has NaN, or the same on one GPU, and what it lacks in
    `lack`; a component that it leaves out is 0. `warns`: what its own text says of such a model.
    """
    scenario = _scenario_of(ours, catalogs)
    has_experts = scenario["active_parameters"] < scenario["parameters"]
    own_row = _row_of_ours(ours)
    rows = [own_row]
    for system in SYSTEMS:
        for precision, title, leaves_out in _formats_of(system, scenario["precision"], catalogs):
            components, lack = parts_by(system, scenario | {"precision": precision})
            range_bytes = components.pop(RANGE, np.nan)
            total = sum(components.values())
            is_other_format = precision != scenario["precision"]
            if is_other_format and (np.isnan(total) or not scenario["trains"]):
                continue
            figures = {
                "needed_bytes": total,
                "needed_low_bytes": total - range_bytes,
                "needed_high_bytes": total + range_bytes,
                "system": system.letter,
                "title": title,
                "rule": system.rule,
                "leaves_out": leaves_out,
                "lack": lack,
                "fits": "",
                "warns": system.warns if has_experts else "",
            }
            rows.append(own_row | dict.fromkeys(COMPONENTS, 0 * total) | components | figures)
    return pd.DataFrame(rows)


def _scenario_of(ours: Row, catalogs: Catalogs) -> Row:
    """The columns that the formulas of a calculator may read, of one row."""
    table = next(parts(as_frame({name: ours[name] for name in DEFAULTS}), catalogs)).table
    scenario = {}
    for name, column in table.items():
        values = column.by_row(1) if isinstance(column, Words) else column
        if np.ndim(values) == 1:
            scenario[name] = values[0]
    return scenario


def _row_of_ours(ours: Row) -> Row:
    """Our estimate as a row of the comparison; the overhead is what is not allocated."""
    names = ("work", "fits", "gpu_memory_bytes", "needed_bytes", "needed_low_bytes")
    row = {name: ours[name] for name in (*names, "needed_high_bytes", *ALLOCATED)}
    row["overhead_bytes"] = ours["needed_bytes"] - sum(ours[name] for name in ALLOCATED)
    texts = dict.fromkeys(("rule", "leaves_out", "warns"), "")
    return row | texts | {"system": "ours", "title": "Headroom", "lack": None}


def _formats_of(
    system: System, precision: str, catalogs: Catalogs
) -> Iterator[tuple[str, str, str]]:
    """Yield each precision that a calculator is asked for, with its title and what it lacks."""
    yield precision, system.title, system.leaves_out
    for name, leaves_out in system.also_trains_in.items():
        yield name, f"{system.title}, {catalogs.precisions['name'][name]}", leaves_out


def slips(catalogs: Catalogs) -> pd.DataFrame:
    """Figures that the texts print and that cannot be, with the least that it takes. [B]"""
    rows = [
        {
            "system": system.letter,
            "of": system.slip["of"],
            "printed_bytes": system.slip["printed_gb"] * GB,
            "least_bytes": float(catalogs.models["parameters"][system.slip["model"]])
            * system.slip["bytes_each"],
            "why": system.slip["why"],
        }
        for system in SYSTEMS
        if system.slip
    ]
    return pd.DataFrame(rows)
