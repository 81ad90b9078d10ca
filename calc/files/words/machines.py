"""The instances and cards that words name, with their counts."""

import re

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.files.words.sentence import Sentence

BARE_CARD = re.compile(r"\d\d90")  # a number that people write without rtx
NUMBERS = {
    "one": 1,
    "a single": 1,
    "single": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "eight": 8,
    "sixteen": 16,
}
OWNED = re.compile(r"\b(?:my|our|have|own)(?: (?:own|an?|one|two|single))? $")  # before a card


def take_machines(line: Sentence, catalogs: Catalogs) -> None:
    """Instances and cards with their counts; cards that one has or that AWS lacks are one's own."""
    table = catalogs.instances
    several = rf"(?:(?P<count>\d+|{'|'.join(NUMBERS)}) ?x? ?)?"
    for match in line.take(
        rf"{several}(?P<name>{'|'.join(map(re.escape, sorted(table.index, key=len, reverse=True)))})s?"
    ):
        counted = (
            {"gpus": _number(match["count"]) * int(table["gpus"][match["name"]])}
            if match["count"]
            else {}
        )
        line.put(match[0], instance=[match["name"]], **counted)
    families = {str(name).partition(".")[0] for name in table.index}
    for match in line.take(
        rf"(?P<name>{'|'.join(sorted(families, key=len, reverse=True))})(?: instances?)?"
    ):
        line.put(
            match[0],
            instance=[
                str(name) for name in table.index if str(name).partition(".")[0] == match["name"]
            ],
        )
    kinds = _cards(catalogs)
    made = (
        r"(?:[ -](?:sxm\d?|pcie|nvl|ada|server|(?:16|24|32|40|48|80|94|96|141) ?gb?)(?![\w-]*\d))*"
    )
    makers = r"(?:nvidia[ -]|amd[ -])?(?:geforce[ -])?(?:(?:rtx[ -])?(?:pro[ -])?)"
    keys = "|".join(sorted(kinds, key=len, reverse=True))
    for match in line.take(
        rf"{several}(?P<card>{makers}(?P<key>{keys})s?{made})(?: ?x ?(?P<after>\d+))?(?: "
        rf"gpus?| cards?)?"
    ):
        key, card = match["key"], match["card"]
        if key.isdigit() and "rtx" not in card and not BARE_CARD.fullmatch(key):
            line.unread.append(f"'{card}'")
            continue
        gpu, count = (
            _card(kinds[key], card, catalogs),
            _number(match["count"] or match["after"] or "0"),
        )
        if OWNED.search(line.text[: match.start()]) or gpu not in set(table["gpu"]):
            line.put(match[0], have=f"{count or 1} x {gpu}")
        else:
            line.put(match[0], gpu=gpu, **({"gpus": count} if count else {}))


def _number(word: str) -> int:
    """The count that a number or its word names."""
    return NUMBERS.get(word) or int(word)


@kept("gpus")
def _cards(catalogs: Catalogs) -> dict[str, list[str]]:
    """The word that people call a card by -> the cards of that name: a100, l40s, 4090."""
    kinds: dict[str, list[str]] = {}
    for gpu in map(str, catalogs.gpus.index):
        key = next(
            (part for part in gpu.split("-") if re.search(r"\d", part) and not part.endswith("gb")),
            "",
        )
        if key and "/" not in gpu:
            kinds.setdefault(key, []).append(gpu)
    return kinds


def _card(cards: list[str], words: str, catalogs: Catalogs) -> str:
    """The card that the words narrow down to; of several that AWS rents the largest."""
    written = {
        re.sub(r"^(\d+) ?gb?$", r"\1gb", word)
        for word in re.split(r"[ -]", re.sub(r"(\d) (gb?)\b", r"\1\2", words))
    }
    rented = set(catalogs.instances["gpu"])
    return max(
        cards,
        key=lambda gpu: (
            len(written & set(gpu.split("-"))),
            gpu in rented,
            catalogs.gpus["memory_bytes"][gpu],
        ),
    )
