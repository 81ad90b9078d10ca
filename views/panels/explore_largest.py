"""The largest batch of each model by card and method; a cell can become the plan."""

from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts import tables as chart_tables
from calc.plan.figures import records
from calc.say.place import card_name
from calc.search import comparisons
from calc.search.standing import scenario_of
from views.session import job_state
from views.session.present_plan import Present
from views.session.remembered import remembered
from views.tables import NUMBER, TEXT
from views.wording import explore as words

MODELS = ("llama-3.2-1b", "llama-3.1-8b", "llama-2-13b", "llama-3.1-70b")


def table(plan: Present, catalogs: Catalogs) -> None:
    """Cards down, models and methods across; nothing fits is white and says 0."""
    offered = list(catalogs.models.index)
    chosen = st.multiselect(
        "Models",
        offered,
        default=list(dict.fromkeys([plan.scenario["model"], *(model_id for model_id in MODELS if model_id in offered)]))[:4],
        format_func=lambda model: catalogs.models["name"].get(model, model),
        max_selections=6,
        key="largest_models",
    )
    if not chosen:
        return
    cards = comparisons.cards_on_aws(catalogs)
    key = (plan.scenario, catalogs.version, chosen)
    rows = remembered("largest", key, lambda: comparisons.largest_batches(plan.scenario, catalogs, chosen, cards))
    cells, grades = (
        chart_tables.crossed(rows, "gpu", ("model", "method"), "most"),
        chart_tables.crossed(rows, "gpu", ("model", "method"), "grade"),
    )
    names = {column: words.largest_column(column[0], column[1], catalogs) for column in cells}
    styled = cells.set_axis(list(names.values()), axis=1).set_axis([card_name(card, catalogs) for card in cells.index], axis=0)
    colours = grades.set_axis(styled.columns, axis=1).set_axis(styled.index, axis=0)
    styled.index.name = "Card"
    styler = styled.style.apply(lambda _: colours.map(words.shade), axis=None)
    st.dataframe(
        styler,
        column_config={name: NUMBER(name, format="%d") for name in styled} | {"Card": TEXT("Card", pinned=True)},
        height=36 + 35 * len(styled),
        on_select=lambda: _take(cells, rows, catalogs),
        selection_mode="single-cell",
        key="largest_cells",
        placeholder="–",
        alt="The largest micro-batch by card, model and method",
    )
    what = "micro-batch" if plan.row["work"] == "training" else "number of sequences at once"
    caption = (
        f"The largest {what} on one whole card, sequences of {plan.row['sequence_tokens']:,.0f} tokens, all else as in the plan. "
        "0: not even one fits. Darker by every doubling. A click on a cell makes it the plan."
    )
    st.caption(caption)


def _take(cells: Any, rows: pd.DataFrame, catalogs: Catalogs) -> None:
    """Callback: the cell's model, card and method at its largest batch become the plan."""
    picked = st.session_state["largest_cells"]["selection"]["cells"]
    if not picked:
        return
    index, name = picked[0]
    names = {words.largest_column(column[0], column[1], catalogs): column for column in cells}
    if name not in names:
        return
    model, method = names[name]
    result = next(row for row in records(rows) if (row["gpu"], row["model"], row["method"]) == (cells.index[index], model, method))
    if result["most"] >= 1:
        job_state.adopt({**scenario_of(result), "batch": int(result["most"])}, "", catalogs)
