"""What to change about a scenario: first what does the same work for less or in less memory, then what does other work."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.charts.tables import word_column
from calc.coded import Words
from calc.cost.job import Job, job_of_rows, within
from calc.cost.markets import MARKETS
from calc.engine.pipeline import estimate, results_of
from calc.evaluate import Table
from calc.say.change import change_in_words, quality
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.read import known_inputs
from calc.search.changes import Change, pairs, singles
from calc.search.limits import OPEN, SERVED_WITHIN, Limits
from calc.search.pick import MOST_OF_A_KIND, picked
from calc.search.relayout import at_once
from calc.search.standing import STANDINGS, offered, standing
from calc.units import GIB

NEEDED = (
    *("work", "instance", "region", "batch", "gpus", "tensor_parallel", "pipeline_parallel", "context_parallel"),
    *("memory_bytes", "gpu_memory_bytes", "fits", "runs", "instances_needed", "tokens_per_second", "low_tokens_per_second"),
    *("step_tokens", "time_to_first_token_seconds", "time_per_output_token_seconds", "spot_overhead_ratio"),
    *("paid_ratio", "private_usd_per_hour", "spare_instances", "train_tokens", "hours_per_month", "served_tokens_per_second", "problem"),
)
EMULATED = STANDINGS.index("emulated")
SAME_RATIO = 0.005  # nobody can tell half a per cent of a bill apart
FRAME = (
    *("change", "kind", "same_work", "saved_gib", "saved_usd_per_hour", "saved_work_ratio", "slowdown_ratio"),
    *("usd_per_hour", "usd", "hours", "fits", "runs", "holds", "quality", "source", "set"),
)


def advise(scenario: Mapping[str, Any], catalogs: Catalogs, market: str = "on-demand", limits: Limits = OPEN) -> pd.DataFrame:
    """Changes of a scenario (or of a row of estimate) that run and fit, the most useful first, with the columns to `set`.

    First what does the same work: the same number formats, method and tokens per optimizer step, or sequences at once; then
    other work. Of each what saves most of its cost comes first: that of the run, in serving of a month for as many users, or
    of a token where more are served. Where the scenario does not fit, or does not run, the changes make it do so; pairs of
    changes are tried where no single one does that for the same work. USD are those of the market, its interruptions counted.
    """
    now = dict(scenario) if "allocated_peak_bytes" in scenario else estimate(dict(scenario), catalogs, solve=False)
    if now["problem"]:
        return pd.DataFrame(columns=list(FRAME))
    fitting = bool(offered(now)[0]) and (now["runs"] != "emulated" or now["tokens_per_second"] > 0)
    changes = singles(now, catalogs, market, limits.instances, fitting)
    table = _tried(now, changes, catalogs, market, limits)
    found = picked(now, table, fitting)
    if not fitting and not found["same_work"].any():
        both = picked(now, _tried(now, pairs(now, changes), catalogs, market, limits), fitting)
        found = pd.concat([both[both["same_work"]], both[~both["same_work"]].head(MOST_OF_A_KIND["pair"]), found], ignore_index=True)
        found = found.sort_values("same_work", ascending=False, kind="stable", ignore_index=True)
    serves = now["work"] == "inference"
    changed = found[["kind", "set", "runs"]].to_numpy()
    notes = [quality({"step": ""} if kind == "step" else change, catalogs, serves) for kind, change, _ in changed]
    said = {
        "change": word_column([_words(now, kind, change, runs, catalogs) for kind, change, runs in changed]),
        "quality": word_column([words for words, _ in notes]),
        "source": word_column([source for _, source in notes]),
    }
    return found.assign(**said)[list(FRAME)]


def _words(now: dict[str, Any], kind: str, change: dict[str, Any], runs: str, catalogs: Catalogs) -> str:
    """A change as people say it: another instance with its GPUs, another step with its size, what is emulated so marked."""
    whole = {"gpus": now["gpus"], **change} if "instance" in change else change
    words = change_in_words(whole, catalogs, now["work"] == "inference") + (" (emulated)" if runs == "emulated" else "")
    if kind not in ("step", "batch"):
        return words
    times = at_once({**now, **change}) / at_once(now)
    size = f"{times:.3g} times" if times >= 1 else "half" if times == 1 / 2 else f"{times:.0%}".replace("%", " % of")
    return f"{words}: {size} the {'users' if kind == 'batch' else 'tokens per step'}"


def _tried(now: dict[str, Any], changes: list[Change], catalogs: Catalogs, market: str, limits: Limits) -> pd.DataFrame:
    """Each change estimated: GiB, USD, share of the work's cost saved, slowdown; whether it holds and keeps the limits."""
    rows = results_of(_inputs(now, changes), catalogs, NEEDED).frame(None, len(changes))
    markets = np.array([change.set.get("market", market) for change in changes], dtype=object)
    before = pd.DataFrame([{name: now[name] for name in NEEDED}])
    base, job = job_of_rows(before, [market], 0, catalogs), job_of_rows(rows, markets, 0, catalogs)
    rate, rate_before = _rate(rows, markets), _rate(before, [market])
    numbers = {name: rows[name].to_numpy(dtype=float) for name in rows if rows[name].dtype.kind == "f"}
    runs, fits = rows["runs"].astype(str).to_numpy(), rows["fits"].astype(str).to_numpy()
    timed = ~np.isnan(rate)
    stays = np.array([not change.set.keys() & {"instance", "gpu"} for change in changes])
    stands = standing(rows)
    # What is emulated at a known speed is better than what is refused on the same card; elsewhere something runs as it should.
    sound = (stands == 0) | ((stands == EMULATED) & timed & stays & (now["runs"] != "yes"))
    sound &= timed | ~(timed & sound).any()  # a card of which no time is known only where none of any is
    with np.errstate(divide="ignore", invalid="ignore"):
        token_ratio = job.usd_per_hour / rate / (base.usd_per_hour / rate_before)
        usd_ratio = np.where(np.isnan(job.usd / base.usd), token_ratio, job.usd / base.usd)
        work_ratio = _served_ratio(usd_ratio, token_ratio) if now["work"] == "inference" else usd_ratio
        return pd.DataFrame(
            {
                "kind": [change.kind for change in changes],
                "same_work": [change.same_work for change in changes],
                "saved_gib": (now["memory_bytes"] - numbers["memory_bytes"]) / GIB,
                "saved_usd_per_hour": base.usd_per_hour - job.usd_per_hour,
                "saved_work_ratio": 1 - work_ratio,
                "work_ratio": work_ratio,
                "work_usd": np.where(np.isnan(job.usd), job.usd_per_hour / rate, job.usd),
                "slowdown_ratio": rate_before / rate,
                "usd_per_hour": job.usd_per_hour,
                "usd": job.usd,
                "card_gib": numbers["gpu_memory_bytes"] / GIB,
                "hours": job.hours,
                "fits": fits,
                "runs": runs,
                "holds": sound,
                "kept": within(Job(*(np.nan_to_num(part) for part in job)), limits),  # what is not known breaks no limit
                "paced": _paced(now, numbers, limits),
                "set": [change.set for change in changes],
            }
        )


def _rate(rows, markets):
    """Tokens per second of each row, what interruptions take on its market left out."""
    interrupted = np.array([MARKETS[name].interrupted for name in markets]) > 0
    overhead = np.where(interrupted, rows["spot_overhead_ratio"].to_numpy(dtype=float), 0)
    return rows["tokens_per_second"].to_numpy(dtype=float) / (1 + overhead)


def _served_ratio(usd_ratio, token_ratio):
    """Cost of a service against before: of the month where that differs, else of a token."""
    return np.where(np.abs(usd_ratio - 1) > SAME_RATIO, usd_ratio, token_ratio)


def _paced(now, numbers, limits):
    """Whether a service keeps its pace: the limits', else the usual one; no slower than before is enough."""
    if now["work"] == "training":
        return np.ones(len(numbers["gpus"]), dtype=bool)
    kept = np.ones(len(numbers["gpus"]), dtype=bool)
    slow = numbers["tokens_per_second"] / numbers["low_tokens_per_second"] if limits.slow_end else 1.0
    for name, column in (("first_token_seconds", "time_to_first_token_seconds"), ("output_token_seconds", "time_per_output_token_seconds")):
        most = getattr(limits, name)
        most = most if np.isfinite(most) else np.fmax(getattr(SERVED_WITHIN, name), now[column])
        kept &= ~(numbers[column] * slow > most)
    return kept


def _inputs(now: dict[str, Any], changes: list[Change]) -> Table:
    """The inputs (scenarios.read) of the changed scenarios: what no change sets is one value for all."""
    known = inputs_by_name()
    said = {name: value for name in known if (value := now.get(name)) not in ("", None) and value == value}
    columns: Table = {"rows": len(changes)}
    for name in dict.fromkeys(name for change in changes for name in change.set if name in known):
        values = [change.set.get(name, now.get(name)) for change in changes]
        if known[name].kind in ("text", "choice"):
            place = {value: at for at, value in enumerate(dict.fromkeys(values))}
            columns[name] = Words(np.array([place[value] for value in values]), np.array(list(place), dtype=object))
        else:
            columns[name] = np.array(values, dtype=float)
    return known_inputs(said, columns)
