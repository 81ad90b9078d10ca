"""A plan as a query string of plain ids, and back. What is not understood is named, never dropped in silence.

`v` grows when the meaning of a name changes; every choice is written, so that a changed default never changes an old link.
"""

import json
import re
from math import inf
from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.markets import PLAN_MARKETS
from calc.doors.link_sets import PREFIXES, compose_sets, read_set
from calc.scenarios.inputs import CATALOG_OF, inputs_by_name
from calc.scenarios.read import HUGE

VERSION = "1"
VIEW_CHOICES = {"market": PLAN_MARKETS, "period": ("hour", "day", "month"), "layout": ("divided", "given")}
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
LONGEST_VALUE = 200
MOST_VALUES = 64
CUSTOM = "custom"


def compose(choices: dict[str, Any]) -> dict[str, list[str]]:
    """The query of a plan: every choice by its id, lists as repeated names, models of one's own field by field."""
    query = {"v": [VERSION]}
    for name, value in choices.items():
        if name in inputs_by_name() or name in VIEW_CHOICES or name == "prices_as_of":
            query[name] = [_word(each) for each in (value if isinstance(value, (list, tuple)) else [value])]
    for model, entry in (choices.get("custom_models") or {}).items():
        for field, value in entry.items():
            if value not in ("", None):
                query[f"{CUSTOM}.{model}.{field}"] = [json.dumps(value)]
    return query | compose_sets(choices, _word)


def parse(query: dict[str, list[str]], catalogs: Catalogs | None = None) -> tuple[dict[str, Any], list[str]]:
    """The choices of a query, and a sentence for each thing in it that was not understood: its default is used."""
    choices: dict[str, Any] = {}
    custom: dict[str, dict[str, Any]] = {}
    complaints: list[str] = []
    version = (query.get("v") or [VERSION])[0]
    if version != VERSION:
        complaints.append(
            f"The link is of version {str(version)[:20]}, this is version {VERSION}; open it where it was made, or check every choice here."
        )
    for name, given in query.items():
        if name == "v":
            continue
        if name.startswith(CUSTOM + "."):
            _read_custom(name, given, custom, complaints)
            continue
        if name.startswith(PREFIXES):
            texts = [str(each)[:LONGEST_VALUE] for each in given] or [""]
            read_set(name, texts, choices, complaints, lambda own, text: _value(own, text, catalogs), catalogs)
            continue
        values, wrong = _read_choice(name, [str(each) for each in given] or [""], catalogs)
        complaints += wrong
        if values:
            choices[name] = values[0] if len(values) == 1 else values
    if custom:
        choices["custom_models"] = custom
        complaints = [words for words in complaints if not any(f"model={model} " in words for model in custom)]
        named = (query.get("model") or [""])[0]
        if named in custom:
            choices["model"] = named
    return choices, complaints


def _word(value):
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e16 else str(value)


def _read_choice(name, given, catalogs):
    if name == "prices_as_of" and DAY.fullmatch(given[0]):
        return given[:1], []
    if name not in inputs_by_name() and name not in VIEW_CHOICES:
        return [], [f"The link asked for {name[:40]}={given[0][:40]} , which is not a choice of this page; it was left aside."]
    values, complaints = [], []
    if len(given) > MOST_VALUES:
        complaints.append(f"The link asked for {len(given)} values of {name}; the first {MOST_VALUES} are used.")
    for text in given[:MOST_VALUES]:
        value = _value(name, text[:LONGEST_VALUE], catalogs)
        if value is None:
            complaints.append(f"The link asked for {name}={text[:40]} , which is not possible; the usual value is used instead.")
        else:
            values.append(value)
    return values, complaints


def _value(name, text, catalogs):
    """The value that a text stands for, or None where it stands for none."""
    if name in VIEW_CHOICES:
        return text if text in VIEW_CHOICES[name] else None
    column = inputs_by_name()[name]
    if column.kind in ("count", "number", "amount"):
        return _number(text, column)
    if column.kind == "choice":
        return text if text in column.choices or text == column.default else None
    known = getattr(catalogs, CATALOG_OF[name]).index if catalogs is not None and name in CATALOG_OF else None
    return text if known is None or text == "" or text in known else None


def _number(text, column):
    if text == "":
        return "" if column.default is None else None
    try:
        value = float(text)
    except ValueError:
        return None
    if not 0 <= value <= HUGE or (value == 0 and column.kind != "amount") or (column.kind == "count" and value != int(value)):
        return None
    return int(value) if value == int(value) else value


def _refused(word):
    raise ValueError(word)


def _read_custom(name, given, custom, complaints):
    model, _, field = name.removeprefix(CUSTOM + ".").rpartition(".")
    try:
        value = json.loads(given[0][:LONGEST_VALUE], parse_constant=_refused)
        if not model or not field or not isinstance(value, (int, float, str, bool)) or value in (inf, -inf):
            raise ValueError
    except (ValueError, IndexError, RecursionError):
        complaints.append(f"The link's {name[:40]} is not a size of a model; it was left aside.")
        return
    custom.setdefault(model, {})[field] = value
