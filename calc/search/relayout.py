"""The same work laid out anew, on the instances that a scenario has and on others, as changes of its columns.

A training keeps the tokens of an optimizer step, a service its sequences at once; the number formats stay.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.placement import slow_to_join
from calc.scenarios.join import constants
from calc.scenarios.join_places import price_rows
from calc.scenarios.lookups import numbers_of, row_numbers, words_of
from calc.search.limits import STEP_FACTOR

DEGREES = (1, 2, 4, 8)
INSTANCES = (1, 2, 4, 8)
REPLICAS = (1, 2, 3, 4, 6, 8, 12, 16)
SHARDINGS = ("none", "zero1", "zero2", "zero3")
RECOMPUTES = ("none", "selective-ops", "full")
BATCHES = (1, 2, 4, 8, 16, 32)
FEW_BATCHES = (1, 4, 16)
LAYOUT = ("sharding", "tensor_parallel", "batch", "accumulation_steps", "recompute")
WITHOUT_BF16 = {"bf16": "fp16", "bf16-mixed": "fp16-mixed", "bf16-master": "fp16-master"}  # as many bits, for older cards


class Place(NamedTuple):
    """A type of instance: its card and GPUs, how many of these tensor parallel may join, how many instances one job may span.

    USD per hour are those of a market in a region.
    """

    instance: str
    gpu: str
    gpus: int
    island: int
    nvlink: bool
    most_instances: int
    whole_cards: bool
    card_bytes: float
    has_bf16: bool
    usd_per_hour: float


@kept("instances", "gpus", "prices", "overheads")
def places_in(catalogs: Catalogs, region: str, market: str) -> list[Place]:
    """The instance types that a region sells on a market, those of today, cheapest first."""
    price_of, _ = price_rows(catalogs)
    prices = numbers_of(catalogs, "prices", MARKETS[market].price)
    cards, gpu_of = row_numbers(catalogs, "gpus"), words_of(catalogs, "instances", "gpu")
    slowest = constants(catalogs, "overheads")["slowest_joining_bytes_per_second"]
    number = {
        name: numbers_of(catalogs, "instances", name)
        for name in ("gpus", "gpu_fraction", "nvlink_domain_gpus", "network_bytes_per_second", "efa_interfaces", "gpu_memory_bytes")
    }
    found = []
    for name, at in row_numbers(catalogs, "instances").items():
        usd = float(prices[price_of.get((name, region), -1)])
        if not catalogs.instances["current"].iloc[at] or np.isnan(usd):
            continue
        here = {column: values[at] for column, values in number.items()}
        apart = slow_to_join(here["network_bytes_per_second"], here["efa_interfaces"], slowest)
        card = cards[gpu_of[at]]
        found.append(
            Place(
                name,
                gpu_of[at],
                int(here["gpus"]),
                int(np.fmax(here["gpus"], here["nvlink_domain_gpus"])),
                here["nvlink_domain_gpus"] > 1,
                1 if apart else max(INSTANCES),
                bool(here["gpu_fraction"] == 1),
                here["gpu_memory_bytes"],
                bool(numbers_of(catalogs, "gpus", "supports_bf16")[card] > 0),
                usd,
            )
        )
    return sorted(found, key=lambda place: place.usd_per_hour)


def cheapest_of_a_kind(places: Iterable[Place]) -> list[Place]:
    """Of instances with the same cards and as good a network the cheapest: the others differ in CPUs, which nothing here needs."""
    kinds: dict[tuple, Place] = {}
    for place in places:
        kinds.setdefault((place.gpu, place.gpus, place.card_bytes, place.most_instances), place)
    return list(kinds.values())


def replicas_of(now: dict[str, Any]) -> float:
    """Model replicas side by side."""
    return max(now["gpus"] / (now["tensor_parallel"] * now["pipeline_parallel"] * now["context_parallel"]), 1)


def at_once(now: dict[str, Any]) -> float:
    """Sequences of one optimizer step, or at once in service, over all replicas."""
    return now["batch"] * replicas_of(now) * (now["accumulation_steps"] if now["work"] == "training" else 1)


def formats_for(now: dict[str, Any], has_bf16: bool) -> dict[str, Any]:
    """The precision of as many bits that a card computes in natively, where the scenario's is not one."""
    other = WITHOUT_BF16.get(now["precision"])
    return {"precision": other} if other and not has_bf16 else {}


def native_formats(now: dict[str, Any], has_bf16: bool) -> list[dict[str, Any]]:
    """That precision, and in training with eager attention beside it: cards without bf16 have no flash kernel either."""
    found = formats_for(now, has_bf16)
    return [each for each in (found, found and now["work"] == "training" and found | {"attention": "eager"}) if each]


def states_bytes(now: dict[str, Any]) -> float:
    """Weights, gradients and optimizer state at the peak over all GPUs, what is divided counted whole: the least of any layout."""
    model_parallel = now["tensor_parallel"] * now["pipeline_parallel"]
    shared = max(now["gpus"] / model_parallel, 1)
    divided = {"weights_bytes": ("zero3",), "gradients_bytes": ("zero2", "zero3"), "optimizer_bytes": ("zero1", "zero2", "zero3")}
    return sum(now[name] * model_parallel * (shared if now["sharding"] in by else 1) for name, by in divided.items())


def steps(sequences: float, replicas: float, batches: Iterable[float]) -> list[tuple[float, float]]:
    """Micro-batch and accumulation that make a step of so many sequences; where none does exactly, those within a factor of 2."""
    own = sequences / replicas
    pairs = [(batch, max(float(round(own / batch)), 1.0)) for batch in dict.fromkeys(batches) if batch <= max(own, 1)]
    exact = [pair for pair in pairs if pair[0] * pair[1] == own]
    return exact or [pair for pair in pairs if own / STEP_FACTOR <= pair[0] * pair[1] <= own * STEP_FACTOR]


def layouts(
    now: dict[str, Any], gpus: float, tensors: Iterable[float], shardings: Iterable[str], batches: Iterable[float]
) -> Iterator[dict[str, Any]]:
    """Layouts of a training on so many GPUs: sharding, tensor parallel, micro-batch against accumulation, recompute."""
    sequences, others = at_once(now), now["pipeline_parallel"] * now["context_parallel"]
    recomputes = dict.fromkeys([now["recompute"], *RECOMPUTES])
    for tensor in tensors:
        replicas = gpus / (tensor * others)
        if replicas < 1 or replicas != int(replicas):
            continue
        divided = shardings if replicas * now["context_parallel"] > 1 else ("none",)
        pairs = steps(sequences, replicas, [now["batch"], *batches])
        for sharding, (batch, accumulated), recompute in product(divided, pairs, recomputes):
            yield {"gpus": gpus} | dict(zip(LAYOUT, (sharding, tensor, batch, accumulated, recompute), strict=True))


def on_the_same(now: dict[str, Any], place: Place | None) -> Iterator[dict[str, Any]]:
    """The scenario's training on its own GPUs in every layout; tensor parallel grows inside one NVLink domain only."""
    joined = min(place.island, now["gpus"]) if place and place.nvlink else 1
    tensors = dict.fromkeys([now["tensor_parallel"], *(degree for degree in DEGREES if degree <= joined)])
    return layouts(now, now["gpus"], tensors, SHARDINGS, BATCHES)


def elsewhere(now: dict[str, Any], places: Iterable[Place], most_instances: float) -> Iterator[dict[str, Any]]:
    """The scenario's training on other instances, or on more or fewer of its own, laid out anew."""
    least, others = states_bytes(now), now["pipeline_parallel"] * now["context_parallel"]
    for place in cheapest_of_a_kind(places):
        for count in INSTANCES:
            gpus = float(place.gpus * count)
            same = place.instance == now["instance"] and gpus == now["gpus"]
            if same or count > min(place.most_instances, most_instances) or gpus * place.card_bytes < least or gpus < others:
                continue
            wide = [degree for degree in (max(DEGREES),) if place.nvlink and degree <= place.island]
            where = {"instance": place.instance, "gpu": ""} if place.instance != now["instance"] else {}
            for layout in layouts(now, gpus, dict.fromkeys([now["tensor_parallel"], 1, *wide]), ("none", "zero3"), FEW_BATCHES):
                if layout["tensor_parallel"] <= place.island:
                    yield where | formats_for(now, place.has_bf16) | layout


def services(now: dict[str, Any], places: Iterable[Place], most_instances: float, below_usd_per_hour: float) -> Iterator[dict[str, Any]]:
    """The scenario's service of as many sequences at once on every instance, over replicas and tensor parallel, below a price."""
    users = at_once(now)
    for place in cheapest_of_a_kind(places):
        where = {"instance": place.instance, "gpu": ""} if place.instance != now["instance"] else {}
        for tensor in (degree for degree in DEGREES if degree <= place.island):
            shares: set[float] = set()
            for replicas in REPLICAS:
                gpus, share = float(replicas * tensor), float(np.ceil(users / replicas))
                instances = np.ceil(gpus / place.gpus)
                joined_fractions = gpus > 1 and not place.whole_cards
                if (
                    share in shares
                    or joined_fractions
                    or instances > most_instances
                    or instances * place.usd_per_hour >= below_usd_per_hour
                ):
                    continue
                shares.add(share)
                layout = {"gpus": gpus, "tensor_parallel": float(tensor), "pipeline_parallel": 1.0, "batch": share}
                yield where | formats_for(now, place.has_bf16) | layout
