"""The Shelf page: the team's saved plans, with their cost then and today."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from shelf import plans as shelf_plans
from views.compare_and_bill import shelf_panels as panel
from views.session import catalogs as session_catalogs
from views.session.present_plan import present
from views.shared.markdown import plain


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    try:
        run = panel.store()
        st.caption(panel.ABOUT)
        panel.putting(run, present(catalogs).options, catalogs)
        plans = shelf_plans.newest(run)
    except shelf_plans.ShelfError as error:
        title.title("The shelf is out of reach", anchor=False)
        st.error(plain(str(error)), icon=":material/block:")
        return

    title.title(panel.heading(plans), anchor=False)
    if not plans:
        st.markdown(panel.EMPTY)
        return
    panel.chosen(run, *panel.listed(plans, catalogs), catalogs)
