"""Cost and duration of a job on a market: a run, or a month of the wanted load in serving.

The same sums serve the search, which has arrays, and the comparison of plans, which has result
rows.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost import prices, terms
from calc.cost.capacity_block_sizes import ANY_SIZE, rented_instances, sizes_sold
from calc.cost.machines import resting_instances
from calc.cost.markets import MARKETS, sold_for
from calc.evaluate import Columns, evaluate, evaluate_all, parameters_of
from calc.layout import replicas
from calc.scenarios.counts import replica_gpus
from calc.scenarios.hardware import price_at
from calc.scenarios.lookups import numbers_of
from calc.units import HOUR_SECONDS


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


def deployments(ends, batch, data_parallel, served_tokens_per_second, tokens_per_second, users):
    """Copies of a deployment for the users at once and the wanted rate; 1 in training. [copies]"""
    for_users = np.ceil(users / (batch * data_parallel))
    for_load = np.ceil(served_tokens_per_second / tokens_per_second)
    return np.where(ends > 0, 1.0, np.fmax(np.fmax(for_users, for_load), 1.0))


def instances(instances_needed, interrupted, spare_instances, standby_instances, block_instances):
    """Instances paid, with those in reserve; of capacity blocks, whole ones. [instances]

    `block_instances` are the sizes of blocks, empty for a market that sells any number.
    """
    spare = np.where(interrupted > 0, spare_instances, standby_instances)
    return rented_instances(instances_needed + spare, block_instances)


def seconds(ends, hours, time_per_output_token_seconds, burst_first_token_seconds):
    """Seconds of a run, of one served token, or of a batch if no token is generated. [s]"""
    token_seconds = np.where(
        np.isnan(time_per_output_token_seconds),
        burst_first_token_seconds,
        time_per_output_token_seconds,
    )
    return np.where(ends > 0, hours * HOUR_SECONDS, token_seconds)


def billed_gpu_hours(instances, resting_instances, instance_gpus, gpus, billed_hours):
    """GPUs paid times the hours billed; a card without an instance counts as itself. [GPU-hours]"""
    paid_gpus = (instances - resting_instances) * instance_gpus
    return np.where(np.isnan(instance_gpus), gpus, paid_gpus) * billed_hours


# Each makes a field of Job, or a column that a later one reads.
JOB_FORMULAS = (
    prices.attempt_hours,
    prices.work_hours,
    terms.hours,
    terms.slow_hours,
    terms.billed_hours,
    instances,
    resting_instances,
    terms.usd_per_hour,
    terms.usd,
    seconds,
    billed_gpu_hours,
)
OF_MARKET = {  # columns that `job` adds from its market
    *("interrupted", "block_hours", "committed_years", "block_instances"),
    *("market_usd_per_hour", "paid_ratio", "spot_overhead_ratio"),
}
JOB_READS = frozenset(
    name
    for formula in (*JOB_FORMULAS, deployments)
    for name in parameters_of(formula)
    if name not in {"users", *OF_MARKET, *(made.__name__ for made in JOB_FORMULAS)}
)
# Columns that `job` reads and that a result has under another name or not at all.
MADE_FOR_ROWS = {
    *("data_parallel", "ends", "instance_gpus", "replica_gpus"),
    *("scales_hourly", "start_high_hours", "time_high_ratio"),
}
NUMBERS_READ = (  # columns of a result that the job of a row takes as they are
    *sorted(JOB_READS - MADE_FOR_ROWS),
    "low_tokens_per_second",
    "run_high_hours",
    "spot_overhead_ratio",
)
ROW_READS = (  # every column of a result that its job reads
    *NUMBERS_READ,
    *parameters_of(replica_gpus),
    *("gpus_paid", "instance", "paid_ratio", "private_usd_per_hour", "region", "scales"),
    *("tokens_total", "work"),
)


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
    """Return the job of each row of a table with the columns JOB_READS.

    `copies` come from deployments(), `sizes` are the instances that the market rents at once.
    `instance_usd_per_hour` is what is paid, with discount and tax.
    """
    terms_of_market = MARKETS[market]
    is_committed = terms_of_market.committed_years > 0
    columns = {
        **table,
        "instances_needed": table["instances_needed"] * copies,
        # Instances at rest are paid where one signs for years.
        "scales_hourly": table["scales_hourly"] * (not is_committed),
        "interrupted": terms_of_market.interrupted,
        "block_hours": terms_of_market.block_hours,
        "committed_years": terms_of_market.committed_years,
        "block_instances": sizes,
        "market_usd_per_hour": instance_usd_per_hour,
        "paid_ratio": 1.0,
        "spot_overhead_ratio": spot_overhead_ratio,
    }
    evaluate_all(JOB_FORMULAS, columns)
    return Job(*(columns[name] for name in Job._fields))


def job_of_rows(rows: pd.DataFrame, markets: Any, users: float, catalogs: Catalogs) -> Job:
    """Return the job of each result row on its market; NaN without a price or an estimate."""
    table = _job_columns(rows)
    price_rows = price_at(catalogs, rows["instance"], rows["region"])
    kinds_of_work = list(zip(rows["work"], ends_of(rows), strict=True))
    ratio = rows["paid_ratio"].to_numpy(dtype=float)
    private = rows["private_usd_per_hour"].to_numpy(dtype=float)
    markets = np.asarray(markets, dtype=object)
    parts = np.full((len(Job._fields), len(rows)), np.nan)
    copies = evaluate(deployments, table | {"users": users})
    with np.errstate(divide="ignore", invalid="ignore"):
        for market in set(markets):
            listed_usd_per_hour = numbers_of(catalogs, "prices", MARKETS[market].price)[price_rows]
            is_sold = [sold_for(market, work, ends) for work, ends in kinds_of_work]
            has_private = MARKETS[market].takes_private & ~np.isnan(private)
            usd_per_hour = np.where(
                has_private, private, np.where(is_sold, listed_usd_per_hour, np.nan)
            )
            cost = job(
                table,
                market,
                usd_per_hour * ratio,
                table["spot_overhead_ratio"],
                copies,
                sizes_sold(market, catalogs),
            )
            parts = np.where(markets == market, np.vstack(cost), parts)
    return Job(*parts)


def _job_columns(rows: pd.DataFrame) -> Columns:
    """The columns of result rows that `job` and `deployments` read."""

    def numbers(*names: str) -> Columns:
        return {name: rows[name].to_numpy(dtype=float) for name in names}

    table = numbers(*NUMBERS_READ)
    table["time_high_ratio"] = table["tokens_per_second"] / table["low_tokens_per_second"]
    table["ends"] = ends_of(rows).to_numpy(dtype=float)
    attempt_hours = evaluate(prices.attempt_hours, table)
    slow_work_hours = attempt_hours * table["attempts"] * table["time_high_ratio"]
    table["start_high_hours"] = table.pop("run_high_hours") - slow_work_hours
    degrees = numbers("gpus", *parameters_of(replica_gpus))
    table["data_parallel"] = replicas(degrees)
    table["replica_gpus"] = evaluate(replica_gpus, degrees)
    table["scales_hourly"] = (rows["scales"] == "hourly").to_numpy(dtype=float)
    table["instance_gpus"] = rows["gpus_paid"].to_numpy(dtype=float) / table["instances_needed"]
    return table
