"""The classes of launch_files.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Column, Entry, Filled, FilledMap, Text, hint
from calc.mappings import Json

Conditions = dict[str, Text]


class TextBlock(Entry, kw_only=True):
    """Text of a file, and the condition under which the file has it."""

    text: Annotated[Text, hint("{name} is a column or a derived value")]
    when: Annotated[Conditions | None, hint("column -> its values, joined by |")] = None


class FieldSpec(Entry, kw_only=True):
    """A field of a tool's config, filled by one of column, is, script or values."""

    schema_rules: ClassVar = {
        "oneOf": [
            {"required": ["column"]},
            {"required": ["is"]},
            {"required": ["script"]},
            {"required": ["values"]},
        ]
    }

    field: Text
    column: Annotated[Column | None, hint("a scenario column or a derived value")] = None
    words: Annotated[dict[str, str] | None, hint("value -> word")] = None
    is_: str | None = msgspec.field(default=None, name="is")
    when: Annotated[Conditions | None, hint("column -> its values, joined by |")] = None
    script: Annotated[str | None, hint("a word of a shell as it stands")] = None
    values: Annotated[
        list[Any] | Json | int | float | None,
        hint("a list, a mapping or a number of a structured file"),
    ] = None


FieldSpecs = Filled[FieldSpec]


class KitFile(Entry, kw_only=True):
    """A config file of a kit."""

    schema_rules: ClassVar = {"oneOf": [{"required": ["form", "fields"]}, {"required": ["of"]}]}

    form: Annotated[Literal["json", "yaml", "toml"] | None, hint("how the file is written")] = None
    fields: FieldSpecs | None = None
    of: Annotated[str | None, hint("the kit that has the same file")] = None


class Kit(Entry, kw_only=True):
    """The files that start a run with one tool."""

    name: Text
    software: Annotated[Filled[str], hint("values of implementation")]
    when: Annotated[Conditions, hint("column -> its values, joined by |")]
    about: Annotated[Text | Filled[TextBlock], hint("what is still to be filled in")]
    command: Annotated[Text, hint("what starts it, on every node; {name} is a derived value")]
    files: FilledMap[str, KitFile] | None = None
    flags: Annotated[FieldSpecs | None, hint("fields written as flags of the command")] = None
    resume: Annotated[Text | None, hint("the file that names the checkpoint to go on from")] = None
    settings: Annotated[
        FieldSpecs | None, hint("fields written as a.field=value after the command")
    ] = None
    packages: Annotated[
        Text | Filled[TextBlock], hint("the releases that setup.sh installs, in one line")
    ]
    setup: Annotated[Text | None, hint("further lines of setup.sh")] = None
    before: Annotated[Text | None, hint("lines before the command")] = None
    saves: Annotated[Literal["yes"] | None, hint("it saves when it is asked to end")] = None


class SkyPilotTask(Entry, kw_only=True):
    """The task that starts the run with SkyPilot."""

    comments: list[TextBlock]
    fields: FieldSpecs


class File(CatalogFile, kw_only=True):
    """Launch files: how a scenario is written for the tool that runs it."""

    torchtune_recipes: Annotated[Filled[str], hint("the configs that torchtune ships")]
    places: Annotated[
        FilledMap[str, Filled[TextBlock]], hint("file -> its blocks of text, in order")
    ]
    check: Annotated[Text, hint("the workflow that checks the plan; {limits} are the gate's")]
    kits: Annotated[
        FilledMap[Annotated[str, Meta(pattern="^[a-z0-9_-]+$")], Kit],
        hint("id -> the files of one tool"),
    ]
    sky: Annotated[SkyPilotTask, hint("the SkyPilot task")]
