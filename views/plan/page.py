"""The Plan page, from top to bottom."""

import streamlit as st

from views.plan import answer_cards, changes, choices, first_visit, heading, launch_kit, limits
from views.plan.memory import memory
from views.plan.short_board import short_board
from views.session import catalogs as session_catalogs
from views.session import is_phone
from views.session.present_plan import present
from views.shared.elements import halves, theme_ink
from views.sidebar import sidebar

MEMORY_WIDTH = 360  # pixels of the memory at least, beside what to change
catalogs = session_catalogs.catalogs()
ink = theme_ink()
plan = present(catalogs)
is_answered = plan.row["memory_bytes"] > 0
has_machines = bool(plan.options.job.get("have"))
if is_answered and not has_machines:
    choices.begin(plan, catalogs)  # beside the server, while the page is drawn
cards = answer_cards.cards_of(plan, catalogs)

sidebar.sidebar(catalogs)
first_visit.introduction()
heading.since_then(plan.options.rows[0], catalogs)
cure_place = heading.heading(plan, ink, catalogs)
answer_cards.cards(cards, plan, ink, catalogs)
limits.limits(plan, cards, catalogs)
if is_answered and not has_machines:
    choices.choices(plan, ink, catalogs)
if is_answered:
    short_board(plan, ink, catalogs)
    beside = not is_phone() and not has_machines
    left, right = halves(MEMORY_WIDTH) if beside else (st.container(), st.container())
    with left:
        memory(plan.row, plan.options.board, ink, catalogs, is_narrow=beside)
    if not has_machines:  # what is changed is weighed by its cost
        with right:
            change = changes.panel(plan.row, plan.market, plan.job, catalogs)
        heading.cure(cure_place, plan, change, catalogs)
    launch_kit.panel(plan, catalogs)
