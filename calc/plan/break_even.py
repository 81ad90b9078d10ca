"""Break-even lines: markets over hours of use, instances and an endpoint over load."""

import numpy as np
import pandas as pd

from calc.cost.job import billed_hours, ends_of
from calc.cost.markets import BY_USE, COMMITTED, MARKETS
from calc.evaluate import Row
from calc.units import HOUR_SECONDS, MEAN_MONTH_HOURS, MILLION, YEAR_DAYS, YEAR_HOURS, YEAR_MONTHS

USED_HOURS = {  # hours of use: of one training run after another, of a service in a month
    "training": (1, 6, 24, 72, 168, 336, 504, 672, 1344, 2688, 4380, YEAR_HOURS),
    "inference": (24, 73, 146, 219, 292, 365, 438, 511, 584, 657, MEAN_MONTH_HOURS),
}
MOST_COMMITTED = 2
# Shares of what the instances can generate.
LOADS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.001, 2.0, 2.001, 5.0)
OWN_INSTANCES, PER_TOKEN = "own instances", "paid per token"


def over_use(row: Row, markets: pd.DataFrame) -> pd.DataFrame:
    """Return the cost of the job's instances on each market over the hours that they are used.

    Columns: hours, line (the market), usd, fits, now (the job's own point). `markets` is a table of
    bill.on_markets. Blocks are paid in whole days, commitments to their end or by the month, and
    Spot with its interruptions. Of the commitments, only the cheapest are in the table.
    """
    sold_markets = markets[markets["usd_per_hour"].notna()]
    commitments = sold_markets[sold_markets["market"].isin([*COMMITTED])].nsmallest(
        MOST_COMMITTED, "usd_per_hour"
    )["market"]
    lines = sold_markets[sold_markets["market"].isin({*BY_USE, *commitments, row["market"]})]
    ends = bool(ends_of(row))
    attempts = float(row["attempts"]) if ends else 1.0
    hours = float(row["run_hours"]) if ends else float(row["hours"])
    slow_ratio = float(row["run_high_hours"] / row["run_hours"]) if ends else 1.0
    used_hours = np.array(
        sorted({*map(float, USED_HOURS["training" if ends else "inference"]), hours})
    )
    parts = []
    for market, usd_per_hour in zip(lines["market"], lines["usd_per_hour"], strict=True):
        overhead_ratio = float(row["spot_overhead_ratio"]) if MARKETS[market].interrupted else 0.0
        market_hours = used_hours * (1 + overhead_ratio if ends else 1.0)
        hours_billed = billed_hours(
            market, np.array(float(ends)), market_hours, market_hours * slow_ratio, attempts
        )
        part = {
            "hours": used_hours,
            "line": MARKETS[market].label,
            "usd": usd_per_hour * hours_billed,
            "fits": row["fits"],
            "now": (used_hours == hours) & (market == row["market"]),
        }
        parts.append(pd.DataFrame(part))
    if parts:
        return pd.concat(parts, ignore_index=True)
    return pd.DataFrame(columns=["hours", "line", "usd", "fits", "now"])


def over_load(row: Row) -> pd.DataFrame:
    """Return the cost of a month of own instances and of an endpoint over the tokens of a day.

    Columns: tokens, line, usd, fits, now (the break-even point). For more tokens than the instances
    can generate, as many again are rented. The table is empty if no price of an endpoint is known.
    """
    usd_per_million_tokens = float(row["endpoint_usd_per_million_tokens"])
    instances_usd = float(row["usd_per_month_on_demand"])
    tokens_per_day = (
        float(row["tokens_per_second"])
        * HOUR_SECONDS
        * float(row["hours_per_month"])
        * YEAR_MONTHS
        / YEAR_DAYS
    )
    if not (usd_per_million_tokens > 0 and instances_usd > 0 and tokens_per_day > 0):
        return pd.DataFrame(columns=["tokens", "line", "usd", "fits", "now"])
    tokens = tokens_per_day * np.array(sorted({*LOADS, float(row["endpoint_break_even_ratio"])}))
    month_usd = {
        OWN_INSTANCES: instances_usd * np.ceil(np.round(tokens / tokens_per_day, 9)),
        PER_TOKEN: tokens * YEAR_DAYS / YEAR_MONTHS * usd_per_million_tokens / MILLION,
    }
    now = np.isclose(tokens, float(row["endpoint_break_even_tokens"]))
    parts = [
        pd.DataFrame({"tokens": tokens, "line": name, "usd": usd, "fits": row["fits"], "now": now})
        for name, usd in month_usd.items()
    ]
    return pd.concat(parts, ignore_index=True)
