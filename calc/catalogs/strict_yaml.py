"""Reads YAML strictly: what YAML 1.1 would change silently is an error that names the fix."""

import math
import re
from collections.abc import Sequence
from typing import Any

import yaml

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C parser is seven times faster and gives the same nodes

TAG = "tag:yaml.org,2002:"
WHOLE = re.compile(r"[-+]?(0|[1-9][0-9_]*)")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
DEEPEST, LONGEST_NUMBER = 12, 18  # nesting levels, and digits of a number: far beyond any catalog
NUMBER_LIKE = re.compile(r"[-+.]?\d[\d_.,]*([eE][-+]?\d+)?")


class CatalogError(Exception):
    """One sentence that names the file, the entry, the field and the fix."""


def read_strictly(text: str, file: str) -> dict[str, Any]:
    """The text of a YAML file as plain values; dates stay ISO text."""
    try:
        loader = Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except RecursionError:
        raise CatalogError(f"{file}: values are nested too deeply; restore the last good version.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise CatalogError(f"{file}{line}: this is not YAML ({problem}); correct the line or restore the last good version.") from None
    if node is None or not isinstance(node, yaml.MappingNode):
        raise CatalogError(f"{file}: the file must hold a mapping; restore the last good version.")
    return _value(node, file, (), set())


def _value(node, file, path, met):
    """The value of a node; `met` holds the nodes read so far, which only an alias can repeat."""
    if id(node) in met:
        _refuse(file, path, node, "an alias refers to a value written elsewhere", "write the value out")
    if len(path) > DEEPEST:
        _refuse(file, path[:DEEPEST], node, "values are nested too deeply", "restore the last good version")
    met.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, file, path)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, file, (*path, str(place_of_fault)), met) for place_of_fault, item in enumerate(node.value)]
    mapping = {}
    for key_node, value_node in node.value:
        key = key_node.value
        if not isinstance(key_node, yaml.ScalarNode) or key_node.tag == TAG + "merge":
            _refuse(file, path, key_node, "a key must be a plain word", "write the fields out")
        if key_node.tag != TAG + "str":
            _refuse(file, path, key_node, f"YAML does not read the key {key} as text", f'write "{key}" in quotes')
        if key in mapping:
            _refuse(file, (*path, key), key_node, "the key appears twice", "keep one of the two")
        mapping[key] = _value(value_node, file, (*path, key), met)
    return mapping


def _scalar(node, file, path):
    text, tag, plain = node.value, node.tag.removeprefix(TAG), not node.style
    if tag == "str":
        if plain and NUMBER_LIKE.fullmatch(text):
            _refuse(file, path, node, f"YAML reads {text} as text, not as a number", f"write {_as_number(text)} or quote it")
        return text
    if tag == "int" and WHOLE.fullmatch(text):
        if len(text) > LONGEST_NUMBER:
            _refuse(file, path, node, f"a number has {len(text)} digits, more than any catalog needs", "correct it")
        return int(text.replace("_", ""))
    if tag == "float" and ":" not in text:
        number = float(text.replace("_", "").replace(".inf", "inf").replace(".Inf", "inf").replace(".nan", "nan"))
        if math.isnan(number):
            _refuse(file, path, node, ".nan is not a value", "leave the field out")
        return number
    if tag == "bool" and text in ("true", "false"):
        return text == "true"
    if tag == "timestamp" and DATE.fullmatch(text):
        return text
    cures = {
        "bool": "write true or false, or quote the word",
        "null": "leave the field out",
        "timestamp": "write the date without a time, such as 2026-07-20",
    }
    return _refuse(
        file, path, node, f"YAML reads {text or 'an empty value'} as {tag}", cures.get(tag, "write a plain decimal number or quote it")
    )


def _as_number(text):
    try:
        number = float(text.replace("_", "").replace(",", ""))
    except ValueError:
        return "a plain decimal number"
    return str(int(number)) if number.is_integer() else str(number)


def _refuse(file, path, node, problem, cure):
    raise CatalogError(f"{place_of_fault(file, path)} (line {node.start_mark.line + 1}): {problem}; {cure}.")


def place_of_fault(file: str, path: Sequence[str]) -> str:
    """The location of a fault in words: the file, the entry and the field."""
    words = [str(file)]
    if len(path) > 1:
        words.append(f"entry {path[1]}")
    field = ".".join(str(step) for step in path[2:]) if len(path) > 1 else ".".join(path)
    if field:
        words.append(f"field {field}")
    return ", ".join(words)
