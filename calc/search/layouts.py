"""Every layout that a job leaves open: shapes, other choices, and the places to try them on.

A layout is a shape (GPUs, degrees, micro-batch) with its sharding, recompute, number formats and
what else is compared. The accumulation of a step changes no memory but by being more than one, so
each layout has a list of them; a pipeline keeps something of every micro-batch, and has a layout
for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.engine.pipeline import resolved_table
from calc.engine.stages import MEMORY, TIME, makes, walk
from calc.job.cells import JobError
from calc.job.job import Job
from calc.job.resolve import MOST_WAYS, bounded_by
from calc.say.remarks.text import remark_text
from calc.scenarios.join_objectives import SUPERVISED
from calc.scenarios.lookups import cells_by_id, row_numbers, words_of
from calc.scenarios.problems import Problems
from calc.scenarios.published_weights import cut_degrees
from calc.scenarios.read import known_inputs
from calc.search.attention_copies import has_experts
from calc.search.free_choices import ROLLOUTS, free_choices
from calc.search.places import Place
from calc.search.shapes import (
    DEGREES,
    EVERY_COUNT,
    FEW_COUNT,
    FEWER_COUNTS,
    Shapes,
    gpu_counts_on,
    joined_gpus,
    replica_counts,
    serving_shapes,
    training_shapes,
)

# Kinds of model whose sequence adds its own tokens to a step.
ONE_SIDED = ("decoder", "encoder", "sound")


class PlaceCounts(NamedTuple):
    """A place by number, and the counts of GPUs that a training run tries there."""

    place_number: int
    gpu_counts: list[int]


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """The layouts on cards with bf16, or on those without, and the places to try them on.

    `choices`: the values of each choice beside the shape. `shape_of_pair` and `place_of_pair`: the
    numbers of each pair of shape and place. `shards_one_gpu`: sharding is tried without a second
    GPU, as only a job that sets it wants. `whole_expert_degrees`: of each precision, the degrees of
    tensor parallel at which a service divides whole experts. `chooses_expert_parallel`: the layouts
    of a service divide experts as they need.
    """

    places: list[Place]
    shapes: Shapes
    choices: dict[str, list]
    shape_of_pair: np.ndarray
    place_of_pair: np.ndarray
    shards_one_gpu: bool
    whole_expert_degrees: dict[str, list[int]]
    chooses_expert_parallel: bool

    @cached_property
    def combinations(self) -> np.ndarray:
        """Combinations of the choices, as numbers in their lists: (combinations, choices).

        A rollout engine on GPUs of its own takes the largest share alone.
        """
        names = [*self.choices]
        every = product(*(range(len(values)) for values in self.choices.values()))
        numbers = np.array(list(every), dtype=int).reshape(-1, len(names))
        if not ROLLOUTS.keys() <= self.choices.keys():
            return numbers
        rollout, share = (
            np.array(self.choices[name])[numbers[:, names.index(name)]] for name in ROLLOUTS
        )
        is_largest = share == max(self.choices["rollout_share"])
        return numbers[(rollout != "own gpus") | is_largest]

    @property
    def size(self) -> int:
        """The number of pairs of layout and place."""
        return len(self.shape_of_pair) * len(self.combinations)


def layout_parts(job: Job, places: list[Place], catalogs: Catalogs) -> list[Part]:
    """Return everything that a job tries, on cards with bf16 and on those without.

    Counts of instances are as fine as the combinations that may be compared at once allow.
    """
    finest = FEW_COUNT if job.sets_prompts else EVERY_COUNT
    parts: list[Part] = []
    for every_up_to in FEWER_COUNTS[FEWER_COUNTS.index(finest) :]:
        parts = _parts(job, places, every_up_to, catalogs)
        if not job.trains or all(part.size <= MOST_WAYS for part in parts):
            break
    for part in parts:
        bounded_by(part.size, MOST_WAYS, job.fixed)
    return parts


def _parts(job: Job, places: list[Place], every_up_to: int, catalogs: Catalogs) -> list[Part]:
    """Return what a job tries with every count of instances up to a bound, and some beyond."""
    tokens = tokens_each(job, catalogs)
    cut_degrees_of: dict[str, list[int]] = {}
    is_open = not job.trains and "expert_parallel" not in job.fixed
    chooses_expert_parallel = is_open and has_experts(catalogs, job.model)
    if chooses_expert_parallel:
        cut_degrees_of = cut_degrees(catalogs, job.model, DEGREES)
    parts = []
    for has_bf16 in (True, False):
        numbers = [number for number, place in enumerate(places) if place.has_bf16 == has_bf16]
        if not numbers:
            continue
        tried = [
            PlaceCounts(number, _gpu_counts(job, places[number], every_up_to)) for number in numbers
        ]
        if job.trains:
            gpu_counts = sorted({gpus for one in tried for gpus in one.gpu_counts})
            shapes = training_shapes(job, gpu_counts, tokens)
        else:
            shapes = serving_shapes(job, [places[number] for number in numbers])
        shape_of_pair, place_of_pair = _pairs(job, places, tried, shapes)
        part = Part(
            places=places,
            shapes=shapes,
            choices=free_choices(job, has_bf16, job.trains, catalogs),
            shape_of_pair=shape_of_pair,
            place_of_pair=place_of_pair,
            shards_one_gpu="sharding" in job.fixed,
            whole_expert_degrees=cut_degrees_of,
            chooses_expert_parallel=chooses_expert_parallel,
        )
        parts.append(part)
    return parts


def _gpu_counts(job: Job, place: Place, every_up_to: int) -> list[int]:
    """Return the counts of GPUs that a training run tries on a place."""
    return gpu_counts_on(job, place, every_up_to) if job.trains else []


def tokens_each(job: Job, catalogs: Catalogs) -> float:
    """Tokens of one example in a training step; JobError if it is too long. [tokens]

    An example of preferences is a pair of sequences. Of several objectives the shortest counts.
    """
    if job.rolls_out:
        return job.answer_tokens_each
    kind = words_of(catalogs, "models", "kind")[row_numbers(catalogs, "models")[job.model]]
    if job.work != "training":
        return float(job.sequence_tokens)
    sequences = cells_by_id(catalogs, "objectives", "sequences_each")
    each = min(float(sequences[name]) for name in job.fixed.get("objective", [SUPERVISED]))
    if kind in ONE_SIDED:
        return each * job.sequence_tokens
    decoder = job.fixed.get("decoder_tokens", [None])[0]
    return each * _sides(catalogs, job.model, job.sequence_tokens, decoder)


@cached_per_catalogs("models", "stacks")
def _sides(
    catalogs: Catalogs, model: str, sequence_tokens: float, decoder_tokens: float | None
) -> float:
    """Tokens of a sequence of a model with two sides, as a training step counts them. [tokens]"""
    row = {"model": model, "sequence_tokens": sequence_tokens} | (
        {"decoder_tokens": decoder_tokens} if decoder_tokens else {}
    )
    problems = Problems(1)
    table = resolved_table(known_inputs(row) | {"rows": 1}, catalogs, problems)
    if not problems.sound[0]:
        raise JobError(remark_text(problems.remarks[0]))
    table = walk(table, MEMORY[:1]) | {"prefix_prompt_tokens": np.zeros(1)}  # none in training
    walk(table, tuple(stage for stage in TIME if "step_tokens" in makes((stage,))))
    return float(np.ravel(table["step_tokens"])[0])


def _pairs(
    job: Job, places: list[Place], tried: Sequence[PlaceCounts], shapes: Shapes
) -> tuple[np.ndarray, np.ndarray]:
    """Return the shape and the place of each pair to try, by number.

    Tensor parallel stays inside one NVLink domain.
    """
    gpus, tensor_parallel = shapes.counts[:, 0], shapes.counts[:, 1]
    replica_gpus = joined_gpus(job, tensor_parallel * shapes.counts[:, 2])
    sizes = [] if job.trains else np.unique(replica_gpus).tolist()
    code_step = max(sizes, default=0) + 1
    codes = gpus * code_step + replica_gpus  # of both numbers
    shapes_by_kind: dict[tuple, np.ndarray] = {}
    shape_parts, place_parts = [np.empty(0, dtype=int)], [np.empty(0, dtype=int)]
    for number, gpu_counts in tried:
        place = places[number]
        kind = (place.island, *gpu_counts) if job.trains else place._replace(instance="")
        if kind not in shapes_by_kind:
            if job.trains:
                is_tried = np.isin(gpus, gpu_counts)
            else:
                served_codes = [
                    count * size * code_step + size
                    for size in sizes
                    for count in replica_counts(job, place, size)
                ]
                is_tried = np.isin(codes, served_codes)
            shapes_by_kind[kind] = np.flatnonzero((tensor_parallel <= place.island) & is_tried)
        shape_parts.append(shapes_by_kind[kind])
        place_parts.append(np.full(len(shapes_by_kind[kind]), number))
    return np.concatenate(shape_parts), np.concatenate(place_parts)
