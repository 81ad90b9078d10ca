"""The classes of memory_logs.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from msgspec import field

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Entry,
    Filled,
    FilledMap,
    Positive,
    Text,
    hint,
    must_have,
    one_of,
)

PHASES = ("generation", "scoring", "update")


class PrintedFigure(Entry, kw_only=True):
    """A figure that a log prints, and the pattern that finds it."""

    name: Text
    pattern: Text
    each: Positive | None = None


class MemorySummary(Entry, kw_only=True):
    """The table that torch.cuda.memory_summary prints."""

    rows: Annotated[FilledMap[str, Text], hint("row of the summary -> figure")]
    counts: Annotated[FilledMap[str, Text], hint("figure -> pattern")]


class MemoryPart(Entry, kw_only=True):
    """A part of memory that an error message names."""

    name: Text
    meaning: Text


class SilentFailure(Entry, kw_only=True):
    """A failure that gives no size: its words, or a regular expression, and which cures help."""

    cures: Text
    meaning: Text
    words: list[Text] = field(default_factory=list)
    pattern: Text | None = None


class File(CatalogFile, kw_only=True):
    """Lines that torch, serving engines and drivers print about memory."""

    figures: Filled[PrintedFigure]
    summary: MemorySummary
    stats: Annotated[FilledMap[str, Text], hint("key -> figure")]
    phases: Annotated[
        dict[Annotated[str, one_of(*PHASES)], Filled[Text]],
        must_have(*PHASES),
        hint("phase of a step -> words of a trace"),
    ]
    silent: Filled[SilentFailure]
    unnamed: SilentFailure
    releases: Annotated[FilledMap[str, Text], hint("words -> releases")]
    parts: Annotated[FilledMap[str, MemoryPart], hint("figure -> its name and what it counts")]
    tensors: Annotated[
        dict[str, Filled[Text]], hint("what was being made -> words of a trace that name it")
    ]
    stems: Annotated[dict[str, Text], hint("what was being made -> pattern of its calls")]
    moments: Annotated[dict[str, Filled[Text]], hint("when it failed -> words of a trace")]
    stages: Annotated[dict[str, Filled[Text]], hint("stage of an engine's start -> its words")]
    programs: Annotated[dict[str, Filled[Text]], hint("what ran -> words of a trace")]
    cures: Annotated[
        dict[str, Filled[Text]], hint("what ran out -> what helps, the gentlest first")
    ]
