"""The classes of starts.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Entry, Positive, Text, hint, one_of


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


class File(CatalogFile, kw_only=True):
    """Seconds from the request of machines to the first step or token."""

    starts: Annotated[
        dict[
            Annotated[
                str,
                one_of(
                    "compile_training_seconds",
                    "engine_experts_seconds",
                    "engine_joined_experts_seconds",
                    "engine_joined_seconds",
                    "engine_seconds",
                    "image_seconds",
                    "joined_machines_seconds",
                    "large_machine_seconds",
                    "machine_seconds",
                    "process_group_seconds",
                    "uncounted_restart_seconds",
                ),
            ],
            StartPhase,
        ],
        Meta(min_length=1),
        Meta(
            extra_json_schema={
                "required": [
                    "compile_training_seconds",
                    "engine_experts_seconds",
                    "engine_joined_experts_seconds",
                    "engine_joined_seconds",
                    "engine_seconds",
                    "image_seconds",
                    "joined_machines_seconds",
                    "large_machine_seconds",
                    "machine_seconds",
                    "process_group_seconds",
                    "uncounted_restart_seconds",
                ]
            }
        ),
    ]
