"""Numbers and units joined to quantities; words of several meanings settled by those beside."""

from dataclasses import replace

from calc.catalogs.schemas.vocabulary import Unit
from calc.files.words.items import Item, items_after
from calc.files.words.vocabulary import vocabulary

ONE_OF = frozenset({"image", "concurrent"})  # one image each
ADJECTIVES = frozenset({"page", "paragraph", "sentence", "document", "image", "turn"})
JUST_ONE = frozenset({"one", "just one", "only one", "a single", "single"})
PERSON = frozenset({"user", "people"})
STREAM = frozenset({"session", "user", "request"})  # single stream
HOW_MUCH = frozenset({"how much", "combien", "wieviel", "wie viel", "cuánto"})
PRICES = frozenset({"cost", "costs", "be", "is", "pay", "for", "price", "money", "budget"}) | {
    *("kostet", "kosten", "coûte", "coûterait", "cuesta", "costaría", "vale")
}
FARTHEST_PRICE = 4  # words behind how much
PAIRS = frozenset({"pair", "duo", "paar", "paire", "par"})
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
MOST_PARTS = 10  # of a whole: two thirds, nine tenths
PCT = frozenset({"PCT"})
AT_ONCE = frozenset({"active", "concurrent"})
MULTIPLES = frozenset({"dual", "twin", "quad"})
WITH = frozenset({"with", "w", "mit", "avec", "con"})
EACH, FARTHEST_EACH = frozenset({"each", "per_user"}), 5  # everyone asks 5 questions in an hour
FARTHEST_USERS = 4  # items behind half
KINDS = frozenset({"session", "user", "request", "out", "question", "prompt"})
THINGS = frozenset({"document", "example", "audio", "image"})
SHORTEST_PLURAL = 4  # letters


def compose_quantities(items: list[Item]) -> list[Item]:
    """The items with numbers and units joined to times, money, shares, memory and rates."""
    several: list[Item] = []
    place = 0
    while place < len(items):
        one, used = _quantity(items, place)
        several.append(_with_unit(one, several, items[place + 1 : place + 2]))
        place += used
    following = enumerate(items_after(several))
    return [_by_neighbors(several, place, after) for place, after in following]


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


def _by_neighbors(items: list[Item], place: int, after: Item | None) -> Item:
    """An item whose word has several meanings, as the words beside it decide."""
    item = items[place]
    before = items[place - 1] if place else None
    if item.text in ("in", "en") and after is not None:
        if "DUR" in after.tags:
            return replace(item, tags=item.tags - {"in"})
        if "N" in after.tags and _counts_things(items, place + 1):  # in 120 shops
            return replace(item, tags=item.tags - {"in", "within"} | {"silent"})
        if items[place + 1].text in WITH:  # 45k in with 90% cached
            return item
        if not after.tags & {"N", ",", "end", "token", "/", "and", "out", "each", "per", "RATE"}:
            return replace(item, tags=item.tags - {"in", "within"} | {"silent"})
    if item.text == "each" and after is not None and "N" in after.tags:
        return replace(item, tags=item.tags - {"per_user"})  # each with 2 images
    if {"DUR", "RATE"} <= item.tags and before is not None:
        if "within" in before.tags:
            of_each = any(one.tags & EACH for one in items[max(place - FARTHEST_EACH, 0) : place])
            return replace(item, tags=item.tags - {"DUR" if of_each else "RATE"})
        if before.is_silent:  # what does it cost a month
            return replace(item, tags=item.tags - {"DUR"})
    if (
        "N" in item.tags
        and place + 2 < len(items)
        and items[place + 1].text == "-"
        and items[place + 2].tags & {"people", "user"}
    ):
        return replace(item, tags=frozenset({"silent"}))  # a three-person startup
    if item.tags & PERSON and before is not None and "greeting" in before.tags:
        return replace(item, tags=frozenset({"silent"}))  # hey folks
    if "how_many" in item.tags and _asks_price(items, place):
        return replace(item, tags=frozenset({"silent"}))
    if item.text == "dont" and after is not None:  # of which in French, do not in haste
        return replace(item, tags=frozenset({"them"} if after.tags & {"N", "PCT"} else {"not"}))
    if "alone" in item.tags:
        return replace(item, tags=frozenset({"ALONE"}), value=1.0)
    if item.text in MULTIPLES and not (after and after.tags & {"CARD", "gpu"}):
        return replace(item, tags=frozenset({"silent"}), value=None)  # dual encoder
    if item.text in PAIRS and before is not None and "CARD" in before.tags:
        return replace(item, tags=frozenset({"PAIR"}), value=2.0)  # an H100 pair
    if "N" in item.tags and _is_heading(items, place):
        return replace(item, tags=frozenset({"silent"}))  # two corrections: ...
    if "N" in item.tags and _is_adjective(items, place):
        return replace(item, tags=frozenset())
    mark = items[place + 1] if place + 1 < len(items) else item
    if item.text == "x" and mark.text == "-" and mark.start == item.end:
        return replace(item, tags=frozenset({"silent"}))  # x-ray
    if _is_kind_of_next(items, place):
        return replace(item, tags=frozenset({"silent"}))  # 12k call transcripts
    beside = [before, items[place + 1]] if before and place + 1 < len(items) else []
    if item.text == "/" and beside and _sets_apart(items, place):
        return replace(item, tags=item.tags - {"per", "or"} | {","})
    if item.text == "/" and beside and (all(map(is_noun, beside)) or _is_pair(*beside)):
        return replace(item, tags=frozenset({"silent"}))  # up/down
    if "ONE" in item.tags:
        follows_each = before is not None and before.text in ("every", "each")
        is_heading = place + 1 < len(items) and items[place + 1].text == ":"
        if is_heading or follows_each:
            return replace(item, tags=frozenset({"silent"}))  # quick one: host phi-4
        near = [one for one in items[place + 1 : place + 4] if not one.is_silent]
        if len(near) > 1 and is_noun(near[0]):  # one hot spare
            after = near[1]
        counts = after is not None and after.tags & {
            "CARD",
            "INST",
            "gpu",
            "node",
            "x",
            "epoch",
            "spare",
            "extra",
        }
        behind = [one for one in items[place + 1 : place + 3] if "PIXELS" not in one.tags]
        following = behind[0].tags if behind else frozenset()
        counts = counts or following & ONE_OF
        counts = counts or (item.text in JUST_ONE and following & PERSON)
        counts = counts or (item.text == "single" and following & STREAM)
        of_card = item.text in JUST_ONE and _is_card_of_memory(items, place + 1)
        return replace(item, tags=frozenset({"N"} if counts or of_card else {"silent"}))
    return item


def _is_card_of_memory(items: list[Item], place: int) -> bool:
    """Return whether a card is named by its memory here: a single 80 GB GPU."""
    behind = items[place + 1 : place + 3]
    sized = any(item.tags & {"N", "BYTES"} for item in items[place : place + 1])
    return sized and any(item.tags & {"gpu", "CARD"} for item in behind)


def _asks_price(items: list[Item], place: int) -> bool:
    """Return whether how much asks for money: how much would it be, combien ça coûte."""
    behind = {one.text for one in items[place + 1 : place + 1 + FARTHEST_PRICE]}
    return items[place].text in HOW_MUCH and bool(behind & PRICES)


def _sets_apart(items: list[Item], place: int) -> bool:
    """Return whether a slash between spaces begins the next thing: 20M tokens / seq 8192."""
    before, after = items[place - 1], items[place + 1]
    spaced = before.end < items[place].start and items[place].end < after.start
    return spaced and place + 2 < len(items) and "N" in items[place + 2].tags


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
        further = items[place + 2] if place + 2 < len(items) else None
        if further and after.text == "-" and (unit := _unit(further)):  # 3-day, 24-gb
            return _join(item, further, unit), 3
        if share := _share(items, place):
            return share
        unit = _unit(after)
        if unit and ("N" in item.tags or unit.dimension == "DUR"):
            return _join(item, after, unit), 2
        return item, 1
    money = next((tag for tag in units if tag in item.tags and _is_money(units[tag])), "")
    if money and "N" in after.tags and (after.start - item.end <= 1):
        return _join(after, item, units[money]), 2
    if "per" in item.tags and (time := _time_unit(after)):
        seconds = units[time].factor
        tags = {"RATE", "DUR"} if item.text in ("a", "an") else {"RATE"}
        return Item(item.start, after.end, f"{item.text} {after.text}", frozenset(tags), seconds), 2
    return _plain(item), 1


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
    if not rest or (first.value or 1.0) != 1.0 or joint.text not in ("in", "of", "out of"):
        return None
    used = 4 if rest[0].text == "every" and len(rest) > 1 else 3
    last, *behind = items[place + used - 1 : place + used + 1]
    is_count = "N" in last.tags and last.value > 0
    if not is_count or (behind and behind[0].tags & {"out", "token", "answer"}):
        return None
    text = " ".join(item.text for item in items[place : place + used])
    return Item(first.start, last.end, text, PCT, 1 / last.value), used


def _of_follows(items: list[Item], place: int) -> bool:
    """Return whether a part of something begins here: a fifth of them, a third active."""
    if items[place].text not in ("a", "one") or place + 2 >= len(items):
        return False
    behind = items[place + 2]
    return behind.text.partition(" ")[0] == "of" or bool(behind.tags & AT_ONCE)


def _is_of_users(behind: list[Item]) -> bool:
    """Return whether the words behind half say that it is of users: half of them online."""
    return any(item.tags & (AT_ONCE | PERSON | {"them"}) for item in behind)


def _is_pair(before: Item, after: Item) -> bool:
    """Return whether a slash joins a question and its answer."""
    return "question" in before.tags and "answer" in after.tags


def _is_kind_of_next(items: list[Item], place: int) -> bool:
    """Return whether a noun says what kind the things behind it are: call transcripts."""
    following = items[place + 1] if place + 1 < len(items) else None
    return (
        following is not None
        and bool(items[place].tags & KINDS and following.tags & THINGS)
        and not items[place].text.endswith("s")
        and items[place].text != "out"
        and following.text.endswith("s")
    )


def _is_heading(items: list[Item], place: int) -> bool:
    """Return whether a small number at the start says how long a list is: two corrections:."""
    begins = place == 0 or bool(items[place - 1].tags & {"end", ",", "silent"})
    if not begins or items[place].value > MOST_PARTS or len(items) < place + 3:
        return False
    noun, mark = items[place + 1 : place + 3]
    return mark.text == ":" and is_noun(noun) and is_plural(noun.text)


def _is_adjective(items: list[Item], place: int) -> bool:
    """Return whether a number belongs to what a thing is like: a 50-page contract."""
    behind = items[place + 1 : place + 3]
    return len(behind) == 2 and behind[0].text == "-" and behind[1].text in ADJECTIVES


def _counts_things(items: list[Item], place: int) -> bool:
    """Return whether the number at a place counts things that the vocabulary lacks."""
    following = items[place + 1] if place + 1 < len(items) else None
    return following is not None and is_noun(following) and is_plural(following.text)


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


def is_noun(item: Item) -> bool:
    """Return whether an item is a word that the vocabulary lacks, such as the name of a thing."""
    return not item.tags and item.text.isalpha()


def is_plural(word: str) -> bool:
    """Return whether a word that the vocabulary lacks may name things that are counted."""
    return len(word) >= SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss")
