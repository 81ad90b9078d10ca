"""The CSV that people read: 18 columns of each scenario, in place of every input and result.

The layout ends with the other columns that the scenario sets, such as `; batch=2; recompute=full`,
so that the file opens again with the same estimates.
"""

from typing import Any

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.link.kept_answers import differing, set_assumptions
from calc.plan.cases import case_ratios
from calc.plan.figures import records
from calc.plan.ownership import DAYS, OWNERSHIP
from calc.say.setting import arrangement
from calc.scenarios.inputs import inputs_by_name
from calc.search.row_status import method_name
from calc.units import GIB

COLUMNS = (
    *("job", "team", "model", "method", "precision", "optimizer"),
    *("instance", "instances", "gpus", "layout", "market", "region"),
    *("usd", "usd_low", "usd_high", "hours", "needed_gib", "fits"),
)
BETWEEN, SETS = "; ", "="  # the columns that a layout sets
BESIDE = (  # of a kept answer, beside its inputs
    *("scenario", "in_bill", "have", "decision", "budget_usd", "budget_for"),
    "contingency_percent",
    *OWNERSHIP,
    *DAYS,
)


def people_table(rows: pd.DataFrame, catalogs: Catalogs, job: str) -> pd.DataFrame:
    """Return answered or billed rows with COLUMNS: ids, USD, hours of the run or month, GiB.

    `job` is what they are for, in words, where a row does not say it.
    """
    readable = [_readable(row, catalogs, job) for row in records(rows)]
    return pd.DataFrame(readable, columns=list(COLUMNS))


def _readable(row: Row, catalogs: Catalogs, job: str) -> Row:
    """One row; `usd_low` and `usd_high` are the low and the high case of its bill."""
    trains = row["work"] == "training"
    low, high = (row["usd"] * ratio for ratio in case_ratios(row))
    return {
        "job": row.get("job") or job,
        "team": row.get("team", ""),
        "model": row["model"],
        "method": method_name(row, catalogs).lower() if trains else "",
        "precision": row["precision"],
        "optimizer": row["optimizer"] if trains else "",
        "instance": row["instance"],
        "instances": row.get("instances", row["instances_needed"]),
        "gpus": row["gpus"],
        "layout": _layout(row, catalogs),
        "market": row.get("market", ""),
        "region": row["region"],
        "usd": row["usd"],
        "usd_low": low,
        "usd_high": high,
        "hours": row["hours"],
        "needed_gib": row["needed_bytes"] / GIB,
        "fits": row["fits"],
    }


def _layout(row: Row, catalogs: Catalogs) -> str:
    """The layout in words, then what the scenario sets beside the other columns."""
    beside = {name: row.get(name) for name in BESIDE if row.get(name)}
    sets = differing(row, catalogs, set_assumptions(row, catalogs)) | beside
    pairs = [
        f"{name}{SETS}{_one_cell(value)}" for name, value in sets.items() if name not in COLUMNS
    ]
    return BETWEEN.join([arrangement(row, catalogs), *pairs])


def _one_cell(value: Any) -> str:
    """A value as text; one that could be read as another setting loses its semicolons."""
    text = str(value)
    return text.replace(BETWEEN, ", ") if SETS in text else text


def with_layout(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells of such a file with a column for each that a layout sets; others unchanged."""
    if not set(COLUMNS) <= set(cells.columns):
        return cells
    able = {*inputs_by_name(), *BESIDE} - {*cells.columns}
    sets = [_settings(str(text), able) for text in cells["layout"]]
    added = pd.DataFrame(sets, index=cells.index, dtype=object).fillna("")
    return pd.concat([cells, added], axis="columns")


def _settings(layout: str, able: set[str]) -> dict[str, str]:
    """Return what a layout sets of the columns `able`; a part without a name continues a text."""
    settings: dict[str, str] = {}
    column = ""
    for part in layout.split(BETWEEN)[1:]:
        name, is_named, value = part.partition(SETS)
        if is_named:
            column = name if name in able else ""
        if not column:
            continue
        settings[column] = value if is_named else f"{settings[column]}{BETWEEN}{part}"
    return settings
