"""Limits and exclusions of which nothing was read: in a short text they are asked about."""

from itertools import takewhile

from calc.catalogs.load import read_once
from calc.files.words.facts import Facts
from calc.files.words.frames import Claim
from calc.files.words.items import Item
from calc.files.words.price_parts import PARTS, price_parts
from calc.files.words.scopes import Scopes, name_entry
from calc.files.words.vocabulary import frames

FARTHEST_NUMBER = 4  # words behind half of
MOST_UNREAD = 5  # words: a text with more is a letter, of which much is of something else
SHORTEST_WORD = 3  # letters
OF_LIMITS = frozenset({"not", "only", "least", "most", "quota_no"})
NEEDED = frozenset({"else", "needed", "required", "necessary", "nötig", "nécessaire", "necesario"})
OF_OTHER_CLAUSES = frozenset({"wish", "runs", "replaces", "today_heading", "plan_heading"})
WITHOUT_EFFECT = OF_OTHER_CLAUSES | {"silent", "not", "only", "own", "and", "or", "about", "rented"}


def without_parts(
    claims: list[Claim], facts: Facts, items: list[Item], covered: set[int]
) -> list[Claim]:
    """Ask about numbers behind a word such as half that no frame has read; return the others."""
    prices = price_parts(items)
    for stretch in prices:
        words = " ".join(items[place].text for place in stretch)
        facts.ask("usd_most", words)
        starts = {items[place].start for place in stretch}
        claims = [claim for claim in claims if claim.item.start not in starts]
    of_prices = {place for stretch in prices for place in stretch}
    for number, item in enumerate(items):
        is_read = number in covered | of_prices
        if item.text not in PARTS or is_read or item.tags - {"silent"}:
            continue
        near = _of_part(items[number:])
        if any(one.tags & {"N", "USD", "DUR", "BYTES"} for one in near):
            facts.ask("", " ".join(one.text for one in near))
            claims = [one for one in claims if all(one.item.start != it.start for it in near)]
    return claims


def _of_part(items: list[Item]) -> list[Item]:
    """The words that half or twice belongs to: the next ones; behind twice as, the clause."""
    compares = any(item.text == "as" for item in items[1:2])
    most = len(items) if compares else 1 + FARTHEST_NUMBER
    return list(takewhile(lambda item: not item.tags & {"end", ","}, items[:most]))


def ask_about_unread(facts: Facts, items: list[Item], covered: set[int], scopes: Scopes) -> None:
    """Ask about each clause that limits or rules out what nothing has read: no multi-node."""
    unread = {number for number, item in enumerate(items) if _is_unread(item)} - covered
    if len(unread) > MOST_UNREAD:
        return
    known = _tags_without_effect()
    for clause in _clauses(items):
        inert = all(
            number not in covered | scopes.aside
            and not name_entry(items[number])
            and items[number].tags <= known
            and items[number].text not in NEEDED
            for number in clause
        )
        limits = any(items[number].tags & OF_LIMITS for number in clause)
        if inert and limits and unread & set(clause):
            words = " ".join(items[number].text for number in clause)
            facts.ask("", words, text=f"You wrote '{words}'. What does it mean for the plan?")


@read_once
def _tags_without_effect() -> frozenset[str]:
    """The tags of words that say nothing where no frame has read them."""
    of_frames = {tag for frame in frames() for tags, _ in frame.elements for tag in tags}
    return (WITHOUT_EFFECT | of_frames) - {"N"}


def _is_unread(item: Item) -> bool:
    """Return whether an item is a word that the vocabulary lacks."""
    return not item.tags and item.text.isalpha() and len(item.text) >= SHORTEST_WORD


def _clauses(items: list[Item]) -> list[list[int]]:
    """The numbers of the items of each clause."""
    clauses: list[list[int]] = [[]]
    for number, item in enumerate(items):
        if item.tags & {"end", ","}:
            clauses.append([])
        else:
            clauses[-1].append(number)
    return [clause for clause in clauses if clause]
