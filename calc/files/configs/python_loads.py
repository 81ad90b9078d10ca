"""Settings of a script that stand in it as a text: OmegaConf.create of some lines of YAML."""

import ast
from collections.abc import Iterator
from typing import Any

from calc.files.configs.problem import ConfigProblem
from calc.files.configs.python_values import dotted_name
from calc.files.configs.yaml_text import read_yaml
from calc.mappings import Json

LOADS = ("create", "safe_load")  # of OmegaConf and PyYAML
DEEPEST = 8


def loaded_settings(tree: ast.AST) -> Json:
    """The settings of the texts in a script, by dotted names such as optim.lr."""
    settings: Json = {}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and dotted_name(call.func).rpartition(".")[2] in LOADS:
            text = call.args[0] if call.args else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                settings |= _settings_of(text.value)
    return settings


def _settings_of(text: str) -> Json:
    """The settings of a text of YAML; none where it is not YAML."""
    try:
        return dict(_leaves(read_yaml(text, ""), ()))
    except (ConfigProblem, ValueError):
        return {}


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield nested mappings and the values in them, but for those that refer to others."""
    if path and "${" not in str(value):
        yield ".".join(path), value
    if isinstance(value, dict) and len(path) < DEEPEST:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, str(key)))
