"""What AWS sells, side by side: each instance in each region, priced per hour, GPU-hour, GiB-hour and PFLOP-hour."""

from collections.abc import Iterable
from datetime import date
from typing import Any

import pandas as pd

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.quotas import quota_for
from calc.scenarios.hardware import price_rows
from calc.units import DAY_HOURS, GIB, MEAN_MONTH_HOURS, PETA

MONTHS_FROM_DAYS = 60  # an age is said in months from here on


def offers(catalogs: Catalogs, regions: Iterable[str]) -> pd.DataFrame:
    """One row per instance and region: its card, its prices and when they were seen; instances without a price stay."""
    sold = catalogs.instances.rename_axis("instance").reset_index()
    cards = catalogs.gpus.rename(columns={"name": "card"})[["card", "bf16_flops_per_second"]]
    sold = sold.drop(columns=["source", "checked_on", "notes"], errors="ignore").merge(
        cards, left_on="gpu", right_index=True, validate="many_to_one"
    )
    grid = sold.merge(pd.DataFrame({"region": list(regions)}), how="cross")
    table = grid.merge(catalogs.prices, on=["instance", "region"], how="left", validate="one_to_one")
    for quota, interrupted in (("on_demand_quota", 0), ("spot_quota", 1)):
        names = {family: quota_for(family, catalogs, interrupted).name for family in table["family"].unique()}
        table[quota] = table["family"].map(names)
    whole_gpus = table["gpus"] * table["gpu_fraction"]
    return table.assign(
        whole_gpus=whole_gpus,
        gpu_gib=table["gpus"] * table["gpu_memory_bytes"] / GIB,
        host_gib=table["memory_bytes"] / GIB,
        bf16_pflops=whole_gpus * table["bf16_flops_per_second"] / PETA,
        spot_saving_ratio=1 - table["spot_usd_per_hour"] / table["on_demand_usd_per_hour"],
    )


@kept("price_history")
def _history_places(catalogs: Catalogs) -> dict[tuple[str, str], Any]:
    return catalogs.price_history.groupby(["instance", "region"], sort=False).indices


def price_of(catalogs: Catalogs, instance: str, region: str) -> dict[str, Any]:
    """Every price of an instance in a region with its facts, as the table of prices has them; empty where it is not sold there."""
    at = price_rows(catalogs)[0].get((instance, region))
    return {} if at is None else _price_at(catalogs, at)


@kept("prices")
def _price_at(catalogs: Catalogs, at: int) -> dict[str, Any]:
    return dict(catalogs.prices.iloc[at])


def price_line(catalogs: Catalogs, instance: str, region: str) -> pd.DataFrame:
    """How the prices of an instance in a region moved: market, usd_per_hour, as_of, source; each price stands until the next.

    The last of a market is today's, of the day on which it was last seen; NaN: not sold any more. Estimates are left out, and what
    SageMaker asks by rule.
    """
    keys = {market.key: name for name, market in MARKETS.items()}
    kept_rows = catalogs.price_history.iloc[_history_places(catalogs).get((instance, region), [])]
    rows = kept_rows[["market", "usd_per_hour", "as_of", "source"]].assign(market=kept_rows["market"].map(keys))
    price = price_of(catalogs, instance, region)
    now = [
        {"market": name, **{fact: price[f"{key}_{fact}"] for fact in ("usd_per_hour", "as_of", "source")}}
        for key, name in keys.items()
        if price and price[f"{key}_usd_per_hour"] > 0 and not (price.get(f"{key}_basis") == "estimated" or by_rule(name, price))
    ]
    both = pd.concat([rows, pd.DataFrame(now, columns=list(rows))], ignore_index=True)
    return both.sort_values("as_of", kind="stable", ignore_index=True)


def by_rule(market: str, price: dict[str, Any]) -> bool:
    """Whether a price of SageMaker follows from on demand and was not seen itself."""
    return bool(MARKETS[market].work) and price[f"{MARKETS[market].key}_basis"] == "derived"


def price_on(catalogs: Catalogs, instance: str, region: str, day: str, market: str = "on-demand") -> float:
    """USD per hour on a market as it was known on a day (ISO); NaN where nothing that old is known, or it was not sold."""
    line = price_line(catalogs, instance, region)
    known = line[(line["market"] == market) & (line["as_of"] <= day)]
    return float(known["usd_per_hour"].iloc[-1]) if len(known) else float("nan")


def price_change(catalogs: Catalogs, instance: str, region: str, day: str, market: str = "on-demand") -> dict[str, float]:
    """An instance's USD per hour on a market on a day and now, and by which share it has risen since."""
    then = price_on(catalogs, instance, region, day, market)
    current = float(price_of(catalogs, instance, region).get(MARKETS[market].price, float("nan")))
    return {"then_usd": then, "now_usd": current, "ratio": current / then - 1}


MEASURES = {"instance": None, "gpu": "whole_gpus", "gib": "gpu_gib", "pflop": "bf16_pflops"}


def per(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Prices of all markets divided by a measure: the instance, its GPUs, its GiB of GPU memory, its bf16 PFLOP/s."""
    divisor = table[MEASURES[measure]] if MEASURES[measure] else 1.0
    return pd.DataFrame({name: table[market.price] / divisor for name, market in MARKETS.items()}, index=table.index)


def age_days(as_of: pd.Series, today: Any) -> pd.Series:
    """Days from an ISO date (or the older end of a range) to today; NaN where there is none."""
    return (pd.Timestamp(today) - pd.to_datetime(as_of.where(as_of != ""), errors="coerce")).dt.days


def days_since(day: str, today: date) -> int:
    """Days from one ISO date to today; 0 for a date that is not one."""
    try:
        return (today - date.fromisoformat(day)).days
    except ValueError:
        return 0


def months(days: int) -> int:
    """Whole months in so many days, to the nearest."""
    return round(days * DAY_HOURS / MEAN_MONTH_HOURS)


def is_old(as_of: pd.Series, today: Any, market: str = "on-demand") -> pd.Series:
    """A price older than its market's days is to be checked: 90, on spot 7."""
    return age_days(as_of, today) > MARKETS[market].old_days
