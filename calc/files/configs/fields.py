"""The meaning of each tool's fields for a scenario (catalogs/edited/config_fields.yaml)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache
from typing import Any

from calc.catalogs.load import FOLDER, read_document, read_once

INHERITED, ORIGIN = (
    ("like", "fields", "idle"),
    ("release", "source", "checked_on"),
)  # keys of an entry
LISTED = re.compile(r"\.\d+\..*")


@dataclass(frozen=True)
class Field:
    """A field: the column or intermediate part that it settles, and how its value is read."""

    name: str
    read: str  # count, number, word, words, modules, model, document, open, steps
    to: str = ""
    words: dict = field(default_factory=dict)  # word -> value
    default: Any = None  # the tool's, as a file would write it
    times: float = 1  # the column's value for a number of 1
    sets: dict = field(default_factory=dict)  # part -> value, settled by its presence
    idle_at: Sequence = ()  # values that change nothing
    changes: str = ""  # of an open field: memory, where it is known to change that


OF_MEMORY = re.compile(
    r"(?:^|[._])(?:peft_type|lora_r|lora_rank|use_peft|quantization|load_in_[48]bit|zero_stage|"
    r"cpu_offload|param_offload|optimizer_offload|gradient_checkpointing|activation_checkpointing|"
    r"modules_to_save|n_gpus_per_node|num_nodes|nnodes|tensor_parallel_size|pipeline_parallel_size)$"
)  # fields of any tool that decide memory


@dataclass(frozen=True)
class Tool:
    """A tool: its fields by every name, and how its files and commands are recognised."""

    id: str
    name: str
    work: str
    fields: dict[str, Field]  # by every name
    idle: tuple[str, ...]  # patterns of fields that affect neither memory nor money
    launches: bool = False  # its files say where a run goes, not what it does
    marks: Sequence[str] = ()
    commands: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # words -> the parts that they settle
    short: dict[str, str] = field(default_factory=dict)
    positional: str = ""
    sets: dict[str, str] = field(default_factory=dict)
    rules: Sequence[str] = ()
    product: Sequence[str] = ()  # parts whose product is the GPUs of the job
    models: dict[str, str] = field(
        default_factory=dict
    )  # the tool's names of models -> ids of the catalog
    trainer: str = ""  # its software where it trains by preference or reward
    other_work: dict[str, str] = field(
        default_factory=dict
    )  # field -> the work, not training, that it names

    def knows(self, name: str) -> bool:
        """Whether the field is listed, whatever it affects."""
        return name in self.fields or self.is_idle(name)

    def is_idle(self, name: str) -> bool:
        """Whether the field, or its list (datasets.0.path), affects neither memory nor money."""
        return name not in self.fields and _matches(self.idle, name)

    def hides(self, name: str) -> bool:
        """Whether a field that speaks of memory is idle only as one of a whole group (model.*)."""
        single = tuple(pattern for pattern in self.idle if not pattern.endswith("*"))
        return bool(OF_MEMORY.search(name)) and not _matches(single, name)


def _matches(patterns: tuple[str, ...], name: str) -> bool:
    """Whether a field, or its list, matches one of the patterns."""
    idle = _any_of(patterns)
    return bool(idle.match(name) or idle.match(LISTED.sub("", name)))


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """An expression for texts that match one of the patterns, none where there are none."""
    return re.compile("|".join(map(translate, patterns)) or "(?!)")


@read_once
def tools() -> dict[str, Tool]:
    """Every tool that is read, by id."""
    return {name: _tool(name, table("tools")) for name in table("tools")}


@read_once
def document() -> dict[str, Any]:
    """The catalog of fields, as it is written."""
    return read_document(FOLDER, "config_fields")


def table(name: str) -> dict[str, Any]:
    """A table of the catalog: tools, rules, copies, lists, cards, objectives, calls and others."""
    return document()[name]


def _tool(name: str, entries: dict[str, dict[str, Any]]) -> Tool:
    """A tool with the fields of the tools that it is like; its own override them."""
    lineage, entry = [entries[name]], entries[name]
    while "like" in entry:
        entry = entries[entry["like"]]
        lineage.insert(0, entry)
    fields: dict[str, Field] = {}
    for ancestor in lineage:
        for label, meaning in ancestor["fields"].items():
            made = Field(label, **{key: value for key, value in meaning.items() if key != "also"})
            inherited = [name for name, field in fields.items() if field.name == label]
            fields |= dict.fromkeys((label, *inherited, *meaning.get("also", ())), made)
    idle = tuple(pattern for ancestor in lineage for pattern in ancestor.get("idle", ()))
    details = {key: value for key, value in entries[name].items() if key not in INHERITED + ORIGIN}
    if not isinstance(details["commands"], dict):
        details["commands"] = {words: {} for words in details["commands"]}
    return Tool(name, fields=fields, idle=idle, **details)
