"""Changes of a plan over time: its recorded figures, those of today, and what moved them."""

from datetime import date
from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.mappings import Cells
from calc.plan.bill import bill_rows, price_facts
from calc.plan.figures import records
from calc.plan.kept_answer import KeptAnswer
from calc.table import is_missing
from calc.units import GIB
from calc.versions import formulas_version

FIGURES = ("usd_per_hour", "usd", "hours", "needed_bytes")
VERSIONS = ("made_on", "facts_version", "formulas_version")
THEN = (*FIGURES, "fits", *VERSIONS)
_DIGITS = 6  # significant digits of a recorded figure
MOVED_RATIO = 0.001  # smaller moves do not show in three digits


class FigureChange(NamedTuple):
    """A figure that moved, with its recorded and its present value."""

    figure: str
    then: float
    today: float

    @property
    def ratio(self) -> float:
        """The gain as a share of the recorded value."""
        return self.today / self.then - 1


def figures_of(row: Cells, catalogs: Catalogs, today: date) -> Row:
    """The figures, fit, day and versions to record of a billed row.

    A row that was recorded before (then_*) keeps its record.
    """
    if row.get("then_made_on"):
        return {name: row[f"then_{name}"] for name in THEN if not is_missing(row[f"then_{name}"])}
    figures_by_name = {
        name: float(f"{float(row[name]):.{_DIGITS}g}")
        for name in FIGURES
        if name in row and not is_missing(row[name])
    }
    return (
        figures_by_name
        | ({"fits": row["fits"]} if row.get("fits") else {})
        | versions(catalogs, today)
    )


def versions(catalogs: Catalogs, today: date) -> dict[str, str]:
    """The day and the versions of facts and formulas in use."""
    return {
        "made_on": today.isoformat(),
        "facts_version": catalogs.facts_version,
        "formulas_version": formulas_version(),
    }


def rows_now(answers: list[KeptAnswer], catalogs: Catalogs) -> list[Row]:
    """Return kept answers as estimated and billed today, with their earlier figures as then_*."""
    if not answers:
        return []
    table = pd.DataFrame([{**answer.scenario, "scenario": answer.name} for answer in answers])
    estimated = pd.DataFrame(estimate(table, catalogs, solve=False))
    rows = bill_rows(estimated.assign(market=[answer.market for answer in answers]), catalogs)
    return [row | then_of(answer) for row, answer in zip(records(rows), answers, strict=True)]


def then_of(answer: KeptAnswer) -> Row:
    """The recorded figures of an answer as then_* of its row; None if they are missing."""
    return {f"then_{name}": answer.then.get(name) for name in THEN}


def changes(row: Cells) -> list[FigureChange]:
    """The figures of a row that have moved, memory in GiB; both values must exist."""
    figure_changes = []
    for name in FIGURES:
        then = _number(row.get(f"then_{name}"))
        today = _number(row.get(name))
        if then > 0 and abs(today / then - 1) > MOVED_RATIO:
            figure_changes.append(
                FigureChange("memory_gib", then / GIB, today / GIB)
                if name == "needed_bytes"
                else FigureChange(name, then, today)
            )
    return figure_changes


class PriceMoves(NamedTuple):
    """Hourly prices of earlier rows that are known then and now, by the way they moved."""

    prices: int
    more: int
    less: int
    day: str


def price_moves(rows: pd.DataFrame) -> PriceMoves:
    """Compare the hourly prices of rows with those recorded in them (then_*).

    `day` is the first day on which a row was made, else that of its prices; empty if none is
    recorded.
    """
    both = rows[rows["then_usd_per_hour"].notna() & rows["usd_per_hour"].notna()]
    ratio = both["usd_per_hour"] / both["then_usd_per_hour"]
    made_on, prices_of = (
        sorted({day for day in both[name] if day}) for name in ("then_made_on", "then_prices_as_of")
    )
    days = made_on or prices_of
    return PriceMoves(
        prices=len(both),
        more=int((ratio > 1 + MOVED_RATIO).sum()),
        less=int((ratio < 1 - MOVED_RATIO).sum()),
        day=days[0] if days else "",
    )


def causes(row: Cells, catalogs: Catalogs) -> list[str]:
    """The names, facts and formulas, whose version has changed."""
    current = {"facts": catalogs.facts_version, "formulas": formulas_version()}
    return [name for name, version in current.items() if row.get(f"then_{name}_version") != version]


def price_day(row: Cells, catalogs: Catalogs) -> str:
    """The day of the price that a row pays; empty without a price."""
    return price_facts(dict(row), row["market"], catalogs)["as_of"][:10]


def _number(value):
    return float("nan") if is_missing(value) else float(value)
