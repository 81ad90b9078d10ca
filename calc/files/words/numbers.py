"""Numbers as people write them: separators by language, suffixes, scale words, ranges."""

import re
from typing import NamedTuple

from calc.catalogs.load import read_once
from calc.files.words.vocabulary import vocabulary

DIGITS = re.compile(
    r"\d{1,3}(?:[ \u202f'_]\d{3})+(?![\d])(?:[.,]\d+)?"  # 20 000, 1'500, 1_000
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)"  # 1,00,000
    r"|\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?"  # 20,000.5
    r"|\d{1,3}(?:\.\d{3})+(?!\d)(?:,\d+)?"  # 20.000,5
    r"|(?:\d{1,3},\d{1,3}(?!\d)|\d+(?:\.\d+)?)(?:e[+-]?\d+)?"
    r"|\.\d+"
)
TIME_WORDS = re.compile(r" ?(?:s|sec|secs|seconds?|sekunden?|secondes?|segundos?|秒|ms)\b")
WIDEST_RANGE_RATIO = 30  # of a dash between spaces, which else sets two things apart
RANGE = re.compile(r" ?(?:-|–|—|\.\.|to|bis|à|a|and|und|et|y|or|oder|ou|o) ?(?=\d)")
OR = frozenset({"or", "oder", "ou", "o"})
BETWEEN = re.compile(r"\b(?:between|zwischen|entre) (?:about |around )?$")
FRACTION = re.compile(r"(\d)/([2-9]) (?:of )?(?:an? )?(thousand|million|billion|trillion)\b")
POWER = re.compile(
    r"(?:(\d+(?:\.\d+)?) ?[x*·] ?)?(2|10) ?(?:\^|\*\*) ?(\d{1,2})(?![\d.])"
)  # 2^13, 3 x 10^9
CLOCK = re.compile(r"(\d{1,2}):00")
GLUED_KEY = re.compile(r"(?<![a-z0-9_.-])[a-z]+$")  # r of r8


class Number(NamedTuple):
    """A number of the text: its end, its value, its suffix, and the other end of a range."""

    end: int
    value: float
    scale: str
    high: float = 0.0


def read_number(text: str, place: int) -> Number | None:
    """The number that begins at a place of the text; None where there is none."""
    if place and (text[place - 1].isdigit() or _in_word(text, place)):
        return None
    number = _single(text, place)
    if number is None:
        return None
    if match := RANGE.match(text, number.end):
        other = _single(text, match.end())
        if (
            other is not None
            and other.value > number.value * 0.999
            and _is_range(text, place, match, number, other)
        ):
            has_scale = number.scale or not other.scale
            if _is_dash(match[0]) and other.value > number.value * WIDEST_RANGE_RATIO:
                return number
            low = number.value if has_scale else number.value * scales()[other.scale]
            return Number(other.end, low, other.scale, other.value)
    return number


def read_amount(text: str) -> tuple[float, str] | None:
    """Return the number that a text begins with, and the words after it: 1 billion, tokens.

    None without a number, or if it is a range or below zero.
    """
    written = text.strip().lower()
    number = read_number(written, 0)
    return None if number is None or number.high else (number.value, written[number.end :].strip())


def read_count(text: str) -> int | None:
    """Return a whole number of at least 1 that is all of a text: 50,000, 50k or 50 million."""
    amount = read_amount(text)
    return None if amount is None or amount[1] or amount[0] < 1 else round(amount[0])


def _in_word(text: str, place: int) -> bool:
    """Return whether the place is inside a word such as p95; x of 2x8 and currencies are none."""
    before = text[place - 1]
    if before == "." and place > 1 and text[place - 2].isalnum():
        return True
    if not before.isalpha() or before > "\u2fff":
        return before == "_"
    if (key := GLUED_KEY.search(text[max(place - 8, 0) : place])) and key[0] in glued_keys():
        return False
    return not (before == "x" and (place < 2 or not text[place - 2].isalpha()))


def _is_range(text: str, place: int, match: re.Match, number: Number, other: Number) -> bool:
    """Return whether two numbers are the ends of a range: 10-20, 5 or 6; 2 a 4 is none."""
    joined = match[0].strip()
    if joined in OR:
        return other.value == number.value + 1 and match[0] != joined
    if joined in ("and", "und", "et", "y"):
        return bool(BETWEEN.search(text[max(place - 20, 0) : place]))
    return (
        joined in ("-", "–", "—", "..", "to", "bis", "à")
        and not text[other.end : other.end + 1].isdigit()
    )


def _is_dash(joint: str) -> bool:
    """Return whether the joint of two numbers is a dash between spaces."""
    return joint != joint.strip() and joint.strip() in ("-", "–", "—")


def _single(text: str, place: int) -> Number | None:
    """The number that begins at a place of a text; None where none does."""
    if clock := CLOCK.match(text, place):
        return Number(clock.end(), float(clock[1]), "")
    if power := POWER.match(text, place):
        factor = float(power[1] or 1)
        return Number(power.end(), factor * float(power[2]) ** float(power[3]), "")
    if part := FRACTION.match(text, place):
        scale = scales()[part[3]]
        return Number(part.end(), float(part[1]) / float(part[2]) * scale, "")
    match = DIGITS.match(text, place)
    if not match or (text[place] == "." and place and not text[place - 1].isspace()):
        return None
    written, end = match[0], match.end()
    suffix, length = _suffix(text, end)
    if suffix and len(suffix) == 1 and " " in written:  # grad accum 8 120M tokens
        end = place + written.index(" ")
        written, suffix, length = text[place:end], "", 0
    if suffix is None:
        return None
    value = _value(written, text, end + length, suffix)
    if text[end + length : end + length + 2] in ("+ ", "+,"):  # 40+ tokens
        length += 1
    return Number(end + length, value * scales().get(suffix, 1.0), suffix)


def _value(written: str, text: str, end: int, suffix: str) -> float:
    """The value of written digits; one separator before three digits is of thousands."""
    plain = re.sub(r"[ \u202f'_]", "", written)
    if re.fullmatch(r"\d{1,2}(,\d{2})+,\d{3}", plain):
        return float(plain.replace(",", ""))
    if re.fullmatch(r"[1-9]\d{0,2}([.,]\d{3})+", plain):
        separator = re.sub(r"\d", "", plain)[0]
        several = plain.count(separator) > 1
        if several or not (suffix or (separator == "." and TIME_WORDS.match(text, end))):
            return float(plain.replace(separator, ""))
    last = max(plain.rfind("."), plain.rfind(","))
    if last < 0 or "e" in plain:
        return float(plain.replace(",", "."))
    return float(re.sub(r"[.,]", "", plain[:last]) + "." + plain[last + 1 :])


@read_once
def glued_keys() -> frozenset[str]:
    """Keys that people write right before their number: r8, tp4."""
    return frozenset(vocabulary().glued.split())


@read_once
def scales() -> dict[str, float]:
    """Suffixes and scale words with what they multiply by."""
    return {str(word): float(factor) for word, factor in vocabulary().scales.items()}


@read_once
def _longest_first() -> tuple[str, ...]:
    return tuple(sorted(scales(), key=len, reverse=True))


def _suffix(text: str, end: int) -> tuple[str | None, int]:
    """The suffix after digits and its length; None where the digits are part of a word."""
    space = 1 if text[end : end + 1] == " " else 0
    rest = text[end + space :]
    for word in _longest_first():
        if rest.startswith(word) and not re.match(r"[a-zà-ÿ0-9]", rest[len(word) :]):
            if space and word == "t":  # tokens, or tons
                continue
            return word, space + len(word)
        if word == "k" and rest.startswith("k€"):
            return "k", space + 1
    if space or not rest[:1].isalpha() or rest[:1] > "\u2fff":
        return "", 0
    run = re.match(r"[a-zà-ÿ]+", rest)
    letters = run[0] if run else ""
    if letters == "ish":  # 30ish
        return "", len(letters)
    if letters == "g" and rest[1:2] > "\u2fff":  # 80g显存
        return "", 0
    return ("", 0) if letters in _suffix_words() or letters.startswith("x") else (None, 0)


@read_once
def _suffix_words() -> frozenset[str]:
    """Words that may follow digits without a space: 300ms, 24gb, 100usd."""
    words = vocabulary().words
    tags = [
        *(unit for unit in vocabulary().units if unit != "percent"),
        "token",
        "user",
        "rps",
        "epoch",
        "layer",
        "tps",
    ]
    return frozenset(
        phrase.strip()
        for tag in tags
        for text in words.get(tag, {}).values()
        for phrase in text.split(",")
    )
