"""Tables of the Method page: rules, columns, terms of a block, moments, other systems."""

import pandas as pd
import streamlit as st

from calc.say.numbers import gib
from calc.units import GIB
from views.shared.tables import columns_of, grid, text_table
from views.understand import method_words as words


def rules(table: pd.DataFrame) -> None:
    """The rules that apply to a scenario: subject, consequence, source and date."""
    shown = table.assign(about=[words.CHOICE_NAMES.get(name, name.capitalize()) for name in table["what"]])
    columns = columns_of("rules")
    grid(shown[list(columns)], columns, "Rules on what runs that count for this scenario, with their sources", "method_rules")


def facts(rows: pd.DataFrame) -> None:
    """The columns that the formulas read and none makes, with the place where each stands."""
    if not len(rows):
        return
    text_table(
        [
            {
                "Column": f"`{row['column']}`",
                "Meaning": row["means"],
                "Today": words.value_text(row["column"], row["value"], row["unit"]),
                "From": row["from"],
            }
            for row in rows.to_dict("records")
        ],
        "Columns that the formulas read",
    )
    sources = dict.fromkeys(source for source in rows["source"] if source not in words.NO_SOURCE)
    if sources:
        st.caption("Sources: " + "; ".join(sources) + ".")


def block(forms: pd.DataFrame) -> None:
    """What one block keeps, from the catalog: a row per size, a column per way of running."""
    for (stack, kind, number_format, attention), rows in forms.groupby(["stack", "block", "format", "attention"]):
        st.markdown(
            f"**Blocks of stack {stack + 1}**: kind `{kind}` in {number_format} with the kernel {attention} "
            "(`catalogs/read_off/blocks.yaml`), bytes per token as coefficient · size."
        )
        terms = {
            vector: " + ".join(f"{term.coefficient:g} · {term.size}" for term in part.itertuples())
            for vector, part in rows.groupby("vector", sort=False)
        }
        totals = rows.groupby("vector", sort=False)["bytes_per_token"].sum()
        here = set(rows.loc[rows["kept"], "vector"])
        text_table(
            [
                {
                    "What": f"**{words.VECTORS[vector]}: here**" if vector in here else words.VECTORS[vector],
                    "Per token and block": f"`{terms[vector]}`",
                    "Bytes": f"{total:,.0f}",
                }
                for vector, total in totals.items()
            ],
            "Bytes per token that a block keeps and needs",
        )
        sizes = rows.drop_duplicates("size")
        st.caption("Sizes: " + ", ".join(f"{row.size} {row.size_value:,.0f}" for row in sizes.itertuples()) + ".")


def moments(rows: pd.DataFrame) -> None:
    """Every moment that was looked at, in words; the largest is the estimate and stands in bold."""
    peak = rows["bytes"].idxmax()
    text_table(
        [
            {
                "Phase": f"**{row['phase']}**" if place == peak else row["phase"],
                "Allocated": gib(row["bytes"] / GIB),
                "What is alive": words.prose(row["says"]),
            }
            for place, row in rows.iterrows()
        ],
        "Moments of a step and what is alive in them",
    )
