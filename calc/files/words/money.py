"""The columns of money: limits by their period, and sums that are no limit."""

import math
import re

from calc.files.words.amounts import DAY, HOUR, MONTH, Amounts
from calc.files.words.facts import is_power
from calc.files.words.frames import Claim

LEAST_BUDGET = 100  # dollars: a smaller number without a currency is asked about
MORE_THAN = re.compile(r"\b(?:more than|over|above|mehr als|über|plus de|más de) $")
MONTHS_OF_SUMS = 36  # of the longest budget
CLAUSE, CLAUSE_END = re.compile(r"[^.;:!?\n]*$"), re.compile(r"[^.;:!?\n]*")
DENIES = re.compile(
    r"\b(?:no[tn]?|n't|never|cannot|nothing|anything|everything|refused?|too|nicht|kein\w*|zu viel"
    r"|ne|pas|jamais|nunca|nada|demasiado)\b|n't\b"
)
FIRST_YEAR, LAST_YEAR = 2020, 2035
LIMITING = frozenset({"budget", "most"})
OF_BUDGETS = LIMITING | {"paid"}


def put_money(amounts: Amounts) -> None:
    """Put limits on cost by their period; ask where it is not clear what a sum is for."""
    for claim in _sums_beside_limits(amounts):
        amounts.leave_out(claim)
    _put_part_of_sum(amounts)
    _ask_about_sums(amounts)
    for claim in amounts.of("usd"):
        if amounts.is_open(claim):
            amounts.put("usd_most", claim)
    for claim in amounts.of("usd_bare", "usd_bare_rate"):
        _put_bare_sum(amounts, claim)
    for claim in amounts.of("usd_rate"):
        if amounts.is_open(claim):
            _put_sum_a_time(amounts, claim)
    for claim in amounts.of("usd_each"):
        _put_money_each(amounts, claim)
    for claim in amounts.of("usd_per_thing"):
        amounts.ask("usd_most", claim)
    for claim in amounts.of("usd_paid"):
        amounts.put("usd_paid_now", claim)
    for claim in amounts.of("usd_ceiling"):  # we pay $3k a month, not a cent more
        if claim.rate_seconds:
            _put_sum_a_time(amounts, claim)
        else:
            amounts.put("usd_most", claim)
    for claim in amounts.of("foreign"):
        text = (
            f"You wrote '{amounts.words(claim)}'. Prices here are in US dollars: what budget in "
            "USD ($) is that?"
        )
        amounts.ask("usd_most", claim, text)


def _ask_about_sums(amounts: Amounts) -> None:
    """Ask about sums that are no limit: more than $500, or behind a word that nothing reads."""
    for claim in amounts.of("usd", "usd_rate"):
        if not amounts.is_open(claim) or claim.cues & LIMITING:
            continue
        if MORE_THAN.search(amounts.text[: claim.item.start]):
            if not _is_denied(amounts, claim):
                amounts.ask("usd_most", claim)
        elif not claim.cues & OF_BUDGETS and amounts.is_behind_unknown(claim):
            amounts.ask("usd_most", claim, choices=("what it may cost", "what is paid today"))


def _put_bare_sum(amounts: Amounts, claim: Claim) -> None:
    """A number without a currency behind a word such as budget or max: money, or a length."""
    serves = amounts.goal == "serve"
    is_longest = _is_longest(amounts, claim)
    says_max = "max" in amounts.text[claim.start : claim.end].split()
    large = claim.item.value >= LEAST_BUDGET and not claim.rate_seconds
    large = large and not _is_year(claim)
    ends = not serves or amounts.is_batch
    if claim.rate_seconds >= MONTH and serves:
        amounts.put("usd_most", claim, claim.item.value * MONTH / claim.rate_seconds)
    elif is_longest:
        amounts.put("context_tokens" if serves else "sequence_tokens", claim)
    elif says_max:
        amounts.ask("usd_most", claim, choices=("dollars", "tokens"))
    elif large and (ends or claim.item.extra.get("scale")):
        amounts.put("usd_most", claim)
    else:
        amounts.ask("", claim)


def _is_year(claim: Claim) -> bool:
    """Return whether a number without a suffix may be a year: budget 2027."""
    return FIRST_YEAR <= claim.item.value <= LAST_YEAR and not claim.item.extra.get("scale")


def _put_sum_a_time(amounts: Amounts, claim: Claim) -> None:
    """Set a sum per hour, or per day or month of a service; ask what a whole run may cost."""
    if claim.rate_seconds == HOUR:
        amounts.put("usd_per_hour_most", claim)
    elif amounts.goal == "serve" and claim.rate_seconds >= DAY:
        amounts.put("usd_most", claim, claim.item.value * MONTH / claim.rate_seconds)
    else:
        text = f"You wrote '{amounts.words(claim)}'. How many dollars may the whole run cost?"
        amounts.ask("usd_most", claim, text)


def _sums_beside_limits(amounts: Amounts) -> list[Claim]:
    """Sums without a word about them beside one that is a limit: $5,100 a month, at most $7,500."""
    sums = amounts.of("usd", "usd_rate")
    limits = [claim for claim in [*sums, *amounts.of("usd_most")] if claim.cues & LIMITING]
    return [claim for claim in sums if limits and not claim.cues & LIMITING]


def _put_part_of_sum(amounts: Amounts) -> None:
    """Take what a service may cost a month beside a sum: budget 48k USD, i.e. 4k a month."""
    sums = [claim for claim in amounts.of("usd", "usd_most") if not claim.rate_seconds]
    parts = [claim for claim in amounts.of("bare_rate") if claim.rate_seconds == MONTH]
    if amounts.goal != "serve" or len(sums) != 1 or len(parts) != 1:
        return
    months = sums[0].item.value / parts[0].item.value
    if months.is_integer() and 1 < months <= MONTHS_OF_SUMS:
        amounts.facts.drop("usd_most")
        amounts.put("usd_most", parts[0])
        amounts.leave_out(sums[0])


def _is_denied(amounts: Amounts, claim: Claim) -> bool:
    """Return whether the clause of a sum denies it: more than 20 dollars I can not pay."""
    before = CLAUSE.search(amounts.text[: claim.start])
    behind = CLAUSE_END.match(amounts.text, claim.end)
    words = f"{before[0] if before else ''} {behind[0] if behind else ''}"
    return DENIES.search(words) is not None


def _put_money_each(amounts: Amounts, claim: Claim) -> None:
    """A cost for each user as that of all of them, where their number is known; else ask."""
    people = amounts.facts.columns.get("people") or amounts.facts.columns.get("users")
    monthly = not claim.rate_seconds or claim.rate_seconds >= DAY
    if amounts.goal == "serve" and people and monthly:
        month = MONTH / (claim.rate_seconds or MONTH)
        amounts.put("usd_most", claim, claim.item.value * month * float(people))
        amounts.facts.assume(f"'{amounts.words(claim)}' for each of {people:,.0f}")
    else:
        amounts.ask("usd_most", claim)


def _is_longest(amounts: Amounts, claim: Claim) -> bool:
    """Return whether a number such as max 16k is the longest sequence and not money."""
    words = amounts.text[claim.start : claim.end]
    power = is_power(claim.item.value) or math.log2(claim.item.value).is_integer()
    taken = {"context_tokens", "sequence_tokens"} & amounts.facts.columns.keys()
    return power and not taken and not claim.rate_seconds and "max" in words.split()
