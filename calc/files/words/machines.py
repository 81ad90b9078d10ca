"""The instances, cards and regions that a text names."""

import re
from dataclasses import replace

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.files.words.items import Item

SIZES = r"(?:\d*xl(?:arge)?|large|metal)"
SIZE_APART = re.compile(r"(?<![\w.])(?:(\d+)xl(?:arge)?|xlarge)(?![\w-]|\.\w)")  # 12xlarge, 48xl
DENIES = re.compile(r"\b(?:not|no|without|except|nicht|kein\w*|ohne|sans|sauf|sin)\b[^.;:,]*$")
MAKERS = (
    r"(?:nvidia[ -]|amd[ -])?(?:(?:tesla|quadro|geforce|instinct)[ -])?"
    r"(?:(?:rtx|gtx)[ -]?)?(?:pro[ -]|titan[ -])?"
)
OR = r" ?(?:gb ?)?(?:/|or|oder|ou|o) ?"
CHOICE = re.compile(rf"(\d{{2,3}}){OR}(?=\d{{2,3}} ?g)")  # 40 or 80 GB
BARE_MEMORY = r"[ -](?:16|24|32|40|48|80|96)(?= ?[),.;:?+/\n]|$)"  # A100 40
COMPOUND = "instan|maschin|machine|node|knoten|server|famil|karte|gpu|box|cluster"  # P4-Instanzen
NO_NAME = rf"-(?!{COMPOUND})[a-z0-9]"  # behind a name: that of another thing
GIGABYTES = (  # 40g, 40 GiB, 40GB of memory, 40 or 80 GB
    rf"(?:\d{{2,3}}{OR})?\d{{2,3}} ?g(?:i?b)?(?: of)?(?: memory| vram)?"
)
TRAITS = (
    r"(?:[ -]?(?:sxm\d?|pcies?|nvls?|ada|server|blackwell|generation|super|ti|tensor core|"
    rf"{GIGABYTES})(?![a-z0-9])|{BARE_MEMORY}| ?[(（] ?{GIGABYTES} ?[)）])*"
)
BARE_CARD = re.compile(r"\d\d90s?|.*\d (?:ti|super|\d+ ?gb)\b.*")  # what people write without rtx
COUNTS = re.compile(r"[ -]?(?:tok|word|char|prompt|context|sample|row|example|request|user|doc)")
SHORT_FAMILIES = frozenset({"p4", "p6", "g4"})  # people write these without their letters
OWN_BEFORE = re.compile(
    r"\b(?:my|our|own|his|her|an?|single|dual|twin|quad|\dx|two|mein\w*|ma|mon|mi) $"
)  # my 4080
INSTANCE, NAMED_BESIDE = frozenset({"INST", "name"}), frozenset({"silent", "name"})
NO_GENERATION = frozenset({"ada"})  # which is also a name
MEMORY_BEFORE = r"(?:\d{2,3} ?gb[ -])?"


def named_machines(text: str, catalogs: Catalogs) -> list[Item]:
    """Items of instances, families, cards and regions in the text."""
    several = [*_instances(text, catalogs), *_regions(text, catalogs)]
    cards = [card for card in _cards(text, catalogs) if not _overlaps(card, several)]
    named = {name for card in cards for name in card.value}
    generations = [
        one
        for one in _generations(text, catalogs)
        if not _overlaps(one, cards) and not named & set(one.value)
    ]
    return [*several, *cards, *generations]


def _overlaps(item: Item, others: list[Item]) -> bool:
    return any(item.start < other.end and other.start < item.end for other in others)


def _instances(text: str, catalogs: Catalogs) -> list[Item]:
    """The instance types and families that a text names."""
    table, families = catalogs.instances, _families(catalogs)
    names = "|".join(sorted(map(re.escape, families), key=len, reverse=True))
    items = []
    instance = rf"({names})(?:\.({SIZES})|[ -](\d*xl(?:arge)?)(?![\w.-]))?s?"
    pattern = "|".join(
        (
            rf"(?<![a-z0-9.])(?:x ?)?(?:ml\.)?{instance}(?![a-z0-9]|{NO_NAME}|\.\w)",
            rf"(?<=\dx){instance}(?![a-z0-9])",  # 2xp5.48xlarge
        )
    )
    for match in re.finditer(pattern, text):
        family = match[1] or match[4]
        size = match[2] or match[3] or match[5] or match[6]
        start = (
            match.start() + (len(match[0]) - len(match[0].lstrip("x ")))
            if match[0].startswith("x")
            else match.start()
        )
        exact = f"{family}.{re.sub(r'xl$', 'xlarge', size)}" if size else ""
        ids = [exact] if exact in table.index else families[family] if not size else []
        if ids:
            names_of = {"family": _whole_family(family, ids), "exact": bool(size)}
            items.append(Item(start, match.end(), match[0], INSTANCE, tuple(ids), names_of))
    return _with_sizes_apart(items, text, catalogs)


def _with_sizes_apart(items: list[Item], text: str, catalogs: Catalogs) -> list[Item]:
    """Instances with the sizes that stand apart from their family: g6e.12xl or 24xl."""
    several = list(items)
    for match in SIZE_APART.finditer(text):
        if any(item.start <= match.start() < item.end for item in items):
            continue
        before = [item for item in items if item.end <= match.start()]
        family = next(iter(before[-1:] or items[:1]), None)
        name = f"{family.extra['family']}.{match[1] or ''}xlarge" if family else ""
        if family is None or name not in catalogs.instances.index:
            continue
        extra = {"family": family.extra["family"], "exact": True}
        several.append(Item(*match.span(), match[0], INSTANCE, (name,), extra))
        if (
            family in several
            and not family.extra["exact"]
            and not DENIES.search(text[: match.start()])
        ):
            several[several.index(family)] = replace(family, tags=NAMED_BESIDE)
    return sorted(several, key=lambda item: item.start)


def _families(catalogs: Catalogs) -> dict[str, list[str]]:
    """The instance types of each family, and of the short names that people write for several."""
    families: dict[str, list[str]] = {}
    for name in map(str, catalogs.instances.index):
        families.setdefault(name.partition(".")[0], []).append(name)
    for head in SHORT_FAMILIES & {name[:2] for name in families} - families.keys():
        families[head] = [
            name
            for family, several in families.items()
            if family.startswith(head) and family not in SHORT_FAMILIES
            for name in several
        ]
    return families


def _whole_family(family: str, ids: list[str]) -> str:
    """The family of these instances; of a short name such as p4 all that it stands for."""
    if family not in SHORT_FAMILIES:
        return family
    return "+".join(dict.fromkeys(name.partition(".")[0] for name in ids)) or family


def _regions(text: str, catalogs: Catalogs) -> list[Item]:
    """The regions that a text names by their ids."""
    names = "|".join(
        map(re.escape, sorted(map(str, catalogs.regions.index), key=len, reverse=True))
    )
    return [
        Item(*match.span(), match[0], frozenset({"PLACE", "name"}), None, {"regions": (match[1],)})
        for match in re.finditer(rf"(?<![\w-])({names})[a-f]?(?![\w-])", text)
    ]


def _cards(text: str, catalogs: Catalogs) -> list[Item]:
    """The cards that a text names, with the memory and form that it gives."""
    kinds = card_kinds(catalogs)
    keys = "|".join(map(_hyphenated, sorted(kinds, key=len, reverse=True)))
    items = []
    card = rf"{MEMORY_BEFORE}{MAKERS}({keys})"
    ends = rf"(?![a-z0-9]|\.\d|{NO_NAME})"
    pattern = "|".join(
        (
            rf"(?<![a-z0-9.])(?:(?<=\d)x)?({card}s?{TRAITS}){ends}",
            rf"(?<=\dx)({card}s?{TRAITS}){ends}",  # 8xh100
            rf"(?<![a-z0-9.])({card})(?=x\d)",  # h100x8
        )
    )
    for match in re.finditer(pattern, text):
        group = 1 if match[1] else 3 if match[3] else 5
        words, key = match[group], match[group + 1].replace("-", "")
        is_plain = key.isdigit() and "rtx" not in words and not BARE_CARD.fullmatch(words)
        owned = OWN_BEFORE.search(text[max(match.start() - 12, 0) : match.start()])
        if is_plain and (not owned or COUNTS.match(text, match.end())):
            continue
        if key in ("t4",) and re.search(r"t4[ -]?g", words):
            continue
        if "ada" in words and key.removeprefix("a") in kinds:  # which NVIDIA names without an A
            key = key.removeprefix("a")
        choice = CHOICE.search(words)
        gpus = narrow_cards(kinds[key], CHOICE.sub("", words), catalogs)
        if choice:
            gpus = narrow_cards(kinds[key], f"{key} {choice[1]}gb", catalogs) + gpus
        items.append(
            Item(
                match.start(group),
                match.end(group),
                words,
                frozenset({"CARD", "name"}),
                gpus,
                {"key": key},
            )
        )
    return items


def _generations(text: str, catalogs: Catalogs) -> list[Item]:
    """The generations of GPUs that a text names, as the cards of them that AWS rents."""
    rented = set(catalogs.instances["gpu"])
    cards: dict[str, list[str]] = {}
    for gpu, name in catalogs.gpus["architecture"].items():
        word = str(name).lower().split()[0]
        if gpu in rented and "/" not in str(gpu) and word not in NO_GENERATION:
            cards.setdefault(word, []).append(str(gpu))
    return [
        Item(
            *match.span(),
            match[0],
            frozenset({"CARD", "name"}),
            tuple(cards[match[1]]),
            {"key": "+".join(dict.fromkeys(card.split("-")[0] for card in cards[match[1]]))},
        )
        for match in re.finditer(rf"(?<![\w-])(?<!alla )({'|'.join(cards)})(?![\w-])", text)
    ]


def _hyphenated(key: str) -> str:
    """An expression for the word of a card, which people also write as a-100."""
    return re.sub(r"^([a-z]{1,2})(?=\d)", r"\1-?", re.escape(key))


@cached_per_catalogs("gpus")
def card_kinds(catalogs: Catalogs) -> dict[str, list[str]]:
    """The word that people call a card by -> the cards of that name: a100, l40s, 4090."""
    kinds: dict[str, list[str]] = {}
    for gpu in map(str, catalogs.gpus.index):
        parts = gpu.split("-")
        key = next(
            (part for part in parts if re.search(r"\d", part) and not part.endswith("gb")), ""
        )
        if not key or "/" in gpu:
            continue
        kinds.setdefault(key, []).append(gpu)
    return kinds


def of_memory(item: Item, gigabytes: float, catalogs: Catalogs) -> tuple[str, ...]:
    """The cards of a name that have so much memory; none where the name has no such card."""
    sizes = catalogs.gpus["memory_bytes"].astype(float) / 1e9
    kind = card_kinds(catalogs).get(str(item.extra.get("key", "")), [])
    near = [gpu for gpu in kind if 0.9 < sizes[gpu] / gigabytes < 1.12]
    if not near or set(item.value) & set(near):
        return item.value if near else ()
    return narrow_cards(near, item.text, catalogs)


def narrow_cards(cards: list[str], words: str, catalogs: Catalogs) -> tuple[str, ...]:
    """The card that the words narrow down to; of several the one that AWS rents, the largest.

    A version that the words do not name (Ti, SUPER) counts last.
    """
    written = {
        re.sub(r"^(\d{2,3})(?:g(?:i?b)?)?$", r"\1gb", word)
        for word in re.split(r"[ ()（）-]+", re.sub(r"(\d) (g(?:i?b)?)\b", r"\1\2", words))
    }
    written |= {re.sub(r"^sxm\d$", "sxm", word.rstrip("s")) for word in written}
    rented = set(catalogs.instances["gpu"])
    best = max(
        cards,
        key=lambda gpu: (
            len(written & set(gpu.split("-"))),
            -len({"ti", "super"} & set(gpu.split("-")) - written),
            gpu in rented,
            float(catalogs.gpus["memory_bytes"][gpu]),
            "sxm" in gpu,
        ),
    )
    return (best,)
