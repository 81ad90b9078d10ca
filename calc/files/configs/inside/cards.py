"""Names of cards as clouds, clusters and drivers spell them, as ids of the catalog."""

import re

from calc.files.configs.fields import table

CARD = re.compile(
    r"(?<![a-z0-9])(?:(?P<before>\d{1,3})[ ]?x[ ]?)?(?:(?:nvidia|tesla|gpu|rtx)[-_ ]*)*"
    r"(?P<name>gb300|gb200|b300|b200|h200|h100|a100|l40s|l4|a10g|a10|t4g|t4|v100|rtx[-_ ]?pro[-_ ]?6000"
    r"|rtx[-_ ]?[345]090|[345]090|rtx[-_ ]?6000[-_ ]?ada|mi300x|mi325x|mi355x|mi250x|mi210)"
    r"(?![a-z0-9])([-_ ]?(?:pcie|sxm\d?|nvl|hbm3e?|80gb?|40gb?|32gb?|16gb?|94gb?|24gb?|mega)(?![a-z0-9])){0,4}"
    r"(?:[-_ ]?(?:x|:|=)[ ]?(?P<after>\d{1,4}))?",
    re.IGNORECASE,
)
MOST_CHARACTERS = 200  # of a text that may name a card
PLAIN = {
    "h100": "h100-80gb-sxm",
    "h100pcie": "h100-80gb-pcie",
    "h100nvl": "h100-94gb-nvl",
    "h200": "h200-sxm",
    "h200nvl": "h200-nvl",
    "a10080gb": "a100-80gb-sxm",
    "a10080gbpcie": "a100-80gb-pcie",
    "a100pcie80gb": "a100-80gb-pcie",
    "a10040gbpcie": "a100-40gb-pcie",
    "v100": "v100-16gb",
    "v10032gb": "v100-32gb",
    "rtxpro6000": "rtx-pro-6000-server",
    "rtx3090": "rtx-3090",
    "rtx4090": "rtx-4090",
    "rtx5090": "rtx-5090",
    "3090": "rtx-3090",
    "4090": "rtx-4090",
    "5090": "rtx-5090",
    "rtx6000ada": "rtx-6000-ada",
}


def cards_in(text: str) -> list[tuple[str, int | None]]:
    """The cards that a text names, each with the number written beside it, if any."""
    found = []
    for match in CARD.finditer(text[:MOST_CHARACTERS]):
        name = re.sub(r"[^a-z0-9]", "", match["name"].lower())
        rest = match[0].lower()
        form = next((form for form in ("pcie", "nvl") if form in rest), "")
        memory = next((size for size in ("80gb", "32gb") if size[:3] in rest), "")
        spellings = (name + memory + form, name + form, name + memory, name)
        number = match["after"] or match["before"]
        found.append((_id_of(spellings), int(number) if number else None))
    return found


def _id_of(spellings: tuple[str, ...]) -> str:
    """The id of the first spelling that is known; the name itself where none is."""
    usual = {name.lower().replace("-", ""): card for name, card in table("cards").items()}
    return next(
        (PLAIN.get(name) or usual[name] for name in spellings if name in PLAIN or name in usual),
        spellings[-1],
    )
