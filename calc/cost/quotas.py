"""Quotas that an account needs to start instances."""

from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs


class Quota(NamedTuple):
    """A service quota of EC2: its name, its code or "", and what it counts: vCPUs or blocks."""

    name: str
    code: str
    counts: str = "vCPUs"


def entry_of(family: str, table: pd.DataFrame) -> pd.Series:
    """The entry of a family in a table of beginnings of families' names: the longest."""
    return table.loc[max((key for key in table.index if family.startswith(key)), key=len)]


def quota_for(
    family: str, catalogs: Catalogs, interrupted: float = 0, block_hours: float = 0
) -> Quota:
    """The quota of a family on a market: of blocks, spot or on demand."""
    market, words, counts = (
        ("block", "Capacity Block", "blocks") if block_hours else ("spot", "spot", "vCPUs")
    )
    if not (block_hours or interrupted):
        market, words = "on_demand", "on-demand"
    entry = entry_of(family, catalogs.quotas)
    return Quota(entry[market] or f"the {words} quota of {family}", entry[f"{market}_code"], counts)
