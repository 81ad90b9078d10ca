"""The facts and settings that concern one program of a file: those nearest to it."""

import re
from typing import Any

from calc.files.configs.fields import field_catalog
from calc.files.configs.inside.fact import Fact, Path, snake
from calc.files.configs.inside.facts import leaves
from calc.mappings import Json

OF_MEMORY = re.compile(
    r"offload|lmcache|kv_?cache|swap|quanti|speculat|draft|max_model|utilization|lora|parallel|"
    r"max_context|context_length|"
    r"^pd_spec|disaggreg",
)
ROLES = ("prefill", "decode")  # phases that run apart
JOBS = {"pytorch_replica_specs", "mpi_replica_specs", "replica_specs", "leader_worker_template"}


def common_steps(first: Path, second: Path) -> int:
    """Number of steps from the root that two paths have in common."""
    return next(
        (place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )


def job_path(path: Path) -> Path:
    """The beginning of a path that leads to a job of a master and workers; empty without one."""
    names = [snake(name) for name in path]
    place = next((at for at, name in enumerate(names) if name in JOBS), -1)
    return path[: place + 1]


def role_of(path: Path, tree: Any) -> str:
    """The phase that a pool of a service runs, by a key or a name on the way; empty for both."""
    for step in path:
        if isinstance(tree, list):
            tree = tree[int(step)] if step.isdigit() and int(step) < len(tree) else None
        else:
            tree = tree.get(step) if isinstance(tree, dict) else None
        name = tree.get("name") if isinstance(tree, dict) else ""
        words = f"{step} {name}".lower()
        if role := next((role for role in ROLES if role in words), ""):
            return role
    return ""


def _beginnings(paths: list[Path]) -> set[Path]:
    """Every path above one of these, themselves included."""
    return {path[:steps] for path in paths for steps in range(1, len(path) + 1)}


def near_facts(facts: list[Fact], path: Path, others: list[Path]) -> list[Fact]:
    """The facts that concern the program at a path, the nearest first.

    A fact that stands nearer to another program is that program's.
    """
    of_others = _beginnings(others)
    near = []
    for fact in facts:
        steps = common_steps(fact.path, path)
        one_further = fact.path[: steps + 1]
        if len(one_further) == steps or one_further not in of_others:
            near.append((steps, fact))
    return [fact for _, fact in sorted(near, key=lambda each: -each[0])]


def _is_of_memory(key: str, value: Any) -> bool:
    """Return whether a setting speaks of memory, or asks for a part of a GPU."""
    asks_for_part = key in field_catalog().keys.gpus and isinstance(value, float)
    return bool(OF_MEMORY.search(key)) or asks_for_part


def unread_memory(tree: Any, program: Path, read: list[Path], others: list[Path]) -> Json:
    """Settings near a program whose names speak of memory, and which nothing has read.

    They are named to the reader, since what they change is not counted. What stands nearer to
    another program (`others`) is that program's.
    """
    fields = {}
    prefixes = set(read)
    of_others = _beginnings(others)
    for path, value in leaves(tree):
        if not path or not any(_is_of_memory(snake(name), value) for name in path[-2:]):
            continue
        steps = common_steps(path, program)
        if snake(path[-1]) == "parallelism":  # pods of a job
            continue
        near = steps >= min(len(program), 1) and path[: steps + 1] not in of_others
        near = near and not (path[steps].isdigit() and program[steps : steps + 1] != ())
        has_value = value not in (None, "", False, [], 0, "0", "false", "none")
        known = any(path[:length] in prefixes for length in range(len(path) + 1))
        if near and has_value and not known:
            fields[".".join(snake(name) for name in path)] = value
    return fields
