"""What a way to pay binds one to: dollars for how long, and from how many hours of use on it costs less than on demand."""

from calc.cost.markets import MARKETS
from calc.units import MEAN_MONTH_HOURS, YEAR_HOURS


def committed_hours(market: str, billed_hours):
    """Hours that are paid whatever is used: of a commitment its term, of a capacity block those booked; 0 where one pays by use. [h]"""
    terms = MARKETS[market]
    return terms.committed_years * YEAR_HOURS if terms.committed_years else billed_hours * bool(terms.block_hours)


def committed_usd(committed_hours, usd_per_hour):
    """What is signed for: every hour of the term at its price, upfront part and rest together. [USD]"""
    return committed_hours * usd_per_hour


def break_even_hours_per_month(usd_per_hour, usd_per_hour_on_demand):
    """Hours of use in a month of 730 from which on it costs less than on demand; beyond 730 it never does. [h]

    On demand costs price · hours used, the commitment price · all hours: they meet at 730 · its price / the price on demand.
    """
    return MEAN_MONTH_HOURS * usd_per_hour / usd_per_hour_on_demand
