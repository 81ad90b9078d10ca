"""The classes of config_fields.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta, field

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Column,
    Day,
    Entry,
    Filled,
    FilledMap,
    Positive,
    Text,
    hint,
)

Words = dict[str, str]


class Call(Entry, kw_only=True):
    """A call in a Python script."""

    tool: str | None = None
    sets: Annotated[Words | None, hint("word -> word")] = None
    names: Annotated[Words | None, hint("word -> word")] = None
    of_inputs: Annotated[
        bool | None, hint("true: it shapes the inputs, and settles what no other call says")
    ] = None


class Rule(Entry, kw_only=True):
    """A condition on the parts of a config, and the value that a column takes."""

    column: Annotated[Column, hint("a scenario column or a part")]
    when: Annotated[dict[str, Text], hint("part -> its values, joined by |")]
    is_: Annotated[str, hint("the value, =part, or empty where it is left open")] = field(name="is")
    unused: Annotated[str | None, hint("the part that has no place beside this value")] = None


WordList = list[Text]


class Field(Entry, kw_only=True):
    """A field of a tool's config, and how it is read."""

    to: Column | None = None
    read: Annotated[
        Literal[
            "count",
            "number",
            "word",
            "words",
            "modules",
            "model",
            "document",
            "open",
            "steps",
            "plugins",
            "length_of_run",
            "attention_kinds",
            "slurm_gpus",
            "slurm_node_gpus",
            "slurm_card",
            "sum_of_counts",
            "components",
            "converters",
            "component",
            "fsdp",
            "adapter",
            "recompute",
            "accelerators",
            "infra",
            "instance",
            "degree",
            "allocation",
            "trt_quantization",
            "rollout_devices",
            "saved_modules",
            "lightning_strategy",
            "devices",
            "recipe_name",
            "tuning_kind",
            "quantization_kind",
            "device_list",
        ],
        hint("one of the readings that the head of the file lists"),
    ]
    words: Annotated[Words | None, hint("word -> word")] = None
    default: str | int | float | None = None
    default_before: Annotated[
        dict[str, str | int | float] | None, hint("a release -> the default of those before it")
    ] = None
    times: Annotated[Positive | None, hint("the column's value for a number of 1")] = None
    also: Annotated[WordList | None, hint("a list of words")] = None
    sets: Annotated[Words | None, hint("word -> word")] = None
    idle_at: Annotated[WordList | None, hint("a list of words")] = None
    changes: Annotated[
        Literal["memory", "less memory"] | None,
        hint("of an open field: it is known to change the memory, or to lower it"),
    ] = None


class Tool(Entry, kw_only=True):
    """A tool: its fields and how its files are recognized."""

    name: Text
    release: Annotated[Text, hint("the release whose names these are")]
    source: Annotated[Text, hint("where the fields are defined")]
    checked_on: Day
    work: Annotated[Literal["training", "inference"], hint("training or inference")]
    launches: bool | None = None
    like: Annotated[str | None, hint("an id of this file")] = None
    positional: str | None = None
    marks: Annotated[WordList, hint("a list of words")]
    commands: Annotated[
        Annotated[WordList, hint("a list of words")]
        | dict[str, Annotated[Words, hint("word -> word")]],
        hint("words of its commands, or a mapping from them to the parts that they settle"),
    ]
    rules: Annotated[WordList, hint("a list of words")]
    product: Annotated[WordList | None, hint("a list of words")] = None
    idle: Annotated[WordList | None, hint("a list of words")] = None
    short: Annotated[Words | None, hint("word -> word")] = None
    sets: Annotated[Words | None, hint("word -> word")] = None
    models: Annotated[Words | None, hint("word -> word")] = None
    fields: FilledMap[str, Field]
    trainer: Annotated[str | None, hint("the software of its runs by preference or reward")] = None
    objectives: Annotated[
        WordList | None, hint("those of such runs that are estimated; all without this")
    ] = None
    other_work: Annotated[
        Words | None, hint("a field -> the work, not training, that its presence names")
    ] = None


class Keys(Entry, kw_only=True):
    """Keys of manifests and job files in snake case, by what they state."""

    environments: Annotated[WordList, hint("mappings or lists of variables")]
    gpus: Annotated[WordList, hint("the number of GPUs")]
    nodes: Annotated[WordList, hint("the number of nodes of a job")]
    copies: Annotated[WordList, hint("the number of copies, or the least of them")]
    most_copies: Annotated[WordList, hint("the most copies")]
    spot: Annotated[WordList, hint("whether Spot is asked for")]
    model: Annotated[WordList, hint("the model")]
    engine: Annotated[WordList, hint("an image, or the name of an engine")]


class File(CatalogFile, kw_only=True):
    """Fields of training and serving tools, and what each means for a scenario."""

    longer: Annotated[
        dict[str, Annotated[Words, hint("word -> word")]],
        hint("a model -> the word of a later release's name -> its id"),
    ]
    copies: Annotated[Words, hint("a name -> the id of the model whose shapes it has")]
    lists: dict[
        str,
        dict[
            str,
            Annotated[dict[str, str], hint('part -> its value, for example {float8: "yes"}')],
        ],
    ]
    cards: dict[str, str]
    machines: Annotated[
        Words, hint("a machine of another cloud -> its card and how many, as H100-NVL:2")
    ]
    objectives: Annotated[
        Words, hint("a trainer's word for what it optimizes -> the objective, or empty")
    ]
    telling: Annotated[
        Words,
        hint(
            "a field of such trainers alone -> the objective, or empty where the field does not "
            "say which"
        ),
    ]
    sections: Annotated[
        dict[str, Words],
        hint("words in a section's name, joined by | -> its fields -> their names of a script"),
    ]
    calls: Annotated[
        dict[str, Call],
        hint("a call of a Python script -> the fields that its arguments are"),
    ]
    shipped: Annotated[
        dict[str, dict[str, Annotated[Words, hint("word -> word")]]],
        hint("the field that names a file that tools ship -> its name -> what it settles"),
    ]
    bases: Annotated[
        dict[
            str,
            Annotated[dict[str, str | int | float | bool | list[str]], hint("field -> its value")],
        ],
        hint("a file that recipes of SageMaker HyperPod name in their defaults -> what it sets"),
    ]
    rules: Annotated[
        FilledMap[str, Filled[Rule]],
        hint("name -> rules; the first that matches settles its column"),
    ]
    tools: Annotated[
        FilledMap[Annotated[str, Meta(pattern="^[a-z0-9_-]+$")], Tool], hint("id -> tool")
    ]
    engines: Annotated[
        Words, hint("a pattern of an image or an engine's name -> the command that it stands for")
    ]
    unread_engines: Annotated[
        Words,
        hint(
            "a pattern of an image, a command or a name -> the engine, which has no estimate here"
        ),
    ]
    keys: Keys
    prefixes: Annotated[list[str], hint("what variables and keys of an engine begin with")]
    classes: Annotated[
        Words, hint("a class of a Python script -> the tool whose fields its arguments are")
    ]
