"""The Models and prices page: the catalogs of models, cards and prices, with their sources."""

from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.charts import catalog_tables
from calc.charts import tables as chart_tables
from calc.cost import offers
from calc.cost.markets import MARKETS
from views.session import SESSION, job_state
from views.session import catalogs as session_catalogs
from views.shared import tables
from views.shared.elements import button
from views.shared.texts import TEXTS

OTHERS = TEXTS["catalogs"]["others"]

MODELS = "model_list"


def _models(rows: pd.DataFrame) -> None:
    """Models with shape, size of their weights and coverage; one can go into the plan."""
    tables.of_rows(MODELS, list(rows["id"]))
    look: dict[str, Any] = {"height": 560, "on_select": "rerun", "selection_mode": "single-row"}
    tables.show(rows, tables.columns_of("models"), "Models, by name", MODELS, **look)
    ticked = [rows.iloc[index] for index in tables.chosen_in(MODELS) if index < len(rows)]
    name, model = (ticked[0]["name"], ticked[0]["id"]) if ticked and ticked[0]["estimated"] else ("", "")
    label, tick = f"Use {name} in plan" if model else "Use in plan", "Tick a model that is estimated."
    button(label, _use, model, icon="input", disabled=not model, help=tick, key="use_model")


def _use(model: str) -> None:
    """Callback: the job is of this model."""
    job_state.choose(model=model)


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()

    title.title("Models and prices", anchor=False)
    st.caption(
        f"Every fact that an estimate reads, with its source and the day it was checked. Catalog {catalogs.version}; newest prices of "
        f"{catalogs.prices_as_of}. An empty cell is not known; it is never zero."
    )
    model_pane, card_pane, price_pane, other_pane = st.tabs(
        ["Models", "Cards", "Prices", "All catalogs"], on_change="rerun", key="catalog_tab"
    )

    if model_pane.open:
        with model_pane:
            search, family, size = st.columns([2, 2, 3])
            with search:
                text = st.text_input("Search", key="model_search", placeholder="Name, family or Hugging Face repository", **SESSION)
            with family:
                every = sorted(catalogs.models["family"].unique())
                families = st.multiselect("Family", every, key="model_families", placeholder="All", **SESSION)
            with size:
                sizes = st.pills("Parameters", list(catalog_tables.SIZES), selection_mode="multi", key="model_sizes", wrap=True, **SESSION)
            matches = catalog_tables.models(catalogs, text, families, sizes)
            st.caption(f"{len(matches)} of {len(catalogs.models)} models. For another one, give its config.json to the sidebar of Plan.")
            if len(matches):
                _models(matches)
            else:
                st.info("No model of the catalog has this name, family and size: clear one of the three.", icon=":material/search_off:")

    if card_pane.open:
        with card_pane:
            cards = catalog_tables.card_table(catalogs)
            tables.show(cards, tables.columns_of("cards"), "Cards, those that AWS rents first", "cards_table", height=560)
            st.caption("Memory as the card's driver reports it, a little under the number on the box. Rates are dense, without sparsity.")

    if price_pane.open:
        with price_pane:
            place, sold = st.columns(2)
            names = catalogs.regions["name"]
            st.session_state.setdefault("prices_region", next(iter(job_state.current().fields["regions"]), names.index[0]))
            with place:
                labels = {region: f"{region} · {name}" for region, name in names.items()}
                region = st.selectbox("Region", list(labels), format_func=labels.__getitem__, key="prices_region", **SESSION)
            with sold:
                every = sorted(catalogs.instances["family"].unique())
                families = st.multiselect("Instance family", every, key="prices_families", placeholder="All", **SESSION)
            table = offers.offers(catalogs, [region])
            table = table[table["family"].isin(families)] if families else table
            today = pd.Timestamp.today()
            old = {"old": offers.is_old(table["on_demand_as_of"], today), "spot_old": offers.is_old(table["spot_as_of"], today, "spot")}
            table = table.assign(**old).sort_values("instance", ignore_index=True)
            st.markdown(
                f"{table['on_demand_usd_per_hour'].notna().sum()} of {len(table)} instance types have an on-demand price in {region}; "
                f"{table['old'].sum()} of these prices are older than {MARKETS['on-demand'].old_days} days. `make prices` fetches today's."
            )
            alt = "Prices of every instance type in a region"
            tables.show(table, tables.columns_of("prices"), alt, "prices_table", height=560)
            st.caption(
                "USD per instance-hour, Linux, shared tenancy, before tax, storage and traffic. Published: read from AWS or a "
                "named source. Derived: from the price of another region. Spot: the median of the zones, or estimated "
                "from the Spot Advisor's saving."
            )

    if other_pane.open:
        with other_pane:
            name = st.selectbox("Catalog", list(OTHERS), format_func=OTHERS.__getitem__, key="catalog", **SESSION)
            table = chart_tables.catalog_table(catalogs, name)
            about = catalogs.about.get(name, {})
            checked = about.get("checked_on", "the dates in the rows")
            st.markdown(f"{len(table):,} entries, checked on {checked}. Source: {about.get('source', 'with each entry')}.")
            tables.raw(table, OTHERS[name])
            for note in about.get("notes", []):
                st.caption(note)
