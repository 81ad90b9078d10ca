"""Cost and duration of a job on a market: a run, or a month of the wanted load in serving.

The same sums serve the search, which has arrays, and the comparison of plans, which has result
rows.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost import terms
from calc.cost.capacity_block_sizes import ANY_SIZE, rented_instances, sizes_sold
from calc.cost.machines import resting_instances
from calc.cost.markets import MARKETS, sold_for
from calc.evaluate import Columns, evaluate, parameters_of
from calc.layout import replicas
from calc.scenarios.counts import replica_gpus
from calc.scenarios.hardware import price_at
from calc.scenarios.lookups import numbers_of
from calc.units import HOUR_SECONDS

NUMBERS_READ = (  # columns of a result that the job of a row takes as they are
    "attempts",
    "batch",
    "burst_first_token_seconds",
    "gpus",
    "hours_per_month",
    "instances_needed",
    "low_tokens_per_second",
    "peak_to_mean",
    "run_high_hours",
    "run_tokens",
    "run_tokens_per_second",
    "served_tokens_per_second",
    "spare_instances",
    "spot_overhead_ratio",
    "standby_instances",
    "start_hours",
    "time_per_output_token_seconds",
    "tokens_per_second",
)
ROW_READS = (  # every column of a result that its job reads
    *NUMBERS_READ,
    *parameters_of(replica_gpus),
    "gpus_paid",
    "instance",
    "paid_ratio",
    "private_usd_per_hour",
    "region",
    "scales",
    "tokens_total",
    "work",
)


class Job(NamedTuple):
    """Instances, USD per hour, hours and USD of a run or a month, and seconds.

    `instances` are those paid; for a capacity block, its size. `seconds` are those of the run, of
    one served token, or of a batch if the model generates no token. `slow_hours` are the hours at
    the slow end of the range of time; for a month they are the same. `billed_hours` are those
    charged, and `billed_gpu_hours` are these hours times the GPUs paid. On a market that is paid by
    use, instances at rest cost nothing: the average number at work counts.
    """

    instances: np.ndarray
    usd_per_hour: np.ndarray
    hours: np.ndarray
    usd: np.ndarray
    seconds: np.ndarray
    slow_hours: np.ndarray
    billed_hours: np.ndarray
    billed_gpu_hours: np.ndarray
    resting_instances: np.ndarray


def ends_of(rows: Any) -> Any:
    """Return whether the work of a row, job or table of rows ends: a run, or offline work."""
    tokens = rows.get("tokens_total")
    # A job that is refused still has the text of its cell.
    offline = bool(tokens) if tokens is None or isinstance(tokens, str) else tokens > 0
    return (rows["work"] == "training") | offline


def deployments(table: Columns, users: float) -> np.ndarray:
    """Copies of a deployment for the users at once and the wanted rate; 1 in training. [copies]"""
    for_users = np.ceil(users / (table["batch"] * table["data_parallel"]))
    for_load = np.ceil(table["served_tokens_per_second"] / table["tokens_per_second"])
    return np.where(table["ends"] > 0, 1.0, np.fmax(np.fmax(for_users, for_load), 1.0))


def billed_hours(
    market: str,
    ends: np.ndarray,
    hours: np.ndarray,
    slow_hours: np.ndarray,
    attempts: np.ndarray | float = 1.0,
) -> np.ndarray:
    """Hours that AWS charges on a market, whole days of a block and whole terms included. [h]"""
    return terms.billed_hours(
        ends,
        attempts,
        hours,
        slow_hours,
        MARKETS[market].block_hours,
        MARKETS[market].committed_years,
    )


def job(
    table: Columns,
    market: str,
    instance_usd_per_hour: np.ndarray,
    spot_overhead_ratio: np.ndarray | float,
    copies: np.ndarray,
    sizes: np.ndarray = ANY_SIZE,
) -> Job:
    """The job of each row of a table with time in it.

    `copies` come from deployments(), `sizes` are the instances that the market rents at once.
    """
    ends = table["ends"]
    interrupted = MARKETS[market].interrupted
    hours = terms.hours(
        ends,
        table["start_hours"],
        _work_hours(table),
        table["hours_per_month"],
        interrupted,
        spot_overhead_ratio,
    )
    slow_hours = terms.slow_hours(
        ends, hours, table["start_hours"], table["start_high_hours"], table["time_high_ratio"]
    )
    needed = table["instances_needed"] * copies
    spare = table["spare_instances" if interrupted else "standby_instances"]
    instances = rented_instances(needed + spare, sizes)
    # Instances at rest are paid where one signs for years.
    is_committed = MARKETS[market].committed_years > 0
    resting = evaluate(resting_instances, table | {"instances_needed": needed}) * (not is_committed)
    usd_per_hour = instances * instance_usd_per_hour
    billed = billed_hours(market, ends, hours, slow_hours, table["attempts"])
    return Job(
        instances=instances,
        usd_per_hour=usd_per_hour,
        hours=hours,
        usd=(usd_per_hour - resting * instance_usd_per_hour) * billed,
        seconds=np.where(ends > 0, hours * HOUR_SECONDS, _served_seconds(table)),
        slow_hours=slow_hours,
        billed_hours=billed,
        billed_gpu_hours=_paid_gpus(table, instances - resting) * billed,
        resting_instances=resting,
    )


def _paid_gpus(table: Columns, instances: np.ndarray) -> np.ndarray:
    """GPUs of these instances, or the job's own cards if it has no instance. [GPUs]"""
    instance_gpus: np.ndarray = table["instance_gpus"]
    return np.where(np.isnan(instance_gpus), table["gpus"], instances * instance_gpus)


def _work_hours(table: Columns) -> np.ndarray:
    """Hours of the steps of a run, all attempts together. [h]"""
    seconds = table["attempts"] * table["run_tokens"] / table["run_tokens_per_second"]
    return np.asarray(seconds / HOUR_SECONDS)


def _served_seconds(table: Columns) -> np.ndarray:
    """Seconds of one served token, or of a batch if the model generates no token. [s]"""
    token: np.ndarray = table["time_per_output_token_seconds"]
    first_token: np.ndarray = table["burst_first_token_seconds"]
    return np.where(np.isnan(token), first_token, token)


def job_of_rows(rows: pd.DataFrame, markets: Any, users: float, catalogs: Catalogs) -> Job:
    """Return the job of each result row on its market; NaN without a price or an estimate."""
    table = _job_columns(rows)
    sold = price_at(catalogs, rows["instance"], rows["region"])
    kinds_of_work = list(zip(rows["work"], ends_of(rows), strict=True))
    ratio = rows["paid_ratio"].to_numpy(dtype=float)
    private = rows["private_usd_per_hour"].to_numpy(dtype=float)
    markets = np.asarray(markets, dtype=object)
    parts = np.full((len(Job._fields), len(rows)), np.nan)
    copies = deployments(table, users)
    with np.errstate(divide="ignore", invalid="ignore"):
        for market in set(markets):
            listed = numbers_of(catalogs, "prices", MARKETS[market].price)[sold]
            is_sold = [sold_for(market, work, ends) for work, ends in kinds_of_work]
            has_private = MARKETS[market].takes_private & ~np.isnan(private)
            usd_per_hour = np.where(has_private, private, np.where(is_sold, listed, np.nan))
            done = job(
                table,
                market,
                usd_per_hour * ratio,
                table["spot_overhead_ratio"],
                copies,
                sizes_sold(market, catalogs),
            )
            parts = np.where(markets == market, np.vstack(done), parts)
    return Job(*parts)


def _job_columns(rows: pd.DataFrame) -> Columns:
    """The columns of result rows that `job` and `deployments` read."""

    def numbers(*names: str) -> Columns:
        return {name: rows[name].to_numpy(dtype=float) for name in names}

    table = numbers(*NUMBERS_READ)
    table["time_high_ratio"] = table["tokens_per_second"] / table["low_tokens_per_second"]
    table["ends"] = ends_of(rows).to_numpy(dtype=float)
    slow_work_hours = _work_hours(table) * table["time_high_ratio"]
    table["start_high_hours"] = table.pop("run_high_hours") - slow_work_hours
    degrees = numbers("gpus", *parameters_of(replica_gpus))
    table["data_parallel"] = replicas(degrees)
    table["replica_gpus"] = evaluate(replica_gpus, degrees)
    table["scales_hourly"] = (rows["scales"] == "hourly").to_numpy(dtype=float)
    table["instance_gpus"] = rows["gpus_paid"].to_numpy(dtype=float) / table["instances_needed"]
    return table
