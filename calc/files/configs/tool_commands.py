"""The commands of a script as readings: a tool's own command, or a script behind a launcher."""

import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Any

from calc.files.configs.commands import shell_commands, without_redirections
from calc.files.configs.fields import Tool, field_catalog, tools
from calc.files.configs.flags import ENDS, fields_of
from calc.files.configs.hub_jobs import job_of_hub
from calc.files.configs.inside.docker import gpus_of_docker, release_of, run_of_docker
from calc.files.configs.inside.terms import place_of, terms_of
from calc.files.configs.model_names import NIM
from calc.files.configs.own_scripts import (
    ANY_TRAINER,
    MODEL_FLAGS,
    any_trainer,
    does_other_work,
    tuning_by_name,
)
from calc.files.configs.script_asides import LONGEST_ASIDE, asides_of
from calc.files.configs.texts import flat
from calc.files.configs.values import whole
from calc.mappings import Json

LAUNCHERS = (
    "torchrun",
    "hyperpodrun",
    "torch.distributed.run",
    "torch.distributed.launch",
    "deepspeed",
    "accelerate",
    "srun",
    "python",
    "python3",
)
SHORT = {"-m": "m"}
PROCESSES = dict.fromkeys(("nproc_per_node", "num_gpus", "gpus_per_node", "gpus"), "gpus_per_node")
PROCESSES |= dict.fromkeys(("nnodes", "num_nodes"), "nodes")  # flags of launchers -> the part
SHORTEST_FLAG = 5  # letters of the beginning of a flag
GPUS_OF_SCRIPT = ("NPROC_PER_NODE", "NGPU")  # variables with the number of a node's GPUs
IMAGE_RELEASE = "IMAGE_RELEASE"  # the field for the release that an image's tag names
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION", "REGION")  # variables of a script
DEVICES = re.compile(r"devices?=(\d[\d,]*)")  # of docker run
INCLUDED = re.compile(r"[\w.-]+:(\d[\d,]*)(?:@|$)")
HYPERPOD, RECIPES = "hyperpod", "recipes"  # whose launcher names a recipe in this field
OF_HYPERPOD = "recipes."  # before the fields of a recipe that HyperPod's launcher overrides
COMMAND, CONFIG, LAUNCH = 0, 1, 2  # the lower rank wins where two files set the same field


@dataclass(frozen=True)
class Reading:
    """The fields of one tool in one file; `parts` of its launcher; `asides`: other statements.

    `place`: the name of the service in a file that has several.
    """

    file: str
    tool: Tool | None
    fields: Json
    rank: int
    parts: Json
    asides: tuple[str, ...] = ()
    place: str = ""


def best_tool(fields: Json) -> Tool | None:
    """The tool that reads most of the fields, at least half of them, or None."""
    fits = [
        (sum(map(tool.knows, fields)), tool.id)
        for tool in tools().values()
        if tool.id != ANY_TRAINER and any(mark in fields for mark in tool.marks)
    ]
    return tools()[max(fits)[1]] if fits and 2 * max(fits)[0] >= len(fields) else None


def runs_of_script(text: str, file: str) -> list[list[Reading]]:
    """The runs of a script: each command that serves, or all that train together.

    The list is empty if no command is read. The script's #SBATCH options and its other statements
    belong to every run.
    """
    commands, slurm, variables = shell_commands(text, file, {})
    read = [(words, command_readings(words, file)) for words in commands]
    asides = asides_of(read)
    found = [(readings, words.own) for words, readings in read if readings]
    if not found and not slurm:
        return []
    tool = tools()["slurm"] if slurm else None
    limit = slurm.get("time") or slurm.get("t")
    parts: Json = {"time_limit": f"time {limit}"} if limit else {}
    shared = [Reading(file, tool, slurm, LAUNCH, parts, asides)] if slurm or asides else []
    served = [(readings, own) for readings, own in found if _serves(readings)]
    trained = [(readings, own) for readings, own in found if not _serves(readings)]
    builds = [one for one in served if not _starts_tool(one[0])]  # of an engine that is served
    engines = [one for one in served if _starts_tool(one[0])]
    if not any(map(_starts_tool, (readings for readings, _ in trained))):
        groups = [[one, *builds] for one in engines] if len(engines) > 1 else [found]
    else:
        groups = [trained, *([one] for one in served)]
    return [_together(group, variables, file, shared) for group in groups]


def _together(
    group: list[tuple[list[Reading], dict[str, str]]],
    variables: dict[str, str],
    file: str,
    shared: list[Reading],
) -> list[Reading]:
    """The readings of commands that are one run, with the GPUs that they see."""
    own = {name: value for _, values in group for name, value in values.items()}
    visible = _visible_gpus(variables | own, file)
    return [
        *(one for readings, _ in group for one in readings),
        *([visible] if visible.parts else []),
        *shared,
    ]


def _starts_tool(readings: list[Reading]) -> bool:
    """Return whether a command starts a tool that trains or serves, not what prepares it."""
    return any(reading.tool and not reading.tool.launches for reading in readings)


def _serves(readings: list[Reading]) -> bool:
    return any(reading.tool and reading.tool.work == "inference" for reading in readings)


def _visible_gpus(variables: dict[str, str], file: str) -> Reading:
    """The GPUs that a script's variables leave visible, or start processes on, and the region."""
    parts: Json = {}
    for name in (*GPUS_OF_SCRIPT, "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"):
        value = variables.get(name, "")
        listed = [device for device in value.split(",") if device.strip()]
        if "asked_gpus" in parts or not re.fullmatch(r"[\d,\s]+", value):
            continue
        number = whole(value.strip()) if name in GPUS_OF_SCRIPT else len(listed)
        parts |= {"asked_gpus": number} if number else {}
        if name not in GPUS_OF_SCRIPT:
            parts["device_names"] = ",".join(one.strip() for one in listed)
    if re.fullmatch(r"[1-9]\d{0,4}", variables.get("NNODES", "")):
        parts["nodes"] = int(variables["NNODES"])
    parts |= place_of(
        [one for name in REGIONS for _, one in terms_of("region", variables.get(name, ""))]
    )
    return Reading(file, None, {}, LAUNCH, parts)


def statements(
    text: str, file: str, environment: dict[str, str]
) -> tuple[list[list[Reading]], tuple[str, ...]]:
    """The readings of each command of a script that is read, and its other statements."""
    commands, _, variables = shell_commands(text, file, environment)
    read = [(words, command_readings(words, file)) for words in commands]
    asides = asides_of(read)
    found = [readings for _, readings in read if readings]
    here = {name: value for name, value in variables.items() if name not in environment}
    visible = _visible_gpus(here, file)
    return ([*found, [visible]] if found and visible.parts else found), asides


def command_readings(words: list[str], file: str) -> list[Reading]:
    """A command of a tool, or of a script whose flags are a tool's, after its launcher."""
    words = without_redirections(words)
    contained = run_of_docker(words)
    if contained:
        return _in_container(contained, file)
    for tool in tools().values():
        for pattern, parts in tool.commands.items():
            begins = pattern.split()
            place = _place(words, begins)
            if place:
                own, behind = _before_end(words[place:])
                return [
                    *launcher_readings([*words[: place - len(begins)], *behind], file),
                    _of_tool(tool, own, file, parts),
                ]
    script = next((place for place, word in enumerate(words) if word.endswith(".py")), None)
    if script is None and "-m" in words[:-1]:
        script = words.index("-m") + 1
    return [] if script is None else _of_script(words, script, file)


def _of_script(words: list[str], script: int, file: str) -> list[Reading]:
    """A command whose word number `script` is a script, by the tool whose flags it takes."""
    fields, others = fields_of(words[script + 1 :], file, {})
    launcher = launcher_readings(words[:script], file)
    if not fields and (settings := _of_overrides(others)):
        fields, others = settings, []
    best = best_tool(fields)
    best = any_trainer(fields, words[script], best) or best
    best = best or (tools()[HYPERPOD] if RECIPES in fields else None)
    if (best is None or best.work == "training") and does_other_work(words[script]):
        return []
    if best:
        parts = tuning_by_name(words[script], fields) if best.id == ANY_TRAINER else {}
        return [*launcher, _with_others(Reading(file, best, fields, COMMAND, parts), others)]
    models = [fields.pop(name) for name in MODEL_FLAGS if "/" in str(fields.get(name, ""))]
    if not launcher and not models:
        return []
    parts = {"model": models[0]} if models else {}
    return [*launcher, Reading(file, None, fields, COMMAND, parts)]


def _of_overrides(words: list[str]) -> Json:
    """Hydra's overrides as fields, a.b=1; by their last names where a tool knows those better."""
    pairs = [word.partition("=") for word in words]
    fields = {
        name.lstrip("+~").removeprefix(OF_HYPERPOD): value
        for name, equals, value in pairs
        if equals
    }
    last = {name.rpartition(".")[2]: value for name, value in fields.items()}
    if best_tool(fields) or len(last) < len(fields):
        return fields
    return last


def _before_end(words: list[str]) -> tuple[list[str], list[str]]:
    """The words of a tool, and the launcher that it is to use with the flags behind a --."""
    if ENDS not in words[:-1] or "--launcher" not in words:
        return words, []
    place, named = words.index(ENDS), words.index("--launcher")
    own, flags = words[:named] + words[named + 2 : place], words[place + 1 :]
    return own, [*words[named + 1 : named + 2], *flags]


def _in_container(service: Json, file: str) -> list[Reading]:
    """The command inside docker run, with the GPUs and the variables that it is given."""
    words = list(map(str, service["command"]))
    entry = str(service.get("entrypoint", ""))
    readings = command_readings([*entry.split(), *words], file)
    if not readings and (command := engine_of(str(service["image"]))):
        readings = command_readings([*command.split(), *words], file)
    environment = service["environment"] | {IMAGE_RELEASE: release_of(str(service["image"]))}
    for reading in readings:
        settings_of_variables(reading, environment)
    if readings and (named := NIM.match(str(service["image"])[:LONGEST_ASIDE])):
        readings[0].parts.setdefault("model", f"nim/{named[1]}")
    parts: Json = _visible_gpus(environment, file).parts
    if gpus := gpus_of_docker(str(service.get("gpus", ""))):
        parts["asked_gpus"] = gpus
    if devices := DEVICES.search(str(service.get("gpus", ""))):
        parts["device_names"] = devices[1]
    return [*readings, Reading(file, None, {}, LAUNCH, parts)] if readings and parts else readings


def engine_of(name: str) -> str:
    """The command that an image or an engine's name runs, such as vllm serve; empty if unknown."""
    return next(
        (
            command
            for pattern, command in field_catalog().engines.items()
            if fnmatchcase(name.lower(), pattern)
        ),
        "",
    )


def settings_of_variables(reading: Reading, environment: dict[str, str]) -> None:
    """Add the settings of a serving engine that its variables give."""
    tool = reading.tool
    if tool is None or tool.work != "inference":
        return
    taken = {id(tool.fields[name]) for name in reading.fields if name in tool.fields}
    for name, value in environment.items():
        plain = name.lower()
        field = next(
            (
                shorter
                for prefix in ("", *field_catalog().prefixes)
                if plain.startswith(prefix)
                and (shorter := plain.removeprefix(prefix)) in tool.fields
            ),
            "",
        )
        if field and id(tool.fields[field]) not in taken and value:
            reading.fields[field] = value
            taken.add(id(tool.fields[field]))


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
    fields = {
        inner: setting
        for name, value in fields.items()
        for inner, setting in _inside(_whole_flag(name, tool), value, tool).items()
    }
    return _with_others(Reading(file, tool, fields, COMMAND, parts), others)


def _whole_flag(name: str, tool: Tool) -> str:
    """The flag that a beginning stands for, as argparse takes it: tensor_parallel for its size."""
    if tool.knows(name) or len(name) < SHORTEST_FLAG:
        return name
    begun = {tool.fields[one].name for one in tool.fields if one.startswith(name)}
    idle = [one for one in tool.idle if one.startswith(name)]
    return begun.pop() if len(begun) == 1 and not idle else name


def _inside(name: str, value: Any, tool: Tool) -> Json:
    """The fields of a flag whose value is JSON and whose parts the tool has: {"method": "mtp"}."""
    if not str(value).startswith("{") or not any(one.startswith(f"{name}.") for one in tool.fields):
        return {name: value}
    try:
        parts = json.loads(str(value))
    except (ValueError, RecursionError):
        return {name: value}
    return {f"{name}.{part}": setting for part, setting in flat(parts, name).items()}


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


def launcher_readings(words: list[str], file: str) -> list[Reading]:
    """The command before the script: fields of accelerate, processes of torchrun and deepspeed."""
    parts, unknown = job_of_hub(words)
    if parts or unknown:
        return [Reading(file, None, unknown, LAUNCH, parts)]
    starts = [place for place, word in enumerate(words) if word.rpartition("/")[2] in LAUNCHERS]
    if not starts:
        return []
    own = [words[start:end] for start, end in pairwise([*starts, len(words)])]
    if "accelerate" in words:
        fields, _ = fields_of(next(one for one in own if "accelerate" in one), file, SHORT)
        return [
            Reading(
                file,
                tools()["accelerate"],
                {name: value for name, value in fields.items() if name != "m"},
                COMMAND,
                {},
            )
        ]
    fields = {name: value for one in own for name, value in fields_of(one, file, SHORT)[0].items()}
    parts = {part: fields[name] for name, part in PROCESSES.items() if str(fields.get(name, ""))}
    parts |= _included(str(fields.get("include", "")))
    return [Reading(file, None, {}, COMMAND, parts)] if parts else []


def _included(hosts: str) -> Json:
    """The GPUs and nodes that DeepSpeed's --include lists, as in worker-1:0,1@worker-2:0,1."""
    slots = [len(host.split(",")) for host in INCLUDED.findall(hosts)]
    if not slots or len(set(slots)) > 1:
        return {}
    return {"gpus_per_node": slots[0]} | ({"nodes": len(slots)} if len(slots) > 1 else {})


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
