"""Readings of one's own runs in the link: run=2026-11-12~vLLM~time~1.08~inference~..."""

import re
from collections.abc import Callable
from typing import Any

from calc.catalogs.tables import READING, SET_UP
from calc.evaluate import Row
from calc.files.link.kept_answers import BETWEEN, linkable
from calc.scenarios.read import number

NAME = "run"
MOST_READINGS, LONGEST_TEXT = 64, 80
NUMBERS = {"ratio": (0.01, 100.0), **dict.fromkeys(SET_UP[5:], (1.0, 1e9))}
WORDS = {
    "made_on": re.compile(r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"),
    "quantity": re.compile("time|first_token|memory"),
    "work": re.compile("training|inference"),
}


def compose_readings(entries: dict[str, Row], word: Callable[[Any], str]) -> dict[str, list[str]]:
    """The query of readings; `word` writes values."""
    return {
        NAME: [
            BETWEEN.join(linkable(word(entry[name]), LONGEST_TEXT) for name in READING)
            for entry in entries.values()
        ]
    }


def read_readings(texts: list[str], complaints: list[str]) -> dict[str, Row]:
    """The readings of a query; a complaint for each that cannot be read."""
    entries = {}
    for position, text in enumerate(texts[:MOST_READINGS], start=1):
        values = text.split(BETWEEN)
        entry = {name: _value(name, value) for name, value in zip(READING, values, strict=False)}
        if len(values) != len(READING) or None in entry.values():
            complaints.append(
                f"The link's run {text[:40]} cannot be read; the figures do not rest on it."
            )
        else:
            entries[f"run-{position:02d}"] = entry
    return entries


def _value(name: str, text: str) -> Any:
    """The value of a field of a reading in a link; None where it is not allowed."""
    if name not in NUMBERS:
        if name not in WORDS or WORDS[name].fullmatch(text):
            return linkable(text, LONGEST_TEXT)
        return None
    low, high = NUMBERS[name]
    value = number(text)
    return value if low <= value <= high else None
