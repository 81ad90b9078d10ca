"""The Models tab: every model with its shape and size, and a button that plans with one."""

from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.charts import catalog_tables
from views.session import SESSION, job_state
from views.session import catalogs as session_catalogs
from views.shared import tables
from views.shared.elements import button
from views.shared.sources import source_table

KEY = "model_list"
COVERAGE = ("estimated", "refused")  # columns that say nothing where every model is estimated


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    several = len(catalogs.models)
    refusals = int((catalogs.models["refused"] != "").sum())
    estimated_words = (
        f", {several - refusals} of them estimated" if refusals else ", all of them estimated"
    )
    title.title(f"{several} models{estimated_words}", anchor=False)
    matches = _matches(catalogs)
    if not len(matches):
        st.info(
            "No model of the catalog has this name, family and size: clear one of the three.",
            icon=":material/search_off:",
        )
        return
    tables.of_rows(KEY, list(matches["id"]))
    ticked_models = [matches.iloc[index] for index in tables.chosen_in(KEY) if index < len(matches)]
    columns = tables.columns_of("models")
    source_table(
        matches,
        columns if refusals else {name: columns[name] for name in columns if name not in COVERAGE},
        "Models, by name",
        KEY,
        "models",
        catalogs,
        row_selection="single-row",
        height=560,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        _use_in_plan(ticked_models)
        another = "To add a model, open its config.json under Model on Plan."
        st.caption(f"{len(matches)} of {len(catalogs.models)} models. {another}", width="content")


def _matches(catalogs: Catalogs) -> pd.DataFrame:
    """Draw the search, the families and the sizes; return the models that match them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Search",
            key="model_search",
            placeholder="name, family or Hugging Face repository",
            width=320,
            **SESSION,
        )
        every = sorted(catalogs.models["family"].unique())
        families = st.multiselect(
            "Family", every, key="model_families", placeholder="All", width=220, **SESSION
        )
        sizes = st.pills(
            "Parameters",
            list(catalog_tables.SIZES),
            selection_mode="multi",
            key="model_sizes",
            wrap=True,
            **SESSION,
        )
    return catalog_tables.models(catalogs, text or "", families, sizes)


def _use_in_plan(ticked_models: list[pd.Series]) -> None:
    """Draw the button that puts the ticked model into the plan."""
    model = ticked_models[0]["id"] if ticked_models and ticked_models[0]["estimated"] else ""
    button(
        f"Use {ticked_models[0]['name']} in plan" if model else "Use in plan",
        partial(job_state.choose, model=model),
        icon="input",
        disabled=not model,
        help="Tick a model that is estimated.",
        key="use_model",
    )
