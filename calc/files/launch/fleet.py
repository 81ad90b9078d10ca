"""The instance types among which AWS may choose for a plan on Spot."""

import json
from collections.abc import Collection

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.launch.shell import Script
from calc.mappings import Json
from calc.scenarios.inputs import BY_NAME
from calc.table import is_missing

MOST_TYPES = 20  # so that the request stays readable
ALIKE = ("gpus", "gpu_fraction", "arm")  # what the files of a plan count on

SPEEDS = {"tokens_per_second": 1, "time_to_first_token_seconds": -1}  # 1: more is faster


def fleet_types(row: Row, allowed: Collection[str], catalogs: Catalogs) -> list[str]:
    """Return the types that can stand in for a plan's own: its files run there as fast.

    The plan fits on each, and none costs more on demand than the plan's own type, which is first;
    then the cheapest on Spot. All have as many GPUs. `allowed`: the types that the job allows;
    every one if empty. AWS asks to name several: the more pools, the rarer it takes one back
    (docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html).
    """
    instances, own = catalogs.instances, row["instance"]
    alike = instances["current"].astype(bool)
    for name in ALIKE:
        alike &= instances[name] == instances.at[own, name]
    others = [
        name for name in instances.index[alike] if name != own and (not allowed or name in allowed)
    ]
    scenario = {name: row[name] for name in BY_NAME if not is_missing(row[name])}
    scenario.pop("gpu", None)  # which the instance settles
    tried = pd.DataFrame([scenario | {"instance": name} for name in others])
    if tried.empty:
        return [own]
    found = estimate(tried, catalogs, solve=False)
    works = (found["runs"] == "yes") & (found["fits"] == "yes") & (found["problem"] == "")
    for name in SPEEDS:
        slower = SPEEDS[name] * (found[name].astype(float) - row[name]) < 0
        works &= ~slower  # also where no speed is known
    works &= found["instance_usd_per_hour_spot"] <= row["instance_usd_per_hour_on_demand"]
    cheapest = found[works].sort_values("instance_usd_per_hour_spot", kind="stable")
    return [own, *cheapest["instance"].astype(str)][:MOST_TYPES]


def fleet_values(row: Row, values: Json, allowed: Collection[str], catalogs: Catalogs) -> Json:
    """The values that launch files need for a request of several types.

    A plan with EFA names one type alone: network cards differ between types.
    """
    asked = values["spot"] == "true" and values["efa"] == "no" and bool(row.get("instance"))
    types = fleet_types(row, allowed, catalogs) if asked else []
    is_fleet = len(types) > 1
    usd = values["usd_per_hour"]
    limit = {"MaxPrice": str(float(usd))} if usd else {}
    template = {"LaunchTemplateName": f"headroom-{values['plan_id']}", "Version": "$Latest"}
    configs = {
        "LaunchTemplateSpecification": template,
        "Overrides": [{"InstanceType": name, **limit} for name in types],
    }
    return {
        "fleet": "yes" if is_fleet else "no",
        "fleet_types": Script(", ".join(types)),
        "fleet_configs": json.dumps([configs]),
        "fleet_resources": [{"instance_type": name} for name in types] if is_fleet else None,
    }
