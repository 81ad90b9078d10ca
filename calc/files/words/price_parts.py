"""Parts of a machine's price, which no limit can be: half of what a p5 costs."""

from itertools import takewhile

from calc.files.words.items import Item

PARTS = frozenset({"half", "third", "quarter", "double", "twice", "triple", "thrice"})
PRICES = frozenset({"cost", "costs", "price", "bill", "rate", "charges"}) | {
    *("kostet", "preis", "preises", "coûte", "prix", "cuesta", "precio")
}
OF = frozenset({"of", "the", "what", "von", "dessen", "de", "du", "del"})
MACHINES = frozenset({"INST", "CARD"})
AMOUNTS = frozenset({"N", "USD", "DUR"})


def price_parts(items: list[Item]) -> list[range]:
    """The places of each part of a machine's price: half of what an on-demand p5 costs."""
    stretches = (_stretch(items, place) for place in range(len(items)))
    return [stretch for stretch in stretches if stretch]


def _stretch(items: list[Item], first: int) -> range:
    """The places from a part to the machine and the word of its price; empty for other parts."""
    nothing = range(first, first)
    is_part = items[first].text in PARTS or "PCT" in items[first].tags
    if not is_part or items[first + 1 : first + 2] == [] or items[first + 1].text not in OF:
        return nothing
    clause = list(takewhile(lambda item: not item.tags & {"end", ","}, items[first:]))
    machines = [place for place, item in enumerate(clause) if item.tags & MACHINES]
    prices = [place for place, item in enumerate(clause) if item.text in PRICES]
    if not (machines and prices) or any(item.tags & AMOUNTS for item in clause[1:]):
        return nothing
    return range(first, first + max(machines[0], prices[0]) + 1)


def names_in_prices(items: list[Item]) -> set[int]:
    """The places of the machines and markets whose price alone is spoken of."""
    places = {place for stretch in price_parts(items) for place in stretch}
    return {place for place in places if _is_name(items[place])}


def _is_name(item: Item) -> bool:
    return bool(item.tags & MACHINES) or any(tag.startswith("places:") for tag in item.tags)
