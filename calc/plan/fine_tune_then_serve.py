"""Fine-tune, then serve: cost by month and day, and when an endpoint becomes more expensive."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.cost.job import ends_of
from calc.cost.machines import ROUNDING
from calc.cost.markets import MARKETS
from calc.cost.terms import paid_months
from calc.evaluate import Row
from calc.plan.figures import records
from calc.units import MILLION, YEAR_DAYS, YEAR_MONTHS

MONTH_DAYS = YEAR_DAYS / YEAR_MONTHS
NO_END = np.inf  # months of a period that lasts as long as anything is paid
SUM, ENDPOINT = "sum_usd", "endpoint_sum_usd"  # since the start


class TunedPlan(NamedTuple):
    """The runs and the service of their result, for a number of months, beside an endpoint.

    `bill`: a table of plan_bill, the runs and then the service. `rounds`: rounds of runs in a
    month. The endpoint's price is that of a million generated tokens with their prompts. Its tokens
    are those of the load, and at most those that the service generates.
    """

    bill: pd.DataFrame
    months: int
    rounds: int
    tokens_per_day: float
    tokens_per_day_most: float
    endpoint_usd_per_million_tokens: float

    @property
    def service(self) -> Row:
        """The row of the service."""
        return records(self.bill)[1]

    @property
    def endpoint_usd_per_day(self) -> float:
        """The tokens of the load at the endpoint. [USD per day]"""
        return self.tokens_per_day * self.endpoint_usd_per_million_tokens / MILLION

    @property
    def paid_months(self) -> float:
        """Months in which anything is paid: those of the plan, or to the end of a commitment."""
        return max(self.months, *map(_paid_months, records(self.bill)))


def by_month(plan: TunedPlan) -> pd.DataFrame:
    """Return each month's dollars of runs, service and both, and the sums with an endpoint's."""
    month = np.arange(1, int(plan.paid_months) + 1)
    runs, service = (
        np.where(month <= _paid_months(row), _month_usd(row), 0.0) for row in records(plan.bill)
    )
    sums = {SUM: np.cumsum(runs + service), ENDPOINT: _endpoint_usd(plan, month * MONTH_DAYS)}
    return pd.DataFrame(
        {"month": month, "runs_usd": runs, "service_usd": service, "usd": runs + service, **sums}
    )


def by_day(plan: TunedPlan) -> pd.DataFrame:
    """The sums since the start by the end of each day."""
    day = np.arange(1.0, np.ceil(plan.paid_months * MONTH_DAYS) + 1)
    runs, service = (_paid_usd(day, row, plan.rounds) for row in records(plan.bill))
    return pd.DataFrame({"day": day, SUM: runs + service, ENDPOINT: _endpoint_usd(plan, day)})


def break_even_day(days: pd.DataFrame) -> float:
    """The first day from which on the plan has cost no more than the endpoint; NaN: never."""
    costlier_days = np.flatnonzero(~(days[SUM] <= days[ENDPOINT] * (1 + ROUNDING)))
    later = costlier_days[-1] + 1 if len(costlier_days) else 0
    return float(days["day"].iloc[later]) if later < len(days) else np.nan


def break_even_tokens_per_day(plan: TunedPlan) -> float:
    """Generated tokens a day for which an endpoint asks as much over the plan's months. [tokens]"""
    usd_per_day = float(by_month(plan)["usd"].sum()) / (plan.months * MONTH_DAYS)
    return usd_per_day / plan.endpoint_usd_per_million_tokens * MILLION


def _endpoint_usd(plan: TunedPlan, day: np.ndarray) -> np.ndarray:
    """Cost of the endpoint by the end of each day, while the plan serves. [USD]"""
    return plan.endpoint_usd_per_day * np.minimum(day, plan.months * MONTH_DAYS)


def _paid_usd(day: np.ndarray, row: Row, rounds: int) -> np.ndarray:
    """Cost of a row of the bill by the end of each day. [USD]

    Runs are paid as each round begins, round k after k / rounds of a month; a service and a
    commitment evenly.
    """
    months = np.minimum(day / MONTH_DAYS, _paid_months(row))
    if ends_of(row) and not MARKETS[row["market"]].committed_years:
        months = np.ceil(months * rounds * (1 - ROUNDING)) / rounds
    return np.asarray(_month_usd(row) * months)


def _paid_months(row: Row) -> float:
    """The months of a row that are paid, to the end of a commitment."""
    return float(paid_months(NO_END, row["plan_months"], MARKETS[row["market"]].committed_years))


def _month_usd(row: Row) -> float:
    """A paid month of a row; your own machines cost nothing. [USD]"""
    return 0.0 if row["have"] else float(row["month_usd"])
