"""Inputs joined with the catalogs, in steps whose parameters are the columns that they read.

A step returns several columns, or the one of its name; its parameters `catalogs` and `problems` are
no columns. The parameters are the origins of the joined columns, which decide the rows that share
results (engine/origins.py).
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns, Row, formulas_of, parameters_of, reading
from calc.scenarios import (
    join_choices,
    join_models,
    join_objectives,
    join_places,
    join_prices,
    join_runs,
)
from calc.scenarios.inputs import ASSUMPTIONS
from calc.scenarios.lookups import constants, numbers_of
from calc.scenarios.problems import Problems
from calc.scenarios.read import known_inputs
from calc.table import Table

NO_COLUMNS = {"catalogs", "problems"}


def _assumption(name: str) -> Callable:
    """The step that joins an assumption: the row's value, else the catalog's."""

    @reading([f"asked_{name}", "catalogs"])
    def step(catalogs: Catalogs, **inputs: np.ndarray) -> Columns:
        values = inputs[f"asked_{name}"]
        return {name: np.where(np.isnan(values), constants(catalogs, "assumptions")[name], values)}

    return step


def _single_numbers(catalogs):
    """The constants of overheads and of time, each the same for all rows."""
    return constants(catalogs, "overheads") | constants(catalogs, "time_constants")


@cached_per_catalogs("starts")
def _starts(catalogs):
    """The phases of a start and their ranges, each the same for all rows. [s]"""
    return {
        f"{prefix}_{phase}": np.array([seconds])
        for prefix, column in (("usual", "value"), ("low", "low"), ("high", "high"))
        for phase, seconds in catalogs.starts[column].items()
    }


def _ranges_of_time(trains, generates, catalogs):
    """The corners and boxes of published runs, from which the ranges of time are made."""
    columns: Columns = {}
    for end in ("low", "high"):
        columns[f"corner_{end}_ratio"] = numbers_of(catalogs, "time_spreads", f"{end}_ratio")[
            :-1, None
        ]
        training = numbers_of(catalogs, "time_boxes", f"training_{end}")[:-1, None]
        inference = numbers_of(catalogs, "time_boxes", f"inference_{end}")[:-1, None]
        encoding = numbers_of(catalogs, "time_boxes", f"encoding_{end}")[:-1, None]
        columns[f"box_{end}"] = np.where(
            trains > 0, training, np.where(generates > 0, inference, encoding)
        )
    return columns


STEPS: tuple[Callable, ...] = (
    *(
        step
        for module in (
            join_models,
            join_objectives,
            join_choices,
            join_places,
            join_prices,
            join_runs,
        )
        for step in formulas_of(module)
    ),
    *map(_assumption, ASSUMPTIONS),
    _single_numbers,
    _starts,
    _ranges_of_time,
)


def join(
    inputs: Columns, catalogs: Catalogs, problems: Problems, steps: Iterable[Callable] = STEPS
) -> Table:
    """The table that formulas read. Shape: (rows,); stack columns: (stacks, rows)."""
    table = Table(inputs, inputs["rows"])
    for _, columns in _make_columns(table, catalogs, problems, steps):
        table |= columns
    return table


def joined_of(
    catalogs: Catalogs, steps: Iterable[Callable] = STEPS
) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """The columns that the step of each joined column reads; the columns of several axes."""
    table = Table(known_inputs({"work": "training", "model": catalogs.models.index[0]}), 1)
    made_of: dict[str, frozenset[str]] = {}
    for step, columns in _make_columns(table, catalogs, Problems(1), steps):
        table |= columns
        made_of |= dict.fromkeys(columns, frozenset(parameters_of(step)) - NO_COLUMNS)
    return made_of, frozenset(name for name in made_of if getattr(table[name], "ndim", 1) > 1)


def _make_columns(
    table: Table, catalogs: Catalogs, problems: Problems, steps: Iterable[Callable]
) -> Iterator[tuple[Callable, Columns]]:
    """Each step with its columns; the caller adds them to the table before the next step."""
    others: Row = {"catalogs": catalogs, "problems": problems}
    for step in steps:
        names = parameters_of(step)
        arguments = {name: others[name] if name in others else table[name] for name in names}
        columns = step(**arguments)
        yield step, columns if isinstance(columns, dict) else {step.__name__: columns}
