"""The bill of one row: what is paid for which hours, between which ends, and the same job paid in other ways."""

from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import billed_hours
from calc.cost.markets import MARKETS
from calc.plan.compare import billed

SPOT_HOURS = ("checkpoint_hours", "lost_work_hours", "restart_hours")
FACTS = ("as_of", "source")  # of a price


def lines(row: dict[str, Any]) -> pd.DataFrame:
    """What is paid on the row's market: line (work, what spot adds, unused), hours, usd; they sum to the bill.

    `row` is one of compare.billed. Work is the run without interruption, or the month; unused hours are those that a
    market bills beyond the job, such as the rest of a capacity block's last day.
    """
    trains, hours = row["work"] == "training", float(row["hours"])
    table = {"work": float(row["run_hours"]) if trains else hours}
    if trains and MARKETS[row["market"]].interrupted:
        table |= {name.removesuffix("_hours"): float(row[name]) for name in SPOT_HOURS}
    unused = float(billed_hours(row["market"], np.array(trains * 1.0), np.array(hours))) - hours
    table |= {"unused": unused} if unused > 0 else {}
    found = pd.DataFrame({"line": list(table), "hours": list(table.values())})
    return found.assign(usd=found["hours"] * float(row["usd_per_hour"]))


def on_markets(row: dict[str, Any], catalogs: Catalogs) -> pd.DataFrame:
    """The row on every market, a row each: what compare.billed adds, billed_hours, low_usd and high_usd, and the price's facts.

    The ends are those of the time: a run at the fast and at the slow end of its range. basis, as_of and source are empty
    where no price is known, and so are the numbers.
    """
    table = billed(pd.DataFrame([row] * len(MARKETS)).assign(market=list(MARKETS)), catalogs)
    trains = (table["work"] == "training").to_numpy(dtype=float)
    hours, hourly = (table[name].to_numpy(dtype=float) for name in ("hours", "usd_per_hour"))
    ends = {}
    for name in ("low", "high"):
        ratio = float(row[f"run_{name}_hours"] / row["run_hours"]) if row["work"] == "training" else 1.0
        ends[f"{name}_usd"] = hourly * _billed(hours * ratio, trains)
    numbers = {"billed_hours": _billed(hours, trains), **ends}
    columns = ["market", "instances", "usd_per_hour", "hours", "usd"]
    facts = pd.DataFrame([price_facts(row, name, catalogs) for name in MARKETS])
    return pd.concat([table[columns].assign(**numbers).reset_index(drop=True), facts], axis="columns")


def _billed(hours, trains):
    """The hours that each market bills, a value per market."""
    parts = zip(MARKETS, trains, hours, strict=True)
    return np.array([float(billed_hours(market, np.array(trained), np.array(own))) for market, trained, own in parts])


def price_facts(row: dict[str, Any], market: str, catalogs: Catalogs) -> dict[str, Any]:
    """What the price of the row's instance on a market rests on, of when it is, who says so, and the range over the zones."""
    table, key = catalogs.prices, MARKETS[market].key
    found = table[(table["instance"] == row["instance"]) & (table["region"] == row["region"])]
    if not len(found) or np.isnan(found.iloc[0][MARKETS[market].price]):
        return {"basis": "", **dict.fromkeys(FACTS, ""), "low_zone_usd_per_hour": np.nan, "high_zone_usd_per_hour": np.nan}
    price = found.iloc[0]
    zones = {f"{end}_zone_usd_per_hour": price.get(f"{key}_{end}_usd_per_hour", np.nan) for end in ("low", "high")}
    basis = price.get(f"{key}_basis", price.get(f"{key}_kind", ""))
    return {"basis": str(basis or ""), **{fact: str(price[f"{key}_{fact}"] or "") for fact in FACTS}, **zones}
