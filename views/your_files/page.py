"""Your files: a team's config becomes a plan, an out-of-memory message is explained."""

import streamlit as st

from views.session import catalogs as session_catalogs
from views.session.present_plan import as_set, present
from views.shared.markdown import plain
from views.shared.theme import INKS
from views.your_files import brought as panel
from views.your_files import model_form, out_of_memory

catalogs = session_catalogs.catalogs()
ink = INKS[st.context.theme.type or "light"]

title = st.container()
documents, logs = panel.documents_and_logs()
model_form.add_a_model()
run = panel.read(documents, catalogs)
title.title(plain(panel.heading(run)), anchor=False)
if run:
    panel.estimate(run, ink)
if logs:
    out_of_memory.explanation(logs, run, as_set(present(catalogs), catalogs), catalogs)
if run:
    panel.lines(run)
