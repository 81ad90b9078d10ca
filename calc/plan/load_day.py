"""A service over a day or a week: machines by hour, growth, and when they are full.

A unit is the least that starts and stops: an instance, or the instances of one replica. Units hold
the load of the peak as planned; an hour takes as many as its share of the peak needs.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.machines import ROUNDING
from calc.cost.markets import MARKETS
from calc.evaluate import Row, evaluate
from calc.layout import replicas
from calc.plan.bill import working_instances
from calc.scenarios.counts import replica_gpus
from calc.units import DAY_HOURS, HOUR_SECONDS

MOST_MONTHS = 120  # of growth


class Load(NamedTuple):
    """The loads of the hours of a day or a week, of which the ratios count, and their growth.

    24 loads from midnight on, or 168 from Monday's. growth_per_month: 0.1 is 10 %.
    users: requests in flight at the peak; without them the plan's units are taken to be full then.
    """

    hours: Sequence[float]
    growth_per_month: float = 0.0
    users: float | None = None

    @property
    def ratios(self) -> np.ndarray:
        """Load of each hour over that of the peak."""
        hours = np.array(self.hours, dtype=float)
        return hours / hours.max()

    @property
    def days(self) -> float:
        """Days that the loads cover: 1 or 7."""
        return len(self.hours) / DAY_HOURS


class Trace(NamedTuple):
    """Load of a file of requests: 24 hourly means, their number, hours and lengths.

    hours: empty if the file covers less than a day. week: likewise 168 of a week, from Monday
    on, or from the first day if the file names no dates. peak_requests_per_second: of the
    busiest hour.
    """

    name: str
    hours: tuple[float, ...]
    week: tuple[float, ...]
    requests: int
    covered_hours: int
    prompt_tokens: float
    answer_tokens: float
    peak_requests_per_second: float
    peak_to_mean: float


class LoadDay(NamedTuple):
    """The machines of a day or a week and of a month, with and without scaling by the hour.

    table: day, hour, load_ratio, units, instances. *_always: as many as at the peak, all day;
    *_scaled: with starts, which are paid from the request on. GPU-hours and USD are those of the
    plan's month; a commitment is paid whatever scales. full_month: the first month of growth in
    which the peak needs more than `most_instances`, 0 for today; NaN if none of MOST_MONTHS
    does.
    """

    table: pd.DataFrame
    peak_instances: float
    mean_instances: float
    gpu_hours_always: float
    gpu_hours_scaled: float
    usd_always: float
    usd_scaled: float
    cold_start_seconds: float
    starts_per_day: float
    zero_hours_per_day: float
    full_month: float


def load_day(
    row: Row,
    load: Load,
    catalogs: Catalogs,
    to_zero: bool = False,
    most_instances: float | None = None,
) -> LoadDay:
    """The day or week of a billed service row; the loads are not all 0."""
    unit = unit_instances(row, catalogs)
    spare = float(row["instances"]) - working_instances(row)
    peak_units = needed_units(row, load, unit)
    units = np.ceil(peak_units * load.ratios * (1 - ROUNDING))
    least = np.where((load.ratios == 0) & to_zero, 0, 1)
    units = np.maximum(units, least)
    instances = units * unit + np.where(units > 0, spare, 0)
    start_hours = float(np.nan_to_num(row["start_hours"]))
    starts = np.maximum(np.diff(instances, prepend=instances[-1]), 0)
    times = float(row["hours"]) / len(instances)  # of the day or the week in the plan's month
    hours_scaled = times * float(instances.sum() + start_hours * starts.sum())
    hours_always = float(row["hours"]) * float(instances.max())
    price = float(row["usd_per_hour"]) / float(row["instances"])
    is_committed = MARKETS[row["market"]].committed_years > 0
    gpus = float(catalogs.instances["gpus"].get(row["instance"], np.nan))
    return LoadDay(
        table=_hours_table(load, units, instances),
        peak_instances=float(instances.max()),
        mean_instances=float(instances.mean()),
        gpu_hours_always=hours_always * gpus,
        gpu_hours_scaled=hours_scaled * gpus,
        usd_always=hours_always * price,
        usd_scaled=(hours_always if is_committed else hours_scaled) * price,
        cold_start_seconds=start_hours * HOUR_SECONDS,
        starts_per_day=float(starts.sum() / unit / load.days),
        zero_hours_per_day=float((units == 0).sum() / load.days),
        full_month=_full_month(peak_units, load.growth_per_month, unit, spare, most_instances),
    )


def _hours_table(load: Load, units: np.ndarray, instances: np.ndarray) -> pd.DataFrame:
    """Return a row for each hour: its day, its load and its machines."""
    hours = np.arange(len(instances))
    return pd.DataFrame(
        {
            "day": hours // DAY_HOURS + 1,
            "hour": hours % DAY_HOURS,
            "load_ratio": load.ratios,
            "units": units,
            "instances": instances,
        }
    )


def unit_instances(row: Row, catalogs: Catalogs) -> float:
    """Instances that start and stop together: those of one replica, at least one. [instances]"""
    gpus = float(catalogs.instances["gpus"].get(row["instance"], np.nan))
    return float(max(np.ceil(evaluate(replica_gpus, row) / gpus), 1.0)) if gpus > 0 else 1.0


def needed_units(row: Row, load: Load, unit: float) -> float:
    """Units that the peak takes, a fraction where users say so. [units]

    Without users the working units of the plan.
    """
    units = working_instances(row) / unit
    if load.users is None:
        return float(units)
    return float(load.users * units / (row["batch"] * replicas(row)))


def _full_month(
    peak_units: float, growth: float, unit: float, spare: float, most_instances: float | None
) -> float:
    """The first month whose peak needs more units than fit into the instances. [months]"""
    if most_instances is None:
        return np.nan
    most_units = np.floor((most_instances - spare) / unit)
    months = np.arange(MOST_MONTHS + 1)
    units_needed = np.ceil(peak_units * (1 + growth) ** months * (1 - ROUNDING))
    over = np.flatnonzero(units_needed > most_units)
    return float(over[0]) if len(over) else np.nan
