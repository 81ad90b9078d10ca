"""What a way to pay comes to for one job: hours, those that are billed, dollars, what is signed for, from which use on it pays off.

The terms of a market (block_hours, committed_years, interrupted) are columns like the others; calc/cost/markets.py has them.
"""

import numpy as np

from calc.units import MEAN_MONTH_HOURS, WEEK_HOURS, YEAR_HOURS, YEAR_MONTHS

LONGEST_DAILY_BLOCK_HOURS = 336


def hours(trains, run_hours, hours_per_month, interrupted, spot_overhead_ratio):
    """How long the job takes: the run, on spot with its interruptions, or the hours of the month. [h]"""
    return np.where(trains > 0, run_hours * (1 + interrupted * spot_overhead_ratio), hours_per_month)


def billed_hours(trains, hours, block_hours, committed_years):
    """Hours that AWS charges: a capacity block in whole days, beyond 14 in whole weeks; a commitment to its end. [h]

    A service may take blocks one after another, and so pays whole days however many there are; of a commitment a month.
    EC2 User Guide, Capacity Blocks for ML: 1 to 14 days, then whole weeks.
    """
    days = np.ceil(hours / np.maximum(block_hours, 1)) * block_hours
    weeks = np.ceil(hours / WEEK_HOURS) * WEEK_HOURS
    in_blocks = np.where((trains > 0) & (days > LONGEST_DAILY_BLOCK_HOURS), weeks, days)
    term = np.where(trains > 0, committed_years * YEAR_HOURS, np.where(committed_years > 0, MEAN_MONTH_HOURS, 0.0))
    return np.where(block_hours > 0, in_blocks, np.maximum(hours, term))


def usd_per_hour(instances, market_usd_per_hour, paid_ratio):
    """All instances of the job for an hour, discount and tax counted. [USD per hour]"""
    return instances * market_usd_per_hour * paid_ratio


def usd(usd_per_hour, billed_hours):
    """The job in all: the run, or a month. [USD]"""
    return usd_per_hour * billed_hours


def committed_hours(block_hours, committed_years, billed_hours):
    """Hours that are paid whatever is used: of a commitment its term, of a block those booked; 0 where one pays by use. [h]"""
    return np.where(committed_years > 0, committed_years * YEAR_HOURS, np.where(block_hours > 0, billed_hours, 0.0))


def committed_usd(committed_hours, usd_per_hour):
    """What is signed for: every hour of the term at its price, upfront part and rest together. [USD]"""
    return committed_hours * usd_per_hour


def break_even_hours_per_month(usd_per_hour, usd_per_hour_on_demand):
    """Hours of use in a month of 730 from which on it costs less than on demand; beyond 730 it never does. [h]

    On demand costs price · hours used, the commitment price · all hours: they meet at 730 · its price / the price on demand.
    """
    return MEAN_MONTH_HOURS * usd_per_hour / usd_per_hour_on_demand


def month_usd(trains, usd, usd_per_hour, runs_per_month, committed_years):
    """A month in which the scenario is at work: a run times its runs, a service times its copies, of a commitment all hours. [USD]

    Runs follow each other on the same committed instances, copies of a service stand side by side.
    """
    a_month = np.where(committed_years > 0, usd_per_hour * MEAN_MONTH_HOURS, usd)
    return a_month * np.where((committed_years > 0) & (trains > 0), 1.0, runs_per_month)


def paid_months(period_months, plan_months, committed_years):
    """Months of a period that are paid, from its first on: those at work; of a commitment its term. [months]"""
    return np.minimum(period_months, np.where(committed_years > 0, committed_years * YEAR_MONTHS, plan_months))


def period_usd(month_usd, paid_months):
    """A period of the plan's bill: the months of it that are paid. [USD]"""
    return month_usd * paid_months
