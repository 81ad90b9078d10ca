"""Formats of bills (bill_files.yaml): their columns, and what their words mean."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from calc.catalogs.load import read_catalog, read_once
from calc.catalogs.schemas import bill_files as bills_catalog
from calc.catalogs.schemas.bill_files import BillFormat, LineKind
from calc.scenarios.problems import TableError, quote_cell

PREFIX = r"(?:[A-Z]{2,4}\d{0,2}-)?"  # of the region: USE1-, EUC1-, EU-
INSTANCE = r"(?:ml\.)?(?P<instance>[a-z][a-z0-9-]*\.[a-z0-9-]+)"
LONGEST_USAGE_TYPE = 200  # characters; a longer one is none of AWS's
TYPED = "typed"


class Usage(NamedTuple):
    """The machine of a usage type: EC2 type, how its hours count, and market."""

    instance: str
    counts_as: str
    market: str


class BillForm(NamedTuple):
    """A format as one file has it: its id, name, and the file's column of each field.

    tag_columns: column -> tag, of columns that hold one tag each; pairs: columns of key-value
    pairs.
    """

    id: str
    name: str
    fields: dict[str, str]
    kinds: dict[str, LineKind]
    tag_columns: dict[str, str]
    pairs: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """Every column of the file that is read."""
        return list(dict.fromkeys([*self.fields.values(), *self.tag_columns, *self.pairs]))


@read_once
def bill_files() -> bills_catalog.File:
    """Rules by which files of bills are read (catalogs/edited/bill_files.yaml)."""
    return read_catalog(bills_catalog.File)


def bill_form(header: Sequence[str], name: str) -> BillForm:
    """The format of a file by its column names; raises TableError where it is none of them."""
    if "model" in header:
        raise TableError(
            f"{name} has a column 'model', so it is a plan and not a bill; give the bill first, "
            f"and the plan as --plans."
        )
    for identity, entry in bill_files().formats.items():
        if _is_known(header, entry.known_by, identity):
            return _form(identity, entry, header)
    names = [entry.name for entry in bill_files().formats.values()]
    raise TableError(
        f"{name} is not a supported bill (its columns: {quote_cell(', '.join(header[:6]))}); "
        f"give one of: {', '.join(names)}, or a CSV of Cost Explorer."
    )


def _is_known(header: Sequence[str], known_by: list[str], identity: str) -> bool:
    """Recognize a format by one of its columns, FOCUS and typed bills by all of them."""
    found = [column in header for column in known_by]
    return any(found) if identity == "cost-and-usage-report" else all(found)


def _form(identity: str, entry: BillFormat, header: Sequence[str]) -> BillForm:
    """One form of a bill: the columns in which it states each field."""
    fields = {
        field: next(column for column in columns if column in header)
        for field, columns in entry.columns.items()
        if any(column in header for column in columns)
    }
    tag_columns = {
        column: tag
        for column in header
        for prefix in entry.tag_prefixes
        if column.startswith(prefix) and (tag := tag_of(column.removeprefix(prefix)))
    }
    pairs = tuple(column for column in entry.tags if column in header)
    return BillForm(identity, entry.name, fields, entry.kinds, tag_columns, pairs)


def tag_of(key: str) -> str:
    """The tag that a key means: plan, team, owner or project; empty for any other."""
    plain = key.rpartition("/")[2].lower()
    for prefix in ("user:", "user_"):
        plain = plain.removeprefix(prefix)
    return next((tag for tag, keys in bill_files().tags.items() if plain in keys), "")


def usage_of(usage_type: str) -> Usage:
    """The machine of a usage type such as USE1-BoxUsage:p5.48xlarge; empty for any other."""
    rules = bill_files().usage if len(usage_type) <= LONGEST_USAGE_TYPE else ()
    for rule in rules:
        if found := re.fullmatch(f"{PREFIX}(?:{rule.pattern}):{INSTANCE}", usage_type):
            return Usage(found["instance"], rule.counts_as, rule.market)
    return Usage("", "", "")
