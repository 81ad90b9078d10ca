"""Small bills: the CSV of Cost Explorer, and dollars and hours that somebody typed."""

import csv
import io
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from calc.files.bills.formats import BillForm, bill_files, tag_of, usage_of
from calc.mappings import Json
from calc.plan.bill_lines import (
    KEYS,
    MACHINE,
    OTHER,
    SUMS,
    TAGS,
    UNSPLIT,
    BillLines,
    month_end,
    sum_lines,
)
from calc.scenarios.problems import TableError, quote_cell
from calc.scenarios.read import number

DOLLARS, HOURS = "($)", ("(Hrs)", " (Hrs)", "(Hours)", " (Hours)")
COST_EXPLORER = "Cost Explorer"
MOST_CELLS = 2_000_000


def is_cost_explorer(header: list[str]) -> bool:
    """Recognize Cost Explorer's header: dollars by the values of one dimension."""
    return len(header) > 1 and any(cell.endswith(DOLLARS) for cell in header[1:])


def cost_explorer_lines(content: bytes, name: str) -> BillLines:
    """The lines of Cost Explorer's CSV, by day or month and value; raises TableError.

    Hours are there where the report shows usage too. Without them the dollars of a machine cannot
    be split into price and hours.
    """
    rows = _cells(content, name)
    header = [cell.strip() for cell in rows[0]]
    dated = [row for row in rows[1:] if row and _is_day(row[0])]
    if not dated:
        raise TableError(f"{name} has no row that begins with a day; export it by day or month.")
    table = _complete(pd.DataFrame([line for row in dated for line in _of_row(header, row, name)]))
    is_machine = table["instance"] != ""
    is_tagged = (table[list(TAGS)] != "").any(axis=1)
    has_hours = is_machine & (table["instance_hours"] > 0)
    table["counts_as"] = np.select(
        [has_hours, is_machine | is_tagged], [MACHINE, UNSPLIT], default=OTHER
    )
    table["instance_hours"] = table["instance_hours"].where(has_hours, 0.0)
    days = sorted({row[0].strip()[:10] for row in dated})
    is_monthly = all(day.endswith("-01") for day in days)
    ends = month_end(days[-1]) if is_monthly else days[-1]
    return BillLines(sum_lines(table), (COST_EXPLORER,), len(dated), days[0], ends)


def _of_row(header: list[str], row: list[str], name: str) -> Iterator[Json]:
    """The dollars of one day or month by value; its total where the report has no dimension."""
    total = bill_files().cost_explorer.total
    amounts = dict(zip(header, row, strict=False))
    day = row[0].strip()[:10]
    columns = [column for column in header[1:] if column.endswith(DOLLARS)]
    for column in [column for column in columns if column != total] or columns:
        value = column.removesuffix(DOLLARS).strip()
        hours = next(
            (amounts[f"{value}{mark}"] for mark in HOURS if f"{value}{mark}" in amounts), ""
        )
        yield {
            "day": day,
            "usd": _amount(amounts.get(column, ""), column, name),
            "instance_hours": _amount(hours, column, name),
            **(_of_value(header[0], value) if column != total else {}),
        }


def _of_value(dimension: str, value: str) -> dict[str, str]:
    """Return what a column of Cost Explorer stands for: a machine, place, market or tag."""
    layout = bill_files().cost_explorer
    if value in layout.no_value or value.lower().startswith("no tag key"):
        return {}
    field = layout.dimensions.get(dimension.lower(), "")
    if field == "usage_type":
        usage = usage_of(value)
        return {"instance": usage.instance, "market": usage.market}
    if field == "market":
        return {"market": layout.markets.get(value, "")}
    if field:
        return {field: value.removeprefix("ml.")}
    tag = tag_of(dimension)
    return {tag: value} if tag else {}


def typed_lines(table: pd.DataFrame, form: BillForm, name: str) -> BillLines:
    """Return the lines of a typed bill: USD, hours and their plan; raises TableError.

    `hours` are those of all instances together, `instance_hours` those of each. Without a day the
    lines are of today's period.
    """
    lines = []
    for place, row in enumerate(table.to_dict("records"), start=2):
        where = f"{name}, line {place}"
        said = {field: str(row[column]).strip() for field, column in form.fields.items()}
        hours = _amount(said.get("quantity", ""), "hours", where)
        if hours < 0:
            raise TableError(f"{where}: hours are {hours:g}, which is below 0; correct them.")
        is_each = form.fields.get("quantity") == "instance_hours"
        lines.append(
            {
                "day": _typed_day(said.get("starts", ""), where),
                "usd": _amount(said["cost"], "usd", where),
                "instance_hours": hours if is_each else 0.0,
                "wall_hours": 0.0 if is_each else hours,
                "counts_as": MACHINE if hours else UNSPLIT,
                **{field: said.get(field, "") for field in ("instance", "region", "market")},
                **{tag: str(row[column]).strip() for column, tag in form.tag_columns.items()},
            }
        )
    if not lines:
        raise TableError(f"{name} has a first line and no other; give a line for each amount.")
    bill = sum_lines(_complete(pd.DataFrame(lines)))
    days = [str(day) for day in bill["day"] if day]
    first = min(days, default="")
    last = max(days, default="")
    return BillLines(bill, (form.name,), len(lines), first, last)


def typed_amount(usd: float, hours: float, plan: str) -> BillLines:
    """The dollars and hours that somebody typed for one plan; hours of all instances together."""
    line = {"usd": usd, "wall_hours": hours, "plan": plan}
    line["counts_as"] = MACHINE if hours else UNSPLIT
    return BillLines(_complete(pd.DataFrame([line])), ("typed dollars and hours",), 1, "", "")


def _complete(lines: pd.DataFrame) -> pd.DataFrame:
    """Lines with every key and sum, empty and 0 where nothing is said."""
    for key in KEYS:
        lines[key] = lines[key].fillna("").astype(object) if key in lines else ""
    for name in SUMS:
        lines[name] = lines[name].fillna(0.0).astype(float) if name in lines else 0.0
    return lines[[*KEYS, *SUMS]]


def _cells(content: bytes, name: str) -> list[list[str]]:
    """Every cell of a small CSV; raises TableError."""
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    except (UnicodeDecodeError, csv.Error):
        raise TableError(f"{name} is not CSV in UTF-8; export it again.") from None
    if sum(map(len, rows)) > MOST_CELLS:
        raise TableError(f"{name} has more than {MOST_CELLS:,} cells; export fewer days.")
    return rows


def _is_day(cell: str) -> bool:
    try:
        date.fromisoformat(cell.strip()[:10])
    except ValueError:
        return False
    return True


def _typed_day(cell: str, where: str) -> str:
    """An ISO day, also of a month written as 2026-11; empty where nothing is typed."""
    day = f"{cell}-01" if len(cell) == len("2026-11") else cell[:10]
    if cell and not _is_day(day):
        raise TableError(f"{where}: '{quote_cell(cell)}' is not a date; write it as 2026-11-28.")
    return day


def _amount(cell: Any, column: str, where: str) -> float:
    """A number, 0 where the cell is empty; raises TableError."""
    text = str(cell).strip().removeprefix("$")
    if not text:
        return 0.0
    value = number(text)
    if not abs(value) < float("inf"):
        raise TableError(
            f"{where}: '{quote_cell(cell)}' in {quote_cell(column)} is not a number; correct it."
        )
    return value
