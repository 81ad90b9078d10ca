"""One workload under a budget per hour, four ways side by side: trained, with checkpointing, served, served in int8.

The workflow of a published sizing tutorial; here each way is a search of its own, over all layouts on all instances.
"""

from typing import Any

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.search.frontier import rows_of
from calc.search.limits import Limits
from calc.search.search import Found, search

WAYS = {
    "Full training": {"work": "training", "tuning": "full", "recompute": "none"},
    "With gradient checkpointing": {"work": "training", "tuning": "full", "recompute": "full"},
    "Inference": {"work": "inference", "precision": "bf16"},
    "int8 inference": {"work": "inference", "precision": "int8"},
}
WITHIN_RANGE = Limits(surely=1)
LAYOUTS = {"gpus": [1, 2, 4, 8, 16, 32], "tensor_parallel": [1, 2, 4, 8], "pipeline_parallel": [1, 2]}
TRAINED = {"sharding": ["none", "zero3"]}


def ways(scenario: dict[str, Any], places: dict[str, list], catalogs: Catalogs) -> dict[str, Found]:
    """What is found for each way, by its name. `places` are the families, regions and markets allowed.

    Batch, sequence and software stay the scenario's, where the work can use them.
    """
    return {way: _found(scenario | change, places, catalogs) for way, change in WAYS.items()}


def _found(asked, places, catalogs):
    trains = asked["work"] == "training"
    able = "trains" if trains else "serves"
    if not catalogs.precisions[able].get(asked["precision"], False):
        asked["precision"] = "bf16-mixed" if trains else "bf16"
    if not catalogs.implementations[able][asked["implementation"]]:
        asked["implementation"] = "transformers"
    return search(asked, LAYOUTS | (TRAINED if trains else {}) | places, WITHIN_RANGE, catalogs)


def under(found_ways: dict[str, Found], usd_per_hour: float, catalogs: Catalogs) -> pd.DataFrame:
    """For each way its cheapest row by the hour and, within the budget, its fastest; `way` and `role` name them."""
    chosen = []
    for way, result in found_ways.items():
        ordered = result.candidates.sort_values(["usd_per_hour", "seconds"], kind="stable")
        affordable = ordered[ordered["usd_per_hour"] <= usd_per_hour].sort_values(["seconds", "usd"], kind="stable")
        for role, rows in (("cheapest", ordered), ("fastest", affordable)):
            if len(rows):
                chosen.append(rows_of(result, rows.head(1), catalogs).assign(way=way, role=role))
    return pd.concat(chosen, ignore_index=True) if chosen else pd.DataFrame()
