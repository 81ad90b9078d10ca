"""Problems in words: what keeps a job from an answer, and what to do about it."""

from calc.catalogs.load import Catalogs
from calc.job.job import Job
from calc.say.limits import say_limit, share_words
from calc.say.numbers import count, more, three_digits
from calc.say.place import card_name, place
from calc.search.facts import Miss, Problem, TooLarge
from calc.units import GIB

# limit -> what the row needs, what the job allows, what to change
MISSED = {
    "hours_most": (
        "takes {has}",
        "{most} allowed",
        "allow more time, more instances or other cards",
    ),
    "step_tokens": (
        "takes a step of {has} tokens",
        "{most} asked for",
        "set another micro-batch, accumulation or step_tokens",
    ),
    "first_token_seconds": (
        "takes {has} to the first token",
        "{most} allowed",
        "allow more time, or shorten the prompts",
    ),
    "batch_seconds": (
        "takes {has} for each batch",
        "{most} allowed",
        "allow more time, or take smaller batches",
    ),
    "token_seconds": (
        "takes {has} for each token",
        "{most} allowed",
        "allow more time, or take fewer bits",
    ),
    "users": (
        "takes {has} in flight",
        "{most} asked for",
        "allow more instances, or set fewer by hand",
    ),
    "requests_per_second": (
        "keeps up with {has} requests a second",
        "{most} asked for",
        "allow more instances, or fewer requests",
    ),
    "usd_most": ("costs {has}", "{most} allowed", "raise the budget, or reduce the work"),
    "usd_per_hour_most": (
        "costs {has} an hour",
        "{most} allowed",
        "allow a higher price, or more time on smaller cards",
    ),
    "gpu_hours_most": (
        "takes {has} GPU-hours",
        "{most} allowed",
        "allow more GPU-hours, or reduce the work",
    ),
    "instances_most": ("needs {has} instances", "{most} allowed", "allow more instances"),
    "obtainable": ("is harder to get than the job allows", "{most}", "allow what is harder to get"),
    "scarce_spot_seconds": (
        "has a Spot price that is {has} old",
        "at most {most}",
        "refresh its prices, or allow another market",
    ),
}
DOUBTS = {
    "tight": "is tight and may run out of memory",
    "tight-cache": "fits only after the allocator's cache is returned",
    "emulated": "runs only by emulation",
    "unknown": "is not known to run",
    "no-speed": "has no known speed",
}
NONE = {  # what no option is, by the first doubt about the nearest
    "tight": "No option is certain to fit",
    "tight-cache": "No option is certain to fit",
    "emulated": "No option runs without emulation",
    "unknown": "No option is known to run",
    "no-speed": "No option has a known speed",
}
BY_HAND = {
    "fsdp": "FSDP",
    "fewer-sequences": "fewer concurrent sequences",
    "smaller-micro-batch": "a smaller micro-batch",
    "recompute": "recompute",
}
ELSEWHERE = {
    "other-regions": "allow other regions",
    "larger-instances": "allow larger instances",
}
FEWER_BITS = {
    "fewer-bits": "take fewer bits",
    "lora-or-fewer-bits": "take LoRA or fewer bits",
    "published-bits": "allow {bits} bits, in which its weights are published",
}


NO_LAYOUT = "No layout runs this job"


def problem_text(problem: Problem, job: Job | None, catalogs: Catalogs) -> str:
    """Return a problem and its cure as one sentence."""
    problem_words, cure = problem_and_cure(problem, job, catalogs)
    return f"{problem_words}; {cure}" if cure else problem_words


def as_heading(sentence: str) -> str:
    """A sentence without its full stop."""
    return sentence.rstrip(".")


def heading_and_rest(problem: Problem, job: Job | None, catalogs: Catalogs) -> tuple[str, str]:
    """Return a heading, and the text below it: the cure, or the whole sentence of a rule."""
    wrong, cure = problem_and_cure(problem, job, catalogs)
    if problem.code == "no-layout":
        return NO_LAYOUT, wrong
    return as_heading(wrong), cure


def problem_and_cure(problem: Problem, job: Job | None, catalogs: Catalogs) -> tuple[str, str]:
    """Return what is wrong, and what to do about it; the cure may be empty."""
    if problem.code in ("invalid-job", "no-layout"):
        return problem.text, f"{problem.cure}." if problem.cure else ""
    if problem.code == "nothing-runs":
        return f"No allowed instance runs this configuration: {problem.text}".strip(), ""
    if problem.code == "overloaded":
        assert job is not None, "a rate was set by a job"
        rate = count(job.requests_per_second or 0)
        return (
            f"No allowed layout keeps up with {rate} requests a second",
            f"{MISSED['requests_per_second'][2]}.",
        )
    if problem.too_large is not None:
        return _too_large(problem.too_large, problem.owns_machines, catalogs)
    assert problem.row is not None, "a problem of the nearest row has that row"
    where = f"the nearest, {place(problem.row)},"
    if problem.code == "limit-exceeded":
        assert job is not None, "a row was ranked for a job"
        cure = MISSED[problem.worst][2]
        return (
            f"No option meets every limit: {where} {misses_text(problem.misses, job)}",
            f"{cure}.",
        )
    against = " and ".join(DOUBTS[doubt] for doubt in problem.doubts)
    note = problem.row["note"]
    cure = f"test it before you rely on it{f': {note}' if note else '.'}"
    return f"{NONE[problem.doubts[0]]}: {where} {against}", cure


def _too_large(fact: TooLarge, owns_machines: bool, catalogs: Catalogs) -> tuple[str, str]:
    """The smallest layout against the largest card, and what would make it smaller."""
    reserve = "" if fact.smallest_bytes > fact.card_bytes else ", some of which must stay free"
    none, largest = (
        ("None of your GPUs", "your largest GPU")
        if owns_machines
        else ("No allowed GPU", "the largest allowed GPU")
    )
    problem = (
        f"{none} is large enough: the smallest layout needs "
        f"{fact.smallest_bytes / GIB:,.1f} GiB per GPU, and {largest}, "
        f"{card_name(fact.card, catalogs)}, has {fact.card_bytes / GIB:,.1f}{reserve}"
    )
    return problem, f"{_cure_words(fact.cures, fact.published_bits)}."


def _cure_words(cures: tuple[str, ...], published_bits: int) -> str:
    """Return what makes a layout smaller: settings by hand, then places, then fewer bits."""
    by_hand = [BY_HAND[code] for code in cures if code in BY_HAND]
    places = [f"set {' or '.join(by_hand)}"] if by_hand else []
    places += [ELSEWHERE[code] for code in cures if code in ELSEWHERE]
    bits = [FEWER_BITS[code].format(bits=published_bits) for code in cures if code in FEWER_BITS]
    return ", or ".join(filter(None, (", ".join(places), *bits)))


def misses_text(misses: tuple[Miss, ...], job: Job) -> str:
    """Return the limits that a row exceeds, and by how much."""
    return "; ".join(_miss_text(miss, job) for miss in misses)


def _confidence(job: Job) -> str:
    """The confidence with which a limit holds; empty at the central estimate."""
    return "" if job.confidence == "50" else f" at {job.confidence} % confidence"


def _miss_text(miss: Miss, job: Job) -> str:
    """Say which limit a row exceeds, and by how much."""
    name = miss.limit
    say = say_limit(miss.limit)
    encodes = name == "first_token_seconds" and not job.generates
    has, most, _ = MISSED["batch_seconds" if encodes else name]
    if name == "obtainable":
        return f"{has} ({most.format(most=miss.allowed)})"
    if name == "step_tokens":
        beyond = f"beyond a factor of {job.step_factor:.3g}"
        allowed_text = most.format(most=f"{miss.allowed:,.0f}")
        return f"{has.format(has=f'{miss.value:,.0f}')}, {beyond} ({allowed_text})"
    if name in ("users", "requests_per_second"):
        slow = _confidence(job) if name == "requests_per_second" else ""
        allowed_text = most.format(most=count(miss.allowed))
        say_load = count if name == "users" else three_digits
        return f"{has.format(has=say_load(miss.value))}{slow} ({allowed_text})"
    allowed_text = most.format(most=say(miss.allowed))
    if miss.value == float("inf"):
        return (
            f"cannot keep up with random arrivals; the queue grows without bound ({allowed_text})"
        )
    if name == "scarce_spot_seconds":
        return f"{has.format(has=say(miss.value))} ({allowed_text})"
    is_time = name == "hours_most" or "seconds" in name
    slow = _confidence(job) if is_time else ""
    share = share_words(name, job.cells)
    return f"{has.format(has=say(miss.value))}{share}{slow}, {more(miss.ratio)} ({allowed_text})"
