"""The classes of bill_files.yaml: its schema, its reader and its documentation."""

from typing import Literal

from calc.catalogs.schemas.kinds import CatalogFile, Entry, Filled, FilledMap, Text


class LineKind(Entry, kw_only=True):
    """Lines of one kind: how they are recognized and the columns that add up to their cost."""

    add: list[Text]
    subtract: list[Text] | None = None
    counts_as: Literal["machine", "idle", "other", "discount", "credit", "tax"]
    market: Text | None = None
    unless: Text | None = None
    unless_filled: Text | None = None


class BillFormat(Entry, kw_only=True):
    """One format of a bill's file: its columns and its kinds of lines."""

    name: Text
    source: Text
    known_by: Filled[Text]
    columns: dict[str, Filled[Text]]
    tags: list[str]
    tag_prefixes: list[str]
    kinds: dict[str, LineKind]


class UsageType(Entry, kw_only=True):
    """A pattern of usage types, and the market that it names."""

    pattern: Text
    counts_as: Literal["machine", "idle", "other", "discount", "credit", "tax"]
    market: Text


class CostExplorer(Entry, kw_only=True):
    """The CSV that Cost Explorer exports."""

    source: Text
    total: Text
    no_value: list[str]
    dimensions: dict[str, Text]
    markets: dict[str, Text]


class File(CatalogFile, kw_only=True):
    """Formats of bills: Cost and Usage Reports, FOCUS exports and Cost Explorer's CSV."""

    formats: FilledMap[str, BillFormat]
    pricing_markets: dict[str, Text]
    unused_words: list[str]
    hour_units: list[str]
    usage: Filled[UsageType]
    tags: dict[str, Filled[Text]]
    cost_explorer: CostExplorer
