"""Break-even lines: markets over hours of use, instances and an endpoint over load."""

import numpy as np
import pandas as pd

from calc.cost.job import billed_hours, ends_of
from calc.cost.markets import BY_USE, COMMITTED, MARKETS
from calc.evaluate import Row
from calc.units import HOUR_SECONDS, MEAN_MONTH_HOURS, MILLION, YEAR_DAYS, YEAR_HOURS, YEAR_MONTHS

USED_HOURS = {  # of instances: in training one run after another, in serving in a month
    "training": (1, 6, 24, 72, 168, 336, 504, 672, 1344, 2688, 4380, YEAR_HOURS),
    "inference": (24, 73, 146, 219, 292, 365, 438, 511, 584, 657, MEAN_MONTH_HOURS),
}
MOST_COMMITTED = 2
# Shares of what the instances can generate.
LOADS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.001, 2.0, 2.001, 5.0)
OWN_INSTANCES, PER_TOKEN = "own instances", "paid per token"


def over_use(row: Row, markets: pd.DataFrame) -> pd.DataFrame:
    """The job's instances over hours of use: hours, line (a market), usd, fits, now.

    `markets` is a table of bill.on_markets. Blocks are paid in whole days, commitments to their end
    or by the month, spot with its interruptions; only the cheapest commitments are shown.
    """
    priced = markets[markets["usd_per_hour"].notna()]
    committed = priced[priced["market"].isin([*COMMITTED])].nsmallest(
        MOST_COMMITTED, "usd_per_hour"
    )["market"]
    shown = priced[priced["market"].isin({*BY_USE, *committed, row["market"]})]
    ends = bool(ends_of(row))
    attempts = float(row["attempts"]) if ends else 1.0
    hours = float(row["run_hours"]) if ends else float(row["hours"])
    slow = float(row["run_high_hours"] / row["run_hours"]) if ends else 1.0
    used = np.array(sorted({*map(float, USED_HOURS["training" if ends else "inference"]), hours}))
    parts = []
    for market, hourly in zip(shown["market"], shown["usd_per_hour"], strict=True):
        longer = (
            1 + float(row["spot_overhead_ratio"]) * MARKETS[market].interrupted if ends else 1.0
        )
        billed = billed_hours(
            market, np.array(float(ends)), used * longer, used * longer * slow, attempts
        )
        line = {
            "hours": used,
            "line": MARKETS[market].label,
            "usd": hourly * billed,
            "fits": row["fits"],
        }
        parts.append(pd.DataFrame({**line, "now": (used == hours) & (market == row["market"])}))
    if parts:
        return pd.concat(parts, ignore_index=True)
    return pd.DataFrame(columns=["hours", "line", "usd", "fits", "now"])


def over_load(row: Row) -> pd.DataFrame:
    """A month of instances and of an endpoint over tokens a day: tokens, line, usd, fits, now.

    Beyond what the instances can generate they are rented once more. Empty where no price of an
    endpoint is known.
    """
    endpoint = float(row["endpoint_usd_per_million_tokens"])
    month = float(row["usd_per_month_on_demand"])
    can = (
        float(row["tokens_per_second"])
        * HOUR_SECONDS
        * float(row["hours_per_month"])
        * YEAR_MONTHS
        / YEAR_DAYS
    )
    if not (endpoint > 0 and month > 0 and can > 0):
        return pd.DataFrame(columns=["tokens", "line", "usd", "fits", "now"])
    tokens = can * np.array(sorted({*LOADS, float(row["endpoint_break_even_ratio"])}))
    lines = {
        OWN_INSTANCES: month * np.ceil(np.round(tokens / can, 9)),
        PER_TOKEN: tokens * YEAR_DAYS / YEAR_MONTHS * endpoint / MILLION,
    }
    even = np.isclose(tokens, float(row["endpoint_break_even_tokens"]))
    parts = [
        pd.DataFrame({"tokens": tokens, "line": name, "usd": usd, "fits": row["fits"], "now": even})
        for name, usd in lines.items()
    ]
    return pd.concat(parts, ignore_index=True)
