"""The Explore page: the plan varied in one thing at a time, and the decision guide."""

import streamlit as st

from calc.say.setting import setting
from views.panels import explore
from views.session import catalogs as session_catalogs
from views.session.present_plan import as_set, present
from views.theme import INKS
from views.wording import explore as words
from views.wording.markdown import plain

catalogs = session_catalogs.catalogs()
ink = INKS[st.context.theme.type or "light"]
now = as_set(present(catalogs), catalogs)

st.title(plain(words.heading(now.row, catalogs)), anchor=False)
if now.row["memory_bytes"] != now.row["memory_bytes"]:
    st.info(words.NOTHING, icon=":material/info:")
    st.stop()
st.markdown(plain(f"{words.around(now.row)} · {setting(now.row, catalogs)}"))
explore.tabs(now, ink, catalogs)
