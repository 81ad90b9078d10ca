"""The choices of two to six rows side by side, in words."""

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.say.place import card_name
from calc.say.setting import name_of, phrase_of
from calc.scenarios.inputs import (
    ASSUMED,
    INFERENCE_ONLY,
    LORA_ONLY,
    SAME_AS_SEQUENCE,
    TRAINING_ONLY,
    inputs_by_name,
)

_PLACE = ("instance", "instances_needed", "gpus", "market", "region")  # read first
UNREAD = {"training": INFERENCE_ONLY, "inference": TRAINING_ONLY}


def choices(rows: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """Every choice that the rows read: choice, label, differs, and a column of words per row.

    Choices that differ come first, the place before the setting; a choice that a row does not read
    is empty. An assumption of time and cost is listed only if it differs.
    """
    records = rows.to_dict("records")
    table = []
    for name in dict.fromkeys((*_PLACE, *inputs_by_name())):
        words = [in_words(name, row, catalogs) for row in records]
        differs = len(set(words)) > 1
        if name not in ("scenario", "gpu") and (differs or (any(words) and name not in ASSUMED)):
            table.append((name, label(name, records, catalogs), differs, *words))
    columns = ["choice", "label", "differs", *range(len(rows))]
    return pd.DataFrame(table, columns=columns).sort_values(
        "differs", ascending=False, kind="stable", ignore_index=True
    )


def label(name: str, rows: list[Row], catalogs: Catalogs) -> str:
    """A choice's name on screen; if all rows serve, the batch is the concurrent sequences."""
    if name == "batch" and all(row["work"] == "inference" for row in rows):
        return "Concurrent sequences"
    if name in catalogs.assumptions.index:
        return str(catalogs.assumptions["label"][name])
    return "Market" if name == "market" else GLOSSARY[name].label


def in_words(name: str, row: Row, catalogs: Catalogs) -> str:
    """One choice of a row in words; empty if the row does not set or does not read it."""
    value = row.get(name, "")
    follows = name in SAME_AS_SEQUENCE and value == row["sequence_tokens"]
    if (
        follows
        or name in UNREAD[row["work"]]
        or (name in LORA_ONLY and row["tuning"] != "lora" and not row["adapters"] > 0)
    ):
        return ""
    if name == "market":
        return MARKETS[value].label
    if name == "instance":
        return value or card_name(row["gpu"], catalogs)
    if phrase := phrase_of(name, value):
        return phrase
    if isinstance(value, int | float | np.number):
        return "" if np.isnan(value) else f"{value:,.10g}"
    if name == "kv_precision":
        return value or "16-bit"
    return name_of(name, value, catalogs) if value else ""
