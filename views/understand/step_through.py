"""Step through: the memory of one step, walked in the browser, and what can be read off it."""

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.charts import result_tables
from calc.charts.walk import by_moment, line_name, walk_table
from calc.evaluate import Row
from calc.explain.calculators import compared_with_ours, slips
from calc.memory.moments import components_of
from calc.plan.figures import records
from calc.search.row_status import scenario_of
from calc.studies import comparisons
from calc.studies.guide import ready_jobs
from calc.studies.step_variants import (
    Walk,
    recompute_time_ratio,
    scenario_at,
    state_bytes_each,
    walk_through,
)
from views.charts import step_through as chart
from views.session import catalogs as session_catalogs
from views.session import is_phone, job_state
from views.session.present_plan import Present, as_set, present
from views.session.recent_results import recent_result
from views.shared.elements import expander, points, theme_ink
from views.shared.markdown import plain
from views.shared.tables import NUMBER, TEXT, chosen_in, grid, text_table
from views.shared.theme import Ink
from views.understand import comparisons_words
from views.understand import step_through_words as words

PICTURE, CELLS, SIZES = "step_through", "largest_cells", "sizes_cells"


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    ink = theme_ink()
    plan = as_set(present(catalogs), catalogs)
    # A job that is refused has no row.
    work = plan.scenario["work"] or plan.job.get("work", "training")
    title.title(words.TITLE[work], anchor=False)
    if plan.row["memory_bytes"] != plan.row["memory_bytes"]:
        st.info(comparisons_words.NOTHING, icon=":material/info:")
        return
    walk = recent_result(
        "walk", (plan.scenario, catalogs.version), lambda: walk_through(plan.scenario, catalogs)
    )
    title.markdown(plain(words.around(walk, plan.row, catalogs)))
    left, right = st.columns([3, 2], gap="large")
    with left:
        _picture(walk, plan, ink, catalogs)
    with right:
        _largest(plan, catalogs)
        st.header("Read it", anchor=False)
        slower_ratio = _slower(plan, catalogs)
        bytes_each = _state_bytes_each(plan, catalogs)
        st.markdown(plain(words.read_it(walk, plan.row, slower_ratio, bytes_each, catalogs)))
    expander(
        "Four other calculators, for this step",
        "other_calculators",
        lambda: _others(plan, catalogs),
    )


def _picture(walk: Walk, plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """The chart, whose sliders move in the browser; the box below them hands them to the plan."""
    work = plan.scenario["work"]
    present_parts = set(walk.rows["component"])
    components = tuple(name for name in components_of(work) if name in present_parts)
    moves = (*words.sliders(walk, work), words.dials(walk, catalogs))
    spec = chart.step_through(
        ink, words.picture(walk, work, catalogs), *moves, components, is_phone()
    )
    key = f"{PICTURE}_{st.session_state.get(PICTURE, 0)}"
    st.vega_lite_chart(
        walk_table(walk.rows, walk.cards, list(walk.dials), walk.card, catalogs),
        spec,
        width="stretch",
        key=key,
        on_select=lambda: _take(key, walk, plan, catalogs),
        selection_mode=[chart.TAKE],
        alt=words.alt(walk, work, catalogs),
    )
    expander(
        "The moments as a table",
        "step_table",
        lambda: _moments(by_moment(walk.at_plan, walk.stops)),
    )


def _moments(rows: pd.DataFrame) -> None:
    """Every component at every moment."""
    grid(
        rows,
        {name: NUMBER(name, format="%.3g") for name in rows.columns[1:]},
        "GiB of each component at each moment",
        "step_moments",
    )


def _take(key: str, walk: Walk, plan: Present, catalogs: Catalogs) -> None:
    """Callback: the places of the sliders become the plan; the picture begins anew from there."""
    selection = st.session_state[key]["selection"][chart.TAKE]
    if not selection or not selection[0][chart.USE]:
        return
    dial_names = {f"dial_{place}": name for place, name in enumerate(walk.dials)}
    point = walk.plan | {dial_names.get(name, name): value for name, value in selection[0].items()}
    job_state.adopt(scenario_at(plan.scenario, walk, point), plan.market, catalogs)
    st.session_state[PICTURE] = st.session_state.get(PICTURE, 0) + 1
    st.toast("The plan has these settings now.")


def _slower(plan: Present, catalogs: Catalogs) -> float:
    """Return how much longer a step takes with everything recomputed."""
    if plan.scenario["work"] != "training":
        return 1.0
    key = (plan.scenario, plan.market, catalogs.version)
    return recent_result(
        "slower", key, lambda: recompute_time_ratio(plan.scenario, plan.market, catalogs)
    )


def _state_bytes_each(plan: Present, catalogs: Catalogs) -> float:
    """Return the bytes of each parameter in training; missing while serving."""
    if plan.scenario["work"] != "training":
        return float("nan")
    key = (plan.scenario, catalogs.version)
    return recent_result("states", key, lambda: state_bytes_each(plan.scenario, catalogs))


def _largest(plan: Present, catalogs: Catalogs) -> None:
    """The largest batch of the plan's model by card and method, and of two sizes side by side."""
    st.header(words.LARGEST[plan.scenario["work"]], anchor=False)
    st.caption(plain(words.largest_caption(plan.row, catalogs)))
    methods = comparisons.methods_of(plan.scenario, catalogs)
    _batches(
        {words.METHOD_COLUMNS.get(line, line): change for line, change in methods.items()},
        CELLS,
        plan,
        catalogs,
    )
    key = (plan.scenario, catalogs.version)
    cards = recent_result("cards", key, lambda: comparisons.over_cards(plan.scenario, catalogs))
    st.markdown(plain(words.cards_by_verdict(cards, catalogs)))
    if plan.scenario["work"] == "training":
        sizes = {job.name: job.asks for job in ready_jobs().sizes}
        expander(words.TWO_SIZES, "two_sizes", lambda: _batches(sizes, SIZES, plan, catalogs))


def _batches(changes: dict[str, Row], key: str, plan: Present, catalogs: Catalogs) -> None:
    """The largest batch by card and change of the plan; a cell becomes the plan."""
    of = (plan.scenario, changes, catalogs.version)
    rows = recent_result(
        "largest", of, lambda: comparisons.largest_batches(plan.scenario, catalogs, changes)
    )
    cells = result_tables.pivot_rows(rows, "gpu", "line", "most")
    grades = result_tables.pivot_rows(rows, "gpu", "line", "grade")
    cards = list(cells.index)
    names = pd.Index([line_name(card, catalogs) for card in cards], name="Card · GiB")
    cells = cells.set_axis(names, axis=0)
    grades = grades.set_axis(names, axis=0)
    st.dataframe(
        cells.style.apply(lambda _: grades.map(words.shade), axis=None),
        column_config={name: NUMBER(name, format="localized") for name in changes}
        | {"Card · GiB": TEXT("Card · GiB", pinned=is_phone())},
        height="content",
        on_select=lambda: _take_cell(key, cards, rows, catalogs),
        selection_mode="single-cell",
        key=key,
        placeholder="–",
        alt=f"The largest batch that one GPU has memory for, by card: {', '.join(changes)}",
    )


def _take_cell(key: str, cards: list[str], rows: pd.DataFrame, catalogs: Catalogs) -> None:
    """Callback: the cell's card and line at its largest batch become the plan."""
    for index, line in chosen_in(key, "cells"):
        for row in records(rows):
            if (row["gpu"], row["line"]) == (cards[index], line) and row["most"] >= 1:
                job_state.adopt({**scenario_of(row), "batch": int(row["most"])}, "", catalogs)


def _others(plan: Present, catalogs: Catalogs) -> None:
    """Draw the answers of four published calculators for this step, and their errors."""
    systems = compared_with_ours(pd.Series(plan.row), catalogs)
    text_table([words.system(row) for row in records(systems)], words.systems_alt(systems))
    st.caption(words.OTHERS)
    points([words.slip(row) for row in records(slips(catalogs))])
