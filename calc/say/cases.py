"""Words for the three cases of a bill, for the causes of a change, and sums that add up."""

from collections.abc import Sequence

import pandas as pd

from calc.plan.cases import ASKED_DISCOUNT, Cases
from calc.say.numbers import billed_usd, gpu_hours_text, is_missing, percent

FACTORS = {
    "hours": "Time of the runs",
    "load": "Throughput of the services",
    "attempts": "One more attempt at each run",
    "price": "Price, lowest to highest known",
    "spot": "All on Spot",
    "discount": f"A discount of {percent(ASKED_DISCOUNT)}",
}
HOW_CASES = (
    "Low takes the fast end of each run and the high end of each service's throughput. High takes "
    "the other ends, one more attempt at each run, and the contingency."
)
CENTS_BELOW_USD = 9.995  # an amount with cents, and with it all others of a small sum
WHOLE_FROM_USD = 100  # a sum of which nobody counts the cents


def range_words(cases: Cases, amounts: Sequence[float]) -> str:
    """Return $31 to $95, base $34: the sum of the bill's `amounts`, and ends in its rounding."""
    base = summands(amounts)[1]
    low, high = _ends(cases.low, cases.high, amounts)
    return base if low == base == high else f"{low} to {high}, base {base}"


def with_range(usd: float, low_usd: float, high_usd: float) -> str:
    """Return $46 ($38 to $112): an amount of a bill, and the ends of its range in its rounding."""
    return f"{billed_usd(usd)} ({' to '.join(_ends(low_usd, high_usd, [usd]))})"


def small_amounts(table: pd.DataFrame) -> list[str]:
    """Return the columns of money whose amounts are all below ten dollars, and so have cents."""
    return [name for name in table if table[name].max() < CENTS_BELOW_USD]


def summands(values: Sequence[float]) -> tuple[list[str], str]:
    """Return amounts and their sum in one rounding, so that what is shown adds up.

    A missing amount is empty; without any, so is the sum.
    """
    amounts, digits = [value for value in values if not is_missing(value)], _digits(values)
    texts = ["" if is_missing(value) else f"${value:,.{digits}f}" for value in values]
    total = sum(round(value, digits) for value in amounts)
    return texts, f"${total:,.{digits}f}" if amounts else ""


def hour_summands(values: Sequence[float]) -> tuple[list[str], str]:
    """Return GPU-hours as they are written, and the sum of what is shown.

    A missing value is empty; without any, so is the sum.
    """
    texts = ["" if is_missing(value) else gpu_hours_text(value) for value in values]
    summands_of_hour = [float(text.replace(",", "")) for text in texts if text]
    total = f"{sum(summands_of_hour):,.3f}".rstrip("0").rstrip(".")
    return texts, total if summands_of_hour else ""


def _ends(low_usd: float, high_usd: float, amounts: Sequence[float]) -> tuple[str, str]:
    """Return the ends of a range in the rounding of the amounts inside it."""
    digits = _digits(amounts)
    return f"${low_usd:,.{digits}f}", f"${high_usd:,.{digits}f}"


def _digits(values: Sequence[float]) -> int:
    """Return the digits after the point that all amounts of a sum have.

    They have cents if one of them is below $10 and the sum below $100.
    """
    amounts = [abs(value) for value in values if not is_missing(value)]
    return 2 if amounts and min(amounts) < CENTS_BELOW_USD and sum(amounts) < WHOLE_FROM_USD else 0
