"""Parts that the classes of several catalogs share: bases, hints, kinds of text and numbers."""

from typing import Annotated, ClassVar, Literal, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import fields

from calc.mappings import Json

Name = TypeVar("Name")
Item = TypeVar("Item")


def hint(text: str) -> Meta:
    """Return a hint on what to write in a field. Errors quote it, and editors show it."""
    return Meta(description=text)


def one_of(*names: str) -> Meta:
    """Restrict the keys of a mapping to these names."""
    return Meta(extra_json_schema={"enum": list(names)})


def must_have(*names: str) -> Meta:
    """Require these keys of a mapping."""
    return Meta(extra_json_schema={"required": list(names)})


UNIQUE = Meta(extra_json_schema={"uniqueItems": True})

Text = Annotated[str, Meta(min_length=1)]
Day = Annotated[
    str,
    Meta(pattern=r"^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"),
    hint("a day, for example 2026-07-20"),
]
Key = Annotated[
    str,
    Meta(pattern="^[a-z0-9][a-z0-9-]*$"),
    hint("an id of lower-case letters, digits and hyphens"),
]
TypeKey = Annotated[
    str,
    Meta(pattern="^[a-z0-9][a-z0-9_-]*$"),
    hint("an id of lower-case letters, digits, hyphens and underscores"),
]
DottedKey = Annotated[
    str,
    Meta(pattern="^[a-z0-9][a-z0-9_.-]*$"),
    hint("an id of lower-case letters, digits, dots, hyphens and underscores"),
]
PathKey = Annotated[
    str,
    Meta(pattern="^[a-z0-9][a-z0-9_./-]*$"),
    hint("an id of lower-case letters, digits, dots, slashes, hyphens and underscores"),
]
SnakeName = Annotated[
    str, Meta(pattern="^[a-z_]+$"), hint("a name of lower-case letters and underscores")
]
Column = Annotated[
    str,
    Meta(pattern="^[a-z_0-9]+$"),
    hint("a column of lower-case letters, digits and underscores"),
]
Release = Annotated[str, Meta(pattern=r"^\d+(\.\d+)*$")]

Count = Annotated[int, Meta(ge=1)]
WholeNumber = Annotated[int, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
AtLeastOne = Annotated[float, Meta(ge=1)]
BytesEach = Annotated[float, Meta(ge=0, le=8)]  # per element of a tensor
BytesPerLogit = Annotated[float, Meta(ge=0, le=64)]
Share = Annotated[float, Meta(gt=0, le=1)]
Ratio = Annotated[float, Meta(ge=0, le=1)]

Flag = Literal[0, 1]
OnlyTrue = Annotated[
    bool, Meta(extra_json_schema={"const": True}), hint("true, or leave the field out")
]
Confidence = Literal["calibrated", "derived", "assumed", "extrapolated"]

Filled = Annotated[list[Item], Meta(min_length=1)]  # a list of at least one item
FilledSet = Annotated[list[Item], Meta(min_length=1), UNIQUE]  # no item appears twice
FilledMap = Annotated[dict[Name, Item], Meta(min_length=1)]  # a mapping with at least one entry

SourceKey = Annotated[Key, hint("a key of sources, in lower-case letters, digits and hyphens")]
SourceKeys = Annotated[
    SourceKey | Filled[SourceKey], hint("a key of sources, or a list of such keys")
]


class Entry(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mapping with fixed fields; a field that is None was left out of the file."""

    schema_rules: ClassVar[Json] = {}  # JSON Schema of what holds between fields


class CatalogFile(Entry, kw_only=True):
    """A catalog's whole file: its entries, where they come from, and when they were checked."""

    source: Annotated[Text, hint("where the entries come from, in words")]
    checked_on: Annotated[
        Day, hint("the day of the last comparison with the sources, for example 2026-07-20")
    ]
    notes: Annotated[list[Text] | None, hint("sentences that hold for the whole file")] = None


class SourcedFile(CatalogFile, kw_only=True):
    """A file whose entries name their sources by keys."""

    sources: Annotated[dict[Key, Text], hint("key -> the source in words")]


def required_fields(entry: type[Entry]) -> list[str]:
    """Return the names of the fields that an entry must have."""
    return [field.encode_name for field in fields(entry) if field.required]


def given_fields(entry: Entry) -> Json:
    """Return the fields of an entry that its file gives, by name."""
    return {
        name: value
        for name in entry.__struct_fields__
        if (value := getattr(entry, name)) is not None
    }
