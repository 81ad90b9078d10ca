"""Lengths that a text counts in words instead of tokens: 1,500-word reports."""

from dataclasses import replace

from calc.evaluate import Row
from calc.files.words.items import Item

TOKENS_A_WORD = 4 / 3  # of English, as tokenizers of today count
MOST_WORDS = 1e5  # of one text: more are those of a corpus


def words_as_tokens(items: list[Item]) -> list[Item]:
    """Return the items, each length in words as one in tokens that knows its words."""
    several = list(items)
    for place, item in enumerate(items):
        number = _place_of_number(items, place)
        if number is None:
            continue
        several[number] = _in_tokens(items[number], item.text)
        several[place] = replace(item, tags=frozenset({"token"}))
    return several


def _place_of_number(items: list[Item], place: int) -> int | None:
    """The place of the number that counts words here; None where none does: 800 words; 150-word."""
    if "word" not in items[place].tags:
        return None
    before = place - (2 if place and items[place - 1].text == "-" else 1)
    is_length = before >= 0 and "N" in items[before].tags and items[before].value <= MOST_WORDS
    return before if is_length else None


def _in_tokens(number: Item, word: str) -> Item:
    """A number of words as that of their tokens, to the next whole one."""
    extra: Row = {"words": f"{number.text} {word}"}
    if "low" in number.extra:
        extra["low"] = float(round(number.extra["low"] * TOKENS_A_WORD))
    return replace(number, value=float(round(number.value * TOKENS_A_WORD)), extra=extra)
