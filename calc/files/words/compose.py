"""Numbers and units joined to quantities: times, money, shares, memory and rates."""

from dataclasses import replace

from calc.catalogs.schemas.vocabulary import Unit
from calc.files.words.items import Item
from calc.files.words.labels import with_labels
from calc.files.words.neighbors import AT_ONCE, PERSON, settle_by_neighbors
from calc.files.words.periods import with_counted_periods
from calc.files.words.vocabulary import vocabulary
from calc.files.words.word_counts import words_as_tokens

ORDINALS = {
    "half": 2,
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "eighth": 8,
    "tenth": 10,
}
PARTS = {"half": 2, "third": 3, "quarter": 4}  # of a time: half an hour
ORDINALS |= {"10th": 10, "20th": 20, "twentieth": 20, "fiftieth": 50, "hundredth": 100}
CLOCK_DIGITS = 2  # of the minutes of 12:30
ORDINALS |= {"hälfte": 2, "drittel": 3, "viertel": 4, "fünftel": 5, "zehntel": 10}
ORDINALS |= {"moitié": 2, "tiers": 3, "quart": 4, "cinquième": 5, "dixième": 10}
ORDINALS |= {"mitad": 2, "tercio": 3, "cuarto": 4, "quinta parte": 5, "décima parte": 10}
ARTICLES = frozenset({"a", "one", "ein", "eine", "die", "un", "une", "la", "una"})
WHOLES = (10.0, 20.0, 100.0, 1000.0)  # requests of which a limit holds for a part: 9 of 10
MOST_PARTS = 10  # of a whole: two thirds, nine tenths
PCT = frozenset({"PCT"})
FARTHEST_USERS = 4  # items behind half
FARTHEST_ACTIVE = 5  # items behind a tenth


def compose_quantities(items: list[Item]) -> list[Item]:
    """The items with numbers and units joined to times, money, shares, memory and rates."""
    items = with_counted_periods(with_labels(items))
    several: list[Item] = []
    place = 0
    while place < len(items):
        one, used = _quantity(items, place)
        several.append(_with_unit(one, several, items[place + 1 : place + 2]))
        place += used
    return settle_by_neighbors(words_as_tokens(several))


def _with_unit(item: Item, before: list[Item], after: list[Item]) -> Item:
    """A number without a unit, as a time where a limit and the time before say so: done in 3."""
    is_last = not after or bool(after[0].tags & {"end", ","} or after[0].text in ":)")
    limit = before[-1] if before else None
    if "N" not in item.tags or not is_last or limit is None or "within" not in limit.tags:
        return item
    unit = next((one.extra["unit"] for one in reversed(before) if "unit" in one.extra), 0.0)
    if not unit or " " not in limit.text:
        return item
    return replace(item, tags=frozenset({"DUR"}), value=item.value * unit)


def _quantity(items: list[Item], place: int) -> tuple[Item, int]:
    """The quantity that begins at a place, such as `3 days`, and how many items it takes."""
    item = items[place]
    after = items[place + 1] if place + 1 < len(items) else None
    units = vocabulary().units
    if after is None:
        return _plain(item), 1
    if part := _part_of_unit(items, place):
        return part
    of_all = item.text in ("every", "each") or _of_follows(items, place)
    if of_all and after.text in ORDINALS:  # every tenth, a fifth of them
        written = f"{item.text} {after.text}"
        return Item(item.start, after.end, written, PCT, 1 / ORDINALS[after.text]), 2
    if item.text == "half" and _is_of_users(items[place + 1 : place + 1 + FARTHEST_USERS]):
        return replace(item, tags=PCT, value=0.5), 1
    if "N" in item.tags and after.text.removesuffix("s") in ORDINALS and item.value < MOST_PARTS:
        share = item.value / ORDINALS[after.text.removesuffix("s")]  # two thirds
        return Item(item.start, after.end, f"{item.text} {after.text}", PCT, share), 2
    if item.tags & {"N", "ONE"}:
        return _of_number(items, place)
    money = next((tag for tag in units if tag in item.tags and _is_money(units[tag])), "")
    if money and "N" in after.tags and (after.start - item.end <= 1):
        return _join(after, item, units[money]), 2
    if item.text in ("per", "pro", "par", "por") and (rate := _rate_of_several(items, place)):
        return rate
    if "per" in item.tags and (time := _time_unit(after)):
        seconds = units[time].factor
        tags = {"RATE", "DUR"} if item.text in ("a", "an") else {"RATE"}
        return Item(item.start, after.end, f"{item.text} {after.text}", frozenset(tags), seconds), 2
    return _plain(item), 1


def _rate_of_several(items: list[Item], place: int) -> tuple[Item, int] | None:
    """The rate over several units of time that begins at a place: per 2 minutes; else None."""
    behind = [item for item in items[place + 1 : place + 4] if "about" not in item.tags][:2]
    time = _time_unit(behind[1]) if len(behind) == 2 and "N" in behind[0].tags else ""
    if not time or behind[1] not in items[place : place + 4]:
        return None
    seconds, used = behind[0].value * vocabulary().units[time].factor, 1
    while items[place + used - 1] is not behind[1]:
        used += 1
    written = " ".join(item.text for item in items[place : place + used])
    return Item(items[place].start, behind[1].end, written, frozenset({"RATE"}), seconds), used


def _of_number(items: list[Item], place: int) -> tuple[Item, int]:
    """The quantity that a number begins, with its unit: 3 days, one in ten, 3-day."""
    item, after = items[place], items[place + 1]
    further = items[place + 2] if place + 2 < len(items) else None
    if further and after.text == "-" and (unit := _unit(further)):  # 3-day, 24-gb
        return _join(item, further, unit), 3
    each = place and items[place - 1].text.endswith(("every", "each"))  # every one of 40 users
    if (
        part := (not each and _share(items, place))
        or _fraction(items, place)
        or _ratio(items, place)
    ):
        return part
    unit = _unit(after)
    if unit and ("N" in item.tags or unit.dimension == "DUR"):
        return _join(item, after, unit), 2
    return item, 1


def _part_of_unit(items: list[Item], place: int) -> tuple[Item, int] | None:
    """The part of a time that begins at a place, and its items: three quarters of an hour."""
    first, *rest = items[place : place + 5]
    counted = bool(first.tags & {"N", "ONE"} or first.text in ("a", "an")) and len(rest) > 1
    word = rest.pop(0) if counted else first
    if word.text.removesuffix("s") not in PARTS:
        return None
    joints = [item for item in rest if item.text in ("of", "a", "an")]
    behind = rest[len(joints) :] if rest[: len(joints)] == joints else []
    unit = _unit(behind[0]) if behind else None
    if unit is None or unit.dimension != "DUR":
        return None
    part = Item(first.start, word.end, word.text, frozenset({"N"}))
    count = float(first.value or 1) if counted else 1.0
    value = count / PARTS[word.text.removesuffix("s")]
    used = 1 + counted + len(joints)
    return _join(replace(part, value=value), behind[0], unit), used + 1


def _share(items: list[Item], place: int) -> tuple[Item, int] | None:
    """The share that one in so many is, and how many items it takes; 1 in, 20 out is none."""
    first, joint, *rest = items[place : place + 4]
    if not rest or joint.text not in ("in", "of", "out of"):
        return None
    if (first.value or 1.0) != 1.0:
        return _part_of_requests(items, place)
    used = 4 if rest[0].text == "every" and len(rest) > 1 else 3
    last, *behind = items[place + used - 1 : place + used + 1]
    is_count = "N" in last.tags and last.value > 0
    if not is_count or (behind and behind[0].tags & {"out", "token", "answer"}):
        return None
    text = " ".join(item.text for item in items[place : place + used])
    return Item(first.start, last.end, text, PCT, 1 / last.value), used


def _part_of_requests(items: list[Item], place: int) -> tuple[Item, int] | None:
    """The share that 9 of 10 requests are, with its items; the requests are those of the limit."""
    first, joint, last, *behind = items[place : place + 4]
    if "N" not in last.tags or last.value not in WHOLES or first.value >= last.value:
        return None
    things = behind[0].tags & {"request", "answer", "question", "token"} if behind else None
    if joint.text == "in" or not things:
        return None
    text = " ".join(item.text for item in items[place : place + 4])
    share = first.value / last.value
    if "token" in things:  # of a prompt
        return Item(first.start, behind[0].end, text, PCT, share), 4
    return Item(first.start, behind[0].end, text, frozenset({"PCTL"}), 100 * share), 4


def _ratio(items: list[Item], place: int) -> tuple[Item, int] | None:
    """A ratio such as 9:1, which is no number of anything, and how many items it takes."""
    first, *rest = items[place : place + 3]
    if len(rest) < 2 or rest[0].text != ":" or "N" not in first.tags & rest[1].tags:
        return None
    last = rest[1]
    is_glued = first.end + 1 == last.start and last.end - last.start < CLOCK_DIGITS
    if not is_glued:
        return None
    written = f"{first.text}:{last.text}"
    ratio, second = frozenset({"RATIO"}), {"second": last.value}
    return Item(first.start, last.end, written, ratio, first.value, second), 3


def _fraction(items: list[Item], place: int) -> tuple[Item, int] | None:
    """The share that a fraction of something is, and how many items it takes: 1/3 of that."""
    first, slash, *rest = items[place : place + 4]
    if len(rest) < 2 or slash.text != "/" or "N" not in first.tags & rest[0].tags:
        return None
    last, behind = rest
    is_part = first.value < last.value <= MOST_PARTS
    if not is_part or not (behind.text == "of" or "them" in behind.tags):
        return None
    return Item(
        first.start, last.end, f"{first.text}/{last.text}", PCT, first.value / last.value
    ), 3


def _of_follows(items: list[Item], place: int) -> bool:
    """Return whether a part of something begins here: a fifth of them, a third active."""
    if items[place].text not in ARTICLES or place + 2 >= len(items):
        return False
    if items[place + 2].text.partition(" ")[0] == "of":
        return True
    for behind in items[place + 2 : place + 2 + FARTHEST_ACTIVE]:  # a tenth would be active
        if behind.tags & (AT_ONCE | {"end", ",", "N"}):
            return bool(behind.tags & AT_ONCE)
    return False


def _is_of_users(behind: list[Item]) -> bool:
    """Return whether the words behind half say that it is of users: half of them online."""
    return any(item.tags & (AT_ONCE | PERSON | {"them"}) for item in behind)


def _plain(item: Item) -> Item:
    """An item, or the rate that a word such as daily is."""
    for tag in item.tags:
        if tag.startswith("per_") and (unit := tag.removeprefix("per_")) in vocabulary().units:
            seconds = vocabulary().units[unit].factor
            return Item(item.start, item.end, item.text, item.tags | {"RATE"}, seconds)
    return item


def _is_money(unit: Unit) -> bool:
    return unit.dimension in ("USD", "FOREIGN")


def _unit(item: Item) -> Unit | None:
    return next((unit for tag, unit in vocabulary().units.items() if tag in item.tags), None)


def _time_unit(item: Item) -> str:
    units = vocabulary().units
    return next((tag for tag in units if tag in item.tags and units[tag].dimension == "DUR"), "")


def _join(number: Item, unit: Item, meaning: Unit) -> Item:
    """A number and its unit as one item, in the base unit."""
    start, end = min(number.start, unit.start), max(number.end, unit.end)
    first, last = (number, unit) if number.start < unit.start else (unit, number)
    extra = dict(number.extra)
    if "low" in extra:
        extra["low"] = extra["low"] * meaning.factor
    if meaning.dimension == "DUR":
        extra["unit"] = meaning.factor
    if meaning.currency:
        extra["currency"] = f"{meaning.factor:g} US dollars per {meaning.currency}"
    return Item(
        start,
        end,
        f"{first.text}{' ' if last.start > first.end else ''}{last.text}",
        frozenset({meaning.dimension}),
        number.value * meaning.factor,
        extra,
    )
