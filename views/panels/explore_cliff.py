"""The way into out of memory: memory over batch or sequence under the cards' ceilings, and a button that walks up to it."""

from functools import partial

import streamlit as st

from calc.charts import tables as chart_tables
from calc.charts.lines import lines_of
from calc.plan import explore
from calc.plan.figures import records
from calc.words import card_name
from views.charts import lines
from views.charts.base import THREE
from views.charts.tank import tank_svg
from views.panels.chart import draw
from views.panels.comparisons import use
from views.session import job_state
from views.session.remembered import remembered
from views.theme import verdict_words
from views.wording import explore as words
from views.wording import rows as row_words
from views.wording.numbers import plain

MOST_LINES = 4
STEP_SECONDS = 0.8


def cliff(now, ink, catalogs):
    """The lines, the largest that fits of each, the walk."""
    work = now.scenario["work"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        over = st.segmented_control(
            "Over", list(words.OVER[work]), format_func=words.OVER[work].get, default="batch", required=True, key="cliff_over"
        )
        by = st.segmented_control(
            "A line for each", list(words.BY[work]), format_func=words.BY[work].get, default="precision", required=True, key="cliff_by"
        )
        cards = st.multiselect(
            "Ceilings",
            explore.cards_on_aws(catalogs),
            default=[now.row["gpu"]] if now.row["gpu"] in explore.cards_on_aws(catalogs) else [],
            format_func=partial(card_name, catalogs=catalogs),
            key="cliff_cards",
            max_selections=MOST_LINES,
        )
    values = _values(by, now, catalogs)
    key = (now.scenario, now.market, catalogs.version, over, by, values)
    rows = remembered("cliff", key, lambda: explore.cliff(now.scenario, now.market, catalogs, over, by, values))
    most = remembered("cliff_most", key, lambda: explore.largest(now.scenario, catalogs, by, values))
    names = {value: words.line(by, value, catalogs) for value in values}
    shown = chart_tables.for_screen(rows, ["memory_gib"])
    made = lines_of(rows, rows[over], shown["memory_gib"], names, chart_tables.ceilings(cards, catalogs))
    table = made.table.assign(verdict=verdict_words(made.table["fits"]))
    title = f"Memory per GPU over {words.OVER[work][over].lower()}, log scales"
    spec = lines.over(ink, title, (words.OVER[work][over].lower(), "d"), ("GiB per GPU", THREE))
    draw(spec, table, words.cliff_alt(most, over, names, by), "cliff")
    st.markdown(plain(words.largest(most, over, by, names, now.row)))
    labels = [f"{names[row['line']]}, {words.OVER[work][over].lower()} {row[over]:,.0f}" for row in records(rows)]
    use("cliff", rows, labels, now, catalogs)
    own = rows[rows["line"] == now.scenario[by]]
    _play(records(own), over, ink, now.scenario[over])


def _values(by, now, catalogs):
    """The scenario's own value first, then the usual ones that can do its work."""
    able = {
        "precision": job_state.possible_precisions(catalogs, job_state.now().asked),
        "optimizer": list(catalogs.optimizers.index),
        "recompute": list(catalogs.recomputes.index),
        "kv_precision": ["", "fp8"],
    }[by]
    usual = [each for each in words.USUAL[by] if each in able]
    return list(dict.fromkeys([now.scenario[by], *usual]))[:MOST_LINES]


def _play(rows, over, ink, start):
    """The present line walked up, a step at a time, until it no longer fits."""
    state = st.session_state
    playing = state.setdefault("cliff_playing", False)
    st.button(
        "Stop" if playing else f"Walk the {words.SPOKEN[over]} up",
        on_click=_toggle,
        args=(over,),
        icon=":material/stop:" if playing else ":material/play_arrow:",
        key="cliff_play",
        disabled=not rows,
    )
    if rows:
        st.fragment(_frame, run_every=STEP_SECONDS if playing else None)(rows, over, ink, start)


def _toggle(over):
    """Callback: from the start up, or stop."""
    state = st.session_state
    state["cliff_playing"] = not state["cliff_playing"]
    if state["cliff_playing"]:
        state["cliff_at"] = {"over": over, "at": -1}


def _frame(rows, over, ink, start):
    """One step of the walk: the tank as it stands; the walk ends where the card is full."""
    state = st.session_state
    place = state.get("cliff_at") or {}
    if place.get("over") != over:
        at = next((number for number, row in enumerate(rows) if row[over] == start), 0)
    else:
        at = min(place["at"], len(rows) - 1)
    if state["cliff_playing"]:
        at, is_over = words.next_step(at, rows)
        state["cliff_at"] = {"over": over, "at": at}
        if is_over:
            state["cliff_playing"] = False
            st.rerun()
    row = rows[max(at, 0)]
    st.image(tank_svg(row, ink, 720, 40, most_bytes=words.scale(rows)), width="stretch", alt=row_words.tank_alt(row))
    st.markdown(plain(words.step(row, rows, over)))
