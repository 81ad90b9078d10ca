"""Instances and cards that one text names: the same machine, a choice, or a contradiction."""

import re
from dataclasses import replace

from calc.catalogs.load import Catalogs
from calc.files.words.amounts import Amounts
from calc.files.words.facts import Facts
from calc.files.words.frames import Claim
from calc.files.words.items import Item
from calc.files.words.machines import card_kinds, narrow_cards, of_memory
from calc.files.words.scopes import Scopes

MEMORY = re.compile(r"\d ?g")  # of a card, which tells it from others of its name
CHOICE = frozenset({"or", ",", "and", "name"})


def drop_repeated_cards(scopes: Scopes, catalogs: Catalogs) -> None:
    """Take out the cards that say again what a named instance has: p4d with A100."""
    cards = {str(catalogs.instances["gpu"][name]) for name in _instances(scopes)}
    scopes.taken["gpu"] = [
        item for item in scopes.taken["gpu"] if not _is_repeated(item, cards, catalogs)
    ]


def own_named_instances(scopes: Scopes, catalogs: Catalogs) -> None:
    """Own the instance that says what an owned card stands in: our L40S boxes (g6e.12xlarge)."""
    for item in list(scopes.taken["instance"]):
        cards = {str(catalogs.instances["gpu"][name]) for name in item.value}
        others = [one for one in scopes.owned if not _is_repeated(one, cards, catalogs)]
        if len(item.value) == 1 and len(others) < len(scopes.owned):
            scopes.owned[:] = [item, *others]
            scopes.taken["instance"].remove(item)


def _instances(scopes: Scopes) -> list[str]:
    return [name for item in scopes.taken["instance"] for name in item.value]


def _is_repeated(item: Item, cards: set[str], catalogs: Catalogs) -> bool:
    """Return whether a card adds nothing to the named instances, whose cards are `cards`."""
    if set(item.value) & cards:
        return len(cards) == 1 or not MEMORY.search(item.text)
    key = str(item.extra.get("key", ""))
    same = cards & set(card_kinds(catalogs).get(key, ()))
    rented = {card for card in cards if card.removesuffix("g") == item.value[0]}  # A10 of g5
    return bool(rented or (same and not MEMORY.search(item.text)))


def drop_cards_of_memory(
    amounts: Amounts, claim: Claim, scopes: Scopes, catalogs: Catalogs
) -> None:
    """Take the cards of a name with another memory than the denied one; ask where none is."""
    meant, is_known = [], False
    for item in scopes.taken["gpu"]:
        denied = set(of_memory(item, claim.item.value, catalogs))
        kind = card_kinds(catalogs).get(str(item.extra.get("key", "")), [])
        others = [card for card in kind if _printed(card) not in set(map(_printed, denied))]
        card = narrow_cards(others, item.text, catalogs) if denied and others else ()
        is_known = is_known or bool(card)
        meant.append(replace(item, value=card) if card else item)
    if not is_known:
        amounts.ask("gpu_memory_gb", claim)
    amounts.words(claim)
    scopes.taken["gpu"] = meant


def _printed(card: str) -> str:
    """The part of a card's id that says its memory: 40gb of a100-40gb-sxm."""
    return next((part for part in card.split("-") if part.endswith("gb")), "")


def put_either(facts: Facts, scopes: Scopes, items: list[Item], catalogs: Catalogs) -> None:
    """Put instances or other cards as the instances of both; ask where one is said to have them."""
    machines = facts.columns.keys() & {"gpu", "have"}
    if not scopes.taken["instance"] or not machines:
        return
    card_of, names = catalogs.instances["gpu"], list(facts.columns["instance"])
    cards = str(facts.columns.get("gpu", "")).split("+")
    others = set(cards) - {str(card_of[name]) for name in names}
    if not others:
        return
    words = ", ".join(facts.words[column] for column in ("instance", *sorted(machines)))
    more = [str(name) for name in card_of.index if str(card_of[name]) in others]
    if "have" in machines or "gpus" in facts.columns or not more or not _is_choice(scopes, items):
        facts.ask("instance", words, text=f"You wrote '{words}'. Which of these is meant?")
        for column in (*machines, "instance", "gpus", "instances_most"):
            facts.drop(column)
        return
    facts.drop("gpu")
    facts.columns["instance"], facts.words["instance"] = [*names, *more], words


def _is_choice(scopes: Scopes, items: list[Item]) -> bool:
    """Return whether nothing but or, and, or commas stands between instances and cards."""
    named = {item.start for kind in ("instance", "gpu") for item in scopes.taken[kind]}
    places = [number for number, item in enumerate(items) if item.start in named]
    between = items[min(places) : max(places) + 1]
    joints = [item for item in between if item.tags & {"or", ",", "and"}]
    return bool(joints) and all(item.is_silent or item.tags & CHOICE for item in between)
