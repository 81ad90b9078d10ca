"""Instance types: what a dollar rents, what the job needs of each, one type by region."""

from collections.abc import Collection

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.offers import offers

SORTS = {  # what to put first: the column, and whether the smaller is better
    "memory": ("gib_per_usd", False),
    "compute": ("pflops_per_usd", False),
    "hour": ("on_demand_usd_per_hour", True),
    "job": ("usd", True),
}
_PLACE = ["instance", "region"]
OF_THE_JOB = ("instances_needed", "gpus", "fits", "runs", "usd", "hours", "market", "memory_bytes")


def for_job(board: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """The best row of each type on a board with its prices; `board_row` is its number there."""
    best = board.assign(board_row=np.arange(len(board))).drop_duplicates(_PLACE)
    wanted = [*_PLACE, "board_row", *(name for name in OF_THE_JOB if name in best)]
    rows = best[wanted].rename(columns={"gpus": "job_gpus", "memory_bytes": "job_memory_bytes"})
    table = offers(catalogs, list(dict.fromkeys(board["region"])))
    return rows.merge(table, on=_PLACE, how="inner", validate="one_to_one")


def in_order(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """The rows by one of SORTS, unknown values last, then by name."""
    column, smaller = SORTS[by]
    return table.sort_values([column, "instance"], ascending=[smaller, True], na_position="last", kind="stable", ignore_index=True)


def chosen(table: pd.DataFrame, families: Collection[str] = (), least_gib: float = 0) -> pd.DataFrame:
    """The rows of these families (none: all) with at least so much GPU memory on an instance."""
    large = table["gpu_gib"] >= least_gib
    return table[large & table["family"].isin(list(families))] if families else table[large]


def by_region(instance: str, here: str, catalogs: Catalogs) -> pd.DataFrame:
    """One instance type in every region with a price, the cheapest first."""
    table = offers(catalogs, catalogs.regions.index)
    table = table[(table["instance"] == instance) & (table["on_demand_usd_per_hour"].notna() | table["spot_usd_per_hour"].notna())]
    local = table.loc[table["region"] == here, "on_demand_usd_per_hour"]
    ratio = (table["on_demand_usd_per_hour"] / (local.iloc[0] if len(local) else np.nan) - 1).round(3) + 0.0  # no minus before a zero
    names = catalogs.regions["name"].loc[table["region"]].to_numpy()
    return table.assign(name=names, against_here_ratio=ratio).sort_values(
        ["on_demand_usd_per_hour", "spot_usd_per_hour"], na_position="last", kind="stable", ignore_index=True
    )
