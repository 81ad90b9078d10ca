"""Patches of Kubernetes manifests: merged by the names of list items, or as JSON operations.

Source: Kubernetes API conventions, strategic merge patch; RFC 6902; as of 2026-12-01.
"""

import copy
from collections.abc import Sequence
from typing import Any

from calc.mappings import Json

ITEM_NAMES = ("name", "mountPath", "containerPort", "key")  # by which items of a list are merged
DIRECTIVE = "$patch"
END = "-"  # the place behind the last item of a list
DEEPEST = 40


def merged_patch(below: Any, patch: Any, depth: int = 0) -> Any:
    """A value with a strategic merge patch over it; null removes a key."""
    if isinstance(below, list) and isinstance(patch, list):
        return _merged_list(below, patch, depth)
    is_whole = not isinstance(below, dict) or not isinstance(patch, dict) or depth > DEEPEST
    if is_whole or patch.get(DIRECTIVE) == "replace":
        return copy.deepcopy(_without_directive(patch))
    values = dict(below)
    for key, value in patch.items():
        if value is None or (isinstance(value, dict) and value.get(DIRECTIVE) == "delete"):
            values.pop(key, None)
        else:
            values[key] = merged_patch(values.get(key), value, depth + 1)
    return values


def _without_directive(patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    return {key: value for key, value in patch.items() if key != DIRECTIVE}


def _merged_list(below: list, patch: list, depth: int) -> list:
    """A list with the items of another, of one name as one; scalars replace the whole list."""
    first = patch[0] if patch and isinstance(patch[0], dict) else {}
    name = next((one for one in ITEM_NAMES if one in first), "")
    if not name:
        return copy.deepcopy(patch)
    items = list(below)
    for item in patch:
        own = item.get(name) if isinstance(item, dict) else None
        at = next(
            (at for at, old in enumerate(items) if isinstance(old, dict) and old.get(name) == own),
            None,
        )
        if isinstance(item, dict) and item.get(DIRECTIVE) == "delete":
            items = [old for place, old in enumerate(items) if place != at]
        elif at is None:
            items.append(copy.deepcopy(item))
        else:
            items[at] = merged_patch(items[at], item, depth + 1)
    return items


def with_operations(document: Json, operations: Sequence[Any]) -> Json:
    """A manifest after the operations of a JSON patch; those that lead nowhere change nothing."""
    changed = copy.deepcopy(document)
    for one in operations:
        if isinstance(one, dict) and one.get("op") in ("add", "replace", "remove"):
            path = [
                part.replace("~1", "/").replace("~0", "~")
                for part in str(one.get("path", "")).split("/")[1:]
            ]
            _operate(changed, path, str(one["op"]), one.get("value"))
    return changed


def _operate(document: Json, path: list[str], operation: str, value: Any) -> None:
    """Add, replace or remove the value at a path of a manifest."""
    holder: Any = document
    for part in path[:-1]:
        holder = _inner(holder, part)
    last = path[-1] if path else ""
    if isinstance(holder, dict):
        if operation == "remove":
            holder.pop(last, None)
        else:
            holder[last] = value
    elif isinstance(holder, list) and (last == END or last.isdecimal()):
        at = len(holder) if last == END else min(int(last), len(holder))
        if operation != "add":
            del holder[at : at + 1]
        if operation != "remove":
            holder.insert(at, value)


def _inner(holder: Any, part: str) -> Any:
    """The value below one step of a path; None where there is none."""
    if isinstance(holder, dict):
        return holder.get(part)
    is_place = isinstance(holder, list) and part.isdecimal() and int(part) < len(holder)
    return holder[int(part)] if is_place else None
