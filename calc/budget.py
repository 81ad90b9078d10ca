"""One workload under a budget per hour, four ways side by side: trained, with checkpointing, served, served in int8.

The workflow of a published sizing tutorial; here each way is a search of its own, over all layouts on all instances.
"""

import pandas as pd

from calc.allowed import OPEN
from calc.found import best
from calc.search import search

WAYS = {
    "Full training": {"work": "training", "tuning": "full", "recompute": "none"},
    "With gradient checkpointing": {"work": "training", "tuning": "full", "recompute": "full"},
    "Inference": {"work": "inference", "precision": "bf16"},
    "int8 inference": {"work": "inference", "precision": "int8"},
}
LAYOUTS = {"gpus": [1, 2, 4, 8, 16, 32], "tensor_parallel": [1, 2, 4, 8], "pipeline_parallel": [1, 2]}
TRAINED = {"sharding": ["none", "zero3"]}


def ways(scenario, places, catalogs):
    """The cheapest instance by the hour for each `way`, fully estimated; a way that nothing holds is left out.

    `places` are the families, regions and markets allowed. Batch, sequence and software stay the scenario's.
    """
    rows = []
    for way, change in WAYS.items():
        asked = scenario | change
        trains = asked["work"] == "training"
        fitting = catalogs.precisions["trains" if trains else "serves"]
        if not fitting.get(asked["precision"], False):
            asked["precision"] = "bf16-mixed" if trains else "bf16"
        if not catalogs.implementations["trains" if trains else "serves"][asked["implementation"]]:
            asked["implementation"] = "transformers"
        sets = LAYOUTS | (TRAINED if trains else {}) | places
        table = best(search(asked, sets, OPEN, catalogs), catalogs, most=0)
        if len(table):
            first = table.sort_values(["found_usd_per_hour", "found_seconds"], kind="stable").head(1)
            rows.append(first.assign(way=way))
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()
