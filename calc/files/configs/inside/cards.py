"""Names of cards as clouds, clusters and drivers spell them, as ids of the catalog."""

import re
from functools import cache

from calc.files.configs.fields import field_catalog

MAKERS = r"(?:(?:nvidia|amd|instinct|tesla|geforce|quadro|gpu|rtx)[-_ ]*)*"
TRAITS = r"(?:pcie|sxm\d?|nvl|hbm3e?|\d{2,3}gb?|40|80|94|141|mega|ada|generation)"
FORMS = ("pcie", "nvl")
MOST_CHARACTERS = 200  # of a text that may name a card


@cache
def _pattern() -> re.Pattern[str]:
    """An expression for a card, with the number of cards that stands before or behind it."""
    names = {re.sub("-", "[-_ ]?", name.lower()) for name in field_catalog().cards}
    longest_first = "|".join(sorted(names, key=len, reverse=True))
    return re.compile(
        rf"(?<![a-z0-9])(?:(?P<before>\d{{1,3}})[ ]?x[ ]?)?{MAKERS}(?P<name>{longest_first})"
        rf"(?![a-z0-9])(?P<traits>(?:[-_: ]?{TRAITS}(?![a-z0-9])){{0,4}})"
        r"(?:[-_ ]?(?:x|:|=)[ ]?(?P<after>\d{1,4}))?",
        re.IGNORECASE,
    )


@cache
def _ids() -> dict[str, str]:
    """Cards by name, without separators."""
    return {_plain(name): card for name, card in field_catalog().cards.items()}


def _plain(name: str) -> str:
    """A name in lower case, without separators."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def cards_in(text: str) -> list[tuple[str, int | None]]:
    """The cards that a text names, each with the number written beside it, if any."""
    found = []
    for match in _pattern().finditer(text[:MOST_CHARACTERS]):
        name, traits = _plain(match["name"]), match["traits"].lower()
        form = next((form for form in FORMS if form in traits or name.endswith(form)), "")
        base = name.removesuffix(form)  # of a100-pcie-80gb, which names its form before its memory
        memory = next(iter(re.findall(r"(?<![a-z\d])(\d{2,3})", traits)), "")
        memory = f"{memory}gb" if memory else ""
        spellings = (base + memory + form, name + memory + form, name + form, name + memory, name)
        number = match["after"] or match["before"]
        card = next(_ids()[spelling] for spelling in spellings if spelling in _ids())
        found.append((card, int(number) if number else None))
    return found
