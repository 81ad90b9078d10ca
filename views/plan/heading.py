"""The answer, the job in words, one small line; and what has changed since a link was made."""

from datetime import date
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.lengths import shorter_context
from calc.say.change import meets_limits
from calc.say.job import job_sentence
from views.plan.keep import keep
from views.session import address, is_phone, kept_answers, opened_plan, questions
from views.session.catalogs import rest_on
from views.session.present_plan import Present
from views.shared import answer_words as words
from views.shared import drift_words
from views.shared.elements import button
from views.shared.markdown import plain
from views.shared.theme import Ink
from views.sidebar import sidebar


def heading(plan: Present, ink: Ink, catalogs: Catalogs) -> DeltaGenerator:
    """Draw the title, and what to do if no option meets every limit; return the latter's place."""
    options = plan.options
    with st.container(gap="xxsmall", key="heading"):
        with st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
        ):
            title = words.unbroken(words.heading(options, catalogs, plan.row))
            st.title(plain(title), anchor=False, width="stretch" if is_phone() else "content")
            if not is_phone():
                keep(plan)
        st.markdown(plain(job_sentence(options.job, catalogs)))
        sidebar.edit_job(lambda: keep(plan, "secondary"), catalogs)
        _small_line(plan, ink, catalogs)
    place = st.empty()
    cure(place, plan, None, catalogs)
    if options.obstacle and options.resolved:
        tokens = shorter_context(options.resolved, catalogs)
        if tokens:
            take = partial(questions.take_context, tokens, catalogs)
            button(f"Take {tokens:,} tokens of context", take, key="shorter_context")
    return place


def _small_line(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Draw what the answer rests on, and the button that takes a calibration off."""
    facts = words.small_line(plan.options, catalogs, date.today(), plan.row)
    if facts:
        parts = [_part(text, warns, ink) for text, warns in facts]
        st.markdown(f":small[{' · '.join(parts)}]")
    if words.calibration_words(plan.row, catalogs):
        button(
            "Take the calibration off",
            rest_on,
            {},
            icon="undo",
            type="tertiary",
            key="calibration_off",
        )


def cure(place: DeltaGenerator, plan: Present, change: Row | None, catalogs: Catalogs) -> None:
    """Draw what to do if no option meets every limit, with a change to the plan that meets them."""
    options = plan.options
    parts = [words.cure(options, catalogs)] if options.problem else []
    if change and plan.row["missed_limits"]:
        parts.append(meets_limits(change, plan.row, catalogs))
    if text := " ".join(filter(None, parts)):
        place.warning(plain(words.unbroken(text)), icon=":material/block:")


def _part(text: str, warns: bool, ink: Ink) -> str:
    """A part of the small line; a warning has its mark beside its color."""
    if warns:
        return f':color[:material/warning: {plain(text)}]{{foreground="{ink.amber}"}}'
    return f":gray[{plain(text)}]"


def since_then(first: Row, catalogs: Catalogs) -> None:
    """Say what has changed since a link was made: its answer, or only prices if it has none."""
    row = opened_plan.then_row(catalogs)
    if row is None:
        if older := words.older_prices(address.address().prices_as_of, catalogs, first):
            st.info(plain(older), icon=":material/history:")
    elif text := drift_words.link_lines(row, catalogs, opened_plan.is_same(row, first)):
        st.info(plain(text), icon=":material/history:")
        with st.container(horizontal=True):
            button(
                "Keep it as it was", kept_answers.keep, row, icon="bookmark_add", key="keep_then"
            )
            button("Dismiss", opened_plan.forget, type="tertiary", key="dismiss_then")
