"""What to change: single changes of one scenario, each estimated, with what it saves and what it costs. And why one plan beats another."""

import numpy as np
import pandas as pd

from calc.columns import GIB
from calc.estimate import estimate
from calc.joins import price_keys

HOLDS = ("yes", "tight")
SHARDINGS = ("none", "zero1", "zero2", "zero3")
SERVED_IN = ("fp8", "int8", "awq-4bit")
WORDS = {
    "recompute": "recompute {0}", "optimizer": "optimizer {0}", "sharding": "sharding {0}", "tuning": "tuning {0}", "precision": "precision {0}", "loss": "{0} loss",
    "batch": "micro-batch {0:.0f}", "accumulation_steps": "{0:.0f} accumulation steps", "instance": "{0}", "region": "region {0}", "market": "{0}", "gpus": "{0:.0f} GPUs",
    "kv_precision": "KV cache in {0}", "tensor_parallel": "tensor parallel {0:.0f}", "compile": "compile {0}",
}
QUALITY_OF = {"precision": "precisions", "optimizer": "optimizers"}
QUALITY = {
    "recompute": ("the same numbers", "Chen et al. 2016, arXiv 1604.06174"),
    "sharding": ("the same numbers", "Rajbhandari et al. 2019, arXiv 1910.02054"),
    "tuning": ("learns less than full tuning on far tasks", "Biderman et al. 2024, arXiv 2405.09673"),
    "loss": ("the same numbers", "Hsu et al. 2024, arXiv 2410.10989"),
    "batch": ("the same batch in more micro-batches", "Goyal et al. 2017, arXiv 1706.02677"),
    "kv_precision": ("small loss, more on long contexts", "Hooper et al. 2024, arXiv 2401.18079"),
    "optimizer": ("", "Dettmers et al. 2022, arXiv 2110.02861; Shazeer and Stern 2018, arXiv 1804.04235"),
    "precision": ("", "Dettmers et al. 2023, arXiv 2305.14314; Lin et al. 2023, arXiv 2306.00978"),
}


def single_changes(scenario, catalogs):
    """The changes worth trying on a scenario (a result row of estimate): a list of {column: value}."""
    now = dict(scenario)
    changes = [{"gpus": now["gpus"] * 2}, *({"instance": name} for name in _instances(now, catalogs)), *({"region": name} for name in _regions(now, catalogs))]
    if now["gpus"] > 1:
        changes.append({"gpus": np.ceil(now["gpus"] / 2)})
    if now["work"] == "inference":
        changes += [{"precision": name} for name in SERVED_IN] + [{"kv_precision": "fp8"}, {"tensor_parallel": now["tensor_parallel"] * 2, "gpus": np.maximum(now["gpus"], now["tensor_parallel"] * 2)}]
    else:
        changes += [{"recompute": name} for name in ("none", "selective-ops", "full")] + [{"optimizer": name} for name in ("adamw-8bit", "adafactor")]
        changes += [{"loss": "fused"}, {"compile": "yes"}, {"tuning": "lora", "precision": "bf16"}, {"tuning": "lora", "precision": "nf4-dq"}, {"precision": "bf16"}]
        if now["gpus"] > 1:
            changes += [{"sharding": name} for name in SHARDINGS]
        if now["batch"] > 1:
            changes.append({"batch": np.ceil(now["batch"] / 2), "accumulation_steps": now["accumulation_steps"] * 2})
    return [change for change in changes if any(now[name] != value for name, value in change.items())]


def _instances(now, catalogs):
    """Every instance sold in the region."""
    sold = catalogs.prices[(catalogs.prices["region"] == now["region"]) & catalogs.prices["on_demand_usd_per_hour"].notna()]
    return [name for name in catalogs.instances.index if name in set(sold["instance"])] if now["instance"] else []


def _regions(now, catalogs):
    """Every region where the instance is sold."""
    keys, regions = price_keys(catalogs)
    return [region for region in sorted(regions) if f"{now['instance']}|{region}" in keys] if now["instance"] else []


def advise(scenario, catalogs, market="on-demand", most_instances=4):
    """Single changes of a scenario, the most useful first: USD, GiB, slowdown, quality, and the columns to set.

    If the scenario does not fit, what makes it fit comes first, cheapest first; else what saves most. Of instances and regions
    the best few are named.
    """
    now = estimate(dict(scenario), catalogs, solve=False)
    changes = single_changes(now, catalogs)
    rows = estimate(pd.DataFrame([{**scenario, **change} for change in changes], dtype=object), catalogs, solve=False)
    rate = f"usd_per_hour_{market.replace('-', '_')}"
    if rate.endswith("spot") is False and now["instance"]:
        changes.append({"market": "spot"})
        rows = pd.concat([rows, pd.DataFrame([now])], ignore_index=True)
    to_spot = np.array(["market" in change for change in changes])
    usd = np.where(to_spot, rows["usd_per_hour_spot"], rows[rate]).astype(float)
    holds = rows["fits"].isin(HOLDS).to_numpy() & (rows["problem"] == "").to_numpy()
    per_token = usd / rows["tokens_per_second"].to_numpy(dtype=float)
    per_token = np.where(to_spot, per_token * (1 + rows["spot_overhead_ratio"].to_numpy(dtype=float)), per_token)
    present_per_token = now[rate] / now["tokens_per_second"]
    table = pd.DataFrame({
        "change": [in_words(change) for change in changes],
        "kind": [next(iter(change)) for change in changes],
        "saved_gib": (now["memory_bytes"] - rows["memory_bytes"].to_numpy(dtype=float)) / GIB,
        "saved_usd_per_hour": now[rate] - usd,
        "saved_work_ratio": 1 - per_token / present_per_token,
        "slowdown_ratio": now["tokens_per_second"] / rows["tokens_per_second"].to_numpy(dtype=float),
        "usd_per_hour": usd,
        "fits": rows["fits"].to_numpy(),
        "holds": holds,
        "quality": [quality(change, catalogs)[0] for change in changes],
        "source": [quality(change, catalogs)[1] for change in changes],
        "set": changes,
        "problem": rows["problem"].to_numpy(),
    })
    table = table[holds]
    if now["fits"] in HOLDS:
        table = table[(table["saved_work_ratio"] > 0.01) | (table["saved_usd_per_hour"] > 0) | (table["saved_gib"] > 0.5)]
        table = table.sort_values(["saved_work_ratio", "saved_gib"], ascending=False)
    else:
        table = table.sort_values(["usd_per_hour", "slowdown_ratio"])
    few = table.groupby("kind").cumcount() < np.where(table["kind"].isin(["instance", "region"]), most_instances, len(table))
    return table[few].reset_index(drop=True)


def in_words(change):
    """A change as people say it."""
    return ", ".join(WORDS[name].format(value) for name, value in change.items())


def quality(change, catalogs):
    """What a change costs in quality, and who says so; empty where nothing is known."""
    name = "tuning" if "tuning" in change else next(iter(change))
    words, source = QUALITY.get(name, ("", ""))
    if name in QUALITY_OF:
        table = getattr(catalogs, QUALITY_OF[name])
        words = table["quality_note"].get(change[name], "")
    return words, source


def why(row, present):
    """In a sentence, why a found plan wins over the present one: what differs, and what that does to cost and time."""
    names = [name for name in WORDS if name in row and name in present and row[name] != present[name]]
    differences = ", ".join(WORDS[name].format(row[name]) for name in names) or "the same choices"
    usd, hours = row["found_usd"], row["found_hours"]
    words = f"{differences}, {row['found_market']}: USD {usd:,.0f} in {hours:,.1f} h"
    before, before_hours = present.get("run_usd_on_demand", np.nan), present.get("run_hours", np.nan)
    if not np.isfinite(before) or present.get("fits") not in HOLDS:
        return words + ("; the present plan does not fit." if present.get("fits") == "no" else ".")
    return words + f", against USD {before:,.0f} in {before_hours:,.1f} h ({usd / before - 1:+.0%} cost, {hours / before_hours - 1:+.0%} time)."
