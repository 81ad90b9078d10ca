"""Every combination of a grid with its verdicts, time and money: arrays of equal length, one entry per way to rent it.

`number` is the combination's place in the grid, `region` and `market` are places in the job's lists.
"""

from typing import Any

import numpy as np
import pandas as pd

from calc.answers.grid import Grid
from calc.catalogs.load import Catalogs
from calc.cost.job import job_of_rows
from calc.evaluate import Table
from calc.pipeline import estimate
from calc.scenarios.support import RUNS

FITS = ("yes", "tight", "no", "")
NEEDED = (
    *("work", "batch", "gpus", "tensor_parallel", "pipeline_parallel", "context_parallel", "instance", "region", "hours_per_month"),
    *("train_tokens", "tokens_per_second", "low_tokens_per_second", "step_tokens", "instances_needed", "time_to_first_token_seconds"),
    *("time_per_output_token_seconds", "spot_overhead_ratio", "served_tokens_per_second"),
    *("headroom_bytes", "memory_bytes", "fits", "runs", "problem"),
)
MOST_TURNS, MOST_SEQUENCES = 30, 8192


def combinations(grid: Grid, whole: dict[str, Any], catalogs: Catalogs) -> Table:
    """All combinations that are not refused, in every region and market of the job; `problem`: the first refusal."""
    parts: list[Table] = []
    names = np.array([place.instance for place in grid.places], dtype=object)
    base = grid.layouts.iloc[grid.layout].assign(instance=pd.Categorical.from_codes(grid.place, categories=names))
    problem = ""
    for region, name in enumerate(whole["regions"]):
        frame = base.assign(region=name).reset_index(drop=True)
        rows = _loaded(frame, whole, catalogs) if whole["requests_per_second"] else estimate(frame, catalogs, False, NEEDED)
        refused = (rows["problem"] != "").to_numpy()
        problem = problem or (str(rows["problem"].iloc[0]) if refused.all() and len(rows) else "")
        for market, sold in enumerate(whole["markets"]):
            parts.append(_on_market(rows, sold, whole, catalogs) | {"refused": refused, "number": np.arange(len(rows))})
            parts[-1] |= {"region": np.full(len(rows), region), "market": np.full(len(rows), market)}
    found = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    kept = ~found.pop("refused") & ~np.isnan(found["usd_per_hour"])
    return {name: values[kept] for name, values in found.items()} | {"problem": problem, "tried": len(kept)}


def _loaded(frame: pd.DataFrame, whole: dict[str, Any], catalogs: Catalogs) -> pd.DataFrame:
    """The rows with as many sequences on each replica as keep up with the wanted requests (Little's law).

    Sequences at once = requests per second x seconds of a request, which grow with the sequences: from one on upwards.
    """
    rate, answer = whole["requests_per_second"], whole["answer_tokens"]
    for _ in range(MOST_TURNS):
        rows = estimate(frame, catalogs, False, NEEDED)
        request = rows["time_to_first_token_seconds"] + answer * rows["time_per_output_token_seconds"]
        replicas = rows["gpus"] / (rows["tensor_parallel"] * rows["pipeline_parallel"])
        needed = np.ceil((rate * request / replicas - 1e-9).to_numpy(dtype=float))
        batch = np.clip(np.fmax(needed, frame["batch"].to_numpy(dtype=float)), 1, MOST_SEQUENCES)
        if (batch == frame["batch"]).all():
            break
        frame = frame.assign(batch=batch)
    return rows


def _on_market(rows: pd.DataFrame, market: str, whole: dict[str, Any], catalogs: Catalogs) -> Table:
    """The figures of rows of estimate that decide, with their money on a market."""
    done = job_of_rows(rows, np.full(len(rows), market, dtype=object), 0, catalogs)
    numbers = {name: rows[name].to_numpy(dtype=float) for name in rows if rows[name].dtype.kind == "f"}
    return {
        "runs": pd.Categorical(rows["runs"], categories=(*RUNS, "")).codes,
        "fits": pd.Categorical(rows["fits"], categories=FITS).codes,
        "instances": done.instances,
        "usd_per_hour": done.usd_per_hour,
        "hours": done.hours,
        "slow_hours": done.slow_hours,
        "usd": done.usd,
        "seconds": done.seconds,
        "batch": numbers["batch"],
        "load_ratio": _load(numbers, whole),
        "step_tokens": numbers["step_tokens"],
        "first_token_seconds": numbers["time_to_first_token_seconds"],
        "token_seconds": numbers["time_per_output_token_seconds"],
        "memory_bytes": numbers["memory_bytes"],
        "headroom_bytes": numbers["headroom_bytes"],
    }


def _load(numbers: Table, whole: dict[str, Any]) -> np.ndarray:
    """The wanted load over what an arrangement carries: requests a second by Little's law, else users at once; 0 in training."""
    if whole["work"] == "training":
        return np.zeros(len(numbers["gpus"]))
    at_once = numbers["batch"] * numbers["gpus"] / (numbers["tensor_parallel"] * numbers["pipeline_parallel"])
    if not whole["requests_per_second"]:
        return whole["users"] / at_once
    request = numbers["time_to_first_token_seconds"] + whole["answer_tokens"] * numbers["time_per_output_token_seconds"]
    return whole["requests_per_second"] * request / at_once
