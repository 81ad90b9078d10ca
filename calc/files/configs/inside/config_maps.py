"""ConfigMaps of Kubernetes written into the containers that take their variables from them."""

import re
from collections.abc import Iterator
from typing import Any

from calc.mappings import Json

VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
DEEPEST = 40
Maps = dict[str, dict[str, str]]  # name of a map -> its variables


def with_config_maps(tree: Any) -> Any:
    """A tree whose containers have the variables of the ConfigMaps that they name.

    A variable of the container's own counts before them. A map of variables is then no config.
    """
    maps = dict(_maps(tree, 0))
    return _filled(tree, maps, 0) if maps else tree


def _maps(node: Any, depth: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name and the variables of each ConfigMap that holds variables alone."""
    if depth > DEEPEST:
        return
    if isinstance(node, dict):
        if variables := _variables(node):
            yield str((node.get("metadata") or {}).get("name", "")), variables
            return
        for value in node.values():
            yield from _maps(value, depth + 1)
    elif isinstance(node, list):
        for value in node:
            yield from _maps(value, depth + 1)


def _variables(node: Json) -> dict[str, str]:
    """The variables of a ConfigMap; empty for any other mapping."""
    data = node.get("data") if node.get("kind") == "ConfigMap" else None
    if not isinstance(data, dict) or not all(VARIABLE.fullmatch(str(key)) for key in data):
        return {}
    return {str(key): str(value) for key, value in data.items()}


def _filled(node: Any, maps: Maps, depth: int) -> Any:
    """A part of a tree with the variables of the maps in its containers."""
    if depth > DEEPEST:
        return node
    if isinstance(node, list):
        return [_filled(value, maps, depth + 1) for value in node]
    if not isinstance(node, dict):
        return node
    filled = {key: _filled(value, maps, depth + 1) for key, value in node.items()}
    if _variables(node):
        return {**filled, "data": {}}
    given = [name for one in node.get("envFrom") or [] if (name := _named(one, "configMapRef"))]
    own = node.get("env")
    if not given and not isinstance(own, list):
        return filled
    before = {name: value for one in given for name, value in maps.get(one, {}).items()}
    after = [_with_value(one, maps) for one in own or [] if isinstance(one, dict)]
    taken = {one.get("name") for one in after}
    left = [{"name": name, "value": value} for name, value in before.items() if name not in taken]
    return {**filled, "env": [*after, *left]}


def _with_value(variable: Json, maps: Maps) -> Json:
    """A variable of a container, with the value of the key of a map that it names."""
    source = (variable.get("valueFrom") or {}).get("configMapKeyRef")
    if not isinstance(source, dict):
        return variable
    value = maps.get(str(source.get("name")), {}).get(str(source.get("key")))
    return variable if value is None else {"name": variable.get("name"), "value": value}


def _named(source: Any, kind: str) -> str:
    """The name of a source of variables of a kind."""
    reference = source.get(kind) if isinstance(source, dict) else None
    return str(reference.get("name", "")) if isinstance(reference, dict) else ""
