"""The CSV that people read: 18 columns of each scenario, in place of every input and result."""

from typing import Any

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.figures import records
from calc.say.setting import arrangement
from calc.search.row_status import method_name
from calc.units import GIB

COLUMNS = (
    *("job", "team", "model", "method", "precision", "optimizer"),
    *("instance", "instances", "gpus", "layout", "market", "region"),
    *("usd", "usd_low", "usd_high", "hours", "needed_gib", "fits"),
)


def people_table(rows: pd.DataFrame, catalogs: Catalogs, job: str = "") -> pd.DataFrame:
    """Return answered or billed rows with COLUMNS: ids, USD, hours of the run or month, GiB.

    `job` is what they are for, in words, where a row does not say it.
    """
    readable = [_readable(row, catalogs, job) for row in records(rows)]
    return pd.DataFrame(readable, columns=list(COLUMNS))


def _readable(row: Row, catalogs: Catalogs, job: str) -> dict[str, Any]:
    """One row; a service pays for its hours whatever its load, so its cost has no range."""
    trains, ends = row["work"] == "training", bool(ends_of(row))
    low, high = (
        row["usd"] * (row[f"run_{end}_hours"] / row["run_hours"] if ends else 1.0)
        for end in ("low", "high")
    )
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
        "layout": arrangement(row, catalogs),
        "market": row.get("market", ""),
        "region": row["region"],
        "usd": row["usd"],
        "usd_low": low,
        "usd_high": high,
        "hours": row["hours"],
        "needed_gib": row["needed_bytes"] / GIB,
        "fits": row["fits"],
    }
