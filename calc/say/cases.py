"""Words for the three cases of a bill, for the causes of a change, and sums that add up."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from calc.plan.cases import ASKED_DISCOUNT, Cases
from calc.say.numbers import gpu_hours_text, is_missing, percent

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


@dataclass(frozen=True)
class Money:
    """Writes all amounts of a screen in one rounding, so that the same amount reads the same."""

    digits: int  # after the point

    def __call__(self, usd: float) -> str:
        """Return an amount in words: $3.36, $49, −$1,500, under $1."""
        if is_missing(usd):
            return "no price"
        if 0 < abs(usd) < 0.5 and not self.digits:
            return "under $1"
        return f"{'−' if usd < 0 else ''}${abs(usd):,.{self.digits}f}"

    def change(self, before_usd: float, after_usd: float) -> float:
        """Return the difference of two amounts as they are written. [USD]"""
        return round(after_usd, self.digits) - round(before_usd, self.digits)

    def total(self, amounts: Sequence[float]) -> float:
        """Return the sum of the known amounts as they are written. [USD]"""
        return sum(round(usd, self.digits) for usd in amounts if not is_missing(usd))


def money_of(amounts: Sequence[float], total_usd: float) -> Money:
    """Return how amounts and their total are written.

    They have cents if one of them is below $10 and the total below $100.
    """
    usds = [abs(usd) for usd in amounts if not is_missing(usd)]
    has_cents = usds and min(usds) < CENTS_BELOW_USD and total_usd < WHOLE_FROM_USD
    return Money(2 if has_cents else 0)


def range_words(cases: Cases, amounts: Sequence[float], money: Money) -> str:
    """Return $31 to $95, base $34: the sum of the bill's `amounts`, and the ends of its range."""
    base = summands(amounts, money)[1]
    low, high = money(cases.low), money(cases.high)
    return base if low == base == high else f"{low} to {high}, base {base}"


def with_range(usd: float, low_usd: float, high_usd: float, money: Money) -> str:
    """Return $46 ($38 to $112): an amount of a bill, and the ends of its range."""
    return f"{money(usd)} ({money(low_usd)} to {money(high_usd)})"


def small_amounts(table: pd.DataFrame) -> list[str]:
    """Return the columns of money whose amounts are all below ten dollars, and so have cents."""
    return [name for name in table if table[name].max() < CENTS_BELOW_USD]


def summands(values: Sequence[float], money: Money | None = None) -> tuple[list[str], str]:
    """Return amounts and their sum in one rounding, so that what is shown adds up.

    `money`: the rounding of their screen, by default their own. A missing amount is empty; without
    any, so is the sum.
    """
    addends = [value for value in values if not is_missing(value)]
    money = money or money_of(addends, sum(addends))
    texts = ["" if is_missing(value) else money(value) for value in values]
    return texts, money(money.total(addends)) if addends else ""


def hour_summands(values: Sequence[float]) -> tuple[list[str], str]:
    """Return GPU-hours as they are written, and the sum of what is shown.

    A missing value is empty; without any, so is the sum.
    """
    texts = ["" if is_missing(value) else gpu_hours_text(value) for value in values]
    numbers = [float(text.replace(",", "")) for text in texts if text]
    total = f"{sum(numbers):,.3f}".rstrip("0").rstrip(".")
    return texts, total if numbers else ""
