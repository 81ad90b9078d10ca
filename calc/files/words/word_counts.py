"""Lengths that a text counts in words or characters instead of tokens: 1,500-word reports."""

from dataclasses import replace
from typing import NamedTuple

from calc.evaluate import Row
from calc.files.words.items import Item

TOKENS_A_WORD = 4 / 3  # of English, as tokenizers of today count


class TextUnit(NamedTuple):
    """A unit of text: its tokens, how that is said, and the most that one text has of it."""

    tokens: float
    said: str
    most: float


TEXT_UNITS = {
    "word": TextUnit(
        TOKENS_A_WORD, "4 tokens for 3 words", 1e5
    ),  # more words are those of a corpus
    "character": TextUnit(1 / 4, "one token for 4 characters", 1e15),
}


def words_as_tokens(items: list[Item]) -> list[Item]:
    """Return the items, each length in words as one in tokens that knows its words."""
    several = list(items)
    for place, item in enumerate(items):
        unit = next((TEXT_UNITS[tag] for tag in item.tags if tag in TEXT_UNITS), None)
        number = _place_of_number(items, place, unit) if unit else None
        if number is None or unit is None:
            continue
        several[number] = _in_tokens(items[number], item.text, unit)
        several[place] = replace(item, tags=frozenset({"token"}))
    return several


def _place_of_number(items: list[Item], place: int, unit: TextUnit) -> int | None:
    """The place of the number that counts words here; None where none does: 800 words; 150-word."""
    before = place - (2 if place and items[place - 1].text == "-" else 1)
    is_length = before >= 0 and "N" in items[before].tags and items[before].value <= unit.most
    return before if is_length else None


def _in_tokens(number: Item, word: str, unit: TextUnit) -> Item:
    """A number of words as that of their tokens, to the next whole one."""
    tokens = float(round(number.value * unit.tokens))
    extra: Row = {"words": f"'{number.text} {word}' as {tokens:,.0f} tokens ({unit.said})"}
    if "low" in number.extra:
        extra["low"] = float(round(number.extra["low"] * unit.tokens))
    return replace(number, value=tokens, extra=extra)
