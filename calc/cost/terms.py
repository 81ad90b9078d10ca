"""Hours and cost of one job on a market, and when a commitment pays off.

The terms of a market (block_hours, committed_years, interrupted) are columns from
calc/cost/markets.py.
"""

import numpy as np

from calc.cost.machines import ROUNDING
from calc.units import MEAN_MONTH_HOURS, WEEK_HOURS, YEAR_HOURS, YEAR_MONTHS

# EC2 User Guide, Capacity Blocks for ML: whole days to 14, then whole weeks to 182 days; instances
# end 30 minutes before their block
LONGEST_DAILY_BLOCK_HOURS, LONGEST_BLOCK_HOURS, ENDS_EARLY_HOURS = 336, 4368, 0.5


def hours(ends, start_hours, work_hours, hours_per_month, interrupted, spot_overhead_ratio):
    """Duration of the job: a run with starts and interruptions, or the hours of a month. [h]"""
    return np.where(
        ends > 0,
        start_hours + work_hours * (1 + interrupted * spot_overhead_ratio),
        hours_per_month,
    )


def slow_hours(ends, hours, start_hours, start_high_hours, time_high_ratio):
    """Duration at the slow end of the range of time; a month's is the same. [h]"""
    return np.where(ends > 0, start_high_hours + (hours - start_hours) * time_high_ratio, hours)


def billed_hours(ends, attempts, hours, slow_hours, block_hours, committed_years):
    """Hours that AWS charges. [h]

    A capacity block is charged in whole days, and beyond 14 days in whole weeks; a commitment is
    charged to its end. A block is booked for the slow end of the range, even if the run ends early.
    NaN if no block is that long, since one attempt must fit in one block. For a service, the hours
    are those of a month of the commitment.
    """
    attempt_hours = slow_hours / attempts + ENDS_EARLY_HOURS
    days = np.ceil(attempt_hours / np.maximum(block_hours, 1)) * block_hours
    weeks = np.ceil(attempt_hours / WEEK_HOURS) * WEEK_HOURS
    block_attempt_hours = np.where(days > LONGEST_DAILY_BLOCK_HOURS, weeks, days)
    in_blocks = np.where(
        (ends > 0) & (block_attempt_hours <= LONGEST_BLOCK_HOURS),
        attempts * block_attempt_hours,
        np.nan,
    )
    term = np.where(
        ends > 0, committed_years * YEAR_HOURS, np.where(committed_years > 0, MEAN_MONTH_HOURS, 0.0)
    )
    return np.where(block_hours > 0, in_blocks, np.maximum(hours, term))


def usd_per_hour(instances, market_usd_per_hour, paid_ratio):
    """All instances of the job for an hour, with discount and tax. [USD per hour]"""
    return instances * market_usd_per_hour * paid_ratio


def usd(usd_per_hour, resting_instances, market_usd_per_hour, paid_ratio, billed_hours):
    """The whole job: the run, or a month without the instances at rest. [USD]"""
    return (usd_per_hour - resting_instances * market_usd_per_hour * paid_ratio) * billed_hours


def committed_hours(block_hours, committed_years, billed_hours):
    """Hours paid, used or not: a commitment's term, those booked of a block; else 0. [h]"""
    return np.where(
        committed_years > 0,
        committed_years * YEAR_HOURS,
        np.where(block_hours > 0, billed_hours, 0.0),
    )


def committed_usd(committed_hours, usd_per_hour):
    """The commitment: every hour of the term at its price, upfront part and rest together. [USD]"""
    return committed_hours * usd_per_hour


def break_even_hours_per_month(usd_per_hour, usd_per_hour_on_demand):
    """Hours of use a month beyond which a commitment costs less than on demand. [h]

    On demand costs price · hours used, the commitment price · all hours: they meet at 730 · its
    price / the price on demand, and never where that is above 730.
    """
    return MEAN_MONTH_HOURS * usd_per_hour / usd_per_hour_on_demand


def committed_copies(ends, hours, runs_per_month):
    """Copies of a job's instances that a commitment pays for. [copies]

    Runs follow each other on the same instances, of which each has 730 hours a month: ceil(runs ·
    hours / 730). Copies of a service run side by side.
    """
    months_of_runs = np.ceil(runs_per_month * hours / MEAN_MONTH_HOURS * (1 - ROUNDING))
    return np.where(ends > 0, np.maximum(months_of_runs, 1.0), runs_per_month)


def month_usd(usd, usd_per_hour, runs_per_month, committed_years, committed_copies):
    """A month of work: a run times its runs, a service times its copies. [USD]

    A commitment is paid for every hour of the month, for each copy of its instances.
    """
    return np.where(
        committed_years > 0,
        committed_copies * usd_per_hour * MEAN_MONTH_HOURS,
        runs_per_month * usd,
    )


def paid_months(period_months, plan_months, committed_years):
    """Paid months of a period: those at work, or the term of a commitment. [months]"""
    return np.minimum(
        period_months, np.where(committed_years > 0, committed_years * YEAR_MONTHS, plan_months)
    )


def period_usd(month_usd, paid_months):
    """A period of the plan's bill: its paid months. [USD]"""
    return month_usd * paid_months
