"""The Compare page: kept scenarios side by side, and what their differences are made of."""

from datetime import date
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.files.csv import tables as csv_tables
from calc.plan.bill import billed
from calc.plan.figures import records
from calc.say.numbers import counted
from calc.search.compare import FEWEST, choices
from views.compare_and_bill import compare_panels as panel
from views.compare_and_bill import compare_words, earlier
from views.session import catalogs as session_catalogs
from views.session import kept
from views.session.present_plan import present
from views.shared import tables
from views.shared.markdown import plain
from views.shared.theme import INKS


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    ink = INKS[st.context.theme.type or "light"]
    rows = billed(kept.rows(catalogs), catalogs)
    everything = records(rows)

    with st.container(horizontal=True):
        panel.keep_answers(present(catalogs))
        file = earlier.chooser()
        if everything:
            csv = partial(csv_tables.dated_csv, rows, catalogs, date.today())
            tables.download(f"Kept as CSV ({counted(len(rows), 'row')})", csv, "headroom-kept.csv", "kept_csv")
    earlier.preview(file, catalogs)
    if not everything:
        title.title("Nothing is kept yet", anchor=False)
        st.markdown(compare_words.NOTHING_KEPT)
        return

    shown = panel.shown(everything)
    shown_rows = [everything[index] for index in shown]
    title.title(plain(compare_words.heading(shown_rows)), anchor=False)
    panel.since_kept(shown_rows, shown, catalogs)
    panel.cards(shown_rows, shown, ink)
    if len(shown_rows) < FEWEST:
        st.info("Keep a second scenario on Plan, or duplicate this one, and the two stand side by side.", icon=":material/bookmark_add:")
        return

    table = choices(rows.iloc[shown], catalogs)
    names = [row["scenario"] for row in shown_rows]
    st.subheader("What differs", anchor=False)
    panel.words_table(table[table["differs"]], names, "The choices in which the scenarios differ")
    st.subheader("Memory, money and time", anchor=False)
    panel.figures_table(shown_rows, names)
    with st.expander("The same in all of them", key="same_in_all"):
        panel.words_table(table[~table["differs"]], names[:1], "The choices that the scenarios share")
    st.caption(compare_words.HOW)
