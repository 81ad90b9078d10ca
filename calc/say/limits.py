"""Limits in words: the next step of each with its cost, and which limits cost nothing."""

from collections.abc import Callable
from datetime import date, timedelta

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.job.cells import PERCENTILES
from calc.job.columns import PACE
from calc.mappings import Cells
from calc.say.numbers import (
    about,
    amount,
    count,
    duration,
    is_missing,
    percent,
    short_duration,
    span,
    usd,
    with_capital,
)
from calc.say.paid import month_words
from calc.say.speed import pace_unit
from calc.scenarios.published_weights import bits_of
from calc.studies.limits_cost import Relaxed
from calc.studies.stricter_limits import SPEEDS
from calc.units import HOUR_SECONDS, YEAR_DAYS

STEPPED = {  # a limit at its next step
    "fewest_bits": "{}-bit products",
    "precision": "{}-bit weights",
    "gpu": "any card",
    "instance": "any instance",
    "requests_per_second": "{} requests a second",
    "spare": "no spare instance",
    "instances_most": "{} instances",
    "step_tokens": "{} tokens a step",
    "markets": "{}",
    "hours_most": "{} in all",
    "usd_most": "{} in all",
    "first_token_seconds": "{} to the first token",
    "batch_seconds": "{} a batch",
    "token_seconds": "{} a token",
    "text_token_seconds": "{} a token of text",
    "users": "{} requests in flight",
    "usd_per_hour_most": "{} an hour",
    "gpu_hours_most": "{} GPU-hours",
}

OF_UNIT = {  # a limit by the unit of a service's pace
    ("first_token_seconds", "batch"): "batch_seconds",
    ("token_seconds", "sound"): "text_token_seconds",
}
IN_ALL = ("hours_most", "usd_most")  # limits on the whole work, named without more words where free
PERCENTILE_OF = dict(zip(SPEEDS, PERCENTILES, strict=True))
NOTHING_RATIO = 0.03  # of the cost, below which a limit costs nothing
# Requests that meet a limit.
SHARE_WORDS = {
    "50": "half of all requests",
    "90": "90 of 100 requests",
    "99": "99 of 100 requests",
}


def say_limit(name: str) -> Callable[[float], str]:
    """Return the function that writes the value of a limit: a cost, a time or a count."""
    if "usd" in name:
        return usd
    if name == "gpu_hours_most":
        return count
    if name == "step_tokens":
        return amount
    if "hours" in name:
        return span
    return duration if "seconds" in name else count


def limits_cost_text(relaxed: list[Relaxed], row: Row, job: Cells, catalogs: Catalogs) -> str:
    """The cost of each limit: 8-bit weights −$11,000 a month · 100 ms a token −$3,900."""
    parts = []
    period = month_words(row)
    for limit in relaxed:
        month = old_price_month(limit.old_price_days, catalogs)
        of_month = f" ({month})" if month else ""
        if limit.name == "regions":
            less = percent(1 - limit.usd / row["usd"])
            parts.append(f"{region_words(str(limit.step), catalogs)} −{less}{of_month}")
        else:
            share = share_words(limit.name, job) if limit.name in SPEEDS else ""
            saving = f"{about(row['usd'] - limit.usd)}{period}{of_month}"
            parts.append(f"{step_words(limit, row, catalogs)}{share} −{saving}")
            period = ""
    return " · ".join(parts)


def against(limit: Relaxed, row: Row, job: Cells, catalogs: Catalogs) -> str:
    """A limit at its next step: 16 bits: +$1,100; Spot: −$40, price of April."""
    words = (
        catalogs.regions["name"][limit.step]
        if limit.name == "regions"
        else step_words(limit, row, catalogs)
    )
    if _is_met_on_average(limit, row):
        words += f" at {job['confidence']} % confidence"
    more = limit.usd - row["usd"]
    month = old_price_month(limit.old_price_days, catalogs)
    price = f", {month}" if month else ""
    return f"{with_capital(words)}: {'+' if more > 0 else '−'}{about(abs(more))}{price}"


def _is_met_on_average(limit: Relaxed, row: Row) -> bool:
    """Return whether the present answer meets stricter times at its central estimate."""
    if not isinstance(limit.step, tuple):
        return False
    return all(row[PACE[name]] <= seconds for name, seconds in zip(SPEEDS, limit.step, strict=True))


def old_price_month(old_price_days: float, catalogs: Catalogs) -> str:
    """Return the month of a stale price, as price of April; empty for a fresh one."""
    if not old_price_days:
        return ""
    day = date.fromisoformat(catalogs.read_on) - timedelta(days=old_price_days)
    return f"price of {day:{'%B' if old_price_days < YEAR_DAYS else '%B %Y'}}"


def telling_limits(relaxed: list[Relaxed], row: Row) -> list[Relaxed]:
    """Return the limits whose relaxation changes the cost, the most expensive first."""
    worth = [
        limit for limit in relaxed if abs(limit.usd - row["usd"]) >= NOTHING_RATIO * row["usd"]
    ]
    return sorted(worth, key=lambda limit: -abs(limit.usd - row["usd"]))


def free_limits(relaxed: list[Relaxed], row: Row, job: Row, catalogs: Catalogs) -> str:
    """The limits of the resolved job that cost nothing: N. Virginia and 7 days cost nothing."""
    costly = {name for limit in telling_limits(relaxed, row) for name in limit.name.split("+")}
    words: dict[str, str] = {}
    regions = str(job["regions"]).split("+")
    if len(regions) < len(catalogs.regions):
        words["regions"] = " and ".join(catalogs.regions["name"][name] for name in regions)
    times: tuple[str, ...] = SPEEDS
    if ends_of(row):
        times = ("hours_most",)
    elif not costly & set(SPEEDS):
        words["speed"] = "the speed"
        times = ()
    for name in (*times, "usd_most", "usd_per_hour_most"):
        if is_missing(job.get(name)):
            continue
        if name == "token_seconds" and is_missing(row["time_per_output_token_seconds"]):
            continue
        value = short(name)(float(job[name]))
        words[name] = value if name in IN_ALL else _limit_words(name, row, catalogs).format(value)
    free = [text for name, text in words.items() if name not in costly]
    if not free:
        return ""
    *others, last = free
    if not others:
        return f"{last} costs nothing."
    return f"{', '.join(others)} and {last} cost nothing."


def share_words(name: str, job: Cells) -> str:
    """Say which share of requests must meet a limit on time; empty for the mean."""
    percentile = job.get(PERCENTILE_OF.get(name, ""))
    share = SHARE_WORDS.get(f"{float(percentile):g}") if percentile else None
    return f" for {share}" if share else ""


def region_words(region: str, catalogs: Catalogs) -> str:
    """Return a region with its id: Stockholm (eu-north-1)."""
    return f"{catalogs.regions['name'][region]} ({region})"


def step_words(limit: Relaxed, row: Row, catalogs: Catalogs) -> str:
    """The next step of a limit, as a noun."""
    name, step = limit.name, limit.step
    if limit.bits:
        weights_bits, cache_bits = limit.bits
        has_as_many = weights_bits == bits_of(catalogs, row["precision"])
        return bits_words(name, weights_bits, cache_bits, has_as_many)
    if isinstance(step, tuple):
        return " and ".join(map(short_duration, step))
    if name == "spare" and step:
        return "a spare instance"
    if isinstance(step, str):
        return STEPPED[name].format(step)
    return _limit_words(name, row, catalogs).format(
        f"{step:,}" if isinstance(step, int) else short(name)(step)
    )


def bits_words(name: str, weights: int, cache: int, has_as_many: bool = False) -> str:
    """The formats with fewer bits than before: 4-bit weights and 8-bit cache.

    `has_as_many`: the weights have as many bits already, in another format.
    """
    if name == "kv_precision":
        return f"{cache}-bit cache"
    of_weights = f"{'other ' if has_as_many else ''}{weights}-bit weights"
    if name == "precision":
        return of_weights
    return f"{of_weights} and {f'{cache}-bit ' if cache != weights else ''}cache"


def _limit_words(name: str, row: Row, catalogs: Catalogs) -> str:
    """The words of a limit: an encoder's first token is its batch; sound is answered in text."""
    if name in SPEEDS:
        unit = pace_unit(row, catalogs)
        name = OF_UNIT.get((name, unit), name)
    return STEPPED[name]


def short(name: str) -> Callable[[float], str]:
    """The function that writes the value of a limit without a needless decimal."""
    if name == "hours_most":
        return lambda hours: short_duration(hours * HOUR_SECONDS)
    return short_duration if "seconds" in name else say_limit(name)
