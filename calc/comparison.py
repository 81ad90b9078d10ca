"""Instances side by side: one row per instance and region, every price in every measure, with its date and basis."""

import numpy as np
import pandas as pd

from calc.cost import (
    usd_per_gib_hour_on_demand,
    usd_per_gib_hour_spot,
    usd_per_gpu_hour_on_demand,
    usd_per_gpu_hour_spot,
    usd_per_pflop_hour_on_demand,
    usd_per_pflop_hour_spot,
)
from calc.evaluate import evaluate_all

OLD_DAYS = 90
DATES = ("on_demand_as_of", "spot_as_of", "capacity_block_as_of")
QUOTAS = {  # AWS service quotas that count vCPUs (EC2 User Guide, instance limits; names recalled)
    "g": ("Running On-Demand G and VT instances", "All G and VT Spot Instance Requests"),
    "p": ("Running On-Demand P instances", "All P4, P3 and P2 Spot Instance Requests"),
    "p5": ("Running On-Demand P instances", "All P5 Spot Instance Requests"),
    "p6": ("Running On-Demand P instances", "the P6 spot quota of the account"),
}
MEASURES = (
    usd_per_gpu_hour_on_demand,
    usd_per_gpu_hour_spot,
    usd_per_gib_hour_on_demand,
    usd_per_gib_hour_spot,
    usd_per_pflop_hour_on_demand,
    usd_per_pflop_hour_spot,
)


def instance_comparison(catalogs, regions, today):
    """One row per instance and region, priced there or not; `today` (ISO date) marks prices older than 90 days."""
    sold = catalogs.instances.rename_axis("instance").reset_index().drop(columns=["source", "checked_on", "notes"])
    sold["gpu_bf16_flops_per_second"] = catalogs.gpus["bf16_flops_per_second"].reindex(sold["gpu"]).to_numpy()
    sold["gpu_name"] = catalogs.gpus["name"].reindex(sold["gpu"]).to_numpy()
    grid = sold.merge(pd.DataFrame({"region": list(regions)}), how="cross")
    table = grid.merge(catalogs.prices, on=["instance", "region"], how="left", validate="one_to_one")
    columns = {name: table[name].to_numpy() for name in table}
    columns |= {"instance_gpus": columns["gpus"], "instance_gpu_fraction": columns["gpu_fraction"]}
    made = evaluate_all(MEASURES, columns)
    for formula in MEASURES:
        table[formula.__name__] = made[formula.__name__]
    table["spot_saving_ratio"] = 1 - table["spot_usd_per_hour"] / table["on_demand_usd_per_hour"]
    table["price_note"] = np.where(table["on_demand_usd_per_hour"].isna(), "no on-demand price in this region", "")
    table["on_demand_quota"], table["spot_quota"] = zip(*map(quota_names, table["family"]), strict=True)
    for name in DATES:
        table[name] = table[name].fillna("")
        days = (pd.Timestamp(today) - pd.to_datetime(table[name].where(table[name] != ""))).dt.days
        table[name.replace("_as_of", "_is_old")] = days > OLD_DAYS
    return table


def quota_names(family):
    """The account's quotas, on demand and on spot, that count the vCPUs of an instance family."""
    return QUOTAS.get(family[:2]) or QUOTAS[family[0]]
