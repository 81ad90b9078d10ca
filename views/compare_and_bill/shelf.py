"""The tab Shelf: the team's saved plans, with their cost then and today."""

import os
from datetime import datetime
from textwrap import shorten
from typing import Literal
from urllib.parse import parse_qs, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.answers.full_answer import Answer
from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.link.answers_today import answers_now
from calc.mappings import Arguments
from calc.plan.drift import FigureChange, changes
from calc.plan.plan_bill import first_month
from calc.say.job import job_sentence, short_job
from calc.say.numbers import changed_by, day_text, is_missing, percent, with_noun
from shelf import plans as shelf_plans
from shelf import stores
from shelf.plans import LONGEST, OFF, Plan, Run, ShelfError
from shelf.states import State
from views.compare_and_bill import shelf_states, the_bill
from views.compare_and_bill.compared_answers import DECISION, compared_answers
from views.session import address, kept_answers
from views.session import catalogs as session_catalogs
from views.session.present_plan import present
from views.session.recent_results import recent_result
from views.shared import answer_words as plan_words
from views.shared import drift_words
from views.shared.elements import button, show_error
from views.shared.markdown import plain
from views.shared.tables import chosen_in, columns_of, grid, of_rows

VARIABLE = "HEADROOM_SHELF"
NEEDS = (
    f"{VARIABLE} is the address of a database, for which requirements/shelf.txt has to be "
    f"installed: make shelf."
)
PATIENCE_SECONDS = 5
WITH_PATIENCE = ("postgresql", "mysql", "mariadb")
KEY = "shelf_plans"
TALLEST = 460  # pixels
ABOUT = """Plans that the team saves by name. Saving adds a version and never replaces one; to pass
a plan on without the shelf, use its link. Nobody signs in and names are as typed, so anyone who
reaches this page can read, open and add plans."""
EMPTY = "No plan yet. Put the present one here: give it a name and say who you are."
TAKE_OFF = "Its versions are kept, with your name and the time. Saving the name again puts it back."
NOTHING_TO_SAVE = "The present plan has no answer: there is nothing to put on the shelf."


def name() -> str:
    """The name of the tab: Shelf (3): one is up 12 %; of a database only once the tab was open."""
    if "://" in os.environ.get(VARIABLE, "") and "shelf_seen" not in st.session_state:
        return "Shelf"
    try:
        plans = shelf_plans.newest(store())
    except ShelfError:
        return "Shelf"
    if not plans:
        return "Shelf"
    moves = []
    for row in _rows_now(plans, session_catalogs.catalogs()):
        change = _move(row)
        if change:
            moves.append(change.ratio)
    return f"Shelf ({len(plans)}){_moves_words(moves)}"


def _moves_words(moves: list[float]) -> str:
    """The costs that moved, and the largest move: one is up 12 %; 3 are down, most by 8 %.

    It starts with a colon, and is empty if no cost has moved.
    """
    most = max(moves, key=abs, default=0.0)
    alike = sum(ratio * most > 0 for ratio in moves)
    if not alike:
        return ""
    direction = "up" if most > 0 else "down"
    size = percent(abs(most))
    if alike == 1:
        return f": one is {direction} {size}"
    return f": {alike} are {direction}, most by {size}"


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    heading_place = title.container()
    title.caption(ABOUT)
    try:
        run = store()
        _putting(run, present(catalogs).options, catalogs)
        plans = shelf_plans.newest(run)
    except ShelfError as error:
        heading_place.title("The shelf is out of reach", anchor=False)
        show_error(error)
        return
    heading_place.title(heading(plans), anchor=False)
    if plans:
        plans, states = shelf_states.filter_plans(run, plans)
        plan, row = _list_plans(plans, states, catalogs)
        _plan_panel(run, plan, row, catalogs)
        shelf_states.panel(run, plan, states)
    else:
        st.markdown(EMPTY)
    if gone := shelf_plans.taken_off(run):
        before = shelf_plans.newest_openable(run)
        with st.expander(f"Taken off the shelf ({len(gone)})", key="shelf_off"):
            for plan in gone:
                words = f"**{plan.name}**, by {plan.saved_by}, {_when(plan.saved_at)}"
                earlier = before.get(plan.name, plan)
                answer = "" if earlier is plan else f"; before: {earlier.answer}"
                _line(earlier, words + answer, catalogs)


def _rows_now(plans: list[Plan], catalogs: Catalogs) -> list[Row | None]:
    """Today's row of each plan's answer; None where its link names none."""
    links = [plan.link for plan in plans]
    return recent_result(
        "shelf",
        (links, catalogs.version),
        lambda: answers_now([_query(plan) for plan in plans], catalogs),
    )


def store() -> Run:
    """Return the store that runs the shelf's statements; raise ShelfError."""
    place = os.environ.get(VARIABLE) or str(stores.FILE)
    if "://" not in place:
        return stores.in_file(place)
    patience: Arguments = (
        {"connect_args": {"connect_timeout": PATIENCE_SECONDS}}
        if place.startswith(WITH_PATIENCE)
        else {}
    )
    try:
        return stores.in_database(
            st.connection("shelf", type="sql", url=place, pool_pre_ping=True, **patience).engine
        )
    except ModuleNotFoundError:
        raise ShelfError(NEEDS) from None
    # what an address that is none raises is SQLAlchemy's, which need not be installed, or the
    # driver's
    except Exception as error:
        raise ShelfError(
            f"{VARIABLE} is not the address of a database ({type(error).__name__}): "
            f"docs/serve.md has one."
        ) from None


def _putting(run: Run, options: Answer, catalogs: Catalogs) -> None:
    """The form that puts the present plan onto the shelf; what it said last stays under it."""
    row = options.rows[0]
    if not row["answer"]:
        st.caption(NOTHING_TO_SAVE)
        return
    answer = plan_words.heading(options, catalogs)
    money = dict(row)
    usual = short_job(options.job, catalogs)
    others = ""
    what = f"{job_sentence(options.job, catalogs)} {answer}."
    if kept_answers.entries() and len(bill := first_month(kept_answers.rows(catalogs))):
        answer = the_bill.heading(bill, compared_answers(catalogs).money)
        money = {"usd": bill["month_usd"].sum()}
        what = f"The bill of {with_noun(len(bill), 'kept answer')}: {answer}."
        usual = bill["job"].iloc[0]
        others = f" and {len(bill) - 1} more" if len(bill) > 1 else ""
    if decision := st.session_state.get(DECISION):
        answer = f"{answer}. Decision: {decision}"
    with st.form("to_shelf"):
        st.markdown(plain(what))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            room = LONGEST["name"] - len(others)
            name = st.text_input(
                "Name of the plan",
                shorten(usual, room, placeholder="") + others,
                max_chars=LONGEST["name"],
                key="shelf_name",
            )
            who = st.text_input(
                "Your name", max_chars=LONGEST["saved_by"], key="shelf_who", persist_state="session"
            )
            is_pressed = st.form_submit_button(
                "Put on the shelf", type="primary", icon=":material/inventory_2:"
            )
    if is_pressed:
        _save(run, name, who, answer, money)


def _save(run: Run, name: str, who: str, answer: str, row: Row) -> None:
    """Save the page under a name; `row` has the cost of the plan, or of the bill."""
    seen_version = st.session_state.get("shelf_seen", "")
    money = {
        field: None if is_missing(row.get(field)) else float(row[field])
        for field in ("usd", "usd_per_hour")
    }
    try:
        plan = shelf_plans.save(
            run,
            name,
            who,
            answer[: LONGEST["answer"]],
            urlencode(address.address().query, doseq=True),
            **money,
        )
        shelf_states.propose(run, plan)
        st.success(
            plain(_save_message(plan, shelf_plans.versions(run, plan.name), seen_version)),
            icon=":material/inventory_2:",
        )
    except ShelfError as error:
        show_error(error)


def _list_plans(
    plans: list[Plan], states: dict[str, State], catalogs: Catalogs
) -> tuple[Plan, Row | None]:
    """Draw the table of plans; return the chosen or newest plan and its row of today."""
    st.session_state["shelf_seen"] = max(plan.saved_at for plan in plans)
    rows = _rows_now(plans, catalogs)
    of_rows(KEY, [plan.id for plan in plans])
    table = {
        "name": [plan.name for plan in plans],
        "state": [shelf_states.state_of(states, plan) for plan in plans],
        "team": [_team_of(plan, states) for plan in plans],
        "then": [plan.usd for plan in plans],
        "now": [_usd_today(row) for row in rows],
        "moved": [_move_words(row) for row in rows],
        "saved_by": [plan.saved_by for plan in plans],
        "saved_at": [_when(plan.saved_at) for plan in plans],
        "versions": [plan.versions for plan in plans],
        "answer": [plan.answer for plan in plans],
    }
    grid(
        table,
        columns_of("shelf"),
        "The plans on the shelf, what they cost then and cost now",
        KEY,
        on_select="rerun",
        selection_mode="single-row",
        height=TALLEST if len(plans) > 12 else "content",
    )
    index = next((number for number in chosen_in(KEY) if number < len(plans)), 0)
    return plans[index], rows[index]


def _team_of(plan: Plan, states: dict[str, State]) -> str:
    return states[plan.name].team if plan.name in states else ""


def _usd_today(row: Row | None) -> float | None:
    """The cost of a plan today; None where it cannot be estimated or has no price. [USD]"""
    if row is None or is_missing(row["usd"]):
        return None
    return row["usd"]


def _plan_panel(run: Run, plan: Plan, row: Row | None, catalogs: Catalogs) -> None:
    """One plan: what has changed since it was saved, the way back to it, and its versions."""
    st.header(plain(plan.name), anchor=False)
    st.markdown(plain(_version(plan, plan.versions)))
    sentences = [] if row is None else drift_words.change_sentences(row, catalogs)
    as_it_was = (
        "Nothing in it has moved since."
        if row
        else "Its link says nothing of its answer then: open it to see today's."
    )
    st.markdown(plain("\n".join(f"- {sentence}" for sentence in sentences) or as_it_was))
    with st.container(horizontal=True):
        _open_button(plan, catalogs, "primary")
        with st.popover("Copy link", icon=":material/link:"):
            st.code(
                plan_words.link((st.context.url or "").removesuffix("shelf"), _query(plan)),
                language=None,
                wrap_lines=True,
            )
        with st.popover("Take off", icon=":material/delete:"):
            st.caption(TAKE_OFF)
            st.text_input(
                "Your name",
                st.session_state.get("shelf_who", ""),
                max_chars=LONGEST["saved_by"],
                key="shelf_taken_by",
            )
            button("Take off the shelf", _take_off, run, plan.name, key="take_off")
    if refusal := st.session_state.pop("shelf_refusal", ""):
        show_error(refusal)
    if plan.versions > 1:
        with st.expander(f"All {plan.versions} versions", key="shelf_versions"):
            stand = shelf_plans.versions(run, plan.name)
            for number, version in zip(range(plan.versions, 0, -1), stand, strict=False):
                _line(version, _version(version, number), catalogs)


def _line(plan: Plan, words: str, catalogs: Catalogs) -> None:
    """A version in a line, with its button where there is something to open."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if plan.link != OFF:
            _open_button(plan, catalogs, "tertiary")
        st.markdown(plain(words), width="stretch")


def _take_off(run: Run, name: str) -> None:
    """Callback: the plan leaves the list."""
    try:
        shelf_plans.take_off(run, name, st.session_state["shelf_taken_by"])
    except ShelfError as error:
        st.session_state["shelf_refusal"] = str(error)


def _open_button(plan: Plan, catalogs: Catalogs, look: Literal["primary", "tertiary"]) -> None:
    if st.button("Open", icon=":material/open_in_new:", type=look, key=f"open_{look}_{plan.id}"):
        address.open_link(_query(plan), catalogs)
        st.switch_page("views/plan/page.py")


def _query(plan: Plan) -> dict[str, list[str]]:
    return parse_qs(plan.link, keep_blank_values=True)


def heading(plans: list[Plan]) -> str:
    """The heading: 3 plans on the shelf."""
    return f"{with_noun(len(plans), 'plan')} on the shelf" if plans else "The shelf is empty"


def _when(saved_at: str) -> str:
    """The moment in which a plan was saved: 22 November 2026, 11:02 UTC."""
    try:
        return f"{day_text(saved_at[:10])}, {datetime.fromisoformat(saved_at):%H:%M} UTC"
    except ValueError:
        return saved_at


def _move_words(row: Row | None) -> str:
    """The move of the cost of a plan: 9 % more; the same; empty if one of the two is unknown."""
    if row is None or is_missing(row["then_usd"]) or is_missing(row["usd"]):
        return ""
    change = _move(row)
    return changed_by(change.ratio) if change else "the same"


def _move(row: Row | None) -> FigureChange | None:
    """The change of a plan's cost, if any."""
    return (
        next((change for change in changes(row) if change.figure == "usd"), None) if row else None
    )


def _save_message(plan: Plan, stand: list[Plan], seen_version: str) -> str:
    """Return the result of saving, and the versions of others that were saved in between."""
    others = []
    if seen_version:
        others = [
            version
            for version in stand
            if version.id != plan.id and version.saved_at > seen_version
        ]
    sentence = f"**{plan.name}** is on the shelf, version {stand[0].versions}."
    names = ", ".join(dict.fromkeys(version.saved_by for version in others))
    if others:
        return f"{sentence} {names} saved this name too since you looked: both stand."
    return sentence


def _version(plan: Plan, number: int) -> str:
    """Return the line of a version: its number, its author, its time and its answer."""
    return f"Version {number} by {plan.saved_by}, {_when(plan.saved_at)}: {plan.answer}"
