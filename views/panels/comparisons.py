"""Comparisons with the row on view, in tabs that compute only while they are open."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts import tables as chart_tables
from calc.charts.against_time import against_time
from calc.charts.lines import chart_lines
from calc.cost.markets import MARKETS
from calc.memory.moments import components_of
from calc.plan.figures import figures, records
from calc.say.numbers import about, counted, three
from calc.say.place import place
from calc.say.setting import name_of
from calc.search import comparisons
from calc.search.standing import scenario_of
from views import tables
from views.charts import against_time as time_charts
from views.charts import bars, lines
from views.charts.base import DOLLARS, THREE
from views.elements import use_in_plan
from views.panels.chart import draw
from views.panels.open_tabs import open_tabs
from views.session import job_state
from views.session.present_plan import Present
from views.session.remembered import remembered
from views.theme import FITS, Ink, verdict_words
from views.wording import comparisons as words
from views.wording.comparisons import MARKS
from views.wording.markdown import plain

FIRST = "Cost against time"  # costs no estimate


def tabs(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """How the row compares: every tab starts from its scenario and market."""
    trains = plan.scenario["work"] == "training"
    bodies = {
        "Precisions": lambda: _values("precision", job_state.possible_precisions(catalogs), plan, ink, catalogs),
        **({"Optimizers": lambda: _values("optimizer", list(catalogs.optimizers.index), plan, ink, catalogs)} if trains else {}),
        "GPU counts": lambda: gpu_counts(plan, ink, catalogs),
        "Batch": lambda: _batch(plan, ink, catalogs),
        "Cost against time": lambda: _against_time(plan, ink, catalogs),
    }
    open_tabs(bodies, FIRST, "tab")


def _made(name: str, make: Callable, plan: Present, catalogs: Catalogs, *more: Any) -> pd.DataFrame:
    """The rows of a comparison, estimated once for a scenario and market."""
    key = (plan.scenario, plan.market, catalogs.version, more)
    return remembered(f"compared_{name}", key, lambda: make(plan.scenario, plan.market, catalogs, *more))


def _values(name: str, values: list[str], plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Bars of memory for each value of a choice, with money and time of the job."""
    rows = _made(name, comparisons.over_values, plan, catalogs, name, tuple(values)).sort_values("memory_bytes", kind="stable")
    if rows.empty:
        st.info(words.NOTHING)
        return
    labels, texts = [name_of(name, value, catalogs) for value in rows[name]], [words.values(row) for row in records(rows)]
    alt = f"Smallest: {name_of(name, rows[name].iloc[0], catalogs)}, {three(figures(rows.iloc[0])['memory_gib'])} GiB per GPU"
    memory_bars(rows, labels, texts, words.title(name, plan.row), alt, ink, f"varied_{name}")
    marks = ", ".join(f"{mark} {word}" for word, mark, *_ in list(FITS.values())[:3])
    caption = (
        f"All else as in the row looked at. {marks}; hollow: does not fit. Money and time of the job {MARKETS[plan.row['market']].phrase}."
    )
    st.caption(plain(caption))
    use(name, rows, labels, plan, catalogs)
    tables.meanings(name, rows[name], catalogs)


def memory_bars(rows: pd.DataFrame, labels: list[str], texts: list[str], title: str, alt: str, ink: Ink, key: str) -> None:
    """Bars of memory by component, one for each row, with words beside its name."""
    components = components_of(rows["work"].iloc[0])
    table = chart_tables.by_component(rows, labels, components)
    table["value_text"] = [texts[rank] for rank in table["rank"]]
    draw(bars.memory(ink, components, title), table, alt, key)


def gpu_counts(
    plan: Present, ink: Ink, catalogs: Catalogs, key: str = "gpus", most_gpus: int = comparisons.MOST_GPUS
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Memory, time and money by GPUs and layout; returns the rows and the names of lines."""
    rows = _made(key, comparisons.over_gpus, plan, catalogs, most_gpus)
    names = {line: words.LINES.get(line, line) for line in rows["line"].unique()}
    _three_charts(rows, rows["gpus"], ("GPUs", "d"), names, plan, ink, key)
    work = "every step keeps its tokens" if plan.row["work"] == "training" else "the same requests at once, shared by the replicas"
    caption = f"The same work on 1, 2, 4 … GPUs of {plan.row['instance'] or plan.row['gpu']}: {work}. Whole instances are paid. {MARKS}"
    st.caption(caption)
    labels = [f"{names[row['line']]}, {counted(int(row['gpus']), 'GPU')}" for row in records(rows)]
    use(key, rows, labels, plan, catalogs)
    return rows, names


def _batch(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Memory, time and money over the sequences at once."""
    rows = _made("batch", comparisons.over_batch, plan, catalogs)
    names = {line: words.batch_line(line, catalogs, plan.scenario["work"]) for line in rows["line"].unique()}
    _three_charts(rows, rows["batch"], (words.BATCH_AXIS[plan.scenario["work"]], "d"), names, plan, ink, "batch")
    st.caption(words.batch_caption(plan.row))
    axis = words.BATCH_AXIS[plan.scenario["work"]]
    use("batch", rows, [f"{names[row['line']]}, {axis} {row['batch']:,.0f}" for row in records(rows)], plan, catalogs)


def _three_charts(
    rows: pd.DataFrame, x: pd.Series, x_axis: tuple[str, str], names: dict[str, str], plan: Present, ink: Ink, key: str
) -> None:
    """Three charts of the same lines: memory against the one card, time, money."""
    trains = plan.scenario["work"] == "training"
    shown = chart_tables.for_screen(rows, ["memory_gib", "hours", "usd", "gpu_memory_gib", "time_per_output_token_ms"])
    card = [(words.card(plan.row), float(shown["gpu_memory_gib"].iloc[0]))] if len(rows) else []
    charts: Any = (
        ("memory", "Memory per GPU", ("GiB per GPU", THREE), shown["memory_gib"], card),
        ("time", "Time of the run", ("hours", THREE), shown["hours"], [])
        if trains
        else ("time", "Time of a token", ("milliseconds", THREE), shown["time_per_output_token_ms"], []),
        ("money", "Cost of the run" if trains else "Cost of a month", ("USD", DOLLARS), shown["usd"], []),
    )
    for (name, title, y_axis, y, rules), pane in zip(charts, st.columns(3, gap="small"), strict=True):
        made = chart_lines(rows, x, y, names, rules)
        if made.table.empty:
            pane.info(words.NOTHING)
            continue
        with pane:
            table = made.table.assign(verdict=verdict_words(made.table["fits"]))
            spec = lines.over(ink, f"{title}, log scales", x_axis, y_axis)
            draw(spec, table, words.lines_alt(name, rows), f"{key}_{name}")


def use(name: str, rows: pd.DataFrame, labels: list[str], plan: Present, catalogs: Catalogs) -> None:
    """A row of a comparison that runs and fits becomes the plan; Undo brings today's back."""
    points = records(rows)
    sound = [index for index, row in enumerate(points) if not row["problem"] and row["fits"] != "no" and row["runs"] != "no"]
    choices = {index: labels[index] for index in sound}
    use_in_plan(choices, f"use_{name}", lambda index: job_state.adopt(scenario_of(points[index]), plan.market, catalogs))


def _against_time(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """The frontier of money against time, with the best of every instance type."""
    options, trains = plan.options, plan.scenario["work"] == "training"
    if options.edge.empty:
        st.info(words.NO_FRONTIER)
        return
    table = remembered("against_time", (plan.job, plan.scenario, plan.market, catalogs.version), lambda: _points(plan, trains))
    titles = ("hours of the run", "USD for the run") if trains else ("milliseconds per token", "USD per month")
    draw(time_charts.cost_against_time(ink, *titles), table, words.FRONTIER_ALT, "frontier")
    least, most = about(options.edge["usd"].min()), about(options.edge["usd"].max())
    caption = (
        f"The line, {least} to {most}: the least money for each time, of the {options.possible:,} combinations possible. "
        "Grey: the best of every instance type. Diamond: the row looked at. Spot counts its interruptions."
    )
    st.caption(plain(caption))


def _points(plan: Present, trains: bool) -> pd.DataFrame:
    """The board, the frontier and the row looked at as points of that chart."""
    parts = {"other": plan.options.board, "frontier": plan.options.edge, "now": pd.DataFrame([plan.row])}
    names = ["seconds", "usd", "instance", "instances_needed", "market"]
    table = pd.concat([rows[names].assign(kind=kind) for kind, rows in parts.items()], ignore_index=True)
    return against_time(table.assign(label=[place(point) for point in records(table)]), trains)
