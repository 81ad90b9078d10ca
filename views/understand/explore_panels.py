"""The tabs of the Explore page, each computed and drawn only while it is open."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts import tables as chart_tables
from calc.charts.lines import chart_lines
from calc.memory.moments import components_of
from calc.plan.communicated import communicated
from calc.plan.figures import records
from calc.say.place import card_name
from calc.say.setting import name_of
from calc.search import comparisons
from calc.search.guide import guide
from calc.search.standing import scenario_of
from views.charts import memory as memory_charts
from views.charts.base import THREE
from views.plan.memory import phase_table
from views.session import job_state
from views.session.present_plan import Present
from views.session.remembered import remembered
from views.shared.elements import button, draw, open_tabs, segments
from views.shared.markdown import plain
from views.shared.tables import NUMBER, TEXT, columns_of, grid
from views.shared.theme import Ink
from views.understand import comparisons_words as words
from views.understand.comparisons import bars_to_use, draw_lines, gpu_counts, made, use

FIRST = "Out of memory"
MOST_GPUS = 64
MOST_LINES = 4
MODELS = ("llama-3.2-1b", "llama-3.1-8b", "llama-2-13b", "llama-3.1-70b")  # of the largest batches


def tabs(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """What can be walked along from the present plan."""
    trains = plan.scenario["work"] == "training"
    bodies = {
        FIRST: lambda: _out_of_memory(plan, ink, catalogs),
        "Phases": lambda: _phases(plan, ink, catalogs),
        "GPUs": lambda: _gpus(plan, ink, catalogs),
        "Largest batch": lambda: _largest(plan, catalogs),
        "Precision and task": lambda: _tasks(plan, ink, catalogs),
        **({"Full, LoRA, QLoRA": lambda: _methods(plan, ink, catalogs)} if trains else {}),
        "Decision guide": lambda: _guide(plan, catalogs),
    }
    open_tabs(bodies, FIRST, "explore_tab")


def _out_of_memory(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Memory over batch or sequence under the cards' ceilings, and the largest that fits."""
    work, sold = plan.scenario["work"], comparisons.cards_on_aws(catalogs)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        over = segments("Over", words.OVER[work], "cliff_over", default="batch")
        by = segments("A line for each", words.BY[work], "cliff_by", default="precision")
        own_card, name = [plan.row["gpu"]] if plan.row["gpu"] in sold else [], partial(card_name, catalogs=catalogs)
        cards = st.multiselect("Ceilings", sold, own_card, name, key="cliff_cards", max_selections=MOST_LINES)
    values = _values(by, plan, catalogs)
    key = (plan.scenario, catalogs.version, by, values)
    rows = made(comparisons.over_doublings, plan, catalogs, over, by, values)
    most = remembered("cliff_most", key, lambda: comparisons.largest_by_value(plan.scenario, catalogs, by, values))
    names, axis = {value: words.line(by, value, catalogs) for value in values}, words.OVER[work][over].lower()
    ceilings = chart_tables.ceilings(cards, catalogs)
    points = chart_lines(rows, rows[over], chart_tables.for_screen(rows, ["memory_gib"])["memory_gib"], names, ceilings).table
    alt = words.cliff_alt(most, over, names, by)
    draw_lines(points, f"Memory per GPU over {axis}", (axis, "d"), ("GiB per GPU", THREE), alt, "cliff", ink)
    st.markdown(plain(words.largest(most, over, by, names, plan.row)))
    use("cliff", rows, [f"{names[row['line']]}, {axis} {row[over]:,.0f}" for row in records(rows)], plan, catalogs)


def _values(by: str, plan: Present, catalogs: Catalogs) -> list[str]:
    """The scenario's own value first, then the usual ones that can do its work."""
    able = {
        "precision": job_state.possible_precisions(catalogs),
        "optimizer": list(catalogs.optimizers.index),
        "recompute": list(catalogs.recomputes.index),
        "kv_precision": ["", "fp8"],
    }[by]
    usual = [value for value in words.USUAL[by] if value in able]
    return list(dict.fromkeys([plan.scenario[by], *usual]))[:MOST_LINES]


def _phases(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """What is alive in each phase of a step, or of a request, under the card."""
    allocated = tuple(name for name in components_of(plan.scenario["work"]) if name != "overhead_bytes")
    table = remembered("phases", (plan.scenario, catalogs.version), lambda: phase_table(plan.scenario, allocated, catalogs))
    cards = chart_tables.card_rules(pd.DataFrame([plan.row]), catalogs)
    draw(memory_charts.phases(ink, allocated), table, f"The peak is in the {plan.row['peak_phase']} phase", "explore_phases", cards)
    st.caption(words.phases(plan.row))


def _gpus(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Memory, time and money on 1 to 64 GPUs by strategy, and the bytes that training sends."""
    rows, names = gpu_counts(plan, ink, catalogs, "explore_gpus", MOST_GPUS)
    if plan.scenario["work"] != "training":
        return
    st.subheader("What the GPUs send one another", anchor=False)
    scenarios = [scenario_of(row) for row in records(rows)]
    sent = remembered("sent", (scenarios, catalogs.version), lambda: communicated(scenarios, catalogs))
    table = rows[["gpus", "fits", "hours", "usd"]].assign(
        line=[names[line] for line in rows["line"]],
        memory_gib=chart_tables.for_screen(rows, ["memory_gib"])["memory_gib"],
        sent_gib=chart_tables.for_screen(sent, ["sent_gib"])["sent_gib"],
        what=[words.SENT.get(line, "") for line in rows["line"]],
    )
    columns = columns_of("sent_by_gpus")
    grid(table[list(columns)], columns, words.SENT_ALT, "explore_sent")


def _tasks(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Serving in each number format at three tasks: where the cache overtakes the weights."""
    usual, key = [name for name in words.FORMATS if name in catalogs.precisions.index], (plan.scenario, catalogs.version)
    rows = remembered("tasks", key, lambda: comparisons.over_tasks(plan.scenario, catalogs, usual))
    if rows.empty:
        st.info(words.NOTHING_COMPARED)
        return
    tasks = list(comparisons.TASKS)
    task = st.segmented_control("Task", tasks, default=tasks[1], required=True, key="explore_task", help=words.TASK_HELP)
    shown = rows[rows["line"] == task].sort_values("memory_bytes", kind="stable")
    labels = [name_of("precision", name, catalogs) for name in shown["precision"]]
    title = f"Memory of serving {task} tokens"
    bars_to_use(shown, labels, map(words.task, records(shown)), title, "explore_tasks", plan, ink, catalogs)
    st.caption(plain(words.overtakes(shown, catalogs)))


def _methods(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Full training, LoRA and QLoRA, component by component."""
    rows = made(comparisons.over_methods, plan, catalogs)
    labels, texts = [words.METHODS[line] for line in rows["line"]], map(words.values, records(rows))
    bars_to_use(rows, labels, texts, "Memory per GPU by method", "explore_methods", plan, ink, catalogs)
    parts = chart_tables.parts_by_row(rows, labels, components_of("training"))
    grid(parts, {label: NUMBER(label, format="%.3g") for label in labels}, "GiB of each component by method", "explore_parts")


def _guide(plan: Present, catalogs: Catalogs) -> None:
    """The questions in turn, each with the least money for it."""
    with st.spinner("Answering each question"):
        leaves = remembered("guide", (plan.job, catalogs.version), lambda: guide(plan.job, catalogs))
    st.caption(words.guide(leaves))
    for index, leaf in enumerate(leaves):
        with st.container(border=True):
            answer, action = st.columns([5, 1], vertical_alignment="center")
            answer.markdown(plain(words.leaf(leaf, catalogs)))
            choice: tuple[Any, ...] = (scenario_of(leaf.row), leaf.row.get("market") or "", catalogs)
            with action:
                button("Use in plan", job_state.adopt, *choice, disabled=not leaf.row["answer"], key=f"guide_{index}")


def _largest(plan: Present, catalogs: Catalogs) -> None:
    """The largest batch by card, model and method; nothing fits is white and says 0."""
    names = catalogs.models["name"]
    usual = list(dict.fromkeys([plan.scenario["model"], *(model for model in MODELS if model in names.index)]))[:4]
    chosen = st.multiselect("Models", list(names.index), usual, names.__getitem__, key="largest_models", max_selections=6)
    if not chosen:
        return
    cards = comparisons.cards_on_aws(catalogs)
    key = (plan.scenario, catalogs.version, chosen)
    rows = remembered("largest", key, lambda: comparisons.largest_batches(plan.scenario, catalogs, chosen, cards))
    tables = [chart_tables.crossed(rows, "gpu", ("model", "method"), name) for name in ("most", "grade")]
    heads = {words.largest_column(column[0], column[1], catalogs): column for column in tables[0]}
    index = pd.Index([card_name(card, catalogs) for card in tables[0].index], name="Card")
    cells, grades = (table.set_axis(list(heads), axis=1).set_axis(index, axis=0) for table in tables)
    st.dataframe(
        cells.style.apply(lambda _: grades.map(words.shade), axis=None),
        column_config={name: NUMBER(name, format="%d") for name in heads} | {"Card": TEXT("Card", pinned=True)},
        height=36 + 35 * len(cells),
        on_select=lambda: _take_largest(list(tables[0].index), heads, rows, catalogs),
        selection_mode="single-cell",
        key="largest_cells",
        placeholder="–",
        alt="The largest micro-batch by card, model and method",
    )
    st.caption(words.largest_caption(plan.row))


def _take_largest(cards: list[str], heads: dict[str, tuple], rows: pd.DataFrame, catalogs: Catalogs) -> None:
    """Callback: the cell's model, card and method at its largest batch become the plan."""
    for index, name in st.session_state["largest_cells"]["selection"]["cells"]:
        place = (cards[index], *heads.get(name, ("", "")))
        for row in records(rows):
            if (row["gpu"], row["model"], row["method"]) == place and row["most"] >= 1:
                job_state.adopt({**scenario_of(row), "batch": int(row["most"])}, "", catalogs)
