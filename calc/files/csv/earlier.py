"""A CSV of an earlier day: its scenarios estimated today, beside its own figures."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS, PLAN_MARKETS
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.csv import tables as csv_tables
from calc.plan.bill import bill_rows
from calc.plan.drift import FIGURES, THEN
from calc.plan.ownership import owned_rows
from calc.plan.plan_bill import PERIOD_MONTHS
from calc.scenarios.inputs import CATALOG_OF, inputs_by_name
from calc.scenarios.lookups import similar
from calc.scenarios.problems import Problems, TableError, quote_cell
from calc.scenarios.read import read_inputs
from calc.table import is_missing
from calc.units import GIB

MOST_CONTINGENCY = 100  # per cent
STANDINGS = ("new", "changed", "as kept", "refused")


class Meeting(NamedTuple):
    """The decision of the meeting that wrote a file, its budget and its contingency.

    Each is empty where the file has none. `budget_for`: the period of the budget, of
    calc.plan.plan_bill.PERIOD_MONTHS.
    """

    decision: str
    budget_usd: float
    budget_for: str
    contingency_percent: float


class Earlier(NamedTuple):
    """The scenario cells, a billed row for each, and sentences for what could not be read.

    `rows` has market, job (in short, of kept answers), have, in_bill, then_prices_as_of and then_*
    (aged.THEN): what the file says, empty where it says nothing. `unread` has a sentence for each
    row with an unreadable cell, in the order of `unread_rows`: nothing is taken from such a file.
    """

    table: pd.DataFrame
    rows: pd.DataFrame
    complaints: list[str]
    unread: list[str]
    unread_rows: list[int]
    meeting: Meeting


def earlier_of(content: bytes, name: str, catalogs: Catalogs) -> Earlier:
    """The scenarios of a CSV file; raises TableError."""
    return earlier(csv_tables.read_csv(content, name), name, catalogs)


def earlier(cells: pd.DataFrame, name: str, catalogs: Catalogs, solve: bool = True) -> Earlier:
    """The scenarios of a table of cells (csv_tables.read_csv); raises TableError."""
    table, complaints = csv_tables.scenarios_of(cells, name)
    if not len(table):
        raise TableError(f"{name} has a first line and no scenario; add a row for each scenario.")
    rows = pd.DataFrame(estimate(table, catalogs, solve))
    market = _cell_of(cells, "market").replace("", "on-demand")
    is_market = market.isin(list(MARKETS)).to_numpy()
    of_job = {
        name: _cell_of(cells if "in_bill" in cells else cells[[]], name).to_numpy()
        for name in ("job", "have", "in_bill")
    }
    rows = bill_rows(
        rows.assign(market=market.where(is_market, "on-demand").to_numpy(), **of_job), catalogs
    )
    rows = owned_rows(rows, cells)
    then = {
        name: _number(cells, name) if name in FIGURES else _cell_of(cells, name)
        for name in (*THEN, "prices_as_of")
    }
    then["usd_per_hour"] = _of_market("usd_per_hour", market, cells)
    if "needed_gib" in cells:  # the CSV that people read
        then["needed_bytes"] = _number(cells, "needed_gib") * GIB
    rows = rows.assign(**{f"then_{column}": np.asarray(values) for column, values in then.items()})
    unread_rows = np.flatnonzero(~is_market | _unread(table, catalogs)).tolist()
    sentences = np.where(
        is_market, rows["problem"].astype(object), [_no_market(name) for name in market]
    )
    return Earlier(
        table,
        rows,
        complaints,
        [f"Row {row + 1}: {sentences[row]}" for row in unread_rows],
        unread_rows,
        _meeting(cells),
    )


def _meeting(cells: pd.DataFrame) -> Meeting:
    """The decision, the budget and the contingency of the first row that has them."""
    budget_usd = _number(cells, "budget_usd")
    period = _first(cells, "budget_for")
    is_budget = (budget_usd > 0) & np.isfinite(budget_usd)
    has_budget = is_budget.any() and period in PERIOD_MONTHS
    contingency = _number(cells, "contingency_percent")
    is_contingency = (contingency > 0) & (contingency <= MOST_CONTINGENCY)
    return Meeting(
        _first(cells, "decision"),
        float(budget_usd[is_budget][0]) if has_budget else np.nan,
        period if has_budget else "",
        float(contingency[is_contingency][0]) if is_contingency.any() else np.nan,
    )


def _first(cells: pd.DataFrame, name: str) -> str:
    """The first cell of a column that is not blank; empty without one."""
    return next(filter(None, _cell_of(cells, name)), "")


def standings(rows: pd.DataFrame, kept_rows: pd.DataFrame) -> list[str]:
    """The status of each row: as kept, changed (same name), new or refused."""
    names = [name for name in inputs_by_name() if name != "scenario"] + ["market"]
    mine = [_choices(row, names) for row in kept_rows.to_dict("records")]
    named = set(kept_rows["scenario"])
    return [
        "refused"
        if row["problem"]
        else "as kept"
        if _choices(row, names) in mine
        else "changed"
        if row["scenario"] in named
        else "new"
        for row in rows.to_dict("records")
    ]


def _choices(row: Row, names: list[str]) -> dict[str, float | str]:
    """The choices of an estimated row in a comparable form; NaN is empty."""
    return {name: "" if is_missing(row[name]) else row[name] for name in names}


def _unread(table: pd.DataFrame, catalogs: Catalogs) -> np.ndarray:
    """The rows with an unreadable cell, or an id that no catalog has."""
    problems = Problems(len(table))
    read_inputs(table, problems, catalogs)
    wrong = ~problems.sound
    for name, catalog in CATALOG_OF.items():
        if name in table:
            ids = table[name].astype(str).str.strip()
            wrong |= ~ids.isin(["", *getattr(catalogs, catalog).index]).to_numpy()
    return wrong


def _no_market(market: str) -> str:
    return (
        f"market '{quote_cell(market)}' is not known; use "
        f"{similar(market, MARKETS) or ' or '.join(PLAN_MARKETS)}."
    )


def _cell_of(cells: pd.DataFrame, name: str) -> pd.Series:
    """The cells of a column as text, empty if the file lacks it."""
    if name in cells:
        return cells[name].astype(str).str.strip()
    return pd.Series("", index=cells.index)


def _of_market(name: str, market: pd.Series, cells: pd.DataFrame) -> np.ndarray:
    """Return a number of each row on the market of that row."""
    return np.select(
        [market == other for other in MARKETS],
        [_number(cells, f"{name}_{terms.key}") for terms in MARKETS.values()],
        np.nan,
    )


def _number(cells: pd.DataFrame, name: str) -> np.ndarray:
    return pd.to_numeric(_cell_of(cells, name), errors="coerce").to_numpy(dtype=float)
