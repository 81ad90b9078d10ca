"""The columns of times and latency, and with them those of money."""

import re

from calc.files.words.amounts import DAY, HOUR, MINUTE, MONTH, Amounts
from calc.files.words.clocks import DAYS_TAG
from calc.files.words.facts import Facts
from calc.files.words.frames import Claim
from calc.files.words.items import Item
from calc.files.words.loads import OF_DAYS, spread_over_hours_up
from calc.files.words.money import put_money
from calc.units import DAY_HOURS

MONTH_DAYS, MONTH_WORK_DAYS, MONTH_HOURS = 30.4, 21.75, 730.0
BY_DAY = (
    "The text names a day or an hour as the deadline. How many hours or days are left until then?"
)
MONTH_SIX_DAYS, WEEK_DAYS = 26.0, 7
NO_LATENCY_SECONDS = 3600.0  # a limit that no answer exceeds
LONGEST_MONTH_HOURS = 744.0
OFF = r"(?:off|closed|down|not?|never|without|except|aus\w*|abgeschaltet|nicht|kein\w*|ohne|zu)"
WEEKEND = (
    r"(?:weekend|wochenende|sat(?:urday)?s? ?(?:and|&|/|\+) ?sun(?:day)?s?|samstags? und sonntags?)"
)
WEEKEND_OFF = re.compile(  # at night and on weekends it is switched off
    rf"\b{OFF}\b[^.,;\n]*\b{WEEKEND}|\b{WEEKEND}\w*\b[^.,;\n]*\b{OFF}\b"
)
WEEKEND_TOO = re.compile(
    r"\b(?:also|even|incl(?:uding|\.)?|and|plus|auch|und|et|aussi|y|también) "
    r"(?:(?:on|at|am|an|the|le|les|los) )*(?:weekend|wochenende|week-end|fines de semana)"
    r"|\bweekends? (?:too|as well|also|included)\b"
)
MOSTLY = re.compile(
    r"\b(?:most(?:ly)?|mainly|largely|primarily|predominantly|chiefly|nearly all|meist(?:ens)?"
    r"|überwiegend|hauptsächlich|surtout|principalement|sobre todo|principalmente)\b[^.;:\d]{0,30}$"
)
WEEKEND_DAY = re.compile(
    r"(?:\b(?:and|und|et|y|plus|also|auch|aussi|también) |\+ ?)(?:\w+ ){0,2}"
    r"(?:saturday|sunday|samstag|sonntag|samedi|dimanche|sábado|domingo)[^.,;:\n]*"
)
OF_HOURS_UP = ("clock_range", "duration_rate", "always")
UP_BEFORE = re.compile(r"\b(?:for|during|over|run|runs|it|für|pour|por|durante)\b[^.,;:]{0,24}$")
UP_FOR = re.compile(r"for |during |over ")  # so long a service is up
OF_OFFICE, OFFICE_HOURS = re.compile(r"hours|zeiten|heures|hora"), 9.0
HOURS_OF_WORDS = {"overnight": 12.0, "weekend": 48.0}
OF_LENGTHS = ("tokens", "each_tokens", "prompt_tokens", "answer_tokens")
SHARES = ("50", "90", "99")  # of 100 requests, as a job takes them
PERCENTILES = {  # role -> the column of the limit that the share is of
    "percentile_first": "first_token_percentile",
    "percentile_token": "token_percentile",
    "percentile_answer": "first_token_percentile",
}
LATENCIES = frozenset({"first_token_seconds", "request_seconds", "token_seconds"})


def put_limits(amounts: Amounts) -> None:
    """Set the columns of money, times and latency."""
    put_money(amounts)
    days = _days_up(amounts) or _days_of_rate(amounts) or _days_of_month(amounts)
    _put_times(amounts)
    _put_hours_up(amounts, days)
    spread_over_hours_up(amounts, days, _hours_of_most(amounts))
    _put_latency(amounts)


def _put_times(amounts: Amounts) -> None:
    """Deadlines, and times without a word about them."""
    facts, ends = amounts.facts, amounts.goal != "serve" or amounts.is_batch
    if ends and "hours_most" not in facts.columns:
        _ask_which_time(amounts)
    for claim in amounts.of("duration", "hours_most"):
        if ends and (limit := _contradicted(amounts, claim)):
            choices = (amounts.words(limit), amounts.words(claim))
            facts.drop("hours_most")
            words = " and ".join(choices)
            text = f"You wrote '{words}'. Which of these limits holds?"
            facts.ask("hours_most", words, choices, text)
        elif not amounts.is_open(claim):
            continue
        elif ends and claim.item.value >= MINUTE:
            amounts.put("hours_most", claim)
        else:
            _put_time_of_service(amounts, claim)
    _settle_deadline(amounts, ends)
    is_due = ends and "by_day" in amounts.tags
    if is_due and not facts.columns.keys() & {"hours_most", "hours_per_month"}:
        facts.ask("hours_most", "", (), BY_DAY)
    for claim in amounts.of(*HOURS_OF_WORDS):
        if ends:
            _put_hours_of_words(amounts, claim)
        else:
            amounts.words(claim)
            _put_weekend_of_service(amounts, claim)


def _settle_deadline(amounts: Amounts, ends: bool) -> None:
    """Take a long answer time of work that ends as its deadline, and none of a service."""
    facts = amounts.facts
    if amounts.is_batch and float(facts.columns.get("request_seconds", 0)) >= MINUTE:
        value, words = facts.columns["request_seconds"], facts.words["request_seconds"]
        facts.drop("request_seconds")  # of the whole work: 40 min turnaround
        facts.put("hours_most", value / HOUR, words)
    if ends or "hours_most" not in facts.columns:
        return
    value, words = facts.columns["hours_most"], facts.words["hours_most"]
    facts.drop("hours_most")
    if DAY_HOURS <= value <= LONGEST_MONTH_HOURS and UP_FOR.match(words):
        facts.put("hours_per_month", float(value), words)
    else:
        facts.ask("hours_per_month", words)


def _put_hours_of_words(amounts: Amounts, claim: Claim) -> None:
    """Put the hours of a night or a weekend as the deadline; ask about one of each week."""
    facts, words, hours = amounts.facts, amounts.words(claim), HOURS_OF_WORDS[claim.role]
    if claim.rate_seconds:  # over a weekend (a week)
        facts.ask("hours_most", words)
    elif "hours_most" not in facts.columns:
        facts.put("hours_most", hours, words)
        facts.assume(f"'{words}' as {hours:g} hours")


def _contradicted(amounts: Amounts, claim: Claim) -> Claim | None:
    """The limit that a time in parentheses behind it does not repeat: 3 days (48 hours)."""
    for limit in amounts.of("hours_most"):
        between = amounts.text[limit.item.end : claim.item.start].strip()
        inside = between.startswith("(") and ")" not in between
        if inside and limit.item.value != claim.item.value:
            return limit if "hours_most" in amounts.facts.columns else None
    return None


def _ask_which_time(amounts: Amounts) -> None:
    """Ask which of two times without a word about them is the limit: 90 days, a guess of 60."""
    times = [claim for claim in amounts.of("duration") if claim.item.value >= MINUTE]
    open_times = [claim for claim in times if amounts.is_open(claim)]
    if len({claim.item.value for claim in open_times}) < 2 or amounts.of("hours_most"):
        return
    words = [amounts.words(claim) for claim in open_times]
    amounts.facts.ask("hours_most", " and ".join(words), tuple(words))


def _put_weekend_of_service(amounts: Amounts, claim: Claim) -> None:
    """A weekend or a night of a service, which is no deadline: asked unless its hours are said."""
    if not (WEEKEND_OFF.search(amounts.text) or amounts.of(*OF_HOURS_UP)):
        amounts.ask("hours_per_month", claim)


def _put_time_of_service(amounts: Amounts, claim: Claim) -> None:
    """A time of a service without a word about it: how long it is up, or how fast it answers."""
    says_up = "run" in amounts.tags and UP_BEFORE.search(amounts.text, 0, claim.item.start)
    if claim.item.value >= HOUR and says_up:
        amounts.put("hours_per_month", claim, claim.item.value / HOUR)
    elif amounts.embeds and claim.item.value < MINUTE:
        amounts.put("first_token_seconds", claim)
    elif claim.item.value < MINUTE:
        words = amounts.words(claim)
        text = f"You wrote '{words}'. Is it the time to the first token or of the whole answer?"
        amounts.ask("request_seconds", claim, text)
    else:
        of_day = HOUR <= claim.item.value < DAY
        amounts.ask("hours_per_month" if of_day else "", claim)


def _put_hours_up(amounts: Amounts, days: float) -> None:
    """The hours of a month in which a service is up, on so many days."""
    serves = amounts.goal == "serve"
    for claim in amounts.of("clock_range"):
        hours = claim.item.value - claim.item.extra.get("low", 0.0)
        words = amounts.words(claim)
        is_mostly = MOSTLY.search(amounts.text, 0, claim.start) and amounts.of(*OF_DAYS)
        if is_mostly or _has_other_load(amounts, claim):
            continue  # the service is up at night too
        if serves and amounts.is_batch and hours > 0:  # the window of a nightly job
            amounts.facts.put("hours_most", hours, words)
        elif serves and hours > 0:
            times = MONTH / claim.rate_seconds if claim.rate_seconds > DAY else days
            amounts.facts.put("hours_per_month", hours * times, words)
        else:
            amounts.ask("hours_per_month", claim)
    for claim in amounts.of("duration_rate"):
        hours, period = claim.item.value / HOUR, claim.rate_seconds or DAY
        if not serves:
            amounts.ask("hours_most", claim)
        elif period == DAY and hours <= DAY_HOURS:
            amounts.put("hours_per_month", claim, hours * days)
        elif period != DAY:
            amounts.put("hours_per_month", claim, hours * MONTH / period)
        else:
            amounts.ask("hours_per_month", claim)
    for claim in amounts.of("always"):
        words = amounts.words(claim)
        if serves:
            hours = MONTH_HOURS if days == MONTH_DAYS else DAY_HOURS * days
            amounts.facts.put("hours_per_month", hours, words)
    _put_whole_days(amounts, days)
    _ask_about_days(amounts)


def _ask_about_days(amounts: Amounts) -> None:
    """Ask about the hours up where a Saturday or Sunday stands beside them: + saturday mornings."""
    facts = amounts.facts
    words = facts.words.get("hours_per_month", "")
    for match in WEEKEND_DAY.finditer(amounts.text):
        inside = any(claim.start <= match.start() < claim.end for claim in amounts.claims)
        if words and not inside and "six_days" not in amounts.tags:
            facts.drop("hours_per_month")
            facts.ask("hours_per_month", f"{words} {match[0].strip()}")
            return


def _days_up(amounts: Amounts) -> float:
    """Days in all that a service is up, beside its hours a day: 3 days, 12 hours each; else 0."""
    hours = [claim for claim in amounts.of("duration_rate") if claim.rate_seconds in (0.0, DAY)]
    whole = [claim for claim in amounts.of("duration", "hours_most") if claim.item.value >= DAY]
    if amounts.goal != "serve" or amounts.is_batch or len(hours) != 1 or len(whole) != 1:
        return 0.0
    days = whole[0].item.value / DAY
    if days > MONTH_DAYS:
        return 0.0
    amounts.facts.drop("hours_most")
    amounts.facts.assume(f"'{amounts.words(hours[0])}' on {days:g} days")
    amounts.words(whole[0])
    return float(days)


def _has_other_load(amounts: Amounts, hours: Claim) -> bool:
    """Return whether a load of all other hours is said: 9-17h 50 rps, otherwise 5 rps."""
    loads = amounts.of("requests_per_second", "requests_rate")
    quiet = {claim.first for claim in amounts.of("not_used") if "off_peak" in claim.cues}
    return any(claim.first in quiet and claim.first > hours.first for claim in loads)


def _hours_of_most(amounts: Amounts) -> float:
    """Hours of a day in which most requests come: mostly between 8am and 6pm; 0 if not said."""
    for claim in amounts.of("clock_range"):
        if MOSTLY.search(amounts.text, 0, claim.start):
            return float(claim.item.value - claim.item.extra.get("low", 0.0))
    return 0.0


def _days_of_rate(amounts: Amounts) -> float:
    """Days of a month on which a service is up, as said: 8 hours a day, 20 days a month; else 0."""
    claim = next(iter(amounts.of("days_rate")), None)
    if claim is None or claim.rate_seconds <= DAY:
        return 0.0
    amounts.words(claim)
    return float(claim.item.value / DAY * MONTH / claim.rate_seconds)


def _put_whole_days(amounts: Amounts, days: float) -> None:
    """Days of the week without hours: the service is up all day, or in the hours of an office."""
    said = "hours_per_month" in amounts.facts.columns or amounts.of("bare", "pair", "bare_range")
    for claim in amounts.of("days_up"):
        words = amounts.words(claim)
        if said or amounts.goal != "serve" or amounts.is_batch or _is_of_weekend(amounts, words):
            continue
        hours = OFFICE_HOURS if OF_OFFICE.search(words) else float(DAY_HOURS)
        amounts.facts.put("hours_per_month", hours * days, words)
        amounts.facts.assume(f"'{words}' as {hours:g} hours a day")


def _is_of_weekend(amounts: Amounts, words: str) -> bool:
    """Return whether a text speaks of a weekend beside the days that these words name."""
    return "weekend" in amounts.text and "weekend" not in words


def _days_of_month(amounts: Amounts) -> float:
    """Days of a month on which a service is up: all, working days, or those of the week named."""
    of_week = next((tag for tag in amounts.tags if tag.startswith(DAYS_TAG)), "")
    is_off = WEEKEND_OFF.search(amounts.text)
    if not is_off and WEEKEND_TOO.search(amounts.text):
        return MONTH_DAYS
    if "weekday" in amounts.tags or is_off:
        return MONTH_WORK_DAYS
    if "six_days" in amounts.tags:
        return MONTH_SIX_DAYS
    if of_week:
        return int(of_week.removeprefix(DAYS_TAG)) * MONTH_DAYS / WEEK_DAYS
    return MONTH_DAYS


def _put_latency(amounts: Amounts) -> None:
    """Put limits on answer times and the percentiles that are to meet them."""
    facts = amounts.facts
    for claim in amounts.of("token_seconds_rest"):
        amounts.ask("token_seconds", claim)
    for claim in amounts.of("whole_seconds"):
        amounts.put("request_seconds", claim)
    if amounts.embeds and "request_seconds" in facts.columns:  # the answer is one vector
        value, words = facts.columns["request_seconds"], facts.words["request_seconds"]
        facts.drop("request_seconds")
        facts.put("first_token_seconds", float(value), words)
    for role, column in PERCENTILES.items():
        for claim in amounts.of(role):
            _put_percentile(facts, _share(claim), amounts.words(claim), column)
    for claim in amounts.of("percentile"):
        share = _share(claim)
        if facts.columns.keys() & LATENCIES:
            of_first = facts.columns.keys() & {"first_token_seconds", "request_seconds"}
            column = "first_token_percentile" if of_first else "token_percentile"
            _put_percentile(facts, share, amounts.words(claim), column)
        else:
            amounts.ask("first_token_percentile", claim)


def _share(claim: Claim) -> float:
    """The share of requests that a percentile says, of 100: p99, 99%."""
    return float(claim.item.value) * (100 if "PCT" in claim.item.tags else 1)


def put_no_latency(facts: Facts, items: list[Item]) -> None:
    """Lift the limits on latency of a service whose text says that there are none."""
    words = next((item.text for item in items if "no_latency" in item.tags), "")
    if not words:
        return
    for column in ("first_token_seconds", "token_seconds"):
        if column not in facts.columns:
            facts.put(column, NO_LATENCY_SECONDS, words)


def _put_percentile(facts: Facts, share: float, words: str, column: str) -> None:
    """The share of requests that meet the limit on latency, as the next one that a job takes."""
    planned = next((one for one in SHARES if float(one) >= share - 1e-9), SHARES[-1])
    facts.put(column, planned, words)
    if abs(float(planned) - share) > 1e-9:
        facts.assume(f"'{words}' as {planned} of 100 requests")
