"""YAML of other tools as plain values: bounded, without tags."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from calc.files.configs.problem import DEEPEST, ConfigProblem
from calc.mappings import Json

MOST_NODES = 50_000
STANDARD = ("tag:", "!!")  # of YAML's own and of languages, which would make objects
LOOK_UP = "!FindInMap"  # of CloudFormation's, whose long form is Fn::FindInMap
TEXTS = ("!Sub", "!")  # whose text stands as it is, with its ${NAME}
Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
INDENT = re.compile(r"[ \t]*")
LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # as YAML counts lines
WHOLE = re.compile(r"[-+]?(0|[1-9][0-9_]{0,17})")
DECIMAL = re.compile(r"[-+]?([0-9][0-9_]*\.[0-9_]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
WORDS: Json = dict.fromkeys(("", "~", "null", "Null", "NULL"))
WORDS |= {
    form: word in ("true", "yes", "on")
    for word in ("true", "yes", "on", "false", "no", "off")
    for form in (word, word.title(), word.upper())
}


def read_yaml(text: str, file: str) -> Any:
    """The first document of the text; raises ConfigProblem."""
    return next(iter(read_yaml_documents(text, file)), None)


def read_yaml_documents(text: str, file: str) -> list[Any]:
    """Every document of the text; raises ConfigProblem.

    Events are read one by one, so that a deeply nested document is refused early.
    """
    events = yaml.parse(text, Loader)
    documents = []
    try:
        for event in events:
            if isinstance(event, yaml.NodeEvent):
                documents.append(_Nodes(events, file).value(event, 0)[0])
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or "unreadable characters"
        line = mark.line if mark else 0
        lines = LINE_END.split(text)
        if line < len(lines) and "\t" in INDENT.match(lines[line])[0]:  # type: ignore[index]
            reason = "a tab indents it, and YAML takes spaces alone"
        raise ConfigProblem(
            f"{file}{f', line {line + 1}' if mark else ''}: this is not YAML "
            f"({reason}); correct the line."
        ) from None
    return documents


def yaml_of(documents: list[Any]) -> str:
    """Plain values as the documents of one text."""
    return yaml.safe_dump_all(documents, sort_keys=False)


class _Nodes:
    """The nodes of one document as plain values.

    An alias is the anchored value itself, counted at its full size, so that a small text cannot
    stand for a large one.
    """

    def __init__(self, events: Iterator, file: str) -> None:
        self.events, self.file = events, file
        self.anchored: dict[str, tuple[Any, int]] = {}
        self.count = 0

    def value(self, event: Any, depth: int) -> tuple[Any, int]:
        """The value of a node, and how many nodes it holds."""
        where = f"{self.file}, line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchored:
                raise ConfigProblem(f"{where}: *{event.anchor} has no anchor; write the value out.")
            value, size = self.anchored[event.anchor]
        else:
            value, size = self._own_value(event, depth, where)
            if event.anchor:
                self.anchored[event.anchor] = value, size
        self.count += size if isinstance(event, yaml.AliasEvent) else 1
        if self.count > MOST_NODES:
            raise ConfigProblem(
                f"{where}: more than {MOST_NODES:,} values; give the config of one run alone."
            )
        return value, size

    def _own_value(self, event: Any, depth: int, where: str) -> tuple[Any, int]:
        """The value that begins with an event, and the number of values that it holds."""
        if event.tag and event.tag.startswith(STANDARD):
            raise ConfigProblem(f"{where}: the tag {event.tag} is not read; write the plain value.")
        if isinstance(event, yaml.ScalarEvent) and event.tag:  # a function of CloudFormation's
            plain = event.tag in TEXTS
            return (event.value if plain else f"${{{event.value.removeprefix('${')}}}"), 1
        if isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0] and not event.style
            return (_scalar(event.value) if plain else event.value), 1
        if depth == DEEPEST:
            raise ConfigProblem(
                f"{where}: values are nested deeper than {DEEPEST}; give the config alone."
            )
        if isinstance(event, yaml.SequenceStartEvent) and event.tag == LOOK_UP:
            place, size = self._sequence(depth)
            return {"Fn::FindInMap": place}, size + 1
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(depth)
        return self._mapping(depth)

    def _sequence(self, depth: int) -> tuple[list[Any], int]:
        """The items of a list, and the number of values that it holds."""
        items, total = [], 1
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            item, size = self.value(event, depth + 1)
            items.append(item)
            total += size
        return items, total

    def _mapping(self, depth: int) -> tuple[Json, int]:
        """The fields of a mapping, merged ones included, and the number of values that it holds."""
        mapping: Json = {}
        merged: Json = {}
        total = 1
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            where = f"{self.file}, line {event.start_mark.line + 1}"
            if not isinstance(event, yaml.ScalarEvent):
                raise ConfigProblem(f"{where}: a key must be a plain word; write the fields out.")
            if event.value in mapping:
                raise ConfigProblem(f"{where}: {event.value} appears twice; keep one of the two.")
            value, size = self.value(next(self.events), depth + 1)
            total += size
            if event.value == "<<":
                for part in value if isinstance(value, list) else [value]:
                    merged = (part if isinstance(part, dict) else {}) | merged
            else:
                mapping[event.value] = value
        return merged | mapping, total


def _scalar(text: str) -> bool | float | str:
    if text in WORDS:
        return WORDS[text]
    if WHOLE.fullmatch(text):
        return int(text.replace("_", ""))
    return float(text.replace("_", "")) if DECIMAL.fullmatch(text) else text
