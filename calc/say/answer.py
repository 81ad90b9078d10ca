"""Sentences about an answer: why it is one, its title, and other ways to pay."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import NamedTuple

from calc.catalogs.load import Catalogs
from calc.cost.capacity_block_sizes import blocks_rented, sizes_sold
from calc.cost.markets import MARKETS, spare_of
from calc.cost.offers import price_of
from calc.evaluate import Row
from calc.job.job import Job
from calc.job.measure import measure
from calc.layout import at_once
from calc.say.amounts import amount_words
from calc.say.numbers import (
    count,
    duration,
    gib_digits,
    gib_of,
    more,
    percent,
    span,
    three_digits,
    times,
    usd,
    with_noun,
)
from calc.say.paid import time_of_cost
from calc.say.place import obtainable_words, place
from calc.say.setting import arrangement
from calc.say.speed import pace_ratio, per_unit
from calc.say.weights import publisher_words
from calc.search.facts import Reasons, Rented
from calc.search.reasons import BLOCK, leads
from calc.units import DAY_HOURS

TITLES = {
    "least-money": "Lowest cost",
    "knee": "Faster for a little more",
    "easiest": "Easiest to get",
    "fastest": "Fastest",
    "roomiest": "Most free memory",
    "nearest": "Nearest",
}
NEXT_FASTER = "Faster"  # a knee that costs more than a little
SAME_RATIO = 1.01
MOST_NAMED = 3
NEAR_RATIO = 1.25  # of the lowest cost; an alternative beyond it is named in the column alone
BY_AGREEMENT = (
    "AWS rents this many instances only by agreement, and no option on fewer instances meets the "
    "limits"
)
SPOT_SERVICE = (
    "the cost includes spare instances in another zone or of another type; AWS does not promise "
    "capacity for them"
)


NOT_COMPILED = (
    "blocks are not compiled, because torch.compile starts again for batches of another length; "
    "what it would save is offered as a change"
)
OTHER_SETUPS = (
    "a fused loss, offloading and other software are not ranked; what they would save is offered "
    "as a change"
)


class Subject(NamedTuple):
    """The facts that the sentence of a code is made of."""

    reasons: Reasons
    job: Job
    catalogs: Catalogs


Words = Callable[[Subject], str]


def why(
    reasons: Reasons,
    near: Mapping[str, float],
    job: Job,
    catalogs: Catalogs,
    is_placed: bool = True,
) -> str:
    """Say in one sentence why a row is an answer; on request with its layout and place.

    `near`: the types whose cost cannot be distinguished from the first answer's, with their ratios.
    """
    row = reasons.row
    if reasons.names == ("nearest",):
        return f"Nearest of the options tried: {arrangement(row, catalogs)} on {place(row)}."
    if leads(reasons.names, job):
        parts = _of_first(reasons, near, job, catalogs, is_placed)
    else:
        parts = [_of_other(reasons, job, catalogs)]
    for code, words in WORDS.items():
        if code in reasons.codes:
            parts.append(words(Subject(reasons, job, catalogs)))
        if code == "offline" and not job.trains:
            parts.append(publisher_words(catalogs, row["model"], row["precision"]))
    return "; ".join(filter(None, parts)) + "."


def _of_first(
    reasons: Reasons,
    near: Mapping[str, float],
    job: Job,
    catalogs: Catalogs,
    is_placed: bool,
) -> list[str]:
    """The first answer: its rank, what the next costs, and what ties with it."""
    where = f": {arrangement(reasons.row, catalogs)} on {place(reasons.row)}" if is_placed else ""
    title = _joined_titles([TITLES[name] for name in reasons.names])
    parts = [f"{title} of all options that run, fit and meet the limits{where}"]
    if "next" in reasons.codes:
        parts += _next_option(reasons, job, catalogs)
    close = {name: ratio for name, ratio in near.items() if ratio <= NEAR_RATIO}
    parts += [_alike(close)] if close else []
    if reasons.older is not None and "older-price" in reasons.codes:
        parts.append(
            f"{place(reasons.older)} at {usd(reasons.older['usd'])} has a stale price, so it "
            f"ranks behind this one"
        )
    if "unpublished" in reasons.codes:
        parts.append(
            f"no published weights in {job.least_bits} bits are known, and quantize_own is no"
        )
    if "published-bits" in reasons.codes:
        parts.append(
            f"its weights are published in {reasons.published_bits} bits, which the job does not "
            f"allow"
        )
    return parts


def _next_option(reasons: Reasons, job: Job, catalogs: Catalogs) -> list[str]:
    """Return what the next option costs; on your own machines, how much longer it takes."""
    row, other = reasons.row, reasons.next
    if other is None:
        return []
    name = place(other) if place(other) != place(row) else arrangement(other, catalogs)
    if job.have:
        times = three_digits(other["seconds"] / row["seconds"])
        return [f"the next, {name}, takes {times} times as long"]
    return [f"the next, {name}, costs {_against(other['usd'], row['usd'])}"]


def _of_other(reasons: Reasons, job: Job, catalogs: Catalogs) -> str:
    """Say what another answer offers, how fast it is, and its cost over the lowest cost."""
    row, least = reasons.row, reasons.least
    budget = f"of those that cost at most {{}} times the lowest cost ({usd(least['usd'])})"
    room = f"{gib_digits(row['headroom_bytes'])} of {gib_of(row['gpu_memory_bytes'])} free"
    subject = {
        "knee": "",
        "easiest": (f"{obtainable_words(row)}, the lowest cost {obtainable_words(least)}"),
        "fastest": budget.format("3") if "within-budget" in reasons.codes else "",
        "roomiest": f"{budget.format('1.5')}, {room}",
    }
    reason = "; ".join(filter(None, (subject[name] for name in reasons.names)))
    title = _joined_titles(_titles_of(reasons.names, reasons.codes))
    text = (
        f"{title}{f' ({reason})' if reason else ''}: {arrangement(row, catalogs)} on {place(row)}"
    )
    unit_seconds = pace_ratio(row, catalogs)
    time, least_time = (duration(unit_seconds * one["seconds"]) for one in (row, least))
    unit = "" if job.ends else f" {per_unit(row, catalogs)}"
    text += f", {time}{unit} instead of {least_time}" if time != least_time else ""
    if reasons.names == ("roomiest",):
        return text
    return f"{text}, at {_times(row['usd'] / least['usd'])} the lowest cost"


def _requests(subject: Subject) -> str:
    rate = count(subject.job.requests_per_second)
    keep = "request a second keeps" if rate == "1" else "requests a second keep"
    busy = with_noun(round(at_once(subject.reasons.row)), "sequence")
    return f"{rate} {keep} {busy} busy (rate × time of a request)"


def _people(subject: Subject) -> str:
    """Return how many people have how many requests in flight."""
    people = "1 person is" if subject.job.people == 1 else f"{count(subject.job.people)} people are"
    return f"{people} {with_noun(int(subject.job.users or 0), 'request')} in flight"


def _software(subject: Subject) -> str:
    """Name the software of a training of this size, and the GPUs of one engine for answers."""
    row = subject.reasons.row
    name = subject.catalogs.implementations.at[row["implementation"], "name"]
    engine = ""
    if row.get("rollout") and row["rollout_tensor_parallel"] > 1:
        engine = f", with {row['rollout_tensor_parallel']:.0f} GPUs for each engine that answers"
    return f"{name} trains it, as it does most published runs of this size{engine}"


def _spare(subject: Subject) -> str:
    row = subject.reasons.row
    spare = spare_of(subject.reasons.row)
    month = row["usd_per_hour"] / (row["instances_needed"] + spare) * row["hours"]
    return f"{with_noun(int(spare), 'spare machine')} for {usd(spare * month)} a month"


def _scale_words(subject: Subject) -> str:
    """Return how many of its hours a service that is scaled by the hour runs."""
    row = subject.reasons.row
    machines = row["instances_needed"] + spare_of(row)
    hours = (machines - row["resting_instances"]) * row["hours"]
    return (
        f"scaled by the hour its machines run {count(hours)} of {count(machines * row['hours'])} "
        f"hours a month"
    )


def _offline(subject: Subject) -> str:
    amount = amount_words(subject.job.cells, subject.catalogs)
    unit_tokens = measure(subject.job.model, subject.job.answer_tokens, subject.catalogs).tokens
    of_each = f" ({unit_tokens:,.0f} tokens each)" if unit_tokens > 1 else ""
    hours = span(subject.reasons.row["hours"])
    most_hours = span(subject.job.hours_most)
    return f"{amount}{of_each} take {hours} of {most_hours}"


def _confidence(subject: Subject) -> str:
    return f"its time limits are met with {subject.job.confidence} % confidence"


def _step(subject: Subject) -> str:
    return (
        f"a step takes {count(subject.reasons.row['step_tokens'])} tokens instead of "
        f"{count(subject.job.step_tokens)}"
    )


def _attempts(subject: Subject) -> str:
    row = subject.reasons.row
    price = "" if subject.job.have else f" at {usd(row['usd'] / row['attempts'])} each"
    return f"{row['attempts']:g} attempts are paid for{price}"


def _start_up(subject: Subject) -> str:
    row = subject.reasons.row
    cost = "" if subject.job.have else f", {usd(row['start_hours'] * row['usd_per_hour'])}"
    return f"starting ({span(row['start_hours'])}{cost}) is included"


def _block(subject: Subject) -> str:
    """Say how long a block is booked, which sizes hold the instances, and the hours unused."""
    row = subject.reasons.row
    days = with_noun(round(row["billed_hours"] / DAY_HOURS / row["attempts"]), "day")
    sizes = sizes_sold(row["market"], subject.catalogs)
    several = blocks_rented(row["instances_needed"], sizes)
    instances = row["instances"]
    blocks = (
        f"{several} capacity blocks of at most {sizes[-1]:.0f} instances are"
        if several > 1
        else "the capacity block is"
    )
    every = ", once for every attempt" if row["attempts"] > 1 else ""
    idle = ""
    if instances > row["instances_needed"]:
        idle = (
            f", of {instances:.0f} instances, since AWS sells {_said_sizes(sizes)} at once, and "
            f"{row['instances_needed']:.0f} of them work"
        )
    return (
        f"{blocks} booked for {days}, for a run of up to "
        f"{span(row['run_high_hours'] / row['attempts'])}{every}, so that "
        f"{span(row['billed_hours'])} are paid for {span(row['hours'])}{idle}"
    )


def _said_sizes(sizes: Iterable[float]) -> str:
    """The numbers of a list as a choice: 1, 2, 4, 8, 16, 32 or 64."""
    *first, last = (f"{size:.0f}" for size in sizes)
    return f"{', '.join(first)} or {last}"


def _old_price(subject: Subject) -> str:
    """The month of a stale price."""
    row = subject.reasons.row
    price = price_of(subject.catalogs, row["instance"], row["region"])
    key = MARKETS[row["market"]].key
    return f"its price dates from {date.fromisoformat(price[f'{key}_as_of']):%B %Y}"


def _otherwise(subject: Subject) -> str:
    """Return what the same type costs when it is sold otherwise, as a block or on demand."""
    other = subject.reasons.otherwise
    assert other is not None, "the code says that there is one"
    is_agreed = other["obtainable"] == "by-agreement"
    agreement_words = ", where this many come only by agreement," if is_agreed else ""
    how = (
        "as a capacity block, booked to the slow end in whole days,"
        if other["market"] == BLOCK
        else f"on demand{agreement_words}"
    )
    return f"{how} this type costs at least {usd(other['usd'])}"


# The words of each code, in the order in which they appear.
WORDS: dict[str, Words] = {
    "software": _software,
    "old-price": _old_price,
    "requests": _requests,
    "people": _people,
    "spare": _spare,
    "scaled": _scale_words,
    "offline": _offline,
    "confidence": _confidence,
    "step": _step,
    "attempts": _attempts,
    "start-up": _start_up,
    "by-agreement": lambda _: BY_AGREEMENT,
    "block": _block,
    "otherwise": _otherwise,
    "spot-service": lambda _: SPOT_SERVICE,
    "not-compiled": lambda _: NOT_COMPILED,
    "other-setups": lambda _: OTHER_SETUPS,
}


def rented_words(rental: Rented | None) -> str:
    """Return the lowest cost of renting, for a job on your own machines."""
    if rental is None:
        return ""
    row = rental.row
    if row is None:
        return " No rented option meets the limits either."
    time = time_of_cost(row)
    return f" Rented, the same job costs {usd(row['usd'])}{time} at least: {place(row)}."


def _alike(ratios: Mapping[str, float]) -> str:
    """The types that cost nearly the same: 5 other types within 10 %: too close to rank."""
    names = list(ratios)
    first_names = ", ".join(names[:MOST_NAMED]) + (" and others" if len(names) > MOST_NAMED else "")
    most = max(max(ratios.values()) - 1, 0.01)
    types = with_noun(len(names), "other type")
    return f"{types} within {percent(most)} ({first_names}): too close to rank"


def _against(cost: float, least: float) -> str:
    """A cost against the least: as much within a tie, else how much more."""
    return "as much within 1 %" if cost <= least * SAME_RATIO else more(cost / least)


def _times(ratio: float) -> str:
    """Money over the least, in front of its name: as much within 1 % as, 12 % more than."""
    if ratio >= 2:
        return times(ratio)
    return f"{more(ratio)} than" if ratio > SAME_RATIO else f"{_against(ratio, 1)} as"


def titles(row: Row) -> str:
    """The title of a row's card: Lowest cost, and easiest to get."""
    names = _titles_of(row["answer"].split("+"), row["why_codes"].split("+"))
    first, *rest = names
    return ", and ".join([first, *(title[:1].lower() + title[1:] for title in rest)])


def short_title(row: Row) -> str:
    """The first title in short, for a button: Lowest cost, Faster."""
    first = row["answer"].split("+")[0]
    return NEXT_FASTER if first == "knee" else TITLES[first]


def _titles_of(names: Iterable[str], codes: Iterable[str]) -> list[str]:
    """The title of each name; a knee that costs much more is the next faster one."""
    is_next = "next-faster" in codes
    return [NEXT_FASTER if name == "knee" and is_next else TITLES[name] for name in names]


def _joined_titles(titles: list[str]) -> str:
    """Lowest cost, easiest to get and fastest."""
    *first, last = (titles[0], *(title[:1].lower() + title[1:] for title in titles[1:]))
    return f"{', '.join(first)} and {last}" if first else last
