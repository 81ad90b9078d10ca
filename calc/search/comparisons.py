"""One scenario beside others that differ from it in one thing: values of a choice, GPU counts by layout, batches.

Each table does the work of the scenario, with its sequences per optimizer step or its requests at once, on its own
instance and market: usd, hours and seconds are those of the job.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import job_of_rows
from calc.engine.pipeline import estimate
from calc.layout import data_parallel
from calc.scenarios.support import RUNS

NVLINK_GPUS = 8  # of one instance; no card of the catalog joins more
MOST_GPUS, MOST_TIMES = 32, 4  # GPU counts go so far, or to so many times the scenario's own
MOST_BATCH = {"training": 64, "inference": 256}
DEGREES = ("tensor_parallel", "pipeline_parallel", "context_parallel")
# A way to divide over GPUs: its name, its sharding, and how many GPUs share a replica at most, by tensor and by pipeline.
Way = tuple[str, str, float, float]
TRAINING_WAYS: tuple[Way, ...] = (
    ("DDP", "none", 1, 1),
    ("ZeRO 1", "zero1", 1, 1),
    ("ZeRO 2", "zero2", 1, 1),
    ("ZeRO 3", "zero3", 1, 1),
    ("tensor", "none", NVLINK_GPUS, 1),
    ("pipeline", "none", 1, NVLINK_GPUS),
)
SERVING_WAYS: tuple[Way, ...] = (("tensor", "none", NVLINK_GPUS, 1), ("pipeline", "none", 1, NVLINK_GPUS), ("replicas", "none", 1, 1))
OWN = "as set"


def at_once(scenario: Mapping[str, Any]) -> float:
    """Sequences of an optimizer step, or requests answered at once, over all replicas. [sequences]"""
    steps = scenario["accumulation_steps"] if scenario["work"] == "training" else 1
    return float(scenario["batch"] * steps * replicas(scenario))


def replicas(scenario: Mapping[str, Any]) -> float:
    """Model replicas side by side. [replicas]"""
    return float(data_parallel(scenario["gpus"], *(scenario[name] for name in DEGREES)))


def over_values(scenario: dict[str, Any], market: str, catalogs: Catalogs, name: str, values: Iterable) -> pd.DataFrame:
    """The scenario once for each value of one choice; those that cannot be are left out."""
    return as_job(pd.DataFrame(scenario | {name: list(values)}), scenario, market, catalogs)


def over_gpus(scenario: dict[str, Any], market: str, catalogs: Catalogs, most_gpus: float = MOST_GPUS) -> pd.DataFrame:
    """The scenario on 1, 2, 4 ... GPUs by each way to divide it; `line` names the way, `now` marks the scenario itself.

    A step keeps its sequences: fewer accumulation steps, then smaller micro-batches; a count that leaves a replica
    without one ends the line.
    """
    trains = scenario["work"] == "training"
    most = max(most_gpus, MOST_TIMES * scenario["gpus"])
    counts = np.array(sorted({2.0**power for power in range(int(most).bit_length())} | {float(scenario["gpus"])}))
    own = {name: scenario[name] for name in ("gpus", "sharding", *DEGREES)}
    parts = []
    for line, sharding, tensor, pipeline in TRAINING_WAYS if trains else SERVING_WAYS:
        degrees = (np.minimum(counts, tensor), np.minimum(counts, pipeline), np.ones_like(counts))
        parts.append(_divided(scenario, line, counts, dict(zip(DEGREES, degrees, strict=True)) | {"sharding": sharding}))
    table = pd.concat(parts, ignore_index=True)
    if not (table[list(own)] == pd.Series(own)).all(axis=1).any():
        able = counts[counts >= scenario["gpus"] / replicas(scenario)]
        fixed = {name: scenario[name] for name in ("sharding", *DEGREES)}
        table = pd.concat([table, _divided(scenario, OWN, able, fixed)], ignore_index=True)
    same = (table[list(own)] == pd.Series(own)).all(axis=1)
    return as_job(table.assign(now=same & (same.cumsum() == 1)), scenario, market, catalogs)  # on one GPU several ways are the same


def _divided(scenario, line, counts, layout):
    """The scenario on these counts of GPUs by a layout; counts that it does not divide, or that leave a replica idle, left out."""
    shared = np.prod([np.broadcast_to(layout[name], counts.shape) for name in DEGREES], axis=0)
    beside = counts // shared
    table = pd.DataFrame(scenario | layout | {"gpus": counts} | micro_batches(scenario, beside) | {"line": line})
    return table[(beside <= at_once(scenario)) & (counts % shared == 0)]


def over_batch(scenario: dict[str, Any], market: str, catalogs: Catalogs) -> pd.DataFrame:
    """The scenario with 1, 2, 4 ... sequences at once; a line for each recompute in training, each cache format in serving.

    Training keeps the sequences of its step as near as whole accumulation steps allow.
    """
    trains = scenario["work"] == "training"
    name, values = ("recompute", list(catalogs.recomputes.index)) if trains else ("kv_precision", ["", "fp8"])
    most = min(MOST_BATCH[scenario["work"]], at_once(scenario) / replicas(scenario) if trains else np.inf)
    wanted = sorted({2.0**power for power in range(MOST_BATCH[scenario["work"]].bit_length())} | {float(scenario["batch"])})
    sizes = np.array([size for size in wanted if size <= most])
    steps = np.ceil(at_once(scenario) / replicas(scenario) / sizes) if trains else np.ones_like(sizes)
    table = pd.concat(
        [pd.DataFrame(scenario | {"batch": sizes, "accumulation_steps": steps, name: value, "line": value}) for value in values],
        ignore_index=True,
    )
    return as_job(table.assign(now=(table["batch"] == scenario["batch"]) & (table["line"] == scenario[name])), scenario, market, catalogs)


def micro_batches(scenario: Mapping[str, Any], beside: Any) -> dict[str, Any]:
    """Micro-batch and accumulation on so many replicas, for the same sequences in all."""
    each = np.ceil(at_once(scenario) / beside)
    if scenario["work"] == "inference":
        return {"batch": each}
    batch = np.minimum(scenario["batch"], each)
    return {"batch": batch, "accumulation_steps": np.ceil(each / batch)}


def as_job(table: pd.DataFrame, scenario: dict[str, Any], market: str, catalogs: Catalogs) -> pd.DataFrame:
    """The table estimated, with usd, hours and seconds of the job on the market, empty where the job is refused.

    Rows with a problem are left out.
    """
    beside = [name for name in ("line", "now") if name in table]
    rows = pd.DataFrame(estimate(table.drop(columns=beside), catalogs, solve=False))
    users = at_once(scenario) if scenario["work"] == "inference" else 0.0
    done = job_of_rows(rows, [market] * len(rows), users, catalogs)
    runs = np.where(rows["runs"] == RUNS[-1], np.nan, 1.0)
    job = {"usd": done.usd * runs, "hours": done.hours * runs, "seconds": done.seconds * runs}
    rows = rows.assign(**job, **{name: table[name].to_numpy() for name in beside})
    return rows[rows["problem"] == ""].reset_index(drop=True)
