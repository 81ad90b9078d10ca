"""The formulas behind a step or a request, with their numbers: how long it takes, and why."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.catalogs.rooms import label_of
from calc.engine.one_scenario import one_scenario_with_times
from calc.engine.stages import FORMULAS as STAGE_FORMULAS
from calc.engine.stages import TIME
from calc.evaluate import Columns
from calc.explain.derivation import CHOICES, chain, entry_source, fact
from calc.explain.traced_columns import columns_to_trace, plain_number
from calc.mappings import Cells
from calc.scenarios.inputs import BY_NAME
from calc.scenarios.lookups import work_of

FORMULAS = {formula.__name__: formula for stage in TIME for formula in stage.formulas}
EXPLAINED = {
    "training": ("step_seconds",),
    "inference": ("time_to_first_token_seconds", "time_per_output_token_seconds"),
}
# The prefix of the columns that the join takes from a catalog of calibrated numbers.
PREFIXES = (
    ("card_", "utilization"),
    ("card_", "serving_steps"),
    ("engine_", "engines"),
    ("kernel_", "kernels"),
    ("release_", "earlier_releases"),
)


class TimeExplanation(NamedTuple):
    """The formulas by the time that they explain (component), and the columns that they read."""

    formulas: pd.DataFrame
    facts: pd.DataFrame


def explain_times(
    scenario: Cells,
    catalogs: Catalogs,
    write_number: Callable[[str, Any], str] = plain_number,
) -> TimeExplanation:
    """Return the formulas and facts behind the times of a scenario.

    `write_number(name, value)` writes a number. A time that the scenario does not have, such as
    that of a token if none is generated, is left out. Without a card both tables are empty.
    """
    table = one_scenario_with_times(dict(scenario), catalogs)
    traced_columns = columns_to_trace(table)
    rows: list[dict] = []
    facts: dict[str, bool] = {}
    for top in EXPLAINED[work_of(table)]:
        if not np.isfinite(table[top]).all():
            continue
        formulas_before = {row["formula"] for row in rows}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steps = chain([top], formulas_before, traced_columns, (), facts, write_number, FORMULAS)
        rows += [{"component": top, "step": step, **row} for step, row in enumerate(steps)]
    origins = [fact(name, table, catalogs) | _origin(name, table, catalogs) for name in facts]
    return TimeExplanation(pd.DataFrame(rows), pd.DataFrame(origins))


def _origin(name: str, table: Columns, catalogs: Catalogs) -> dict[str, str]:
    """The origin of a column that only times read; empty for one that memory reads too.

    It is a constant, a column of a catalog under its prefix, or a formula of the times.
    """
    for catalog in ("time_constants", "assumptions"):
        constants = getattr(catalogs, catalog)
        if name in constants.index:
            place = f"{label_of(catalog)}, {name}"
            return {"from": place, "source": constants.at[name, "source"]}
    for prefix, catalog in PREFIXES:
        column = name.removeprefix(prefix)
        frame = getattr(catalogs, catalog)
        if not name.startswith(prefix) or column not in frame.columns:
            continue
        entry = _entry(catalog, table, catalogs)
        place, source = (
            entry_source(column, catalog, entry, catalogs)
            if entry in frame.index
            else (label_of(catalog), catalogs.about[catalog]["source"])
        )
        return {"from": place, "source": source}
    if name in STAGE_FORMULAS and name not in BY_NAME:
        file = f"{STAGE_FORMULAS[name].__module__.replace('.', '/')}.py"
        return {"from": file, "source": CHOICES}
    return {}


def _entry(catalog: str, table: Columns, catalogs: Catalogs) -> str:
    """The entry of a calibrated catalog that counts for a scenario; empty if none is named."""
    card = table["gpu"].in_row(0)
    entries = {
        "utilization": card,
        "serving_steps": catalogs.utilization["card_class"].get(card, ""),
        "engines": table["implementation"].in_row(0),
        "kernels": table["precision"].in_row(0),
    }
    return entries.get(catalog, "")
