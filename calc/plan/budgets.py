"""Plans against the budgets of their teams: dollars and GPU-hours of a period."""

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.plan.figures import records
from calc.units import YEAR_DAYS, YEAR_MONTHS

MONTH_DAYS = YEAR_DAYS / YEAR_MONTHS
TEAM_SUMS = ("once_usd", "monthly_usd", "year_usd", "once_gpu_hours", "monthly_gpu_hours")


class Budget(NamedTuple):
    """Dollars and GPU-hours of a team or a project from a day to a day; None sets no limit.

    An empty team is every team, an empty project every project of the team.
    """

    id: str
    team: str
    project: str
    starts: date
    ends: date
    usd: float | None
    gpu_hours: float | None

    def is_of(self, row: Row) -> bool:
        """Return whether a plan is paid from it."""
        named = ((self.team, row.get("team")), (self.project, row.get("project")))
        return all(not mine or mine.casefold() == str(its or "").casefold() for mine, its in named)


class Use(NamedTuple):
    """A budget and what plans take of it; unpriced: plans of it whose price is not known."""

    budget: Budget
    used_usd: float
    used_gpu_hours: float
    plans: int
    unpriced: int

    @property
    def left_usd(self) -> float:
        """Dollars that are left, negative if the plans use more; NaN without a limit. [USD]"""
        return np.nan if self.budget.usd is None else self.budget.usd - self.used_usd

    @property
    def left_gpu_hours(self) -> float:
        """GPU-hours that remain, below 0 where plans take more; NaN without a limit. [h]"""
        limit = self.budget.gpu_hours
        return np.nan if limit is None else limit - self.used_gpu_hours

    @property
    def used_ratio(self) -> float:
        """Share of the dollars that is taken, from 0 to 1; 0 without a limit of dollars."""
        if self.budget.usd is None:
            return 0.0
        return float(np.clip(self.used_usd / self.budget.usd, 0.0, 1.0))

    @property
    def is_exceeded(self) -> bool:
        """Return whether plans take more than there is."""
        return bool(self.left_usd < 0 or self.left_gpu_hours < 0)


def with_gpu_hours(bill: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """Rows of plan_bill with once_gpu_hours and monthly_gpu_hours: GPUs paid times hours. [h]

    A row is paid for its dollars over its price of an hour; without a price for its hours times
    its runs. Instances at rest are not counted, unused hours of a commitment are.
    """
    names = ("usd_per_hour", "hours", "runs_per_month", "instances")
    hourly, hours, runs, instances = (bill[name].to_numpy(dtype=float) for name in names)
    usd = bill["once_usd"].fillna(bill["monthly_usd"]).to_numpy(dtype=float)
    paid = np.where(usd > 0, usd / np.where(hourly > 0, hourly, np.nan), np.nan)
    paid = np.where(np.isnan(paid), hours * runs, paid)
    each = catalogs.instances["gpus"].reindex(bill["instance"]).to_numpy(dtype=float)
    gpus = np.where(np.isnan(each), bill["gpus"].to_numpy(dtype=float), instances * each)
    is_once = bill["is_once"].to_numpy(dtype=bool)
    gpu_hours = gpus * paid
    return bill.assign(
        once_gpu_hours=np.where(is_once, gpu_hours, np.nan),
        monthly_gpu_hours=np.where(is_once, np.nan, gpu_hours),
    )


def by_team(bill: pd.DataFrame) -> pd.DataFrame:
    """Rows of with_gpu_hours summed by team: plans and TEAM_SUMS, NaN where a team has none."""
    return (
        bill.groupby("team", as_index=False, sort=True)
        .agg(plans=("team", "size"), **{name: (name, _known_sum) for name in TEAM_SUMS})
        .sort_values("year_usd", ascending=False, ignore_index=True)
    )


def _known_sum(values: pd.Series) -> float:
    return float(values.sum(min_count=1))


def budget_use(bill: pd.DataFrame, budgets: Iterable[Budget], begins: date) -> list[Use]:
    """Use of each budget by rows of with_gpu_hours, if the plans begin on a day.

    A run that is made once counts in the budget in which it begins; the rest by the months that
    its time and the budget's have in common. Rows with `starts` and `ends`, ISO days, have their
    own.
    """
    rows = records(bill)
    return [
        _use_of(budget, [row for row in rows if budget.is_of(row)], begins) for budget in budgets
    ]


def _use_of(budget: Budget, rows: list[Row], begins: date) -> Use:
    """Return the cost and the GPU hours of a budget's plans within its months."""
    usd, gpu_hours, unpriced = 0.0, 0.0, 0
    for row in rows:
        times = months_in(budget, begins, row)
        usd_each = row["once_usd"] if row["is_once"] else row["monthly_usd"]
        gpu_hours_each = row["once_gpu_hours"] if row["is_once"] else row["monthly_gpu_hours"]
        unpriced += bool(np.isnan(usd_each) and not row["have"])
        usd += times * np.nan_to_num(usd_each)
        gpu_hours += times * np.nan_to_num(gpu_hours_each)
    return Use(budget, float(usd), float(gpu_hours), len(rows), unpriced)


def months_in(budget: Budget, begins: date, row: Row) -> float:
    """Months of a plan inside a budget; 1 or 0 for a run that is made once. [months]"""
    starts = own_day(row, "starts")
    ends = own_day(row, "ends")
    begins = starts or begins
    if row["is_once"]:
        return float(budget.starts <= begins <= budget.ends)
    last = min(filter(None, (ends, budget.ends)))
    start = (max(budget.starts, begins) - begins).days
    end = min((last - begins).days + 1, float(row["plan_months"]) * MONTH_DAYS)
    return max(end - start, 0.0) / MONTH_DAYS


def own_day(row: Row, name: str) -> date | None:
    """A day of a row, None where it has none."""
    text = str(row.get(name) or "")
    return date.fromisoformat(text) if text else None
