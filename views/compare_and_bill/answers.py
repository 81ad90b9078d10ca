"""The answers of a job: one is ticked and in the bill; the others say how they differ."""

from html import escape

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.plan.plan_bill import JobAnswers
from calc.say.cases import Money
from calc.say.numbers import is_missing, with_noun
from calc.say.setting import arrangement
from calc.say.verdict import memory_of
from views.charts.tank import tank_html
from views.compare_and_bill.differences import in_a_line
from views.session import kept_answers
from views.shared import row_words
from views.shared.answer_words import pace
from views.shared.elements import button, show_error
from views.shared.markdown import faint, plain
from views.shared.theme import Ink

PLAN = "Make it the plan"
RENAME = "Rename"
COPY = "Keep a copy"
UP = "Move up"
DOWN = "Move down"
REMOVE = "Remove"
WIDTHS = (3.3, 6.3, 1.2)  # of name, figures and menu
LONGEST_NAME = 60
ACTIONS = {PLAN: kept_answers.take, COPY: kept_answers.duplicate, REMOVE: kept_answers.remove}
RENAMED = "renamed"  # the place whose name is asked for


def answers_of(
    job: JobAnswers, rows: list[Row], money: Money, ink: Ink, catalogs: Catalogs
) -> None:
    """The job and its answers, a row each; one that is not kept has neither tick nor menu."""
    st.header(f"{plain(job.job)} {faint(plain(_about(job, rows, money)))}", anchor=False)
    for place in job.places:
        row = rows[place]
        band = st.container(key=f"{'ticked' if place == job.ticked else 'other'}_{place}")
        name, figures, menu = band.columns(WIDTHS, vertical_alignment="top")
        with name:
            _name(row, place, job, catalogs)
        with figures:
            if row["problem"]:
                show_error(row_words.on_screen(row["problem"]))
            else:
                ticked_row = rows[job.ticked] if len(job.places) > 1 else None
                st.html(_figures(row, ticked_row, money, ink, catalogs))
        with menu:
            _menu(row, place, job)


def _about(job: JobAnswers, rows: list[Row], money: Money) -> str:
    """Return how often a job is paid, and its answers: once · 3 answers, $34 to $54."""
    ticked_row = rows[job.ticked]
    often = "once" if ticked_row["is_once"] else "every month"
    usds = [rows[place]["usd"] for place in job.places if not is_missing(rows[place]["usd"])]
    span = f", {money(min(usds))} to {money(max(usds))}" if len(usds) > 1 else ""
    if len(job.places) > 1:
        return f"{often} · {with_noun(len(job.places), 'answer')}{span}"
    return often


def _name(row: Row, place: int, job: JobAnswers, catalogs: Catalogs) -> None:
    """The tick with the name, and the setting under it."""
    setting = "" if row["problem"] else arrangement(row, catalogs)
    label = plain(f"**{row['scenario']}**") + (f"  \n{faint(plain(setting))}" if setting else "")
    if not kept_answers.entries():
        st.markdown(label)
        return
    key = f"in_bill_{place}_{row['scenario']}"
    st.session_state[key] = place == job.ticked
    st.checkbox(label, key=key, on_change=kept_answers.tick, args=(place, job.places), wrap=True)


def _figures(row: Row, ticked_row: Row | None, money: Money, ink: Ink, catalogs: Catalogs) -> str:
    """HTML: memory, of its card, cost, time, and the difference from the job's ticked answer.

    `ticked_row` is None where the job has a single answer.
    """
    tank = tank_html(row, ink, row_words.tank_alt(row))
    cost = "yours" if row["have"] else escape(money(row["usd"]))
    cells = [
        (
            f"Memory, of its card: {escape(row_words.verdict(row))}",
            f"<div title='{escape(memory_of(row), quote=True)}'>{tank}</div>",
            "1 1 190px",
        ),
        ("Cost", f"<b>{cost}</b>", "0 0 80px"),
        ("Time", escape(pace(row, catalogs)), "0 0 140px"),
    ]
    if ticked_row:
        is_billed = row is ticked_row or ticked_row["problem"]
        against = (
            "the one in the bill" if is_billed else in_a_line(ticked_row, row, money, catalogs)
        )
        cells.append(("Against the ticked one", against, "2 1 260px"))
    gray = f"color:{ink.faint};font-size:0.81rem;margin-bottom:3px"
    parts = [
        f"<div style='flex:{flex}'><div style='{gray}'>{label}</div>{value}</div>"
        for label, value, flex in cells
    ]
    return (
        f"<div style='display:flex;flex-wrap:wrap;gap:6px "
        f"24px;font-size:0.94rem;color:{ink.text}'>{''.join(parts)}</div>"
    )


def _menu(row: Row, place: int, job: JobAnswers) -> None:
    """Draw the menu of further actions on a saved answer."""
    if not kept_answers.entries():
        return
    entries = [*[PLAN] * (not row["problem"]), RENAME, *[COPY] * (not kept_answers.is_full())]
    entries += [*[UP] * (place != job.places[0]), *[DOWN] * (place != job.places[-1]), REMOVE]
    st.menu_button(
        "More",
        entries,
        on_click=_act,
        args=(place, job.places),
        type="tertiary",
        key=f"more_{place}",
    )


def _act(place: int, places: list[int]) -> None:
    """Callback: what was chosen in the menu of an answer."""
    action = st.session_state[f"more_{place}"]
    if action == RENAME:
        st.session_state[RENAMED] = place
    elif action in (UP, DOWN):
        to = places[places.index(place) + (1 if action == DOWN else -1)]
        kept_answers.move(place, to - place)
    else:
        ACTIONS[action](place)


def rename() -> None:
    """In a dialog: another name for a kept answer."""
    place = st.session_state[RENAMED]
    st.text_input(
        "Name", kept_answers.entries()[place].name, max_chars=LONGEST_NAME, key="new_name"
    )
    button("Rename", _rename, place, type="primary", key="rename")


def _rename(place: int) -> None:
    """Callback: the name; where the answer is one of six chosen side by side, it stays chosen."""
    before = kept_answers.entries()[place].name
    kept_answers.rename(place, st.session_state["new_name"])
    after = kept_answers.entries()[place].name
    state = st.session_state
    state["side_by_side"] = [
        after if chosen == before else chosen for chosen in state.get("side_by_side", [])
    ]
    state.pop(RENAMED, None)
