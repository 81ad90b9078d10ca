"""A plan on other hardware and other choices: all its scenarios, more GPUs, every card and instance that holds it.

Everything here builds a table of scenarios, calls `estimate` once and selects from the result. USD, bytes, hours.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.pipeline import estimate
from calc.plan.ranking import HOLDS, offered, scenario_of, standing
from calc.scenarios.read import cross
from calc.units import GIB

NVLINK_GPUS = 8  # of one instance; no card of the catalog joins more
MOST_GPUS = 1024
DOUBLINGS = tuple(2**power for power in range(11))


def scenarios(choices: dict[str, Any], catalogs: Catalogs, layout: str = "given", solve: bool = True) -> pd.DataFrame:
    """Every combination of the choices with its estimate, one row each, in the order of the choices.

    Layout `divided` lets every inference row divide the model over its GPUs; `given` takes the degrees as chosen.
    Without `solve` the largest batch and sequence stay empty, in half the time.
    """
    table = cross(choices)
    if layout == "divided" and choices["work"] == "inference":
        table = table.assign(**_divided(table["gpus"].to_numpy(dtype=float)))
    return estimate(table, catalogs, solve)


def spread(scenario: dict[str, Any], gpus: Any) -> dict[str, Any]:
    """The scenario on each of these GPU counts (an array), as columns, in the plainest way that uses them to hold more.

    Training keeps its parallel degrees and divides all else over the rest (ZeRO 3 where nothing was sharded); inference
    divides each layer over up to 8 GPUs, and the layers over groups of 8 beyond.
    """
    gpus = np.asarray(gpus, dtype=float)
    if scenario["work"] == "inference":
        return scenario | {"gpus": gpus, **_divided(gpus)}
    unsharded = (scenario["sharding"] == "none") & (gpus > degrees(scenario))
    return scenario | {"gpus": gpus, "sharding": np.where(unsharded, "zero3", scenario["sharding"]).astype(object)}


def _divided(gpus):
    """The degrees that divide one replica over all GPUs: each layer over up to 8 of them, the layers over the rest."""
    tensor = np.minimum(gpus, NVLINK_GPUS)
    return {"tensor_parallel": tensor, "pipeline_parallel": gpus // tensor, "context_parallel": np.ones_like(gpus)}


def degrees(scenario: dict[str, Any]) -> int:
    """GPUs of one model replica."""
    return int(scenario["tensor_parallel"] * scenario["pipeline_parallel"] * scenario["context_parallel"])


def _counts(scenario, most=MOST_GPUS, step=1):
    """Doublings of a step up to the most, none below one replica of a training job."""
    least = 1 if scenario["work"] == "inference" else degrees(scenario)
    return [count for count in (max(step, least) * doubling for doubling in DOUBLINGS) if count <= most]


def _fewest(frame, column):
    """For each value of the column the row with the fewest GPUs that fits, running before refused; without one the smallest."""
    narrow = frame[[column, "fits", "runs", "problem", "gpus", "memory_bytes"]]
    fitting = (narrow["fits"].isin(HOLDS) & (narrow["problem"] == "")).to_numpy()
    size = np.where(fitting, narrow["gpus"], narrow["memory_bytes"])
    order = np.lexsort((size, standing(narrow), ~fitting))
    return frame.iloc[order[~narrow[column].iloc[order].duplicated().to_numpy()]]


def fits_on(scenario: dict[str, Any], catalogs: Catalogs) -> pd.DataFrame:
    """One row per card of the catalog: the fewest of it that hold the scenario (gpus_needed; NaN where 1024 do not, or none may).

    What runs comes first, then what is emulated, what is not verified, what does not fit, what is refused.
    """
    cards = catalogs.gpus.index[catalogs.gpus["memory_bytes"].notna()]
    counts = _counts(scenario)
    table = spread(scenario, np.tile(counts, len(cards))) | {"gpu": np.repeat(cards, len(counts)), "instance": ""}
    frame = _fewest(estimate(pd.DataFrame(table), catalogs, solve=False), "gpu")
    needed = frame["gpus"].astype(float).where(offered(frame))
    frame = frame.assign(
        gpus_needed=needed,
        name=catalogs.gpus["name"].loc[frame["gpu"]].to_numpy(),
        on_aws=frame["gpu"].isin(catalogs.instances["gpu"]),
        memory_gib=frame["memory_bytes"] / GIB,
        card_gib=frame["gpu_memory_bytes"] / GIB,
        stands=standing(frame),
    )
    return frame.sort_values(["stands", "gpus_needed", "gpu_memory_bytes"], kind="stable", na_position="last").drop(columns="stands")


def instance_table(scenario: dict[str, Any], catalogs: Catalogs) -> pd.DataFrame:
    """One row per instance type: as many of it as hold the scenario, with prices on demand and on spot.

    What runs comes first, cheapest first, then what is emulated, what is not verified, what does not fit, what is refused.

    Training uses every GPU of the instances that it pays for; inference the fewest that hold it. Several instances are
    only taken of types with EFA, the network that AWS makes for one job over many hosts.
    """
    places: list[str] = []
    gpus: list[int] = []
    for instance, sold, interfaces in catalogs.instances[["gpus", "efa_interfaces"]].itertuples():
        step = int(sold) if scenario["work"] == "training" else 1
        counts = _counts(scenario, MOST_GPUS if interfaces > 0 else sold, step) or [step]
        places += [instance] * len(counts)
        gpus += counts
    table = spread(scenario, gpus) | {"gpu": "", "instance": np.array(places, dtype=object)}
    frame = _fewest(estimate(pd.DataFrame(table), catalogs, solve=False), "instance")
    on_demand, spot = frame["usd_per_hour_on_demand"], frame["usd_per_hour_spot"]
    frame = frame.assign(
        card=catalogs.gpus["name"].loc[frame["gpu"]].to_numpy(), spot_saving_ratio=1 - spot / on_demand, stands=standing(frame)
    )
    order = ["stands", "usd_per_hour_on_demand", "usd_per_hour_spot"]
    return frame.sort_values(order, kind="stable", na_position="last").drop(columns="stands")


def over(scenario: dict[str, Any], catalogs: Catalogs, name: str, values: Iterable) -> pd.DataFrame:
    """The scenario once for each value of one choice."""
    return estimate(pd.DataFrame(scenario | {name: list(values)}), catalogs, solve=False)


def over_gpus(chosen: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """Each of the chosen scenarios (rows) on 1, 2, 4 ... GPUs; plan numbers the row it came from."""
    scenarios_of_rows = [scenario_of(row) for _, row in chosen.iterrows()]
    tables = [pd.DataFrame(spread(each, _counts(each, 256))).assign(plan=plan) for plan, each in enumerate(scenarios_of_rows)]
    table = pd.concat(tables, ignore_index=True)
    return pd.DataFrame(estimate(table.drop(columns="plan"), catalogs, solve=False)).assign(plan=table["plan"].to_numpy())
