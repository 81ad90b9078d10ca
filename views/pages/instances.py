"""The Instances page: types that run the job, types side by side, one type by region."""

from functools import partial

import streamlit as st

from calc.files.csv import tables as csv_tables
from calc.say.numbers import counted, is_missing
from calc.search import instances
from views import tables
from views.panels import instances as panel
from views.session import catalogs as session_catalogs
from views.session import job_state
from views.session.present_plan import present
from views.sidebar import sidebar
from views.wording.markdown import plain

catalogs = session_catalogs.catalogs()
sidebar.sidebar(catalogs)
now = present(catalogs)
here = next(iter(job_state.now().asked["regions"]), catalogs.regions.index[0])
answered = not is_missing(now.row["memory_bytes"])

title = st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    whole = panel.whole_catalog(answered)
    by = panel.order(whole)
    families, least_gib = panel.narrowed(catalogs)
table = instances.priced(catalogs, [here]) if whole else instances.for_job(now.options.board, catalogs)
table = instances.in_order(instances.chosen(table, families, least_gib), by)
with title:
    st.title(plain(panel.heading(table, whole)), anchor=False)
    st.markdown(plain(panel.best(table, by, here)))

if len(table):
    ticked = panel.listed(table, by, whole)
    panel.actions(ticked, now, whole)
    if len(ticked) > 1:
        panel.side_by_side(ticked, whole, catalogs)
else:
    st.info("No instance type is left: choose other families, or less GPU memory.", icon=":material/filter_alt_off:")
    ticked = []
st.caption(panel.CAPTION)
tables.download(
    f"Instances as CSV ({counted(len(table), 'row')})", partial(csv_tables.to_csv, table), f"headroom-instances-{here}.csv", "instances_csv"
)

sold = list(catalogs.instances.index)
first = ticked[0]["instance"] if ticked else now.row["instance"] or sold[0]
st.subheader("One instance type, region by region", anchor=False)
panel.regions(first, sold, here, catalogs)
