"""The Shelf page: the team's saved plans, with their cost then and today."""

import streamlit as st

from shelf import plans as shelf_plans
from views.panels import shelf as panel
from views.session import catalogs as session_catalogs
from views.session.present_plan import present
from views.wording.markdown import plain

catalogs = session_catalogs.catalogs()
title = st.container()
try:
    run = panel.store()
    st.caption(panel.ABOUT)
    panel.putting(run, present(catalogs).options, catalogs)
    plans = shelf_plans.newest(run)
except shelf_plans.ShelfError as error:
    title.title("The shelf is out of reach", anchor=False)
    st.error(plain(str(error)), icon=":material/block:")
    st.stop()

title.title(panel.heading(plans), anchor=False)
if not plans:
    st.markdown(panel.EMPTY)
    st.stop()
panel.chosen(run, *panel.listed(plans, catalogs), catalogs)
