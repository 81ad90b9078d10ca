"""Every arrangement that a job leaves open: shapes, other choices, and where each is tried.

A layout is a shape (GPUs, degrees, micro-batch) with its sharding, recompute, number formats and
what else is compared. The accumulation of a step changes no memory but by being more than one, so
each layout has a list of them; a pipeline keeps something of every micro-batch, and has a layout
for each.
"""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.engine.pipeline import settled_table
from calc.engine.stages import MEMORY, TIME, makes, walk
from calc.job.cells import JobError
from calc.job.job import Job
from calc.job.resolve import MOST_WAYS, bounded_by, fixed_at
from calc.scenarios.lookups import row_numbers, words_of
from calc.scenarios.problems import Problems
from calc.scenarios.published_weights import cut_degrees
from calc.scenarios.read import known_inputs
from calc.search.free_choices import COUNTS, ROLLOUTS, free_choices
from calc.search.places import Place

DEGREES = (1, 2, 4, 8)  # of tensor parallel, and GPUs used of one instance
LONG_TOKENS = 64_000  # of a sequence, from which a training divides it over GPUs
LONGEST_BATCH = 4096
# Of a micro-batch where answers are generated, whose steps take a thousand sequences: beyond it a
# card computes no faster.
LONGEST_ROLLOUT_TOKENS = 32_768
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
EVERY_COUNT, OFFLINE_COUNT, FEW_COUNT = (
    64,
    16,
    4,
)  # instances of a training, of offline work and of generated answers, up to which each is tried
ONE_SIDED = (
    "decoder",
    "encoder",
    "sound",
)  # kinds of model whose sequence adds its own tokens to a step


class Shapes(NamedTuple):
    """Shapes (rows of COUNTS); the first and the count of each one's accumulations in `steps`."""

    counts: np.ndarray
    first_step: np.ndarray
    steps_count: np.ndarray
    steps: np.ndarray


class Part(NamedTuple):
    """The arrangements on cards with bf16, or without: shapes, other choices, pairs to try.

    `shape` and `place` are the numbers of each pair.
    """

    places: list[Place]
    shapes: Shapes
    choices: dict[str, list]
    shape: np.ndarray
    place: np.ndarray
    shards_one_gpu: bool  # nothing to shard over: only where the sharding is set by hand
    spread: dict[
        str, list[int]
    ]  # of a precision, the tensor parallel degrees at which a service divides whole experts

    @property
    def numbers(self) -> np.ndarray:
        """Combinations of the choices, as numbers in their lists: (combinations, choices).

        An engine with cards of its own takes the largest share alone.
        """
        lists, every = (
            self.choices,
            product(*(range(len(values)) for values in self.choices.values())),
        )
        numbers = np.array(list(every), dtype=int).reshape(-1, len(lists))
        if not ROLLOUTS.keys() <= lists.keys():
            return numbers
        rollout, share = (
            np.array(lists[name])[numbers[:, [*lists].index(name)]] for name in ROLLOUTS
        )
        return numbers[(rollout != "own gpus") | (share == max(lists["rollout_share"]))]

    @property
    def combinations(self) -> int:
        """Combinations of the choices, for every shape."""
        return len(self.numbers)

    @property
    def size(self) -> int:
        """Pairs of layout and place."""
        return len(self.shape) * self.combinations


def arrangements(job: Job, places: list[Place], catalogs: Catalogs) -> list[Part]:
    """Everything that a job tries."""
    trains, tokens = job.work == "training", tokens_each(job, catalogs)
    parts, spread = (
        [],
        {}
        if trains or "expert_parallel" in job.fixed
        else cut_degrees(catalogs, job.model, DEGREES),
    )
    for native in (True, False):
        numbers = [number for number, place in enumerate(places) if place.has_bf16 == native]
        if numbers:
            tried = [
                (number, _gpu_counts(job, places[number]) if trains else []) for number in numbers
            ]
            shapes = (
                _training(job, tried, tokens)
                if trains
                else _serving(job, [places[number] for number in numbers])
            )
            pairs = _pairs(job, places, tried, shapes, trains)
            part = Part(
                places,
                shapes,
                free_choices(job, native, trains),
                *pairs,
                "sharding" in job.fixed,
                spread,
            )
            bounded_by(part.size, MOST_WAYS, job.fixed)
            parts.append(part)
    return parts


def tokens_each(job: Job, catalogs: Catalogs) -> float:
    """Tokens of one sequence in a training step; JobError where it is too long. [tokens]"""
    if job.rolls_out:
        return job.answer_tokens_each
    kind = words_of(catalogs, "models", "kind")[row_numbers(catalogs, "models")[job.model]]
    if job.work != "training" or kind in ONE_SIDED:
        return float(job.sequence_tokens)
    decoder = job.fixed.get("decoder_tokens", [None])[0]
    return _sides(catalogs, job.model, job.sequence_tokens, decoder)


@cached_per_catalogs("models", "stacks")
def _sides(
    catalogs: Catalogs, model: str, sequence_tokens: float, decoder_tokens: float | None
) -> float:
    row = {"model": model, "sequence_tokens": sequence_tokens} | (
        {"decoder_tokens": decoder_tokens} if decoder_tokens else {}
    )
    problems = Problems(1)
    table = settled_table(known_inputs(row) | {"rows": 1}, catalogs, problems)
    if not problems.sound[0]:
        raise JobError(str(problems.text[0]))
    table = walk(
        walk(table, MEMORY[:1]), tuple(stage for stage in TIME if "step_tokens" in makes((stage,)))
    )
    return float(np.ravel(table["step_tokens"])[0])


def _gpu_counts(job: Job, place: Place) -> list[int]:
    """GPUs of a training job: a power of two inside one instance, or whole instances."""
    by_hand = job.fixed.get("gpus")
    if by_hand:
        return [int(count) for count in by_hand if np.ceil(count / place.gpus) <= place.most]
    inside = {count for count in DEGREES if count <= place.gpus}
    every_up_to = FEW_COUNT if job.sets_prompts else EVERY_COUNT
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


def _training(job: Job, tried: list, tokens: float) -> Shapes:
    """Shapes of every count of GPUs that some place takes, in order of the counts."""
    divides = DEGREES if job.sequence_tokens >= LONG_TOKENS and job.divides_sequences else (1,)
    free = (DEGREES if job.divides_matrices else (1,), (1,), divides)
    degrees = [fixed_at(job, name, values) for name, values in zip(COUNTS[1:4], free, strict=True)]
    rows, first, count = [], [], []
    steps: list[int] = []
    by_replicas: dict[tuple[int, bool], list] = {}
    for gpus in sorted({gpus for _, counts in tried for gpus in counts}):
        for tensor, pipeline, context in product(*degrees):
            replicas, rest = divmod(gpus, int(tensor * pipeline * context))
            if rest or not replicas:
                continue
            key = (replicas, pipeline > 1)
            if key not in by_replicas:
                by_replicas[key] = []
                for batch, accumulations in _steps(job, replicas, tokens):
                    for alike in (
                        [[step] for step in accumulations]
                        if pipeline > 1
                        else _alike(accumulations)
                    ):
                        by_replicas[key].append(
                            (
                                batch,
                                alike[0] if pipeline > 1 else min(alike[0], 2),
                                len(steps),
                                len(alike),
                            )
                        )
                        steps += alike
            for batch, accumulated, start, length in by_replicas[key]:
                rows.append((gpus, tensor, pipeline, context, batch, accumulated))
                first.append(start)
                count.append(length)
    return Shapes(
        np.array(rows, dtype=int).reshape(-1, len(COUNTS)),
        np.array(first, int),
        np.array(count, int),
        np.array(steps, int),
    )


def _alike(steps: list[int]) -> list[list[int]]:
    """Accumulations in groups of the same memory: none, and several."""
    groups = [step for step in steps if step == 1], [step for step in steps if step > 1]
    return [group for group in groups if group]


def _steps(job: Job, replicas: int, tokens: float) -> list[tuple[int, list[int]]]:
    """Micro-batches with the accumulations that keep the step's factor, or come nearest to it.

    Micro-batches are powers of two and divisors of the sequences of one replica; each has the
    accumulation nearest to the job's step and both ends.
    """
    sequences = job.step_tokens / (tokens * replicas)
    low, high = sequences / job.step_factor, sequences * job.step_factor
    longest = min(high, max(LONGEST_ROLLOUT_TOKENS / tokens, 1)) if job.sets_prompts else high
    batches = [
        int(batch) for batch in fixed_at(job, "batch", _batches(round(sequences), int(longest)))
    ]
    by_hand = [int(steps) for steps in job.fixed.get("accumulation_steps", ())]
    within = []
    for batch in batches:
        least, most = max(int(np.ceil(low / batch - 1e-9)), 1), int(high / batch + 1e-9)
        nearest = min(max(round(sequences / batch), least), most)
        ends = (
            set() if job.sets_prompts else {least, most}
        )  # a step takes its prompts whatever these
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
def _batches(sequences: int, high: int) -> tuple[int, ...]:
    """Powers of two and divisors of a count of sequences, up to the most."""
    most = max(min(high, LONGEST_BATCH), 1)
    powers = {2**power for power in range(most.bit_length())}
    divisors = {
        divisor for divisor in range(1, min(sequences, most) + 1) if sequences % divisor == 0
    }
    return tuple(sorted(batch for batch in powers | divisors if batch <= most))


def _serving(job: Job, places: list[Place]) -> Shapes:
    """Shapes of replicas that some place takes; a replica is one copy of the model.

    Of counts of replicas with the same sequences on each, the fewest; for a rate of requests every
    count inside one instance and whole instances beyond; for offline work whole instances.
    """
    tensors, pipelines = (
        fixed_at(job, name, free)
        for name, free in (("tensor_parallel", DEGREES), ("pipeline_parallel", (1,)))
    )
    laid_out = {
        (count * int(tensor * pipeline), int(tensor), int(pipeline), count)
        for place in {place._replace(instance="") for place in places}
        for tensor, pipeline in product(tensors, pipelines)
        for count in _replicas(job, place, int(tensor * pipeline))
    }
    rows = []
    for *degrees, count in sorted(laid_out):
        usual = (
            OFFLINE_BATCHES
            if job.ends
            else [1 if job.requests_per_second else np.ceil((job.users or 1) / count)]
        )
        rows += [
            (*degrees, 1, batch, 1)
            for batch in sorted({int(batch) for batch in fixed_at(job, "batch", usual)})
        ]
    counts = np.array(rows, dtype=int).reshape(-1, len(COUNTS))
    return Shapes(
        counts,
        np.zeros(len(counts), dtype=int),
        np.ones(len(counts), dtype=int),
        np.ones(1, dtype=int),
    )


def _replicas(job: Job, place: Place, replica: int) -> list[int]:
    """Counts of replicas of so many GPUs that one place takes."""
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


def _pairs(
    job: Job, places: list[Place], tried: list, shapes: Shapes, trains: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The shapes that each place takes: tensor parallel stays inside one NVLink domain."""
    gpus, tensor, replica = (
        shapes.counts[:, 0],
        shapes.counts[:, 1],
        shapes.counts[:, 1] * shapes.counts[:, 2],
    )
    sizes = [] if trains else np.unique(replica).tolist()
    code = gpus * (max(sizes, default=0) + 1) + replica  # of both numbers
    by_kind: dict[tuple, np.ndarray] = {}
    parts, owners = [np.empty(0, dtype=int)], [np.empty(0, dtype=int)]
    for number, counts in tried:
        place = places[number]
        kind = (place.island, tuple(counts)) if trains else place._replace(instance="")
        if kind not in by_kind:
            copies = [
                count * size * (sizes[-1] + 1) + size
                for size in sizes
                for count in _replicas(job, place, size)
            ]
            inside = np.isin(gpus, counts) if trains else np.isin(code, copies)
            by_kind[kind] = np.flatnonzero((tensor <= place.island) & inside)
        parts.append(by_kind[kind])
        owners.append(np.full(len(by_kind[kind]), number))
    return np.concatenate(parts), np.concatenate(owners)
