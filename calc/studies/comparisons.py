"""One scenario and others that differ from it in one thing.

Every table holds estimated rows, so that any of them can become the plan. Each row does the work of
the scenario, with its sequences per optimizer step or its requests in flight, on its instance and
market: usd, hours and seconds are those of the job.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import prod

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of, job_of_rows
from calc.engine.pipeline import estimate
from calc.evaluate import Row, parameters_of
from calc.layout import at_once, data_parallel, replicas
from calc.mappings import Cells
from calc.rules.support import RUNS

NVLINK_GPUS = 8.0  # of one instance; no card of the catalog joins more
MOST_GPUS, MOST_TIMES = 32, 4  # GPU counts go so far, or to so many times the scenario's own
DEGREES = parameters_of(data_parallel)[1:]
# A way to divide over GPUs: its name, its sharding, and how many GPUs share a replica at most, by
# tensor and by pipeline.
Way = tuple[str, str, float, float]
MODEL_WAYS: tuple[Way, ...] = (
    ("tensor", "none", NVLINK_GPUS, 1.0),
    ("pipeline", "none", 1.0, NVLINK_GPUS),
)
ZERO_WAYS: tuple[Way, ...] = tuple(
    (f"ZeRO {stage}", f"zero{stage}", 1.0, 1.0) for stage in (1, 2, 3)
)
DIVISIONS = {
    "training": (("DDP", "none", 1.0, 1.0), *ZERO_WAYS, *MODEL_WAYS),
    "inference": (*MODEL_WAYS, ("replicas", "none", 1.0, 1.0)),
}
OWN_LAYOUT = "as set"
ADAPTING_METHODS = {
    name: {"tuning": "lora", "precision": frozen}
    for name, frozen in (("lora", "bf16"), ("qlora", "nf4-dq"))
}
SERVED_WIDTHS = {
    f"{bits} bits": {"precision": name}
    for bits, name in ((16, "bf16"), (8, "fp8"), (4, "awq-4bit"))
}
TASKS = {  # a label of sequences in flight × tokens of each
    f"{batch} × {tokens:,}": (batch, tokens) for batch, tokens in ((1, 512), (8, 2048), (32, 8192))
}
GRADES = 12  # of the color scale of largest batches: 0, 1, 2 to 3, 4 to 7, ... by doublings
PLACED_BY = ("instance", "gpu", "gpus", *DEGREES, "sharding", "expert_parallel")


def micro_batches(scenario: Cells, copies: float) -> dict[str, float]:
    """Micro-batch and accumulation on `copies` replicas that keep the sequences per step."""
    here = np.ceil(at_once(scenario) / copies)
    if scenario["work"] == "inference":
        return {"batch": scenario["batch"] if ends_of(scenario) else here}
    batch = np.minimum(scenario["batch"], here)
    return {"batch": batch, "accumulation_steps": np.ceil(here / batch)}


def compare_changes(
    scenario: Row, market: str, catalogs: Catalogs, changes: Sequence[Cells]
) -> pd.DataFrame:
    """The scenario with each change, which names its `line`; `now` marks one without effect.

    usd, hours and seconds of the job are empty where the software refuses the row or the memory
    does not fit. Rows with a problem are left out.
    """
    unchanged = [
        all(scenario[name] == value for name, value in change.items() if name != "line")
        for change in changes
    ]
    table = pd.DataFrame([{**_following(scenario, change), **change} for change in changes])
    rows = pd.DataFrame(estimate(table.drop(columns="line"), catalogs, solve=False))
    users = at_once(scenario) if scenario["work"] == "inference" else 0.0
    done = job_of_rows(rows, [market] * len(rows), users, catalogs)
    is_possible = (rows["runs"] != RUNS[-1]) & (rows["fits"] != "no")
    possible = np.where(is_possible, 1.0, np.nan)
    money = {name: getattr(done, name) * possible for name in ("usd", "hours", "seconds")}
    rows = rows.assign(**money, line=table["line"], now=np.cumsum(unchanged) * unchanged == 1)
    return rows[rows["problem"] == ""].reset_index(drop=True)


def over_values(
    scenario: Row, market: str, catalogs: Catalogs, name: str, values: Iterable
) -> pd.DataFrame:
    """The scenario once for each value of one choice."""
    return compare_changes(
        scenario, market, catalogs, [{name: value, "line": value} for value in values]
    )


def over_methods(scenario: Row, market: str, catalogs: Catalogs) -> pd.DataFrame:
    """The scenario trained in full, by LoRA and by QLoRA; `line` is the method."""
    return compare_changes(
        scenario,
        market,
        catalogs,
        [chosen | {"line": name} for name, chosen in methods_of(scenario, catalogs).items()],
    )


def over_gpus(
    scenario: Row, market: str, catalogs: Catalogs, most_gpus: float = MOST_GPUS
) -> pd.DataFrame:
    """The scenario on 1, 2, 4 ... GPUs by each way to divide it; `line` names the way.

    A step keeps its sequences: fewer accumulation steps, then smaller micro-batches; a count that
    leaves a replica without one ends the line.
    """
    most = int(max(most_gpus, MOST_TIMES * scenario["gpus"]))
    counts = sorted({2.0**power for power in range(most.bit_length())} | {float(scenario["gpus"])})
    layouts: list[Row] = []
    for line, sharding, tensor, stages in DIVISIONS[scenario["work"]]:
        for gpus in counts:
            degrees = dict(zip(DEGREES, (min(gpus, tensor), min(gpus, stages), 1.0), strict=True))
            layouts.append({"line": line, "sharding": sharding, "gpus": gpus, **degrees})
    own = {name: scenario[name] for name in ("gpus", "sharding", *DEGREES)}
    if not any(own.items() <= layout.items() for layout in layouts):
        layouts += [{**own, "gpus": gpus, "line": OWN_LAYOUT} for gpus in counts]
    changes = []
    for layout in layouts:
        is_divisible = layout["gpus"] % prod(layout[name] for name in DEGREES) == 0
        if is_divisible and replicas(layout) <= at_once(scenario):
            changes.append(layout | micro_batches(scenario, replicas(layout)))
    return compare_changes(scenario, market, catalogs, changes)


def largest_batches(
    scenario: Row, catalogs: Catalogs, changes: Mapping[str, Cells]
) -> pd.DataFrame:
    """The largest batch (`most`) on one card by each change of a scenario, recompute automatic.

    `line` names the change. `most` is 0 if not even one fits, and empty if the software does not
    run there. grade: 0 where nothing fits, then one more for every doubling.
    """
    alone = {name: value for name, value in scenario.items() if name not in PLACED_BY} | {
        "batch": 1,
        "accumulation_steps": 1,
    }
    recomputes = (
        list(catalogs.recomputes.sort_values("extra_forward_ratio").index)
        if scenario["work"] == "training"
        else [""]
    )
    cells = list(product(cards_on_aws(catalogs), changes.items(), recomputes))
    table = pd.DataFrame(
        [
            {**alone, **change, "gpu": card, "recompute": recompute}
            for card, (_, change), recompute in cells
        ]
    )
    rows = pd.DataFrame(estimate(table, catalogs)).assign(line=[line for _, (line, _), _ in cells])
    rows = rows.assign(
        most=np.where(rows["runs"] == "no", np.nan, rows["max_batch"].to_numpy(dtype=float))
    )
    best = (
        rows.sort_values("most", ascending=False, kind="stable")
        .drop_duplicates(["gpu", "line"])
        .sort_index()
    )
    most = best["most"].to_numpy(dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        grade = np.where(most >= 1, np.minimum(np.floor(np.log2(most)) + 1, GRADES), 0.0)
    return best.assign(grade=np.where(np.isnan(most), np.nan, grade)).reset_index(drop=True)


def over_cards(scenario: Row, catalogs: Catalogs) -> pd.DataFrame:
    """The scenario as it is divided, on each whole card that AWS rents, the smallest first."""
    changes = [{"gpu": card, "instance": ""} for card in cards_on_aws(catalogs)]
    table = pd.DataFrame([{**scenario, **change} for change in changes])
    rows = pd.DataFrame(estimate(table, catalogs, solve=False))
    return rows[rows["problem"] == ""].reset_index(drop=True)


def methods_of(scenario: Row, catalogs: Catalogs) -> dict[str, Row]:
    """Return the choices that each method of training, or width of serving, sets."""
    if scenario["work"] == "inference":
        return SERVED_WIDTHS
    trains = bool(catalogs.precisions["trains"].get(scenario["precision"], False))
    return {
        "full": {"tuning": "full", "precision": scenario["precision"] if trains else "bf16-mixed"},
        **ADAPTING_METHODS,
    }


def cards_on_aws(catalogs: Catalogs) -> list[str]:
    """The whole cards that AWS rents today, the smallest first."""
    undivided = catalogs.instances[
        (catalogs.instances["gpu_fraction"] == 1) & catalogs.instances["current"].astype(bool)
    ]
    memory = catalogs.gpus["memory_bytes"].astype(float)
    return sorted(set(undivided["gpu"]), key=lambda card: (memory[card], card))


def over_tasks(scenario: Row, catalogs: Catalogs, precisions: Sequence[str]) -> pd.DataFrame:
    """Serving the model in each number format at each task (`line`), without an engine's pool.

    `overtakes_tokens`: how many cached tokens take as much as the weights; NaN for what caches
    nothing.
    """
    alone = {
        name: scenario[name] for name in ("model", "kv_precision", "region") if name in scenario
    }
    tasks = [
        {"batch": batch, "sequence_tokens": tokens, "line": task}
        for task, (batch, tokens) in TASKS.items()
    ]
    table = pd.DataFrame(
        [
            {**alone, **task, "work": "inference", "precision": name}
            for task, name in product(tasks, precisions)
        ]
    )
    rows = pd.DataFrame(estimate(table.drop(columns="line"), catalogs, solve=False)).assign(
        line=table["line"]
    )
    cached = rows["batch"].astype(float) * rows["sequence_tokens"].astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        token_bytes = rows["kv_cache_bytes"] / cached
        overtakes = np.where(token_bytes > 0, rows["weights_bytes"] / token_bytes, np.nan)
    return rows.assign(overtakes_tokens=overtakes)[rows["problem"] == ""].reset_index(drop=True)


def _following(scenario: Row, change: Cells) -> Row:
    """The scenario with the lengths that follow its sequence left to follow another one."""
    follows = [
        name
        for name in ("prompt_tokens", "decoder_tokens")
        if scenario.get(name) == scenario["sequence_tokens"]
    ]
    return {
        name: value
        for name, value in scenario.items()
        if "sequence_tokens" not in change or name not in follows
    }
