"""Dotted fields as the text of a JSON, YAML or TOML file, with comments where possible."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from calc.evaluate import Row
from calc.files.launch.shell import comment_line, shell_word
from calc.mappings import Json, put_at_path

DELETE, DELETE_ESCAPED = "\x7f", "\\u007f"  # a character that JSON holds and TOML does not
WIDTH = 1000  # columns, so that YAML breaks no line


class _Dumper(yaml.SafeDumper):
    """YAML as people write it: a text of several lines as a block."""


def _as_block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else "")


_Dumper.add_representer(str, _as_block)


def file_text(fields: Row, form: str, comments: Sequence[str] = ()) -> str:
    """Return the text of a file; JSON cannot hold the comments."""
    tree = _nest(fields)
    if form == "json":
        return json.dumps(tree, indent=2) + "\n"
    head = "".join(f"{comment_line(line)}\n" for line in comments)
    if form == "toml":
        return head + "\n".join(_toml_lines(tree)).rstrip() + "\n"
    return head + yaml_text(tree)


def yaml_text(tree: Json) -> str:
    """Return a tree as YAML, in the order of its keys."""
    look: Json = {"sort_keys": False, "allow_unicode": True, "width": WIDTH}
    return yaml.dump(tree, Dumper=_Dumper, **look)


def flags(fields: Row) -> list[str]:
    """Return the fields as flags, --a-field value: true without a value, false left out."""
    return [
        f"--{name.replace('_', '-')}" + ("" if value is True else f" {shell_word(value)}")
        for name, value in fields.items()
        if value is not False
    ]


def settings(fields: Row) -> list[str]:
    """Return the fields as overrides, a.field=value, each one word of a shell."""
    return [shell_word(f"{name}={_setting(value)}") for name, value in fields.items()]


def _setting(value: Any) -> str:
    return f"[{','.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _nest(fields: Row) -> Json:
    """Nest fields such as a.b.c by the parts of their names."""
    tree: Json = {}
    for name, value in fields.items():
        put_at_path(tree, name.split("."), value)
    return tree


def _toml_lines(tree: dict[str, Json]) -> Iterator[str]:
    """Lines of TOML, whose strings, numbers and lists are written as those of JSON."""
    for section, fields in tree.items():
        yield f"[{section}]"
        for name, value in fields.items():
            text = json.dumps(value, ensure_ascii=False)
            yield f"{name} = {text.replace(DELETE, DELETE_ESCAPED)}"
        yield ""
