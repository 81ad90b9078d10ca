"""The Instances page: types that run the job, types side by side, one type by region."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.cost.offers import offers
from calc.files.csv import tables as csv_tables
from calc.say.numbers import counted, is_missing
from calc.search import instances
from views.catalog import instances_panels as panel
from views.session import catalogs as session_catalogs
from views.session import job_state
from views.session.present_plan import present
from views.shared import tables
from views.shared.markdown import plain


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    plan = present(catalogs)
    here = next(iter(job_state.current().fields["regions"]), catalogs.regions.index[0])
    answered = not is_missing(plan.row["memory_bytes"]) and not plan.job.get("have")

    with st.container(horizontal=True, vertical_alignment="bottom"):
        all_types = panel.whole_catalog(answered)
        by = panel.order(all_types)
        families, least_gib = panel.narrowed(catalogs)
    table = offers(catalogs, [here]) if all_types else instances.for_job(plan.options.board, catalogs)
    table = instances.in_order(instances.chosen(table, families, least_gib), by)
    with title:
        title.title(plain(panel.heading(table, all_types)), anchor=False)
        st.markdown(plain(panel.best(table, by, here)))

    if len(table):
        ticked = panel.listed(table, by, all_types)
        panel.actions(ticked, plan, all_types)
        if len(ticked) > 1:
            panel.side_by_side(ticked, all_types, catalogs)
    else:
        st.info("No instance type is left: choose other families, or less GPU memory.", icon=":material/filter_alt_off:")
        ticked = []
    st.caption(panel.CAPTION)
    tables.download(
        f"Instances as CSV ({counted(len(table), 'row')})",
        partial(csv_tables.to_csv, table),
        f"headroom-instances-{here}.csv",
        "instances_csv",
    )

    sold = list(catalogs.instances.index)
    first = ticked[0]["instance"] if ticked else plan.row["instance"] or sold[0]
    st.subheader("One instance type, region by region", anchor=False)
    panel.regions(first, sold, here, catalogs)
