"""A text as items: quantities, names, words with their tags, and the ends of clauses."""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from calc.catalogs.load import read_once
from calc.evaluate import Row
from calc.files.words.clocks import DAYS_TAGS, read_clocks, read_days, read_hours_by_days
from calc.files.words.dates import is_due, read_date
from calc.files.words.languages import language_of
from calc.files.words.numbers import Number, glued_keys, read_number
from calc.files.words.spelled import read_spelled
from calc.files.words.typing_errors import without_typing_errors
from calc.files.words.vocabulary import (
    SPACED,
    lexicon,
    silent_words,
    tags_of_form,
    vocabulary,
)

ENUMERATOR, FEWEST_PARTS = re.compile(r"(?<!\S)\(?([1-9])\) "), 2
STRONG = re.compile(
    r"\n+|[.;?!。；？！](?=\s|$)|[。；？！]|\s[-–—•*]\s|^\s*[-–—•*]\s|:\s*\n|^\s*\(?\d{1,2}[.)]\s"
    r"|(?<=[:,;.]\s)\(?\d\)\s|(?<=[.?!;]\s)\d\.\s(?=[a-z\d])",  # 1) one thing, 2) another
    re.MULTILINE,
)
WEAK = re.compile(r"[,，、]")
MARKS = re.compile(r"[^\w\s]")
WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
PERCENTILE = re.compile(
    r"p(50|75|90|95|99)\b|\b(50|75|90|95|99)(?:th percentile|%ile| ?% percentile)"
)
PIXELS = re.compile(
    r"(?<![\w.])(?:\d{3,5} ?x ?\d{3,5}(?: ?(?:px|pixels?))?|\d{3,4}[pi])\b(?! ?(?:tok|gb|k\b))"
)  # 1920x1080, 1080p
LABEL = re.compile(
    r"(?<![\w-])([a-z]{2,8}|[a-z](?=-\d{4}))-\d{2,6}(?![\w%.-])|(?:#|n°|nº|№|nr\. ?|no\. ?) ?\d+\b"
)  # ml-204, #4417
PROCESSOR = re.compile(r"(?<!\w)(?:x86(?:[-_]64)?|x64|arm64|aarch64)(?!\w)")
VIT = re.compile(r"\bvit[- ]([bslh])[/-](\d{2})\b", re.IGNORECASE)  # as papers write it: ViT-L/14
VIT_SIZES = {"s": "small", "b": "base", "l": "large", "h": "huge"}
SUPERSCRIPT = re.compile("(?<=10)[⁰¹²³⁴-⁹]{1,2}")  # 10⁸
OF_IMAGES = re.compile(  # words that a text with the sizes of images has
    r"image|photo|pictur|pixel|\dpx|resolution|-vl|vision|\bvit|dino|clip|siglip|\bocr|scan|page"
    r"|frame|video|screenshot|bild|seite|imagen|página|foto"
)
CLOCK_24 = re.compile(r"[012]?\d:[0-5]\d(?![\d:])")
CLOCK = re.compile(r"\d{1,2}(?:[:.]\d\d)? ?(?:[ap]\.?m\b\.?|uhr\b|o'clock)")  # 6am
WIDE_MARKS = re.compile("[，；：](?=\\S)")
TIMES_CARD = re.compile(r"(?<![\w*.])(\d{1,4}) ?\* ?(?=[a-zA-Z])")  # 8 * A100
CARD_TIMES = re.compile(  # A100 * 8, A100-80GB * 8
    r"(?:(?<=[a-zA-Z]\d{2}|\d{3})|(?<=\dGB|\dgb|SXM|sxm)|(?<=SXM\d|sxm\d|PCIe|PCIE|pcie|L40S|l40s)"
    r"|(?<=\b[LTlt]4)) ?\* ?(?=\d{1,4}(?![\w*.]))"
)
ABBREVIATION = re.compile(  # whose full stop ends no sentence before a number
    r"\b(ca|max|min|approx|avg|aprox|env|máx|mín|ungef|durchschn)\.(?= ?[~<≤$€£]? ?\d)",
    re.IGNORECASE,
)
ELISION = re.compile(r"(?<![^\W_])(?:[dlnjsmtc]|qu)'(?=[^\W\d_])")  # d'utilisateurs
CONTINENT = r"(?:eu|EU|[Ee]urope|[Aa]sia|apac|APAC)\b"
JOINED = r"\s*(?:or|and|/|,|&)\s*(?:the )?"
US = re.compile(  # the pronoun is none
    r"\b(?<!\$)(?:U\.S\.|US)(?!\$|-?\w| ?(?:dollar|Dollar))"
    r"|\bUS(?=-(?:Standort|Region|Rechenzentr))"
)
US_IN_CAPITALS = re.compile(
    r"(?<=\bIN )US\b(?!-)|(?<=\bTHE )US\b(?!-)|(?<=\bEU OR )US\b"
    r"|\bUS(?= (?:ONLY|REGION|EAST|WEST|OR EU)\b)|\bU\.S\."
)
SEPARATOR = re.compile(r" \| ")  # between facts in one line
US_BESIDE = re.compile(rf"\bus(?={JOINED}{CONTINENT})|(?<=\beu or )us\b|(?<=\beurope or )us\b")
GERMAN_ADJECTIVE = re.compile(  # dreijährige Bindung, 24-stündiger Lauf
    r"\b(\d+|[a-zäöü]+?)-?(jähr|monat|wöch|täg|stünd|minüt)ig(?:e[rnsm]?)?\b", re.IGNORECASE
)
GERMAN_TIMES = {
    "jähr": "Jahre",
    "monat": "Monate",
    "wöch": "Wochen",
    "täg": "Tage",
    "stünd": "Stunden",
    "minüt": "Minuten",
}
PART_AFTER = re.compile("(?<=\\d)([¼½¾⅓⅔⅛])")
GERMAN_BILLION = re.compile(r"\b(1|eine) Billion\b", re.IGNORECASE)  # a million millions
ENGLISH_MIL = re.compile(r"(?<=\d) ?mil\b(?! millones)")  # a million, and in Spanish a thousand
NEGATIVE = re.compile(r"(?<=[a-z] )(?:-|minus )(\d+)(?![\w.,:-])")  # with -5 users
TWO_NUMBERS = re.compile(r"(\d{1,3}) [1-9]\d\d(?![\d.,]| \d)")  # batch 4 512 tokens
TABLE_LINE = re.compile(r"^\|\s*([^|\n]+?)\s*\|\s*([^|\n]+?)\s*\|\s*$", re.MULTILINE)
TWO_SUMS = re.compile(  # between $500 and $700; $500 to $700
    r"(?:\b(?:between|zwischen|entre) )?([$€£]) ?(\d[\d.,]*k?) ?"
    r"(?:-|to|and|und|bis|et|à|y|a) ?[$€£] ?(?=\d)",
    re.IGNORECASE,
)
OF_QUOTA = re.compile(r"\b(?:quota|vcpu)", re.IGNORECASE)
NO_QUOTA = re.compile(r"\b(?:0|zero|none) for (?=[pPgG]\b)")  # 192 vCPUs for P, 0 for G
PORTUGUESE_IN = re.compile(r"\b[Nn]o\b(?! máximo| mínimo| total)")  # in the
APOSTROPHES = str.maketrans("’‘`", "'''")
KEY_MARKS = ("=", ":")  # between a key and its value
OF_SMALL_NUMBERS = frozenset({"batch", "accumulation", "epoch", "rank", "tp", "pp", "generation"})
SOFT = frozenset(
    {
        *("about", "most", "least", "each_of", "per", "within", "peak", "size_class", "only"),
        *("waiting", "sends"),
    }
)


@dataclass(frozen=True)
class Item:
    """A stretch of the text with its tags and, of a quantity or a name, its value."""

    start: int
    end: int
    text: str
    tags: frozenset[str] = frozenset()
    value: Any = None
    extra: Row = field(default_factory=dict)

    @property
    def is_silent(self) -> bool:
        """Return whether the item may stand inside a frame without a word about it."""
        return "silent" in self.tags


def normalize(text: str) -> str:
    """The text in one form of each character and in lower case; line breaks stay."""
    text = (US_IN_CAPITALS if text.isupper() else US).sub("USA", text)
    text = US_BESIDE.sub("USA", text)  # us or eu
    text = WIDE_MARKS.sub(lambda match: match[0] + " ", text)  # which else join two numbers
    language = language_of(text)
    text = GERMAN_BILLION.sub(r"\1 Billionen", text) if language == "de" else text
    text = PORTUGUESE_IN.sub("em", text) if language == "pt" else text
    if language == "de":
        text = GERMAN_ADJECTIVE.sub(lambda match: _time_of_adjective(*match.groups()), text)
    text = text if language in ("es", "pt") else ENGLISH_MIL.sub(" million", text)
    text = PART_AFTER.sub(lambda match: f"{unicodedata.numeric(match[1]):.6g}"[1:], text)  # 12½
    text = SUPERSCRIPT.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]), text)
    plain = unicodedata.normalize("NFKC", text).replace("×", "x").translate(APOSTROPHES)
    plain = SEPARATOR.sub(", ", TABLE_LINE.sub(r"\1: \2", plain))
    plain = re.sub(r"[\u2010\u2011\u2212]", "-", plain)
    plain = TIMES_CARD.sub(r"\1x", CARD_TIMES.sub(" x ", plain))
    plain = ABBREVIATION.sub(r"\1", plain)
    plain = NO_QUOTA.sub("no quota for ", plain) if OF_QUOTA.search(plain) else plain
    plain = TWO_SUMS.sub(r"\1\2-", plain)
    plain = VIT.sub(lambda match: f"vit-{VIT_SIZES[match[1].lower()]}-patch{match[2]}", plain)
    plain = re.sub(r"(?<=\w)-(?=hours?\b)", " ", plain)  # H100-hours
    plain = re.sub(r"[^\S\n]+", " ", plain)
    if _is_wrapped(plain):
        plain = re.sub(r"(?<=\w)\n(?=[a-zà-ÿ])", " ", plain)
    return without_typing_errors(_with_ends(plain.lower()))


def _time_of_adjective(count: str, unit: str) -> str:
    """The time that a German adjective says; the adjective where no number begins it: tägig."""
    is_number = count.isdecimal() or count.lower() in vocabulary().counts
    return f"{count} {GERMAN_TIMES[unit.lower()]}" if is_number else f"{count}{unit}ig"


def _with_ends(text: str) -> str:
    """The text with a full stop before each part of an enumeration: 1) phi-4 2) 9 users."""
    number = 1
    for match in ENUMERATOR.finditer(text):
        number += int(match[1]) == number
    if number <= FEWEST_PARTS:
        return text
    return re.sub(rf"(?<![.:;,?!\n]) {ENUMERATOR.pattern}", r". (\1) ", text)


def _is_wrapped(text: str) -> bool:
    """Return whether the lines are those of a letter, broken where they were full."""
    lines = text.split("\n")
    return len(lines) > 1 and min(map(len, lines[:-1])) > 50


def items_of(text: str, names: list[Item]) -> list[Item]:
    """The items of a normalized text, in order; `names` are those of the catalogs in it."""
    spaced, place = text.translate(SPACED), 0
    several: list[Item] = []
    by_start = {name.start: name for name in names}
    starts = sorted(by_start)
    while place < len(text):
        later = bisect_right(starts, place)
        limit = starts[later] if later < len(starts) else len(text)  # no phrase goes into a name
        item = by_start.get(place) or _item_at(text, spaced, place, several, limit)
        if item is None:
            place += 1
            continue
        several.append(item)
        place = item.end
    return _with_ends_of_values(several)


def _with_ends_of_values(items: list[Item]) -> list[Item]:
    """The items with a comma before each key behind another key's number: epochs=3 gpu=l4."""
    several: list[Item] = []
    for number, item in enumerate(items):
        is_key = items[number + 1 : number + 2] and items[number + 1].text in KEY_MARKS
        has_value = len(several) > 1 and "N" in several[-1].tags and several[-2].text in KEY_MARKS
        if is_key and has_value and "N" not in item.tags:
            several.append(Item(item.start, item.start, ",", frozenset({","})))
        several.append(item)
    return several


def _item_at(text: str, spaced: str, place: int, before: list[Item], limit: int) -> Item | None:
    """The item that begins at a place; None for a space."""
    if match := STRONG.match(text, place):
        return Item(place, match.end(), match[0], frozenset({"end"}))
    if text[place].isspace():
        return None
    if match := WEAK.match(text, place):
        return Item(place, match.end(), match[0], frozenset({","}))
    if match := PERCENTILE.match(text, place):
        return Item(place, match.end(), match[0], frozenset({"PCTL"}), float(match[1] or match[2]))
    if text[place] == "%":
        return Item(place, place + 1, "%", frozenset({"percent"}))
    if item := _date_or_hours_at(text, place) or _label_at(text, place):
        return item
    if negative := NEGATIVE.match(text, place):
        return Item(place, negative.end(), negative[0], frozenset({"N"}), -float(negative[1]))
    touches = bool(before) and before[-1].end == place  # the item before ends right here
    phrase, tags = phrase_at(text, spaced, place, touches, limit)
    if (elision := ELISION.match(text, place)) and len(phrase) < len(elision[0]):
        return Item(place, elision.end(), elision[0], frozenset({"silent"}))
    two = TWO_NUMBERS.match(text, place) if _is_small_key(before) else None
    number = read_number(text[: two.end(1)] if two else text, place) or read_spelled(text, place)
    if number and len(phrase) < number.end - place:
        return _number_item(text, place, number)
    if phrase:
        return _phrase_item(text, place, phrase, tags)
    if match := WORD.match(text, place):
        word = match[0][:1] if CJK.match(match[0]) else match[0]
        tags = frozenset({"silent"}) if word in silent_words() else tags_of_form(word)
        return Item(place, place + len(word), word, tags)
    mark = text[place]
    return Item(
        place, place + 1, mark, frozenset({"/", "or", "per"} if mark == "/" else {"silent"})
    )


def _is_small_key(before: list[Item]) -> bool:
    """Return whether a word such as batch or epochs ends a text, whose number is small."""
    said = [item for item in before[-2:] if item.text not in KEY_MARKS]
    return bool(said) and bool(said[-1].tags & OF_SMALL_NUMBERS)


def _date_or_hours_at(text: str, place: int) -> Item | None:
    """The date, the hours of a day or the days of a week that begin at a place; else None."""
    if end := read_date(text, place):
        meaning = "by_day" if is_due(text, place, end) else "DATE"
        return Item(place, end, text[place:end], frozenset({meaning, "silent"}))
    if clocks := read_clocks(text, place):
        end, start_hour, end_hour = clocks
        tags = frozenset({"RANGE", "CLOCKS"})
        return Item(place, end, text[place:end], tags, end_hour, {"low": start_hour})
    if by_days := read_hours_by_days(text, place):
        end, hours, days_tag = by_days
        tags = frozenset({"RANGE", "CLOCKS", days_tag})
        return Item(place, end, text[place:end], tags, hours, {"low": 0.0})
    if (clock := CLOCK.match(text, place)) and is_due(text, place, clock.end()):
        return Item(place, clock.end(), clock[0], frozenset({"by_day", "silent"}))
    if (hour := CLOCK_24.match(text, place)) and not (place and text[place - 1].isalnum()):
        return Item(place, hour.end(), hour[0], frozenset({"by_day", "silent"}))
    if days := read_days(text, place):
        return Item(place, days[0], text[place : days[0]], frozenset({days[1], "DAYS"}))
    return None


def _label_at(text: str, place: int) -> Item | None:
    """The size of an image in pixels, or the label of a ticket, which count nothing: ML-204."""
    pixels = PIXELS.match(text, place)
    if pixels and ("x" not in pixels[0] or OF_IMAGES.search(text)):
        return Item(place, pixels.end(), pixels[0], frozenset({"PIXELS", "silent"}))
    label = LABEL.match(text, place)
    if processor := PROCESSOR.match(text, place):
        return Item(place, processor.end(), processor[0], frozenset({"LABEL", "silent"}))
    if label and label[1] not in lexicon().tags.keys() | silent_words():
        return Item(place, label.end(), label[0], frozenset({"LABEL", "silent"}))
    return None


def _phrase_item(text: str, place: int, phrase: str, tags: frozenset[str]) -> Item:
    """The item of a phrase of the vocabulary, which may be a number in words."""
    value = vocabulary().counts.get(phrase)
    tags |= {"silent"} if phrase in silent_words() else frozenset()
    tags |= {"/"} if phrase == "/" else frozenset()
    tags |= {"DAYS"} if tags & set(DAYS_TAGS.values()) else frozenset()
    if value is not None:
        tags = frozenset({"ONE"} if value == 1 else {"N"})
    end = place + len(phrase)
    return Item(place, end, text[place:end], tags, None if value is None else float(value))


def _number_item(text: str, place: int, number: Number) -> Item:
    """A number; of a range the upper end, with the lower one beside it."""
    extra: Row = {"scale": number.scale}
    written, tags = text[place : number.end], {"N"}
    if number.high:
        return Item(
            place,
            number.end,
            written,
            frozenset({*tags, "RANGE"}),
            number.high,
            {**extra, "low": number.value},
        )
    return Item(place, number.end, written, frozenset(tags), number.value, extra)


def phrase_at(
    text: str, spaced: str, place: int, touches: bool, limit: int
) -> tuple[str, frozenset[str]]:
    """The longest phrase of the vocabulary that begins here and ends by a limit, with its tags."""
    words = lexicon()
    if place and spaced[place - 1].isalpha() and not touches and not CJK.match(spaced[place]):
        return "", frozenset()
    for phrase in _starting(spaced[place]):
        end = place + len(phrase)
        if (end <= limit and spaced.startswith(phrase, place)) and (
            end == len(spaced)
            or not (spaced[end].isalnum() and phrase[-1].isalnum())
            or CJK.match(phrase[-1])
            or CJK.match(spaced[end])
            or (phrase == "x" and (touches or spaced[end].isdigit()))
            or (phrase in glued_keys() and spaced[end].isdigit())
        ):
            tags = words.tags.get(phrase, frozenset())
            if (
                tags
                and all(tag.startswith("column:") for tag in tags)
                and not _is_key(text, place, end)
            ):
                continue
            return phrase, tags
    return "", frozenset()


def _is_key(text: str, place: int, end: int) -> bool:
    """Return whether words are the name of a column with its value: example_tokens: 512."""
    return "_" in text[place:end] or text[end:].lstrip().startswith(("=", ":"))


def _starting(first: str) -> tuple[str, ...]:
    return _phrases().get(first, ())


@read_once
def _phrases() -> dict[str, tuple[str, ...]]:
    """Phrases and counts by their first character, the longest first."""
    by_start: dict[str, set[str]] = {}
    for phrase in (*lexicon().tags, *vocabulary().counts):
        by_start.setdefault(phrase[0], set()).add(phrase)
    return {
        first: tuple(sorted(several, key=len, reverse=True)) for first, several in by_start.items()
    }


def items_after(items: list[Item]) -> list[Item | None]:
    """The next item that says something, for each item; None behind the last of those."""
    after: list[Item | None] = []
    speaks: Item | None = None
    for item in reversed(items):
        after.append(speaks)
        if not item.is_silent and item.tags != {"about"}:
            speaks = item
    return after[::-1]
