"""Lines of an actual bill: dollars and hours by day, tag, machine and market."""

from calendar import monthrange
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

import pandas as pd

TAGS = ("plan", "team", "owner", "project")
PLACE = ("instance", "region", "market")
KEYS = ("day", *TAGS, *PLACE, "counts_as")
SUMS = ("usd", "list_usd", "instance_hours", "wall_hours")
MACHINE = "machine"
IDLE = "idle"
DISCOUNT = "discount"
OTHER = "other"
CREDIT = "credit"
TAX = "tax"
UNSPLIT = "unsplit"
BESIDE = (CREDIT, TAX)  # said beside the plans, and part of none


class BillLines(NamedTuple):
    """Payments in one or several files of a bill.

    lines: a row for each combination of KEYS (texts, empty if not said; day is ISO) with the
    SUMS: usd after discounts and with commitments spread over their use, list_usd at On-Demand
    list prices, instance_hours, and wall_hours where hours of all instances together were typed.
    counts_as: machine hours, idle (paid and not used), discount, other (storage, traffic, fees),
    unsplit (dollars without hours), credit or tax. period_ends: the last day that the file is for.
    """

    lines: pd.DataFrame
    formats: tuple[str, ...]
    lines_read: int
    period_starts: str
    period_ends: str

    def last_day(self, today: date) -> str:
        """The last day of the bill: the end of its period once that is over, else of its use."""
        day = str(self.lines["day"].max()) if len(self.lines) else ""
        over = self.period_ends and self.period_ends < today.isoformat()
        return max(self.period_ends, day) if over else day or self.period_ends


def sum_lines(lines: pd.DataFrame) -> pd.DataFrame:
    """Lines with the same keys as one, sorted by them."""
    return lines.groupby(list(KEYS), as_index=False, sort=True, observed=True)[list(SUMS)].sum()


def joined_bills(bills: Iterable[BillLines]) -> BillLines:
    """Several files as one bill. A file that is given twice is counted twice."""
    bills = list(bills)
    lines = pd.concat([bill.lines for bill in bills], ignore_index=True)
    formats = dict.fromkeys(name for bill in bills for name in bill.formats)
    return BillLines(
        sum_lines(lines),
        tuple(formats),
        sum(bill.lines_read for bill in bills),
        min((bill.period_starts for bill in bills if bill.period_starts), default=""),
        max((bill.period_ends for bill in bills), default=""),
    )


def within(bill: BillLines, first_day: str, last_day: str) -> BillLines:
    """The lines from a day to a day, both included; an empty day sets no bound."""
    days = bill.lines["day"]
    inside = (days >= first_day) & ((days <= last_day) if last_day else True)
    return bill._replace(
        lines=bill.lines[inside].reset_index(drop=True),
        period_starts=first_day or bill.period_starts,
        period_ends=last_day or bill.period_ends,
    )


def month_end(day: str) -> str:
    """The last day of the month of an ISO day."""
    first = date.fromisoformat(day)
    return first.replace(day=monthrange(first.year, first.month)[1]).isoformat()
