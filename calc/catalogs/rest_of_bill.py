"""Tables of a bill beside instances: storage, traffic, endpoints, an account's capacity."""

from typing import Any

import pandas as pd

from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_reference

CAPACITY_COLUMNS = ("signal", "region", "of", "answer", "as_of", "value", "zone", "starts_on", "hours", "usd_per_hour", "error")


def storage_table(entries: dict[str, Any], regions: dict[str, Any]) -> pd.DataFrame:
    """A row per kind and region; usd_per_gib is that of storage for a month, of traffic once."""
    rows = []
    for kind, entry in entries.items():
        for region, price in entry["prices"].items():
            check_reference(region, regions, label_of("storage_and_traffic"), (kind, region), "region")
            rows.append({"kind": kind, "label": entry["label"], "least_gib": float(entry["least_gib"]), "region": region, **price})
    return pd.DataFrame(rows)


def endpoint_table(entries: dict[str, Any], models: pd.DataFrame, regions: dict[str, Any]) -> pd.DataFrame:
    """A row per model and region: USD per million tokens in and out, and the name it has there."""
    file, rows = label_of("endpoints"), []
    for model, by_region in entries.items():
        check_reference(model, models.index, file, (model,), "model")
        for region, price in by_region.items():
            check_reference(region, regions, file, (model, region), "region")
            rows.append({"model": model, "region": region, **price})
    return pd.DataFrame(rows)


def capacity_table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """AWS's answers, a row each; a figure that an answer lacks is empty."""
    return pd.DataFrame(rows, columns=list(CAPACITY_COLUMNS))
