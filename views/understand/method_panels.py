"""Parts of the Method tab: formulas as lines, the columns they read, blocks, moments, rules."""

import numpy as np
import pandas as pd
import streamlit as st

from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.explain.bill_formulas import THE_OTHERS
from calc.explain.derivation import CHOICES
from calc.explain.traced_columns import plain_number
from calc.say.moments import MOMENTS
from calc.say.numbers import billed_usd, count, duration, gib_of
from views.shared.sources import with_links
from views.shared.tables import columns_of, grid, text_table
from views.shared.texts import texts_beside

NO_SOURCE = {"": "", "chosen": "chosen", CHOICES: "from the choices"}
UNITS = {"B/element": " B", "B/token": " B per token", "tokens": " tokens", "s": " s"}
TEXTS = texts_beside(__file__)["method"]
VECTORS = TEXTS["vectors"]
LEFT_OUT = TEXTS["left_out"]
SOURCES = TEXTS["sources"]

RUNS_MEANING = TEXTS["runs_meaning"]
CHOICE_NAMES = TEXTS["choice_names"]
COSTS = TEXTS["costs"]
TIMES = TEXTS["times"]


def rules(table: pd.DataFrame) -> None:
    """The rules that apply to a scenario: subject, consequence, source and date."""
    texts = table.assign(
        about=[CHOICE_NAMES.get(name, name.capitalize()) for name in table["what"]]
    )
    columns = columns_of("rules")
    grid(
        texts[list(columns)],
        columns,
        "Rules on what runs that count for this scenario, with their sources",
        "method_rules",
    )


def formulas(chain: pd.DataFrame, facts: pd.DataFrame) -> None:
    """The formulas of a figure, and the source of each column that they read."""
    st.code(derivation(chain), language="python", wrap_lines=True)
    reads: set[str] = set()
    for names in chain["reads"]:
        reads |= {*names}
    rows = facts[facts["column"].isin(reads)]
    if len(rows):
        lines = [_fact_line(row) for row in rows.to_dict("records")]
        text_table(lines, "Columns that the formulas read")


def _fact_line(row: Row) -> dict[str, str]:
    """A column that a formula reads: its name, meaning, value, origin and source."""
    source = row["source"]
    return {
        "Column": f"`{row['column']}`",
        "Meaning": row["means"],
        "Today": value_text(row["column"], row["value"], row["unit"]),
        "From": row["from"],
        "Source": NO_SOURCE[source] if source in NO_SOURCE else with_links(source),
    }


def block(forms: pd.DataFrame) -> None:
    """Draw the bytes that one block saves: a row per size, a column per way of running."""
    for (stack, kind, number_format, attention), rows in forms.groupby(
        ["stack", "block", "format", "attention"]
    ):
        st.markdown(
            f"**Blocks of stack {stack + 1}**: kind `{kind}` in {number_format} with the "
            f"kernel {attention} "
            "(`catalogs/read_off/blocks.yaml`), bytes per token as coefficient · size."
        )
        lines = [_vector_line(vector, part) for vector, part in rows.groupby("vector", sort=False)]
        text_table(lines, "Bytes per token that a block keeps and needs")
        sizes = [
            f"{row.size} {row.size_value:,.0f}" for row in rows.drop_duplicates("size").itertuples()
        ]
        st.caption(f"Sizes: {', '.join(sizes)}.")


def _vector_line(vector: str, terms: pd.DataFrame) -> dict[str, str]:
    """The bytes per token that a block keeps or needs in one way of running, and their terms."""
    label = VECTORS[vector]
    form = " + ".join(f"{term.coefficient:g} · {term.size}" for term in terms.itertuples())
    return {
        "What": f"**{label}: here**" if terms["kept"].any() else label,
        "Per token and block": f"`{form}`",
        "Bytes": f"{terms['bytes_per_token'].sum():,.0f}",
    }


def moments(rows: pd.DataFrame) -> None:
    """Draw every moment in words; the largest is the estimate and is in bold."""
    peak = rows["bytes"].idxmax()
    text_table(
        [
            {
                "Phase": f"**{row['phase']}**" if place == peak else row["phase"],
                "Allocated": gib_of(row["bytes"]),
                "What is alive": MOMENTS[row["moment"]],
            }
            for place, row in rows.iterrows()
        ],
        "Moments of a step and what is alive in them",
    )


def number_text(name: str, value: np.ndarray) -> str:
    """A number as an equation shows it: memory in GiB, large counts in words."""
    values = np.ravel(value)
    if (
        values.dtype.kind not in "bif"
        or len(set(values.tolist())) != 1
        or not np.isfinite(values[0])
    ):
        return plain_number(name, value)
    one = float(values[0])
    if name.endswith("_bytes"):
        return gib_of(one)
    return count(one) if abs(one) >= 1e6 else plain_number(name, one)


def value_text(name: str, value: np.ndarray, unit: str) -> str:
    """A value beside its unit."""
    text = number_text(name, value)
    return text if text.endswith("GiB") else text + UNITS.get(unit, "")


def derivation(rows: pd.DataFrame) -> str:
    """The formulas of a component as lines: description, equation, numbers, value."""
    return "\n\n".join(_lines(row) for row in rows.to_dict("records"))


def _lines(row: Row) -> str:
    """One formula as text: its docstring, its equation, and today's numbers."""
    is_of_component = row["step"] == 0 and row["component"] not in ("layout", THE_OTHERS)
    name = row["component"] if is_of_component else row["formula"]
    formula = "_bytes" if row["unit"] == "B" else row["formula"]
    result = value_text(formula, row["value"], row["unit"])
    sides = [
        text
        for text in dict.fromkeys((row["today"], row["numbers"]))
        if not result.startswith(text)  # a number alone, which the result repeats
    ]
    equation = "\n    = ".join([*sides, result])
    says = prose(row["says"]) or "Nothing at this moment."
    return f"# {says}\n{name} = {equation}"


def time_title(row: pd.Series) -> str:
    """Return the title of the time: One optimizer step · 265 ms."""
    return f"**{TIMES[row['component']]}** · {duration(float(row['value'][0]))}"


def cost_title(row: pd.Series) -> str:
    """Return the title of the cost: The bill · $85."""
    value = float(row["value"][0])
    name = row["component"]
    if name not in COSTS:
        return "**The other figures of price, spot and storage**"
    if name.endswith("hours_per_month"):
        sentence = f"{value:,.0f} h"
    elif name.endswith("even_tokens"):
        sentence = count(value)
    else:
        sentence = billed_usd(value)
    return f"**{COSTS[name]}** · {sentence}"


def bill(row: Row) -> str:
    """Return a sentence on what is billed."""
    period = "the run" if ends_of(row) else "a month"
    cost = f"{billed_usd(row['usd'])} for {period} {MARKETS[row['market']].phrase}"
    return (
        f"{cost}, as on Compare & bill: hours that are billed times what all instances cost an "
        "hour. The hours follow from the times above; their range is there too."
    )


def prose(docstring: str) -> str:
    """The words of the code on one line, names without their quotes."""
    return " ".join(docstring.replace("`", "").split())
