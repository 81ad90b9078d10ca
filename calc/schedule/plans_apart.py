"""Every run on its own cheapest plan, beside the schedule of all on the machines listed."""

from math import isnan
from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import BY_USE
from calc.evaluate import Row
from calc.schedule.team_tables import Occurrence, runs_of
from calc.schedule.ways import finishes
from calc.search.options import options

LEAST_SAVED_RATIO = 0.01  # of the schedule, that is worth a sentence


class PlansApart(NamedTuple):
    """The cost of all runs, each on machines rented for it alone, and the plans. [USD]"""

    usd: float
    rows: list[Row]

    def saves(self, schedule_usd: float) -> bool:
        """Return whether the plans cost clearly less than a schedule."""
        return self.usd < (1 - LEAST_SAVED_RATIO) * schedule_usd


def plans_apart(jobs: pd.DataFrame, catalogs: Catalogs) -> PlansApart | None:
    """Return the cheapest plans of all runs, paid by use; None if a run has none."""
    known: dict[str, tuple[float, Row]] = {}
    usd = 0.0
    for run in runs_of(jobs):
        key = repr((run.job, run.deadline - run.starts))
        if key not in known:
            if (plan := _cheapest(run, catalogs)) is None:
                return None
            known[key] = plan
        usd += known[key][0]
    return PlansApart(usd, [row for _, row in known.values()])


def _cheapest(run: Occurrence, catalogs: Catalogs) -> tuple[float, Row] | None:
    """The cost of a run in its window on its cheapest plan, and that plan."""
    window = (run.deadline - run.starts) / pd.Timedelta(hours=1)
    markets = [market for market in str(run.job.get("markets")).split("+") if market in BY_USE]
    job = run.job | {"markets": "+".join(markets) or "on-demand"}
    ends = finishes(run)
    if ends:
        job["hours_most"] = min(window, float(run.job.get("hours_most", window)))
    answered = options(job, catalogs)
    if answered.obstacle or not answered.rows:
        return None
    row = answered.rows[0]
    usd = float(row["usd"] if ends else window * row["usd_per_hour"])
    return None if isnan(usd) else (usd, row)
