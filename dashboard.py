"""The entry: page setup, the link read and written, navigation, what is kept. No arithmetic."""

from functools import partial

import streamlit as st

from calc import CatalogError
from views.panels import kept_tray
from views.session import address, extra_state, first_run, job_state, kept, undo
from views.session import catalogs as session_catalogs
from views.sidebar import sidebar
from views.wording.numbers import plain

st.set_page_config(page_title="Headroom", page_icon="views/icon.svg", layout="wide", initial_sidebar_state=340)

MENU = {  # section of the top bar: file, path, title, icon, help
    "": (
        ("plan", "", "Plan", "space_dashboard", "What to rent for the job, and how to set it"),
        ("compare", "compare", "Compare", "compare_arrows", "Kept scenarios side by side: what differs, by how much, and why"),
        ("bill", "bill", "Bill", "payments", "What the job costs in words for who pays: what is paid, how sure, what is not in it"),
        ("instances", "instances", "Instances", "dns", "Instances and regions side by side"),
        (
            "explore",
            "explore",
            "Explore",
            "explore",
            "The plan walked into out of memory, over GPUs, methods and tasks; the decision guide",
        ),
        (
            "bring",
            "bring",
            "Bring",
            "upload_file",
            "Your own config, launch command or out-of-memory message, line by line beside the estimate",
        ),
        ("shelf", "shelf", "Shelf", "inventory_2", "Plans kept for the team by name, with their price then and now"),
    ),
    "Reference": (
        ("models_and_prices", "models", "Models and prices", "database", "Every fact with its source and date, searchable"),
        ("method", "method", "Method", "functions", "Every formula with its numbers put in"),
        ("accuracy", "accuracy", "Accuracy", "target", "How far estimates are from what was measured, and where they miss"),
    ),
}
# Of addresses that people have kept.
OLD_PATHS = {"search": "plan", "catalog": "models_and_prices", "models-and-prices": "models_and_prices", "cost": "bill"}

session_catalogs.look_at_files()
try:
    address.read_link(session_catalogs.base_catalogs())
    catalogs = session_catalogs.catalogs()
except CatalogError as error:
    st.error(plain(str(error)), title="The catalogs cannot be read")
    st.stop()
first_run.take()
address.settle(catalogs)
undo.note()
address.write_link(catalogs)
pages = {
    section: [
        st.Page(
            f"views/pages/{file}.py",
            url_path=path,
            title=title + kept_tray.counted(file),
            icon=f":material/{icon}:",
            help=about,
            default=file == "plan",
        )
        for file, path, title, icon, about in entries
    ]
    for section, entries in MENU.items()
}
pages[""] += [
    st.Page(partial(st.switch_page, f"views/pages/{file}.py"), url_path=path, title=path, visibility="hidden")
    for path, file in OLD_PATHS.items()
]
page = st.navigation(pages, position="top")
extra_state.keep(job_state.KEYS, page.url_path)
kept_tray.tray(kept.rows(catalogs))
if problem := session_catalogs.problem():
    st.warning(
        plain(problem), title="A catalog was changed and cannot be read; the last good ones are used", icon=":material/sync_problem:"
    )
sidebar.complaints()
page.run()
first_run.note((*job_state.KEYS, *extra_state.assumptions()))
