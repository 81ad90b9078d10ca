"""What to change: single changes of a scenario, each estimated, with what it saves and costs; else pairs of them."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.charts.tables import word_column
from calc.cost.markets import MARKETS
from calc.pipeline import estimate
from calc.plan.ranking import offered, scenario_of, standing
from calc.scenarios.join_places import price_rows
from calc.units import GIB
from calc.words import in_words, quality

SERVED_IN = ("fp8", "int8", "awq-4bit")
MOST_OF_A_KIND = {"instance": 3, "region": 2, "gpus": 2, "tuning": 2, "market": 1}
PAIRS_NAMED = 2
FEW_ALONE = 3  # with fewer single changes that make it fit, pairs are tried too
WORTH_RATIO, WORTH_GIB = 0.01, 0.5  # a change that saves less of the work's cost, and of memory, is not named


def single_changes(now: dict[str, Any], catalogs: Catalogs) -> list[dict[str, Any]]:
    """The changes worth trying on a scenario (a result row of estimate): a list of {column: value}."""
    changes = [{"instance": name, "gpu": ""} for name in _instances(now, catalogs)]
    changes += [{"region": name} for name in _regions(now, catalogs)]
    changes += _of_serving(now) if now["work"] == "inference" else _of_training(now)
    if now["gpus"] > 1:
        changes.append({"gpus": np.ceil(now["gpus"] / 2)})
    return [change for change in changes if any(now[name] != value for name, value in change.items())]


def _of_serving(now):
    split = {"tensor_parallel": now["tensor_parallel"] * 2}
    split["gpus"] = np.maximum(now["gpus"], split["tensor_parallel"] * now["pipeline_parallel"])
    changes = [{"precision": name} for name in SERVED_IN] + [{"kv_precision": "fp8"}, split, {"gpus": now["gpus"] * 2}]
    changes.append({"implementation": "vllm"})
    if now["tensor_parallel"] > 1 and now["gpus"] > 1:
        changes.append({"tensor_parallel": np.ceil(now["tensor_parallel"] / 2), "gpus": np.ceil(now["gpus"] / 2)})
    return changes + ([{"batch": np.ceil(now["batch"] / 2)}] if now["batch"] > 1 else [])


def _of_training(now):
    whole = {"sharding": "zero3"} if now["sharding"] == "none" else {}
    wider = [{"gpus": now["gpus"] * times} for times in (2, 4, 8)]
    changes = [{"recompute": name} for name in ("none", "selective-ops", "full")]
    changes += [{"optimizer": name} for name in ("adamw-8bit", "adafactor")]
    changes += [{"loss": "fused"}, {"compile": "yes"}, {"precision": "bf16"}, {"offload": "optimizer"}]
    changes += [{"tuning": "lora", "precision": name} for name in ("bf16", "int8", "nf4-dq")]
    changes += [*wider, *(each | whole for each in wider if whole)]
    if now["gpus"] > 1:
        changes += [{"sharding": name} for name in ("none", "zero1", "zero2", "zero3")]
    if now["batch"] > 1:
        half = np.ceil(now["batch"] / 2)
        changes.append({"batch": half, "accumulation_steps": np.ceil(now["accumulation_steps"] * now["batch"] / half)})
    if now["accumulation_steps"] > 1:
        half = np.ceil(now["accumulation_steps"] / 2)
        changes.append({"batch": now["batch"] * now["accumulation_steps"] // half, "accumulation_steps": half})
    return changes


def _instances(now, catalogs):
    """Every current instance sold in the region."""
    prices = catalogs.prices[catalogs.prices["region"] == now["region"]]
    sold = set(prices["instance"][prices["on_demand_usd_per_hour"].notna() | prices["spot_usd_per_hour"].notna()])
    return [name for name in catalogs.instances.index[catalogs.instances["current"]] if name in sold]


def _regions(now, catalogs):
    """Every region where the instance is sold."""
    price_of, regions = price_rows(catalogs)
    return [region for region in sorted(regions) if (now["instance"], region) in price_of] if now["instance"] else []


def advise(scenario: dict[str, Any], catalogs: Catalogs, market: str = "on-demand") -> pd.DataFrame:
    """Changes of a scenario that hold, the most useful first, with the columns to `set`; the best few of each kind.

    If the scenario holds, what saves most of the cost of its work comes first; else what makes it fit, cheapest first,
    and where few single changes do, the two cheapest pairs before them. USD per hour are those of the market; spot's
    slowdown and cost of work include its interruptions.
    """
    now = estimate(dict(scenario), catalogs, solve=False)
    known = now["runs"] != "emulated" or now["tokens_per_second"] > 0
    fitting = bool(offered(now)[0]) and known  # else, as for what does not fit, what makes it run
    changes = single_changes(now, catalogs)
    spot = [{"market": "spot"}] if market != "spot" and now["instance"] else []
    table = _tried(now, [*changes, *spot], catalogs, market)
    sound = table[table["holds"]]
    if fitting:
        smaller = (sound["saved_gib"] > WORTH_GIB) & (sound["saved_usd_per_hour"] >= 0)
        useful = (sound["saved_work_ratio"] > WORTH_RATIO) | smaller
        sound = sound[useful].sort_values(["saved_work_ratio", "saved_gib"], ascending=False, kind="stable")
    else:
        sound = sound[sound["kind"] != "market"]
        sound = sound.sort_values(["usd_per_hour", "slowdown_ratio"], kind="stable")
        if len(sound) < FEW_ALONE:
            both = pairs(now, changes, catalogs, market)
            sound = pd.concat([both[~(both["usd_per_hour"] >= sound["usd_per_hour"].min())], sound])
    few = [MOST_OF_A_KIND.get(kind, len(sound)) for kind in sound["kind"]]
    return sound[sound.groupby("kind").cumcount() < np.array(few, dtype=int)].reset_index(drop=True)


def pairs(now: dict[str, Any], changes: list[dict[str, Any]], catalogs: Catalogs, market: str) -> pd.DataFrame:
    """The cheapest pairs of changes that make a scenario fit."""
    settings = [change for change in changes if not set(change) & {"instance", "region"}]
    places = [change for change in changes if "instance" in change]
    both = [*combinations(settings, 2), *((setting, place) for setting in settings for place in places)]
    merged = [first | second for first, second in both if not set(first) & set(second)]
    table = _tried(now, merged, catalogs, market)
    fitting = table[table["holds"]].sort_values(["usd_per_hour", "slowdown_ratio"], kind="stable")
    return fitting.head(PAIRS_NAMED).assign(kind="pair").reset_index(drop=True)


def _tried(now, changes, catalogs, market):
    """Each change of a scenario estimated: GiB, USD per hour, share of the work's cost saved, slowdown, quality."""
    plain = scenario_of(now)
    scenarios = [{**plain, **{name: value for name, value in each.items() if name != "market"}} for each in changes]
    rows = estimate(pd.DataFrame(scenarios, dtype=object), catalogs, solve=False)
    markets = np.array([each.get("market", market) for each in changes])
    usd = np.where(markets == "spot", rows["usd_per_hour_spot"], rows["usd_per_hour_on_demand"]).astype(float)
    slower = 1 + np.where(markets == "spot", rows["spot_overhead_ratio"].to_numpy(dtype=float), 0.0)
    rate = rows["tokens_per_second"].to_numpy(dtype=float) / slower
    before = now[f"usd_per_hour_{MARKETS[market].key}"]
    before_rate = now["tokens_per_second"] / (1 + (now["spot_overhead_ratio"] if market == "spot" else 0.0))
    serves = now["work"] == "inference"
    notes = [quality(change, catalogs, serves) for change in changes]
    with np.errstate(divide="ignore", invalid="ignore"):
        return pd.DataFrame(
            {
                "change": word_column([in_words(change, catalogs, serves) for change in changes]),
                "kind": word_column([next(iter(change)) for change in changes]),
                "saved_gib": (now["memory_bytes"] - rows["memory_bytes"].to_numpy(dtype=float)) / GIB,
                "saved_usd_per_hour": before - usd,
                "saved_work_ratio": 1 - usd / rate / (before / before_rate),
                "slowdown_ratio": before_rate / rate,
                "usd_per_hour": usd,
                "fits": word_column(rows["fits"]),
                "holds": standing(rows) == 0,  # nothing emulated or not verified is advised
                "quality": word_column([words for words, _ in notes]),
                "source": word_column([source for _, source in notes]),
                "set": changes,
            }
        )
