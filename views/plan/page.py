"""The Plan page: the answers, the board, the memory, what to change, comparisons."""

from datetime import date

import streamlit as st

from calc.search.job_words import job_sentence
from views.plan import answer_cards, board, launch_kit, status, wider_search
from views.plan import changes as advice
from views.plan import memory as looked_at
from views.session import catalogs as session_catalogs
from views.session import extra_state, job_state
from views.session.present_plan import in_other_bits, over_all, present, with_spare
from views.shared import answer_words as plan_words
from views.shared.markdown import plain
from views.shared.theme import INKS
from views.sidebar import sidebar
from views.understand import comparisons

catalogs = session_catalogs.catalogs()
sidebar.sidebar(catalogs)
fields, by_hand, _ = job_state.current()
ink = INKS[st.context.theme.type or "light"]
present_plan, free = present(catalogs), over_all(catalogs)
options, first = present_plan.options, present_plan.options.rows[0]
is_answered = bool(first["answer"])

status.since_then(first, catalogs)
st.title(plain(plan_words.unbroken(plan_words.heading(options, catalogs))), anchor=False)
st.markdown(plain(job_sentence(options.job, catalogs)))
if limited := plan_words.restriction(options, free, by_hand.get("instance")):
    st.markdown(plain(limited))
if other := in_other_bits(catalogs):
    bits, with_bits = other
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(plain(plan_words.in_bits(bits, with_bits, catalogs)), width="content")
        label, choice = f"{'Take' if bits == 16 else 'Allow'} {bits} bits", {"fewest_bits": str(bits)}
        st.button(label, on_click=job_state.choose, kwargs=choice, type="tertiary", key="allow_bits")
status.line(options, ink, catalogs, date.today())
sidebar.edit_job(catalogs)
if options.problem:
    st.warning(plain(plan_words.unbroken(plan_words.cure(options) or options.problem)), icon=":material/block:")
answer_cards.cards(options, present_plan.row, bool(by_hand), free, ink, catalogs)
st.markdown(plain(plan_words.limits_cost(options)))
if (changed := with_spare(catalogs)) and (sentence := plan_words.of_spare(changed, catalogs)):
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(plain(sentence), width="content")
        spare = float(changed.rows[0]["spare"])
        st.button(
            "Add a spare" if spare else "Take no spare",
            on_click=extra_state.put,
            args=("spare", spare or None),
            type="tertiary",
            key="take_spare",
        )
if is_answered:
    parts = [st.container() for _ in range(5)]
    with parts[0]:
        looked_at.memory(present_plan.row, present_plan.scenario, ink, catalogs)
    with parts[4]:
        comparisons.tabs(present_plan, ink, catalogs)
    with parts[1]:  # the browser draws the pictures while what has none is still to come
        launch_kit.panel(present_plan, catalogs)
    with parts[2]:
        board.board(options, ink, catalogs)
    with parts[3]:
        if not present_plan.job.get("have"):  # what is changed is weighed by its money
            advice.panel(present_plan.row, present_plan.market, present_plan.job, catalogs)
if not present_plan.job.get("have"):
    wider_search.panel(present_plan, ink, catalogs)
