"""The meaning of each tool's fields for a scenario (catalogs/edited/config_fields.yaml)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import cache
from typing import Any

from calc.catalogs.load import read_catalog, read_once
from calc.catalogs.schemas import config_fields
from calc.catalogs.schemas.kinds import given_fields
from calc.scenarios.releases import numbers_of_release

NOT_OF_TOOL = ("like", "fields", "idle", "commands", "release", "source", "checked_on")
LISTED = re.compile(r"\.\d+\..*")


@dataclass(frozen=True)
class Field:
    """A field: the column or intermediate part that it settles, and how its value is read."""

    name: str
    read: str  # count, number, word, words, modules, model, document, open, steps
    to: str = ""
    words: dict = field(default_factory=dict)  # word -> value
    default: Any = None  # the tool's, as a file would write it
    default_before: dict = field(default_factory=dict)  # release -> default of those before it
    times: float = 1  # the column's value for a number of 1
    sets: dict = field(default_factory=dict)  # part -> value, settled by its presence
    idle_at: Sequence = ()  # values that change nothing
    changes: str = ""  # of an open field: memory, where it is known to change that

    def default_of(self, release: str) -> Any:
        """The tool's default in a release; that of the newest one where none is named."""
        numbers = numbers_of_release(release)
        later = [one for one in self.default_before if () < numbers < numbers_of_release(one)]
        return self.default_before[min(later, key=numbers_of_release)] if later else self.default


# Fields of any tool that decide memory: methods, batches, lengths and degrees.
OF_MEMORY = re.compile(
    r"(?:^|[._])(?:peft_type|lora_r|lora_rank|use_peft|quantization|load_in_[48]bit|zero_stage|"
    r"cpu_offload|param_offload|optimizer_offload|gradient_checkpointing|activation_checkpointing|"
    r"activation_offloading|mixed_precision|modules_to_save|target_parameters|"
    r"n_gpus_per_node|num_nodes|nnodes|gpu_memory_utilization|mem_fraction_static|kv_cache_dtype|"
    r"(?:tensor|pipeline|expert|context|sequence|data)_(?:model_)?parallel_size|"
    r"(?:micro|mini|global)_batch_size|gradient_accumulation_steps|"
    r"max_(?:model_len|num_seqs|num_batched_tokens|prompt_length|response_length|new_tokens)|"
    r"\w*max_token_len_per_gpu|optimizer_cpu_offload|"
    r"\w*(?:batch_size|bsz|batch)_per_(?:gpu|device))$"
)


@dataclass(frozen=True)
class Tool:
    """A tool: its fields by every name, and how its files and commands are recognized."""

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
    objectives: Sequence[str] = ()  # those of such runs that are estimated; empty: all
    other_work: dict[str, str] = field(
        default_factory=dict
    )  # field -> the work, not training, that it names

    def knows(self, name: str) -> bool:
        """Return whether the field is listed, whatever it affects."""
        return name in self.fields or self.is_idle(name)

    def is_idle(self, name: str) -> bool:
        """Return whether the field, or its list (as in datasets.0.path), has no effect."""
        return name not in self.fields and _matches(self.idle, name)

    def hides(self, name: str) -> bool:
        """Return whether a field about memory is idle only as part of a group (model.*)."""
        single = tuple(pattern for pattern in self.idle if not pattern.endswith("*"))
        return bool(OF_MEMORY.search(name)) and not _matches(single, name)


def _matches(patterns: tuple[str, ...], name: str) -> bool:
    """Return whether a field, or its list, matches one of the patterns."""
    idle = _any_of(patterns)
    return bool(idle.match(name) or idle.match(LISTED.sub("", name)))


@cache
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """An expression for texts that match one of the patterns, none where there are none."""
    return re.compile("|".join(map(translate, patterns)) or "(?!)")


@read_once
def field_catalog() -> config_fields.File:
    """Return the catalog of fields."""
    return read_catalog(config_fields.File)


@read_once
def tools() -> dict[str, Tool]:
    """Return every tool whose files are read, by id."""
    entries = field_catalog().tools
    return {name: _tool(name, entries) for name in entries}


def _tool(name: str, entries: dict[str, config_fields.Tool]) -> Tool:
    """A tool with the fields of the tools that it is like; its own override them."""
    lineage = _lineage(entries[name], entries)
    fields: dict[str, Field] = {}
    for ancestor in lineage:
        for label, meaning in ancestor.fields.items():
            traits = {key: value for key, value in given_fields(meaning).items() if key != "also"}
            inherited = [name for name, field in fields.items() if field.name == label]
            names = (label, *inherited, *(meaning.also or ()))
            fields |= dict.fromkeys(names, Field(label, **traits))
    idle = tuple(pattern for ancestor in lineage for pattern in ancestor.idle or ())
    commands = entries[name].commands
    traits = {
        key: value for key, value in given_fields(entries[name]).items() if key not in NOT_OF_TOOL
    }
    return Tool(
        name,
        fields=fields,
        idle=idle,
        commands=commands if isinstance(commands, dict) else {words: {} for words in commands},
        **traits,
    )


def _lineage(
    entry: config_fields.Tool, entries: dict[str, config_fields.Tool]
) -> list[config_fields.Tool]:
    """The tools that a tool is like, the furthest first, and the tool itself last."""
    return [*(_lineage(entries[entry.like], entries) if entry.like else ()), entry]
