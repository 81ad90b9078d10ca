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
    """Dollars and GPU-hours of a team or a project from `starts` to `ends`; None sets no limit.

    Without a team it covers all teams, without a project all projects of the team.
    """

    id: str
    team: str
    project: str
    starts: date
    ends: date
    usd: float | None
    gpu_hours: float | None

    def is_of(self, row: Row) -> bool:
        """Return whether a plan is paid from this budget."""
        names = ((self.team, row.get("team")), (self.project, row.get("project")))
        return all(not own or own.casefold() == str(other or "").casefold() for own, other in names)


class Use(NamedTuple):
    """A budget and what its plans use of it; `unpriced`: how many of them have no known price."""

    budget: Budget
    used_usd: float
    used_gpu_hours: float
    plans: int
    unpriced: int

    @property
    def left_usd(self) -> float:
        """Dollars that remain, negative if the plans use more; NaN without a limit. [USD]"""
        return np.nan if self.budget.usd is None else self.budget.usd - self.used_usd

    @property
    def left_gpu_hours(self) -> float:
        """GPU-hours that remain, negative if the plans use more; NaN without a limit. [h]"""
        limit = self.budget.gpu_hours
        return np.nan if limit is None else limit - self.used_gpu_hours

    @property
    def used_ratio(self) -> float:
        """Share of the dollars that the plans use, from 0 to 1; 0 without a limit. [share]"""
        if self.budget.usd is None:
            return 0.0
        return float(np.clip(self.used_usd / self.budget.usd, 0.0, 1.0))

    @property
    def is_exceeded(self) -> bool:
        """Return whether the plans use more dollars or GPU-hours than there are."""
        return bool(self.left_usd < 0 or self.left_gpu_hours < 0)


def with_gpu_hours(bill: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """Return the rows of plan_bill with once_gpu_hours and monthly_gpu_hours. [GPU-hours]

    They are the GPUs times the hours that are paid: the cost over the price of an hour, or without
    a price the hours of a run times its runs. So instances at rest do not count, but the unused
    hours of a commitment do.
    """
    names = ("usd_per_hour", "hours", "runs_per_month", "instances")
    usd_per_hour, hours, runs, instances = (bill[name].to_numpy(dtype=float) for name in names)
    usd = bill["once_usd"].fillna(bill["monthly_usd"]).to_numpy(dtype=float)
    has_price = (usd > 0) & (usd_per_hour > 0)
    paid_hours = np.where(has_price, usd / np.where(has_price, usd_per_hour, 1), hours * runs)
    gpus_each = catalogs.instances["gpus"].reindex(bill["instance"]).to_numpy(dtype=float)
    gpus = np.where(np.isnan(gpus_each), bill["gpus"].to_numpy(dtype=float), instances * gpus_each)
    is_once = bill["is_once"].to_numpy(dtype=bool)
    gpu_hours = gpus * paid_hours
    return bill.assign(
        once_gpu_hours=np.where(is_once, gpu_hours, np.nan),
        monthly_gpu_hours=np.where(is_once, np.nan, gpu_hours),
    )


def by_team(bill: pd.DataFrame) -> pd.DataFrame:
    """Sum the rows of with_gpu_hours by team: `plans` and TEAM_SUMS, NaN if a team has none."""
    return (
        bill.groupby("team", as_index=False, sort=True)
        .agg(plans=("team", "size"), **{name: (name, _known_sum) for name in TEAM_SUMS})
        .sort_values("year_usd", ascending=False, ignore_index=True)
    )


def _known_sum(values: pd.Series) -> float:
    return float(values.sum(min_count=1))


def budget_use(bill: pd.DataFrame, budgets: Iterable[Budget], begins: date) -> list[Use]:
    """Return what rows of with_gpu_hours use of each budget if plans begin on the day `begins`.

    A run that is made once counts in the budget in which it begins. Everything else counts by the
    months that its time and the budget's have in common. A row may have days of its own in `starts`
    and `ends`, as ISO dates.
    """
    rows = records(bill)
    return [
        _use_of(budget, [row for row in rows if budget.is_of(row)], begins) for budget in budgets
    ]


def _use_of(budget: Budget, rows: list[Row], begins: date) -> Use:
    """Return the dollars and GPU-hours of a budget's plans within its time."""
    usd, gpu_hours, plans_without_price = 0.0, 0.0, 0
    for row in rows:
        times = months_in(budget, begins, row)
        usd_each = row["once_usd"] if row["is_once"] else row["monthly_usd"]
        gpu_hours_each = row["once_gpu_hours"] if row["is_once"] else row["monthly_gpu_hours"]
        plans_without_price += bool(np.isnan(usd_each) and not row["have"])
        usd += times * np.nan_to_num(usd_each)
        gpu_hours += times * np.nan_to_num(gpu_hours_each)
    return Use(budget, float(usd), float(gpu_hours), len(rows), plans_without_price)


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
    """Return a day of a row; None if the cell is empty."""
    text = str(row.get(name) or "")
    return date.fromisoformat(text) if text else None
