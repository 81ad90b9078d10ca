"""What a plan asks of the estimate: scenarios ranked, the answer, cards and instances that hold it, what would fit.

Everything here builds a table of scenarios, calls `estimate` once and selects from the result. USD, bytes, hours.
"""

import numpy as np
import pandas as pd

from calc.columns import COMPONENTS, GIB
from calc.cost.markets import MARKETS
from calc.pipeline import estimate
from calc.scenarios.read import DEFAULTS, cross

HOURS = {"hour": 1.0, "day": 24.0}
SPREADS = ("gpus", "sharding", "tensor_parallel", "pipeline_parallel", "context_parallel")
HOLDS = ("yes", "tight")
ORDER = {"yes": 0, "tight": 1, "no": 2, "": 3}
NVLINK_GPUS = 8  # of one instance; no card of the catalog joins more
MOST_GPUS = 1024
DOUBLINGS = tuple(2**power for power in range(11))


def scenarios(choices, catalogs, layout="given", solve=True):
    """Every combination of the choices with its estimate, one row each, in the order of the choices.

    Layout `divided` lets every inference row divide the model over its GPUs; `given` takes the degrees as chosen.
    Without `solve` the largest batch and sequence stay empty, in half the time.
    """
    table = cross(choices, catalogs)
    if layout == "divided" and choices["work"] == "inference":
        tensor = np.minimum(table["gpus"].astype(float), NVLINK_GPUS)
        table = table.assign(
            tensor_parallel=tensor, pipeline_parallel=table["gpus"].astype(float) // tensor, context_parallel=1.0
        )
    return estimate(table, catalogs, solve)


def in_period(frame, market, period):
    """USD of each row in a period (hour, day, month) on a market; NaN where there is no price."""
    if period == "month":
        return frame[f"usd_per_month_{MARKETS[market].key}"]
    return frame[f"usd_per_hour_{MARKETS[market].key}"] * HOURS[period]


def rank(frame, market="on-demand", period="hour"):
    """The rows, best first: what fits before what is tight before what does not fit, cheaper first, then smaller.

    Adds usd (in the period, on the market) and frontier (no other row that holds is both cheaper and smaller).
    """
    usd, memory = in_period(frame, market, period).to_numpy(dtype=float), frame["memory_bytes"].to_numpy(dtype=float)
    verdict = np.where(frame["problem"] == "", frame["fits"].map(ORDER), len(ORDER))
    order = np.lexsort((memory, usd, verdict))  # NaN goes last
    usd, memory, holds = usd[order], memory[order], (verdict[order] <= ORDER["tight"]) & ~np.isnan(usd[order])
    by_cost = np.flatnonzero(holds)[np.lexsort((memory[holds], usd[holds]))]
    best_before = np.minimum.accumulate(np.concatenate([[np.inf], memory[by_cost]]))[:-1]
    frontier = np.isin(np.arange(len(order)), by_cost[memory[by_cost] < best_before])
    return frame.iloc[order].assign(usd=usd, frontier=frontier)


def answer(ranked):
    """The row to name, and how many rows fit, are tight, do not fit, cannot be estimated.

    The row is the cheapest that holds; without one the row that is least over its card; without a card the smallest.
    """
    fits, usd = ranked["fits"].to_numpy(dtype=object), ranked["usd"].to_numpy(dtype=float)
    memory, card = (ranked[name].to_numpy(dtype=float) for name in ("memory_bytes", "gpu_memory_bytes"))
    sound = (ranked["problem"] == "").to_numpy()
    holds = sound & np.isin(fits, HOLDS)
    states = (
        ("cheapest", holds & ~np.isnan(usd), usd),
        ("unpriced", holds, memory),
        ("over", sound & (fits != ""), memory - card),
        ("no card", sound, memory),
        ("problem", np.ones(len(ranked), dtype=bool), np.zeros(len(ranked))),
    )
    state, able, measure = next(each for each in states if each[1].any())
    row = ranked.iloc[np.lexsort((memory, np.where(able, measure, np.inf)))[0]]
    parts = row[list(COMPONENTS)].astype(float)
    return {
        "state": state,
        "row": row,
        "fit": int((sound & (fits == "yes")).sum()),
        "tight": int((sound & (fits == "tight")).sum()),
        "do_not_fit": int((sound & (fits == "no")).sum()),
        "problems": int((~sound).sum()),
        "rows": len(ranked),
        "memory_gib": float(row["memory_bytes"]) / GIB,
        "low_gib": float(row["memory_low_bytes"]) / GIB,
        "high_gib": float(row["memory_high_bytes"]) / GIB,
        "card_gib": float(row["gpu_memory_bytes"]) / GIB,
        "over_gib": float(row["memory_bytes"] - row["gpu_memory_bytes"]) / GIB,
        "used_ratio": float(row["memory_bytes"] / row["gpu_memory_bytes"]) if row["fits"] else float("nan"),
        "largest": parts.idxmax() if parts.notna().any() else "",
        "largest_gib": float(parts.max()) / GIB,
        "largest_ratio": float(parts.max() / row["memory_bytes"]) if parts.notna().any() else float("nan"),
    }


def scenario_of(row):
    """The inputs of a result row, as one scenario."""
    return {name: row[name] for name in DEFAULTS}


def spread(scenario, gpus):
    """The scenario on each of these GPU counts (an array), as columns, in the plainest way that uses them to hold more.

    Training keeps its parallel degrees and divides all else over the rest (ZeRO 3 where nothing was sharded); inference
    divides each layer over up to 8 GPUs, and the layers over groups of 8 beyond.
    """
    gpus = np.asarray(gpus, dtype=float)
    if scenario["work"] == "inference":
        tensor = np.minimum(gpus, NVLINK_GPUS)
        return scenario | {
            "gpus": gpus,
            "tensor_parallel": tensor,
            "pipeline_parallel": gpus // tensor,
            "context_parallel": np.ones_like(gpus),
        }
    plain = scenario["sharding"] == "none"
    return scenario | {
        "gpus": gpus,
        "sharding": np.where(plain & (gpus > degrees(scenario)), "zero3", scenario["sharding"]),
    }


def degrees(scenario):
    """GPUs of one model replica."""
    return int(scenario["tensor_parallel"] * scenario["pipeline_parallel"] * scenario["context_parallel"])


def _counts(scenario, most=MOST_GPUS, step=1):
    """Doublings of a step up to the most, none below one replica of a training job."""
    least = 1 if scenario["work"] == "inference" else degrees(scenario)
    return [count for count in (max(step, least) * doubling for doubling in DOUBLINGS) if count <= most]


def _fewest(frame, column):
    """For each value of the column the row with the fewest GPUs that holds; where none does, the smallest."""
    narrow = frame[[column, "fits", "problem", "gpus", "memory_bytes"]]
    verdict = np.where(narrow["problem"] == "", narrow["fits"].isin(HOLDS), -1)
    size = np.where(verdict == 1, narrow["gpus"], narrow["memory_bytes"])
    order = np.lexsort((size, -verdict))
    return frame.iloc[order[~narrow[column].iloc[order].duplicated().to_numpy()]]


def fits_on(scenario, catalogs):
    """One row per card of the catalog: the fewest of it that hold the scenario (gpus_needed; NaN where 1024 do not)."""
    cards = catalogs.gpus.index[catalogs.gpus["memory_bytes"].notna()]
    counts = _counts(scenario)
    table = spread(scenario, np.tile(counts, len(cards))) | {"gpu": np.repeat(cards, len(counts)), "instance": ""}
    frame = _fewest(estimate(pd.DataFrame(table), catalogs, solve=False), "gpu")
    needed = frame["gpus"].astype(float).where(frame["fits"].isin(HOLDS))
    frame = frame.assign(
        gpus_needed=needed,
        name=catalogs.gpus["name"].loc[frame["gpu"]].to_numpy(),
        on_aws=frame["gpu"].isin(catalogs.instances["gpu"]),
        memory_gib=frame["memory_bytes"] / GIB,
        card_gib=frame["gpu_memory_bytes"] / GIB,
    )
    return frame.sort_values(["gpus_needed", "gpu_memory_bytes"], kind="stable", na_position="last")


def instance_table(scenario, catalogs):
    """One row per instance type: as many of it as hold the scenario, with prices on demand and on spot, cheapest first.

    Training uses every GPU of the instances that it pays for; inference the fewest that hold it. Several instances are
    only taken of types with EFA, the network that AWS makes for one job over many hosts.
    """
    places, gpus = [], []
    for instance, sold, interfaces in catalogs.instances[["gpus", "efa_interfaces"]].itertuples():
        step = int(sold) if scenario["work"] == "training" else 1
        counts = _counts(scenario, MOST_GPUS if interfaces > 0 else sold, step) or [step]
        places += [instance] * len(counts)
        gpus += counts
    table = spread(scenario, gpus) | {"gpu": "", "instance": np.array(places, dtype=object)}
    frame = _fewest(estimate(pd.DataFrame(table), catalogs, solve=False), "instance")
    on_demand, spot = frame["usd_per_hour_on_demand"], frame["usd_per_hour_spot"]
    frame = frame.assign(
        card=catalogs.gpus["name"].loc[frame["gpu"]].to_numpy(),
        spot_saving_ratio=1 - spot / on_demand,
        lost=~frame["fits"].isin(HOLDS),
    )
    order = ["lost", "usd_per_hour_on_demand", "usd_per_hour_spot"]
    return frame.sort_values(order, kind="stable", na_position="last").drop(columns="lost")


def over(scenario, catalogs, name, values):
    """The scenario once for each value of one choice."""
    return estimate(pd.DataFrame(scenario | {name: list(values)}), catalogs, solve=False)


def over_gpus(chosen, catalogs):
    """Each of the chosen scenarios (rows) on 1, 2, 4 ... GPUs; plan numbers the row it came from."""
    scenarios_of_rows = [scenario_of(row) for _, row in chosen.iterrows()]
    tables = [
        pd.DataFrame(spread(each, _counts(each, 256))).assign(plan=plan) for plan, each in enumerate(scenarios_of_rows)
    ]
    table = pd.concat(tables, ignore_index=True)
    return estimate(table.drop(columns="plan"), catalogs, solve=False).assign(plan=table["plan"].to_numpy())


TRAINING_CHANGES = (
    {"recompute": "full"},
    {"optimizer": "adamw-8bit"},
    {"loss": "fused"},
    {"precision": "bf16"},
    {"tuning": "lora"},
    {"tuning": "lora", "precision": "nf4"},
    {"batch": 1},
    {"sharding": "zero3"},
    {"offload": "optimizer"},
)
INFERENCE_CHANGES = (
    {"precision": "fp8"},
    {"precision": "int8"},
    {"precision": "awq-4bit"},
    {"kv_precision": "fp8"},
    {"batch": 1},
)


def changes(scenario, catalogs, market="on-demand", period="hour"):
    """Single changes that make the scenario fit, cheapest first: other settings, more GPUs, another instance."""
    settings = TRAINING_CHANGES if scenario["work"] == "training" else INFERENCE_CHANGES
    tried = [change for change in settings if any(scenario[name] != value for name, value in change.items())]
    for doubling in (1, 2, 4, 8, 16):
        wider = {name: np.ravel(value)[0] for name, value in spread(scenario, [scenario["gpus"] * doubling]).items()}
        wider = {name: wider[name] for name in SPREADS if wider[name] != scenario[name]}
        tried += [
            each for each in (wider, {"recompute": "full", **wider} if scenario["work"] == "training" else {}) if each
        ]
    if scenario["instance"]:
        tried += [
            {"instance": instance, "gpu": ""}
            for instance in catalogs.instances.index
            if instance != scenario["instance"]
        ]
    frame = estimate(pd.DataFrame([{**scenario, **change} for change in tried]), catalogs, solve=False).assign(
        change=tried
    )
    held = rank(frame[(frame["problem"] == "") & frame["fits"].isin(HOLDS)], market, period)
    return held.assign(kind=[min(change) for change in held["change"]]).drop_duplicates("kind")
