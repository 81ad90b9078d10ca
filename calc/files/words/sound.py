"""Hours of sound, which a model that hears takes: in all, of a day, of each person."""

import re

from calc.files.words.frames import Claim
from calc.files.words.model_kind import Kind
from calc.files.words.vocabulary import lexicon

HOUR = 3600.0  # seconds
AT_ONCE = frozenset({"users", "users_plain", "users_session"})
SHORTEST_SPAN = 2_628_000.0  # seconds: a month, over which sound is gathered
MOST_AT_ONCE = 1000  # sounds that are recorded at one time
OF_SOUND = {"duration": "audio_seconds", "duration_rate": "audio_rate"}
PER_NOUN = re.compile(r"[^.,;:\n]{0,24}? (?:per|each|a|pro|je|par|por) ([^\W\d_]+)")
LONGEST_MONTH_HOURS = 744.0


def _is_long_sound(claim: Claim, plain: str) -> bool:
    """Return whether hours behind for are more than a month has: whisper for 2000 hours."""
    before = plain[claim.start : claim.item.start].strip()
    is_open = claim.role == "hours_most" and before in ("for", "für", "pour", "para")
    return is_open and claim.item.value > LONGEST_MONTH_HOURS * HOUR


def _with_hours_of_span(claims: list[Claim]) -> list[Claim]:
    """Hours of sound beside the years that they are from: 3.5 years of calls, 61k hours."""
    spans = [
        claim
        for claim in claims
        if claim.role == "audio_seconds" and claim.item.extra.get("unit", 0.0) >= SHORTEST_SPAN
    ]
    hours = [
        claim
        for claim in claims
        if claim.role in ("duration", "hours_most") and claim.item.extra.get("unit") == HOUR
    ]
    if (
        len(spans) != 1
        or len(hours) != 1
        or hours[0].item.value > spans[0].item.value * MOST_AT_ONCE
    ):
        return claims
    several = [claim._replace(role="not_used") if claim is spans[0] else claim for claim in claims]
    return [one._replace(role="audio_seconds") if one is hours[0] else one for one in several]


def as_sound(claims: list[Claim], plain: str, kind: Kind) -> list[Claim]:
    """Hours without a word about them are of sound where a model hears and no others are."""
    claims = _with_hours_of_span(claims) if kind.hears else claims
    roles = {claim.role for claim in claims}
    if kind.hears and "audio_seconds" in roles:  # 3 years of radio (26,280 hours)
        known = {claim.item.value for claim in claims if claim.role == "audio_seconds"}
        return [one for one in claims if one.role != "duration" or one.item.value not in known]
    if not kind.hears or "audio_rate" in roles:
        return claims
    claims = [
        claim._replace(role="audio_seconds") if _is_long_sound(claim, plain) else claim
        for claim in claims
    ]
    sound = next((claim for claim in claims if claim.role in OF_SOUND), None)
    if sound is None or (roles & AT_ONCE and sound.item.value < HOUR):  # the length of a call
        return claims
    named = sound._replace(role=OF_SOUND[sound.role])
    return [named if claim is sound else claim for claim in claims]


def of_each_person(claim: Claim, plain: str) -> Claim:
    """Sound of each person, whose number is not that of the sound: 6 hours per agent."""
    behind = PER_NOUN.match(plain, claim.end) if claim.role in OF_SOUND.values() else None
    tags = lexicon().tags.get(behind[1], frozenset()) if behind else frozenset()
    tags |= lexicon().tags.get(f"{behind[1]}s", frozenset()) if behind else frozenset()
    return claim._replace(role="bare") if tags & {"people", "user"} else claim
