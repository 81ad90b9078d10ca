"""SageMaker prices that are not published: on demand times the ratio of the published pairs."""

from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_reference

COMPONENTS = ("sagemaker_training", "sagemaker_hosting")  # names in prices.yaml
FACTS = ("usd_per_hour", "basis", "as_of", "source")


def ml_ratio(instance: str, rule: dict[str, Any]) -> float:
    """Price of the ml.* type over EC2 on demand, by family and size; the rule is in prices.yaml."""
    family, _, size = instance.partition(".")
    if family.startswith("p"):
        return rule["p_ratio"]
    return rule["xlarge_ratio"] if size == "xlarge" else rule["g_ratio"]


def with_derived(prices: pd.DataFrame, rule: dict[str, Any], instances: pd.DataFrame) -> pd.DataFrame:
    """The prices, missing ones derived, with the day of the on-demand price that they follow."""
    for instance in rule["types"]:
        check_reference(instance, instances.index, label_of("prices"), ("sagemaker", "types"), "instance")
    ratio = np.array([ml_ratio(name, rule) if name in rule["types"] else np.nan for name in prices["instance"]])
    derived = (prices["on_demand_usd_per_hour"] * ratio).round(6)
    words = pd.Series([f"on demand times {value:g} ({rule['rule']})" for value in ratio], index=prices.index)
    filled = {"usd_per_hour": derived, "basis": "derived", "as_of": prices["on_demand_as_of"], "source": words}
    for component in COMPONENTS:
        missing = prices[f"{component}_usd_per_hour"].isna() & derived.notna()
        prices = prices.assign(**{f"{component}_{name}": prices[f"{component}_{name}"].mask(missing, filled[name]) for name in FACTS})
    return prices
