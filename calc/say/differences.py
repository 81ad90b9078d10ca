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
    is empty, and differs among the others alone. `shared` has the words of one that does not
    differ. An assumption of time and cost is listed only if it differs.
    """
    records = rows.to_dict("records")
    table = []
    for name in dict.fromkeys((*_PLACE, *inputs_by_name())):
        words = [in_words(name, row, catalogs) for row in records]
        differs = (
            len({text for text, row in zip(words, records, strict=True) if _reads(row, name)}) > 1
        )
        shared = "" if differs else next(filter(None, words), "")
        if name not in ("scenario", "gpu") and (differs or (shared and name not in ASSUMED)):
            table.append((name, label(name, records, catalogs), differs, shared, *words))
    columns = ["choice", "label", "differs", "shared", *range(len(rows))]
    return pd.DataFrame(table, columns=columns).sort_values(
        "differs", ascending=False, kind="stable", ignore_index=True
    )


def label(name: str, rows: list[Row], catalogs: Catalogs) -> str:
    """A choice's name on screen; the batch of a row that serves is its concurrent sequences."""
    serves = {row["work"] == "inference" for row in rows}
    if name == "batch" and serves == {True}:
        return "Concurrent sequences"
    if name == "batch" and len(serves) == 2:
        return "Micro-batch, or concurrent sequences"
    if name in catalogs.assumptions.index:
        return str(catalogs.assumptions["label"][name])
    return "Market" if name == "market" else GLOSSARY[name].label


def in_words(name: str, row: Row, catalogs: Catalogs) -> str:
    """One choice of a row in words; empty if the row does not set or does not read it."""
    value = row.get(name, "")
    follows = name in SAME_AS_SEQUENCE and value == row["sequence_tokens"]
    if follows or not _reads(row, name):
        return ""
    if name == "market":
        return MARKETS[value].label
    if name == "instance":
        return value or card_name(row["gpu"], catalogs)
    if name != "gpus" and (phrase := phrase_of(name, value)):
        return phrase
    if isinstance(value, int | float | np.number):
        return "" if np.isnan(value) else _number(float(value))
    if name == "kv_precision":
        return value or "16-bit"
    return name_of(name, value, catalogs) if value else ""


def _reads(row: Row, name: str) -> bool:
    """Return whether the work and the tuning of a row read a choice."""
    is_of_adapters = name in LORA_ONLY
    has_adapters = row["tuning"] == "lora" or row["adapters"] > 0
    return name not in UNREAD[row["work"]] and (has_adapters or not is_of_adapters)


def _number(value: float) -> str:
    """A number in digits, however large: 20,000,000,000."""
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.10g}"
