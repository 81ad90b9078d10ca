"""Cost of the limits: at most three buttons, the most expensive limit first."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.fields import LIMITS
from calc.say.cards import Card
from calc.say.limits import against, free_limits, telling_limits
from calc.studies.limits_cost import NARROWED, Relaxed
from calc.studies.stricter_limits import SPEEDS, stricter_limits, stricter_speeds
from calc.units import DAY_HOURS
from views.session import is_phone, job_state
from views.session.present_plan import Present
from views.session.recent_results import recent_result
from views.session.worker import in_worker
from views.shared.elements import button
from views.shared.markdown import faint, plain

MOST = 3
BITS = ("fewest_bits", *NARROWED, "+".join(NARROWED))


def limits(plan: Present, cards: list[Card], catalogs: Catalogs) -> None:
    """A row of buttons that each change the job, then what costs nothing."""
    options = plan.options
    job = job_state.current().job
    row = options.rows[0]
    if options.job.get("have") or options.problem:
        _changes(cards)
        return
    of_cards = _widths_of(cards)
    on_cards = {limit.step for limit in of_cards}
    several = [
        limit
        for limit in options.relaxed
        if _set_by(limit, options.job) and not (limit.name in BITS and limit.step in on_cards)
    ]
    stricter = recent_result(
        "stricter_limits",
        (job, catalogs.version),
        lambda: in_worker(job, catalogs, stricter_limits, job, options),
    )
    rows_to_show = telling_limits([*several, *of_cards, *stricter], row)[:MOST]
    words = free_limits(several, row, options.job, catalogs)
    if not rows_to_show and not words:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="limits"):
        st.markdown("**What the limits cost**", width="content")
        for index, limit in enumerate(rows_to_show):
            button(
                plain(against(limit, row, options.job, catalogs)),
                job_state.put,
                _set_by(limit, options.job),
                key=f"limit_cost_{index}",
            )
        if words and not (rows_to_show and is_phone()):
            st.markdown(faint(plain(words)), width="content")


def _set_by(limit: Relaxed, resolved_job: Row) -> Row:
    """Return the fields of the job that set a limit to its step; none for anything else."""
    fields = job_state.current().fields
    name = limit.name
    step = limit.step
    if name in ("regions", "markets"):
        return {name: [*fields[name], step]}
    if name in ("instance", "gpu"):
        return {"instance": [], "gpu": None}
    if name in BITS:
        return {"fewest_bits": str(step)}
    if name == "+".join(SPEEDS):
        return stricter_speeds(resolved_job)
    if name == "hours_most":
        return {"days_most": float(str(step)) / DAY_HOURS}
    if name == "spare":
        return {"spare": float(str(step or 0)) or None}
    return {name: step} if name in LIMITS else {}


def _widths_of(cards: list[Card]) -> list[Relaxed]:
    """The widths of weights that cards stand for, each with the cost of its answer."""
    return [
        Relaxed("precision", int(card.changes["fewest_bits"]), card.row["usd"])
        for card in cards
        if "fewest_bits" in card.changes
    ]


def _changes(cards: list[Card]) -> None:
    """Draw buttons that move the job to another card, if no limit has a cost."""
    other = [card for card in cards if card.press]
    if not other:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="limits"):
        for index, card in enumerate(other):
            button(card.press, job_state.put, card.changes, key=f"limit_cost_{index}")
