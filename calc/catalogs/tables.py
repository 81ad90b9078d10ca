"""Tables of catalogs: float64 numbers, ISO dates; a missing number is NaN, a text empty."""

from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.commitments import COMMITMENTS, FACTS, YEARS, cheapest
from calc.catalogs.rooms import label_of
from calc.catalogs.sagemaker import COMPONENTS, with_derived
from calc.catalogs.schema_check import check_order, check_reference
from calc.catalogs.strict_yaml import CatalogError

BYTES = {"_mib": 2**20, "_gib": 2**30}  # fields that a driver or AWS prints in MiB or GiB become _bytes
PRICE_COLUMNS = (
    *("instance", "region"),
    *(f"on_demand_{name}" for name in ("usd_per_hour", "basis", "as_of", "source")),
    *(f"spot_{name}" for name in ("usd_per_hour", "low_usd_per_hour", "high_usd_per_hour", "zones", "basis", "as_of", "source")),
    *(f"spot_newest_{name}" for name in ("usd_per_hour", "as_of", "source")),
    *(f"interruption_{name}" for name in ("band", "as_of", "source")),
    *(f"capacity_block_{name}" for name in ("usd_per_hour", "basis", "as_of", "source")),
    *(f"{component}_{name}" for component in COMPONENTS for name in FACTS),
    *(f"{commitment}_{name}" for commitment in COMMITMENTS.values() for name in FACTS),
)


def table_of(entries: dict[str, Any]) -> pd.DataFrame:
    """Entries as a table; MiB and GiB become bytes, columns follow the fields' first appearance."""
    names = dict.fromkeys(name for entry in entries.values() for name in entry)
    columns = {}
    for name in names:
        values = [entry.get(name) for entry in entries.values()]
        unit = BYTES.get(name[-4:])
        if unit:
            name, values = name[:-4] + "_bytes", [None if value is None else value * unit for value in values]
        columns[name] = _column(values)
    return pd.DataFrame(columns, index=pd.Index(list(entries), name="id"))


def _column(values):
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, bool) for value in present):
        return [bool(value) for value in values]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return np.array([np.nan if value is None else value for value in values], dtype="float64")
    if all(isinstance(value, list) for value in present):
        return [value or [] for value in values]
    if all(isinstance(value, str) for value in present):
        return [value or "" for value in values]
    return values


def instance_table(entries: dict[str, Any], gpus: pd.DataFrame) -> pd.DataFrame:
    """Instances with the memory of their cards."""
    for instance, entry in entries.items():
        check_reference(entry["gpu"], gpus.index, label_of("instances"), ("instances", instance, "gpu"), "GPU")
    table = table_of(entries)
    table.insert(4, "gpu_memory_bytes", gpus["memory_bytes"].loc[table["gpu"]].to_numpy())
    return table


def by_card(entries: dict[str, Any]) -> pd.DataFrame:
    """A row per card of entries that are written by class of card."""
    rows = {}
    for name, entry in entries.items():
        for gpu in entry["gpus"]:
            if gpu in rows:
                raise CatalogError(f"{label_of('utilization')}, entry {name}, field gpus: {gpu} stands in two classes; keep it in one.")
            rows[gpu] = {"card_class": name} | {key: value for key, value in entry.items() if key != "gpus"}
    return table_of(rows)


def price_table(entries: dict[str, Any], instances: pd.DataFrame, regions: dict[str, Any], sagemaker: dict[str, Any]) -> pd.DataFrame:
    """Prices of today: a row per instance and region, with columns for every market."""
    file = label_of("prices")
    check_order(list(regions), file)
    rows = []
    for instance, by_region in entries.items():
        check_reference(instance, instances.index, file, ("prices", instance), "instance")
        if list(by_region) != sorted(by_region):
            order = ", ".join(sorted(by_region))
            raise CatalogError(f"{file}, entry {instance}: its regions are not sorted; write them as {order}.")
        for region, markets in by_region.items():
            check_reference(region, regions, file, ("prices", instance, region), "region")
            row = {"instance": instance, "region": region}
            for market, price in markets.items():
                row.update({f"{market}_{name}": value for name, value in price.items()})
            rows.append(row)
    text = {name for name in PRICE_COLUMNS if name.endswith(("_basis", "_as_of", "_source", "_band"))}
    columns = {name: [row.get(name) for row in rows] for name in PRICE_COLUMNS}
    prices = pd.DataFrame(
        {name: [value or "" for value in values] if name in text else _column(values) for name, values in columns.items()}
    )
    prices = with_derived(prices, sagemaker, instances)
    return prices.assign(**{name: values for years in YEARS for name, values in cheapest(prices, years).items()})
