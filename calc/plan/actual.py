"""Paid and planned cost, and the causes of the difference.

Hours of the planned machine are compared at the plan's rate: `price` and `market` are what they
cost beyond it, `hours` and `attempts` are hours beyond the plan. `machine` is what other machines
cost beyond the planned hours that they replaced. With what was idle, and what no plan counts, these
sum to the difference.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.plan.bill_lines import (
    BESIDE,
    DISCOUNT,
    IDLE,
    MACHINE,
    OTHER,
    UNSPLIT,
    BillLines,
)
from calc.plan.budgets import MONTH_DAYS, Budget
from calc.plan.figures import records
from calc.plan.matching import ASSIGNED, BY_MACHINE, BY_TAG, BY_TIME, Matched, match, tag_key

CAUSES = ("price", "market", "machine", "hours", "attempts", "idle", "other")
NOT_SPLIT, AS_PLANNED = "not-split", "as-planned"  # where no cause can be named
SAME_RATIO = 0.02  # a difference within it is none
BASES = (BY_TAG, ASSIGNED, BY_TIME, BY_MACHINE)
MOST_DAYS = 3650  # of a budget that lasts longer no day is named
ROUNDING = 1e-6


class Actual(NamedTuple):
    """The plans beside a bill.

    table: a row for each plan, with planned_usd, actual_usd, difference_usd, ratio, planned and
    actual instance-hours, the dollars of each cause (they sum to the difference; NaN if the bill
    has no hours), cause (the largest), attempts as planned and attempts_seen, and basis. matched:
    the lines and what is open. credit_usd, tax_usd: beside the plans. first_day, last_day: of the
    bill, ISO.
    """

    table: pd.DataFrame
    matched: Matched
    first_day: str
    last_day: str
    credit_usd: float
    tax_usd: float

    @property
    def plans_in_bill(self) -> pd.DataFrame:
        """The plans that have a line in the bill."""
        return self.table[self.table["lines"] > 0]


class Runway(NamedTuple):
    """A budget and what is left of it at the bill's rate: dollars, dollars a day, and its end.

    ends_on is None if nothing is spent, or if the budget lasts ten years. left_at_end_usd:
    dollars that are left on the last day of the budget's period, NaN if it has none.
    """

    budget_usd: float
    spent_usd: float
    usd_per_day: float
    ends_on: date | None
    left_at_end_usd: float = np.nan

    @property
    def left_usd(self) -> float:
        """Dollars of the budget that are left, below 0 if it is overspent. [USD]"""
        return self.budget_usd - self.spent_usd


def actual(
    bill: BillLines,
    plans: pd.DataFrame,
    catalogs: Catalogs,
    today: date,
    assigned: Mapping[str, str],
) -> Actual:
    """Compare plans, rows of plan_bill with distinct names, with the lines of a bill."""
    matches = match(bill, plans, assigned)
    last_day = bill.last_day(today) or today.isoformat()
    first_day = bill.period_starts
    rows = [
        _compare_plan(
            row,
            matches.lines[matches.lines["of_plan"] == row["scenario"]],
            _months_at_work(row, first_day, last_day),
            catalogs,
        )
        for row in records(plans)
    ]
    beside = {kind: _usd(bill.lines, kind) for kind in BESIDE}
    return Actual(pd.DataFrame(rows), matches, first_day, last_day, *beside.values())


def runway(result: Actual, budget_usd: float) -> Runway:
    """Time until a budget that began with the bill runs out at the bill's rate."""
    spent_usd = float(result.table["actual_usd"].sum())
    return _runway(budget_usd, spent_usd, result.first_day or result.last_day, result.last_day)


def _runway(budget_usd: float, spent_usd: float, first_day: str, last_day: str) -> Runway:
    """Return how long a budget lasts if spending goes on as between two days of a bill.

    The day on which it ends is None if it is more than MOST_DAYS away.
    """
    usd_per_day = spent_usd / _days(first_day, last_day)
    days_left = (budget_usd - spent_usd) / usd_per_day if usd_per_day > 0 else np.inf
    last = date.fromisoformat(last_day)
    is_near = abs(days_left) < min(MOST_DAYS, (date.max - last).days + 1)
    ends_on = last + timedelta(days=int(days_left)) if is_near else None
    return Runway(budget_usd, spent_usd, usd_per_day, ends_on)


def runway_of_budget(result: Actual, plans: pd.DataFrame, budget: Budget) -> Runway | None:
    """Time until a team's budget runs out; None without dollars or common days.

    The lines of its plans count, and those in no plan that carry its team or project as a tag.
    What was spent before the first day of the bill is not known.
    """
    first, last = result.first_day, result.last_day
    begins = max(first, budget.starts.isoformat())
    ends = min(last, budget.ends.isoformat())
    if budget.usd is None or not first or begins > ends:
        return None
    names = [row["scenario"] for row in records(plans) if budget.is_of(row)]
    lines = result.matched.lines
    is_of_budget = lines["of_plan"].isin(names) | _tagged_for(budget, lines)
    is_inside = is_of_budget & lines["day"].between(begins, ends)
    spent_usd = float(lines.loc[is_inside, "usd"].sum())
    budget_runway = _runway(budget.usd, spent_usd, begins, ends)
    days_left = _days(ends, budget.ends.isoformat()) - 1
    left_at_end_usd = budget_runway.left_usd - budget_runway.usd_per_day * days_left
    return budget_runway._replace(left_at_end_usd=left_at_end_usd)


def _tagged_for(budget: Budget, lines: pd.DataFrame) -> pd.Series:
    """Lines in no plan whose tags name the budget's team and project."""
    is_tagged = (lines[["team", "project"]] != "").any(axis=1)
    matches = is_tagged & (lines["of_plan"] == "")
    for tag, name in (("team", budget.team), ("project", budget.project)):
        if name:
            matches &= lines[tag].map(tag_key) == tag_key(name)
    return matches


def with_attempts(plans: pd.DataFrame, result: Actual) -> pd.DataFrame:
    """The plans with the attempts that the bill shows, if it shows them."""
    attempts = result.table["attempts_seen"].to_numpy(dtype=float)
    return plans.assign(
        attempts=np.where(np.isnan(attempts), plans["attempts"].astype(float), attempts)
    )


def _compare_plan(row: Row, lines: pd.DataFrame, months: float, catalogs: Catalogs) -> Row:
    """Compare one plan with its lines."""
    planned_usd = _planned_cost(row, months)
    rate = float(row["usd_per_hour"]) / float(row["instances"])  # [USD per instance-hour]
    planned_hours = planned_usd / rate if rate > 0 else np.nan
    actual_usd = float(lines["usd"].sum())
    machines = _machines(row, lines, catalogs)
    hours = float((machines["hours"] * machines["planned_hours_each"]).sum())
    is_split = UNSPLIT not in set(lines["counts_as"])
    causes = _causes(row, lines, machines, rate, planned_hours) if is_split else {}
    difference = actual_usd - planned_usd
    is_same_machine = is_split and not machines["is_other_machine"].any()
    attempts = _attempts_seen(row, planned_hours, hours) if is_same_machine else np.nan
    values = {f"{cause}_usd": causes.get(cause, np.nan) for cause in CAUSES}
    return {
        "plan": row["scenario"],
        "team": row.get("team") or "",
        "planned_usd": planned_usd,
        "actual_usd": actual_usd,
        "difference_usd": difference,
        "ratio": actual_usd / planned_usd if planned_usd > 0 else np.nan,
        "planned_hours": planned_hours,
        "actual_hours": float(machines["hours"].sum()) if is_split else np.nan,
        **values,
        "cause": _cause(values, difference, planned_usd, is_split),
        "attempts": float(row["attempts"]) if ends_of(row) else np.nan,
        "attempts_seen": attempts,
        "lines": len(lines),
        "basis": next((basis for basis in BASES if basis in set(lines["basis"])), ""),
    }


def _months_at_work(row: Row, first_day: str, last_day: str) -> float:
    """Months in which a plan is at work from a day to a day; all of them if it has no days.

    Without a first day it is one month. A run without an end is at work on its first day.
    """
    if not first_day:
        return 1.0
    starts = str(row.get("starts") or "")
    ends = str(row.get("ends") or "") or (starts if row["is_once"] else "")
    first, last = max(first_day, starts), min(last_day, ends or last_day)
    return max(_days(first, last), 0) / MONTH_DAYS


def _planned_cost(row: Row, months: float) -> float:
    """Dollars of a plan over its months; a run that is made once counts in full in any. [USD]"""
    if row["is_once"]:
        return float(row["once_usd"]) if months > 0 else 0.0
    return float(row["monthly_usd"]) * min(months, float(row["plan_months"]))


def _machines(row: Row, lines: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """Machine hours of a plan's lines by instance and market: hours, usd, and how they differ.

    planned_hours_each: hours of the planned instance that have as many GPU-hours as one of these.
    """
    own = lines[lines["counts_as"] == MACHINE]
    hours = own["instance_hours"] + own["wall_hours"] * float(row["instances"])
    instance = own["instance"].where(own["instance"] != "", row["instance"])
    market = own["market"].where(own["market"] != "", _bill_market(row["market"]))
    gpus = catalogs.instances["gpus"].astype(float)
    each = gpus.reindex([*instance, row["instance"]]).to_numpy()
    return pd.DataFrame(
        {
            "hours": hours,
            "usd": own["usd"],
            "planned_hours_each": np.nan_to_num(each[:-1] / each[-1], nan=1.0),
            "is_other_machine": instance != row["instance"],
            "is_other_market": market != _bill_market(row["market"]),
        }
    )


def _bill_market(market: str) -> str:
    """The market of a plan as lines of a bill name it: all commitments are one."""
    return "commitment" if MARKETS[market].committed_years else market


def _causes(
    row: Row,
    lines: pd.DataFrame,
    machines: pd.DataFrame,
    rate: float,
    planned_hours: float,
) -> dict[str, float]:
    """Dollars of each cause; they sum to the difference. [USD]

    Other machines took the place of the planned hours that the plan's own did not run.
    """
    other = machines["is_other_machine"]
    own, others = machines[~other], machines[other]
    above = own["usd"] - rate * own["hours"]
    own_hours = float(own["hours"].sum())
    replaced_hours = max(planned_hours - own_hours, 0.0) if len(others) else 0.0
    more_hours = own_hours + replaced_hours - planned_hours
    attempts = _further_attempts(row, planned_hours, more_hours)
    return {
        "price": float(above[~own["is_other_market"]].sum()) + _usd(lines, DISCOUNT),
        "market": float(above[own["is_other_market"]].sum()),
        "machine": float(others["usd"].sum()) - rate * replaced_hours,
        "hours": rate * (more_hours - attempts),
        "attempts": rate * attempts,
        "idle": _usd(lines, IDLE),
        "other": _usd(lines, OTHER),
    }


def _further_attempts(row: Row, planned_hours: float, more_hours: float) -> float:
    """Hours of whole further attempts among the hours beyond a run's plan. [instance-hours]"""
    if not ends_of(row) or not more_hours > 0:
        return 0.0
    each = planned_hours / float(row["attempts"])
    return float(np.floor(more_hours / each + ROUNDING)) * each


def _attempts_seen(row: Row, planned_hours: float, hours: float) -> float:
    """Attempts at each run that the hours of the bill are worth, at least one; NaN without any."""
    if not ends_of(row) or not hours > 0 or not planned_hours > 0:
        return np.nan
    return float(round(max(hours / planned_hours * float(row["attempts"]), 1.0), 2))


def _cause(
    values: Mapping[str, float], difference: float, planned_usd: float, is_split: bool
) -> str:
    """The cause with the largest share in the direction of the difference."""
    if not abs(difference) > SAME_RATIO * planned_usd:
        return AS_PLANNED
    if not is_split:
        return NOT_SPLIT
    return max(CAUSES, key=lambda cause: values[f"{cause}_usd"] * np.sign(difference))


def _usd(lines: pd.DataFrame, counts_as: str) -> float:
    return float(lines.loc[lines["counts_as"] == counts_as, "usd"].sum())


def _days(first_day: str, last_day: str) -> int:
    return (date.fromisoformat(last_day) - date.fromisoformat(first_day)).days + 1
