"""The tabs of the Explore page, each computed and drawn only while it is open."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts import tables as chart_tables
from calc.memory.moments import components_of
from calc.plan.communicated import communicated
from calc.plan.figures import figures, records
from calc.say.numbers import three
from calc.say.setting import name_of
from calc.search import comparisons
from calc.search.guide import guide
from calc.search.standing import scenario_of
from views.charts import memory as memory_charts
from views.panels import explore_cliff, explore_largest
from views.panels.chart import draw
from views.panels.comparisons import gpu_counts, memory_bars, use
from views.panels.looked_at import phase_table
from views.panels.open_tabs import open_tabs
from views.session import job_state
from views.session.present_plan import Present
from views.session.remembered import remembered
from views.tables import NUMBER, columns_of, grid
from views.theme import Ink
from views.wording import comparisons as compared_words
from views.wording import explore as words
from views.wording.explore import METHODS
from views.wording.markdown import plain

FIRST = "Out of memory"
MOST_GPUS = 64


def tabs(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """What can be walked along from the present plan."""
    trains = plan.scenario["work"] == "training"
    bodies = {
        FIRST: lambda: explore_cliff.cliff(plan, ink, catalogs),
        "Phases": lambda: _phases(plan, ink, catalogs),
        "GPUs": lambda: _gpus(plan, ink, catalogs),
        "Largest batch": lambda: explore_largest.table(plan, catalogs),
        "Precision and task": lambda: _tasks(plan, ink, catalogs),
        **({"Full, LoRA, QLoRA": lambda: _methods(plan, ink, catalogs)} if trains else {}),
        "Decision guide": lambda: _guide(plan, catalogs),
    }
    open_tabs(bodies, FIRST, "explore_tab")


def _made(name: str, plan: Present, catalogs: Catalogs, make: Callable, *more: Any) -> pd.DataFrame:
    return remembered(f"explored_{name}", (plan.scenario, plan.market, catalogs.version, more), make)


def _phases(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """What is alive in each phase of a step, or of a request, under the card."""
    allocated = tuple(name for name in components_of(plan.scenario["work"]) if name != "overhead_bytes")
    table = _made("phases", plan, catalogs, lambda: phase_table(plan.scenario, allocated, catalogs))
    cards = chart_tables.card_rules(chart_tables.one_row(plan.row), catalogs)
    draw(memory_charts.phases(ink, allocated), table, f"The peak is in the {plan.row['peak_phase']} phase", "explore_phases", cards)
    st.caption(words.phases(plan.row))


def _gpus(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Memory, time and money on 1 to 64 GPUs by strategy, and the bytes that training sends."""
    rows, names = gpu_counts(plan, ink, catalogs, "explore_gpus", MOST_GPUS)
    if plan.scenario["work"] == "training":
        sent = _made("sent", plan, catalogs, lambda: communicated([scenario_of(row) for row in records(rows)], catalogs))
        _sent(rows, sent, names)


def _sent(rows: pd.DataFrame, sent: pd.DataFrame, names: dict[str, str]) -> None:
    """What one GPU sends in an optimizer step, and what that is."""
    st.subheader("What the GPUs send one another", anchor=False)
    shown = chart_tables.for_screen(rows, ["memory_gib"])
    table = rows[["gpus", "fits"]].assign(
        line=[names[line] for line in rows["line"]],
        memory_gib=shown["memory_gib"],
        hours=rows["hours"],
        usd=rows["usd"],
        sent_gib=chart_tables.for_screen(sent, ["sent_gib"])["sent_gib"],
        what=[words.SENT.get(line, "") for line in rows["line"]],
    )
    columns = columns_of("sent_by_gpus")
    grid(table[list(columns)], columns, words.SENT_ALT, "explore_sent")


def _tasks(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Serving in each number format at three tasks: where the cache overtakes the weights."""
    usual = [name for name in words.FORMATS if name in catalogs.precisions.index]
    rows = _made("tasks", plan, catalogs, lambda: comparisons.over_tasks(plan.scenario, catalogs, usual))
    if rows.empty:
        st.info(compared_words.NOTHING)
        return
    task = st.segmented_control(
        "Task", list(comparisons.TASKS), default=list(comparisons.TASKS)[1], required=True, key="explore_task", help=words.TASK_HELP
    )
    shown = rows[rows["line"] == task].sort_values("memory_bytes", kind="stable")
    labels, texts = [name_of("precision", name, catalogs) for name in shown["precision"]], [words.task(row) for row in records(shown)]
    least = shown.iloc[0]
    alt = f"Smallest: {name_of('precision', least['precision'], catalogs)}, {three(figures(least)['memory_gib'])} GiB"
    memory_bars(shown, labels, texts, f"Memory of serving {task} tokens", alt, ink, "explore_tasks")
    st.caption(plain(words.overtakes(shown, catalogs)))
    use("explore_tasks", shown, labels, plan, catalogs)


def _methods(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Full training, LoRA and QLoRA, component by component."""
    rows = _made("methods", plan, catalogs, lambda: comparisons.over_methods(plan.scenario, plan.market, catalogs))
    labels, texts = [words.METHODS[line] for line in rows["line"]], [compared_words.values(row) for row in records(rows)]
    least = rows.sort_values("memory_bytes", kind="stable").iloc[0]
    alt = f"Least memory: {METHODS[least['line']]}, {three(figures(least)['memory_gib'])} GiB per GPU"
    memory_bars(rows, labels, texts, "Memory per GPU by method", alt, ink, "explore_methods")
    parts = chart_tables.parts_by_row(rows, labels, components_of("training"))
    grid(parts, {label: NUMBER(label, format="%.3g") for label in labels}, "GiB of each component by method", "explore_parts")
    use("explore_methods", rows, labels, plan, catalogs)


def _guide(plan: Present, catalogs: Catalogs) -> None:
    """The questions in turn, each with the least money for it."""
    key = (plan.job, catalogs.version)
    with st.spinner("Answering each question"):
        leaves = remembered("guide", key, lambda: guide(plan.job, catalogs))
    st.caption(words.guide(leaves))
    for index, leaf in enumerate(leaves):
        with st.container(border=True):
            answer, button = st.columns([5, 1], vertical_alignment="center")
            answer.markdown(plain(words.leaf(leaf, catalogs)))
            button.button(
                "Use in plan",
                on_click=job_state.adopt,
                args=(scenario_of(leaf.row), leaf.row.get("market") or "", catalogs),
                disabled=not leaf.row["answer"],
                key=f"guide_{index}",
            )
