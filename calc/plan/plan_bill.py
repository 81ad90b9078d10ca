"""The bill of a plan: every kept scenario times its runs a month and its months, as month, quarter and year, by market, against a budget.

A run is paid as often as it is made, a service for its month; a commitment is paid every month of its term, however much is used.
"""

import numpy as np
import pandas as pd

from calc.cost.markets import MARKETS
from calc.units import MEAN_MONTH_HOURS

PERIOD_MONTHS = {"month": 1, "quarter": 3, "year": 12}  # a period -> its months
PERIODS = {f"{period}_usd": months for period, months in PERIOD_MONTHS.items()}  # of a bill, its columns


def month_usd(usd, usd_per_hour, runs_per_month, committed_years):
    """A month in which the scenario is at work: of a run its cost times the runs, of a commitment all hours. [USD]"""
    return np.where(committed_years > 0, usd_per_hour * MEAN_MONTH_HOURS, usd * runs_per_month)


def paid_months(period_months, plan_months, committed_years):
    """Months of a period that are paid, from its first on: those at work; of a commitment its term. [months]"""
    return np.minimum(period_months, np.where(committed_years > 0, committed_years * PERIOD_MONTHS["year"], plan_months))


def plan_bill(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of compare.billed, each with month_usd, quarter_usd and year_usd; NaN where no price is known."""
    usd, hourly, runs, months = (rows[name].to_numpy(dtype=float) for name in ("usd", "usd_per_hour", "runs_per_month", "plan_months"))
    years = np.array([MARKETS[market].committed_years for market in rows["market"]], dtype=float)
    a_month = month_usd(usd, hourly, runs, years)
    return rows.assign(**{name: a_month * paid_months(period, months, years) for name, period in PERIODS.items()})


def by_market(bill: pd.DataFrame) -> pd.DataFrame:
    """The sums of a plan's bill: a row per market in the order of the bill, then the whole; scenarios, and USD per period."""
    parts = bill.groupby("market", sort=False)[list(PERIODS)].sum(min_count=1)
    parts.insert(0, "scenarios", bill.groupby("market", sort=False).size())
    whole = pd.DataFrame([{"scenarios": len(bill), **bill[list(PERIODS)].sum(min_count=1)}], index=["all"])
    return pd.concat([parts, whole]).rename_axis("market").reset_index()


def against_budget(bill: pd.DataFrame, budget_usd: float, period: str) -> dict[str, float]:
    """The bill of a period against a budget: usd, left_usd (below 0: over it) and used_ratio."""
    total = float(bill[f"{period}_usd"].sum())
    return {"usd": total, "left_usd": budget_usd - total, "used_ratio": total / budget_usd}
