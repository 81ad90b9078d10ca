"""The line under the heading: age of the prices, how much was tried, the link, the CSV."""

from functools import partial

import streamlit as st

from calc.answers.board import whole
from calc.doors import csv_tables
from views import tables
from views.session import address
from views.wording import plan as plan_words
from views.wording.numbers import plain


def line(options, first, ink, catalogs, today):
    """What the answer rests on, and how to carry it away; the CSV's first row is the first card."""
    age, is_old = plan_words.price_age(first, catalogs, today)
    aged = f':color[:material/warning: {plain(age)}]{{foreground="{ink.amber}"}}' if is_old else plain(age)
    said = filter(None, (aged, plain(plan_words.tried(options))))
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="status"):
        st.markdown(f":small[{' · '.join(said)}]", width="content")
        with st.popover("Copy link", icon=":material/link:", type="tertiary"):
            st.code(plan_words.link(st.context.url, address.address().query), language=None, wrap_lines=True)
        st.page_link("views/pages/bring.py", label="Bring a config", icon=":material/upload_file:", width="content")
        if first["answer"]:
            name = plan_words.file_name(first)
            tables.download("CSV", partial(_csv, options), name, "csv", help=plan_words.CSV_HELP, type="tertiary")


def _csv(options):
    return csv_tables.to_csv(whole(options.answers, options.board))
