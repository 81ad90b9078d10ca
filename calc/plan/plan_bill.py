"""The bill of a plan: one answer of each job, times its runs and months, against a budget.

A run is paid as often as it is made, and a service by the month. A commitment is paid every month
of its term, used or not. Runs that take more hours a month than one copy of its instances has pay
for several copies. A run made in one month alone is paid once. Your own machines are not paid.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.cost.terms import committed_copies, month_usd, paid_months, period_usd

PERIOD_MONTHS = {"month": 1, "quarter": 3, "year": 12}  # a period -> its months
# The columns of a bill.
PERIODS = {f"{period}_usd": months for period, months in PERIOD_MONTHS.items()}
PAID = ("is_once", "once_usd", "monthly_usd", "start_usd")  # and of each of its lines


class JobAnswers(NamedTuple):
    """A job with the places of its answers, and the place of the one in the bill."""

    job: str
    places: list[int]
    ticked: int


def answers_by_job(jobs: Sequence[str], ticks: Sequence[bool]) -> list[JobAnswers]:
    """The answers of each job in their order; without a tick the first is in the bill."""
    places: dict[str, list[int]] = {}
    for place, job in enumerate(jobs):
        places.setdefault(job, []).append(place)
    answers = []
    for job, own in places.items():
        own_ticks = [place for place in own if ticks[place]]
        answers.append(JobAnswers(job, own, own_ticks[0] if own_ticks else own[0]))
    return answers


def plan_bill(rows: pd.DataFrame) -> pd.DataFrame:
    """Billed rows with is_once, once_usd, monthly_usd, start_usd and the columns of PERIODS.

    once_usd is NaN of what is paid by the month, monthly_usd of what is paid once; all are NaN
    without a price.
    """
    names = ("usd", "usd_per_hour", "hours", "runs_per_month", "plan_months", "start_hours")
    usd, hourly, hours, runs, months, start = (rows[name].to_numpy(dtype=float) for name in names)
    ends = ends_of(rows).to_numpy(dtype=float)
    years = np.array([MARKETS[market].committed_years for market in rows["market"]], dtype=float)
    a_month = month_usd(usd, hourly, runs, years, committed_copies(ends, hours, runs))
    is_once = (ends > 0) & (months == 1) & (years == 0)
    return rows.assign(
        is_once=is_once,
        once_usd=np.where(is_once, a_month, np.nan),
        monthly_usd=np.where(is_once, np.nan, a_month),
        start_usd=np.where(ends > 0, start * hourly * runs, np.nan),
        **{
            name: period_usd(a_month, paid_months(period, months, years))
            for name, period in PERIODS.items()
        },
    )


def first_month(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of plan_bill that are in the bill and have a price, one for each job."""
    jobs = answers_by_job(rows["job"].tolist(), (rows["in_bill"] == "yes").tolist())
    bill = plan_bill(rows.iloc[[job.ticked for job in jobs]])
    return bill[bill["month_usd"].notna() & (bill["have"] == "") & (bill["problem"] == "")]


def in_plan(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the ticked rows of a plan, or all of them if none is ticked."""
    is_ticked = rows["in_bill"] == "yes"
    return rows[is_ticked] if is_ticked.any() else rows


def ticked_rows(bill: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of in_plan that have no problem."""
    return in_plan(bill[bill["problem"] == ""])


class AgainstBudget(NamedTuple):
    """A bill against a budget: what is left, below 0 if the bill exceeds it, and the share used."""

    left_usd: float
    used_ratio: float


def against_budget(bill: pd.DataFrame, budget_usd: float, period: str) -> AgainstBudget:
    """Return the bill of a period against a budget."""
    total_usd = float(bill[f"{period}_usd"].sum())
    return AgainstBudget(budget_usd - total_usd, total_usd / budget_usd)
