"""The tabs of the Explore page, each computed and drawn only while it is open."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts import result_tables
from calc.memory.moments import components_of
from calc.plan.communication import communication_volumes
from calc.plan.figures import records
from calc.say.choices import only_count
from calc.say.job import short_job
from calc.say.setting import name_of
from calc.search.row_status import scenario_of
from calc.studies import comparisons
from calc.studies.guide import Leaf, guide
from views.charts.guide_tree import guide_tree
from views.session import job_state
from views.session.present_plan import Present
from views.session.recent_results import recent_result
from views.shared.elements import button, open_tabs
from views.shared.markdown import plain
from views.shared.tables import NUMBER, columns_of, grid, text_table
from views.shared.theme import Ink
from views.understand import comparisons_words as words
from views.understand.comparisons import bars_to_use, gpu_counts, over_values, recent_rows

FIRST = "GPUs"
MOST_GPUS = 64


def tabs(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Draw the tabs of what can be compared from the present plan."""
    trains = plan.scenario["work"] == "training"
    bodies = {
        FIRST: lambda: _gpus(plan, ink, catalogs),
        "Precision and task": lambda: _tasks(plan, ink, catalogs),
        **({"Methods": lambda: _methods(plan, ink, catalogs)} if trains else {}),
        "Decision guide": lambda: _guide(plan, ink, catalogs),
    }
    open_tabs(bodies, FIRST, "explore_tab")


def _gpus(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Draw memory, time and cost on 1 to 64 GPUs by strategy, and the bytes that training sends."""
    counts = recent_rows(comparisons.over_gpus, plan, catalogs, MOST_GPUS)["gpus"]
    if counts.nunique() == 1:
        st.info(plain(only_count(plan.row)))
        return
    rows, names = gpu_counts(plan, ink, catalogs, "explore_gpus", MOST_GPUS)
    if plan.scenario["work"] != "training":
        return
    st.header("What the GPUs send one another", anchor=False)
    scenarios = [scenario_of(row) for row in records(rows)]
    volumes = recent_result(
        "sent", (scenarios, catalogs.version), lambda: communication_volumes(scenarios, catalogs)
    )
    table = rows[["gpus", "fits", "hours", "usd"]].assign(
        line=[names[line] for line in rows["line"]],
        memory_gib=result_tables.for_screen(rows, ["needed_gib"])["needed_gib"],
        sent_gib=result_tables.for_screen(volumes, ["sent_gib"])["sent_gib"],
        what=[words.SENT.get(line, "") for line in rows["line"]],
    )
    columns = columns_of("sent_by_gpus")
    grid(table[list(columns)], columns, words.SENT_ALT, "explore_sent")


def _tasks(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """The plan in each number format, and serving in each at three tasks."""
    over_values("precision", job_state.possible_precisions(catalogs), plan, ink, catalogs)
    st.header("Serving: where the cache overtakes the weights", anchor=False)
    usual = [name for name in words.FORMATS if name in catalogs.precisions.index]
    key = (plan.scenario, catalogs.version)
    rows = recent_result(
        "tasks", key, lambda: comparisons.over_tasks(plan.scenario, catalogs, usual)
    )
    if rows.empty:
        st.info(words.NOTHING_COMPARED)
        return
    tasks = list(comparisons.TASKS)
    task = st.segmented_control(
        "Task", tasks, default=tasks[1], required=True, key="explore_task", help=words.TASK_HELP
    )
    of_task = rows[rows["line"] == task].sort_values("needed_bytes", kind="stable")
    labels = [name_of("precision", name, catalogs) for name in of_task["precision"]]
    title = f"Memory of serving {task} tokens"
    bars_to_use(
        of_task,
        labels,
        map(words.task, records(of_task)),
        title,
        "explore_tasks",
        plan,
        ink,
        catalogs,
    )
    st.caption(plain(words.overtakes(of_task, catalogs)))


def _methods(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Full training, LoRA and QLoRA, component by component."""
    rows = recent_rows(comparisons.over_methods, plan, catalogs)
    labels = [words.METHODS[line] for line in rows["line"]]
    texts = [words.values(row, catalogs) for row in records(rows)]
    bars_to_use(
        rows, labels, texts, "Memory per GPU by method", "explore_methods", plan, ink, catalogs
    )
    parts = result_tables.parts_by_row(rows, labels, components_of("training"))
    grid(
        parts,
        {label: NUMBER(label, format="%.3g") for label in labels},
        "GiB of each component by method",
        "explore_parts",
    )
    over_values("optimizer", list(catalogs.optimizers.index), plan, ink, catalogs)


def _guide(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """The questions as a tree and in turn, each with the lowest cost for it."""
    with st.spinner("Answering each question"):
        leaves = recent_result(
            "guide",
            (plan.job, plan.row, catalogs.version),
            lambda: guide(plan.job, plan.row, catalogs),
        )
    branches = [words.branch(leaf, plan.row) for leaf in leaves]
    root = short_job(plan.job, catalogs)
    st.graphviz_chart(guide_tree(root, branches, ink), width="content")
    st.caption(words.guide(leaves, plan.row))
    takes = [
        partial(job_state.adopt, scenario_of(leaf.row), leaf.row.get("market") or "", catalogs)
        for leaf in leaves
    ]
    _answer_table("Question", leaves, takes, plan, catalogs)


def _answer_table(
    head: str, leaves: list[Leaf], takes: Sequence[Callable], plan: Present, catalogs: Catalogs
) -> None:
    """A table of jobs with their answers; a button makes one of them the plan."""
    text_table(
        [words.leaf(head, leaf, plan.row, catalogs) for leaf in leaves], words.leaves_alt(leaves)
    )
    st.markdown("**Use in plan**")
    with st.container(horizontal=True, gap="xsmall"):
        for index, (leaf, take) in enumerate(zip(leaves, takes, strict=True)):
            button(leaf.job.name, take, disabled=not leaf.row["answer"], key=f"answer_{index}")
