"""A card for each answer: money, time, place, setting, memory as a tank, reason, Keep."""

from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.say.numbers import about, is_missing, usd
from calc.say.setting import setting
from calc.say.verdict import memory_of
from calc.search.board import is_less
from calc.search.options import Options
from views.charts.tank import tank_svg
from views.session import job_state, kept
from views.session.present_plan import look_at
from views.shared import answer_words as plan_words
from views.shared import row_words
from views.shared.elements import button
from views.shared.markdown import faint, plain
from views.shared.tables import metric
from views.shared.theme import Ink

CARD_WIDTH = 222  # pixels below which cards stand one below the other
TOLD_APART_BY = ("instance", "market", "gpus", "batch", "sharding", "tensor_parallel", "recompute", "precision")
KEEP_HELP = "Puts it in the row of kept scenarios, on every page and in the link."
LOOK_HELP = "The memory, the changes and the comparisons below start from it."


def cards(options: Options, looked: Row, is_by_hand: bool, over_all: Options | None, ink: Ink, catalogs: Catalogs) -> None:
    """A card for each answer, and the answer without fixed instances where that costs less."""
    rows = [row for row in options.rows if row["answer"]]
    free = over_all if over_all and not over_all.problem and (options.problem or is_less(over_all, options)) else None
    if not rows and not free:
        return
    with st.grid(max(2, len(rows) + bool(free)), min_column_width=CARD_WIDTH, border=True, key="answer_cards"):
        for index, row in enumerate(rows):
            with st.container(height="stretch"):
                _card(index, row, looked, is_by_hand, options.job, ink, catalogs)
        if free:
            with st.container(height="stretch"):
                _over_all(free.rows[0], free.job, ink, catalogs)


def _card(index: int, row: Row, looked: Row, is_by_hand: bool, job: dict[str, Any], ink: Ink, catalogs: Catalogs) -> None:
    nearest = row["answer"] == "nearest"
    with st.container(height="stretch"):  # the buttons of all cards stand on one line
        _head("As you set it" if nearest and is_by_hand else row_words.name(row), row, job)
        sentence = f"In the way: {row['misses']}." if nearest and row["misses"] else row["why"]
        _body(row, plan_words.without_place(sentence, row, catalogs), job, ink, catalogs)
    with st.container(horizontal=True, gap="xsmall"):
        done, here = kept.is_kept(row), all(row[name] == looked[name] for name in TOLD_APART_BY)
        label, icon = ("Kept", "bookmark_added") if done else ("Keep", "bookmark_add")
        look: dict[str, Any] = {"icon": icon, "disabled": done or kept.is_full(), "type": "primary", "help": KEEP_HELP}
        button(label, kept.keep, row, key=f"keep_{index}", **look)
        look = {"icon": "visibility", "disabled": here, "type": "tertiary", "help": LOOK_HELP}
        button("Shown below" if here else "Look at it", look_at, row, key=f"look_{index}", **look)


def _over_all(row: Row, job: dict[str, Any], ink: Ink, catalogs: Catalogs) -> None:
    """The least money over all instances, and the button that lifts the restriction."""
    with st.container(height="stretch"):
        _head("Over all instances", row, job)
        _body(row, "Least money where no instance is set by hand.", job, ink, catalogs)
    with st.container(horizontal=True):
        button("Instances back to auto", job_state.to_auto, "instance", "gpu", icon="undo", key="free_instances")


def _head(name: str, row: Row, job: dict[str, Any]) -> None:
    """Name, money and time; of what is there already the time alone."""
    if job.get("have"):
        metric(name, plan_words.pace(row), "on what you have", border=False)
    else:
        metric(name, about(row["usd"]), f"in {plan_words.pace(row)}" if ends_of(row) else "a month", border=False)


def _body(row: Row, why: str, job: dict[str, Any], ink: Ink, catalogs: Catalogs) -> None:
    """Place, price per hour, setting, tank, memory, why it is the answer."""
    where = row_words.where(row, catalogs, "+" in str(job.get("regions")))
    hourly = "" if is_missing(row["usd_per_hour"]) else f" · {usd(row['usd_per_hour'])} an hour"
    pace = row_words.first_token(row)
    how = plain(" · ".join(filter(None, (setting(row, catalogs), pace))))
    badge = "" if job.get("have") else plain(row_words.obtainable(row, catalogs))
    st.markdown("\n\n".join(filter(None, (plain(f"**{where}**{hourly}"), faint(how), faint(badge) if badge else ""))))
    st.image(tank_svg(row, ink, 400, 26), width="stretch", alt=row_words.tank_alt(row))
    st.markdown(f"{faint(plain(memory_of(row)))}\n\n{plain(plan_words.unbroken(why))}")
