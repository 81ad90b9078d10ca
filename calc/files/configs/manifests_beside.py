"""Manifests and compose files that start a script beside them: its variables and machine."""

import re
from collections.abc import Collection
from pathlib import PurePath

from calc.files.configs.command_environment import OF_NODE, WORLD
from calc.files.configs.inside.facts import facts_of
from calc.files.configs.inside.services import machine_choices
from calc.files.configs.inside.trees import tree_of
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.tool_commands import Reading

STARTS = re.compile(r"^(?:apiVersion|services):", re.M)  # of a manifest, of a compose file
SPLIT = re.compile(r"[\s\"'\[\],]+")
LAUNCHES = re.compile(r"torchrun|torch\.distributed|accelerate launch|\bdeepspeed\b|nprocPerNode")


def starts_script(text: str, files: Collection[str]) -> bool:
    """Return whether a text is a manifest or a compose file that names a script among files."""
    scripts = {PurePath(file).name for file in files if file.endswith(".py")}
    words = {PurePath(word).name for word in SPLIT.split(text)} if STARTS.search(text) else set()
    return bool(scripts & words)


def variables_of_manifest(text: str, file: str) -> dict[str, str]:
    """The variables that a manifest gives its containers, and the processes that it starts.

    One that two containers give different values has none: it is ${NAME}, as in a shell.
    """
    try:
        tree = tree_of(text, file)
    except ConfigProblem:
        return {}
    named: dict[str, str] = {}
    for fact in facts_of(tree):
        if fact.kind == "variable":
            name, value = fact.value
            is_same = named.setdefault(name, str(value)) == str(value)
            named[name] = named[name] if is_same else f"${{{name}}}"
    return _processes(machine_choices(tree, file), text) | named


def _processes(machines: list[list[Reading]], text: str) -> dict[str, str]:
    """The variables for the processes of a run, if the manifest leaves no choice of machines."""
    parts = machines[0][0].parts if len(machines) == 1 else {}
    gpus = parts.get("asked_gpus")
    if not isinstance(gpus, int) or not LAUNCHES.search(text):
        return {}
    return {OF_NODE: str(gpus), WORLD: str(gpus * int(parts.get("nodes", 1)))}


def machines_of_manifest(text: str, file: str) -> list[list[Reading]]:
    """The machines that a manifest asks for, one list for each choice."""
    try:
        return machine_choices(tree_of(text, file), file)
    except ConfigProblem:
        return []
