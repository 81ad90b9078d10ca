"""The neighbors of a scenario: its job with one thing freed and all else fixed.

Layouts and instances are the engine's answers to that job; a single choice needs no search and is a
row to estimate.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.cost.markets import BY_USE, sold_for
from calc.cost.offers import is_stale_scarce_spot
from calc.evaluate import Row
from calc.job.cells import blank
from calc.job.columns import ANYWHERE, FIXABLE, LIMITS, PACE, SHARDINGS, usual_limits_seconds
from calc.job.software import advised_software, divides_matrices
from calc.layout import at_once, replicas
from calc.mappings import Cells, Changes
from calc.plan.bill import listed_usd_per_hour
from calc.scenarios.hardware import price_rows
from calc.scenarios.inputs import ASSUMED, BY_NAME, HUGE
from calc.scenarios.join_objectives import SUPERVISED
from calc.scenarios.lookups import cells_by_id
from calc.scenarios.precision_traits import WITHOUT_BF16
from calc.scenarios.published_weights import bits_of, narrow_formats
from calc.search.first_rows import sound_layouts
from calc.search.free_choices import RECOMPUTES, SERVED_IN_8, TRAINED_IN
from calc.search.shapes import DEGREES, DIVIDING
from calc.studies.comparisons import micro_batches

ADAPTED_IN = ("bf16", "int8", "nf4-dq")
SMALL_OPTIMIZERS = ("adamw-8bit", "adafactor")
SERVED_IN = (*SERVED_IN_8, "awq-4bit")
MORE_SEQUENCES = (2, 4, 8)
LAYOUT = (
    "sharding",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "batch",
    "accumulation_steps",
    "recompute",
)
# Of the cheapest instance types, on which they are tried too, beside those too small without.
NEAR_TYPES = 8
SOFTWARE = ("implementation", "loss", "compile", "expert_parallel")
_PLACE = ("instance", "gpus")
STAGES = ("pipeline_parallel", "context_parallel")
_COMPARED: dict[str, Row] = {
    "training": {"sharding": list(SHARDINGS)},
    "inference": {"tensor_parallel": list(DEGREES)},
}
# Choices of a training that change neither its numbers nor its limits, and are not ranked.
SETUPS: dict[str, list] = {
    "compile": ["no", "yes"],
    "loss": ["full", "fused"],
    "offload": ["none", "optimizer", "states", "activations"],
}


class Neighbors(NamedTuple):
    """The job of a scenario, and the changes that lead to its neighbors."""

    job: Row
    changes: list[Changes]


def job_of_scenario(row: Cells, market: str, limits: Cells) -> Row:
    """The job of an estimated scenario, within the limits of another job.

    A limit that is not set does not apply. A service may always be as slow as it is now; it carries
    the requests per second of the other job, or as many in flight as now.
    """
    serves = row["work"] == "inference"
    amounts = ("sequence_tokens", "train_tokens", "tokens_total", "hours_per_month")
    names = (*FIXABLE, *ASSUMED, "work", "model", *amounts)
    job = {name: row[name] for name in names if not blank(row[name])}
    job |= {"regions": row["region"], "markets": market, "hours_most": HUGE, "confidence": "50"}
    if serves:
        default_seconds = usual_limits_seconds(row["prompt_tokens"])
        job |= {name: np.fmax(default_seconds[name], row[column]) for name, column in PACE.items()}
    job |= {name: limits[name] for name in (*LIMITS, "confidence") if not blank(limits.get(name))}
    job.pop("gpu" if row["instance"] else "instance", None)
    if serves:
        rate = limits.get("requests_per_second")
        load = {"users": at_once(row)} if blank(rate) else {"requests_per_second": rate}
        return job | load | {"prompt_tokens": row["prompt_tokens"]}
    step = limits.get("step_tokens")  # of the job, whose factor both ends keep
    return job | {"step_tokens": row["step_tokens"] if blank(step) else step}


def neighbors(row: Row, catalogs: Catalogs, market: str, limits: Cells) -> Neighbors:
    """Every change that is tried on a scenario (an estimated row), each once."""
    job = job_of_scenario(row, market, limits)
    choices = (
        _training_changes(row, catalogs, adapts=limits.get("goal") != "train")
        if row["work"] == "training"
        else _serving_changes(row, catalogs)
    )
    place = _job_on_its_place(row, job, catalogs)
    elsewhere = _job_elsewhere(row, job, catalogs)
    here, others = sound_layouts([place, elsewhere], catalogs)
    changes = [*_laid_out(row, catalogs), *_on_its_place(row, here)]
    if row["work"] == "training" and row["fits"] == "yes":
        costlier = {best["instance"] for best in others[NEAR_TYPES:]}
        near = [name for name in catalogs.instances.index if name not in costlier]
        changes += _setup_changes(row, place, elsewhere | {"instance": near}, catalogs)
    changes += _elsewhere(row, others, catalogs)
    changes += choices
    return Neighbors(
        job, distinct_changes(row, [*changes, *_sold_otherwise(row, catalogs, market)])
    )


def distinct_changes(row: Cells, changes: Iterable[Changes]) -> list[Changes]:
    """Return the changes, each once, without what they keep; none beyond a column's bounds."""
    distinct: dict[tuple, Changes] = {}
    most = {
        name: column.most
        for name, column in BY_NAME.items()
        if column.kind not in ("text", "choice")
    }
    for change in changes:
        differs = {
            name: value for name, value in change.items() if name == "market" or row[name] != value
        }
        if (
            differs
            and differs.keys() != {"gpu"}
            and all(differs[name] <= most[name] for name in differs.keys() & most.keys())
        ):
            distinct.setdefault(tuple(sorted(differs.items())), differs)
    return list(distinct.values())


def pairs(changes: Iterable[Changes]) -> Iterator[Changes]:
    """Return pairs of changes, for when no single change keeps the work and makes it fit."""
    single = [change for change in changes if not change.keys() & {*_PLACE, "region", "market"}]
    return (one | other for one, other in combinations(single, 2) if not one.keys() & other.keys())


def free_layout(row: Cells) -> tuple[str, ...]:
    """Return the columns of the layout that a search may change.

    A training without pipeline stages and without a divided sequence stays without them.
    """
    if row["work"] == "inference":
        return ("tensor_parallel", "pipeline_parallel", "batch")
    return tuple(name for name in LAYOUT if is_divided(row) or name not in STAGES)


def is_divided(row: Cells) -> bool:
    """Return whether a training has pipeline stages or divides its sequence."""
    return any(row[name] > 1 for name in STAGES)


def _laid_out(row: Row, catalogs: Catalogs) -> Iterator[Changes]:
    """One choice of the layout at a time, and the layout that holds least."""
    divides = (
        row["work"] == "inference"
        or row["tensor_parallel"] > 1
        or divides_matrices(row["implementation"], catalogs)
    )
    for degree in DEGREES if divides else (1,):
        split = {"tensor_parallel": float(degree)}
        if row["gpus"] % (degree * row["pipeline_parallel"] * row["context_parallel"]) == 0:
            yield split | micro_batches(row, replicas({**row, **split}))
    if row["work"] == "inference":
        return
    yield from ({"sharding": name} for name in SHARDINGS)
    yield from ({"recompute": name} for name in RECOMPUTES)
    sequences = row["batch"] * row["accumulation_steps"]
    divisors = [
        2.0**power for power in range(int(np.log2(sequences)) + 1) if sequences % 2**power == 0
    ]
    yield from ({"batch": batch, "accumulation_steps": sequences / batch} for batch in divisors)
    yield {"sharding": "zero3", "recompute": "full", "batch": 1.0, "accumulation_steps": sequences}


def _job_on_its_place(row: Row, job: Row, catalogs: Catalogs) -> Row:
    """The job on the scenario's GPUs with free layouts; without a price, where the card is sold."""
    free = {name: value for name, value in job.items() if name not in free_layout(row)}
    if np.isnan(listed_usd_per_hour(row, job["markets"], catalogs)):
        free |= {"regions": ANYWHERE, "markets": "on-demand+spot"}
    return free | _COMPARED[row["work"]]


def _on_its_place(
    row: Row, layouts: Iterable[Row], compared: tuple[str, ...] = ()
) -> Iterator[Changes]:
    """The best layouts on the scenario's GPUs, with what they are compared by."""
    for layout in layouts:
        names = (*compared, *free_layout(row))
        yield {name: layout[name] for name in names if name in layout}


def _setup_changes(row: Row, place: Row, near: Row, catalogs: Catalogs) -> Iterator[Changes]:
    """Changes that are not ranked: choices and other software, with their layouts.

    `place`: the job on the scenario's GPUs; `near`: on instance types that may be cheaper.
    """
    setups = _setups(row)
    software = _software_jobs(row, place, catalogs)
    degrees = _degrees_beside_stages(row)
    jobs = [kind | setup | degrees for kind in (place, near) for setup in setups]
    layouts = sound_layouts([*jobs, *software], catalogs)
    for number, setup in enumerate(setups):
        yield from _on_its_place(row, layouts[number], (*setup,))
        yield from _elsewhere(row, layouts[len(setups) + number], catalogs, (*setup,))
    for other in layouts[len(jobs) :]:
        yield from _on_its_place(row, other, SOFTWARE)


def _setups(row: Row) -> list[Row]:
    """Return the choices of a training apart from its layout, each with its values to try."""
    if row["rollout"]:
        return []
    return [
        {name: list(dict.fromkeys([row[name], *values]))}
        for name, values in SETUPS.items()
        if row[name] in values
    ]


def _degrees_beside_stages(row: Row) -> Row:
    """The degrees of a training with stages or a divided sequence, which its setups keep.

    Every choice with every degree on every machine takes seconds to search.
    """
    return {name: row[name] for name in DIVIDING} if is_divided(row) else {}


def _software_jobs(row: Row, place: Row, catalogs: Catalogs) -> list[Row]:
    """The job on the scenario's GPUs in other software, each with the loss that it takes."""
    if row["objective"] not in ("", SUPERVISED):
        return []
    losses = cells_by_id(catalogs, "implementations", "default_loss")
    free = {name: value for name, value in place.items() if name != "expert_parallel"}
    return [
        free | {"implementation": name, "loss": losses[name], "compile": "no"}
        for name in advised_software(row["implementation"], catalogs)
    ]


def _job_elsewhere(row: Row, job: Row, catalogs: Catalogs) -> Row:
    """The job with free layouts on every instance type; a service also in fewer bits."""
    chosen_anew = {*free_layout(row), *_PLACE, "gpu", "precision"}
    free = {name: value for name, value in job.items() if name not in chosen_anew}
    precision = row["precision"]
    if row["work"] == "inference":
        in_16_bits = ("bf16", "fp16")
        same_width = in_16_bits if precision in in_16_bits else (precision,)
        free["precision"] = [*same_width, *narrower_formats(row, catalogs)]
    elif precision not in TRAINED_IN["full" if row["tuning"] == "full" else "lora"]:
        free["precision"] = precision
    # Left open, each card trains in the one of TRAINED_IN that it has.
    return free


def _elsewhere(
    row: Row, layouts: Iterable[Row], catalogs: Catalogs, compared: tuple[str, ...] = ()
) -> Iterator[Changes]:
    """Yield the change to each card and number of GPUs that the best layouts take.

    `layouts`: the best of every instance type, in order. Instances with the same cards differ in
    CPUs, which nothing here needs: the first and cheapest represents them. `compared`: further
    columns in which layouts count as different.
    """
    card_of_instance = cells_by_id(catalogs, "instances", "gpu")
    cards = set()
    for best in layouts:
        moves = best["instance"] != row["instance"]
        card = (
            card_of_instance[best["instance"]],
            best["gpus"],
            best["precision"],
            moves,
            *[best[name] for name in compared],
        )
        if card in cards:
            continue
        cards.add(card)
        place = {"instance": best["instance"], "gpu": ""} if moves else {}
        names = ("gpus", "precision", *compared, *free_layout(row))
        yield place | {name: best[name] for name in names}


def _training_changes(row: Row, catalogs: Catalogs, adapts: bool) -> Iterator[Changes]:
    """Return single changes of a training run: same work, fewer bits, LoRA, another step.

    `adapts`: adapters may do the work, since the weights that they stay on are trained already.
    """
    if not _of_card(row, catalogs, "supports_bf16"):
        native = WITHOUT_BF16.get(row["precision"], row["precision"])
        yield {"precision": native}
        # Such a card has no flash kernel either: PyTorch's attention takes one that it has.
        yield {"precision": native, "attention": "sdpa"}
    yield {"loss": "fused"}
    yield {"compile": "yes"}
    for offload in ("optimizer", "states", "none"):
        yield {"offload": offload}
    if row.get("objective", SUPERVISED) not in ("", SUPERVISED):
        yield from _objective_changes(row)
    if row["tuning"] == "full":
        if row["precision"].endswith("-mixed") and _of_card(row, catalogs, "supports_fp8"):
            yield {"precision": "fp8-mixed"}
            yield {"precision": "fp8-mixed", "compile": "yes"}  # compiled, casts cost little
        yield {"precision": "bf16"}
        for name in SMALL_OPTIMIZERS:
            yield {"optimizer": name}
    for name in ADAPTED_IN if adapts else ():
        yield {"tuning": "lora", "precision": name}
    for times in (2, 4):
        yield {"batch": row["batch"] * times}
    for name in ("batch", "accumulation_steps"):
        yield {name: np.ceil(row[name] / 2)}


def _objective_changes(row: Row) -> Iterator[Changes]:
    """Single choices of preference and reward training that leave what it learns as it is."""
    yield {"log_prob_batch": 1.0}
    yield {"reference": "precomputed"}
    if row["rollout"] == "colocated":
        yield from ({"rollout_sleep": "yes"}, {"phase_offload": "all"})
        yield {"rollout_share": row["rollout_share"] / 2}


def _serving_changes(row: Row, catalogs: Catalogs) -> Iterator[Changes]:
    """Single choices of a service: other formats, other software, more or fewer sequences."""
    if not _of_card(row, catalogs, "supports_bf16") and row["precision"] in WITHOUT_BF16:
        yield {"precision": WITHOUT_BF16[row["precision"]]}
    for times in MORE_SEQUENCES:
        yield {"batch": row["batch"] * times}
    yield {"implementation": "vllm"}
    for name in narrower_formats(row, catalogs):
        yield {"precision": name}
    for name in narrower_formats(row, catalogs):
        yield {"precision": name, "kv_precision": "fp8"}
    yield {"kv_precision": "fp8"}
    yield {"batch": np.ceil(row["batch"] / 2)}


def narrower_formats(row: Row, catalogs: Catalogs) -> list[str]:
    """The formats to serve in that have fewer bits than the scenario's: published ones, if any."""
    narrower: list[str] = []
    for bits in (8, 4):
        if bits < bits_of(catalogs, row["precision"]):
            usual = [name for name in SERVED_IN if bits_of(catalogs, name) == bits]
            narrower += narrow_formats(catalogs, row["model"], bits) or usual
    return narrower


def _of_card(row: Row, catalogs: Catalogs, column: str) -> bool:
    """Return whether the scenario's card can do something; without a card it can."""
    return not row["gpu"] or bool(catalogs.gpus[column].get(row["gpu"], True))


def _sold_otherwise(row: Row, catalogs: Catalogs, market: str) -> Iterator[Changes]:
    """Other markets and regions with a price for the instance; no commitment."""
    for name in BY_USE:
        if (
            name != market
            and sold_for(name, row["work"], ends_of(row))
            and not np.isnan(listed_usd_per_hour(row, name, catalogs))
            and not is_stale_scarce_spot(row["instance"], row["region"], name, catalogs)
        ):
            yield {"market": name}
    place_rows, regions = price_rows(catalogs)
    yield from (
        {"region": region} for region in sorted(regions) if (row["instance"], region) in place_rows
    )
