"""The Catalog page: every fact that an estimate reads, with its source and the date on which it was checked."""

import pandas as pd
import streamlit as st

from calc.charts import tables as chart_tables
from calc.cost import offers
from views import tables
from views.session import catalogs as session_catalogs

CATALOGS = {
    "models": "Models",
    "gpus": "Cards",
    "instances": "Instances",
    "prices": "Prices",
    "precisions": "Precisions",
    "optimizers": "Optimizers",
    "shardings": "Sharding",
    "recomputes": "Recompute",
    "implementations": "Implementations",
    "choices": "Other choices",
    "families": "Model families",
    "utilization": "Speed of cards",
    "engines": "Speed of software",
    "kernels": "Quantised kernels",
    "serving_engines": "Serving engines",
    "overheads": "Overheads",
    "assumptions": "Assumptions",
    "quality": "Quality",
}

catalogs = session_catalogs.catalogs()
today = pd.Timestamp.today()

st.title("Catalog", anchor=False)
st.caption(f"Version {catalogs.version}. Prices as of {catalogs.prices_as_of}. An empty cell is unknown, never zero.")
name = st.pills(
    "Catalog",
    list(CATALOGS),
    format_func=CATALOGS.get,
    required=True,
    default="models",
    key="catalog",
    label_visibility="collapsed",
    persist_state="session",
)
table = chart_tables.catalog_table(catalogs, name)
about = catalogs.about.get(name, {})
if name == "prices":
    table = table.assign(check_price=offers.is_old(table["on_demand_as_of"], today))
    st.markdown(
        f"{int(table['check_price'].sum()):,} of {len(table):,} prices are older than {offers.OLD_DAYS} days: "
        "check them before renting. `make prices` brings today's."
    )
else:
    st.markdown(
        f"{len(table):,} entries, checked on {about.get('checked_on', 'unknown')}. Source: {about.get('source', 'with each entry')}."
    )
tables.raw(table, CATALOGS[name])
for note in about.get("notes", []):
    st.caption(note)
