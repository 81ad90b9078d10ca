"""Instance types: those of the job's ranked table, and one type by region."""

import numpy as np
import pandas as pd

from calc.catalogs.figures import usd_per_gpu_hour
from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.obtainability import obtainability
from calc.cost.offers import offers

SEARCHED = ("instance", "family", "card")  # what a search for a type looks into


def types_of_job(
    board: pd.DataFrame, catalogs: Catalogs, market: str = "on-demand", region: str = ""
) -> pd.DataFrame:
    """The first row of each type on a board, in the board's order, with prices of a market.

    `board_row` is its number on the board. With a `region` the other types as they are sold there
    follow, by price.
    """
    first = board.assign(board_row=np.arange(len(board))).drop_duplicates("instance")[
        ["instance", "region", "board_row", "obtainable"]
    ]
    regions = dict.fromkeys(
        [
            *(name for name in first["region"] if name in catalogs.regions.index),
            *([region] if region else []),
        ]
    )
    table = offers(catalogs, regions).merge(
        first.astype({"instance": object, "region": object}), on=["instance", "region"], how="left"
    )
    is_added = (table["region"] == region) & ~table["instance"].isin(first["instance"])
    price = MARKETS[market].price
    words = dict(zip(catalogs.instances.index, obtainability(catalogs, market).words, strict=False))
    table = table[table["board_row"].notna() | is_added].sort_values(
        ["board_row", price, "instance"], ignore_index=True
    )
    return table.assign(
        usd_per_gpu_hour=usd_per_gpu_hour(table[price], table["whole_gpus"]),
        obtainable=table["obtainable"].where(
            table["board_row"].notna(), table["instance"].map(words)
        ),
    )


def of_whole_rows(types: pd.DataFrame, board: pd.DataFrame) -> pd.DataFrame:
    """Return the types with the GPUs and hourly prices of all instances that the job takes.

    A type that is not on the board keeps those of one instance.
    """
    instances_needed = (
        board["instances_needed"].reindex(types["board_row"]).fillna(1).to_numpy(dtype=float)
    )
    names = ("gpus", *(market.price for market in MARKETS.values()))
    return types.assign(**{name: types[name] * instances_needed for name in names if name in types})


def by_region(instance: str, here: str, catalogs: Catalogs) -> pd.DataFrame:
    """One instance type in every region with a price, the cheapest first."""
    table = offers(catalogs, catalogs.regions.index)
    table = table[
        (table["instance"] == instance)
        & (table["on_demand_usd_per_hour"].notna() | table["spot_usd_per_hour"].notna())
    ]
    local = table.loc[table["region"] == here, "on_demand_usd_per_hour"]
    ratio = (table["on_demand_usd_per_hour"] / (local.iloc[0] if len(local) else np.nan) - 1).round(
        3
    ) + 0.0  # no minus before a zero
    names = catalogs.regions["name"].loc[table["region"]].to_numpy()
    return table.assign(name=names, against_here_ratio=ratio).sort_values(
        ["on_demand_usd_per_hour", "spot_usd_per_hour"],
        na_position="last",
        kind="stable",
        ignore_index=True,
    )
