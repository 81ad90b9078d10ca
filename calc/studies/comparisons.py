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
from calc.job.software import usual_loading
from calc.layout import at_once, data_parallel, replicas
from calc.mappings import Cells
from calc.rules.support import RUNS
from calc.scenarios.inputs import BY_NAME
from calc.scenarios.precision_traits import WITHOUT_BF16

NVLINK_GPUS = 8.0  # of one instance; no card of the catalog joins more
MOST_GPUS, MOST_TIMES = 32, 4  # GPU counts go up to 32, or to 4 times the scenario's own
DEGREES = parameters_of(data_parallel)[1:]
# A way to divide the work over GPUs: its name, its sharding, and the largest tensor parallel and
# pipeline parallel degrees.
Division = tuple[str, str, float, float]
MODEL_DIVISIONS: tuple[Division, ...] = (
    ("tensor", "none", NVLINK_GPUS, 1.0),
    ("pipeline", "none", 1.0, NVLINK_GPUS),
)
ZERO_DIVISIONS: tuple[Division, ...] = tuple(
    (f"ZeRO {stage}", f"zero{stage}", 1.0, 1.0) for stage in (1, 2, 3)
)
DIVISIONS = {
    "training": (("DDP", "none", 1.0, 1.0), *ZERO_DIVISIONS, *MODEL_DIVISIONS),
    "inference": (*MODEL_DIVISIONS, ("replicas", "none", 1.0, 1.0)),
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
GRADES = 12  # steps of the color scale of largest batches: 0, 1, 2 to 3, 4 to 7, ... by doublings
PLACED_BY = ("instance", "gpu", "gpus", *DEGREES, "sharding", "expert_parallel")


def micro_batches(scenario: Cells, copies: float) -> dict[str, float]:
    """Micro-batch and accumulation on `copies` replicas that keep the sequences per step."""
    sequences_each = np.ceil(at_once(scenario) / copies)
    if scenario["work"] == "inference":
        return {"batch": scenario["batch"] if ends_of(scenario) else sequences_each}
    batch = np.minimum(scenario["batch"], sequences_each)
    return {"batch": batch, "accumulation_steps": np.ceil(sequences_each / batch)}


def compare_changes(
    scenario: Row, market: str, catalogs: Catalogs, changes: Sequence[Cells]
) -> pd.DataFrame:
    """Return the scenario with each change, which names its `line`.

    `now` marks the first change without effect: that row is the scenario itself. usd, hours and
    seconds of the job are empty if the software refuses the row or the memory does not fit. Rows
    with a problem are left out.
    """
    is_unchanged = [
        all(scenario[name] == value for name, value in change.items() if name != "line")
        for change in changes
    ]
    table = pd.DataFrame([{**_with_free_lengths(scenario, change), **change} for change in changes])
    rows = pd.DataFrame(estimate(table.drop(columns="line"), catalogs, solve=False))
    users = at_once(scenario) if scenario["work"] == "inference" else 0.0
    job = job_of_rows(rows, [market] * len(rows), users, catalogs)
    is_possible = (rows["runs"] != RUNS[-1]) & (rows["fits"] != "no")
    figures = {
        name: np.where(is_possible, getattr(job, name), np.nan)
        for name in ("usd", "hours", "seconds")
    }
    now = np.arange(len(rows)) == (is_unchanged.index(True) if any(is_unchanged) else -1)
    rows = rows.assign(**figures, line=table["line"], now=now)
    return rows[rows["problem"] == ""].reset_index(drop=True)


def over_values(
    scenario: Row, market: str, catalogs: Catalogs, name: str, values: Iterable
) -> pd.DataFrame:
    """Return the scenario with each value of one choice; `line` is the value."""
    return compare_changes(
        scenario, market, catalogs, [{name: value, "line": value} for value in values]
    )


def over_methods(scenario: Row, market: str, catalogs: Catalogs) -> pd.DataFrame:
    """Return the scenario trained by each method, or served in each width; `line` names it."""
    return compare_changes(
        scenario,
        market,
        catalogs,
        [choices | {"line": name} for name, choices in methods_of(scenario, catalogs).items()],
    )


def over_gpus(
    scenario: Row, market: str, catalogs: Catalogs, most_gpus: float = MOST_GPUS
) -> pd.DataFrame:
    """Return the scenario on 1, 2, 4 ... GPUs, divided in each of DIVISIONS; `line` names it.

    A step keeps its sequences: replicas first take fewer accumulation steps, then smaller
    micro-batches. The line ends before a replica would have no sequence.
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
    """Return the largest batch (`most`) of each change of a scenario on each card.

    `line` names the change. The recompute that allows most is taken, and on an older card the
    number format and the build of the software that it can run. `most` is 0 if not even one
    sequence fits, and empty if the software does not run there. `grade` is 0 if nothing fits, then
    one more for every doubling.
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
            {**_suited_to(card, {**alone, **change}, catalogs), "recompute": recompute}
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


def _suited_to(card: str, cells: Row, catalogs: Catalogs) -> Row:
    """Return a scenario on a card, which may need a format without bf16 and an older build."""
    software = str(cells.get("implementation") or BY_NAME["implementation"].default)
    precision, loading = cells["precision"], cells.get("loading")
    if not catalogs.gpus["supports_bf16"][card]:
        precision = WITHOUT_BF16.get(precision, precision)
    if loading in (None, BY_NAME["loading"].default):
        loading = usual_loading([card], software, catalogs)
    return {**cells, "gpu": card, "precision": precision, "loading": loading}


def over_cards(scenario: Row, catalogs: Catalogs) -> pd.DataFrame:
    """Return the scenario in its own layout on each of `cards_on_aws`."""
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
    instances = catalogs.instances[
        (catalogs.instances["gpu_fraction"] == 1) & catalogs.instances["current"].astype(bool)
    ]
    memory = catalogs.gpus["memory_bytes"].astype(float)
    return sorted(set(instances["gpu"]), key=lambda card: (memory[card], card))


def over_tasks(scenario: Row, catalogs: Catalogs, precisions: Sequence[str]) -> pd.DataFrame:
    """Return the model served in each number format at each task, without an engine's pool.

    `line` names the task. `overtakes_tokens`: the cached tokens that take as much memory as the
    weights; NaN for a model without a cache.
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


def _with_free_lengths(scenario: Row, change: Cells) -> Row:
    """Return the scenario without the lengths that equal its sequence, if that one changes.

    They then take their default, which is the new sequence.
    """
    if "sequence_tokens" not in change:
        return scenario
    equal = {
        name
        for name in ("prompt_tokens", "decoder_tokens")
        if scenario.get(name) == scenario["sequence_tokens"]
    }
    return {name: value for name, value in scenario.items() if name not in equal}
