"""Which quantity means what: frames of tags compete for the numbers, each has one role."""

from itertools import takewhile
from typing import NamedTuple

from calc.catalogs.load import read_once
from calc.files.words.cues import NAMES, role_by_sentence_before, role_by_words_before
from calc.files.words.items import KEY_MARKS, SOFT, Item
from calc.files.words.neighbors import is_noun, is_plural
from calc.files.words.vocabulary import (
    QUANTITIES,
    WORDS_OF_QUANTITY,
    Frame,
    frames,
    signals,
    vocabulary,
)

UNKNOWN_COST, TAGGED_COST, SOFT_COST = 0.3, 1.0, 0.05
FARTHEST_TIME = 10  # letters behind every: every about 10 s
MANY = 100  # of a thing in the singular: a length
FARTHEST_LIMIT = 4  # items behind a parenthesis: (60 tokens) must be back within 2 s
LONGEST_AFTER = 1e5  # tokens of a length that the sentence before is about
MOST_SKIPPED = 3  # words inside a frame that have no place in it
WEAK_CUES = frozenset({"in", "a", "an", "by", "for", "have", "with", "r", "s", "d", "h", "m"}) | {
    *("to", "en", "on", "per", "/", "ep", "eps")
}
OWN_TIME = frozenset({"within", "own"})  # we have 3 days, we have 4 cards
WEAK_CUE, NOUN, VALUE = 0.7, 0.5, 0.1
LAST_RESORT = 0.3  # the cost of a number without a word of the vocabulary: any word is surer
UNREAD = 0.4  # the cost of a number that no frame reads
PREPOSITIONS = frozenset({"on", "with", "for", "auf", "mit", "für", "sur", "avec", "con"})
YEAR = 31_536_000.0  # seconds
NO_SIZES, SIZES = (
    frozenset({"gpus", "nodes", "gpus_each", "requests_count", "users", "lora_rank"}),
    frozenset({"b", "t"}),
)
APART = PREPOSITIONS | {":"}  # between a number and a machine that it does not count
PLACES = frozenset({"on", "auf", "sur"})
BESIDE = PREPOSITIONS | {"at", "to", "in", "per", "from", "using", "over", "see", "get", "à", "bei"}
WITHOUT_NOUN = frozenset(
    {"usd_bare", "usd_paid", "gpus_each", "requests_per_second", "requests_rate"}
)  # roles of a last number
OF_EACH = {"examples_each": 2, "times_each": 1}  # items to a length: mean len 900; je 700 Tokens
OF_LOAD = frozenset({"users", "users_plain", "people", "users_session"})
PER = frozenset({"per", "pro", "je", "par", "por", "/"})
OF_OWN_COUNT = frozenset({"turn", "example", "people", "image", "document"})
COUNTED = frozenset({"user", "people", "request", "session", "example", "document", "image"})
WE_HAVE = frozenset({"we have", "wir haben", "ich habe", "nous avons", "j'ai", "tenemos", "tengo"})


class Claim(NamedTuple):
    """A quantity with its role, the words that gave it, and the time that a rate is over."""

    role: str
    item: Item
    start: int  # in the text
    end: int
    first: int  # number of the first item
    rate_seconds: float = 0.0
    cues: frozenset[str] = frozenset()


class Match(NamedTuple):
    """A frame at a place: its score, the item after it, and its items."""

    score: float
    end: int
    items: tuple[tuple[Item, bool], ...]  # of its elements, and whether each is a quantity


class Step(NamedTuple):
    """The best way to read a text from one item on: a frame begins there, or it is skipped."""

    score: float  # of all items from here to the end
    next_item: int
    reading: tuple[Frame, Match] | None = None  # None: the item is skipped


def claims_of(items: list[Item]) -> tuple[list[Claim], set[int]]:
    """Return each quantity with its role, and the numbers of the items that the frames cover."""
    steps = _best_steps(items)
    claims, covered, place = [], set(), 0
    while place < len(items):
        step = steps[place]
        if step.reading:
            claims += _by_cue_before(_claims(*step.reading, place), items)
            covered |= set(range(place, step.next_item))
        place = step.next_item
    return claims, covered


def _best_steps(items: list[Item]) -> list[Step]:
    """Return for each item the step with the highest score from there to the end of the text.

    This is dynamic programming from the last item to the first. A skipped number costs UNREAD.
    """
    count, by_first = len(items), _frames_by_first(items)
    steps = [Step(0.0, count)] * (count + 1)
    for place in reversed(range(count)):
        cost = UNREAD if "N" in items[place].tags else 0.0
        best = Step(steps[place + 1].score - cost, place + 1)
        for frame in _frames_from(items[place].tags, by_first):
            match = _match(frame, items, place)
            if match and (score := match.score + steps[match.end].score) > best.score + 1e-9:
                best = Step(score, match.end, (frame, match))
        steps[place] = best
    return steps


def _by_cue_before(claims: list[Claim], items: list[Item]) -> list[Claim]:
    """A number of tokens, or a number alone, with the role that the words before it give it."""
    role = claims[0].role if len(claims) == 1 else ""
    if role not in ("tokens", "bare"):
        return claims
    claim = claims[0]
    if role == "tokens":
        role = role_by_words_before(items, claim.first, claim.item.value)
    if role in ("tokens", "bare") and claim.item.value <= LONGEST_AFTER:
        role = role_by_sentence_before(items, claim.first, role)
    return [claim._replace(role=role)]


def _claims(frame: Frame, match: Match, first: int) -> list[Claim]:
    """The values of a match, each with the role that the frame gives it."""
    rates = [item for item, is_value in match.items if "RATE" in item.tags and not is_value]
    values = [item for item, is_value in match.items if is_value]
    cues = frozenset(tag for item, _ in match.items for tag in item.tags)
    start, end = match.items[0][0].start, match.items[-1][0].end
    return [
        Claim(role, item, start, end, first, _rate_of(item, rates), cues)
        for role, item in zip(frame.roles, values, strict=False)
    ]


def _rate_of(value: Item, rates: list[Item]) -> float:
    """The time that a value is over: the next one behind it, else the first; 0 without any."""
    behind = [rate for rate in rates if rate.start >= value.end]
    return float((behind or rates)[0].value) if rates else 0.0


@read_once
def _quantity_tags() -> frozenset[str]:
    return frozenset({*QUANTITIES, *WORDS_OF_QUANTITY})


def _frames_by_first(items: list[Item]) -> dict[str, list[Frame]]:
    """The frames that may begin with a tag, for each tag; only those whose words a text has."""
    present = frozenset(tag for item in items for tag in item.tags) | {"noun"}
    by_first: dict[str, list[Frame]] = {}
    for frame in frames():
        if not all(optional or tags & present for tags, optional in frame.elements):
            continue
        for tags, optional in frame.elements:
            for tag in tags:
                by_first.setdefault(tag, []).append(frame)
            if not optional:
                break
    return by_first


def _frames_from(tags: frozenset[str], by_first: dict[str, list[Frame]]) -> list[Frame]:
    """The frames that may begin with an item of these tags, each once."""
    found = {id(frame): frame for tag in sorted(tags) for frame in by_first.get(tag, ())}
    return list(found.values())


def _match(frame: Frame, items: list[Item], place: int) -> Match | None:
    """The best match of a frame that begins at an item; None where it does not match."""
    match = _extend(frame, 0, items, place, 0)
    if match is None or not _is_plausible(frame, match) or _counts_next(frame, match, items):
        return None
    last = sum(role in ("things", "bare") for role in frame.roles)
    extra = 0.2 * (len(frame.roles) - 1) - LAST_RESORT * last
    return match._replace(score=match.score + extra)


def _counts_next(frame: Frame, match: Match, items: list[Item]) -> bool:
    """Return whether the last number counts the things behind it: we have 45,000 rows."""
    if match.end >= len(items):
        return False
    first, last, following = match.items[0][0], match.items[-1][0], items[match.end]
    if frame.roles[-1] == "requests_count" and following.text == "x":
        return True  # the request: 2x8 H100
    if last.text.isalpha() and following.tags & {"CARD", "INST"} and frame.roles[-1] in OF_LOAD:
        return True  # how many users can one L40S take
    if frame.roles[-1] in OF_EACH and "each" in last.tags:
        near = items[match.end : match.end + OF_EACH[frame.roles[-1]]]
        near = list(takewhile(lambda item: "," not in item.tags, near))
        return any("N" in item.tags for item in near)
    if "N" not in last.tags:
        return False
    if frame.roles[-1] not in WITHOUT_NOUN:
        return len(match.items) > 1 and _is_counted(items, match.end)
    is_thing = first.text in WE_HAVE and is_noun(following)  # we have 45,000 letters
    return is_thing or bool(following.tags & (COUNTED | {"token", "CARD", "gpu", "them"}))


def _is_counted(items: list[Item], place: int) -> bool:
    """Return whether an item names what the number before it counts: 8 turns; rank 8 epochs 2."""
    item, behind = items[place], items[place + 1 : place + 2]
    names = (is_noun(item) and is_plural(item.text)) or item.tags & OF_OWN_COUNT
    is_key = any("N" in one.tags or one.text in KEY_MARKS for one in behind)
    return bool(names) and not is_key


def _is_plausible(frame: Frame, match: Match) -> bool:
    """Return whether each time of a match is in the bounds of its role: no deadline of 50 ms."""
    values = [item for item, is_value in match.items if is_value]
    first, last = match.items[0][0], match.items[-1][0]
    if "label" in frame.elements[0][0] and (last.start > first.end + 2 or last.extra.get("scale")):
        return False  # room for 8k
    if first.text in signals("at_once") and len(match.items) == 2 and last.start > first.start:
        return False  # 20 users at once 8k
    is_period = "every" in frame.elements[0][0] and "DUR" in values[0].tags
    if is_period and values[0].start - first.end > FARTHEST_TIME:
        return False  # every user waits 10 seconds
    for role, item in zip(frame.roles, values, strict=False):
        is_one = is_noun(last) and not is_plural(last.text)
        if role == "times_each" and item.value >= MANY and is_one:
            return False  # each call gives a 4k transcript
        if role == "data_span" and item.extra.get("unit", 0.0) < YEAR:
            return False  # 9 hours of court hearings
        if role == "requests_rate" and any("tokens" in one.text for one, _ in match.items):
            return False  # 9M completion tokens a month
        if role in NO_SIZES and item.extra.get("scale") in SIZES:
            return False  # the GPUs for 70b
        reach = vocabulary().reach.get(role)
        if reach and not reach.least <= item.value <= reach.most:
            return False
        has_length = "each_tokens" in frame.roles and "each" in _tags_of(match)  # Absätze à 200
        if role == "things" and not (has_length or _names_things(match)):
            return False
        bound = vocabulary().bounds.get(role)
        if bound and "DUR" in item.tags:
            value = item.value / (3600 if role == "hours_most" else 1)
            if not bound.least <= value <= bound.most:
                return False
    return True


def _tags_of(match: Match) -> set[str]:
    """Return the tags of all items of a match."""
    return {tag for item, _ in match.items for tag in item.tags}


def _names_things(match: Match) -> bool:
    """Return whether the word behind the first number of a match may name several things."""
    behind = (item for item, is_value in match.items if not is_value)
    return is_plural(next(behind, match.items[-1][0]).text)


def _extend(
    frame: Frame, element: int, items: list[Item], place: int, skipped: int
) -> Match | None:
    """The best match of the rest of a frame from a place on; None where it does not match."""
    if element == len(frame.elements):
        return Match(0.0, place, ())
    tags, optional = frame.elements[element]
    found: list[Match] = []
    if place < len(items) and (
        tags & items[place].tags or ("noun" in tags and _ends_noun(items, place))
    ):
        rest = _extend(frame, element + 1, items, place + 1, skipped)
        if rest:
            is_value = bool(tags & _quantity_tags() & items[place].tags)
            score = VALUE if is_value else _cue_worth(tags, items[place])
            taken = (items[place], is_value)
            found.append(Match(rest.score + score, rest.end, (taken, *rest.items)))
    is_direct = bool(found) and bool(tags & items[place].tags)  # not by any noun
    if optional:
        rest = _extend(frame, element + 1, items, place, skipped)
        if rest:
            found.append(rest)
    if (
        element
        and place < len(items)
        and not is_direct
        and not (items[place].text in APART and _wants_machine(frame, element))  # 8 on H100
        and not (items[place].text in PLACES and "N" in frame.elements[element][0])  # users on 2
        and not (items[place].text in APART and "token" in frame.elements[element][0])  # a 1b on
        and not (_says(items[place]) and _counts_before(frame, element))  # users at 8k
        and not _is_rate_of_noun(items, place)
        and not _closes_number(items, place)
        and (cost := _skip_cost(items[place], skipped)) is not None
    ):
        used = 0 if items[place].is_silent else 1
        rest = _extend(frame, element, items, place + 1, skipped + used)
        if rest and rest.items:
            found.append(rest._replace(score=rest.score - cost))
    return max(found, key=lambda match: match.score, default=None)


def _is_rate_of_noun(items: list[Item], place: int) -> bool:
    """Return whether a per says what an unknown thing is of: 4 variants per prompt."""
    per = items[place].text in PER and items[place].tags != frozenset({"silent"})
    return per and is_noun(items[place - 1])


def _closes_number(items: list[Item], place: int) -> bool:
    """Return whether a parenthesis with a number in it ends here: (700/250): g6e.

    A limit behind it is of the same thing: the reply (60 tokens) within 2 s.
    """
    behind = takewhile(
        lambda item: not item.tags & {"end", ",", "N"},
        items[place + 1 : place + 1 + FARTHEST_LIMIT],
    )
    if items[place].text != ")" or any("within" in item.tags for item in behind):
        return False
    marks = (item for item in reversed(items[:place]) if item.text == "(" or "N" in item.tags)
    return "N" in next(marks, items[place]).tags


def _says(item: Item) -> bool:
    """Return whether a word stands for more than a filler between a noun and its number."""
    return item.text in BESIDE or not (item.is_silent or item.tags & SOFT)


def _counts_before(frame: Frame, element: int) -> bool:
    """Return whether a frame waits for the number of the things that it begins with: users 20."""
    before = frame.elements[:element]
    required = (tags for tags, optional in frame.elements[element:] if not optional)
    waited: frozenset[str] = next(required, frozenset())
    return "N" in waited and all(
        optional or tags & COUNTED or tags in ({"concurrent"}, {"token"})
        for tags, optional in before
    )


def _wants_machine(frame: Frame, element: int) -> bool:
    """Return whether a card or an instance is what a frame waits for."""
    for tags, optional in frame.elements[element:]:
        if tags & {"CARD", "INST"}:
            return True
        if not optional:
            return False
    return False


def _ends_noun(items: list[Item], place: int) -> bool:
    """Return whether an item is the last word of a thing's name: tiles of satellite tiles."""
    following = items[place + 1] if place + 1 < len(items) else None
    goes_on = following is not None and is_noun(following)
    return is_noun(items[place]) and not (goes_on and is_plural(items[place + 1].text))


def _cue_worth(tags: frozenset[str], item: Item) -> float:
    """Return the worth of a cue: one point, less where its word has many meanings."""
    if tags <= {",", "/", "and", "x"}:
        return 0.05
    if not tags & item.tags:  # any noun
        return NOUN
    is_weak = item.text in WEAK_CUES or item.tags >= OWN_TIME
    is_weak = is_weak or ("budget" in tags and "most" in item.tags)  # up to 32k
    return WEAK_CUE if is_weak else 1.0


def _skip_cost(item: Item, skipped: int) -> float | None:
    """The cost of a word inside a frame that has no place in it; None where it ends the frame."""
    if item.is_silent or (item.text in ("a", "an", "each", "à") and "per" in item.tags):
        return 0.01
    if "per_user" in item.tags and item.text.startswith("per "):  # 15 calls per dev per minute
        return None
    if skipped >= MOST_SKIPPED or item.tags & _tags_that_end():
        return None
    if item.tags & SOFT:
        return SOFT_COST
    if "batch_work" in item.tags:  # synthetic dialogs
        return UNKNOWN_COST
    return TAGGED_COST if item.tags & _tags_of_frames() else UNKNOWN_COST


@read_once
def _tags_that_end() -> frozenset[str]:
    """The tags of what no frame skips: quantities, names and joints."""
    return _quantity_tags() | NAMES | {"end", ",", "and", "or", "N", "as_long"}


@read_once
def _tags_of_frames() -> frozenset[str]:
    """The tags that have a place in a frame: words of another kind say nothing of a quantity."""
    return frozenset(tag for frame in frames() for tags, _ in frame.elements for tag in tags)
