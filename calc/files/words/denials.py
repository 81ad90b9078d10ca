"""Quantities that a text denies or corrects: not 20 users, 200; two cards, not four."""

import re
from itertools import pairwise

from calc.files.words.asides import COMMA
from calc.files.words.corrected_names import NO
from calc.files.words.facts import Facts
from calc.files.words.frames import Claim
from calc.files.words.items import Item
from calc.files.words.scopes import Scopes

LESS = re.compile(r"\b(?:less|fewer|under|below|smaller)\b")
LIMITS = frozenset(  # a negation before these says that they are limits
    {
        *("usd", "usd_bare", "usd_most", "usd_rate", "usd_bare_rate", "foreign"),
        *("days_up", "hours_most", "duration", "duration_rate", "clock_range", "gpu_memory_gb"),
        *("first_token_seconds", "token_seconds", "request_seconds", "bytes"),
    }
)
MOST = {  # of what is denied above a number: do not use more than 3 instances
    **dict.fromkeys(("instances", "instances_count", "nodes", "replicas"), "instances_most"),
    **dict.fromkeys(("gpus", "gpus_least"), "gpus_most"),
}
OF_LIMITS = frozenset({"USD", "DUR", "BYTES"})
MEMORY = frozenset({"bytes", "gpu_memory_gb"})
BARE = frozenset({"bare", "duration", "usd", "bytes", "bare_share"})
JOINTS = ("*", "/", "^", "x", " * ")  # between the numbers of a calculation
CLOSE = 2.0  # ratio of two guesses of one number: a couple of hundred, maybe 250
FARTHEST = 4  # items between a quantity and the number that corrects it


def without_denied(
    claims: list[Claim], facts: Facts, items: list[Item], scopes: Scopes, plain: str
) -> list[Claim]:
    """Return the claims that hold; what a text denies or corrects is named as not counted."""
    several: list[Claim] = []
    wrong: Claim | None = None  # the last claim, where the text has denied it
    for claim in _without_parts(claims, plain):
        before, was_wrong = (several[-1] if several else None), wrong
        wrong = None
        if before and _is_corrected_alike(before, claim, items):
            facts.not_counted.append(plain[before.start : before.end])
            role = before.role if claim.role in BARE else claim.role
            several[-1] = claim._replace(role=role)
        elif _is_limit(claim):
            denied = claim.first in scopes.negated and LESS.search(plain, claim.start, claim.end)
            doubted = denied and claim.role.endswith("_most")  # nothing with less than 8 GPUs
            memory = claim.role in MEMORY and claim.first in scopes.negated
            if memory and not (denied or _is_above(claim, items)):
                claim = claim._replace(role="memory_denied")  # A100, but not with 40 GB
            several.append(claim._replace(role="bare") if doubted else claim)
        elif claim.first in scopes.negated and _is_above(claim, items):
            several.append(claim._replace(role=MOST.get(claim.role, claim.role)))
        elif was_wrong and claim.role in BARE and _is_near(was_wrong, claim, items):
            several.append(claim._replace(role=was_wrong.role, rate_seconds=was_wrong.rate_seconds))
        elif claim.first in scopes.negated:
            if claim.role != "bare" or (before and _is_near(before, claim, items)):
                facts.not_counted.append(plain[claim.start : claim.end])
                wrong = claim
            else:
                several.append(claim)
        elif before and claim.role in {*BARE, before.role} and _is_correction(before, claim, items):
            facts.not_counted.append(plain[before.start : before.end])
            several[-1] = claim._replace(role=before.role, rate_seconds=before.rate_seconds)
        else:
            several.append(claim)
    return several


def _without_parts(claims: list[Claim], plain: str) -> list[Claim]:
    """Claims, with those bare whose number is a part of a calculation: 1.5k*1000 examples."""
    several: list[Claim] = []
    for claim in claims:
        before = several[-1] if several else None
        between = plain[before.item.end : claim.item.start] if before else ""
        of_calculation = before is not None and before.role == "bare" and between in JOINTS
        several.append(claim._replace(role="bare") if of_calculation else claim)
    return several


def _is_limit(claim: Claim) -> bool:
    return claim.role in LIMITS or claim.role.endswith("_most") or "most" in claim.cues


def _is_above(claim: Claim, items: list[Item]) -> bool:
    """Return whether more than, or another word of a lower bound, stands right before a claim."""
    return bool("least" in claim.cues or items[claim.first - 1].tags & {"least", "than"})


def _between(before: Claim, claim: Claim, items: list[Item]) -> list[Item]:
    return [item for item in items if before.end <= item.start and item.end <= claim.start]


def _is_near(before: Claim, claim: Claim, items: list[Item]) -> bool:
    """Return whether nothing but marks and words without a meaning is between two claims."""
    between = _between(before, claim, items)
    return len(between) <= FARTHEST and not any("end" in item.tags for item in between)


def _is_correction(before: Claim, claim: Claim, items: list[Item]) -> bool:
    """Return whether a word such as sorry stands between two claims and little else."""
    between = _between(before, claim, items)
    corrects = any("correction" in item.tags or item.text == "no" for item in between)
    after = next((item for item in items if item.start >= claim.end), None)
    of_them = after is not None and bool({"them", "free"} & after.tags or after.text == "are")
    corrects = corrects or (of_them and any("only" in item.tags for item in between))
    is_guess = claim.role == "bare" and _are_close(before.item.value, claim.item.value)
    is_guess = is_guess and (after is None or bool(after.tags & {"end", ","}))
    corrects = corrects or (is_guess and any("about" in item.tags for item in between))
    return corrects and sum(item.text[0].isalpha() for item in between) <= FARTHEST


def _is_corrected_alike(before: Claim, claim: Claim, items: list[Item]) -> bool:
    """Return whether a sum or a bare number is taken back by one of its kind: $500, no, $800."""
    alike = before.item.tags & claim.item.tags & ({"N"} if before.role == "bare" else OF_LIMITS)
    between = _between(before, claim, items)
    corrects = any(
        "correction" in item.tags
        or (item.text in NO and item.end < behind.end and "," in behind.tags)
        for item, behind in pairwise([*between, COMMA])
    )
    return bool(alike) and corrects and len(between) <= FARTHEST


def _are_close(first: float | None, second: float | None) -> bool:
    """Return whether two numbers may be guesses of one; a word such as weekdays has none."""
    if first is None or second is None:
        return False
    return max(first, second) < CLOSE * min(first, second)
