"""Tables of prices: instances by region and market, storage, traffic, endpoints, capacity."""

import numpy as np
import pandas as pd

from calc.catalogs.commitments import COMMITMENTS, FACTS, YEARS, cheapest
from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_order, check_reference
from calc.catalogs.strict_yaml import CatalogError
from calc.catalogs.tables import column_of
from calc.mappings import Json

LOWEST_ZONE = "lowest zone"  # the basis of a price on spot that is a later lowest zone
SAGEMAKER = ("sagemaker_training", "sagemaker_hosting")  # names in prices.yaml
CAPACITY_COLUMNS = (
    "signal",
    "region",
    "of",
    "answer",
    "as_of",
    "value",
    "zone",
    "starts_on",
    "hours",
    "usd_per_hour",
    "error",
)
PRICE_COLUMNS = (
    "instance",
    "region",
    *(f"on_demand_{name}" for name in ("usd_per_hour", "basis", "as_of", "source")),
    *(
        f"spot_{name}"
        for name in (
            "usd_per_hour",
            "low_usd_per_hour",
            "high_usd_per_hour",
            "zones",
            "basis",
            "as_of",
            "source",
        )
    ),
    *(f"spot_newest_{name}" for name in ("usd_per_hour", "as_of", "source")),
    *(f"interruption_{name}" for name in ("band", "as_of", "source")),
    *(f"capacity_block_{name}" for name in ("usd_per_hour", "basis", "as_of", "source")),
    *(f"{component}_{name}" for component in SAGEMAKER for name in FACTS),
    *(f"{commitment}_{name}" for commitment in COMMITMENTS.values() for name in FACTS),
)


def price_table(
    entries: Json,
    instances: pd.DataFrame,
    regions: Json,
    sagemaker: Json,
) -> pd.DataFrame:
    """Prices of today: a row per instance and region, columns for every market."""
    file = label_of("prices")
    check_order(list(regions), file)
    rows = []
    for instance, by_region in entries.items():
        check_reference(instance, instances.index, file, ("prices", instance), "instance")
        if list(by_region) != sorted(by_region):
            order = ", ".join(sorted(by_region))
            raise CatalogError(
                f"{file}, entry {instance}: its regions are not sorted; write them as {order}."
            )
        for region, markets in by_region.items():
            check_reference(region, regions, file, ("prices", instance, region), "region")
            row = {"instance": instance, "region": region}
            for market, price in markets.items():
                row.update({f"{market}_{name}": value for name, value in price.items()})
            rows.append(row)
    text = {
        name for name in PRICE_COLUMNS if name.endswith(("_basis", "_as_of", "_source", "_band"))
    }
    columns = {name: [row.get(name) for row in rows] for name in PRICE_COLUMNS}
    prices = pd.DataFrame(
        {
            name: [value or "" for value in values] if name in text else column_of(values)
            for name, values in columns.items()
        }
    )
    prices = _with_derived(_with_newest_spot(prices), sagemaker, instances)
    return prices.assign(
        **{name: values for years in YEARS for name, values in cheapest(prices, years).items()}
    )


def _with_newest_spot(prices: pd.DataFrame) -> pd.DataFrame:
    """Prices in which a later lowest zone above the median on spot takes the median's place.

    No median lies below its lowest zone: the later observation proves that the zones have moved,
    and the highest is unknown.
    """
    newest = prices["spot_newest_usd_per_hour"]
    proves = (prices["spot_newest_as_of"] > prices["spot_as_of"]) & (
        newest > prices["spot_usd_per_hour"]
    )
    lowest = {
        "usd_per_hour": newest,
        "low_usd_per_hour": newest,
        "high_usd_per_hour": np.nan,
        "zones": np.nan,
        "basis": LOWEST_ZONE,
    }
    lowest |= {fact: prices[f"spot_newest_{fact}"] for fact in ("as_of", "source")}
    return prices.assign(
        **{
            f"spot_{name}": prices[f"spot_{name}"].mask(proves, value)
            for name, value in lowest.items()
        }
    )


def _ml_ratio(instance: str, rule: Json) -> float:
    """Price of an ml.* type over that of EC2 on demand, by the rule of prices.yaml."""
    family, _, size = instance.partition(".")
    if family.startswith("p"):
        return rule["p_ratio"]
    return rule["xlarge_ratio"] if size == "xlarge" else rule["g_ratio"]


def _with_derived(prices: pd.DataFrame, rule: Json, instances: pd.DataFrame) -> pd.DataFrame:
    """Prices with the missing SageMaker ones derived: on demand times the published ratio."""
    for instance in rule["types"]:
        check_reference(
            instance, instances.index, label_of("prices"), ("sagemaker", "types"), "instance"
        )
    ratio = np.array(
        [_ml_ratio(name, rule) if name in rule["types"] else np.nan for name in prices["instance"]]
    )
    derived_usd = (prices["on_demand_usd_per_hour"] * ratio).round(6)
    words = pd.Series(
        [f"on demand times {value:g} ({rule['rule']})" for value in ratio], index=prices.index
    )
    fields = {
        "usd_per_hour": derived_usd,
        "basis": "derived",
        "as_of": prices["on_demand_as_of"],
        "source": words,
    }
    for component in SAGEMAKER:
        missing = prices[f"{component}_usd_per_hour"].isna() & derived_usd.notna()
        prices = prices.assign(
            **{
                f"{component}_{name}": prices[f"{component}_{name}"].mask(missing, fields[name])
                for name in FACTS
            }
        )
    return prices


def storage_table(entries: Json, regions: Json) -> pd.DataFrame:
    """A row per kind and region; storage is paid by the month, traffic once. [USD per GiB]"""
    rows = []
    for kind, entry in entries.items():
        for region, price in entry["prices"].items():
            check_reference(
                region, regions, label_of("storage_and_traffic"), (kind, region), "region"
            )
            sizes = {name: float(entry[name]) for name in ("least_gib", "step_gib")}
            rows.append({"kind": kind, "label": entry["label"], **sizes, "region": region, **price})
    return pd.DataFrame(rows)


def endpoint_table(entries: Json, models: pd.DataFrame, regions: Json) -> pd.DataFrame:
    """Return a row per model and region: USD per million tokens in and out, and the name there."""
    file = label_of("endpoints")
    rows = []
    for model, by_region in entries.items():
        check_reference(model, models.index, file, (model,), "model")
        for region, price in by_region.items():
            check_reference(region, regions, file, (model, region), "region")
            rows.append({"model": model, "region": region, **price})
    return pd.DataFrame(rows)


def capacity_table(rows: list[Json]) -> pd.DataFrame:
    """One row per answer of AWS to an account; a figure that an answer lacks is empty."""
    return pd.DataFrame(rows, columns=list(CAPACITY_COLUMNS))
