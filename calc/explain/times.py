"""The formulas behind a step or a request, with their numbers: how long it takes, and why."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from calc.catalogs.load import Catalogs
from calc.catalogs.rooms import label_of
from calc.engine.one_scenario import one_scenario_with_times
from calc.engine.stages import FORMULAS as STAGE_FORMULAS
from calc.engine.stages import TIME
from calc.evaluate import Columns
from calc.explain.derivation import CHOICES, Derivation, derivation, entry_source
from calc.explain.traced_columns import plain_number
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


def explain_times(
    scenario: Cells,
    catalogs: Catalogs,
    write_number: Callable[[str, Any], str] = plain_number,
) -> Derivation:
    """Return the formulas and facts behind the times of a scenario.

    `write_number(name, value)` writes a number. A time that the scenario does not have, such as
    that of a token if none is generated, is left out. Without a card both tables are empty.
    """
    table = one_scenario_with_times(dict(scenario), catalogs)
    figures = {top: [top] for top in EXPLAINED[work_of(table)] if np.isfinite(table[top]).all()}
    origin_of = partial(_origin, table=table, catalogs=catalogs)
    return derivation(figures, table, FORMULAS, origin_of, write_number, catalogs)


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
