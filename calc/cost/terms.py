"""What one job costs on a market: hours, billed hours, dollars, the commitment, and the use at which it pays off.

The terms of a market (block_hours, committed_years, interrupted) are columns from calc/cost/markets.py.
"""

import numpy as np

from calc.units import MEAN_MONTH_HOURS, WEEK_HOURS, YEAR_HOURS, YEAR_MONTHS

LONGEST_DAILY_BLOCK_HOURS = 336


def hours(trains, run_hours, hours_per_month, interrupted, spot_overhead_ratio):
    """Duration of the job: the run, on spot with interruptions, or the hours of the month. [h]"""
    return np.where(trains > 0, run_hours * (1 + interrupted * spot_overhead_ratio), hours_per_month)


def billed_hours(trains, hours, block_hours, committed_years):
    """Hours that AWS charges: a capacity block in whole days, beyond 14 in whole weeks; a commitment to its end. [h]

    A service may take blocks one after another, and so pays whole days however many there are; of a commitment a month.
    Source: EC2 User Guide, Capacity Blocks for ML.
    """
    days = np.ceil(hours / np.maximum(block_hours, 1)) * block_hours
    weeks = np.ceil(hours / WEEK_HOURS) * WEEK_HOURS
    in_blocks = np.where((trains > 0) & (days > LONGEST_DAILY_BLOCK_HOURS), weeks, days)
    term = np.where(trains > 0, committed_years * YEAR_HOURS, np.where(committed_years > 0, MEAN_MONTH_HOURS, 0.0))
    return np.where(block_hours > 0, in_blocks, np.maximum(hours, term))


def usd_per_hour(instances, market_usd_per_hour, paid_ratio):
    """All instances of the job for an hour, with discount and tax. [USD per hour]"""
    return instances * market_usd_per_hour * paid_ratio


def usd(usd_per_hour, billed_hours):
    """The whole job: the run, or a month. [USD]"""
    return usd_per_hour * billed_hours


def committed_hours(block_hours, committed_years, billed_hours):
    """Hours paid whatever is used: the term of a commitment, those booked of a block; 0 where one pays by use. [h]"""
    return np.where(committed_years > 0, committed_years * YEAR_HOURS, np.where(block_hours > 0, billed_hours, 0.0))


def committed_usd(committed_hours, usd_per_hour):
    """The commitment: every hour of the term at its price, upfront part and rest together. [USD]"""
    return committed_hours * usd_per_hour


def break_even_hours_per_month(usd_per_hour, usd_per_hour_on_demand):
    """Hours of use a month beyond which a commitment costs less than on demand; above 730 it never does. [h]

    On demand costs price · hours used, the commitment price · all hours: they meet at 730 · its price / the price on demand.
    """
    return MEAN_MONTH_HOURS * usd_per_hour / usd_per_hour_on_demand


def month_usd(trains, usd, usd_per_hour, runs_per_month, committed_years):
    """A month of work: a run times its runs, a service times its copies; all hours of a commitment. [USD]

    Runs follow each other on the same committed instances; copies of a service run side by side.
    """
    a_month = np.where(committed_years > 0, usd_per_hour * MEAN_MONTH_HOURS, usd)
    return a_month * np.where((committed_years > 0) & (trains > 0), 1.0, runs_per_month)


def paid_months(period_months, plan_months, committed_years):
    """Paid months of a period: those at work, or the term of a commitment. [months]"""
    return np.minimum(period_months, np.where(committed_years > 0, committed_years * YEAR_MONTHS, plan_months))


def period_usd(month_usd, paid_months):
    """A period of the plan's bill: its paid months. [USD]"""
    return month_usd * paid_months
