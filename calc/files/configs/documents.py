"""The tool that a config or a command belongs to, with the fields that the tool reads."""

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from calc.files.configs.commands import fields_of, shell_commands
from calc.files.configs.fields import Tool, table, tools
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.python_text import calls_of
from calc.files.configs.texts import flat, format_of, read_mapping, resolved

LAUNCHERS = (
    "torchrun",
    "torch.distributed.run",
    "torch.distributed.launch",
    "deepspeed",
    "accelerate",
    "srun",
    "python",
    "python3",
)
SHORT = {"-m": "m"}
PARAMETERS = "parameters."  # where mcli keeps a training config
WITHIN = "deepspeed."  # fields of DeepSpeed written into a trainer's file
PROCESSES = dict.fromkeys(("nproc_per_node", "num_gpus", "gpus_per_node", "gpus"), "gpus_per_node")
PROCESSES |= dict.fromkeys(("nnodes", "num_nodes"), "nodes")  # flags of launchers -> the part
MODEL_FLAGS = (
    "model_name_or_path",
    "model_id",
    "model_name",
    "model",
)  # of a script that belongs to no tool: an owner/name
CHOICE = "resources.accelerators"  # a card, a list of cards, or a mapping from cards to how many
LONGEST_ASIDE = 120  # characters
COMMAND, CONFIG, LAUNCH = 0, 1, 2  # the lower rank wins where two files set the same field


@dataclass(frozen=True)
class Reading:
    """The fields of one tool in one file; `parts` of its launcher; `asides`: other statements."""

    file: str
    tool: Tool | None
    fields: dict[str, Any]
    rank: int
    parts: dict[str, Any]
    asides: tuple[str, ...] = ()


def base_of(text: str, others: dict[str, str]) -> str:
    """The file among the others whose fields a config takes over and overrides, or empty."""
    named = re.search(r"^(?:defaults|base_config):[ \t]*['\"]?([^\s'\"\[]+)", text, re.M)
    return next(
        (other for other in others if named and PurePath(other).name == PurePath(named[1]).name), ""
    )


def readings_of(text: str, file: str, base: tuple[str, str] | None = None) -> list[Reading]:
    """A config as one reading, a script as one reading per command; raises ConfigProblem.

    `base`: text and name of the file whose fields this one overrides.
    """
    form = format_of(text, file)
    if form == "command":
        return _commands(text, file)
    if form == "Python" and (script := _of_script(text, file)):
        return [script]
    written = [
        flat(read_mapping(*part, form), part[1])
        for part in (*([base] if base else []), (text, file))
    ]
    fields = resolved(
        {name.removeprefix(PARAMETERS): value for part in written for name, value in part.items()}
    )
    if base:
        fields = {
            name: value for name, value in fields.items() if name not in ("defaults", "base_config")
        }
    tool = _tool_of(fields, file)
    inner = (
        {name: value for name, value in fields.items() if name.startswith(WITHIN)}
        if "deepspeed" in tool.fields
        else {}
    )
    reading = Reading(
        file,
        tool,
        {name: value for name, value in fields.items() if name not in inner},
        LAUNCH if tool.launches else CONFIG,
        {},
    )
    if tool.id == "skypilot":
        return [reading, *_of_task(reading, file)]
    deepspeed = {name.removeprefix(WITHIN): value for name, value in inner.items()}
    return (
        [reading, Reading(file, tools()["deepspeed"], deepspeed, LAUNCH, {})]
        if inner
        else [reading]
    )


def _of_script(text: str, file: str) -> Reading | None:
    """The fields of a Python script: the arguments of the trainer's and PEFT's classes, or None."""
    fields: dict[str, Any] = {}
    names = []
    for name, arguments in calls_of(text, file, tuple(table("calls"))):
        call = table("calls")[name]
        renamed = call.get("names")
        read = {renamed.get(key, "") if renamed else key: value for key, value in arguments.items()}
        fields = {
            **call.get("sets", {}),
            **{key: value for key, value in read.items() if key and value is not None},
        } | fields
        names += [call["tool"]] if "tool" in call else []
    return Reading(file, tools()[max(names)], fields, CONFIG, {}) if names else None


def _of_task(task: Reading, file: str) -> list[Reading]:
    """The commands of a SkyPilot task, with its variables; `run` is then no longer a field."""
    environment = {
        name.removeprefix("envs."): str(value)
        for name, value in task.fields.items()
        if name.startswith("envs.") and value is not None
    }
    chosen = _cards(task.fields)
    for name in [name for name in task.fields if name.startswith(f"{CHOICE}.")]:
        task.fields.pop(name)
    task.fields.update({CHOICE: chosen} if chosen else {})
    environment["SKYPILOT_NUM_NODES"] = str(task.fields.get("num_nodes", 1))
    per_node = {card.partition(":")[2] or "1" for card in chosen}
    environment |= {"SKYPILOT_NUM_GPUS_PER_NODE": per_node.pop()} if len(per_node) == 1 else {}
    readings, asides, _ = _statements(str(task.fields.get("run", "")), file, environment)
    if readings:
        task.fields.pop("run")
    return (
        [*readings, Reading(file, None, {}, LAUNCH, {}, asides)]
        if readings and asides
        else readings
    )


def _cards(fields: dict[str, Any]) -> list[str]:
    """Every card:number that a task may run on, from a word, a list or a mapping."""
    accelerators = fields.get("resources.accelerators", [])
    several = [
        (name.removeprefix(f"{CHOICE}."), value)
        for name, value in fields.items()
        if name.startswith(f"{CHOICE}.")
    ]
    chosen = [
        name.replace("_", "-") + (f":{value}" if value is not None else "")
        for name, value in several
    ]
    return chosen or [
        str(card) for card in (accelerators if isinstance(accelerators, list) else [accelerators])
    ]


def names_of_tools() -> str:
    """The names of all tools that are read, for a sentence."""
    return ", ".join(tool.name for tool in tools().values())


def _best(fields: dict[str, Any]) -> Tool | None:
    """The tool that reads most of the fields, at least half of them, or None."""
    fits = [
        (sum(map(tool.knows, fields)), tool.id)
        for tool in tools().values()
        if any(mark in fields for mark in tool.marks)
    ]
    return tools()[max(fits)[1]] if fits and 2 * max(fits)[0] >= len(fields) else None


def _tool_of(fields: dict[str, Any], file: str) -> Tool:
    tool = _best(fields)
    if tool is None:
        raise ConfigProblem(
            f"{file}: its fields ({', '.join(list(fields)[:3])[:80]}) belong to no tool that "
            f"is read; give a config of {names_of_tools()}."
        )
    other = next((name for name in tool.other_work if fields.get(name) is not None), "")
    if other:
        raise ConfigProblem(
            f"{file}: {other} says that this {tool.name} file is for "
            f"{tool.other_work[other]}; give the file that trains."
        )
    return tool


def _commands(text: str, file: str) -> list[Reading]:
    readings, asides, slurm = _statements(text, file, {})
    if not readings and not slurm:
        raise ConfigProblem(
            f"{file}: none of its commands belongs to a tool that is read; give one of "
            f"{names_of_tools()}."
        )
    tool = tools()["slurm"] if slurm else None
    return (
        [*readings, Reading(file, tool, slurm, LAUNCH, {}, asides)] if slurm or asides else readings
    )


def _statements(
    text: str, file: str, environment: dict[str, str]
) -> tuple[list[Reading], tuple[str, ...], dict[str, str]]:
    """The readings of a script's commands, its other statements, and its #SBATCH options."""
    commands, slurm = shell_commands(text, file, environment)
    read = [(words, _command(words, file)) for words in commands]
    asides = tuple(" ".join(words)[:LONGEST_ASIDE] for words, readings in read if not readings)
    return [one for _, readings in read for one in readings], asides, slurm


def _command(words: list[str], file: str) -> list[Reading]:
    """A command of a tool, or of a script whose flags are a tool's, after its launcher."""
    for tool in tools().values():
        for pattern, parts in tool.commands.items():
            place = _place(words, pattern.split())
            if place:
                return [
                    *_launcher(words[: place - 1], file),
                    _of_tool(tool, words[place:], file, parts),
                ]
    script = next((place for place, word in enumerate(words) if word.endswith(".py")), None)
    script = words.index("-m") + 1 if script is None and "-m" in words[:-1] else script
    if script is None:
        return []
    fields, others = fields_of(words[script + 1 :], file, {})
    launcher, best = _launcher(words[:script], file), _best(fields)
    if best:
        return [*launcher, _with_others(Reading(file, best, fields, COMMAND, {}), others)]
    models = {
        name: {"model": fields.pop(name)}
        for name in MODEL_FLAGS
        if "/" in str(fields.get(name, ""))
    }
    return (
        [*launcher, Reading(file, None, fields, COMMAND, next(iter(models.values()), {}))]
        if launcher or models
        else []
    )


def _of_tool(tool: Tool, words: list[str], file: str, settles: dict[str, str]) -> Reading:
    """The flags of a tool's own command, which itself settles some parts."""
    switches = frozenset(name for name in tool.fields if name.startswith("enable_")) | {
        name for name in tool.idle if name.startswith(("no_", "disable_"))
    }
    parts = dict(settles)
    recipe = (
        next((word for word in words if word.endswith(("_single_device", "_distributed"))), "")
        if tool.id == "torchtune"
        else ""
    )
    if recipe:  # it may follow a flag without being its value
        parts["recipe"] = "single" if recipe.endswith("_single_device") else "distributed"
        words = [word for word in words if word != recipe]
    fields, others = fields_of(
        words, file, tool.short, switches | {"trust_remote_code", "enforce_eager", "do_train"}
    )
    if tool.positional and others:
        fields.setdefault(tool.positional, others.pop(0))
    return _with_others(Reading(file, tool, fields, COMMAND, parts), others)


def _with_others(reading: Reading, others: list[str]) -> Reading:
    """A reading with the words that set a field (batch_size=4); other words are quoted."""
    for word in others:
        name, equals, value = word.partition("=")
        if equals:
            reading.fields[name.lstrip("+~")] = value
        elif word.endswith((".yaml", ".yml", ".json")):
            reading.fields.setdefault("config", word)
        elif not word.endswith(".py"):
            reading.fields[f"'{word[:40]}'"] = True
    return reading


def _launcher(words: list[str], file: str) -> list[Reading]:
    """The command before the script: fields of accelerate, processes of torchrun and deepspeed."""
    if not any(word.rpartition("/")[2] in LAUNCHERS for word in words):
        return []
    fields, _ = fields_of(words, file, SHORT)
    if "accelerate" in words:
        return [
            Reading(
                file,
                tools()["accelerate"],
                {name: value for name, value in fields.items() if name != "m"},
                COMMAND,
                {},
            )
        ]
    parts = {part: fields[name] for name, part in PROCESSES.items() if str(fields.get(name, ""))}
    return [Reading(file, None, {}, COMMAND, parts)] if parts else []


def _place(words: list[str], pattern: list[str]) -> int:
    """The position after the pattern in the words; 0 where it does not occur."""
    for place in range(len(words) - len(pattern) + 1):
        window = words[place : place + len(pattern)]
        if all(
            word.rpartition("/")[2] == expected or word == expected
            for word, expected in zip(window, pattern, strict=True)
        ):
            return place + len(pattern)
    return 0
