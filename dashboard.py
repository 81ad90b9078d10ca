"""The entry: page setup, the link read and written, navigation. No arithmetic."""

import streamlit as st

from calc import CatalogError
from views import beside, choices, data

st.set_page_config(page_title="Headroom", page_icon="views/icon.svg", layout="wide")

PAGES = [
    st.Page(f"views/{file}.py", title=title, icon=f":material/{icon}:", help=help_text, default=file == "plan")
    for file, title, icon, help_text in (
        ("plan", "Plan", "space_dashboard", "A model and a way to run it: memory, fit and price"),
        ("search", "Search", "search", "Every allowed way to do it: the cheapest, the fastest, and why"),
        ("cost", "Run and month", "payments", "The bill in all: a run with spot's interruptions, or a month"),
        ("instances", "Instances", "dns", "Instances and regions side by side"),
        ("method", "Method", "functions", "Every formula with its numbers put in"),
        ("accuracy", "Accuracy", "target", "How often the range held, and where it did not"),
        ("catalog", "Catalog", "database", "Every fact with its source and date"),
    )
]

try:
    choices.read_link(data.base_catalogs())
    catalogs = data.catalogs()
except CatalogError as error:
    st.error(str(error), title="The catalogs cannot be read")
    st.stop()
st.session_state["notes"] = choices.settle(catalogs)
st.session_state["query"] = choices.write_link(catalogs)
page = st.navigation(PAGES, position="top")
beside.keep(choices.FIRST_VISIT, page.url_path)
page.run()
