"""A scenario walked along one thing at a time: into out of memory, over cards and methods, over number formats and tasks.

Every table holds estimated rows, so that any of them can become the plan.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate
from calc.search.comparisons import as_job, at_once, replicas

MOST = {"batch": 512.0, "sequence_tokens": 2.0**20}
LEAST = {"batch": 1.0, "sequence_tokens": 256.0}
METHODS = {  # of adapting frozen weights: what each sets
    "lora": {"tuning": "lora", "precision": "bf16"},
    "qlora": {"tuning": "lora", "precision": "nf4-dq"},
}
FORMATS = {  # of serving: what stands in for a method
    "16 bits": {"precision": "bf16"},
    "8 bits": {"precision": "fp8"},
    "4 bits": {"precision": "awq-4bit"},
}
TASKS = {"1 × 512": (1, 512), "8 × 2,048": (8, 2048), "32 × 8,192": (32, 8192)}  # sequences at once × tokens of each
GRADES = 12  # of the colour scale of largest batches: 0, 1, 2 to 3, 4 to 7, ... by doublings
PLACE = ("instance", "gpu", "gpus", "tensor_parallel", "pipeline_parallel", "context_parallel", "sharding", "expert_parallel")


def cliff(scenario: dict[str, Any], market: str, catalogs: Catalogs, over: str, by: str, values: Sequence[str]) -> pd.DataFrame:
    """Memory over batch or sequence in doublings, a `line` for each value of the choice `by`; solved, so max_batch is there.

    A training keeps the sequences of its step for as long as it can: fewer accumulation steps. A line ends two doublings
    after the scenario's card is full.
    """
    longest = float(catalogs.models["longest_sequence_tokens"].get(scenario["model"], np.inf))
    most = min(MOST[over], longest) if over == "sequence_tokens" else MOST[over]
    walk = 2.0 ** np.arange(np.log2(LEAST[over]), np.floor(np.log2(most)) + 1)
    walk = np.array(sorted({*walk.tolist(), float(scenario[over])}))
    parts = [pd.DataFrame({**_following(scenario, over), over: walk, by: value, "line": value}) for value in values]
    table = pd.concat(parts, ignore_index=True)
    if over == "batch" and scenario["work"] == "training":
        table["accumulation_steps"] = np.maximum(np.ceil(at_once(scenario) / replicas(scenario) / table["batch"]), 1)
    now = (table[over] == scenario[over]) & (table["line"] == scenario[by])
    rows = as_job(table.assign(now=now), scenario, market, catalogs)
    lost = (rows["fits"] == "no").groupby(rows["line"], observed=True).cumsum()
    return rows[lost <= 2].reset_index(drop=True)


def largest(scenario: dict[str, Any], catalogs: Catalogs, by: str, values: Sequence[str]) -> pd.DataFrame:
    """The largest batch and the longest sequence of each value of a choice on the scenario's card, all else equal."""
    rows = pd.DataFrame(estimate(pd.DataFrame({**_following(scenario, ""), by: list(values)}), catalogs))
    return rows[rows["problem"] == ""].reset_index(drop=True)


def methods(scenario: dict[str, Any], market: str, catalogs: Catalogs) -> pd.DataFrame:
    """The scenario trained in full, by LoRA and by QLoRA; `line` is the method."""
    parts = [scenario | chosen | {"line": name} for name, chosen in methods_of(scenario, catalogs).items()]
    table = pd.DataFrame(parts)
    now = (table["tuning"] == scenario["tuning"]) & (table["precision"] == scenario["precision"])
    return as_job(table.assign(now=now), scenario, market, catalogs)


def largest_batches(scenario: dict[str, Any], catalogs: Catalogs, models: Sequence[str], cards: Sequence[str]) -> pd.DataFrame:
    """The largest batch of each model by each method on one card, `most`, with its row; NaN where the software does not run there.

    grade: 0 where nothing fits, then one more for every doubling.
    """
    alone = {name: value for name, value in scenario.items() if name not in PLACE}
    full = methods_of(scenario, catalogs)
    rows = [
        {**alone, **chosen, "batch": 1, "accumulation_steps": 1, "model": model, "gpu": card, "method": method}
        for card in cards
        for model in models
        for method, chosen in full.items()
    ]
    table = pd.DataFrame(rows)
    found = pd.DataFrame(estimate(table.drop(columns="method"), catalogs)).assign(method=table["method"])
    most = np.where(found["runs"] == "no", np.nan, found["max_batch"].to_numpy(dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        grade = np.where(most >= 1, np.minimum(np.floor(np.log2(most)) + 1, GRADES), 0.0)
    return found.assign(most=most, grade=np.where(np.isnan(most), np.nan, grade))


def methods_of(scenario: dict[str, Any], catalogs: Catalogs) -> dict[str, dict[str, Any]]:
    """What each method sets, of serving each width: a scenario that adapts frozen weights is trained in full in mixed precision."""
    if scenario["work"] == "inference":
        return FORMATS
    trains = bool(catalogs.precisions["trains"].get(scenario["precision"], False))
    return {"full": {"tuning": "full", "precision": scenario["precision"] if trains else "bf16-mixed"}, **METHODS}


def cards_on_aws(catalogs: Catalogs) -> list[str]:
    """The whole cards that AWS rents today, the smallest first."""
    whole = catalogs.instances[(catalogs.instances["gpu_fraction"] == 1) & catalogs.instances["current"].astype(bool)]
    memory = catalogs.gpus["memory_bytes"].astype(float)
    return sorted(set(whole["gpu"]), key=lambda card: (memory[card], card))


def tasks(scenario: dict[str, Any], catalogs: Catalogs, precisions: Sequence[str]) -> pd.DataFrame:
    """Serving the model in each number format at each task, without an engine's pool: rows with `line` (the task).

    `overtakes_tokens`: how many cached tokens take as much as the weights; NaN for what caches nothing.
    """
    alone = {name: scenario[name] for name in ("model", "kv_precision", "region") if name in scenario}
    parts = [
        {**alone, "work": "inference", "precision": precision, "batch": batch, "sequence_tokens": tokens, "line": task}
        for task, (batch, tokens) in TASKS.items()
        for precision in precisions
    ]
    table = pd.DataFrame(parts)
    rows = pd.DataFrame(estimate(table.drop(columns="line"), catalogs, solve=False)).assign(line=table["line"])
    cached = rows["batch"].astype(float) * rows["sequence_tokens"].astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = rows["kv_cache_bytes"] / cached
        rows = rows.assign(overtakes_tokens=np.where(each > 0, rows["weights_bytes"] / each, np.nan), cache_bytes_each=each)
    return rows[rows["problem"] == ""].reset_index(drop=True)


def _following(scenario, over):
    """The scenario with lengths that follow its sequence left to follow it."""
    follows = [name for name in ("prompt_tokens", "decoder_tokens") if scenario.get(name) == scenario["sequence_tokens"]]
    return {name: value for name, value in scenario.items() if over != "sequence_tokens" or name not in follows}
