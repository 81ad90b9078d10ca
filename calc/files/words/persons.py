"""People who use a service: their nouns by ending, several groups of them, what they send."""

import re
from dataclasses import replace

from calc.catalogs.load import read_once
from calc.files.words.frames import Claim
from calc.files.words.vocabulary import lexicon, silent_words, vocabulary

NOUN_BEHIND = re.compile(r" ?([^\W\d_]{4,})\b")
LAST_WORD = re.compile(r"([^\W\d_]{4,})$")
LENGTHS = frozenset({"each_tokens", "seconds_each", "images"})  # of what is no person
SUMMED = frozenset({"examples", "documents", "things"})
JOINT = re.compile(r"(?:,|,? (?:and|plus|und|et|y)|,? [+&]) ")
HOUR = 3600.0  # seconds: over a shorter time a rate is of all persons
FEWEST_RATIO = 5  # persons of whom each sends a number; of fewer it may be that of all


def settle_persons(claims: list[Claim], plain: str) -> list[Claim]:
    """Return the claims with those of people by their nouns, their sums and what each sends."""
    return _with_rates(_with_sums([_as_persons(claim, claims, plain) for claim in claims], plain))


def are_persons(noun: str) -> bool:
    """Return whether a noun is of people by its ending: brokers, not orders."""
    return noun.endswith(_endings()) and noun not in _things()


def _as_persons(claim: Claim, claims: list[Claim], plain: str) -> Claim:
    """A number of an unknown noun as people where its ending says so: 40 brokers."""
    if claim.role not in ("things", "bare") or "N" not in claim.item.tags:
        return claim
    has_length = any(one.first == claim.first and one.role in LENGTHS for one in claims)
    if claim.role == "things":
        noun, end = LAST_WORD.search(plain[: claim.end]), claim.end
    else:
        noun = NOUN_BEHIND.match(plain, claim.end)
        end = noun.end() if noun else claim.end
    if noun is None or has_length or not _is_unknown(noun[1]) or not are_persons(noun[1]):
        return claim
    return claim._replace(role="people", end=end)


def _with_sums(claims: list[Claim], plain: str) -> list[Claim]:
    """The claims with groups of people that "and" joins as one: 50 lawyers and 20 clerks.

    Beside things that may be people, the number of people is open: 12 cooks and 30 waiters.
    """
    several: list[Claim] = []
    for claim in claims:
        before = several[-1] if several else None
        roles = {before.role, claim.role} if before else set()
        joined = before is not None and JOINT.fullmatch(plain, before.end, claim.start)
        if before is None or not joined or not _may_be_sum(roles, str(joined[0])):
            several.append(claim)
            continue
        total = float(before.item.value) + float(claim.item.value)
        role = "people_open" if roles == {"people", "things"} else (roles - {"things"}).pop()
        item = replace(before.item, value=total)
        several[-1] = before._replace(role=role, item=item, end=claim.end)
    return several


def _may_be_sum(roles: set[str], joint: str) -> bool:
    """Return whether claims of these roles may be groups of people; a comma joins no things."""
    if joint == ", ":
        return roles == {"people"}
    if joint.strip() in ("+", "plus"):
        return len(roles - {"things"}) == 1 and roles <= SUMMED
    return "people" in roles and roles <= {"people", "things", "people_open"}


def _with_rates(claims: list[Claim]) -> list[Claim]:
    """The claims with what persons send as of each, of all, or open: users send 4 a day."""
    persons = max(
        (float(one.item.value) for one in claims if one.role in ("people", "users_plain")),
        default=0.0,
    )
    return [
        claim._replace(role=_rate_role(claim, persons))
        if claim.role == "requests_rate_persons"
        else claim
        for claim in claims
    ]


def _rate_role(claim: Claim, persons: float) -> str:
    """The role of a rate that persons send, by how many persons there are."""
    if persons <= claim.item.value or claim.rate_seconds < HOUR:
        return "requests_rate"
    each = claim.item.value * FEWEST_RATIO <= persons
    return "requests_rate_user" if each else "requests_rate_open"


def _is_unknown(word: str) -> bool:
    return word not in silent_words() | lexicon().tags.keys()


@read_once
def _endings() -> tuple[str, ...]:
    return tuple(vocabulary().persons.endings.split())


@read_once
def _things() -> frozenset[str]:
    return frozenset(vocabulary().persons.things.split())
