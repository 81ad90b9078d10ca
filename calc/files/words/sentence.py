"""A sentence from which phrases are taken one by one, with the numbers in them."""

import re
from collections.abc import Iterator
from typing import Any

NUMBER = (
    r"(?P<n{0}>\d[\d,]*(?:\.\d+)?)\s?(?P<scale{0}>k|m|bn?|t|thousand|million|billion|trillion)?"
)
SCALES = {
    "": 1.0,
    "k": 1e3,
    "t": 1e12,
    "m": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
}
EDGES = ".,;:?!()[]\"'"
SHOWN = 3  # values of a list that are named


class Sentence:
    """A text from which phrases are taken one by one; what is taken leaves a gap."""

    def __init__(self, text: str):
        self.text = " ".join(text.replace("×", "x").replace("\u2011", "-").lower().split())
        self.columns: dict[str, Any] = {}
        self.read: dict[str, str] = {}
        self.phrases: dict[str, str] = {}  # column -> the phrase that set it
        self.unread: list[str] = []
        self.stored = ""  # the format that the name of the model says

    def take(self, pattern: str) -> Iterator[re.Match]:
        """Each place of the pattern as a phrase of its own, taken out of the text."""
        for match in re.finditer(rf"(?<![\w.])(?:{pattern})(?![\w-]|\.\w)", self.text):
            self.cut(*match.span())
            yield match

    def cut(self, start: int, end: int) -> None:
        """Take a stretch out of the text."""
        self.text = f"{self.text[:start]}{'|' * (end - start)}{self.text[end:]}"

    def put(self, phrase: str, **values: Any) -> None:
        """Set columns by a phrase; one that another phrase set otherwise is not understood."""
        if any(
            self.columns.get(name, value) != value
            for name, value in values.items()
            if name != "goal"
        ):
            self.unread.append(f"'{phrase.strip()}'")
            return
        self.columns = {**values, **self.columns}
        self.phrases |= dict.fromkeys(values, phrase.strip())
        self.read[phrase.strip()] = ", ".join(
            f"{name} {plain_value(value)}" for name, value in values.items()
        )


def numbered(pattern: str) -> str:
    """The pattern with its numbers, each named by its place."""
    first, *rest = pattern.split("{n}")
    return first + "".join(NUMBER.format(place) + part for place, part in enumerate(rest))


def amount_of(match: re.Match, entry: dict[str, Any]) -> int | float | str:
    """The number of a phrase, with its unit: 8k of context is 8,192, 50k examples 50,000."""
    place = next(
        name.removeprefix("n")
        for name, text in match.groupdict().items()
        if text and name.startswith("n")
    )
    number, scale = float(match[f"n{place}"].replace(",", "")), match[f"scale{place}"] or ""
    scaled = (
        entry.get("thousand", 1000)
        if scale == "k" and number.is_integer() and 128 % number == 0
        else SCALES[scale]
    )
    amount = as_counted(number * scaled * entry.get("each", 1))
    return f"{amount} {entry['unit']}" if "unit" in entry else amount


def as_counted(number: float) -> int | float:
    """The number as an integer where it is one."""
    return int(number) if float(number).is_integer() else float(f"{number:.12g}")


def plain_value(value: Any) -> str:
    """A value or the first of several, as a sentence has them: 8,192; g6e.xlarge+g6e.2xlarge."""
    shown = value if isinstance(value, list) else [value]
    words = [f"{one:,.10g}" if isinstance(one, int | float) else str(one) for one in shown]
    return "+".join(words if len(words) <= SHOWN else [*words[:SHOWN], "..."])
