"""Ways out of a job without an answer: one change each, and what the job then costs."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.columns import ANYWHERE, MOST_INSTANCES, PUBLISHED
from calc.job.job import Job
from calc.job.resolve import tunings
from calc.mappings import Cells, Changes
from calc.search.facts import Problem
from calc.search.first_rows import first_rows

FREED = 1e15  # value of a limit that never applies
SMALLER_METHOD = {"full": "lora", "lora": "qlora"}
SOLVABLE = ("limit-exceeded", "not-certain", "too-large", "overloaded", "nothing-runs")
BY_HAND = ("sharding", "recompute", "batch", "tensor_parallel", "gpus")  # layout set by hand
# Limit -> the column with what an answer without it needs. For a time, that is its slow end.
LIMITED = {
    "hours_most": "run_high_hours",
    "usd_most": "usd",
    "usd_per_hour_most": "usd_per_hour",
    "gpu_hours_most": "billed_gpu_hours",
    "instances_most": "instances",
    "first_token_seconds": "time_to_first_token_high_seconds",
    "token_seconds": "time_per_output_token_high_seconds",
}


class WayOut(NamedTuple):
    """A change that gives a job an answer: its kind, the value that it takes, the first answer.

    Of relaxed limits `value` is what the answer needs, by limit; else the new setting.
    """

    kind: str
    value: Any
    row: Row


class PossibleChange(NamedTuple):
    """A change that the rules suggest: its kind, its value, and the cells that it sets."""

    kind: str
    value: Any
    changes: Changes


def ways_out(cells: Cells, job: Job, problem: Problem, catalogs: Catalogs) -> tuple[WayOut, ...]:
    """Return the changes after which a refused job has an answer, the lowest cost first."""
    if job.have or problem.code not in SOLVABLE:
        return ()
    ways: list[WayOut] = []
    changes = list(_possible_changes(job, problem, catalogs))
    rows = first_rows([{**cells, **one.changes} for one in changes], catalogs)
    for one, row in zip(changes, rows, strict=True):
        if row is None or not row["usd"] > 0:
            continue
        if one.kind == "fewest_bits" and any(_has_formats_of(row, way) for way in ways):
            continue
        relaxes = one.kind == "limits"
        value = {name: row[LIMITED[name]] for name in one.changes} if relaxes else one.value
        ways.append(WayOut(one.kind, value, row))
    return tuple(sorted(ways, key=lambda way: way.row["usd"]))


def _has_formats_of(row: Row, way: WayOut) -> bool:
    """Return whether an answer that may take fewer bits takes the same as one before."""
    return way.kind == "fewest_bits" and all(
        row[name] == way.row[name] for name in ("precision", "kv_precision")
    )


def _possible_changes(job: Job, problem: Problem, catalogs: Catalogs) -> Iterator[PossibleChange]:
    """Yield every change that may give the job an answer."""
    limits = [miss.limit for miss in problem.misses if miss.limit in LIMITED]
    is_overloaded = problem.code == "overloaded" or any(
        miss.limit == "requests_per_second" for miss in problem.misses
    )
    if limits and len(limits) == len(problem.misses):
        free_limits = {
            name: MOST_INSTANCES if name == "instances_most" else FREED for name in limits
        }
        yield PossibleChange("limits", "", free_limits)
    elif is_overloaded or (problem.code == "too-large" and (job.instances_most or 0) > 0):
        yield PossibleChange("limits", "", {"instances_most": MOST_INSTANCES})
    if "spot" not in job.markets and "on-demand" in job.markets:
        yield PossibleChange("markets", "spot", {"markets": "+".join((*job.markets, "spot"))})
    if "usd_most" in limits and not job.ends:
        yield PossibleChange(
            "markets", "commit-1y", {"markets": "+".join((*job.markets, "commit-1y"))}
        )
    if any(name in job.fixed for name in ("instance", "gpu")):
        yield PossibleChange("places", "", {"instance": None, "gpu": None})
    if len(job.regions) < len(catalogs.regions):
        yield PossibleChange("regions", "", {"regions": ANYWHERE})
    by_hand = [name for name in BY_HAND if name in job.fixed]
    if by_hand:
        yield PossibleChange("layout", "", dict.fromkeys(by_hand))
    yield from (_smaller_training(job) if job.trains else _smaller_service(job))


def _smaller_training(job: Job) -> Iterator[PossibleChange]:
    """Yield changes that make a training run need less memory or time."""
    smaller = SMALLER_METHOD.get(job.method) if len(tunings(job)) == 1 else None
    if smaller and job.goal != "train":
        change = {"method": smaller, "tuning": None, "precision": None}
        yield PossibleChange("method", smaller, change)
        if smaller == "lora":
            yield PossibleChange("method", "qlora", change | {"method": "qlora"})
    if "loss" not in job.fixed and not job.rolls_out:
        yield PossibleChange("loss", "fused", {"loss": "fused"})
    if "offload" not in job.fixed:
        offload = "optimizer" if job.method == "full" else "activations"
        yield PossibleChange("offload", offload, {"offload": offload})
    if job.method == "full" and "optimizer" not in job.fixed:
        yield PossibleChange("optimizer", "adamw-8bit", {"optimizer": "adamw-8bit"})
    if job.sequence_tokens > 1 and not job.rolls_out:
        half = job.sequence_tokens // 2
        yield PossibleChange("sequence_tokens", half, {"sequence_tokens": half})


def _smaller_service(job: Job) -> Iterator[PossibleChange]:
    """Yield changes that make a service need less memory or time."""
    if "precision" not in job.fixed:
        for bits in (8, 4):
            narrower = job.fewest_bits == PUBLISHED or bits < job.least_bits
            if narrower and job.narrow_formats[bits]:
                yield PossibleChange("fewest_bits", bits, {"fewest_bits": bits})
    prompt = job.prompt_tokens or 0
    if job.generates and prompt > 1 and "context_tokens" not in job.fixed:
        lengths = {"prompt_tokens": prompt // 2, "answer_tokens": job.answer_tokens}
        free_lengths = {"context_tokens": None, "sequence_tokens": None}
        yield PossibleChange("prompt_tokens", prompt // 2, lengths | free_lengths)
    users = job.users or 0
    if not job.ends and users > 1 and not job.requests_per_second:
        fewer = users // 2
        yield PossibleChange("users", fewer, {"users": fewer, "people": None})
