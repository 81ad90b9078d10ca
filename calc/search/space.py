"""What a team allows a search to vary: the usual sets, those of a work, and every combination they make."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS, PLAN_MARKETS

BOTH = ("precision", "gpus", "tensor_parallel", "pipeline_parallel", "batch")
TRAINING = ("tuning", "optimizer", "recompute", "loss", "sharding", "context_parallel", "accumulation_steps", "offload")
SERVING = ("kv_precision", "implementation")
PLACES = ("family", "region", "market")  # no family: every one; no region: anywhere
NAMES = (*BOTH, *TRAINING, *SERVING, *PLACES)
USUAL_TRAIN_TOKENS = 1e9
SERVED_FORMATS = ("bf16", "fp8", "int8", "awq-4bit")
SEQUENCES = (1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256)


def names_for(work: str) -> tuple[str, ...]:
    """The choices that a search of this work varies."""
    return (*BOTH, *(TRAINING if work == "training" else SERVING))


def usual(scenario: dict[str, Any]) -> dict[str, list]:
    """The sets that a search starts from, the scenario's own values first; about a million ways.

    A training keeps its number format, since another changes what is learnt; serving tries formats with a known loss.
    """
    trains = scenario["work"] == "training"
    several: dict[str, list] = {"precision": [], "gpus": [1, 2, 4, 8, 16, 32], "tensor_parallel": [1, 2, 4, 8], "pipeline_parallel": [1, 2]}
    if trains:
        several |= {"tuning": [], "optimizer": ["adamw", "adamw-8bit"], "recompute": ["none", "selective-ops", "full"]}
        several |= {"loss": ["fused"], "sharding": ["none", "zero2", "zero3"], "context_parallel": [], "offload": []}
        several |= {"batch": [1, 2, 4, 8], "accumulation_steps": [1, 8]}
    else:
        several |= {"kv_precision": ["", "fp8"], "implementation": ["vllm"], "batch": list(SEQUENCES)}
        several |= {"precision": list(SERVED_FORMATS), "gpus": [1, 2, 4, 8, 16], "pipeline_parallel": [1, 2, 4]}
    chosen = {name: own_first(values, scenario[name]) for name, values in several.items()}
    return chosen | {"family": [], "region": [scenario["region"]], "market": list(PLAN_MARKETS)}


def possible(name: str, work: str, catalogs: Catalogs) -> list[str]:
    """The number formats (name precision) or the software (implementation) of the catalogs that can do this work."""
    table = getattr(catalogs, f"{name}s")
    able = ["serves"] if work == "inference" else ["trains", "adapts"] if name == "precision" else ["trains"]
    return list(table.index[table[able].any(axis=1)])


def settled(allowed: dict[str, list], scenario: dict[str, Any], catalogs: Catalogs) -> dict[str, list]:
    """The sets of this work: those given as far as it can use them, own values first, else the usual ones."""
    base = usual(scenario)
    known = {name: possible(name, scenario["work"], catalogs) for name in ("precision", "implementation")}
    kept = {}
    for name, usual_values in base.items():
        given = [value for value in allowed.get(name, usual_values) if name not in known or value in known[name]]
        own = scenario.get(name)
        kept[name] = given if name in PLACES else own_first(given, own) if own in given else given or [own]
    return kept


def own_first(values: Iterable, own: Any) -> list:
    """The scenario's own value first; counts as whole numbers."""
    own = int(own) if isinstance(own, float) and own == int(own) else own
    return list(dict.fromkeys(chain([own], values)))


def instances_of(allowed: dict[str, list], catalogs: Catalogs) -> list[str]:
    """The instance types allowed that have a price somewhere: those named, else those of the families, else all."""
    named = allowed.get("instance") or catalogs.instances.index
    families = allowed.get("family")
    priced = set(catalogs.prices["instance"])
    kept = catalogs.instances.loc[named]
    kept = kept[kept["family"].isin(families)] if families else kept[kept["current"] | bool(allowed.get("instance"))]
    return [name for name in kept.index if name in priced]


def regions_of(allowed: dict[str, list], catalogs: Catalogs) -> list[str]:
    """The regions allowed; none named means anywhere."""
    return list(allowed.get("region") or catalogs.regions.index)


def markets_of(allowed: dict[str, list], catalogs: Catalogs) -> list[str]:
    """The markets allowed that the catalog has any price for."""
    named = allowed.get("market") or PLAN_MARKETS
    return [name for name in named if catalogs.prices[MARKETS[name].price].notna().any()]


class Space:
    """Every combination of lists of choices beside one workload, made a stretch at a time."""

    def __init__(self, workload: dict[str, Any], allowed: dict[str, list]) -> None:
        chosen = {name: list(values) for name, values in allowed.items() if name not in (*PLACES, "instance")}
        self.lists = {name: values for name, values in chosen.items() if values}
        self.workload = {name: value for name, value in workload.items() if name not in self.lists}
        self.shape = tuple(len(values) for values in self.lists.values()) or (1,)
        self.size = int(np.prod([float(length) for length in self.shape]))

    def rows(self, numbers: np.ndarray) -> pd.DataFrame:
        """The scenarios of these numbers."""
        at = np.unravel_index(numbers, self.shape)
        columns: dict[str, Any] = {name: [value] * len(numbers) for name, value in self.workload.items()}
        for (name, values), places in zip(self.lists.items(), at, strict=False):
            words = np.empty(len(values), dtype=object)
            words[:] = values
            columns[name] = words[places]
        return pd.DataFrame(columns, dtype=object)
