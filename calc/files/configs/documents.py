"""The tool that a config or a command belongs to, with the fields that the tool reads."""

import contextlib
import re
from pathlib import PurePath

from calc.files.configs.fields import Tool, tools
from calc.files.configs.inside.facts import facts_of
from calc.files.configs.inside.kinds import foreign_machine, started_engine, unread_kind
from calc.files.configs.inside.machine_facts import machine_in_words
from calc.files.configs.inside.pages import blocks_of, is_page, prose_of
from calc.files.configs.inside.programs import Program, programs_of
from calc.files.configs.inside.services import (
    MACHINE_FACTS,
    machine_choices,
    parts_of_machines,
    services_of,
)
from calc.files.configs.inside.trees import file_form, python_of_notebook, tree_of
from calc.files.configs.inside.units import as_script
from calc.files.configs.own_scripts import ANY_TRAINER, LIKE_ANY, adapts_otherwise
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.sections import fields_of_sections
from calc.files.configs.texts import flat, read_mapping, resolve_references
from calc.files.configs.tool_commands import (
    CONFIG,
    LAUNCH,
    Reading,
    best_tool,
    runs_of_script,
)
from calc.files.configs.training_scripts import training_script
from calc.mappings import Json

PARAMETERS = "parameters."  # where mcli keeps a training config
WITHIN = "deepspeed."  # fields of DeepSpeed written into a trainer's file
MOST_RUNS = 8  # of a page
HYPERPARAMETERS = "hyperparameters."  # of an estimator of SageMaker's
SCRIPTS = ("Python", "notebook")
SHELL_FORMS = ("command", "Makefile", "justfile", "unit")
DOCUMENT = re.compile(r"^---(?:[ \t].*)?$", re.M)  # between the documents of a YAML text
CONTENT = re.compile(r"^[ \t]*[^#\s]", re.M)
BASE = re.compile(r"^(?:defaults|base_config):[ \t]*['\"]?([^\s'\"\[]+)", re.M)
OF_LOOPS = ("lightning",)  # trainers whose fields are like those of a script
STARTS = re.compile(r"^(?:apiVersion|services|image|cells):", re.M)  # of files that start programs
OVERRIDES = "it overrides some fields of {}, which is not here. Add that file with +."
TOO_MANY = "it holds {:,} configs, and at most {} are read at once. Give those of your runs alone."


def base_of(text: str, others: dict[str, str]) -> str:
    """The file among the others whose fields a config takes over and overrides, or empty."""
    named = BASE.search(text)
    return next(
        (other for other in others if named and PurePath(other).name == PurePath(named[1]).name), ""
    )


def readings_of(text: str, file: str, base: tuple[str, str] | None = None) -> list[Reading]:
    """The readings of the first run of a text; raises ConfigProblem."""
    return several_readings(text, file, base)[0]


def several_readings(
    text: str, file: str, base: tuple[str, str] | None = None
) -> list[list[Reading]]:
    """The readings of each run of a text, at least one; raises ConfigProblem.

    A config is one reading, a script one reading per command. A file that starts several services,
    or leaves a choice of machines, has several runs. `base`: text and name of the file whose fields
    this one overrides.
    """
    if is_page(file):
        if runs := _runs_of_page(text, file):
            return runs
        raise ConfigProblem(f"{file}: {unread_kind({}, 'page', text, [])}")
    form = file_form(text, file)
    text = as_script(text, form)
    if form in SHELL_FORMS:
        return runs_of_script(text, file) or services_of(text, file)
    if form in SCRIPTS:
        return _runs_of_script(text, file, form)
    if form not in ("YAML", "JSON", "TOML"):
        return services_of(text, file)
    try:
        fields = _fields_of(text, file, form, base)
    except ConfigProblem:
        if base or form != "YAML":
            raise
        return services_of(text, file)
    tool = _tool_of(fields)
    if tool is None:
        if not base and (missing := BASE.search(text)):
            raise ConfigProblem(f"{file}: {OVERRIDES.format(missing[1])}")
        return _runs_of_sections(fields, text, file) or services_of(text, file)
    parts = [part for part in DOCUMENT.split(text) if CONTENT.search(part)]
    if not base and form == "YAML" and len(parts) > 1:  # a config in each of its documents
        if len(parts) > MOST_RUNS:
            raise ConfigProblem(f"{file}: {TOO_MANY.format(len(parts), MOST_RUNS)}")
        return [run for part in parts for run in several_readings(part, file)]
    if tool.id == TASK:
        return _runs_of_task(text, file, fields)
    return _on_machines(fields, text, file, _trains(tool, fields, file))


def _tool_of(fields: Json) -> Tool | None:
    """The tool of a config; a script of one's own where LoRA has fields that TRL does not have."""
    tool = best_tool(fields)
    is_own = tool is not None and tool.id in LIKE_ANY and adapts_otherwise(fields)
    return tools()[ANY_TRAINER] if is_own else tool


def _runs_of_page(text: str, file: str) -> list[list[Reading]]:
    """The runs of the blocks of a page that are read, each once; empty where none is."""
    runs: dict[str, list[Reading]] = {}
    read: set[str] = set()
    for block, name in blocks_of(text, file):
        with contextlib.suppress(ConfigProblem):
            for readings in several_readings(block, name):
                fields = [(one.tool.id, one.fields) for one in readings if one.tool and one.fields]
                if any(one.tool and not one.tool.launches for one in readings):
                    runs.setdefault(repr(fields), readings)
                    read.add(name)
    beside = (block for block, name in blocks_of(text, file) if name not in read)
    coded = machine_in_words([line for block in beside for line in block.split("\n")])
    said = machine_in_words(prose_of(text))
    if not {"gpu", "instance"} & said.keys():
        said = {name: value for name, value in coded.items() if name != "gpu"} | said
    return [
        [*readings, Reading(file, None, {}, LAUNCH, _parts_left(readings, said))]
        for readings in list(runs.values())[:MOST_RUNS]
    ]


def _parts_left(readings: list[Reading], said: Json) -> Json:
    """Return what a page says of machine and region where the blocks of a run leave it open."""
    known = {name for reading in readings for name in reading.parts}
    left = () if {"gpu", "instance"} & known else ("gpu", "instance")
    left = left if {"region", "regions_named"} & known else (*left, "region", "regions_named")
    return {name: value for name, value in said.items() if name in left}


def _runs_of_task(text: str, file: str, fields: Json) -> list[list[Reading]]:
    """The runs of a SkyPilot task: of its commands, on each of the machines that it may take."""
    task = tools()[TASK]
    try:
        services = services_of(text, file)
    except ConfigProblem:
        if started_engine(text) or foreign_machine(text):
            raise
        parts = {"spot": True} if fields.get("resources.use_spot") else {}
        return [[Reading(file, task, fields, LAUNCH, parts)]]  # a launcher of other files
    placement_fields = (*MACHINES, *(name for name in fields if name.startswith(CHOICES)))
    rest = {name: value for name, value in fields.items() if name not in placement_fields}
    return [[*readings, Reading(file, task, rest, LAUNCH, {})] for readings in services]


TASK = "skypilot"  # whose files hold commands, and machines to choose among
CHOICES = ("resources.any_of.", "resources.ordered.", "resources.accelerators.")
MACHINES = ("run", "num_nodes", "resources.accelerators", "resources.instance_type")


def _fields_of(text: str, file: str, form: str, base: tuple[str, str] | None) -> Json:
    """The dotted fields of a config, over those of its base."""
    written = [
        flat(read_mapping(*part, form), part[1])
        for part in (*([base] if base else []), (text, file))
    ]
    fields = resolve_references(
        {name.removeprefix(PARAMETERS): value for part in written for name, value in part.items()},
        file,
    )
    taken = ("defaults", "base_config") if base else ()
    return {name: value for name, value in fields.items() if name not in taken}


def _runs_of_sections(fields: Json, text: str, file: str) -> list[list[Reading]]:
    """The runs of a config of one's own trainer, one for each machine; empty where it is none."""
    tree = _untagged(tree_of(text, file))
    if STARTS.search(text) or any(map(_is_of_tool, programs_of(tree))):
        return []
    facts = facts_of(tree)
    machine = {".".join(fact.path) for fact in facts if fact.kind in MACHINE_FACTS}
    rest = {name: value for name, value in fields.items() if name not in machine}
    if not (own := fields_of_sections(rest)):
        return []
    tool = next((tools()[name] for name in OF_LOOPS if own.keys() & set(tools()[name].marks)), None)
    return _of_machines(_of_config(own, file, tool or tools()[ANY_TRAINER]), tree, file)


def _untagged(tree: Json) -> Json:
    """A tree without the tags of a run, which name what it is about."""
    return {
        key: _untagged(value) if isinstance(value, dict) else value
        for key, value in tree.items()
        if key != "tags"
    }


def _is_of_tool(program: Program) -> bool:
    """Return whether a part of a file starts a command, or is the config of a tool that is read."""
    return program.tool is None or program.tool.id not in (ANY_TRAINER, *LIKE_ANY, *OF_LOOPS)


def _of_machines(config: list[Reading], tree: Json, file: str) -> list[list[Reading]]:
    """A run on each of the machines that its file names."""
    machines = machine_choices(tree, file)
    return [[*config, *readings] for readings in machines] or [config]


def _of_config(fields: Json, file: str, tool: Tool) -> list[Reading]:
    """A config as the reading of its tool, and of DeepSpeed where its fields are inside."""
    inner = (
        {name: value for name, value in fields.items() if name.startswith(WITHIN)}
        if "deepspeed" in tool.fields
        else {}
    )
    own = {name: value for name, value in fields.items() if name not in inner}
    reading = Reading(file, tool, own, LAUNCH if tool.launches else CONFIG, {})
    deepspeed = {name.removeprefix(WITHIN): value for name, value in inner.items()}
    return [
        reading,
        *([Reading(file, tools()["deepspeed"], deepspeed, LAUNCH, {})] if inner else []),
    ]


def _on_machines(fields: Json, text: str, file: str, tool: Tool) -> list[list[Reading]]:
    """A config on each of the instances that its file names beside the fields of its tool."""
    named = {
        ".".join(fact.path): fact
        for fact in facts_of(tree_of(text, file))
        if fact.kind in ("instance", "card") and not tool.launches
    }
    names = [name for name in named if name in fields and name not in tool.fields]
    config = _of_config({k: v for k, v in fields.items() if k not in names}, file, tool)
    parts = parts_of_machines([named[name] for name in names])
    return [[*config, *([Reading(file, None, {}, LAUNCH, one)] if one else [])] for one in parts]


def _runs_of_script(text: str, file: str, form: str) -> list[list[Reading]]:
    """The runs of a Python script or a notebook: of its trainer's classes, else what it starts."""
    source = python_of_notebook(text, file) if form == "notebook" else text
    trained, *beside = training_script(source, file) or [Reading(file, None, {}, CONFIG, {})]
    if trained.tool:
        fields = {
            name.removeprefix(HYPERPARAMETERS): value
            for name, value in flat(trained.fields, file).items()
        }
        config = [*_of_config(fields, file, trained.tool), *beside]
        return _of_machines(config, tree_of(text, file), file)
    if form == "Python":
        try:
            fields = _fields_of(text, file, form, None)
        except ConfigProblem:
            fields = {}
        if fields and (tool := best_tool(fields)):
            return [_of_config(fields, file, _trains(tool, fields, file))]
    return services_of(text, file)


def _trains(tool: Tool, fields: Json, file: str) -> Tool:
    """The tool of a config; raises ConfigProblem where its fields are of work that is not read."""
    other = next((name for name in tool.other_work if fields.get(name) is not None), "")
    if other:
        raise ConfigProblem(
            f"{file}: {other} says that this {tool.name} file is for "
            f"{tool.other_work[other]}; give the file that trains."
        )
    return tool


def names_of_tools() -> str:
    """The names of all tools that are read, for a sentence."""
    return ", ".join(tool.name for tool in tools().values() if tool.id != ANY_TRAINER)
