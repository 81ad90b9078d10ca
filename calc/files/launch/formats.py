"""Dotted fields as the text of a JSON, YAML or TOML file, with comments where possible."""

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from calc.evaluate import Row
from calc.files.launch.specs import Raw

AMBIGUOUS = re.compile(
    r"(?i)(true|false|yes|no|on|off|null|~|[-+.\d][\d._e+-]*)?"
)  # text that needs quotes in YAML
PLAIN = re.compile(r"[A-Za-z0-9_./][\w./ -]*")


def file_text(fields: Row, form: str, comments: Sequence[str] = ()) -> str:
    """The text of a file; JSON cannot hold the comments."""
    tree = _nested(fields)
    if form == "json":
        return json.dumps(tree, indent=2) + "\n"
    head = "".join(f"# {line}\n" for line in comments)
    return head + "\n".join(_toml(tree) if form == "toml" else _yaml(tree)).rstrip() + "\n"


def flags(fields: Row) -> list[str]:
    """The fields as flags, --a-field value: true without a value, false left out."""
    return [
        f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}")
        for name, value in fields.items()
        if value is not False
    ]


def settings(fields: Row) -> list[str]:
    """The fields as overrides, a.field=value, quoted for the shell where they need it."""
    return [shlex.quote(f"{name}={_setting(value)}") for name, value in fields.items()]


def _setting(value: Any) -> str:
    return f"[{','.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _nested(fields: Row) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in fields.items():
        *path, last = name.split(".")
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    return tree


def _yaml(tree: dict[str, Any], indent: str = "") -> Iterator[str]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield f"{indent}{name}:"
            yield from _yaml(value, indent + "  ")
        else:
            yield f"{indent}{name}: {_yaml_value(value)}"


def _yaml_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml_value, value))}]"
    if isinstance(value, Raw | bool | int | float):
        return json.dumps(value) if isinstance(value, bool) else str(value)
    return (
        value
        if PLAIN.fullmatch(value) and not AMBIGUOUS.fullmatch(value)
        else f"'{value.replace(chr(39), chr(39) * 2)}'"
    )


def _toml(tree: dict[str, dict[str, Any]]) -> Iterator[str]:
    for section, fields in tree.items():
        yield f"[{section}]"
        yield from (f"{name} = {json.dumps(value)}" for name, value in fields.items())
        yield ""
