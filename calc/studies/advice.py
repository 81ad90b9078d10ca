"""Advice on a scenario: changes that do the same work for less, then other work."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ROW_READS, ends_of, job_of_rows
from calc.cost.job import Job as JobCost
from calc.cost.markets import MARKETS
from calc.cost.offers import days_since, price_of
from calc.engine.pipeline import estimate, results_of
from calc.evaluate import Columns, Row
from calc.job.columns import OF_MONEY
from calc.job.job import Job
from calc.job.resolve import resolve
from calc.layout import at_once
from calc.mappings import Cells, Changes
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.read import known_inputs
from calc.search.batch_for_rate import load_columns, load_ratio
from calc.search.candidates import LimitedFigures
from calc.search.limit_percentiles import limited_columns, limited_seconds
from calc.search.ranking import limits_of
from calc.search.row_status import STATUSES, is_offered, status
from calc.studies.advice_selection import MOST_OF_A_KIND, machine_first, select_advice
from calc.studies.neighbors import LAYOUT, distinct_changes, neighbors, pairs
from calc.table import Words, is_missing
from calc.units import GIB

_READ = (
    *ROW_READS,
    "fits",
    "gpu_memory_bytes",
    "needed_bytes",
    "problem",
    "runs",
    "step_tokens",
    "time_per_output_token_high_seconds",
    "time_to_first_token_high_seconds",
    "time_to_first_token_seconds",
)
_LOADED = ("data_parallel", "added_prompt_seconds")  # of a rate of requests
# Other work differs in one of these, or in the width of its numbers.
_SAME = ("tuning", "optimizer", "kv_precision")
_WIDTHS = ["matrix_bytes_each", "outer_bytes_each", "state_bytes_each", "compute_bytes_each"]
_EMULATED = STATUSES.index("emulated")
MACHINE = {"instance", "gpu", "gpus"}  # a change of one of these rents another machine
_PLACED = ("layout", "instance", "gpus")
ON_SPEED = ("first_token_seconds", "token_seconds", "requests_per_second")  # limits of a service
_TELLING_RATIO = 0.005  # a smaller difference of two bills does not count
_FRAME = (
    "kind",
    "same_machine",
    "same_work",
    "saved_gib",
    "saved_usd_per_hour",
    "saved_work_ratio",
    "slowdown_ratio",
    "usd_per_hour",
    "usd",
    "hours",
    "fits",
    "runs",
    "holds",
    "old_price_days",
    "set",
)


def advice(
    scenario: Cells,
    catalogs: Catalogs,
    market: str = "on-demand",
    limits: Cells | None = None,
    lacking_bytes: float = 0.0,
) -> pd.DataFrame:
    """Return changes of a scenario or an estimated row that run and fit, the most useful first.

    Changes on the same machine come first, and of these the ones that do the same work: the same
    number formats, method, and tokens per optimizer step or concurrent sequences. Then come other
    work and other machines. Within each group, the change that saves most comes first. It saves
    cost of the run; in serving, cost of a month for as many users, or of a token if it serves more.

    If the scenario is tight, does not fit or does not run, only changes that solve this count, and
    on the same machine those that cost least speed come first. Pairs of changes are tried if no
    single change on the same machine does so for the same work. USD are those of the market with
    its interruptions. `limits`: the job whose limits the changes must meet. `lacking_bytes`: the
    memory that a run lacked when it failed, whatever its estimate.
    """
    row = estimated_row(scenario, catalogs)
    if row["problem"]:
        return pd.DataFrame(columns=list(_FRAME))
    runs = bool(is_offered(row)[0]) and (row["runs"] != "emulated" or row["tokens_per_second"] > 0)
    already_fits = runs and not lacking_bytes and row["fits"] != "tight"
    lacking_gib = lacking_bytes / GIB if runs and lacking_bytes else -np.inf
    near = neighbors(row, catalogs, market, limits or {})
    kinds = [kind_of(row, change) for change in near.changes]
    table = _try_changes(row, near.job, kinds, near.changes, catalogs)
    useful = select_advice(row, table, already_fits, lacking_gib)
    if not already_fits and not (useful["same_work"] & useful["same_machine"]).any():
        changes = distinct_changes(row, pairs(near.changes))
        table = _try_changes(row, near.job, ["pair"] * len(changes), changes, catalogs)
        more = select_advice(row, table, already_fits, lacking_gib)
        other = more[~more["same_work"]].head(
            0 if useful["same_machine"].any() else MOST_OF_A_KIND["pair"]
        )
        useful = pd.concat([more[more["same_work"]], other, useful], ignore_index=True)
        useful = machine_first(useful, [], [])
    return useful[list(_FRAME)]


def estimated_row(scenario: Cells, catalogs: Catalogs) -> Row:
    """Return a scenario as an estimated row; a row that is estimated already stays as it is."""
    if "allocated_peak_bytes" in scenario:
        return dict(scenario)
    return estimate(dict(scenario), catalogs, solve=False)


def kind_of(row: Cells, change: Changes) -> str:
    """Return the kind of a change: instance, gpus, layout, step, batch, or the choice it makes."""
    if change.keys() & {"instance", "gpus"}:
        return "instance" if "instance" in change else "gpus"
    if change.keys() <= {"batch", "accumulation_steps"} and at_once({**row, **change}) != at_once(
        row
    ):
        return "step" if row["work"] == "training" else "batch"
    if change.keys() <= {*LAYOUT}:
        return "layout"
    if "tuning" in change:
        return "tuning"
    return next(iter(change))


def _keeps_work(
    row: Cells, kind: str, change: Changes, has_rate: bool, widths: dict[str, tuple]
) -> bool:
    """Return whether a changed scenario does the same work, and a service as much of it.

    `has_rate`: the load is a rate of requests, which is a limit that a change exceeds or not.
    """
    after = {**row, **change}
    as_much = (
        kind != "step"
        if row["work"] == "training"
        else has_rate or ends_of(row) or at_once(after) >= at_once(row)
    )
    return (
        as_much
        and widths[after["precision"]] == widths[row["precision"]]
        and all(after[name] == row[name] for name in _SAME)
    )


class _Outcome(NamedTuple):
    """The job of some rows on their markets, their rate, and what their tokens cost."""

    job: JobCost
    tokens_per_second: np.ndarray
    token_usd: np.ndarray  # an hour's USD over the rate: comparable between rows


def _outcome(rows: pd.DataFrame, markets: np.ndarray, catalogs: Catalogs) -> _Outcome:
    """Return what rows cost on their markets, and how fast they are."""
    job = job_of_rows(rows, markets, 0, catalogs)
    rate = _rate(rows, markets)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _Outcome(job, rate, job.usd_per_hour / rate)


def _try_changes(
    row: Row, job: Row, kinds: list[str], changes: list[Changes], catalogs: Catalogs
) -> pd.DataFrame:
    """Estimate each change. Return what it saves, how much it slows, and which limits it meets."""
    resolved_job = resolve(job, catalogs)
    has_rate = bool(resolved_job.requests_per_second)
    of_load = (*load_columns(resolved_job), *_LOADED) if has_rate else ()
    columns = dict.fromkeys((*_READ, *limited_columns(resolved_job).values(), *of_load))
    rows = results_of(_inputs(row, changes), catalogs, columns).frame(None, len(changes))
    numbers = {
        name: rows[name].to_numpy(dtype=float) for name in rows if rows[name].dtype.kind == "f"
    }
    markets = np.array([change.get("market", job["markets"]) for change in changes], dtype=object)
    present = pd.DataFrame([{name: row[name] for name in _READ}])
    before = _outcome(present, np.array([job["markets"]], dtype=object), catalogs)
    after = _outcome(rows, markets, catalogs)
    return pd.DataFrame(
        {
            "kind": kinds,
            "same_machine": [not change.keys() & MACHINE for change in changes],
            "same_work": _same_work(row, kinds, changes, has_rate, catalogs),
            **_memory_changes(row, numbers),
            **_cost_changes(row, kinds, before, after),
            "fits": rows["fits"].astype(str).to_numpy(),
            "runs": rows["runs"].astype(str).to_numpy(),
            "holds": _holds(row, rows, changes, has_time=~np.isnan(after.tokens_per_second)),
            **_within_limits(numbers, after.job, resolved_job),
            "old_price_days": [
                _old_price_days(row, job["markets"], change, catalogs) for change in changes
            ],
            "set": changes,
        }
    )


def _cost_changes(
    row: Row, kinds: list[str], before: _Outcome, after: _Outcome
) -> dict[str, np.ndarray]:
    """Return what each change saves, how much it slows the work, and its cost and hours."""
    cost = after.job
    with np.errstate(divide="ignore", invalid="ignore"):
        slowdown_ratio = before.tokens_per_second / after.tokens_per_second
        usd_ratio = cost.usd / before.job.usd
        token_ratio = after.token_usd / before.token_usd
    work_ratio = _work_ratio(row, kinds, usd_ratio, token_ratio)
    return {
        "saved_usd_per_hour": before.job.usd_per_hour - cost.usd_per_hour,
        "saved_work_ratio": 1 - work_ratio,
        "work_ratio": work_ratio,
        "work_usd": np.where(np.isnan(cost.usd), after.token_usd, cost.usd),
        "slowdown_ratio": slowdown_ratio,
        "usd_per_hour": cost.usd_per_hour,
        "usd": cost.usd,
        "hours": cost.hours,
    }


def _memory_changes(row: Row, numbers: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the memory that each change saves and frees on its card, and the card's. [GiB]"""
    needed_bytes, card = numbers["needed_bytes"], numbers["gpu_memory_bytes"]
    free_bytes = row["gpu_memory_bytes"] - row["needed_bytes"]
    return {
        "saved_gib": (row["needed_bytes"] - needed_bytes) / GIB,
        "freed_gib": (card - needed_bytes - free_bytes) / GIB,
        "card_gib": card / GIB,
    }


def _work_ratio(
    row: Row, kinds: list[str], usd_ratio: np.ndarray, token_ratio: np.ndarray
) -> np.ndarray:
    """Return the cost of the work with each change over its cost today. [ratio]

    It is the cost of a token if a bill is not known. For a service whose month costs the same,
    the cost of a token counts as well, except for a faster layout, which serves no more users.
    """
    work_ratio = np.where(np.isnan(usd_ratio), token_ratio, usd_ratio)
    if row["work"] != "inference":
        return work_ratio
    is_same = (np.abs(work_ratio - 1) <= _TELLING_RATIO) & ~np.isin(kinds, _PLACED)
    return np.where(is_same, token_ratio, work_ratio)


def _holds(
    row: Row, rows: pd.DataFrame, changes: list[Changes], has_time: np.ndarray
) -> np.ndarray:
    """Return whether each changed row fits and runs well enough to be advised. Shape (changes,).

    An emulated format with a known time counts only on the same GPU, and only if that GPU does not
    run the present format. A row without a known time counts only if no other row has one.
    """
    statuses = status(rows)
    keeps_gpu = np.array([not change.keys() & {"instance", "gpu"} for change in changes])
    is_emulated = (statuses == _EMULATED) & has_time & keeps_gpu & (row["runs"] != "yes")
    holds = (statuses == 0) | is_emulated
    return holds & (has_time | ~(has_time & holds).any())


def _same_work(
    row: Row, kinds: list[str], changes: list[Changes], has_rate: bool, catalogs: Catalogs
) -> list[bool]:
    """Return whether each change keeps the number formats, the method and the work of a step."""
    table = catalogs.precisions
    widths = dict(zip(table.index, map(tuple, table[_WIDTHS].to_numpy()), strict=True))
    return [
        _keeps_work(row, kind, change, has_rate, widths)
        for kind, change in zip(kinds, changes, strict=True)
    ]


def _old_price_days(row: Row, market: str, change: Changes, catalogs: Catalogs) -> float:
    """Age of the price of a changed instance or market if it is stale and older than the row's.

    0 for a fresher price, and for a change that keeps instance and market. [days]
    """
    if not change.keys() & {"market", "instance"}:
        return 0.0
    before, after = (
        _price_days({**row, "market": market, **other}, catalogs) for other in ({}, change)
    )
    return after if after > max(before, MARKETS[change.get("market", market)].old_days) else 0.0


def _price_days(row: Row, catalogs: Catalogs) -> float:
    """Days since the price of a row's instance on its market was seen; 0 without one. [days]"""
    price = price_of(catalogs, row["instance"], row["region"])
    day = price.get(f"{MARKETS[row['market']].key}_as_of", "")
    return float(days_since(day, date.fromisoformat(catalogs.read_on))) if day else 0.0


def _rate(rows: pd.DataFrame, markets: Iterable[str]) -> np.ndarray:
    """Tokens per second of each row on its market, less what interruptions cost. [tokens/s]"""
    is_interrupted = np.array([MARKETS[name].interrupted for name in markets]) > 0
    overhead = np.where(is_interrupted, rows["spot_overhead_ratio"].to_numpy(dtype=float), 0)
    return rows["tokens_per_second"].to_numpy(dtype=float) / (1 + overhead)


def _within_limits(
    numbers: Mapping[str, np.ndarray], cost: JobCost, job: Job
) -> dict[str, np.ndarray]:
    """Return whether each row is within the limits on cost, and within those on speed."""
    first_token_seconds = numbers["time_to_first_token_seconds"]
    token_seconds = numbers["time_per_output_token_seconds"]
    seconds = limited_seconds(job, numbers.__getitem__)
    figures = LimitedFigures(
        hours=cost.hours,
        slow_hours=cost.slow_hours,
        usd=cost.usd,
        usd_per_hour=cost.usd_per_hour,
        billed_gpu_hours=cost.billed_gpu_hours,
        step_tokens=numbers["step_tokens"],
        first_token_seconds=first_token_seconds,
        token_seconds=token_seconds,
        limited_first_token_seconds=seconds.first_token,
        limited_token_seconds=seconds.token,
        slow_first_token_ratio=(numbers["time_to_first_token_high_seconds"] / first_token_seconds),
        slow_token_ratio=numbers["time_per_output_token_high_seconds"] / token_seconds,
        load_ratio=(
            load_ratio(numbers.__getitem__, first_token_seconds, token_seconds, job)
            if job.requests_per_second
            else np.zeros(len(cost.hours))
        ),
    )
    is_exceeded = {limit.name: limit.excess > 0 for limit in limits_of(figures, job)}
    none = np.zeros(len(cost.hours), dtype=bool)
    is_slow = np.any([is_exceeded.get(name, none) for name in ON_SPEED], axis=0)
    exceeds_cost = [is_exceeded[name] for name in OF_MONEY if name in is_exceeded]
    return {
        "within_cost_limits": ~np.any(exceeds_cost, axis=0),
        "within_speed_limits": ~is_slow,
    }


def _inputs(row: Row, changes: list[Changes]) -> Columns:
    """Return the inputs of the changed scenarios (scenarios.read).

    A column that no change sets has a single value.
    """
    columns_by_name = inputs_by_name()
    same = {name: value for name in columns_by_name if not is_missing(value := row.get(name))}
    columns: Columns = {"rows": len(changes)}
    for name in dict.fromkeys(
        name for change in changes for name in change if name in columns_by_name
    ):
        values = [change.get(name, row.get(name)) for change in changes]
        if columns_by_name[name].kind in ("text", "choice"):
            codes = {value: code for code, value in enumerate(dict.fromkeys(values))}
            columns[name] = Words(
                np.array([codes[value] for value in values]), np.array(list(codes), dtype=object)
            )
        else:
            columns[name] = np.array(values, dtype=float)
    return known_inputs(same, columns)
