"""The classes of model_types.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Count,
    Entry,
    Filled,
    FilledMap,
    Flag,
    OnlyTrue,
    SnakeName,
    Text,
    TypeKey,
    hint,
)


class FieldLayout(Entry, kw_only=True):
    """Fields that the configs of several model types have."""

    layout: Annotated[
        Text | Filled[Text] | None, hint("one layout or several, for example [grouped, experts]")
    ] = None
    without: Filled[Text] | None = None
    fields: (
        FilledMap[
            SnakeName,
            Annotated[
                Text,
                hint(
                    "the names that configs have for it, the first filled one first, for example "
                    "n_layer num_hidden_layers"
                ),
            ],
        ]
        | None
    ) = None
    unread: Filled[Text] | None = None


class ModelType(FieldLayout, kw_only=True):
    """Rules for reading the config of one model_type."""

    like: Annotated[Text | None, hint("another type")] = None
    family: Annotated[Text | None, hint("a family of families.yaml")] = None
    traits: Annotated[
        FilledMap[str, Any] | None, hint("traits of families.yaml, for example {head_norm: 1}")
    ] = None
    usual: FilledMap[str, int] | None = None
    sets: FilledMap[str, float] | None = None
    may_be_left_out: Filled[Text] | None = None
    optional_experts: OnlyTrue | None = None
    window: Annotated[Text | None, hint("a field of the config, for example sliding_window")] = None
    window_switch: Annotated[Text | None, hint("a field of the config")] = None
    window_before: Annotated[Text | None, hint("a field of the config")] = None
    window_covers: Literal["both_sides", "half_behind"] | None = None
    two_way_window: Literal["encoder", "decoder"] | None = None
    layer_types: Literal["read", "by_rule"] | None = None
    windowed_layers: Annotated[
        Text | None, hint("an expression of a layer's index, for example (index + 1) % 4 != 0")
    ] = None
    dense_layers: Annotated[
        Text | None, hint("an expression of a layer's index, for example (index + 1) % 4 != 0")
    ] = None
    dense_listed: OnlyTrue | None = None
    mixed_layers: Annotated[
        Text | None, hint("an expression of a layer's index, for example (index + 1) % 4 != 0")
    ] = None
    layer_kinds: Annotated[
        Text | FilledMap[str, Any] | None, hint("a rule, or expressions: kind, and sizes")
    ] = None
    layer_sizes: Annotated[FilledMap[str, Any] | None, hint("expressions by size")] = None
    derive: Annotated[Text | FilledMap[str, Any] | None, hint("a rule, or expressions by size")] = (
        None
    )
    classifier_poolers: Annotated[
        Annotated[list[Flag], Meta(min_length=2, max_length=2)] | None,
        hint("of a classifier of sequences and one of tokens, for example [1, 0]"),
    ] = None
    headless_pooler: OnlyTrue | None = None
    classifier_keeps_head: OnlyTrue | None = None
    covered: Annotated[
        dict[str, Filled[bool | float | str]] | None,
        hint("field of the config -> the values that are covered"),
    ] = None


class SeveralParts(Entry, kw_only=True):
    """A model of several parts: its text part, towers and projector."""

    text: Text | None = None
    ties: Literal["text_part", "either", "never", "own_head"] | None = None
    tower: Text | None = None
    audio_tower: Text | None = None
    projector: Annotated[Text | None, hint("a rule")] = None


class Tower(Entry, kw_only=True):
    """Rules for counting the tower of a model_type."""

    count: Annotated[Text | None, hint("a rule")] = None
    block: Annotated[Text | None, hint("an id of blocks.yaml")] = None
    fixed_image: OnlyTrue | None = None
    gated: OnlyTrue | None = None
    frames_per_token: Count | None = None
    sizes: Annotated[
        FilledMap[str, Any] | None,
        hint(
            "expressions of sizes that differ from the usual ones, for example {tower_ffn: "
            "out_hidden_size}"
        ),
    ] = None


class NearestType(Entry, kw_only=True):
    """A covered type that represents one that is not, and under which condition."""

    type: Annotated[Text, hint("a type that is covered")]
    needs: Annotated[Text, hint("our fields that must be filled")]
    sets: Annotated[dict[str, int] | None, hint("our fields where a config is silent")] = None


class UsualNames(Entry, kw_only=True):
    """Fields by which a type that is not covered is read."""

    fields: FilledMap[
        str, Annotated[Text, hint("the names that configs have for it, the first filled one first")]
    ]
    writers: Annotated[
        list[Text], hint("types that generate text or sound, whatever fields their configs have")
    ]
    plain: Filled[NearestType]


class File(CatalogFile, kw_only=True):
    """Model types: how the config.json of each model_type is read."""

    layouts: Annotated[
        FilledMap[TypeKey, FieldLayout], hint("layout -> fields that several types have, sorted")
    ]
    model_types: Annotated[
        FilledMap[TypeKey, ModelType], hint("model_type -> how its config is read, sorted")
    ]
    aliases: Annotated[
        FilledMap[str, Text], hint("a name in configs -> the model_type under which it is read")
    ]
    pairs: Annotated[FilledMap[str, Text], hint("model_type of a pair -> its family")]
    parts: Annotated[
        FilledMap[TypeKey, SeveralParts],
        hint("model_type of several parts -> its text part, towers and projector, sorted"),
    ]
    projectors: Annotated[
        FilledMap[
            str, Annotated[Text | FilledMap[str, Any], hint("an expression, or several in order")]
        ],
        hint("projector -> its parameters"),
    ]
    counts: Annotated[
        FilledMap[
            str, Annotated[Text | FilledMap[str, Any], hint("an expression, or several in order")]
        ],
        hint("tower -> its parameters"),
    ]
    tower_sizes: Annotated[FilledMap[str, Text | int], hint("size -> its expression")]
    towers: Annotated[
        FilledMap[TypeKey, Tower], hint("model_type of a tower -> how it is counted, sorted")
    ]
    not_covered: Annotated[FilledMap[str, Text], hint("model_type -> why it is not covered")]
    not_covered_begins: Annotated[
        FilledMap[str, Text], hint("beginning of model_types -> why they are not covered")
    ]
    nearest: Annotated[FilledMap[str, Text], hint("field -> the nearest covered type")]
    sketches: Annotated[
        UsualNames, hint("how a type that is not covered is read by the usual names of its sizes")
    ]
    beside_sketches: Annotated[
        dict[str, FilledMap[str, Text]],
        hint(
            "type that is not covered -> part beside the plain models of its sizes -> its "
            "parameters"
        ),
    ]
    harmless_fields: Filled[Text]
    rule_fields: Filled[Text]
    tower_fields: Filled[Text]
