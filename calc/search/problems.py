"""Finds out why no candidate of a job qualifies, as codes and numbers."""

import numpy as np

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.job.job import Job
from calc.job.resolve import published_bits
from calc.search import ranking
from calc.search.batch_for_rate import MOST_SEQUENCES
from calc.search.facts import Problem, TooLarge
from calc.search.free_choices import COUNTS
from calc.search.pairs import FITS
from calc.search.places import place_columns
from calc.search.ranking import Ranking
from calc.search.rows import misses_of
from calc.search.search_results import SearchResult

CERTAIN = 0.99  # probability of fitting, from which on a doubt is not mentioned


def problem_of_nearest(ranked: Ranking, number: int, row: Row) -> Problem:
    """Return what keeps the nearest candidate from qualifying."""
    misses = misses_of(ranked, np.array([number]))[0]
    if misses:
        worst = max(ranked.limits, key=lambda limit: limit.excess[number]).name
        return Problem("limit-exceeded", row=row, misses=misses, worst=worst)
    doubts = []
    if ranked.candidates.fits[number] != FITS.index("yes"):
        doubts.append("tight" if row["fit_probability"] < CERTAIN else "tight-cache")
    if ranked.classes[number] > ranking.TIGHT:
        doubts.append(row["runs"] if row["runs"] in ("emulated", "unknown") else "no-speed")
    return Problem("not-certain", row=row, doubts=tuple(doubts))


def problem_of_all(job: Job, result: SearchResult, catalogs: Catalogs) -> Problem:
    """Return why no layout of a job is a candidate: a shared fault, or too much memory."""
    if result.problem:
        return Problem("no-layout", result.problem)
    if np.isnan(result.smallest_bytes):
        row = _row_of_largest_place(job, result, catalogs)
        if row["problem"]:
            return Problem("no-layout", row["problem"])
        return Problem("nothing-runs", row["note"])
    if job.requests_per_second and np.all(result.grid.layouts["batch"] == MOST_SEQUENCES):
        return Problem("overloaded")
    return Problem(
        "too-large",
        too_large=_too_large(job, result, catalogs),
        owns_machines=bool(job.have),
    )


def _row_of_largest_place(job: Job, result: SearchResult, catalogs: Catalogs) -> Row:
    """The job on the place with most GPUs, estimated on as few as its degrees take."""
    fixed = {name: values[0] for name, values in job.fixed.items()}
    degrees = int(np.prod([fixed.get(name, 1) for name in COUNTS[1:4]]))
    of_experts = fixed.get("expert_parallel", 1) * fixed.get("pipeline_parallel", 1)
    degrees *= int(np.ceil(of_experts / degrees))
    largest = max(result.grid.places, key=lambda place: (place.gpus, place.has_bf16))
    scenario: Row = {
        "work": job.work,
        "model": job.model,
        "implementation": job.implementation,
        "sequence_tokens": job.sequence_tokens,
        "gpus": degrees,
    }
    scenario |= fixed | {"instance": largest.instance, "gpu": largest.gpu}
    return estimate(scenario, catalogs, False)


def _too_large(job: Job, result: SearchResult, catalogs: Catalogs) -> TooLarge:
    """The smallest layout against the largest card of the allowed places."""
    places, smallest = result.grid.places, result.smallest_bytes
    sizes = place_columns(places, catalogs)["gpu_memory_bytes"]
    largest = places[int(np.argmax(sizes))]
    bits = published_bits(job.cells, catalogs)
    return TooLarge(
        smallest,
        largest.gpu or catalogs.instances["gpu"][largest.instance],
        float(np.max(sizes)),
        cures(job, bits, smallest, catalogs),
        bits,
    )


def cures(
    job: Job, published_bits: int, smallest_bytes: float, catalogs: Catalogs
) -> tuple[str, ...]:
    """Return what would make a layout smaller: settings by hand, then places, then bits."""
    fixed, serves = job.fixed, not job.trains
    on_aws = catalogs.gpus["memory_bytes"][catalogs.instances["gpu"]].max()
    too_large = smallest_bytes > on_aws  # for any card on AWS
    in_flight = (job.users or 1) if serves and too_large else 1
    largest_batch = max(*fixed.get("batch", [1]), in_flight)
    named = fixed.keys() & {"instance", "gpu"}
    elsewhere = not named and len(job.regions) < len(catalogs.regions)
    place = "other-regions" if elsewhere else "larger-instances"
    fewer_bits = "fewer-bits" if serves or job.method != "full" else "lora-or-fewer-bits"
    holds = {
        "fsdp": "none" in fixed.get("sharding", ()),
        "fewer-sequences": largest_batch > 1 and serves,
        "smaller-micro-batch": largest_batch > 1 and not serves,
        "recompute": "none" in fixed.get("recompute", ()),
        place: not (job.have or too_large),
        "published-bits" if published_bits else fewer_bits: True,
    }
    return tuple(code for code, is_cure in holds.items() if is_cure)
