"""The cheapest ways to do a piece of work: every combination of what is allowed, on every instance, in every region and market.

Memory depends on the layout alone, time on the layout and the instance, the price on instance, region and market: each is
computed once, and the combinations are sums and products of arrays.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calc.cost import HOUR_SECONDS
from calc.estimate import CHUNK_ROWS, estimate, memory_columns, prepare, take
from calc.evaluate import evaluate, evaluate_all
from calc.joins import columns_of, join_hardware, price_keys, words_of
from calc.overhead import VERDICT
from calc.placement import PLACEMENT
from calc.scenarios import Problems, cross
from calc.speed_results import add_speed
from calc.spot import SPOT

MARKETS = ("on-demand", "spot")
PRICES = ("on_demand_usd_per_hour", "spot_usd_per_hour")
UNTIL_OVERHEAD = SPOT[:[formula.__name__ for formula in SPOT].index("spot_overhead_ratio") + 1]
KEPT = ("layout", "instance", "region", "market", "usd_per_hour", "hours", "usd", "gpus_paid")


@dataclass(frozen=True)
class Limits:
    """What a team allows beside its choices; infinity and 0 ask for nothing."""

    instances: float = 16
    usd_per_hour: float = np.inf
    usd: float = np.inf
    hours: float = np.inf
    step_tokens: float = 0


@dataclass(frozen=True)
class Found:
    """Every candidate that holds and keeps the limits, the layouts they are made of, and how many were looked at."""

    layouts: pd.DataFrame
    candidates: pd.DataFrame
    evaluated: int
    impossible: int
    too_large: int


def search(workload, allowed, limits, catalogs, progress=None):
    """Evaluate all combinations of `allowed` (lists by scenario column, instance, region and market among them) for a workload.

    Cost is that of the run (train_tokens) in training, and of a month of the wanted load in serving. USD, hours.
    """
    instances, regions, markets = allowed["instance"], allowed["region"], allowed.get("market") or list(MARKETS)
    choices = {name: values for name, values in allowed.items() if name not in ("instance", "region", "market")}
    layouts = cross({**workload, **choices, "instance": "", "gpu": "", "region": regions[0]})
    table, sound = _layouts_in_memory(layouts, catalogs)
    per_layout = len(instances) * len(regions) * len(markets)
    found, too_large = [], 0
    for number, instance in enumerate(instances):
        here, rows = _on_instance(table, sound, instance, limits, catalogs)
        too_large += (len(sound) - len(rows)) * len(regions) * len(markets)
        if len(rows):
            found += [_priced(here, rows, number, r, region, markets, limits, catalogs) for r, region in enumerate(regions)]
        if progress:
            progress((number + 1) / len(instances))
    columns = {name: np.concatenate([part[name] for part in found]) if found else np.empty(0) for name in KEPT}
    candidates = pd.DataFrame(columns).astype({"layout": int, "instance": int, "region": int})
    candidates["instance"] = np.asarray(instances, dtype=object)[candidates["instance"]]
    candidates["region"] = np.asarray(regions, dtype=object)[candidates["region"]]
    return Found(layouts, candidates, len(layouts) * per_layout, (len(layouts) - len(sound)) * per_layout, too_large)


def _layouts_in_memory(layouts, catalogs):
    """The joined table of all layouts with their memory, and the rows without a problem."""
    tables, sound = [], []
    for start in range(0, len(layouts), CHUNK_ROWS):
        _, table, problems = prepare(layouts.iloc[start:start + CHUNK_ROWS], catalogs)
        table.update(memory_columns(table, catalogs))
        tables.append(table)
        sound.append(start + np.flatnonzero((problems.text == "") & ~np.isnan(table["allocated_peak_bytes"])))
    return _stacked(tables), np.concatenate(sound)


def _stacked(tables):
    if len(tables) == 1:
        return tables[0]
    rows = sum(table["rows"] for table in tables)
    arrays = {name: np.concatenate([table[name] for table in tables], axis=-1) for name, value in tables[0].items() if isinstance(value, np.ndarray)}
    return arrays | {"rows": rows}


def _on_instance(table, sound, instance, limits, catalogs):
    """The layouts that stand on an instance within the limits, with its columns and their time."""
    gpus = columns_of(catalogs, "instances", ("gpus",))[catalogs.instances.index.get_loc(instance), 0]
    rows = sound[np.ceil(table["gpus"][sound] / gpus) <= limits.instances]
    here = take(table, rows)
    here["instance"] = np.full(len(rows), instance, dtype=object)
    here["gpu"] = np.full(len(rows), "", dtype=object)
    join_hardware(here, catalogs, Problems(len(rows)))
    evaluate_all(VERDICT, here)
    keep = np.flatnonzero(here["fits"] != "no")
    if not len(keep):
        return here, rows[keep]
    here = add_speed(take(here, keep))
    here["instances_needed"] = np.ceil(here["gpus"] / here["instance_gpus"])
    evaluate_all(PLACEMENT, here)
    large_enough = (here["trains"] == 0) | (here["step_tokens"] >= limits.step_tokens)
    placed = np.flatnonzero((here["placement_problem"] == "") & large_enough)
    return take(here, placed), rows[keep][placed]


def _priced(here, rows, number, r, region, markets, limits, catalogs):
    """Candidates of one instance in one region: USD per hour, hours and USD on each market, those within the limits."""
    prices = price_keys(catalogs)[0].get_indexer([f"{here['instance'][0]}|{region}"])[0] if len(rows) else -1
    per_hour = columns_of(catalogs, "prices", PRICES)[prices]
    band = words_of(catalogs, "prices", "interruption_band")[prices]
    overhead = _spot_overhead(here | {"interruption_band": np.full(len(rows), band, dtype=object)})
    parts = []
    for market in markets:
        spot = market == "spot"
        usd_per_hour = here["instances_needed"] * per_hour[MARKETS.index(market)]
        slower = (1 + overhead) if spot else 1.0
        training = here["train_tokens"] / here["tokens_per_second"] / HOUR_SECONDS * slower
        load = np.maximum(np.ceil(here["served_tokens_per_second"] / here["tokens_per_second"]), 1)
        hours = np.where(here["trains"] > 0, training, here["hours_per_month"])
        usd_per_hour = np.where(here["trains"] > 0, usd_per_hour, usd_per_hour * load)
        usd = usd_per_hour * hours
        good = np.flatnonzero((usd <= limits.usd) & (usd_per_hour <= limits.usd_per_hour) & (hours <= limits.hours))
        parts.append({
            "layout": rows[good], "instance": np.full(len(good), number), "region": np.full(len(good), r), "market": np.full(len(good), market, dtype=object),
            "usd_per_hour": usd_per_hour[good], "hours": hours[good], "usd": usd[good], "gpus_paid": (here["instances_needed"] * here["instance_gpus"])[good],
        })
    return {name: np.concatenate([part[name] for part in parts]) for name in KEPT}


def _spot_overhead(here):
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for formula in UNTIL_OVERHEAD:
            here[formula.__name__] = evaluate(formula, here)
    return here["spot_overhead_ratio"]


def frontier(candidates):
    """The candidates that no other beats in both cost and time, cheapest first."""
    ordered = candidates.sort_values(["usd", "hours"], kind="stable")
    before = ordered["hours"].cummin().shift(fill_value=np.inf)
    return ordered[ordered["hours"] < before]


def best(found, catalogs, most=20):
    """The rows to show: cheapest, cheapest by the hour, fastest, then the cheapest on every instance and market; fully estimated."""
    candidates = found.candidates
    if not len(candidates):
        return pd.DataFrame()
    each = candidates.loc[candidates.groupby(["instance", "market"])["usd"].idxmin()].nsmallest(most, "usd")
    named = {"cheapest": candidates["usd"].idxmin(), "cheapest hour": candidates["usd_per_hour"].idxmin(), "fastest": candidates["hours"].idxmin()}
    labels = pd.Series({index: label for label, index in reversed(named.items())})
    chosen = candidates.loc[pd.Index([*named.values(), *each.index]).unique()]
    scenarios = found.layouts.iloc[chosen["layout"]].reset_index(drop=True)
    scenarios[["instance", "region"]] = chosen[["instance", "region"]].to_numpy()
    rows = estimate(scenarios, catalogs, solve=False)
    shown = chosen[["market", "usd_per_hour", "hours", "usd"]].reset_index(drop=True).add_prefix("found_")
    return rows.assign(**shown, why=labels.reindex(chosen.index).fillna("").to_numpy())
