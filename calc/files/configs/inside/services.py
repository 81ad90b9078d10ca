"""The programs of a file as readings: each with its variables, machines and model."""

import re
from typing import Any

from calc.files.configs.commands import VARIABLE, variable_value
from calc.files.configs.inside.fact import Fact, Path, snake
from calc.files.configs.inside.facts import facts_of
from calc.files.configs.inside.kinds import lacks_gpu, unread_kind
from calc.files.configs.inside.near_facts import (
    common_steps,
    job_path,
    near_facts,
    role_of,
    unread_memory,
)
from calc.files.configs.inside.others import (
    configs_of,
    other_services,
    says_less,
    without_clusters,
)
from calc.files.configs.inside.programs import COMMANDS, MODEL, Program, programs_of
from calc.files.configs.inside.terms import place_of
from calc.files.configs.inside.trees import file_form, tree_of
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.tool_commands import (
    CONFIG,
    IMAGE_RELEASE,
    LAUNCH,
    Reading,
    command_readings,
    settings_of_variables,
    statements,
)
from calc.mappings import Json

MOST_PROGRAMS, MOST_CHOICES = 20, 8
OF_CLUSTER = re.compile(r"\$\(([A-Za-z_]\w*)\)")  # $(NAME) of a manifest
GPUS_OF_NODE = (
    *(
        "SKYPILOT_NUM_GPUS_PER_NODE",
        "DSTACK_GPUS_PER_NODE",
        "NUM_GPUS",
        "SM_NUM_GPUS",
    ),
    *("GPU_COUNT", "SLURM_GPUS_ON_NODE", "NPROC_PER_NODE"),
)
GPUS_OF_JOB = "DSTACK_GPUS_NUM"  # on all nodes
NODES_OF_JOB = ("SKYPILOT_NUM_NODES", "DSTACK_NODES_NUM")  # 1 where nothing says more
NODES_IF_SAID = ("LWS_GROUP_SIZE", "NNODES", "WORLD_NODES")
KNOWN_PARTS = (  # kind of a fact -> the part of a run that it settles
    ("nodes", "nodes"),
    ("instances", "instances"),
    ("memory", "card_memory_gb"),
    ("family", "instance_family"),
    ("copies", "copies"),
    ("most_copies", "most_copies"),
    ("spot", "spot"),
    ("tensor", "tensor_parallel"),
    ("recipe", "hyperpod"),
    ("time_limit", "time_limit"),
    ("price_limit", "price_limit"),
    ("spot_too", "spot_too"),
    ("gpus_named", "gpus_named"),
    ("named_as", "named_as"),
    ("slice", "slice"),
    ("sagemaker", "sagemaker"),
    ("device_names", "device_names"),
    ("load_target", "load_target"),
)
FEWEST_FIELDS = 3  # of a trainer, one of so many fields is there where a model is only loaded
SHOWN = 3  # of the things that a refusal names


def services_of(text: str, file: str) -> list[list[Reading]]:
    """The readings of each program that a file runs, one list for each choice of machine.

    Raises ConfigProblem, which says what the file is, where nothing in it is read.
    """
    tree = tree_of(text, file)
    programs = _one_of_each_job(without_clusters(list(programs_of(tree))[:MOST_PROGRAMS], tree))
    facts = facts_of(tree)
    paths = [program.path for program in programs]
    services: dict[str, list[Reading]] = {}
    configs = [configs_of(program, programs) for program in programs]
    inner = {id(config) for several in configs for config in several}
    strangers = other_services(tree, programs)
    for place, program in enumerate(programs):
        if id(program) in inner:
            continue
        others = [
            path for other, path in enumerate(paths) if other != place and path != program.path
        ]
        near = near_facts(facts, program.path, others)
        unread = unread_memory(tree, program.path, _read_paths(facts, programs), others)
        flags = [name for name in unread if f"--{name.rpartition('.')[2]}" in program.words]
        unread = {name: unread[name] for name in unread if name not in flags} | strangers
        place_name = role_of(program.path, tree) or _name(program.path, others)
        own = [reading for one in configs[place] for reading in _config_readings(one, facts, file)]
        for readings in _choices(program, near, file, unread, place_name, own):
            role = role_of(program.path, tree)  # a pool of each though they are equal
            services.setdefault(role + _identity(readings), readings)
    if not services or lacks_gpu(text, facts):
        raise ConfigProblem(f"{file}: {unread_kind(tree, file_form(text, file), text, facts)}")
    return _fullest(list(services.values()))


def _identity(readings: list[Reading]) -> str:
    """Return the tools, fields and parts of readings as text: equal for equal programs."""
    return repr(
        [
            (
                reading.tool and reading.tool.id,
                sorted(map(str, reading.fields.items())) if reading.tool else None,
                reading.parts,
            )
            for reading in readings
        ]
    )


def _fullest(services: list[list[Reading]]) -> list[list[Reading]]:
    """Return the services without those that say less of a program than another one does."""
    services = [readings for readings in services if _says_enough(readings)] or services
    services = [readings for readings in services if _named_model(readings)] or services
    services = _without_loads(services)
    settings = [_settings(readings) for readings in services]
    return [
        readings
        for readings, own in zip(services, settings, strict=True)
        if not any(says_less(own, more) for more in settings)  # on no other machine
    ]


def _one_of_each_job(programs: list[Program]) -> list[Program]:
    """The programs, of a job with a master and workers the first alone."""
    jobs: dict[Path, Program] = {}
    for program in programs:
        jobs.setdefault(job_path(program.path) or program.path, program)
    return list(jobs.values())


def _without_loads(services: list[list[Reading]]) -> list[list[Reading]]:
    """The services but for those that load a model in a script that another of them trains."""
    known = [
        sum(
            name in reading.tool.fields
            for reading in readings
            if reading.tool and reading.tool.work == "training"
            for name in reading.fields
        )
        for readings in services
    ]
    most = max(known, default=0)
    return [
        readings
        for readings, number in zip(services, known, strict=True)
        if not number or number * FEWEST_FIELDS >= most
    ]


def _named_model(readings: list[Reading]) -> str:
    """The last part of the model's name, as a part or in a field of its tool; empty without one."""
    for reading in readings:
        fields = reading.tool.fields if reading.tool else {}
        names = (name for name, field in fields.items() if field.to == "model")
        named = (reading.parts.get("model"), *(reading.fields.get(name) for name in names))
        if name := next((str(one) for one in named if one and "${" not in str(one)), ""):
            return name.rstrip("/").rpartition("/")[2].lower()
    return ""


def _is_idle(reading: Reading, name: str) -> bool:
    """Return whether a field has no effect, or an engine is not known to have it."""
    if reading.tool is None or name in reading.tool.fields:
        return False
    return reading.tool.is_idle(name) or (_serves(reading) and name in reading.fields)


def _settings(readings: list[Reading]) -> dict[str, str]:
    """Every field of a run that matters to its tool, every part, and the model as text."""
    settings = {
        name: str(value)
        for reading in readings
        for name, value in (*reading.fields.items(), *reading.parts.items())
        if name != "model" and not _is_idle(reading, name)
    }
    model = _named_model(readings)
    return settings | ({"model": model} if model else {})


HEAD = "head_group_spec"  # of a cluster of Ray: its GPUs are those of one node more
MACHINE_FACTS = (
    *("card", "instance", "gpus", "nodes", "workers", "instances", "region"),
    *("spot", "spot_too", "on_demand", "time_limit", "price_limit", "sagemaker"),
)


def machine_choices(tree: Json, file: str) -> list[list[Reading]]:
    """Return a tree's machines for a script that trains, one list for each choice."""
    facts = [fact for fact in facts_of(tree) if fact.kind in MACHINE_FACTS]
    choices = [_with_instances(parts, serves=False) for parts in parts_of_machines(facts)]
    return [[Reading(file, None, {}, LAUNCH, parts)] for parts in choices if parts]


def _with_instances(parts: Json, serves: bool) -> Json:
    """Parts in which a number of instances is that of a service's copies, or of a job's nodes."""
    rest = {part: value for part, value in parts.items() if part != "instances"}
    named = {"copies" if serves else "nodes": parts["instances"]} if "instances" in parts else {}
    return named | rest


ALTERNATIVES = ("any_of", "ordered")  # lists of machines of which one is taken


def parts_of_machines(facts: list[Fact]) -> list[Json]:
    """The parts of each choice of machine that the facts leave, the nearest fact first."""
    machines = [fact.path for fact in facts if fact.kind in ("card", "instance")]
    options = sorted({_option(path) for path in machines} - {()})
    if len(options) < 2:
        return _parts_of_one(facts)
    choices = [
        parts
        for option in options
        for parts in _parts_of_one([one for one in facts if _option(one.path) in ((), option)])
    ]
    return list({repr(parts): parts for parts in choices}.values())[:MOST_CHOICES]


def _option(path: Path) -> Path:
    """The path of the option that a fact stands in; empty outside of any."""
    at = next((at for at, name in enumerate(path) if name in ALTERNATIVES), -1)
    return path[: at + 2] if at >= 0 else ()


def _parts_of_one(facts: list[Fact]) -> list[Json]:
    """The parts of each card or instance that facts name side by side."""
    known: Json = place_of([fact.value for fact in facts if fact.kind == "region"])
    for kind, part in KNOWN_PARTS:
        if value := next((fact.value for fact in facts if fact.kind == kind), None):
            known[part] = value
    size = next((fact.value for fact in facts if fact.kind == "size"), "")
    if size and "instance_family" in known:
        known["instance"] = f"{known.pop('instance_family')}.{size}"
    if "spot" in known and any(fact.kind == "on_demand" for fact in facts):
        known["spot_too"] = known.pop("spot")
    if growing := next((fact for fact in facts if fact.kind == "most_copies"), None):
        for fact in facts:  # of an autoscaler, its own least number
            if fact.kind == "copies" and fact.path[:-1] == growing.path[:-1]:
                known["copies"] = fact.value
    degrees = {fact.kind: fact.value for fact in reversed(facts) if fact.kind.startswith("data")}
    if len(degrees) == 2:
        known.setdefault("nodes", max(degrees["data"] // degrees["data_local"], 1))
    if workers := sum(fact.value for fact in facts if fact.kind == "workers"):
        known["nodes"] = workers + any(
            fact.kind == "gpus" and HEAD in map(snake, fact.path) for fact in facts
        )
    asked = [fact.value for fact in facts if fact.kind in ("gpus", "devices")]
    known |= {"asked_gpus": asked[0]} if asked else {}
    choices: list[Json] = []
    for fact in facts:
        if fact.kind == "instance":
            choices.append({"instance": fact.value})
        elif fact.kind == "card":
            choices += [
                {"gpu": card} | ({"asked_gpus": number} if number else {})
                for card, number in fact.value
            ]
    instances = [choice for choice in choices if "instance" in choice]
    if instances:
        choices = instances
    distinct = list(dict.fromkeys(tuple(choice.items()) for choice in choices))
    return [known | dict(choice) for choice in distinct[:MOST_CHOICES]] or [known]


def _read_paths(facts: list[Fact], programs: list[Program]) -> list[Path]:
    """The paths of everything that is read: facts, fields and commands."""
    commands = [
        (*program.path, key) for program in programs if not program.tool for key in COMMANDS
    ]
    return [
        *(fact.path for fact in facts),
        *commands,
        *(program.path for program in programs if program.tool or program.is_whole),
    ]


def _name(path: Path, others: list[Path]) -> str:
    """The name that tells a service from the others of its file; empty where it is alone."""
    depth = max((common_steps(path, other) for other in others), default=-1)
    return path[depth] if 0 <= depth < len(path) else ""


def _config_readings(config: Program, facts: list[Fact], file: str) -> list[Reading]:
    """A config that a command names, with the model and the copies that stand beside it."""
    reading = Reading(file, config.tool, dict(config.fields or {}), _config_rank(config), {})
    beside = [
        fact for fact in near_facts(facts, config.path, []) if fact.path[:-1] == config.path[:-1]
    ]
    copies = next((fact.value for fact in beside if fact.kind == "copies"), None)
    parts = [Reading(file, None, {}, CONFIG, {"copies": copies})] if copies else []
    return [reading, *_model([reading], beside, file), *parts]


def _config_rank(config: Program) -> int:
    return LAUNCH if config.tool and config.tool.launches else CONFIG


def _choices(
    program: Program,
    facts: list[Fact],
    file: str,
    unread: Json,
    name: str,
    configs: list[Reading],
) -> list[list[Reading]]:
    """The readings of a program, one list for each choice of machine and each service it starts.

    `configs`: the configs in the same file that its command names. `unread`: fields on memory that
    no reading takes. `name`: what tells the service from the others of the file.
    """
    choices = []
    for parts in parts_of_machines(facts):
        environment = _environment(facts, _with_instances(parts, serves=False))
        for own_readings in _readings(program, environment, file):
            readings = [*own_readings, *configs]
            if not any(reading.tool for reading in readings):
                continue
            for reading in readings:
                settings_of_variables(reading, {**environment, IMAGE_RELEASE: program.release})
            own_parts = _with_instances(parts, any(map(_serves, readings)))
            filled_parts = {part: value for part, value in own_parts.items() if value}
            machine = Reading(file, None, unread, LAUNCH, filled_parts, place=name)
            choices.append([*readings, *_model(readings, facts, file), machine])
    return choices


def _serves(reading: Reading) -> bool:
    return reading.tool is not None and reading.tool.work == "inference"


def _environment(facts: list[Fact], parts: Json) -> dict[str, str]:
    """The variables that a program sees, with those that a scheduler sets itself."""
    usual = 1 if {"gpu", "card_memory_gb"} & parts.keys() else ""  # a card without a number
    gpus, nodes = str(parts.get("asked_gpus", usual)), str(parts.get("nodes", 1))
    known = dict.fromkeys(GPUS_OF_NODE, gpus) if gpus else {}
    if gpus.isdigit() and nodes.isdigit():
        known[GPUS_OF_JOB] = str(int(gpus) * int(nodes))
    known |= dict.fromkeys(NODES_OF_JOB, nodes)
    known |= dict.fromkeys(NODES_IF_SAID if "nodes" in parts else (), nodes)
    for fact in reversed(facts):  # the nearest last, which counts
        if fact.kind == "variable":
            name, value = fact.value
            known[name] = OF_CLUSTER.sub(r"${\1}", value)
    return known


def _readings(program: Program, environment: dict[str, str], file: str) -> list[list[Reading]]:
    """The readings of a program: one list, or one for each service that its script starts."""
    if program.tool is not None:
        fields = {
            name: _fill_variables(value, environment)
            for name, value in (program.fields or {}).items()
        }
        return [[Reading(file, program.tool, fields, CONFIG, {})]]
    if not program.script:
        words = [
            _fill_variables(OF_CLUSTER.sub(r"${\1}", word), environment) for word in program.words
        ]
        return [command_readings([word for word in words if word], file)]
    found, asides = statements(OF_CLUSTER.sub(r"${\1}", program.script), file, environment)
    aside_readings = [Reading(file, None, {}, LAUNCH, {}, asides)] if found and asides else []
    serving = [readings for readings in found if any(map(_serves, readings))]
    builds = [readings for readings in serving if not _says_enough(readings)]  # of an engine
    if len(serving) - len(builds) > 1:
        return [[*readings, *aside_readings] for readings in serving if readings not in builds]
    return [[*(reading for readings in found for reading in readings), *aside_readings]]


def _fill_variables(value: Any, environment: dict[str, str]) -> Any:
    """A value with the variables that are known, or their defaults: ${TP:-2}."""
    if not isinstance(value, str) or "$" not in value:
        return value
    return VARIABLE.sub(lambda match: variable_value(match, environment), value)


def _model(readings: list[Reading], facts: list[Fact], file: str) -> list[Reading]:
    """The model that stands nearest, where the program itself names none."""
    if _named_model(readings):
        return []
    near = next((fact.value for fact in facts if fact.kind == "model"), "")
    served = (str(reading.fields.get("served_model_name", "")) for reading in readings)
    name = near or next((one for one in served if MODEL.fullmatch(one)), "")
    return [Reading(file, None, {}, CONFIG, {"model": name})] if name else []


def _says_enough(readings: list[Reading]) -> bool:
    """Return whether the readings are of a tool that trains or serves, not of a launcher alone."""
    return any(reading.tool and not reading.tool.launches for reading in readings)
