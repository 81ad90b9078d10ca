"""The frame of every page: set-up, link, menu, kept scenarios and complaints."""

import streamlit as st

from calc import CatalogError
from views.frame import top_bar
from views.frame.menu import pages
from views.session import (
    address,
    extra_state,
    first_run,
    heap,
    job_state,
    present_plan,
    undo,
)
from views.session import catalogs as session_catalogs
from views.shared.markdown import plain
from views.sidebar import sidebar


def draw() -> None:
    """One run of the page that the visitor is on."""
    st.set_page_config(
        page_title="Headroom", page_icon="views/icon.svg", layout="wide", initial_sidebar_state=364
    )

    session_catalogs.look_at_files()
    try:
        address.read_link(session_catalogs.base_catalogs())
        catalogs = session_catalogs.catalogs()
    except CatalogError as error:
        st.error(plain(str(error)), title="The catalogs cannot be read")
        st.stop()
    first_run.take()
    address.settle(catalogs)
    present_plan.forget_row_of_other_job()
    undo.note()
    page = st.navigation(pages(), position="top")
    address.write_link(catalogs, page.url_path)
    extra_state.keep(vars(job_state.KEYS), page.url_path)
    top_bar.draw(catalogs, page.url_path)
    if problem := session_catalogs.problem():
        st.warning(
            plain(problem),
            title="A catalog was changed and cannot be read; the last good ones are used",
            icon=":material/sync_problem:",
        )
    if catalogs.left_out:
        st.warning(
            plain(" ".join(catalogs.left_out)),
            title="A file of your own catalogs is left out",
            icon=":material/sync_problem:",
        )
    sidebar.complaints()
    page.run()
    first_run.note((*vars(job_state.KEYS), *extra_state.assumptions()))
    heap.give_back()
