"""The cheapest plan of each run on machines of its own, to compare with the common schedule."""

from math import isnan
from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import BY_USE
from calc.evaluate import Row
from calc.schedule.team_tables import Occurrence, runs_of
from calc.schedule.ways import finishes
from calc.search.options import options

LEAST_SAVED_RATIO = 0.01  # share of the schedule's cost from which a saving is mentioned


class PlansApart(NamedTuple):
    """The cost of all runs, each on machines rented for it alone, and their plans. [USD]"""

    usd: float
    rows: list[Row]

    def saves(self, schedule_usd: float) -> bool:
        """Return whether the plans cost clearly less than a schedule."""
        return self.usd < (1 - LEAST_SAVED_RATIO) * schedule_usd


def plans_apart(jobs: pd.DataFrame, catalogs: Catalogs) -> PlansApart | None:
    """Return the cheapest plans of all runs, paid by use; None if a run has none."""
    plans_by_name: dict[str, tuple[float, Row]] = {}
    usd = 0.0
    for run in runs_of(jobs):
        key = repr((run.job, run.deadline - run.starts))
        if key not in plans_by_name:
            if (plan := _cheapest(run, catalogs)) is None:
                return None
            plans_by_name[key] = plan
        usd += plans_by_name[key][0]
    return PlansApart(usd, [row for _, row in plans_by_name.values()])


def _cheapest(run: Occurrence, catalogs: Catalogs) -> tuple[float, Row] | None:
    """Return the cheapest plan for a run within its window: (USD, row); None without a plan."""
    window_hours = (run.deadline - run.starts) / pd.Timedelta(hours=1)
    markets = [market for market in str(run.job.get("markets")).split("+") if market in BY_USE]
    job = run.job | {"markets": "+".join(markets) or "on-demand"}
    if finishes(run):
        job["hours_most"] = min(window_hours, float(run.job.get("hours_most", window_hours)))
    answer = options(job, catalogs)
    if answer.obstacle or not answer.rows:
        return None
    row = answer.rows[0]
    usd = float(row["usd"] if finishes(run) else window_hours * row["usd_per_hour"])
    return None if isnan(usd) else (usd, row)
