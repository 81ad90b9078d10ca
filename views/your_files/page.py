"""Your files: a config becomes a plan, an error is explained, a run corrects the estimate."""

import streamlit as st

from views.session import catalogs as session_catalogs
from views.session.present_plan import as_set, present
from views.shared.elements import theme_ink
from views.shared.markdown import plain
from views.your_files import calibration, out_of_memory, simulate
from views.your_files import imported_run as panel

catalogs = session_catalogs.catalogs()
ink = theme_ink()

title = st.container()
documents, logs = panel.documents_and_logs()
run = panel.read(documents, catalogs)
title.title(plain(panel.heading(run)), anchor=False)
if run:
    panel.estimate(run, ink)
    simulate.panel(documents, run.row, run.models, catalogs)
plan = as_set(present(catalogs), catalogs) if logs else None
calibration.panel(logs, run, plan.row if plan else None, catalogs)
if plan and (unexplained := calibration.of_memory_alone(logs, catalogs)):
    out_of_memory.explanation(unexplained, run, plan, catalogs)
if run:
    panel.lines(run)
