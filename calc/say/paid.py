"""Paid hours in words: those of a block beyond the run, GPU-hours, nothing to sign for."""

from collections.abc import Sequence

from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.mappings import Cells
from calc.say.numbers import gpu_hours_text, is_missing, span


def nothing_to_sign(names_without_price: Sequence[str]) -> str:
    """Return that nothing one could sign for costs less, or that its price is not known."""
    if names_without_price:
        names = ", ".join(names_without_price)
        return (
            f"No price of a commitment is known for {names}: `make prices` reads Savings Plans and "
            f"reserved terms."
        )
    return "No commitment costs less. Other ways to pay lists every price."


def month_words(row: Cells) -> str:
    """Return what a cost is for: " a month" of a service, nothing more for work that ends."""
    return "" if ends_of(row) else " a month"


def time_of_cost(row: Row) -> str:
    """Return the time that a cost pays for: " in 5.4 h" of work that ends, " a month"."""
    return f" in {span(row['hours'])}" if ends_of(row) else " a month"


def gpu_hours_of(row: Row) -> str:
    """The GPU-hours that a row pays for, of the run or a month: 192; empty if unknown."""
    billed_gpu_hours = row.get("billed_gpu_hours")
    return "" if is_missing(billed_gpu_hours) else gpu_hours_text(billed_gpu_hours)


def paid_hours(row: Row) -> list[str]:
    """The hours that are paid: 24 h paid for 14.6 h; 192 GPU-hours; empty without a bill."""
    billed_hours = row.get("billed_hours")
    parts = []
    has_bill = not is_missing(billed_hours) and ends_of(row)
    if has_bill and billed_hours > row["hours"] * (1 + 1e-9):
        parts.append(f"{span(billed_hours)} paid for {span(row['hours'])}")
    if gpu_hours := gpu_hours_of(row):
        parts.append(f"{gpu_hours} GPU-hours")
    return parts
