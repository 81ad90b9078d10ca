"""Every arrangement that a job leaves open: layouts of GPUs and steps, and on which instance types each is tried."""

from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.answers.inputs import FIXABLE, STEP_FACTOR
from calc.answers.settle import JobError, fixed_at
from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.placement import slow_to_join
from calc.scenarios.join import constants
from calc.scenarios.lookups import numbers_of, row_numbers, words_of

DEGREES = (1, 2, 4, 8)  # of tensor parallel, and GPUs used of one instance
SHARDINGS = ("none", "zero1", "zero2", "zero3")
RECOMPUTES = ("none", "selective", "selective-ops", "full")
LONGEST_BATCH = 4096
COUNTS = ("gpus", "tensor_parallel", "pipeline_parallel", "context_parallel", "batch", "accumulation_steps")
TRAINED_IN = {"full": ("bf16-mixed", "fp16-mixed"), "lora": ("bf16", "fp16"), "qlora": ("nf4-dq", "nf4-dq")}  # with bf16, without
SERVED_IN = {16: (), 8: ("fp8", "int8"), 4: ("fp8", "int8", "awq-4bit", "gptq-4bit")}  # beside 16 bits


class Place(NamedTuple):
    """An instance type: its GPUs, how many of them tensor parallel may join, how many instances one job may span."""

    instance: str
    gpus: int
    island: int
    most: int
    has_bf16: bool


class Grid(NamedTuple):
    """Layouts as columns of scenarios, and for each combination the number of its layout and of its instance type."""

    layouts: pd.DataFrame
    layout: np.ndarray
    place: np.ndarray
    places: list[Place]


def places_of(whole: dict[str, Any], catalogs: Catalogs, factor: int = 1) -> list[Place]:
    """The instance types that the job allows and that have a price where it may run; raises JobError where there are none.

    `factor`: how many times as many instances as the job allows may be spanned.
    """
    priced = catalogs.prices[catalogs.prices["region"].isin(whole["regions"])]
    columns = [MARKETS[market].price for market in whole["markets"]]
    sold = set(priced.loc[priced[columns].notna().any(axis=1), "instance"])
    table = catalogs.instances
    named = whole["fixed"].get("instance")
    kept = list(named) if named else list(table.index[table["current"]])
    cards = whole["fixed"].get("gpu")
    kept = [name for name in kept if name in sold and (not cards or table["gpu"][name] in cards)]
    if not kept:
        what = " or ".join(named or cards or ["a GPU instance"])
        where = ", ".join(whole["regions"]) if len(whole["regions"]) < len(catalogs.regions) else "any region"
        market = " or ".join(MARKETS[name].phrase for name in whole["markets"])
        raise JobError(f"No price is known for {what} {market} in {where}; allow other instances, regions or markets.")
    at = np.array([row_numbers(catalogs, "instances")[name] for name in kept])
    network, interfaces = (numbers_of(catalogs, "instances", name)[at] for name in ("network_bytes_per_second", "efa_interfaces"))
    apart = slow_to_join(network, interfaces, constants(catalogs, "overheads")["slowest_joining_bytes_per_second"])
    cards_at = [row_numbers(catalogs, "gpus")[card] for card in words_of(catalogs, "instances", "gpu")[at]]
    has_bf16 = numbers_of(catalogs, "gpus", "supports_bf16")[cards_at] > 0
    gpus, domain = (numbers_of(catalogs, "instances", name)[at] for name in ("gpus", "nvlink_domain_gpus"))
    most = int(whole["instances_most"]) * factor
    spans = (whole["work"] == "inference") & (numbers_of(catalogs, "instances", "gpu_fraction")[at] >= 1)
    return [
        Place(name, int(own), int(np.fmax(own, wide)), most if joins or several else 1, bool(native))
        for name, own, wide, joins, several, native in zip(kept, gpus, domain, ~apart, spans, has_bf16, strict=True)
    ]


def grid(whole: dict[str, Any], places: list[Place], tokens_each: float) -> Grid:
    """Every combination that is tried. `tokens_each`: tokens of one sequence in a training step."""
    trains = whole["work"] == "training"
    blocks: dict[tuple, tuple[int, np.ndarray]] = {}
    parts, layout, place, rows = [], [], [], 0
    others = {native: _others(whole, native, trains) for native in (True, False)}
    for number, each in enumerate(places):
        for gpus in _gpu_counts(whole, each) if trains else (0,):
            key = (each.has_bf16, gpus) if trains else (each.has_bf16, each.gpus, each.island, each.most)
            if key not in blocks:
                counts = _training(whole, gpus, tokens_each) if trains else _serving(whole, each)
                other = np.arange(len(others[each.has_bf16])) + (0 if each.has_bf16 else len(others[True]))
                block = np.column_stack([np.repeat(counts, len(other), axis=0), np.tile(other, len(counts))])
                blocks[key] = rows, block
                parts.append(block)
                rows += len(block)
            start, block = blocks[key]
            inside = np.flatnonzero(block[:, COUNTS.index("tensor_parallel")] <= each.island)
            layout.append(start + inside)
            place.append(np.full(len(inside), number))
    table = np.concatenate(parts) if parts else np.empty((0, len(COUNTS) + 3), dtype=int)
    frame = _frame(whole, table, [*others[True], *others[False]], trains)
    nothing = np.empty(0, dtype=int)
    return Grid(frame, np.concatenate([nothing, *layout]), np.concatenate([nothing, *place]), places)


def _gpu_counts(whole, place):
    """GPUs of a training job: a power of two inside one instance, or whole instances."""
    asked = whole["fixed"].get("gpus")
    if asked:
        return [int(count) for count in asked if np.ceil(count / place.gpus) <= place.most]
    inside = {count for count in DEGREES if count <= place.gpus}
    return sorted(inside | {place.gpus * instances for instances in range(1, place.most + 1)})


def _training(whole, gpus, tokens_each):
    """Layouts of so many GPUs as whole numbers: COUNTS, then sharding and recompute by number."""
    shardings, recomputes = fixed_at(whole, "sharding", SHARDINGS), fixed_at(whole, "recompute", RECOMPUTES)
    degrees = [fixed_at(whole, name, free) for name, free in zip(COUNTS[1:4], (DEGREES, (1,), (1,)), strict=True)]
    parts = []
    for tensor, pipeline, context in product(*degrees):
        replicas = gpus / (tensor * pipeline * context)
        if replicas < 1 or replicas != int(replicas):
            continue
        alone = replicas * context == 1 and "sharding" not in whole["fixed"]
        steps = np.array(_steps(whole, int(replicas), tokens_each))
        chosen = np.array(list(product(range(len(steps)), range(1 if alone else len(shardings)), range(len(recomputes)))))
        layout = np.tile([gpus, tensor, pipeline, context], (len(chosen), 1))
        parts.append(np.column_stack([layout, steps[chosen[:, 0]], chosen[:, 1:]]).astype(int))
    return np.concatenate(parts) if parts else np.empty((0, len(COUNTS) + 2), dtype=int)


def _steps(whole, replicas, tokens_each):
    """Pairs of micro-batch and accumulation whose step comes within the factor of the asked one, else the nearest.

    Micro-batches: powers of two, and what divides the sequences of one replica. Of each the accumulation nearest to the
    asked step and both ends.
    """
    sequences = whole["step_tokens"] / (tokens_each * replicas)
    low, high = sequences / STEP_FACTOR, sequences * STEP_FACTOR
    batches = [int(batch) for batch in fixed_at(whole, "batch", _batches(round(sequences), high))]
    asked = whole["fixed"].get("accumulation_steps")
    pairs = []
    for batch in batches:
        least, most = max(int(np.ceil(low / batch - 1e-9)), 1), int(high / batch + 1e-9)
        if asked:
            inside = [int(steps) for steps in asked if least <= steps <= most]
        else:
            inside = sorted({least, most, min(max(round(sequences / batch), least), most)}) if least <= most else []
        pairs += [(batch, steps) for steps in inside]
    if not pairs:  # set by hand, or one micro-batch on every GPU is too much: the nearest, which misses the step
        steps = [int(each) for each in asked] if asked else None
        near = [(batch, each) for batch in batches for each in (steps or [max(round(sequences / batch), 1)])]
        least = min(abs(np.log(batch * each / sequences)) for batch, each in near)
        pairs = [pair for pair in near if abs(np.log(pair[0] * pair[1] / sequences)) <= least + 1e-9]
    return pairs


@cache
def _batches(sequences: int, high: float) -> tuple[int, ...]:
    """Powers of two and divisors of a count of sequences, up to the most."""
    most = max(min(int(high), LONGEST_BATCH), 1)
    powers = {2**power for power in range(most.bit_length())}
    divisors = {divisor for divisor in range(1, min(sequences, most) + 1) if sequences % divisor == 0}
    return tuple(sorted(each for each in powers | divisors if each <= most))


def _serving(whole, place):
    """Layouts of replicas on one instance type as whole numbers: COUNTS, then two zeros.

    Of counts of replicas with the same sequences on each the fewest; a wanted rate of requests fills whole instances.
    """
    tensors, pipelines = (fixed_at(whole, name, free) for name, free in (("tensor_parallel", DEGREES), ("pipeline_parallel", (1,))))
    asked, rate = whole["fixed"].get("gpus"), whole["requests_per_second"]
    parts = []
    for tensor, pipeline in product(tensors, pipelines):
        replica = int(tensor * pipeline)
        most = place.gpus * place.most // replica
        own = max(place.gpus // replica, 1)
        if asked:
            replicas = [int(count) // replica for count in asked if count % replica == 0 and count <= place.gpus * place.most]
        elif rate:
            replicas = [*range(1, min(own, most) + 1), *range(2 * own, most + 1, own)]
        else:
            batches = fixed_at(whole, "batch", _shares(int(whole["users"]), most))
            replicas = sorted({int(np.ceil(whole["users"] / batch)) for batch in batches})
        for count in (each for each in replicas if 1 <= each <= max(most, 0)):
            for batch in fixed_at(whole, "batch", [1 if rate else np.ceil(whole["users"] / count)]):
                parts.append((count * replica, tensor, pipeline, 1, batch, 1, 0, 0))
    return np.array(parts, dtype=int).reshape(-1, len(COUNTS) + 2)


@cache
def _shares(users: int, most: int) -> tuple[int, ...]:
    """Sequences on each replica, for every count of replicas up to the most."""
    return tuple(dict.fromkeys(-(-users // count) for count in range(1, max(min(users, most), 1) + 1)))


def _others(whole: dict[str, Any], native: bool, trains: bool) -> list[dict[str, Any]]:
    """The choices that are not layout, on cards with bf16 or without: number formats, optimizer, and what is compared."""
    bits = whole["fewest_bits"]
    if trains:
        usual = TRAINED_IN[whole["method"]][0 if native else 1]
        narrow = ["fp8-mixed"] if bits <= 8 and whole["method"] == "full" and native else []
        free: dict[str, Iterable] = {"precision": [usual, *narrow], "optimizer": ["adamw", "adamw-8bit"] if bits <= 8 else ["adamw"]}
    else:
        free = {"precision": ["bf16" if native else "fp16", *SERVED_IN[bits]], "kv_precision": ["", "fp8"] if bits <= 8 else [""]}
    laid_out = {*COUNTS, "sharding", "recompute", "instance", "gpu", "tuning"}
    lists = {name: fixed_at(whole, name, values) for name, values in free.items()}
    lists |= {name: values for name, values in whole["fixed"].items() if name in FIXABLE and name not in laid_out and name not in free}
    return [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]


def _frame(whole: dict[str, Any], table: np.ndarray, others: list[dict[str, Any]], trains: bool) -> pd.DataFrame:
    """Layouts as rows of scenarios, every column of the job in them, none of a place."""
    names = ("work", "model", "sequence_tokens", "hours_per_month", *(("train_tokens",) if trains else ("prompt_tokens",)))
    columns: dict[str, Any] = {name: whole[name] for name in names} | whole["assumed"]
    columns |= {"implementation": "transformers" if trains else "vllm", "tuning": "full" if whole["method"] == "full" else "lora"}
    columns |= {name: table[:, at].astype(float) for at, name in enumerate(COUNTS)}
    if trains:
        lists = (("sharding", SHARDINGS), ("recompute", RECOMPUTES))
        for at, (name, free) in enumerate(lists, start=len(COUNTS)):
            columns[name] = pd.Categorical.from_codes(table[:, at], categories=fixed_at(whole, name, free))
    for name in others[0] if others else ():
        words = np.array([other[name] for other in others], dtype=object)
        codes, known = pd.factorize(words)
        columns[name] = pd.Categorical.from_codes(codes[table[:, -1]], categories=known)
    return pd.DataFrame(columns, index=np.arange(len(table)))
