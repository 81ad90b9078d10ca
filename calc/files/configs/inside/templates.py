"""Templates within a file, {{ model }}, filled with the values that the same file gives."""

import re
from typing import Any

from calc.files.configs.problem import DEEPEST
from calc.mappings import Json

HOLDERS = ("vars", "env", "environment", "variables", "parameters", "params", "inputs", "set_fact")
USED = re.compile(
    r"\$?\{\{-?[ \t]*\.?(?:[\w-]{1,40}\.){0,4}([\w-]{1,60})[ \t]*-?\}\}"  # of Ansible, Argo, GitHub
    r"|\$\((?:[\w-]{1,40}\.){1,3}([\w-]{1,60})\)"  # of Tekton
)
VALUES = ("value", "default")
LONGEST = 20_000  # characters of a text that is filled


def filled_templates(tree: Json) -> Json:
    """A tree whose templates are filled; those without one known value stand as they are."""
    values: dict[str, set[str]] = {}
    _collect(tree, False, values, 0)
    known = {name: next(iter(one)) for name, one in values.items() if len(one) == 1}
    filled = _fill(tree, known) if known else tree
    return filled if isinstance(filled, dict) else tree


def _collect(tree: Any, is_held: bool, values: dict[str, set[str]], depth: int) -> None:
    """Add what the parts of a tree give as variables, by name."""
    if depth > DEEPEST:
        return
    if isinstance(tree, list):
        for item in tree:
            name = item.get("name") if isinstance(item, dict) else None
            if is_held and isinstance(name, str):
                _add(values, name, next((item[key] for key in VALUES if key in item), None))
            _collect(item, False, values, depth + 1)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if is_held:
                default = value.get("default") if isinstance(value, dict) else value
                _add(values, str(key), default)
            _collect(value, str(key).lower() in HOLDERS, values, depth + 1)


def _add(values: dict[str, set[str]], name: str, value: Any) -> None:
    """Keep the value of a name, if it is a plain one without a template in it."""
    if (
        isinstance(value, str | int | float)
        and not isinstance(value, bool)
        and "{{" not in str(value)
    ):
        values.setdefault(name, set()).add(str(value))


def _fill(tree: Any, known: dict[str, str]) -> Any:
    """A tree with its templates filled in by the values that are known."""
    if isinstance(tree, dict):
        return {key: _fill(value, known) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_fill(value, known) for value in tree]
    if not isinstance(tree, str) or len(tree) > LONGEST:
        return tree
    return USED.sub(lambda match: known.get(match[1] or match[2], match[0])[:1000], tree)
