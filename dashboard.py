"""The entry: page setup, the link read and written, navigation. No arithmetic."""

import streamlit as st

from calc import CatalogError
from views import choices, data

st.set_page_config(page_title="Headroom", page_icon="views/icon.svg", layout="wide")

PAGES = [
    st.Page(
        "views/plan.py",
        title="Plan",
        icon=":material/space_dashboard:",
        default=True,
        help="A model, a way to run it: memory, fit and price",
    ),
    st.Page("views/instances.py", title="Instances", icon=":material/dns:", help="Instances and regions side by side"),
    st.Page(
        "views/catalog.py", title="Catalog", icon=":material/database:", help="Every fact with its source and date"
    ),
]

try:
    choices.read_link(data.base_catalogs())
    catalogs = data.catalogs()
except CatalogError as error:
    st.error(str(error), title="The catalogs cannot be read")
    st.stop()
st.session_state["notes"] = choices.settle(catalogs)
st.session_state["query"] = choices.write_link(catalogs)
st.navigation(PAGES, position="top").run()
