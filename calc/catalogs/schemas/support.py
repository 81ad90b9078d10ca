"""The classes of support.yaml: its schema, its reader and its documentation."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Count,
    Day,
    Entry,
    FilledMap,
    FilledSet,
    OnlyTrue,
    Text,
    hint,
)


class SupportRule(Entry, kw_only=True):
    """A rule: values of one choice that a software refuses, emulates or runs."""

    schema_rules: ClassVar = {
        "if": {"properties": {"verdict": {"const": "runs"}}, "required": ["verdict"]},
        "then": {"properties": {"speed_source": False}},
        "else": {
            "required": ["effect", "instead"],
            "properties": {
                "effect": {
                    "type": "string",
                    "minLength": 1,
                    "description": "what happens, a clause without a full stop",
                },
                "instead": {"type": "string", "minLength": 1, "description": "what to choose"},
            },
        },
    }

    software: Annotated[Text, hint("an implementation, or any")]
    work: Annotated[Literal["any", "training", "inference"], hint("any, training or inference")]
    what: Annotated[
        Literal[
            "loading",
            "host",
            "experts",
            "stages",
            "sequence",
            "precision",
            "kv_precision",
            "attention",
            "compile",
        ],
        hint("the choice that the rule is about"),
    ]
    values: Annotated[
        FilledSet[Text],
        hint(
            "the values of that choice, for example [fp16, bf16]; families of instances for host; "
            "divided or whole for experts, stages and sequence, which is short if it is divided "
            "below 16,000 tokens"
        ),
    ]
    min_compute_capability: Annotated[
        Annotated[str, Meta(pattern=r"^(0|[1-9]\d*)\.\d+$")] | None,
        hint("the lowest compute capability, for example '8.0'"),
    ] = None
    max_compute_capability: Annotated[
        Annotated[str, Meta(pattern=r"^(0|[1-9]\d*)\.\d+$")] | None,
        hint("the highest compute capability, for example '8.9'"),
    ] = None
    host_architecture: Annotated[
        Literal["x86_64", "arm64"] | None, hint("x86_64 or arm64; left out it is both")
    ] = None
    gpus_above: Annotated[Count | None, hint("the rule counts with more GPUs than this")] = None
    replica_gpus_above: Annotated[
        Count | None, hint("the rule counts where more GPUs than this share a model replica")
    ] = None
    head_size_above: Annotated[
        Count | None, hint("the rule counts with wider attention heads than this")
    ] = None
    latent_cache: Annotated[
        OnlyTrue | None, hint("true: the rule counts where the cache is latent (MLA)")
    ] = None
    model_types: Annotated[
        FilledSet[Text] | None, hint("the rule counts for these model_types of Hugging Face")
    ] = None
    precisions: Annotated[FilledSet[Text] | None, hint("the rule counts in these precisions")] = (
        None
    )
    verdict: Annotated[
        Literal["refuses", "unknown", "emulated", "runs"],
        hint("refuses, unknown, emulated or runs"),
    ]
    effect: Annotated[Text | None, hint("what happens, a clause without a full stop")] = None
    needs: Annotated[
        Text | None, hint("the package without which it does not start or is widened")
    ] = None
    instead: Annotated[Text | None, hint("what to choose")] = None
    since_version: Annotated[Text | None, hint("the release from which on")] = None
    speed_source: Annotated[Text | None, hint("why the estimated times are those of what runs")] = (
        None
    )
    source: Annotated[Text, hint("file and version that was read")]
    checked_on: Annotated[Day, hint("the day on which the source was read, for example 2026-11-21")]
    confidence: Annotated[Literal["high", "medium", "low"], hint("high, medium or low")]


class File(CatalogFile, kw_only=True):
    """Support rules: which software, formats and kernels run on which cards."""

    support: Annotated[
        FilledMap[Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9.-]*$")], SupportRule],
        hint("id -> rule, sorted by id"),
    ]
