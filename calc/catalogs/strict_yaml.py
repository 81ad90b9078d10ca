"""Reads YAML strictly: what YAML 1.1 would change silently is an error that names the fix."""

import math
import re
from collections.abc import Sequence
from typing import Any

import yaml

from calc.mappings import Json

# The C parser is seven times faster and gives the same nodes.
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

TAG = "tag:yaml.org,2002:"
WHOLE = re.compile(r"[-+]?(0|[1-9][0-9_]*)")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
DEEPEST, LONGEST_NUMBER = 12, 18  # nesting levels, and digits of a number: far beyond any catalog
NUMBER_LIKE = re.compile(r"[-+.]?\d[\d_.,]*([eE][-+]?\d+)?")
CURES = {  # type as which YAML reads a value -> what to write instead
    "bool": "write true or false, or quote the word",
    "null": "leave the field out",
    "timestamp": "write the date without a time, such as 2026-07-20",
}
CURE_OF_NUMBERS = "write a plain decimal number or quote it"


class CatalogError(Exception):
    """One sentence that names the file, the entry, the field and the fix."""


def read_bytes_strictly(content: bytes, file: str) -> Json:
    """Return the plain values of a YAML file in UTF-8; raise CatalogError for another encoding."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CatalogError(
            f"{file}: byte {error.start} is not UTF-8; save the file as UTF-8."
        ) from None
    return read_strictly(text, file)


def read_strictly(text: str, file: str) -> Json:
    """The text of a YAML file as plain values; dates stay ISO text."""
    try:
        loader = Loader(text)
        loader.get_event()  # the start of the stream
        if (
            not loader.check_event(yaml.DocumentStartEvent)
            or loader.get_event() is None
            or not loader.check_event(yaml.MappingStartEvent)
        ):
            raise CatalogError(
                f"{file}: the file must hold a mapping; restore the last good version."
            )
        document = _value(loader, file, ())
        loader.get_event()  # the end of the document
        if not loader.check_event(yaml.StreamEndEvent):
            raise CatalogError(
                f"{file}: the file must hold a single document; restore the last good version."
            )
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise CatalogError(
            f"{file}{line}: this is not YAML ({problem}); correct the line or restore the "
            f"last good version."
        ) from None
    return document


def _value(loader, file, path):
    """The next value of the parser, from its events: a tree of nodes takes forty times the text."""
    event = loader.get_event()
    if isinstance(event, yaml.AliasEvent):
        _refuse(
            file, path, event, "an alias refers to a value written elsewhere", "write the value out"
        )
    if len(path) > DEEPEST:
        top = path[:DEEPEST]
        _refuse(file, top, event, "values are nested too deeply", "restore the last good version")
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event, _tag(loader, event), file, path)
    if isinstance(event, yaml.SequenceStartEvent):
        return _list(loader, file, path)
    return _mapping(loader, file, path)


def _list(loader, file, path):
    """The items of a list whose first event has been read."""
    items: list[Any] = []
    while not loader.check_event(yaml.SequenceEndEvent):
        items.append(_value(loader, file, (*path, str(len(items)))))
    loader.get_event()
    return items


def _mapping(loader, file, path):
    """The fields of a mapping whose first event has been read; refuse a key that is no word."""
    mapping: Json = {}
    while not loader.check_event(yaml.MappingEndEvent):
        name = loader.get_event()
        tag = _tag(loader, name) if isinstance(name, yaml.ScalarEvent) else "merge"
        key = getattr(name, "value", "")
        if tag == "merge":
            _refuse(file, path, name, "a key must be a plain word", "write the fields out")
        if tag != "str":
            problem = f"YAML does not read the key {key} as text"
            _refuse(file, path, name, problem, f'write "{key}" in quotes')
        if key in mapping:
            _refuse(file, (*path, key), name, "the key appears twice", "keep one of the two")
        mapping[key] = _value(loader, file, (*path, key))
    loader.get_event()
    return mapping


def _tag(loader, event):
    """Return the type that YAML 1.1 reads a scalar as, by its tag or its text."""
    tag = (
        event.tag
        if event.tag not in (None, "!")
        else loader.resolve(yaml.ScalarNode, event.value, event.implicit)
    )
    return tag.removeprefix(TAG)


def _scalar(event, tag, file, path):
    """A plain value as text, number, truth or nothing; refuse what YAML would read otherwise."""
    text = event.value
    if tag == "str":
        return _text(event, file, path)
    if tag == "int" and WHOLE.fullmatch(text):
        return _whole_number(event, file, path)
    if tag == "float" and ":" not in text:
        return _decimal_number(event, file, path)
    if tag == "bool" and text in ("true", "false"):
        return text == "true"
    if tag == "timestamp" and DATE.fullmatch(text):
        return text
    problem = f"YAML reads {text or 'an empty value'} as {tag}"
    return _refuse(file, path, event, problem, CURES.get(tag, CURE_OF_NUMBERS))


def _text(event, file, path):
    """A text; refuse one without quotes that looks like a number."""
    text = event.value
    if not event.style and NUMBER_LIKE.fullmatch(text):
        problem = f"YAML reads {text} as text, not as a number"
        _refuse(file, path, event, problem, f"write {_as_number(text)} or quote it")
    return text


def _whole_number(event, file, path):
    """A whole number; refuse one of very many digits."""
    digits = len(event.value)
    if digits > LONGEST_NUMBER:
        problem = f"a number has {digits} digits, more than any catalog needs"
        _refuse(file, path, event, problem, "correct it")
    return int(event.value.replace("_", ""))


def _decimal_number(event, file, path):
    """A decimal number, infinity included; refuse .nan."""
    plain = event.value.replace("_", "").replace(".inf", "inf").replace(".Inf", "inf")
    number = float(plain.replace(".nan", "nan"))
    if math.isnan(number):
        _refuse(file, path, event, ".nan is not a value", "leave the field out")
    return number


def _as_number(text):
    """Return a number without separators and exponents, or what to write instead."""
    try:
        number = float(text.replace("_", "").replace(",", ""))
    except ValueError:
        return "a plain decimal number"
    return str(int(number)) if number.is_integer() else str(number)


def _refuse(file, path, event, problem, cure):
    raise CatalogError(
        f"{place_of_fault(file, path)} (line {event.start_mark.line + 1}): {problem}; {cure}."
    )


def place_of_fault(file: str, path: Sequence[str]) -> str:
    """The location of a fault in words: the file, the entry and the field."""
    words = [str(file)]
    if len(path) > 1:
        words.append(f"entry {path[1]}")
    field = ".".join(str(step) for step in path[2:]) if len(path) > 1 else ".".join(path)
    if field:
        words.append(f"field {field}")
    return ", ".join(words)
