"""Rows of a report or an export as lines of a bill: what each costs and what it counts as."""

import json
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.schemas.bill_files import LineKind
from calc.files.bills.formats import BillForm, bill_files, tag_of, usage_of
from calc.mappings import Json
from calc.plan.bill_lines import DISCOUNT, IDLE, MACHINE, OTHER, TAGS, sum_lines
from calc.scenarios.problems import TableError, quote_cell

UNKNOWN_KIND = LineKind(add=["cost"], counts_as="other")
INSTANCE_KEYS = ("InstanceType", "instanceType", "x_InstanceType")  # of FOCUS, SkuPriceDetails
CURRENCY = "USD"
WITH_HOURS = (MACHINE, IDLE)
OF_MACHINES = (*WITH_HOURS, DISCOUNT)


def lines_of(rows: pd.DataFrame, form: BillForm, name: str) -> pd.DataFrame:
    """The lines of some rows of a file, summed by KEYS; raises TableError.

    rows: texts and numbers under the file's own column names, missing values as NA.
    """
    table = _Fields(rows, form, name)
    _check_currency(table.text("currency"), name)
    kinds = table.text("kind")
    lines = pd.DataFrame({"day": _days(table.text("starts"), name)})
    lines["usd"], kind_counts, kind_market = _costs(table, kinds, form, name)
    usage = _by_value(table.text("usage_type"), usage_of)
    usage_counts = _part(usage, "counts_as")
    usage_market = _part(usage, "market")
    instance = _first_said(_part(usage, "instance"), _instances(table))
    is_hours = _is_hours(table, usage_counts, instance)
    counts = np.where(
        kind_counts == MACHINE,
        np.where(is_hours, _first_said(usage_counts, np.full(len(rows), MACHINE)), OTHER),
        kind_counts,
    )
    is_unused = table.unused() & np.isin(counts, (MACHINE, OTHER))
    lines["counts_as"] = np.where(is_unused, IDLE, counts)
    lines["instance"] = np.where(np.isin(lines["counts_as"], OF_MACHINES), instance, "")
    priced = table.priced_market()
    below_list = np.where(priced == "on-demand", "", priced)
    lines["region"] = table.text("region")
    lines["market"] = _first_said(kind_market, below_list, usage_market, priced)
    has_hours = np.isin(lines["counts_as"], WITH_HOURS) & is_hours & (kind_counts == MACHINE)
    lines["instance_hours"] = np.where(has_hours, table.number("quantity"), 0.0)
    lines["wall_hours"] = 0.0
    lines["list_usd"] = table.number("list_cost")
    for tag, values in table.tags().items():
        lines[tag] = values
    return sum_lines(lines.assign(market=np.where(lines["instance"] != "", lines["market"], "")))


class _Fields:
    """The fields of some rows: texts without missing values, numbers, tags."""

    def __init__(self, rows: pd.DataFrame, form: BillForm, name: str) -> None:
        self.rows, self.form, self.name = rows, form, name

    def text(self, field: str) -> np.ndarray:
        """A field as texts, empty where the file says nothing."""
        column = self.form.fields.get(field)
        return _texts(self.rows[column]) if column else np.full(len(self.rows), "", dtype=object)

    def number(self, field: str) -> np.ndarray:
        """A field as numbers, 0 where the file says nothing; raises TableError."""
        column = self.form.fields.get(field)
        if not column:
            return np.zeros(len(self.rows))
        numbers = self.rows[column].fillna(0.0).to_numpy(dtype=float)
        if np.isinf(numbers).any():
            raise TableError(
                f"{self.name}: {column} holds a number without end; export the file again."
            )
        return numbers

    def unused(self) -> np.ndarray:
        """Rows of commitments or reserved capacity that were not used."""
        words = bill_files().unused_words
        return np.isin(self.text("commitment_status"), words) | np.isin(
            self.text("reservation_status"), words
        )

    def priced_market(self) -> np.ndarray:
        """The market of FOCUS's pricing category."""
        markets = bill_files().pricing_markets
        return _by_value(self.text("pricing"), lambda word: markets.get(word, ""))

    def tags(self) -> dict[str, np.ndarray]:
        """The tags, each from its own column or from the pairs, the first that says it."""
        values = {tag: np.full(len(self.rows), "", dtype=object) for tag in TAGS}
        for column, tag in self.form.tag_columns.items():
            values[tag] = _first_said(values[tag], _texts(self.rows[column]))
        for column in self.form.pairs:
            pairs = _by_value(_texts(self.rows[column]), _tags_of_pairs)
            for tag in TAGS:
                found = np.array([one[tag] if one else "" for one in pairs], dtype=object)
                values[tag] = _first_said(values[tag], found)
        return values


def _costs(
    table: _Fields, kinds: np.ndarray, form: BillForm, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dollars of each row, what it counts as, and the market that its kind implies."""
    usd = np.zeros(len(kinds))
    counts = np.full(len(kinds), OTHER, dtype=object)
    market = np.full(len(kinds), "", dtype=object)
    for kind in pd.unique(kinds):
        rule = form.kinds.get(kind, UNKNOWN_KIND)
        rows = kinds == kind
        counts[rows], market[rows] = rule.counts_as, rule.market or ""
        if rule.unless in form.fields:
            continue
        added = rule.add
        taken = rule.subtract or []
        for field in (*added, *taken):
            if field not in form.fields:
                columns = bill_files().formats[form.id].columns[field]
                raise TableError(
                    f"{name} has lines of the kind {quote_cell(kind)}, whose cost is in "
                    f"'{columns[-1]}', and has no such column; export it with that column."
                )
        usd[rows] = sum(table.number(field)[rows] for field in added) - sum(
            table.number(field)[rows] for field in taken
        )
        if rule.unless_filled:
            usd[rows & (table.text(rule.unless_filled) != "")] = 0.0
    return usd, counts, market


def _is_hours(table: _Fields, usage_counts: np.ndarray, instance: np.ndarray) -> np.ndarray:
    """Rows whose quantity is hours of an instance.

    A usage type decides where there is one; without it the unit does, on rows that name an
    instance.
    """
    units = bill_files().hour_units
    in_hours = np.isin(_by_value(table.text("unit"), str.lower), units)
    untold = table.text("usage_type") == ""
    return (usage_counts != "") | (untold & in_hours & (instance != ""))


def _instances(table: _Fields) -> np.ndarray:
    """Instance types that the rows name beside their usage type."""
    named = _by_value(table.text("instance"), lambda text: text.removeprefix("ml."))
    return _first_said(named, _by_value(table.text("details"), _instance_of_details))


def _instance_of_details(text: str) -> str:
    """The instance that the details of a line name; empty without one."""
    details = _pairs(text)
    named = next((str(details[key]) for key in INSTANCE_KEYS if details.get(key)), "")
    return named.removeprefix("ml.")


def _tags_of_pairs(text: str) -> dict[str, str] | None:
    """The tags of key-value pairs written as JSON; None without any of ours."""
    found = {
        tag: str(value)
        for key, value in _pairs(text).items()
        if (tag := tag_of(str(key))) and value not in (None, "")
    }
    return {tag: found.get(tag, "") for tag in TAGS} if found else None


def _pairs(text: str) -> Json:
    """The pairs of a JSON object, or of a list of pairs; empty for any other text."""
    if not text or text[0] not in "{[":
        return {}
    try:
        value = json.loads(text)
        return value if isinstance(value, dict) else dict(value)
    except (ValueError, TypeError, RecursionError):
        return {}


def _days(starts: np.ndarray, name: str) -> np.ndarray:
    """The ISO day of each row; raises TableError."""
    days = _by_value(starts, lambda text: text[:10])
    for day in pd.unique(days):
        if pd.isna(pd.to_datetime(day, format="%Y-%m-%d", errors="coerce")):
            raise TableError(
                f"{name}: '{quote_cell(day)}' is not a date; the start of a line is written as "
                f"2026-11-28."
            )
    return days


def _check_currency(currencies: np.ndarray, name: str) -> None:
    """Raise TableError where anything is paid in another currency than dollars."""
    for currency in pd.unique(currencies):
        if currency not in ("", CURRENCY):
            raise TableError(
                f"{name} is in {quote_cell(currency)}, and plans are in US dollars; export the "
                f"bill in {CURRENCY}."
            )


def _texts(column: pd.Series) -> np.ndarray:
    return column.astype(object).where(column.notna(), "").to_numpy(dtype=object)


def _by_value(values: np.ndarray, make: Any) -> np.ndarray:
    """Each value made into another, once for each distinct one."""
    codes, distinct = pd.factorize(values, use_na_sentinel=False)
    made = np.empty(len(distinct), dtype=object)
    for place, value in enumerate(distinct):
        made[place] = make(value)
    return made[codes]


def _part(usage: np.ndarray, field: str) -> np.ndarray:
    """A field of each usage, empty where there is none."""
    return _by_value(usage, lambda one: getattr(one, field))


def _first_said(*texts: np.ndarray) -> np.ndarray:
    """The first text of each row that is not empty."""
    first, *others = texts
    said = first.astype(object)
    for other in others:
        said = np.where(said == "", other, said)
    return said
