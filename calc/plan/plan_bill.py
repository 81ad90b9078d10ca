"""The bill of a plan: every scenario times its runs and months, by market, against a budget.

A run is paid as often as it is made, a service by the month; a commitment is paid every month of its term, used or not, and
runs that take more hours a month than one copy of its instances has pay for several.
"""

import numpy as np
import pandas as pd

from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.cost.terms import committed_copies, month_usd, paid_months, period_usd

PERIOD_MONTHS = {"month": 1, "quarter": 3, "year": 12}  # a period -> its months
PERIODS = {f"{period}_usd": months for period, months in PERIOD_MONTHS.items()}  # the columns of a bill


def plan_bill(rows: pd.DataFrame) -> pd.DataFrame:
    """Billed rows with month_usd, quarter_usd and year_usd; NaN where no price is known."""
    names = ("usd", "usd_per_hour", "hours", "runs_per_month", "plan_months")
    usd, hourly, hours, runs, months = (rows[name].to_numpy(dtype=float) for name in names)
    years = np.array([MARKETS[market].committed_years for market in rows["market"]], dtype=float)
    copies = committed_copies(ends_of(rows).to_numpy(dtype=float), hours, runs)
    a_month = month_usd(usd, hourly, runs, years, copies)
    return rows.assign(**{name: period_usd(a_month, paid_months(period, months, years)) for name, period in PERIODS.items()})


def by_market(bill: pd.DataFrame) -> pd.DataFrame:
    """The sums of a plan's bill: a row per market, then the total; scenarios, USD per period."""
    parts = bill.groupby("market", sort=False)[list(PERIODS)].sum(min_count=1)
    parts.insert(0, "scenarios", bill.groupby("market", sort=False).size())
    total = pd.DataFrame([{"scenarios": len(bill), **bill[list(PERIODS)].sum(min_count=1)}], index=["all"])
    return pd.concat([parts, total]).rename_axis("market").reset_index()


def against_budget(bill: pd.DataFrame, budget_usd: float, period: str) -> dict[str, float]:
    """The bill of a period against a budget: usd, left_usd (below 0: over it) and used_ratio."""
    total = float(bill[f"{period}_usd"].sum())
    return {"usd": total, "left_usd": budget_usd - total, "used_ratio": total / budget_usd}
