"""Services of a file that are not read as programs and that share its machines."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from calc.files.configs.fields import field_catalog
from calc.files.configs.inside.fact import Path, snake
from calc.files.configs.inside.facts import facts_of, leaves
from calc.files.configs.inside.near_facts import job_path
from calc.files.configs.inside.programs import Program
from calc.files.configs.problem import DEEPEST
from calc.files.configs.tool_commands import engine_of
from calc.mappings import Json

OF_GPUS = ("gpus", "devices", "card")
WORKERS = "worker_group_specs"
APPLICATIONS = "applications"  # of Ray Serve
CLUSTERS = {"ray_cluster_config", "ray_cluster_spec"}  # machines of what Ray runs, no services
CONFIG_NAME = re.compile(r"[\w/-]\.(?:ya?ml|json|toml)(?![\w.])")
LONGEST = 80  # characters of an image


def unread_engine(name: str) -> str:
    """The engine that an image, a command or a name stands for and that has no estimate here."""
    plain = name.lower()
    return next(
        (
            engine
            for pattern, engine in field_catalog().unread_engines.items()
            if fnmatchcase(plain, pattern)
        ),
        "",
    )


def without_clusters(programs: list[Program], tree: Any) -> list[Program]:
    """The programs but for the cluster of Ray and the script behind an application beside them."""
    imported = {
        f"{str(value).partition(':')[0]}.py"
        for path, value in leaves(tree)
        if path and path[-1] == "import_path"
    }
    behind = [
        next((at for at, step in enumerate(program.path) if _is_behind(step, imported)), None)
        for program in programs
    ]
    before = [program.path for program, at in zip(programs, behind, strict=True) if at is None]
    return [
        program
        for program, at in zip(programs, behind, strict=True)
        if at is None or not any(APPLICATIONS in path for path in before)
    ]


def _is_behind(step: str, imported: set[str]) -> bool:
    """Return whether a step of a path leads to a cluster of Ray or to a script of that name."""
    return snake(step) in CLUSTERS or step in imported


def configs_of(program: Program, programs: list[Program]) -> list[Program]:
    """The configs in the same file, as a ConfigMap holds them, that a command names.

    A script may write the only one to a file of any name.
    """
    text = program.script or " ".join(program.words)
    others = [other for other in programs if other.tool and text and other.path]
    named = [
        other
        for other in others
        if any(
            "." in name and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", text)
            for name in other.path
        )
    ]
    written = others if len(others) == 1 and CONFIG_NAME.search(text) else []
    return named or written


def other_services(tree: Any, programs: list[Program]) -> dict[str, str]:
    """Return the image of each container that uses a GPU and belongs to none of the programs."""
    program_paths = [program.path for program in programs]
    jobs = {job_path(path) for path in program_paths} - {()}
    services = {}
    for path, node in _containers(tree, ()):
        if any(own[: len(path)] == path or path[: len(own)] == own for own in program_paths):
            continue
        if job_path(path) in jobs or (programs and CLUSTERS.intersection(map(snake, path))):
            continue
        if any(path[: _workers(path)] == own[: _workers(path)] for own in program_paths):
            continue
        image = str(node.get("image"))
        if engine_of(image) and _begins(programs, engine_of(image)) and "envFrom" in node:
            continue  # what the program says stands in a ConfigMap
        uses_gpu = any(fact.kind in OF_GPUS for fact in facts_of(node))
        if uses_gpu or unread_engine(image):
            name = str(node.get("name") or path[-1])
            services[f"service {name}".replace("+", " ")] = image[:LONGEST]
    return services


def _workers(path: Path) -> int:
    """The number of steps to the workers of a cluster of Ray, whose head runs the program."""
    names = [snake(step) for step in path]
    return names.index(WORKERS) if WORKERS in names else len(path) + 1


def _begins(programs: list[Program], command: str) -> bool:
    """Return whether a program is the command of an engine, or has the engine's fields."""
    return any(
        " ".join(program.words).startswith(command)
        or (program.tool is not None and command in program.tool.commands)
        for program in programs
    )


def _containers(tree: Any, path: Path) -> Iterator[tuple[Path, Json]]:
    """Return every mapping with an image: a service of compose, a container of a manifest."""
    if len(path) > DEEPEST:
        return
    if isinstance(tree, dict):
        if isinstance({snake(str(key)): value for key, value in tree.items()}.get("image"), str):
            yield path, tree
            return
        for key, value in tree.items():
            yield from _containers(value, (*path, str(key)))
    elif isinstance(tree, list):
        for place, value in enumerate(tree):
            yield from _containers(value, (*path, str(place)))


def says_less(own: dict[str, str], more: dict[str, str]) -> bool:
    """Return whether settings are part of others, the GPUs of one instance left out."""
    left = [
        {
            name: value
            for name, value in one.items()
            if name != "asked_gpus" or "instance" not in one
        }
        for one in (own, more)
    ]
    return own.items() < more.items() or left[0].items() < left[1].items()
