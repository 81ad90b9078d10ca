"""What has changed since a link was written, above the answer until it is dismissed."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from views.elements import button
from views.session import address, kept, opened_plan
from views.wording import aged as words
from views.wording import plan as plan_words
from views.wording.markdown import plain


def since_then(first: Row, catalogs: Catalogs) -> None:
    """Changes of the link's answer and kept scenarios; older links have only price days."""
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
