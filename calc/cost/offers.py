"""What AWS sells, side by side: each instance in each region, priced per hour, GPU-hour, GiB-hour and PFLOP-hour."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.quotas import quota_for
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


def price_on(catalogs: Catalogs, instance: str, region: str, day: str) -> float:
    """On-demand USD per hour that the price history holds for a day (ISO); NaN where it begins later or knows nothing."""
    history = catalogs.price_history
    mine = (history["instance"] == instance) & (history["region"] == region) & (history["market"] == MARKETS["on-demand"].key)
    known = history[mine & (history["as_of"] <= day)].sort_values("as_of")
    return float(known["usd_per_hour"].iloc[-1]) if len(known) else float("nan")


def price_change(catalogs: Catalogs, instance: str, region: str, day: str) -> dict[str, float]:
    """An instance's on-demand USD per hour on a day and now, and by which share it has risen."""
    then = price_on(catalogs, instance, region, day)
    prices = catalogs.prices
    now = prices.loc[(prices["instance"] == instance) & (prices["region"] == region), "on_demand_usd_per_hour"]
    current = float(now.iloc[0]) if len(now) else float("nan")
    return {"then_usd": then, "now_usd": current, "ratio": current / then - 1}


MEASURES = {"instance": None, "gpu": "whole_gpus", "gib": "gpu_gib", "pflop": "bf16_pflops"}


def per(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Prices of all markets divided by a measure: the instance, its GPUs, its GiB of GPU memory, its bf16 PFLOP/s."""
    divisor = table[MEASURES[measure]] if MEASURES[measure] else 1.0
    return pd.DataFrame({name: table[market.price] / divisor for name, market in MARKETS.items()}, index=table.index)


def age_days(as_of: pd.Series, today: Any) -> pd.Series:
    """Days from an ISO date (or the older end of a range) to today; NaN where there is none."""
    return (pd.Timestamp(today) - pd.to_datetime(as_of.where(as_of != ""), errors="coerce")).dt.days


def days_since(day: str, today: Any) -> int:
    """Days from one ISO date to today; 0 for a date that is not one."""
    then = pd.to_datetime(day, errors="coerce")
    return 0 if pd.isna(then) else (pd.Timestamp(today) - then).days


def months(days: int) -> int:
    """Whole months in so many days, to the nearest."""
    return round(days * DAY_HOURS / MEAN_MONTH_HOURS)


def is_old(as_of: pd.Series, today: Any, market: str = "on-demand") -> pd.Series:
    """A price older than its market's days is to be checked: 90, on spot 7."""
    return age_days(as_of, today) > MARKETS[market].old_days
