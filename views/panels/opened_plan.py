"""What a link of an earlier day said, and what has changed since: above the answer, until it is taken note of."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from views.elements import button
from views.session import address, kept, opened_plan
from views.wording import aged as words
from views.wording import plan as plan_words
from views.wording.markdown import plain


def since_then(first: Row, catalogs: Catalogs) -> None:
    """The changes of the link's answer and of what it kept; a link of before answers were carried has the day of its prices alone."""
    row = opened_plan.then_row(catalogs)
    if row is None:
        if older := plan_words.older_prices(address.address().prices_as_of, catalogs, first):
            st.info(plain(older), icon=":material/history:")
        return
    text = words.opened(row, catalogs, opened_plan.is_same(row, first))
    if not text:
        return
    st.info(plain(text), icon=":material/history:")
    with st.container(horizontal=True):
        button("Keep it as it was", kept.keep, row, icon="bookmark_add", key="keep_then")
        button("Dismiss", opened_plan.forget, type="tertiary", key="dismiss_then")
