"""The sentences of an answer: what decided, what it misses, what would be smaller."""

from collections.abc import Mapping
from math import ceil, log
from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.cost.markets import MOST_BLOCK_INSTANCES, spare_of
from calc.evaluate import Row
from calc.layout import at_once
from calc.say.numbers import about, count, counted, duration, gib, more, percent, span, three, usd
from calc.say.place import OBTAINABLE, place
from calc.say.setting import arrangement
from calc.scenarios.published import publisher_words
from calc.search.job_words import amount_words
from calc.search.limit_words import region_words, say_limit, share_words
from calc.search.offline import measure
from calc.units import DAY_HOURS, GIB

# limit -> what the row needs, what the job allows, what to change
MISSED = {
    "hours_most": (
        "takes {has}",
        "{most} allowed",
        "allow that time, more instances or other cards",
    ),
    "step_tokens": (
        "takes a step of {has} tokens",
        "{most} asked for",
        "set another micro-batch, accumulation or step_tokens",
    ),
    "first_token_seconds": (
        "gives the first token after {has}",
        "{most} allowed",
        "allow that time, or shorter prompts",
    ),
    "batch_seconds": (
        "answers a batch after {has}",
        "{most} allowed",
        "allow that time, or fewer at once",
    ),
    "token_seconds": (
        "takes {has} for each token",
        "{most} allowed",
        "allow that time, or fewer bits",
    ),
    "users": (
        "answers {has} at once",
        "{most} asked for",
        "allow more instances, or set fewer by hand",
    ),
    "requests_per_second": (
        "keeps up with {has} requests a second",
        "{most} asked for",
        "allow more instances, or fewer requests",
    ),
    "usd_most": ("costs {has}", "{most} allowed", "allow that much, or fewer tokens or hours"),
    "usd_per_hour_most": (
        "costs {has} an hour",
        "{most} allowed",
        "allow that much, or more time on smaller cards",
    ),
    "instances_most": ("needs {has} instances", "{most} allowed", "allow that many"),
    "obtainable": ("is harder to get than the job allows", "{most}", "allow what is harder to get"),
    "scarce_spot_seconds": (
        "has a spot price {has} old",
        "at most {most}",
        "read its prices again, or allow another market",
    ),
}
TITLES = {
    "least-money": "Least money",
    "knee": "Faster for a little more",
    "easiest": "Easiest to get",
    "fastest": "Fastest",
    "roomiest": "Most free memory",
    "nearest": "Nearest",
}
NEXT_FASTER = "Faster"  # a knee that costs more than a little
SAME_RATIO = 1.01
NEVER_RATIO = 1e100  # of a limit: what has no end is beyond
MOST_NAMED = 3
BLOCK = "capacity-block"
NEAR_RATIO = 1.25  # of the least money; a rival beyond it stands in the column alone
BRIEF = "every plan within the limits takes longer to start than to run"
BY_AGREEMENT = (
    "AWS rents so many instances at once only by agreement; nothing on fewer keeps the limits"
)
STEP_RATIO = (
    1.5  # of the tokens of a step, from which on another learning rate is due and it is said
)
STARTING_RATIO = 0.01  # of a run, from which on its start is said


def missed(name: str, ratio: float, settled_job: Row, step_tokens: float) -> str:
    """Which limit a row misses, and by how much."""
    encodes = name == "first_token_seconds" and not settled_job["generates"]
    has, most, _ = MISSED["batch_seconds" if encodes else name]
    if name == "obtainable":
        return f"{has} ({most.format(most=settled_job[name])})"
    limit = settled_job["judged"].get(name) or settled_job[name]
    if name == "step_tokens":
        beyond = f"beyond a factor of {settled_job['step_factor']:.3g}"
        return (
            f"{has.format(has=f'{step_tokens:,.0f}')}, {beyond} "
            f"({most.format(most=f'{limit:,.0f}')})"
        )
    if name in ("users", "requests_per_second"):
        return f"{has.format(has=count(limit / ratio))} ({most.format(most=count(limit))})"
    if ratio > NEVER_RATIO:
        return (
            f"falls ever further behind requests that arrive at random "
            f"({most.format(most=say_limit(name)(limit))})"
        )
    say = say_limit(name)
    if name == "scarce_spot_seconds":
        return f"{has.format(has=say(limit * ratio))} ({most.format(most=say(limit))})"
    sure = settled_job["confidence"] if "hours" in name or "seconds" in name else "50"
    slow = "" if sure == "50" else f" at {sure} % confidence"
    return (
        f"{has.format(has=say(limit * ratio))}{share_words(name, settled_job)}{slow}, "
        f"{more(ratio)} ({most.format(most=say(limit))})"
    )


def smaller(
    settled_job: Row, published_bits: int, smallest_bytes: float, catalogs: Catalogs
) -> str:
    """What to change for a smaller arrangement: what is set by hand, then where, then the bits."""
    fixed, serves = settled_job["fixed"], settled_job["work"] == "inference"
    too_large = (
        smallest_bytes > catalogs.gpus["memory_bytes"][catalogs.instances["gpu"]].max()
    )  # for any card on AWS
    at_once = max(
        *fixed.get("batch", [1]), (settled_job["users"] or 1) if serves and too_large else 1
    )
    cures = {
        "sharding": "FSDP" if "none" in fixed.get("sharding", ()) else "",
        "batch": ("fewer sequences at once" if serves else "a smaller micro-batch")
        if at_once > 1
        else "",
        "recompute": "recompute" if "none" in fixed.get("recompute", ()) else "",
    }
    by_hand = f"set {' or '.join(filter(None, cures.values()))}" if any(cures.values()) else ""
    elsewhere = not fixed.keys() & {"instance", "gpu"} and len(settled_job["regions"]) < len(
        catalogs.regions
    )
    larger = (
        ""
        if settled_job["have"] or too_large
        else f"allow {'other regions' if elsewhere else 'larger instances'}"
    )
    fewer = (
        "take fewer bits"
        if serves or settled_job["method"] != "full"
        else "take LoRA or fewer bits"
    )
    bits = (
        f"allow {published_bits} bits, in which its weights are published"
        if published_bits
        else fewer
    )
    return ", or ".join(filter(None, (", ".join(filter(None, (by_hand, larger))), bits)))


def why(names: list[str], row: Row, facts: Row, settled_job: Row, catalogs: Catalogs) -> str:
    """What decided, in one sentence. `facts` are those of options._options."""
    how, where = arrangement(row, catalogs), place(row)
    if names == ["nearest"]:
        return f"Nearest of what was tried: {how} on {where}."
    trains = settled_job["work"] == "training"
    least, parts = facts["least"], []
    if names[0] == "least-money" or settled_job["have"]:
        many = (
            f" of {facts['possible']:,} arrangements that run, fit and keep the limits"
            if facts["possible"] > 1
            else ""
        )
        only = "" if many else ", the only one that runs, fits and keeps the limits"
        parts.append(f"{_joined([TITLES[name] for name in names])}{many}{only}: {how} on {where}")
        if facts["next"] is not None:
            other = place(facts["next"])
            other = other if other != where else arrangement(facts["next"], catalogs)
            slower = f"{three(facts['next']['seconds'] / row['seconds'])} times as long"
            cost = (
                f"takes {slower}"
                if settled_job["have"]
                else f"costs {_against(facts['next']['usd'], row['usd'])}"
            )
            parts.append(f"the next, {other}, {cost}")
        near = {name: ratio for name, ratio in facts["rivals"].items() if ratio <= NEAR_RATIO}
        parts += [_alike(near)] if near else []
        if facts["older"] is not None:
            parts.append(
                f"{place(facts['older'])} at {usd(facts['older']['usd'])} has an old price, "
                f"so this one comes first"
            )
        if facts["published_bits"]:
            parts.append(
                f"its weights are published in {facts['published_bits']} bits, which the job "
                f"does not allow"
            )
    else:
        budget = f"of those that cost at most {{}} times the least money ({usd(least['usd'])})"
        room = f"{three(row['headroom_bytes'] / GIB)} of {gib(row['gpu_memory_bytes'] / GIB)} free"
        reasons = {
            "knee": "",
            "easiest": (
                f"{OBTAINABLE[row['obtainable']]}, the least money "
                f"{OBTAINABLE[least['obtainable']]}"
            ),
            "fastest": "" if facts["budget"] else budget.format("3"),
            "roomiest": f"{budget.format('1.5')}, {room}",
        }
        reason = "; ".join(filter(None, (reasons[name] for name in names)))
        title = _joined([_title(name, row, least, settled_job) for name in names])
        parts.append(f"{title}{f' ({reason})' if reason else ''}: {how} on {where}")
        time, usual = duration(row["seconds"]), duration(least["seconds"])
        unit = "" if settled_job["ends"] else " a token" if settled_job["generates"] else " a batch"
        parts[0] += f", {time}{unit} instead of {usual}" if time != usual else ""
        parts[0] += (
            ""
            if names == ["roomiest"]
            else f", for {_times(row['usd'] / least['usd'])} the least money"
        )
    if settled_job["requests_per_second"]:
        rate = count(settled_job["requests_per_second"])
        keep = "request a second keeps" if rate == "1" else "requests a second keep"
        parts.append(
            f"{rate} {keep} {counted(round(at_once(row)), 'sequence')} busy (rate × time of "
            f"a request)"
        )
    elif not trains and settled_job["people"]:
        people = (
            "1 person is"
            if settled_job["people"] == 1
            else f"{count(settled_job['people'])} people are"
        )
        parts.append(f"{people} {counted(int(settled_job['users']), 'request')} at once")
    parts += _of_machines(row)
    if settled_job["ends"] and not trains:
        amount, unit_tokens = (
            amount_words(settled_job, catalogs),
            measure(row["model"], settled_job["answer_tokens"], catalogs).tokens,
        )
        of_each = f" ({unit_tokens:,.0f} tokens each)" if unit_tokens > 1 else ""
        parts.append(
            f"{amount}{of_each} take {span(row['hours'])} of {span(settled_job['hours_most'])}"
        )
    parts += filter(
        None, ["" if trains else publisher_words(catalogs, row["model"], row["precision"])]
    )
    if not trains and settled_job["confidence"] != "50":
        parts.append(f"its limits on time are kept at {settled_job['confidence']} % confidence")
    if trains and abs(log(row["step_tokens"] / settled_job["step_tokens"])) > log(STEP_RATIO):
        parts.append(
            f"a step takes {count(row['step_tokens'])} tokens instead of "
            f"{count(settled_job['step_tokens'])}"
        )
    if settled_job["ends"] and row["attempts"] > 1:
        price = "" if settled_job["have"] else f" at {usd(row['usd'] / row['attempts'])} each"
        parts.append(f"{row['attempts']:g} attempts are paid for{price}")
    if settled_job["ends"] and row["start_hours"] > STARTING_RATIO * row["hours"]:
        start_usd = (
            "" if settled_job["have"] else f", {usd(row['start_hours'] * row['usd_per_hour'])}"
        )
        parts.append(f"starting ({span(row['start_hours'])}{start_usd}) is included")
    parts += [BRIEF] if facts["brief"] else []
    parts += [BY_AGREEMENT] if facts["by_agreement"] else []
    parts += [_booked(row)] if row["market"] == BLOCK and row["usd"] > 0 else []
    if facts["otherwise"] is not None:
        other = facts["otherwise"]
        agreed = (
            ", where so many come by agreement alone,"
            if other["obtainable"] == "by-agreement"
            else ""
        )
        how_else = (
            "as a capacity block, booked to the slow end in whole days,"
            if other["market"] == BLOCK
            else f"on demand{agreed}"
        )
        parts.append(f"{how_else} this type costs at least {usd(other['usd'])}")
    if row["market"] == "spot" and not settled_job["ends"]:
        parts.append(
            "spare instances are in another zone or of another type, and are counted; "
            "capacity is not promised"
        )
    return "; ".join(parts) + "."


def rented(row: Row, problem: str) -> str:
    """What renting would add to a job on machines that one has: its least money."""
    if problem:
        return "Nothing that can be rented keeps the limits either."
    time = f" in {span(row['hours'])}" if ends_of(row) else " a month"
    return f"Rented, the same job costs {usd(row['usd'])}{time} at least: {place(row)}."


def other_ways(ways: Mapping[str, Any], row: Row, catalogs: Catalogs) -> str:
    """For comparison, a commitment of one year costs $1,560 a month, and Stockholm 14 % less"""
    parts, period = [], "" if ends_of(row) else " a month"
    if "commitment" in ways:
        parts.append(f"a commitment of one year costs {about(ways['commitment'])} a month")
    if "endpoint" in ways:
        name, endpoint_usd = ways["endpoint"]
        parts.append(f"{name} asks {about(endpoint_usd)}{period} for the same tokens")
    if "region" in ways:
        parts.append(
            f"{region_words(ways['region'], catalogs)} asks "
            f"{percent(1 - ways['region_ratio'])} less for this type"
        )
    return (
        f" For comparison, {', and '.join(filter(None, (', '.join(parts[:-1]), parts[-1])))}."
        if parts
        else ""
    )


def _of_machines(row: Row) -> list[str]:
    """What spare machines cost, and how many hours machines run that scale by the hour."""
    machines = row["instances_needed"] + (spare := spare_of(row))
    month = row["usd_per_hour"] / machines * row["hours"]
    parts = (
        [f"{counted(int(spare), 'spare machine')} for {usd(spare * month)} a month"]
        if row["standby_instances"] > 0
        else []
    )
    if row["resting_instances"] > 0:
        hours = (machines - row["resting_instances"]) * row["hours"]
        parts.append(
            f"scaled by the hour its machines run {count(hours)} of "
            f"{count(machines * row['hours'])} hours a month"
        )
    return parts


def _alike(ratios: Mapping[str, float]) -> str:
    """5 types within 10 % (g5.xlarge and others): the figures cannot tell them apart."""
    names = list(ratios)
    listed = ", ".join(names[:MOST_NAMED]) + (" and others" if len(names) > MOST_NAMED else "")
    most = max(max(ratios.values()) - 1, 0.01)
    apart = "it" if len(names) == 1 else "them"
    return (
        f"{counted(len(names), 'other type')} within {percent(most)} ({listed}): the figures "
        f"cannot tell {apart} apart"
    )


def _booked(row: Row) -> str:
    """For how long a block is booked, and how many blocks hold so many instances."""
    days = counted(round(row["usd"] / row["usd_per_hour"] / DAY_HOURS / row["attempts"]), "day")
    several = ceil(row["instances_needed"] / MOST_BLOCK_INSTANCES)
    blocks = (
        f"{several} capacity blocks of at most {MOST_BLOCK_INSTANCES} instances are"
        if several > 1
        else "the capacity block is"
    )
    every = ", once for every attempt" if row["attempts"] > 1 else ""
    return (
        f"{blocks} booked for {days}, for a run of up to "
        f"{span(row['run_high_hours'] / row['attempts'])}{every}"
    )


def _against(cost: float, least: float) -> str:
    """A cost against the least: as much within a tie, else how much more."""
    return "as much within 1 %" if cost <= least * SAME_RATIO else more(cost / least)


def _title(name: str, row: Row, least: Row, settled_job: Row) -> str:
    """The title of an answer; a knee that costs much more is the next faster one."""
    if name != "knee":
        return TITLES[name]
    judged = settled_job["judged"]
    little = row["usd"] <= least["usd"] * judged["knee_usd_ratio"] * SAME_RATIO
    return (
        TITLES[name]
        if little and row["seconds"] * judged["knee_pace_ratio"] <= least["seconds"] * SAME_RATIO
        else NEXT_FASTER
    )


def _times(ratio: float) -> str:
    """Money over the least, in front of its name: as much within 1 % as, 12 % more than."""
    if ratio >= 2:
        return more(ratio).removesuffix(" as much")
    return f"{more(ratio)} than" if ratio > SAME_RATIO else f"{_against(ratio, 1)} as"


def titles(row: Row) -> str:
    """The title of a row's card: Least money, and easiest to get."""
    is_little = TITLES["knee"].lower() in row["why"].lower()
    names = TITLES | ({} if is_little else {"knee": NEXT_FASTER})
    first, *rest = (names[answer] for answer in row["answer"].split("+"))
    return ", and ".join([first, *(title[:1].lower() + title[1:] for title in rest)])


def _joined(titles: list[str]) -> str:
    """Least money, easiest to get and fastest."""
    *first, last = (titles[0], *(title[:1].lower() + title[1:] for title in titles[1:]))
    return f"{', '.join(first)} and {last}" if first else last
