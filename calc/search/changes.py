"""The changes worth trying on a scenario: of one choice, of the layout, of the place, each with what kind of change it is."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost.markets import BY_USE, MARKETS, sold_for
from calc.scenarios.inputs import BY_NAME
from calc.scenarios.join_places import price_rows
from calc.scenarios.lookups import numbers_of
from calc.search import relayout

SERVED_IN = ("fp8", "int8", "awq-4bit")
ADAPTED_IN = ("bf16", "int8", "nf4-dq")
OPTIMIZERS = ("adamw-8bit", "adafactor")
MORE_SEQUENCES = (2, 4, 8)
IN_FP8 = "fp8-mixed"


class Change(NamedTuple):
    """A change by its kind, whether the work stays the same, and the columns that it sets (and the market)."""

    kind: str
    same_work: bool
    set: dict[str, Any]


def singles(now: dict[str, Any], catalogs: Catalogs, market: str, most_instances: float, fitting: bool) -> list[Change]:
    """Every change that is tried on a scenario (a result row of estimate), whatever it does not change left out."""
    trains = now["work"] == "training"
    of_work = _of_training(now, catalogs, market, most_instances) if trains else _of_serving(now, catalogs, market, most_instances, fitting)
    return distinct(now, [*of_work, *_of_place(now, catalogs, market)])


def distinct(now: dict[str, Any], changes: Iterable[Change]) -> list[Change]:
    """Changes cut down to what they change, each once; those past what a column takes left out."""
    kept: dict[tuple, Change] = {}
    most = {name: column.most for name, column in BY_NAME.items() if column.kind not in ("text", "choice")}
    for kind, same_work, columns in changes:
        differs = {name: value for name, value in columns.items() if name == "market" or now[name] != value}
        if differs and not differs.keys() <= {"gpu"} and all(differs[name] <= most[name] for name in differs.keys() & most.keys()):
            kept.setdefault(tuple(sorted(differs.items())), Change(kind, same_work, differs))
    return list(kept.values())


def _of_place(now: dict[str, Any], catalogs: Catalogs, market: str) -> Iterator[Change]:
    """The other markets and regions in which the scenario's instance has a price."""
    price_of, regions = price_rows(catalogs)
    here = price_of.get((now["instance"], now["region"]), -1)
    sold = [name for name in BY_USE if name != market and sold_for(name, now["work"])]
    for name in sold:  # no commitment, which is signed for years: Bill lays them beside each other
        if here >= 0 and not np.isnan(numbers_of(catalogs, "prices", MARKETS[name].price)[here]):
            yield Change("market", True, {"market": name})
    for region in sorted(regions) if now["instance"] else ():
        if (now["instance"], region) in price_of:
            yield Change("region", True, {"region": region})


def _of_training(now, catalogs, market, most_instances):
    places = relayout.places_in(catalogs, now["region"], market)
    here = next((place for place in places if place.instance == now["instance"]), None)
    has_bf16, has_fp8 = (_of_card(now, catalogs, name) for name in ("supports_bf16", "supports_fp8"))
    yield from (Change("layout", True, layout) for layout in relayout.on_the_same(now, here))
    yield from (Change(_kind(now, each), True, each) for each in relayout.elsewhere(now, places, most_instances))
    yield from (Change("precision", True, each) for each in relayout.native_formats(now, has_bf16))
    yield from (Change(next(iter(each)), True, each) for each in same_training(now))
    yield from other_training(now, has_fp8)


def same_training(now: dict[str, Any]) -> list[dict[str, Any]]:
    """Single choices that train the same."""
    fused = [{"loss": "fused"}] if now["loss"] != "fused" else []
    offloads = [{"offload": "optimizer"}] if now["offload"] == "none" else [{"offload": "none"}]
    return [*fused, {"compile": "yes"}, *offloads]


def other_training(now: dict[str, Any], has_fp8: bool) -> Iterator[Change]:
    """Fewer bits, LoRA, a larger or a smaller step: trainings that learn something else, or differently."""
    if now["tuning"] == "full":
        if has_fp8 and now["precision"].endswith("-mixed"):
            yield Change("precision", False, {"precision": IN_FP8})
        if now["precision"] != "bf16":
            yield Change("precision", False, {"precision": "bf16"})
        yield from (Change("optimizer", False, {"optimizer": name}) for name in OPTIMIZERS)
    yield from (Change("tuning", False, {"tuning": "lora", "precision": name}) for name in ADAPTED_IN)
    yield from (Change("step", False, {"batch": now["batch"] * times}) for times in (2, 4))
    for name in ("batch", "accumulation_steps"):
        if now[name] > 1:
            yield Change("step", False, {name: np.ceil(now[name] / 2)})


def _of_serving(now, catalogs, market, most_instances, fitting):
    places = relayout.places_in(catalogs, now["region"], market)
    paid = now.get(f"usd_per_hour_{MARKETS[market].key}", np.nan) / now["paid_ratio"]
    below = paid if fitting and paid > 0 else np.inf  # as many served for more an hour would not be advice
    arranged = list(relayout.services(now, places, most_instances, below))
    yield from (Change(_kind(now, each), True, each) for each in arranged)
    yield from (Change("precision", True, each) for each in relayout.native_formats(now, _of_card(now, catalogs, "supports_bf16")))
    yield from (Change("batch", True, {"batch": now["batch"] * times}) for times in MORE_SEQUENCES)
    yield Change("implementation", True, {"implementation": "vllm"})
    widths = catalogs.precisions["matrix_bytes_each"]
    narrower = [{"precision": name} for name in SERVED_IN if widths[name] < widths[now["precision"]]]
    yield from (Change("precision", False, each) for each in narrower)
    yield Change("kv_precision", False, {"kv_precision": "fp8"})
    yield from (Change(_kind(now, each), False, each | bits) for bits, each in product(narrower, arranged))
    if now["batch"] > 1:
        yield Change("batch", False, {"batch": np.ceil(now["batch"] / 2)})


def _kind(now, change):
    return "instance" if "instance" in change else "gpus" if change["gpus"] != now["gpus"] else "layout"


def _of_card(now, catalogs, column):
    """Whether the scenario's card can do something; without a card it can."""
    return not now["gpu"] or bool(catalogs.gpus[column].get(now["gpu"], True))


def pairs(now: dict[str, Any], changes: list[Change]) -> list[Change]:
    """Two changes at once, for where no single one keeps the work and makes it fit.

    A layout, or another instance, with another choice beside it; of layouts those that hold least.
    """
    places = [
        change for change in changes if change.kind in ("instance", "gpus", "layout") and change.same_work and _is_frugal(now, change)
    ]
    choices = [change for change in changes if change.kind not in ("instance", "gpus", "layout", "region", "market", "step")]
    both = ((choice, place) for choice, place in product(choices, places) if not choice.set.keys() & place.set.keys())
    merged = [Change("pair", choice.same_work, choice.set | place.set) for choice, place in both]
    alone = [(one, two) for at, one in enumerate(choices) for two in choices[at + 1 :] if not one.set.keys() & two.set.keys()]
    return merged + [Change("pair", one.same_work and two.same_work, one.set | two.set) for one, two in alone]


def _is_frugal(now, change):
    """Whether a change of layout leaves nothing more to save: the smallest micro-batch, full recompute, ZeRO 3."""
    after = {**now, **change.set}
    if now["work"] == "inference":
        return True
    divided = after["sharding"] == "zero3" or after["gpus"] == after["tensor_parallel"] * after["pipeline_parallel"]
    return divided and after["recompute"] == "full" and after["batch"] == 1
