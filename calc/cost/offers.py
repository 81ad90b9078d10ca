"""AWS's instances side by side, by region: prices per unit, and how they moved."""

from collections.abc import Iterable
from datetime import date
from typing import Any, NamedTuple

import pandas as pd

from calc.catalogs import figures
from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.obtainability import WAIT, obtainability
from calc.cost.quotas import entry_of, quota_for
from calc.evaluate import Row, evaluate
from calc.mappings import Cells
from calc.scenarios.hardware import price_rows
from calc.units import DAY_HOURS, HOUR_SECONDS, MEAN_MONTH_HOURS

OF_OFFERS = (
    figures.whole_gpus,
    figures.gpu_gib,
    figures.host_gib,
    figures.bf16_pflops,
    figures.spot_discount_ratio,
    figures.gib_per_usd,
    figures.pflops_per_usd,
)
MONTHS_FROM_DAYS = 60  # from here on an age is shown in months


def offers(catalogs: Catalogs, regions: Iterable[str]) -> pd.DataFrame:
    """One row per instance and region: card, prices and dates; also instances without a price."""
    instances = catalogs.instances.rename_axis("instance").reset_index()
    cards = catalogs.gpus.rename(columns={"name": "card"})[["card", "bf16_flops_per_second"]]
    instances = instances.drop(columns=["source", "checked_on", "notes"], errors="ignore").merge(
        cards, left_on="gpu", right_index=True, validate="many_to_one"
    )
    grid = instances.merge(pd.DataFrame({"region": list(regions)}), how="cross")
    table = grid.merge(
        catalogs.prices, on=["instance", "region"], how="left", validate="one_to_one"
    )
    for quota, interrupted in (("on_demand_quota", 0), ("spot_quota", 1)):
        names = {
            family: quota_for(family, catalogs, interrupted).name
            for family in table["family"].unique()
        }
        table[quota] = table["family"].map(names)
    for figure in OF_OFFERS:
        table[figure.__name__] = evaluate(figure, table)
    return table


def entries_behind(
    row: Cells, catalogs: Catalogs, market: str = "on-demand"
) -> dict[str, tuple[str, Cells]]:
    """The catalog entries behind a row of offers: catalog -> the entry's name and its row.

    usd_per_hour is the price of the market, and obtainable how hard it is to get there.
    """
    instance, region, gpu, terms = row["instance"], row["region"], row["gpu"], MARKETS[market]
    price = price_of(catalogs, instance, region)
    facts = {
        f"usd_per_hour_{fact}": price.get(f"{terms.key}_{fact}", "")
        for fact in ("basis", "as_of", "source")
    }
    reports = entry_of(row["family"], catalogs.obtainability)
    return {
        "prices": (f"{instance}, {region}", price | facts),
        "instances": (instance, catalogs.instances.loc[instance]),
        "gpus": (gpu, catalogs.gpus.loc[gpu]),
        "obtainability": (str(reports.name), {**reports, "obtainable": reports["on_demand"]}),
    }


@cached_per_catalogs("price_history")
def _history_places(catalogs: Catalogs) -> dict[tuple[str, str], Any]:
    return catalogs.price_history.groupby(["instance", "region"], sort=False).indices


def price_of(catalogs: Catalogs, instance: str, region: str) -> Row:
    """The row of prices of an instance in a region; empty if it is not sold there."""
    row = price_rows(catalogs)[0].get((instance, region))
    return {} if row is None else _price_of(catalogs, row)


@cached_per_catalogs("prices")
def _price_of(catalogs: Catalogs, row: int) -> Row:
    return dict(catalogs.prices.iloc[row])


def price_line(catalogs: Catalogs, instance: str, region: str) -> pd.DataFrame:
    """Prices of an instance in a region over time: market, usd_per_hour, as_of, source.

    Each holds until the next. The last price of a market is today's, with the day on which it was
    last seen; NaN means no longer sold. Estimates and prices that follow from a rule are left out.
    """
    keys = {market.key: name for name, market in MARKETS.items()}
    kept_rows = catalogs.price_history.iloc[_history_places(catalogs).get((instance, region), [])]
    rows = kept_rows[["market", "usd_per_hour", "as_of", "source"]].assign(
        market=kept_rows["market"].map(keys)
    )
    price = price_of(catalogs, instance, region)
    current = [
        {
            "market": name,
            **{fact: price[f"{key}_{fact}"] for fact in ("usd_per_hour", "as_of", "source")},
        }
        for key, name in keys.items()
        if price
        and price[f"{key}_usd_per_hour"] > 0
        and not (price.get(f"{key}_basis") == "estimated" or by_rule(name, price))
    ]
    both = pd.concat([rows, pd.DataFrame(current, columns=list(rows))], ignore_index=True)
    return both.sort_values("as_of", kind="stable", ignore_index=True)


def by_rule(market: str, price: Row) -> bool:
    """Return whether a SageMaker price follows from On-Demand by rule, not from a listing."""
    return bool(MARKETS[market].work) and price[f"{MARKETS[market].key}_basis"] == "derived"


def price_on(
    catalogs: Catalogs, instance: str, region: str, day: str, market: str = "on-demand"
) -> float:
    """USD per hour on a market on a day (ISO); NaN if nothing that old is known."""
    line = price_line(catalogs, instance, region)
    earlier = line[(line["market"] == market) & (line["as_of"] <= day)]
    return float(earlier["usd_per_hour"].iloc[-1]) if len(earlier) else float("nan")


class PriceChange(NamedTuple):
    """The hourly price of an instance on an earlier day and now; NaN if it is not known."""

    then_usd: float
    now_usd: float

    @property
    def ratio(self) -> float:
        """The rise as a share of the earlier price; below 0 if the price fell."""
        return self.now_usd / self.then_usd - 1


def price_change(
    catalogs: Catalogs, instance: str, region: str, day: str, market: str = "on-demand"
) -> PriceChange:
    """Return the price of an instance on a market on an earlier day and now."""
    then = price_on(catalogs, instance, region, day, market)
    now = float(price_of(catalogs, instance, region).get(MARKETS[market].price, float("nan")))
    return PriceChange(then, now)


def age_days(as_of: pd.Series, today: Any) -> pd.Series:
    """Days from an ISO date to today; NaN if there is none. [days]"""
    return (pd.Timestamp(today) - pd.to_datetime(as_of.where(as_of != ""), errors="coerce")).dt.days


def days_since(day: str, today: date) -> int:
    """Days from one ISO date to today; 0 if it cannot be read. [days]"""
    try:
        return (today - date.fromisoformat(day)).days
    except ValueError:
        return 0


def months(days: int) -> int:
    """Days as months, rounded. [months]"""
    return round(days * DAY_HOURS / MEAN_MONTH_HOURS)


def is_old(as_of: pd.Series, today: Any, market: str = "on-demand") -> pd.Series:
    """Return whether a price is stale: older than 90 days, or on Spot than 7."""
    return age_days(as_of, today) > MARKETS[market].old_days


def is_stale_scarce_spot(instance: str, region: str, market: str, catalogs: Catalogs) -> bool:
    """Return whether a Spot price is too old for a family that is hard to get.

    Such a price was paid once, and may not be available now. It is neither ranked nor advised.

    Source: scarce_spot_seconds of catalogs/edited/assumptions.yaml.
    """
    if not MARKETS[market].interrupted or instance not in catalogs.instances.index:
        return False
    rank = obtainability(catalogs, market).rank[catalogs.instances.index.get_loc(instance)]
    day = str(price_of(catalogs, instance, region).get(f"{MARKETS[market].key}_as_of", ""))
    most_seconds = float(catalogs.assumptions["value"]["scarce_spot_seconds"])
    age_hours = days_since(day, date.fromisoformat(catalogs.read_on)) * DAY_HOURS
    return bool(rank >= WAIT) and age_hours * HOUR_SECONDS > most_seconds
