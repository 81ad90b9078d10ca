"""The wording of a CSV of an earlier meeting: contents, moved prices, refusals."""

from typing import Any

import numpy as np
import pandas as pd

from calc.plan.aged import MOVED_RATIO
from calc.say.numbers import counted, is_missing
from calc.say.verdict import word


def summary(rows: pd.DataFrame, standings: np.ndarray, unread: list[str]) -> str:
    """12 scenarios: 7 fit, 1 tight, 3 do not fit, 1 refused. 2 are new, 1 changed, 9 as kept."""
    wrong = rows["problem"] != ""
    verdicts = [
        ((rows["fits"] == "yes").sum(), "fit"),
        ((rows["fits"] == "tight").sum(), "tight"),
        ((rows["fits"] == "no").sum(), "do not fit"),
        ((~wrong & (rows["fits"] == "")).sum(), "without a card"),
        (wrong.sum() - len(unread), "refused"),
        (len(unread), "not understood"),
    ]
    known = [((standings == each).sum(), each) for each in ("new", "changed", "as kept")]
    parts = [f"{counted(len(rows), 'scenario')}: {_joined(verdicts)}.", f"Beside what is kept: {_joined(known)}."]
    return " ".join(parts if any(count for count, _ in known) else parts[:1])


def _joined(counts: list[tuple[int, str]]) -> str:
    return ", ".join(f"{count:,} {words}" for count, words in counts if count > 0)


def prices(rows: pd.DataFrame) -> str:
    """How many hourly prices of the file are other ones today; empty where the file names none."""
    both = rows[rows["then_usd_per_hour"].notna() & rows["usd_per_hour"].notna()]
    if not len(both):
        return ""
    ratio = both["usd_per_hour"] / both["then_usd_per_hour"]
    more, less = int((ratio > 1 + MOVED_RATIO).sum()), int((ratio < 1 - MOVED_RATIO).sum())
    days = sorted({day for day in both["then_made_on"] if day} or {day for day in both["then_prices_as_of"] if day})
    of = f" of {days[0]}" if days else ""
    if not more + less:
        return f"The hourly prices in the file{of} are today's: none of {len(both)} has moved."
    moved = [f"{n} cost{'s' if n == 1 else ''} {words}" * (n > 0) for n, words in ((more, "more"), (less, "less"))]
    return f"Of {len(both)} hourly prices in the file{of}, {' and '.join(filter(None, moved))} today; the rest are the same."


def refusals(rows: pd.DataFrame, unread: list[str]) -> list[Any]:
    """A sentence for each row that is understood and refused, in the order of the file."""
    named = {sentence.partition(":")[0] for sentence in unread}
    wrong = rows.loc[rows["problem"] != "", "problem"]
    return [f"Row {number + 1}: {problem}" for number, problem in wrong.items() if f"Row {number + 1}" not in named]


def obstacle(unread: list[str], wanted: int, room: int) -> str:
    """Why nothing of the file can be kept; empty where it can."""
    if unread:
        return "Nothing is kept of a file that is not understood whole: correct these cells, or delete their rows, and give it again."
    if not wanted:
        return "Every scenario of the file that can be run is kept already."
    if wanted > room:
        return f"There is room for {room} more scenarios: remove some that are kept, or give a file with fewer."
    return ""


def verdict(row: Any) -> str:
    """Fits, tight, does not fit, refused."""
    return "refused" if row.problem else "no card named" if is_missing(row.fits) else word(row.fits)
