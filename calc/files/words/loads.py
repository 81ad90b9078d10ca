"""The rates of a service: of requests, of each user, of tokens."""

from calc.files.words.amounts import DAY, HOUR, MONTH, Amounts
from calc.files.words.facts import as_counted
from calc.files.words.frames import Claim
from calc.job.columns import JOB_BY_NAME, USUAL
from calc.units import DAY_HOURS, MEAN_MONTH_HOURS

CONVERSATIONS = frozenset({"session", "example"})  # tags of words that name them
LENGTHS = ("prompt_tokens", "answer_tokens", "each_tokens", "length_in")
NAMED_USERS = ("users", "users_plain", "people", "users_session")
RATES = ("requests_per_second", "requests_rate", "requests_per_minute")
CALLS_EACH = ("times_each", "examples_each")
OF_ANY_RATE = frozenset({"N", "RATE", "DUR"})
OF_DAYS = (
    "requests_rate",
    "requests_rate_user",
    "bare_rate",
    "people_rate",
)  # may be of a day or longer
PEAKS = frozenset({"peak", "off_peak"})
SEVERAL_RATES = "You wrote '{}'. How many requests a second are there in all, at the peak?"
LOAD_ROLES = (*NAMED_USERS, "users_seqs", *RATES)  # how much a service has to do


def put_load(amounts: Amounts) -> None:
    """Rates of requests and of tokens."""
    times = _times_each(amounts)
    for claim in amounts.of("seconds_between"):
        several = amounts.value("requests_every") or 1.0
        if claim.item.value > 0:
            amounts.put("requests_per_second", claim, several / claim.item.value)
    for claim in amounts.of("requests_every"):
        amounts.words(claim)
    for claim in amounts.of("people_rate", "seconds_of_each"):
        _put_persons(amounts, claim)
    for claim in amounts.of("requests_per_minute"):
        amounts.put("requests_per_second", claim, claim.item.value / 60)
    for claim in [*amounts.of("requests_rate"), *_further_rates(amounts)]:
        if claim.role == "requests_rate" and _is_of_unknown(amounts, claim):
            words = amounts.words(claim)
            text = f"You wrote '{words}'. How many requests does each of these make?"
            amounts.ask("requests_per_second", claim, text)
            continue
        amounts.put("requests_per_second", claim, claim.item.value / claim.rate_seconds * times)
    _ask_about_several(amounts)
    for claim in amounts.of("peak_factor"):
        _put_peak_factor(amounts, claim)
    for claim in amounts.of("peak_share"):
        _put_peak_share(amounts, claim)
    for claim in amounts.of("requests_rate_user"):
        _put_user_rate(amounts, claim)
    for role, seconds in (("requests_per_minute_user", 60.0), ("requests_per_second_user", 1.0)):
        for claim in amounts.of(role):
            _put_user_rate(amounts, claim._replace(rate_seconds=seconds))
    for claim in amounts.of("requests_rate_open"):
        amounts.ask("requests_per_second", claim, choices=("of each person", "of all"))
    _put_token_rates(amounts)


def _put_token_rates(amounts: Amounts) -> None:
    """Rates of tokens: by the second, of each user, in all, and by the day in and out."""
    for claim in amounts.of("tokens_rate_second", "tokens_rate_user_second"):
        _put_token_rate(amounts, claim, claim.item.value)
    _put_tokens_over_time(amounts)


def _put_tokens_over_time(amounts: Amounts) -> None:
    """Tokens per minute or hour as a rate, tokens per day or month as the work of a day."""
    both = _in_and_out(amounts)
    for claim in amounts.of("tokens_rate", "tokens_rate_user", "tokens_rate_total"):
        if claim in both:
            continue
        if claim.rate_seconds < DAY:
            _put_token_rate(amounts, claim, claim.item.value / claim.rate_seconds)
        else:
            _put_tokens_a_day(amounts, claim, claim.item.value)
    if both := both or amounts.of("tokens_rate_both"):
        _put_tokens_a_day(amounts, both[0], sum(claim.item.value for claim in both))
        amounts.words(both[-1])


def spread_over_hours_up(amounts: Amounts, days: float, busy_hours: float = 0.0) -> None:
    """Spread the requests of a day, or of longer, over the hours in which the service is up.

    `busy_hours` are the hours of a day in which most of them come, where a text says so.
    """
    facts = amounts.facts
    said = facts.words.get("requests_per_second", "")
    spread = (
        claim.rate_seconds
        for claim in amounts.of(*OF_DAYS)
        if claim.rate_seconds >= DAY and said in amounts.text[claim.start : claim.end]
    )
    period = next(spread, 0.0)
    if not said or not period:
        return
    hours = float(facts.columns.get("hours_per_month", MEAN_MONTH_HOURS))
    all_hours = DAY_HOURS * days if period == DAY else MEAN_MONTH_HOURS
    hours = busy_hours * days if busy_hours else hours
    if hours >= all_hours:
        facts.assume(f"'{said}' spread evenly over the time")
        return
    rate = facts.columns["requests_per_second"] * all_hours / hours
    facts.columns["requests_per_second"] = as_counted(float(f"{rate:.6g}"))
    facts.assume(f"'{said}' spread evenly over {hours:,.4g} hours a month")


def _put_persons(amounts: Amounts, claim: Claim) -> None:
    """Requests of visitors an hour, so many each, or of persons who send one every 20 seconds."""
    columns = amounts.facts.columns
    each = amounts.of(*CALLS_EACH)
    persons = float(columns.get("people") or columns.get("users") or 0)
    if claim.role == "seconds_of_each" and persons and claim.item.value > 0:
        rate = persons / claim.item.value
    elif claim.role == "people_rate" and len(each) == 1:
        rate = claim.item.value / claim.rate_seconds * each[0].item.value
        amounts.facts.assume(f"'{amounts.words(each[0])}' for each of them")
    else:
        text = f"You wrote '{amounts.words(claim)}'. How many requests does each of these make?"
        amounts.ask("requests_per_second", claim, text)
        return
    amounts.put("requests_per_second", claim, float(f"{rate:.6g}"))


def _put_peak_factor(amounts: Amounts, claim: Claim) -> None:
    """Take the rate of requests so many times as high, as it is at the peak."""
    columns = amounts.facts.columns
    rate = float(columns.get("requests_per_second", 0))
    if not rate or claim.item.value < 1:
        amounts.ask("requests_per_second", claim)
        return
    columns["requests_per_second"] = peak = as_counted(rate * claim.item.value)
    amounts.facts.assume(f"'{amounts.words(claim)}' as {peak:,.6g} requests a second")


def _ask_about_several(amounts: Amounts) -> None:
    """Ask about two rates of which no word says which is the peak: A with 9 rps, B with 3 rps."""
    rates = amounts.of("requests_per_second")
    if len({claim.item.value for claim in rates}) > 1 and not PEAKS & amounts.tags:
        words = [amounts.words(claim) for claim in rates]
        values = [float(claim.item.value) for claim in rates]
        choices = (f"{sum(values):g} rps", f"{max(values):g} rps")
        amounts.facts.drop("requests_per_second")
        text = SEVERAL_RATES.format(" and ".join(words))
        amounts.facts.ask("requests_per_second", " and ".join(words), choices, text)


def _in_and_out(amounts: Amounts) -> list[Claim]:
    """Two rates of tokens by the day of which one comes out; none of other rates."""
    daily = [claim for claim in amounts.of("tokens_rate") if claim.rate_seconds >= DAY]
    periods = {claim.rate_seconds for claim in daily}
    out = [claim for claim in daily if "out" in claim.cues]
    return daily if len(daily) == 2 and len(out) == 1 and len(periods) == 1 else []


def _put_peak_share(amounts: Amounts, claim: Claim) -> None:
    """Take the part of a day's requests that comes in the busiest hour as the rate."""
    columns = amounts.facts.columns
    daily = [one for one in amounts.of("requests_rate") if one.rate_seconds == DAY]
    if len(daily) != 1 or "requests_per_second" not in columns:
        amounts.ask("requests_per_second", claim)
        return
    rate = daily[0].item.value * claim.item.value / HOUR
    words = amounts.words(claim)
    amounts.facts.drop("requests_per_second")
    amounts.put("requests_per_second", claim, float(f"{rate:.6g}"))
    amounts.facts.assume(f"'{words}' of '{amounts.words(daily[0])}'")


def _is_of_unknown(amounts: Amounts, claim: Claim) -> bool:
    """Return whether a rate counts things that nothing has read, and no length says of what.

    Beside the length of a request they are the requests: 300 widgets a day, 900 tokens each.
    """
    lengths = amounts.of(*LENGTHS, *CALLS_EACH)
    return claim.cues <= OF_ANY_RATE and not lengths


def _further_rates(amounts: Amounts) -> list[Claim]:
    """Numbers over the time that requests are counted in: 20 requests a minute, 90 a minute.

    Beside the length of a request and no other load a rate is of requests: 800/s, 20 tokens each.
    """
    times = {claim.rate_seconds for claim in amounts.of("requests_rate")}
    only_rate = amounts.of(*LENGTHS) and not amounts.of(*LOAD_ROLES)
    return [
        claim
        for claim in amounts.of("bare_rate")
        if claim.rate_seconds in times or (only_rate and claim.rate_seconds < DAY)
    ]


def _times_each(amounts: Amounts) -> float:
    """Requests of each thing that a rate counts: 200 tasks an hour, each task makes 30 calls."""
    several, rates = amounts.of(*CALLS_EACH), amounts.of("requests_rate")
    if any(claim.cues & CONVERSATIONS for claim in rates):  # 500 chats an hour, 6 turns each
        several = several or amounts.of("turns")
    if len(several) != 1 or len(rates) != 1:
        return 1.0  # what is left over is asked about
    amounts.facts.assume(f"'{amounts.words(several[0])}' for each of them")
    return float(several[0].item.value)


def _put_user_rate(amounts: Amounts, claim: Claim) -> None:
    """Requests that each user sends: those of all users together."""
    columns = amounts.facts.columns
    users = columns.get("people") or columns.get("users")
    if not users:
        amounts.ask("requests_per_second", claim)
        return
    shares = [one for one in amounts.of("share_active") if one.end <= claim.start]
    if shares and columns.get("people"):  # a third of them active, each sending 9 an hour
        users = float(users) * shares[0].item.value
    rate = claim.item.value / claim.rate_seconds * float(users)
    amounts.put("requests_per_second", claim, float(f"{rate:.6g}"))
    amounts.facts.assume(f"'{amounts.words(claim)}' for each of {users:,.0f}")


def _put_token_rate(amounts: Amounts, claim: Claim, per_second: float) -> None:
    """A rate of tokens: of each user where users are named, else of all together."""
    if per_second <= 0:
        amounts.ask("token_seconds", claim)
        return
    columns = amounts.facts.columns
    is_open = "total" not in claim.role
    has_pace = "first_token_seconds" in columns and "requests_per_second" not in columns
    of_user = "user" in claim.role or (is_open and (has_pace or amounts.of(*NAMED_USERS)))
    is_loaded = "requests_per_second" in columns and is_open
    if of_user:
        amounts.put("token_seconds", claim, 1 / per_second)
    elif is_loaded:  # of one reader, or of all beside their requests
        amounts.ask("token_seconds", claim, choices=("of each user", "of all"))
    else:
        amounts.put("tokens_per_second", claim, per_second)


def _put_tokens_a_day(amounts: Amounts, claim: Claim, tokens: float) -> None:
    """Tokens of a day or a month, which leave open how many requests come at the peak."""
    monthly = claim.rate_seconds > 8 * DAY
    period = MONTH if monthly else DAY
    if "endpoint" in amounts.tags:  # which asks for the same tokens
        _spread_tokens(amounts, claim, tokens / claim.rate_seconds)
        return
    column = "tokens_per_month" if monthly else "tokens_per_day"
    amounts.put(column, claim, tokens * period / claim.rate_seconds)
    text = (
        f"You wrote '{amounts.words(claim)}'. How many requests a second is that at the peak, and "
        "how many tokens does a request have, and its answer?"
    )
    amounts.ask("requests_per_second", claim, text)


def _spread_tokens(amounts: Amounts, claim: Claim, per_second: float) -> None:
    """Take tokens as requests of the usual lengths, spread evenly over the time."""
    usual = {"answer_tokens": JOB_BY_NAME["answer_tokens"].default, **USUAL["inference"]}
    lengths = {
        name: float(amounts.facts.columns.get(name, usual[name]))
        for name in ("prompt_tokens", "answer_tokens")
    }
    each = sum(lengths.values())
    rate = float(f"{per_second / each:.3g}")
    amounts.put("requests_per_second", claim, rate)
    amounts.facts.assume(
        f"'{amounts.words(claim)}' as {rate:g} requests a second of {each:,.0f} tokens "
        f"({lengths['answer_tokens']:,.0f} of them generated), spread evenly over the time"
    )
