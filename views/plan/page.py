"""The Plan page, from top to bottom."""

import streamlit as st

from views.plan import (
    answer_cards,
    changes,
    choices,
    first_visit,
    heading,
    launch_kit,
    limits,
    shown,
)
from views.plan.memory import memory
from views.plan.short_board import short_board
from views.plan.speed_against_money import speed_against_money
from views.session import catalogs as session_catalogs
from views.session.present_plan import present
from views.shared.theme import INKS
from views.sidebar import sidebar

catalogs = session_catalogs.catalogs()
ink = INKS[st.context.theme.type or "light"]
plan = present(catalogs)
is_answered, owned = plan.row["memory_bytes"] > 0, bool(plan.options.job.get("have"))
cards = answer_cards.cards_of(plan, catalogs)

sidebar.sidebar(catalogs)
first_visit.introduction()
heading.since_then(plan.options.rows[0], catalogs)
heading.heading(plan, ink, catalogs)
answer_cards.cards(cards, plan, ink, catalogs)
shown.choice(cards, plan, catalogs)
limits.limits(plan, cards, catalogs)
if is_answered and not owned:
    choices.choices(plan, ink, catalogs)
if is_answered and plan.scenario["work"] == "inference" and not plan.options.edge.empty:
    left, right = st.columns([5, 3], gap="medium")
    with left:
        speed_against_money(plan, ink, catalogs)
    with right:
        memory(plan.row, plan.options.board, ink, catalogs, is_narrow=True)
    short_board(plan, ink, catalogs)
elif is_answered:
    short_board(plan, ink, catalogs)
    memory(plan.row, plan.options.board, ink, catalogs)
if is_answered and not owned:  # what is changed is weighed by its money
    changes.panel(plan.row, plan.market, plan.job, catalogs)
if is_answered:
    launch_kit.panel(plan, catalogs)
