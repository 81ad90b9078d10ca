"""Two to six estimated rows side by side: what differs, and what each difference is made of.

A difference in memory is the sum of the differences of its components. Money and time are products:
their differences are divided among the factors by the logarithmic mean (Ang 2005, Energy Policy
33(7), 867-871), which leaves no rest and gives the same parts with the other sign when the two rows
change places.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calc.columns import COMPONENTS
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.figures import needed_parts
from calc.units import HOUR_SECONDS

FEWEST, MOST = 2, 6
_TELLING_RATIO = 0.2

Factors = dict[str, Callable[[Row], float]]
PER_HOUR: Factors = {
    "instances": lambda row: row["instances"],
    "price": lambda row: row["usd_per_hour"] / row["instances"],
}
RUN: Factors = {
    "speed": lambda row: 1 / row["run_tokens_per_second"] / HOUR_SECONDS,
    "attempts": lambda row: row["attempts"],
    "interruptions": lambda row: (
        (row["hours"] - row["start_hours"])
        / (row["attempts"] * row["run_tokens"] / row["run_tokens_per_second"] / HOUR_SECONDS)
    ),
    "start": lambda row: row["hours"] / (row["hours"] - row["start_hours"]),
}
RUNS: dict[str, Factors] = {
    work: {name: lambda row: row["run_tokens"], **RUN}
    for work, name in (("training", "train_tokens"), ("offline", "tokens_total"))
}
MONTH: Factors = {"hours_per_month": lambda row: row["hours"]}
BILLED: Factors = {"billing": lambda row: row["usd"] / row["usd_per_hour"] / row["hours"]}
QUANTITIES: dict[str, dict[str, Factors]] = {  # what is compared beside memory, by work
    "inference": {"usd_per_hour": PER_HOUR, "usd": {**MONTH, **BILLED, **PER_HOUR}},
    **{
        work: {"usd_per_hour": PER_HOUR, "hours": run, "usd": {**run, **BILLED, **PER_HOUR}}
        for work, run in RUNS.items()
    },
}


class Difference(NamedTuple):
    """A quantity in the first row and in another; the parts of the difference by cause."""

    quantity: str
    first: float
    other: float
    parts: dict[str, float]

    @property
    def change(self) -> float:
        """The other's value minus the first's."""
        return self.other - self.first

    @property
    def ratio(self) -> float:
        """The change as a share of the first."""
        return self.change / self.first if self.first else float("nan")

    @property
    def cause(self) -> str:
        """The largest part in the direction of the change; empty if nothing changed."""
        return self._largest(float(np.sign(self.change)))

    @property
    def against(self) -> str:
        """The largest part against the change, if it is a fifth of it or more; else empty."""
        name = self._largest(-float(np.sign(self.change)))
        return name if name and abs(self.parts[name]) >= _TELLING_RATIO * abs(self.change) else ""

    def _largest(self, sign: float) -> str:
        """The part that moves most in this direction; empty if none does."""
        along = {name: part * sign for name, part in self.parts.items()}
        name = max(along, key=lambda part: along[part], default="")
        return name if name and along[name] > 0 else ""


def differences(first: Row, other: Row) -> dict[str, Difference]:
    """The differences in memory and USD per hour, and for equal work in hours and USD.

    Both are rows of bill.bill_rows; a quantity that one of them lacks has no parts.
    """
    quantities = {"needed_bytes": _memory_differences(first, other)}
    works = [
        "offline" if row["work"] == "inference" and ends_of(row) else row["work"]
        for row in (first, other)
    ]
    products = QUANTITIES[works[0]] if len(set(works)) == 1 else {"usd_per_hour": PER_HOUR}
    for quantity, factors in products.items():
        before = float(first[quantity])
        after = float(other[quantity])
        parts = {}
        if before > 0 and after > 0:
            mean = _logarithmic_mean(before, after)
            parts = {
                name: mean * float(np.log(factor(other) / factor(first)))
                for name, factor in factors.items()
            }
        quantities[quantity] = Difference(quantity, before, after, parts)
    return quantities


def speed_ratio(first: Row, other: Row) -> float:
    """The tokens per second of another row over those of the first, in the billed work."""
    name = "run_tokens_per_second" if ends_of(first) else "tokens_per_second"
    return float(other[name]) / float(first[name])


def pace_change(first: Row, other: Row) -> float:
    """The time that another row's run takes longer, or each token of its service. [s]"""
    return float(other["seconds"]) - float(first["seconds"])


def _memory_differences(first: Row, other: Row) -> Difference:
    """The difference of what must fit, by component."""
    before = float(first["needed_bytes"])
    after = float(other["needed_bytes"])
    if np.isnan(after - before):
        return Difference("needed_bytes", before, after, {})
    of_first = dict.fromkeys(COMPONENTS, 0.0) | needed_parts(first)
    of_other = dict.fromkeys(COMPONENTS, 0.0) | needed_parts(other)
    parts = {name: of_other[name] - of_first[name] for name in COMPONENTS}
    return Difference("needed_bytes", before, after, parts)


def _logarithmic_mean(one: float, other: float) -> float:
    """(b - a) / (ln b - ln a), and a if both are equal."""
    return one if one == other else (other - one) / float(np.log(other / one))
