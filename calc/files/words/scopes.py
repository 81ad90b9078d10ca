"""Which names a text takes, excludes or allows, and which clauses it puts aside."""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import pairwise

from calc.catalogs.schemas.vocabulary import PlaceWords
from calc.files.words.asides import HARD, largest_before, put_aside
from calc.files.words.items import Item
from calc.files.words.vocabulary import vocabulary

NameEntry = tuple[str, tuple[str, ...], str]
WE_HAVE = frozenset({"we own", "i own", "we already have", "already own"})  # behind the name
PRONOUNS, FARTHEST_PRONOUN = frozenset({"it", "them", "that"}), 14  # items behind a market
PREFERRED = frozenset({"preferred", "preferably", "prefer", "bevorzugt", "am liebsten"}) | {
    *("de préférence", "preferiblemente"),
}
OWNED = frozenset({"own", "our own", "my own", "ours", "mine", "on prem", "on-prem"})
COUNTERS = frozenset({"张", "块", "台", "片"})  # Chinese words between a number and what it counts
AMOUNTS = frozenset({"N", "DUR", "USD", "BYTES"})
MOST_UNKNOWN = 2  # words between my and a machine; of more another thing is mine
OUR = frozenset({"our", "unser", "unsere", "unserem", "unseren", "notre", "nos", "nuestro"})
INSTEAD = frozenset({"instead of", "statt", "anstatt", "au lieu de", "en lugar de"})
TURNED = frozenset(
    {"wish", "now", "today_heading", "runs"}
)  # tags of a word that turns to the plan
IF = frozenset({"if", "wenn", "falls", "si", "where", "when", "whenever"})
UNABLE = frozenset({"can't", "cannot", "can not", "doesn't", "won't", "isn't"})
OF_DEGREE = frozenset({"enough", "sure", "only", "sufficient", "yet", "just", "necessarily"})
MACHINES, FARTHEST_NAME = frozenset({"instance", "family", "gpu"}), 5  # items behind a parenthesis
ATTEMPTED = frozenset({"tune", "train", "serve", "run", "pretrain"})


@dataclass
class Scopes:
    """Names by what is said about them, and the numbers of items that are put aside."""

    taken: dict[str, list[Item]] = field(default_factory=lambda: defaultdict(list))
    excluded: list[tuple[str, Item]] = field(default_factory=list)  # id, item
    allowed: list[tuple[str, Item]] = field(default_factory=list)  # market, item
    owned: list[Item] = field(default_factory=list)
    open_machines: list[Item] = field(default_factory=list)  # H100 or better
    aside: set[int] = field(default_factory=set)
    negated: set[int] = field(default_factory=set)


def scopes_of(items: list[Item]) -> Scopes:
    """Return the scope of each name in the text."""
    scopes = Scopes()
    scopes.aside = put_aside(items)
    scopes.negated = _in_negation(items)
    for place, item in enumerate(items):
        if place in scopes.aside:
            continue
        if entry := name_entry(item):
            _name(scopes, items, place, entry)
        elif item.text in ("p", "g") and place in scopes.negated:
            scopes.excluded.append((item.text, item))
    return scopes


def name_entry(item: Item) -> NameEntry | None:
    """(kind, ids, id of an exclusion) of a name; None for any other item."""
    if "INST" in item.tags:
        return (
            "instance",
            item.value,
            item.value[0] if item.extra.get("exact") else item.extra["family"],
        )
    if "CARD" in item.tags:
        return "gpu", item.value, item.extra["key"]
    if "PLACE" in item.tags:
        return "regions", item.extra["regions"], "+".join(item.extra["regions"])
    words = place_words(item)
    if words and words.market:
        return "markets", (words.market,), words.market
    if words and words.regions:
        return "regions", tuple(words.regions.split("+")), words.block or words.regions
    if words and words.family:
        return "family", (words.family,), words.family
    return None


def place_words(item: Item) -> PlaceWords | None:
    """Return the market, regions or family of instances that an item names, if it names one."""
    number = next((tag.partition(":")[2] for tag in item.tags if tag.startswith("places:")), "")
    return vocabulary().places[int(number)] if number else None


def _name(scopes: Scopes, items: list[Item], place: int, entry: NameEntry) -> None:
    """Sort a named place or machine: ruled out, allowed, owned, or asked for."""
    kind, _, exclusion = entry
    item = items[place]
    leaves = kind == "regions" and _after(items, place, "outside", 3)  # darf sie nicht verlassen
    outside = leaves or (kind == "regions" and _before(items, place, "outside", 3))
    is_fine = _after(items, place, "allowed", 3) and not _before(items, place, "not", 2)
    negated = (place in scopes.negated and not is_fine) or is_forbidden(items, place)
    negated = negated or _is_left_behind(items, place)
    negated = negated or (not leaves and _after(items, place, "behind_except", 1))
    negated = negated or (leaves and _after(items, place, "not", 2))
    likewise = _before(items, place, "likewise", 3) or _after(items, place, "likewise", 1)
    negated = negated or (bool(scopes.excluded) and likewise)
    if kind in ("gpu", "instance") and (bound := largest_before(items, place)):
        scopes.open_machines.append(replace(item, text=f"{bound} {item.text}"))
    elif negated != bool(outside):
        scopes.excluded.append((exclusion, item))
    elif kind == "markets" and (_is_allowed(items, place) or _is_preferred(items, place)):
        scopes.allowed.append((exclusion, item))
    elif kind in ("gpu", "instance") and _after(items, place, "or_better", 2):
        scopes.open_machines.append(replace(item, text=f"{item.text} or better"))
    elif kind in ("gpu", "instance") and _is_owned(items, place):
        scopes.owned.append(item)
    elif not (kind == "family" and any("vcpu" in other.tags for other in items)):
        scopes.taken[kind].append(item)  # a quota of vCPUs names a family to say which it is


def _before(items: list[Item], place: int, tag: str, reach: int) -> bool:
    """Return whether a tag stands before an item in its clause, within a few items."""
    for other in reversed(items[max(place - reach, 0) : place]):
        if other.tags & HARD:
            return False
        if tag in other.tags:
            return True
    return False


def _after(items: list[Item], place: int, tag: str, reach: int) -> bool:
    """Return whether a tag stands behind an item before the next comma, within a few items."""
    for other in items[place + 1 : place + 1 + reach]:
        if other.tags & {"end", ","}:
            return False
        if tag in other.tags:
            return True
    return False


def _is_allowed(items: list[Item], place: int) -> bool:
    if any(other.text in IF for other in items[place + 1 : place + 3]):
        return True  # spot if it is cheaper
    for before, other in pairwise(items[place + 1 : place + FARTHEST_PRONOUN]):
        if "welcome" in before.tags and other.text in PRONOUNS:
            return True  # spot is cheap, so I'd be happy to use it
    return _after(items, place, "allowed", 3) or _before(items, place, "welcome", 2)


def _is_preferred(items: list[Item], place: int) -> bool:
    """Return whether a market is better than others, which it does not rule out."""
    near = items[max(place - 1, 0) : place + 3]
    return any(other.text in PREFERRED for other in near)


def is_allowed_behind(items: list[Item], end: int) -> bool:
    """Return whether the words behind a place of the text allow what ends there: one year is OK."""
    place = next((number for number, item in enumerate(items) if item.end == end), None)
    return place is not None and _after(items, place, "allowed", 3)


def is_needless(items: list[Item], place: int) -> bool:
    """Return whether the words behind a name say that it need not be: fp8 not needed."""
    return _after(items, place, "needless", 3)


def is_forbidden(items: list[Item], place: int) -> bool:
    """Return whether the words after a name rule it out: spot is not an option."""
    if _ends(items, place):
        return True
    denied, unknown = False, 0  # spot isn't acceptable; spot kommt für uns nicht in Frage
    for other in items[place + 1 : place + 8]:
        if "forbidden" in other.tags or (denied and "allowed" in other.tags):
            return True
        if "not" in other.tags:
            denied = True
            continue
        if not other.tags and other.text.isalpha() and unknown < MOST_UNKNOWN:
            unknown += 1
            continue
        if (
            other.tags & HARD
            or "," in other.tags
            or not (
                other.is_silent
                or other.tags & {"and", "or", "node", "name", "own"}
                or name_entry(other)
            )
        ):
            return False
    return False


def _is_left_behind(items: list[Item], place: int) -> bool:
    """Return whether a negation of it stands behind a name: g5 is too small, so skip it."""
    for other, behind in pairwise(items[place + 1 : place + FARTHEST_PRONOUN]):
        if other.tags & HARD or name_entry(other):
            return False
        if "not" in other.tags and behind.text in PRONOUNS:
            return behind.end == items[-1].end or bool(
                _item_behind(items, behind).tags & {"end", ",", "and"}
            )
    return False


def _item_behind(items: list[Item], item: Item) -> Item:
    """The item behind another one, which is not the last."""
    return items[items.index(item) + 1]


def _ends(items: list[Item], place: int) -> bool:
    """Return whether the clause ends with a negation: P instances we have not."""
    for before, other in pairwise(items[place : place + 7]):
        if other.tags & {"end", ","}:
            return "not" in before.tags
    return len(items) - place < 7 and "not" in items[-1].tags


def _is_under_heading(items: list[Item], place: int) -> bool:
    """Return whether the last heading above a name says what is there: what we have: ..."""
    marks = [number for number in range(place) if items[number].text.startswith(":")]
    heading = next((mark for mark in reversed(marks) if "end" in items[mark].tags), 0)
    for other in reversed(items[:heading]):
        if "own" in other.tags:
            return True
        if not other.tags & {"silent", "gpu", "node", "now"} or "end" in other.tags:
            return False  # we have these requirements: ...
    return False


def _is_owned(items: list[Item], place: int) -> bool:
    """Return whether a word of possession stands before the count, or a home behind the name."""
    if _after(items, place, "at_home", 4):
        return True
    if _after(items, place, "hour", 1):
        return False  # we have 640 H100 hours
    if "CARD" in items[place].tags and _is_ours(items, place):
        return True
    if _is_under_heading(items, place):
        return True
    if any(item.text in OWNED for item in items[place + 1 : place + 3]):
        return True  # 2 x A100 (own server)
    behind = [item.text for item in items[place + 1 : place + 5] if not item.is_silent]
    said = next((number for number, text in enumerate(behind[:3]) if text in WE_HAVE), -1)
    if said >= 0 and not {",", "."} & set(behind[:said]):
        return True
    unknown = 0
    for other in reversed(items[max(place - 8, 0) : place]):
        if "own" in other.tags:
            return True
        unknown += not other.tags
        if unknown > MOST_UNKNOWN or not (
            other.is_silent
            or not other.tags
            or other.text in COUNTERS
            or other.tags & {"N", "x", "about", "node", "per", "gpu", "dgx"}
        ):
            return False
    return False


def _is_ours(items: list[Item], place: int) -> bool:
    """Return whether a machine of a card is called ours: on our 8x H200 box."""
    before = [
        item for item in items[max(place - 4, 0) : place] if not item.tags & {"N", "x", "dgx"}
    ]
    behind = items[place + 1 : place + 2]
    counted = len(before) < min(place, 4) or any(item.tags & {"node", "own"} for item in behind)
    return bool(counted and before and before[-1].text in OUR)


def _in_negation(items: list[Item]) -> set[int]:
    """The numbers of the items that a negation covers: to its clause's end or a turn."""
    covered: set[int] = set()
    negation = False
    opened = False  # the negation began in a parenthesis
    listed = False  # a parenthesis says what is denied: no P instances (p4d, p5)
    instead = False  # what stands instead of it may follow in its clause
    compared = False  # longer than, more than: the negation is of the number behind it
    last_kind = ""
    for place, item in enumerate(items):
        if (
            item.tags & HARD
            or (item.text == ":" and negation)
            or item.tags & {"but", "plus"}
            or ("only" in item.tags and not item.tags & {"not", "outside"})
            or (negation and _is_wanted(items, place, covered))
            or (item.text == ")" and opened)
            or (negation and last_kind and _is_of_other(items, place, last_kind))
            or (instead and item.tags & TURNED)
        ):
            negation = opened = listed = instead = False
        elif "," in item.tags and not listed:
            negation = negation and bool(last_kind) and _goes_on(items, place, last_kind)
        if item.tags & {"not", "quota_no"}:
            negation = not (_is_complaint(items, place) or _is_interjection(items, place))
            opened = _is_in_parenthesis(items, place)
            last_kind, compared = "", False
            instead = item.text in INSTEAD
            continue
        if negation:
            covered.add(place)
            listed = (listed or item.text == "(") and item.text != ")"
            if entry := name_entry(item):
                last_kind = entry[0]
            if compared and item.tags & AMOUNTS:
                negation = False
            compared = compared or bool(item.tags & {"than", "least"})
    return covered


def _is_of_other(items: list[Item], place: int, kind: str) -> bool:
    """Return whether what begins here is not what a negation has ruled out: no g6 (phi-4)."""
    if "MODEL" in items[place].tags:
        return True
    if items[place].text != "(":
        return False
    inside = items[place : place + FARTHEST_NAME]
    named = next((entry[0] for entry in map(name_entry, inside) if entry), "")
    is_allowed = any("allowed" in item.tags for item in inside)  # no H100 (A100 is ok)
    return is_allowed or (named != kind and not {named, kind} <= MACHINES)


def _is_in_parenthesis(items: list[Item], place: int) -> bool:
    """Return whether the last parenthesis before an item is open: AI agents (not people)."""
    marks = (item.text for item in reversed(items[:place]) if item.text in ("(", ")"))
    return next(marks, ")") == "("


def _is_wanted(items: list[Item], place: int, covered: set[int]) -> bool:
    """Return whether an item behind a denied one is what is wanted: no fp8, bf16 only."""
    denied = any(not items[one].is_silent for one in covered if one < place)
    following = items[place + 1] if place + 1 < len(items) else None
    return (
        denied
        and following is not None
        and "only" in following.tags
        and "not" not in following.tags
    )


def _is_complaint(items: list[Item], place: int) -> bool:
    """Return whether a negation reports a failure: I can not fine-tune it; not enough."""
    after = next((item for item in items[place + 1 : place + 4] if not item.is_silent), None)
    following = items[place + 1].text if place + 1 < len(items) else ""
    if items[place].text == "not" and following in OF_DEGREE:
        return True
    if items[place].text not in UNABLE:
        return False
    return after is not None and bool(after.tags & ATTEMPTED)


def _is_interjection(items: list[Item], place: int) -> bool:
    """Return whether a no stands for itself: no: qwen3-8b; no, wait."""
    after = items[place + 1] if place + 1 < len(items) else None
    if items[place].text == "never" and after is not None and not after.tags:
        return True  # a prompt that never varies
    alone = items[place].text in ("no", "nothing", "none")
    stands_alone = after is not None and bool(
        after.text in (":", ",") or after.tags & {"arrow", "correction"}
    )
    return alone and stands_alone


def _goes_on(items: list[Item], place: int, kind: str) -> bool:
    """Return whether a list of names goes on behind a comma to an and or or: no p4d, p5 or g5."""
    for other in items[place + 1 : place + 8]:
        if other.tags & {"or", "and"}:
            return True
        entry = name_entry(other)
        if not (entry and entry[0] == kind) and "," not in other.tags and not other.is_silent:
            return False
    return False
