"""Numbers in words: two hundred, four thousand, one and a half million, twenty-five."""

import re

from calc.catalogs.load import read_once
from calc.files.words.numbers import Number, scales
from calc.files.words.vocabulary import vocabulary

TEN, HUNDRED, THOUSAND = 10.0, 100.0, 1000.0
DOZEN, DOZENS = 12, re.compile(r"([^\W\d_]+) (?:dozens?|dutzend|douzaines?|docenas?)\b")
JOINT = re.compile(r"[ -](?:and )?")
TEN_THOUSAND = 10_000.0
CHINESE_DIGITS = "零一二三四五六七八九两"
CHINESE_SCALES = {"十": 10.0, "百": 100.0, "千": 1000.0, "万": TEN_THOUSAND, "亿": 1e8}
CHINESE = re.compile(
    r"[一二三四五六七八九两][十百千万亿][零一二三四五六七八九两十百千万亿]*|十[一二三四五六七八九]"
)
POINT = re.compile(r" (?:point|komma|virgule|coma) ")
HALF = re.compile(r" and a half\b")
SHORTEST_SCALE = 3  # letters: m and k are no words
PARTS = {  # of a million, by the stem of their word
    "half": 2,
    "halbe": 2,
    "demi": 2,
    "medi": 2,
    "quarter": 4,
    "viertel": 4,
    "quart": 4,
    "cuarto": 4,
    "third": 3,
    "drittel": 3,
    "tiers": 3,
    "tercio": 3,
    "fifth": 5,
    "fünftel": 5,
    "tenth": 10,
    "zehntel": 10,
}
ONE = r"(?:an?|one|eine?r?|une?) "
PART = re.compile(
    rf"(?:(?P<count>\d|\w+) )?(?P<part>{'|'.join(sorted(PARTS, key=len, reverse=True))})[nsoa]?"
    rf"[ -](?:of |de |d')?(?:{ONE})?(?P<scale>[^\W\d_]{{5,}})"
)


def read_spelled(text: str, place: int) -> Number | None:
    """The number of several words that begins at a place of the text; None where there is none."""
    if chinese := CHINESE.match(text, place):
        return Number(chinese.end(), _sum_of_chinese(chinese[0]), "")
    if place and text[place - 1].isalnum():
        return None
    if whole := _part(text, place) or _dozens(text, place):
        return whole
    values: list[float] = []
    end, following = place, place
    while word := _word(text, following):
        if values and not _goes_on(values[-1], word[1]):
            break
        values.append(word[1])
        end = word[0]
        if decimal := _decimal(text, end):
            values[-1] += decimal.value
            end = decimal.end
        if half := HALF.match(text, end):
            values.append(0.5)
            end = half.end()
        joint = JOINT.match(text, end)
        following = joint.end() if joint else len(text)
    return Number(end, _sum(values), "") if len(values) > 1 else None


def _dozens(text: str, place: int) -> Number | None:
    """A number of dozens: seven dozen, drei Dutzend; None for others."""
    match = DOZENS.match(text, place)
    count = _values().get(match[1], 0.0) if match else 0.0
    return Number(match.end(), count * DOZEN, "") if match and 0 < count < HUNDRED else None


def _decimal(text: str, place: int) -> Number | None:
    """The digits in words behind a point: two point five; None where there are none."""
    match, end, digits = POINT.match(text, place), place, ""
    following = match.end() if match else len(text)
    while (word := _word(text, following)) and word[1] < TEN:
        digits, end = f"{digits}{word[1]:.0f}", word[0]
        following = end + 1
    return Number(end, float(f"0.{digits}"), "") if digits else None


def _sum_of_chinese(written: str) -> float:
    """The number that Chinese characters spell: 一千二百 is 1,200."""
    total, section, digit = 0.0, 0.0, 0.0
    for character in written:
        if character in CHINESE_DIGITS:
            digit = float(CHINESE_DIGITS.index(character)) if character != "两" else 2.0
        elif CHINESE_SCALES[character] >= TEN_THOUSAND:
            total, section, digit = total + (section + digit) * CHINESE_SCALES[character], 0.0, 0.0
        else:
            section, digit = section + (digit or 1.0) * CHINESE_SCALES[character], 0.0
    return total + section + digit


def _part(text: str, place: int) -> Number | None:
    """A part of a large number: half a million, three quarters of a billion, eine halbe Million."""
    match = PART.match(text, place)
    scale = scales().get(match["scale"], 0.0) if match else 0.0
    count = match["count"] if match else ""
    several = float(count) if count and count.isdecimal() else _values().get(count or "one", 0.0)
    if not match or not scale or not several:
        return None
    return Number(match.end(), float(round(several * scale / PARTS[match["part"]])), "")


def _goes_on(before: float, value: float) -> bool:
    """Return whether a word goes on with the number: two hundred, twenty five, hundred fifty."""
    if value >= HUNDRED:
        return value > before or before == 0.5
    return before >= HUNDRED or (before >= 20 and before % 10 == 0 and value < 10)


def _sum(values: list[float]) -> float:
    """The number that words such as `two hundred thousand five` spell."""
    total, current = 0.0, 0.0
    for value in values:
        if value >= THOUSAND:
            total, current = total + (current or 1.0) * value, 0.0
        elif value == HUNDRED:
            current = (current or 1.0) * value
        else:
            current += value
    return total + current


def _word(text: str, place: int) -> tuple[int, float] | None:
    match = _words().match(text, place)
    return (match.end(), _values()[match[0]]) if match else None


@read_once
def _values() -> dict[str, float]:
    """Number words and scale words with their values; a and an are one."""
    counts = {word: float(value) for word, value in vocabulary().counts.items()}
    long_scales = {
        word: value
        for word, value in scales().items()
        if len(word) >= SHORTEST_SCALE and word.isalpha() and word.isascii() and value >= HUNDRED
    }
    return {**long_scales, **{word: value for word, value in counts.items() if word[0] < "\u2fff"}}


@read_once
def _words() -> re.Pattern[str]:
    longest = sorted(map(re.escape, _values()), key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(longest)})\b")
