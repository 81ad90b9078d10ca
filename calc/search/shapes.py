"""Shapes of layouts: counts of GPUs, degrees, micro-batches and their accumulations."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.job.job import Job
from calc.job.resolve import fixed_at
from calc.rules.support_rules import LONG_TOKENS
from calc.search.free_choices import COUNTS
from calc.search.places import Place

DEGREES = (1, 2, 4, 8)  # of tensor parallel, and GPUs used of one instance
# Degrees of tensor, pipeline and context parallel that are tried too in software whose recipes
# divide matrices: stages, or a shorter sequence in two (recipes of Megatron-Bridge for Llama 3 70B
# and 405B divide 8,192 tokens). A large model tries deeper ones too, which made trainings from
# scratch up to 16 % cheaper. Of 14 jobs from 30 to 671 billion parameters, the degrees left out
# made none cheaper by more than 2 %.
MIXED_DEGREES = ((2, 2, 1), (2, 1, 2))
DEEP_DEGREES = ((2, 8, 1), (4, 4, 1), (4, 1, 2))
LARGE_PARAMETERS = 20e9  # of 1, 8 and 14 billion, deeper ones made no job cheaper
DIVIDING = COUNTS[1:4]  # the columns of these degrees
# Sequences of a micro-batch up to which each count is tried in fine-tuning: between powers of two,
# one that just fits made 3 of 95 jobs 2 to 5 % cheaper, none of them from scratch. A pipeline,
# which splits a step into many, tries fewer. Then the most of any.
EVERY_BATCH, LONGEST_BATCH = 6, 4096
# Of a micro-batch on one GPU, beyond which a card computes no faster: in a pipeline, which splits a
# step into many, with a divided sequence, and where answers are generated, whose steps take a
# thousand sequences. Of eight large models none was cheaper with more.
LONGEST_OF_MANY_TOKENS = 32_768
# Concurrent sequences on a replica: beyond 24 in steps of 14 to 25 %, between which a token costs
# 1 to 2 % more or less.
OFFLINE_BATCHES = (
    1,
    2,
    4,
    8,
    12,
    16,
    24,
    *(2**power * part // 4 for power in range(5, 10) for part in range(4, 8)),
    1024,
)
# Instances of a training, of offline work and of generated answers, up to which each is tried.
EVERY_COUNT, OFFLINE_COUNT, FEW_COUNT = 64, 16, 4
# Where every count makes too many combinations, as large models on hundreds of machines do.
FEWER_COUNTS = (EVERY_COUNT, 32, 16, 8, FEW_COUNT)


class Shapes(NamedTuple):
    """Shapes of layouts (rows of COUNTS), and the accumulations of each.

    These are `steps_count` entries of `steps`, from `first_step` on.
    """

    counts: np.ndarray
    first_step: np.ndarray
    steps_count: np.ndarray
    steps: np.ndarray


class MicroBatch(NamedTuple):
    """A micro-batch, and its accumulations that need the same memory.

    In the layout, `accumulation_steps` represents all of them.
    """

    batch: int
    accumulation_steps: int
    first_step: int
    steps_count: int


def gpu_counts_on(job: Job, place: Place, every_up_to: int) -> list[int]:
    """GPUs of a training job: a power of two inside one instance, or whole instances.

    `every_up_to`: the instances up to which each count is tried.
    """
    by_hand = job.fixed.get("gpus")
    if by_hand:
        return [int(count) for count in by_hand if np.ceil(count / place.gpus) <= place.most]
    inside = {count for count in DEGREES if count <= place.gpus}
    counts = _instances(place.most, every_up_to)
    return sorted(inside | {place.gpus * instances for instances in counts})


@lru_cache(maxsize=256)
def _instances(most: int, every_up_to: int = EVERY_COUNT) -> tuple[int, ...]:
    """Counts of instances: every one up to a bound, then a quarter as many for each doubling."""
    kept_bits = every_up_to.bit_length() - 2
    counts = {
        count
        for count in range(1, most + 1)
        if count <= every_up_to or count % 2 ** (count.bit_length() - kept_bits) == 0
    }
    return tuple(sorted(counts | {most}))


def training_shapes(job: Job, gpu_counts: Sequence[int], tokens: float) -> Shapes:
    """Return the shapes of every count of GPUs, in order of the counts."""
    degrees = _plain_degrees(job)
    rows: list[tuple[int, ...]] = []
    micro_batches: list[MicroBatch] = []
    steps: list[int] = []
    by_replicas: dict[tuple[int, bool, int], list[MicroBatch]] = {}
    for gpus in gpu_counts:
        for tensor, pipeline, context in degrees:
            replicas, rest = divmod(gpus, int(tensor * pipeline * context))
            if rest or not replicas:
                continue
            key = (replicas, pipeline > 1, int(context))
            if key not in by_replicas:
                by_replicas[key] = _micro_batches(job, *key, tokens, steps)
            for one in by_replicas[key]:
                rows.append((gpus, tensor, pipeline, context, one.batch, one.accumulation_steps))
                micro_batches.append(one)
    return Shapes(
        counts=np.array(rows, dtype=int).reshape(-1, len(COUNTS)),
        first_step=np.array([one.first_step for one in micro_batches], int),
        steps_count=np.array([one.steps_count for one in micro_batches], int),
        steps=np.array(steps, int),
    )


def _plain_degrees(job: Job) -> list[tuple[int, int, int]]:
    """Return degrees without stages and without a divided short sequence, unless those are set."""
    is_long = job.divides_sequences and job.sequence_tokens >= LONG_TOKENS
    free = (DEGREES if job.divides_matrices else (1,), (1,), DEGREES if is_long else (1,))
    fixed = (fixed_at(job, name, values) for name, values in zip(DIVIDING, free, strict=True))
    return [*product(*fixed)]


def mixed_degrees(job: Job, catalogs: Catalogs) -> list[tuple[int, int, int]]:
    """Return the mixed degrees that a training tries too, if its software divides matrices."""
    if not (job.trains and job.divides_matrices) or job.sets_prompts:
        return []
    plain = _plain_degrees(job)
    is_large = catalogs.models["parameters"][job.model] >= LARGE_PARAMETERS
    return [
        degrees
        for degrees in (*MIXED_DEGREES, *(DEEP_DEGREES if is_large else ()))
        if (job.divides_sequences or degrees[2] == 1)
        and degrees not in plain
        and all(
            degree in fixed_at(job, name, (degree,))
            for name, degree in zip(DIVIDING, degrees, strict=True)
        )
    ]


def _micro_batches(
    job: Job, replicas: int, has_stages: bool, context: int, tokens: float, steps: list[int]
) -> list[MicroBatch]:
    """Return the micro-batches on so many replicas, and append their accumulations to `steps`.

    Several accumulations need the same memory, except in a pipeline, and where the policy itself
    generates the answers of all of them at once.
    """
    differ = has_stages or "none" in job.fixed.get("rollout", ())
    micro_batches = []
    for batch, accumulations in _steps(job, replicas, has_stages, context, tokens):
        groups = [[step] for step in accumulations] if differ else _alike(accumulations)
        for group in groups:
            stands_for_all = group[0] if differ else min(group[0], 2)
            micro_batches.append(MicroBatch(batch, stands_for_all, len(steps), len(group)))
            steps += group
    return micro_batches


def _alike(steps: list[int]) -> list[list[int]]:
    """Accumulations in groups of the same memory: none, and several."""
    groups = [step for step in steps if step == 1], [step for step in steps if step > 1]
    return [group for group in groups if group]


def _steps(
    job: Job, replicas: int, has_stages: bool, context: int, tokens: float
) -> list[tuple[int, list[int]]]:
    """Micro-batches with the accumulations that keep the step's factor, or come nearest to it.

    Micro-batches are small counts, powers of two and divisors of the sequences of one replica; each
    has the accumulation nearest to the job's step and both ends.
    """
    sequences = job.step_tokens / (tokens * replicas)
    low, high = sequences / job.step_factor, sequences * job.step_factor
    is_of_many = has_stages or context > 1 or job.sets_prompts
    longest = min(high, max(LONGEST_OF_MANY_TOKENS * context / tokens, 1)) if is_of_many else high
    every_up_to = EVERY_BATCH if job.goal == "tune" and not has_stages else 1
    free = _batches(round(sequences), int(longest), every_up_to)
    batches = [int(batch) for batch in fixed_at(job, "batch", free)]
    by_hand = [int(steps) for steps in job.fixed.get("accumulation_steps", ())]
    within = []
    for batch in batches:
        least, most = max(int(np.ceil(low / batch - 1e-9)), 1), int(high / batch + 1e-9)
        nearest = min(max(round(sequences / batch), least), most)
        # The prompts of a step are fixed, whatever the degrees.
        ends = set() if job.sets_prompts else {least, most}
        inside = ends | {nearest} if least <= most else set()
        inside = {steps for steps in by_hand if least <= steps <= most} if by_hand else inside
        if inside:
            within.append((batch, sorted(inside)))
    if within:
        return within
    # Set by hand, or one micro-batch on every GPU is too much: the nearest, which misses the step.
    pairs = [
        (batch, steps)
        for batch in batches
        for steps in by_hand or [max(round(sequences / batch), 1)]
    ]
    distances = [abs(np.log(batch * steps / sequences)) for batch, steps in pairs]
    return [
        (batch, [steps])
        for (batch, steps), distance in zip(pairs, distances, strict=True)
        if distance <= min(distances) + 1e-9
    ]


@lru_cache(maxsize=256)
def _batches(sequences: int, high: int, every_up_to: int) -> tuple[int, ...]:
    """Every count up to a bound, powers of two and divisors of a count of sequences."""
    most = max(min(high, LONGEST_BATCH), 1)
    powers = {2**power for power in range(most.bit_length())} | {*range(1, every_up_to + 1)}
    divisors = {
        divisor for divisor in range(1, min(sequences, most) + 1) if sequences % divisor == 0
    }
    return tuple(sorted(batch for batch in powers | divisors if batch <= most))


def serving_shapes(job: Job, places: list[Place]) -> Shapes:
    """Shapes of replicas that some place takes; a replica is one copy of the model.

    Of counts of replicas with the same sequences on each, the fewest; for a rate of requests every
    count inside one instance and whole instances beyond; for offline work whole instances.
    """
    tensors = fixed_at(job, "tensor_parallel", DEGREES)
    pipelines = fixed_at(job, "pipeline_parallel", (1,))
    laid_out: set[tuple[int, int, int, int]] = set()
    for place in {place._replace(instance="") for place in places}:
        for tensor, pipeline in product(tensors, pipelines):
            replica_gpus = int(tensor * pipeline)
            together = int(joined_gpus(job, replica_gpus))
            for count in replica_counts(job, place, together):
                copies = count * together // replica_gpus
                laid_out.add((count * together, int(tensor), int(pipeline), copies))
    rows = []
    for *degrees, count in sorted(laid_out):
        batches = {int(batch) for batch in fixed_at(job, "batch", _usual_batches(job, count))}
        rows += [(*degrees, 1, batch, 1) for batch in sorted(batches)]
    counts = np.array(rows, dtype=int).reshape(-1, len(COUNTS))
    return Shapes(
        counts,
        np.zeros(len(counts), dtype=int),
        np.ones(len(counts), dtype=int),
        np.ones(1, dtype=int),
    )


def joined_gpus(job: Job, replica_gpus: Any) -> Any:
    """GPUs that a service rents together: a replica, or several that share their experts. [GPUs]

    Copies of attention share experts that are divided over more GPUs than one copy has.
    """
    if job.trains:
        return replica_gpus
    return np.maximum(replica_gpus, int(min(job.fixed.get("expert_parallel", [1]))))


def _usual_batches(job: Job, replicas: int) -> Sequence[float]:
    """The sequences to try on each replica if the job does not fix them."""
    if job.ends:
        return OFFLINE_BATCHES
    if job.requests_per_second:
        return [1]  # the rate decides the batch later
    return [np.ceil((job.users or 1) / replicas)]


def replica_counts(job: Job, place: Place, replica: int) -> list[int]:
    """Return the numbers of replicas to try on one place; `replica` is the GPUs of each."""
    inside, most = max(place.gpus // replica, 1), place.gpus * place.most // replica
    by_hand = job.fixed.get("gpus")
    if by_hand:
        return [
            int(count) // replica
            for count in by_hand
            if count % replica == 0 and replica <= count <= most * replica
        ]
    if job.ends:
        return [
            count
            for instances in _instances(place.most, OFFLINE_COUNT)
            if (count := place.gpus * instances // replica)
        ]
    if job.requests_per_second:
        return [*range(1, min(inside, most) + 1), *range(2 * inside, most + 1, inside)]
    batches = fixed_at(job, "batch", _shares(int(job.users or 1), most))
    return sorted(
        count
        for count in {int(np.ceil((job.users or 1) / batch)) for batch in batches}
        if count <= most
    )


@lru_cache(maxsize=256)
def _shares(users: int, most: int) -> tuple[int, ...]:
    """Sequences on each replica, for every count of replicas up to the most."""
    return tuple(
        dict.fromkeys(-(-users // count) for count in range(1, max(min(users, most), 1) + 1))
    )
