"""Tables of the Accuracy page: errors by group and source, worst cases, gaps."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from calc.charts import accuracy as accuracy_tables
from calc.columns import GLOSSARY
from calc.evaluate import Row
from views.catalog import accuracy_words as words
from views.shared.tables import NUMBER, TEXT, columns_of, show, text_table

SETTING = ("precision", "tuning", "recompute", "attention", "optimizer", "sharding", "implementation")


def summary(rows: pd.DataFrame, by_family: bool) -> None:
    """The error of every group, or of every group and family."""
    rows = rows[rows["family"] != ""] if by_family else rows[rows["family"] == ""]
    rows = rows.assign(on_gpus=accuracy_tables.on_gpus(rows)).sort_values("on_gpus", ascending=False, kind="stable")
    table = accuracy_tables.in_percent(rows).assign(
        meaning=rows["group"].map(words.GROUPS).fillna(""), seen=rows["on_gpus"].map({True: "real GPUs", False: "simulated"})
    )
    columns = {"group": TEXT("Group", pinned=True), "seen": TEXT("Truth")}
    columns |= {"family": TEXT("Family", pinned=True)} if by_family else {}
    columns |= columns_of("error_by_group")
    columns |= {} if by_family else {"meaning": TEXT("A case is", width="large")}
    show(table, columns, "Error of the estimate by group", "summary", height=480 if by_family else "content")


def misses(rows: pd.DataFrame) -> None:
    """The worst cases, each with why."""
    _missed(rows, "Case", ("model", "quantity", "case"), _setting, "+.2g", "The cases that miss most, and why")


def missed_times(rows: pd.DataFrame) -> None:
    """The times that miss most, each with why."""
    names = ("published_model", "measured", "source")
    _missed(rows, "Run", names, _run, "+.0f", "The published times that miss most, and why")


def _missed(rows: pd.DataFrame, what: str, names: tuple[str, ...], setting: Callable, digits: str, alt: str) -> None:
    """A line for each row: its columns `names`, the setting, the error and its cause."""
    model, quantity, origin = names
    lines = [
        {
            what: f"{row[model]}, {GLOSSARY[row[quantity]].label.lower()}: {setting(row)} *({row[origin]})*",
            "Error": f"{100 * row['error_ratio']:{digits}} %",
            "Why": row["why"] + (f" *{row['why_source']}*" if row["why_source"] else ""),
        }
        for row in rows.to_dict("records")
    ]
    text_table(lines, alt)


def _run(row: Row) -> str:
    gpus = f"{row['gpus']} × " if str(row["gpus"]) not in ("", "1") else ""
    return (
        f"{row['engine']} {row['engine_release']}".strip()
        + f", {gpus}{row['gpu']}, {row['precision']}, {row['batch']} × {row['sequence_tokens']}"
    )


def _setting(row: Row) -> str:
    choices = [str(row[name]) for name in SETTING if name in row and str(row[name]) not in ("", "none", "full", "flash")]
    choices += ["recompute full"] if str(row.get("recompute")) == "full" else []
    choices += [f"{row['gpus']} GPUs"] if str(row.get("gpus")) not in ("", "1", "None") else []
    return ", ".join(choices) + f", {row['batch']} × {row['sequence_tokens']}"


def reasons(rows: pd.DataFrame, alt: str, key: str) -> None:
    """Why cases are not compared, most frequent first."""
    columns = {"cases": NUMBER("Cases", format="%d"), "reason": TEXT("Reason", width="large"), "models": TEXT("Models", width="medium")}
    if len(rows):
        show(rows, columns, alt, key)
    else:
        st.caption("None.")


def speed(rows: pd.DataFrame) -> None:
    """The error of time by source of the published figures."""
    seen = rows["held_out"].astype(str).map({"True": "held out", "False": "looked at"})
    columns = columns_of("error_of_time")
    what = rows["measured"].map(lambda name: GLOSSARY[name].label)
    software = (rows["engine"] + " " + rows["engine_release"].fillna("").astype(str)).str.strip()
    show(
        accuracy_tables.in_percent(rows).assign(seen=seen, what=what, software=software),
        columns,
        "Error of time by source",
        "speed",
        height=420,
    )
