"""A plan that ages: what a scenario's figures were when it was written down, beside what they are today, and whose doing that is."""

from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate
from calc.plan.bill import billed, price_facts
from calc.plan.figures import records
from calc.units import GIB
from calc.versions import formulas_version

FIGURES = ("usd_per_hour", "usd", "hours", "memory_bytes")
VERSIONS = ("made_on", "facts_version", "formulas_version")
THEN = (*FIGURES, "fits", *VERSIONS)
_DIGITS = 6  # significant ones, of a figure that is written down
MOVED_RATIO = 0.001  # three digits show no less


class Moved(NamedTuple):
    """A figure as it was written down and as it is today."""

    figure: str
    then: float
    now: float

    @property
    def ratio(self) -> float:
        """What it has gained, as a share of what it was."""
        return self.now / self.then - 1


def figures_of(row: Mapping[str, Any], catalogs: Catalogs, today: date) -> dict[str, Any]:
    """What is written down of a billed row: its figures, whether it fits, the day, the versions of facts and formulas.

    Of a row that was written down before (then_*) it stays what was written then.
    """
    if row.get("then_made_on"):
        return {name: row[f"then_{name}"] for name in THEN if row[f"then_{name}"] != "" and _is_known(row[f"then_{name}"])}
    known = {name: float(f"{float(row[name]):.{_DIGITS}g}") for name in FIGURES if name in row and _is_known(row[name])}
    return known | ({"fits": row["fits"]} if row.get("fits") else {}) | versions(catalogs, today)


def versions(catalogs: Catalogs, today: date) -> dict[str, str]:
    """The day, and with which facts and formulas figures are made on it."""
    return {"made_on": today.isoformat(), "facts_version": catalogs.facts_version, "formulas_version": formulas_version()}


def rows_now(entries: list[dict[str, Any]], catalogs: Catalogs) -> list[dict[str, Any]]:
    """Written-down scenarios (scenario, market, then) as rows of today, each with then_* for what is known of it."""
    if not entries:
        return []
    table = pd.DataFrame([{**entry["scenario"], "scenario": entry.get("name", "")} for entry in entries])
    rows = billed(pd.DataFrame(estimate(table, catalogs, solve=False)).assign(market=[entry["market"] for entry in entries]), catalogs)
    return [row | then_of(entry) for row, entry in zip(records(rows), entries, strict=True)]


def then_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What is written down of an entry as then_* of its row; None for what is not."""
    return {f"then_{name}": entry.get("then", {}).get(name) for name in THEN}


def changes(row: Mapping[str, Any]) -> list[Moved]:
    """The figures of a row that are other ones today, memory in GiB; one that is not known today, or was not, is none of them."""
    pairs = [(name, _number(row.get(f"then_{name}")), _number(row.get(name))) for name in FIGURES]
    moved = [(name, then, now) for name, then, now in pairs if then > 0 and abs(now / then - 1) > MOVED_RATIO]
    return [Moved("memory_gib", then / GIB, now / GIB) if name == "memory_bytes" else Moved(name, then, now) for name, then, now in moved]


def causes(row: Mapping[str, Any], catalogs: Catalogs) -> list[str]:
    """Of "facts" and "formulas" those that are other ones today; None of both is known where nothing was written down."""
    now = {"facts": catalogs.facts_version, "formulas": formulas_version()}
    return [name for name, version in now.items() if row.get(f"then_{name}_version") != version]


def price_day(row: Mapping[str, Any], catalogs: Catalogs) -> str:
    """The day of the price that the row pays today; empty where there is none."""
    return price_facts(dict(row), row["market"], catalogs)["as_of"][:10]


def _is_known(value):
    return value is not None and value == value


def _number(value):
    return float("nan") if value is None or value == "" else float(value)
