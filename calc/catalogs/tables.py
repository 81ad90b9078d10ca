"""Tables of catalogs: float64 numbers, ISO dates; missing numbers are NaN, texts empty."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_reference
from calc.catalogs.strict_yaml import CatalogError
from calc.mappings import Json

SET_UP = (
    "work",
    "model",
    "implementation",
    "gpu",
    "precision",
    "gpus",
    "batch",
    "sequence_tokens",
    "prompt_tokens",
)
# Of a run of one's own; its set-up are columns of a result.
READING = ("made_on", "tool", "quantity", "ratio", *SET_UP)
# Fields in MiB or GiB, as a driver or AWS prints them, become _bytes.
BYTES = {
    "_mib": 2**20,
    "_gib": 2**30,
}


def table_of(entries: Json) -> pd.DataFrame:
    """Entries as a table; MiB and GiB become bytes, and fields keep their order."""
    names = dict.fromkeys(name for entry in entries.values() for name in entry)
    columns = {}
    for name in names:
        values = [entry.get(name) for entry in entries.values()]
        unit = BYTES.get(name[-4:])
        if unit:
            name = name[:-4] + "_bytes"
            values = [None if value is None else value * unit for value in values]
        columns[name] = column_of(values)
    return pd.DataFrame(columns, index=pd.Index(list(entries), name="id"))


def column_of(values: list[Any]) -> Any:
    """The values of one field as a column of one type; mixed values stay a list."""
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


def instance_table(entries: Json, gpus: pd.DataFrame) -> pd.DataFrame:
    """Instances with the memory of their cards."""
    for instance, entry in entries.items():
        check_reference(
            entry["gpu"], gpus.index, label_of("instances"), ("instances", instance, "gpu"), "GPU"
        )
    table = table_of(entries)
    table.insert(4, "gpu_memory_bytes", gpus["memory_bytes"].loc[table["gpu"]].to_numpy())
    return table


def by_card(entries: Json) -> pd.DataFrame:
    """A row per card from entries that are written per class of card."""
    rows = {}
    for name, entry in entries.items():
        for gpu in entry["gpus"]:
            if gpu in rows:
                raise CatalogError(
                    f"{label_of('utilization')}, entry {name}, field gpus: {gpu} is in two "
                    f"classes; keep it in one."
                )
            rows[gpu] = {"card_class": name} | {
                key: value for key, value in entry.items() if key != "gpus"
            }
    return table_of(rows)


def capability_number(capability: str) -> float:
    """A compute capability as a sortable number, 10.0 above 9.0; NaN without one."""
    major, _, minor = capability.partition(".")
    return 1000.0 * int(major) + int(minor) if major.isdigit() and minor.isdigit() else float("nan")


def reading_table(entries: Mapping[str, Json]) -> pd.DataFrame:
    """Readings of your own runs; without any, a table with the same columns and no rows."""
    columns = {name: column_of([entry[name] for entry in entries.values()]) for name in READING}
    return pd.DataFrame(columns, index=pd.Index(list(entries), name="id"))
