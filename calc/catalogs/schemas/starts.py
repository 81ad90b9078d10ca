"""The classes of starts.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Entry, Positive, Text, hint


class StartPhase(Entry, kw_only=True):
    """A phase of a start."""

    value: Annotated[Positive, hint("a number above 0")]
    low: Annotated[Positive, hint("the fast end of its range")]
    high: Annotated[Positive, hint("the slow end of its range")]
    unit: Annotated[Literal["seconds"], hint("its unit")]
    meaning: Annotated[Text, hint("what it is")]
    basis: Annotated[
        Literal["published", "assumed"],
        hint("published: read in the source named; assumed: our own choice"),
    ]
    source: Annotated[Text, hint("where it comes from")]
    date: Annotated[
        str,
        Meta(pattern=r"^20\d\d-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?$"),
        hint("month or day of the source"),
    ]


class StartPhases(Entry, kw_only=True):
    """The phases, each under its name."""

    compile_training_seconds: StartPhase
    engine_experts_seconds: StartPhase
    engine_joined_experts_seconds: StartPhase
    engine_joined_seconds: StartPhase
    engine_seconds: StartPhase
    image_seconds: StartPhase
    joined_machines_seconds: StartPhase
    large_machine_seconds: StartPhase
    machine_seconds: StartPhase
    process_group_seconds: StartPhase
    uncounted_restart_seconds: StartPhase


class File(CatalogFile, kw_only=True):
    """Seconds from the request of machines to the first step or token."""

    starts: StartPhases
