"""YAML of other tools as plain values: bounded, without aliases, tags and merges."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from calc.files.configs.problem import DEEPEST, ConfigProblem

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
WHOLE = re.compile(r"[-+]?(0|[1-9][0-9_]{0,17})")
DECIMAL = re.compile(r"[-+]?([0-9][0-9_]*\.[0-9_]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
WORDS: dict[str, Any] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
WORDS |= {
    form: word in ("true", "yes", "on")
    for word in ("true", "yes", "on", "false", "no", "off")
    for form in (word, word.title(), word.upper())
}


def read_yaml(text: str, file: str) -> Any:
    """The first document of the text; raises ConfigProblem.

    Events are read one by one, so that a deeply nested document is refused early.
    """
    events = yaml.parse(text, Loader)
    try:
        for event in events:
            if isinstance(event, yaml.NodeEvent):
                return _value(event, events, file, 0)
    except yaml.YAMLError as error:
        mark, reason = (
            getattr(error, "problem_mark", None),
            getattr(error, "problem", None) or "unreadable characters",
        )
        raise ConfigProblem(
            f"{file}{f', line {mark.line + 1}' if mark else ''}: this is not YAML "
            f"({reason}); correct the line."
        ) from None
    return None


def _value(event: Any, events: Iterator, file: str, depth: int) -> Any:
    where = f"{file}, line {event.start_mark.line + 1}"
    if isinstance(event, yaml.AliasEvent) or event.anchor:
        raise ConfigProblem(
            f"{where}: anchors and aliases (& and *) are not read; write the fields out."
        )
    if event.tag:
        raise ConfigProblem(f"{where}: the tag {event.tag} is not read; write the plain value.")
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event.value) if event.implicit[0] and not event.style else event.value
    if depth == DEEPEST:
        raise ConfigProblem(
            f"{where}: values are nested deeper than {DEEPEST}; give the config alone."
        )
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_value(event, events, file, depth + 1))
        return items
    mapping: dict[str, Any] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        where = f"{file}, line {event.start_mark.line + 1}"
        if not isinstance(event, yaml.ScalarEvent) or event.value == "<<":
            raise ConfigProblem(f"{where}: a key must be a plain word; write the fields out.")
        if event.value in mapping:
            raise ConfigProblem(f"{where}: {event.value} appears twice; keep one of the two.")
        mapping[event.value] = _value(next(events), events, file, depth + 1)
    return mapping


def _scalar(text: str) -> bool | float | str:
    if text in WORDS:
        return WORDS[text]
    if WHOLE.fullmatch(text):
        return int(text.replace("_", ""))
    return float(text.replace("_", "")) if DECIMAL.fullmatch(text) else text
