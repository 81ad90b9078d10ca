"""The classes of vocabulary.yaml: its schema, its reader and its documentation."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Entry,
    Filled,
    FilledMap,
    Positive,
    Text,
    must_have,
    one_of,
)

LANGUAGES = ("en", "de", "fr", "es", "zh", "pt", "it", "nl", "pl", "ja", "ko")
Translations = FilledMap[Annotated[str, one_of(*LANGUAGES)], Text]


class Unit(Entry, kw_only=True):
    """A unit: its dimension, its factor, and the code of a currency that is converted."""

    dimension: Literal["DUR", "USD", "FOREIGN", "PCT", "BYTES"]
    factor: Positive
    currency: Text | None = None


class FieldSetting(Entry, kw_only=True):
    """Words that set columns of a job."""

    words: Text
    sets: FilledMap[str, str | int | float]


class PlaceWords(Entry, kw_only=True):
    """Words that name a market, regions or instances."""

    schema_rules: ClassVar = {"minProperties": 2}

    words: Text
    market: Text | None = None
    regions: Text | None = None
    block: Text | None = None
    family: Text | None = None


class Refusal(Entry, kw_only=True):
    """Words that are refused, and the sentence that says so."""

    words: Text
    sentence: Text


class Bounds(Entry, kw_only=True):
    """The least and the most value of a number."""

    least: float
    most: float


class Persons(Entry, kw_only=True):
    """The endings of nouns of people, and the nouns of things that end so too."""

    endings: Text
    things: Text


class File(CatalogFile, kw_only=True):
    """Vocabulary: the plain words that describe a job."""

    words: dict[str, Translations]
    scales: FilledMap[str, float]
    counts: FilledMap[str, float]
    units: dict[str, Unit]
    frames: Filled[Annotated[str, Meta(pattern="^[^=]+ = [a-z_ ]+$")]]
    evidence: Annotated[
        dict[str, FilledMap[str, float]],
        must_have("serve", "tune", "train"),
    ]
    sets: Filled[FieldSetting]
    places: Filled[PlaceWords]
    refusals: dict[str, Refusal]
    bounds: dict[str, Bounds]
    questions: dict[str, Text]
    reach: dict[str, Bounds]
    signals: dict[str, Translations]
    marking: Translations
    persons: Persons
    glued: Text
    silent: Text
