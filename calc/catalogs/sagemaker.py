"""SageMaker's ml.* prices where none is published: on demand of the same type times the ratio that holds in every published pair."""

from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_reference

COMPONENTS = ("sagemaker_training", "sagemaker_hosting")  # names in prices.yaml
FACTS = ("usd_per_hour", "basis", "as_of", "source")


def ml_ratio(instance: str, rule: dict[str, Any]) -> float:
    """What the ml.* type costs over EC2 on demand: 1.40 for the smallest size of G, 1.25 for its others, 1.15 for P."""
    family, _, size = instance.partition(".")
    if family.startswith("p"):
        return rule["p_ratio"]
    return rule["xlarge_ratio"] if size == "xlarge" else rule["g_ratio"]


def with_derived(prices: pd.DataFrame, rule: dict[str, Any], instances: pd.DataFrame) -> pd.DataFrame:
    """The prices with what is not published filled in, marked as derived, as old as the on-demand price that it rests on."""
    for instance in rule["types"]:
        check_reference(instance, instances.index, label_of("prices"), ("sagemaker", "types"), "instance")
    ratio = np.array([ml_ratio(name, rule) if name in rule["types"] else np.nan for name in prices["instance"]])
    derived = (prices["on_demand_usd_per_hour"] * ratio).round(6)
    words = pd.Series([f"on demand times {each:g} ({rule['rule']})" for each in ratio], index=prices.index)
    filled = {"usd_per_hour": derived, "basis": "derived", "as_of": prices["on_demand_as_of"], "source": words}
    for component in COMPONENTS:
        wanted = prices[f"{component}_usd_per_hour"].isna() & derived.notna()
        prices = prices.assign(**{f"{component}_{name}": prices[f"{component}_{name}"].mask(wanted, filled[name]) for name in FACTS})
    return prices
