"""Comparisons with the row on view: bars of memory, lines over GPUs, cost against time."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts import result_tables
from calc.charts.lines import chart_lines
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.mappings import Arguments
from calc.memory.moments import components_of
from calc.plan.figures import figures, records
from calc.say.numbers import three_digits, with_noun
from calc.say.setting import name_of
from calc.say.speed import one_unit
from calc.search.row_status import scenario_of
from calc.studies import comparisons
from views.charts import lines
from views.charts import memory as memory_charts
from views.charts.base import DOLLARS, THREE
from views.session import job_state
from views.session.present_plan import Present
from views.session.recent_results import recent_result
from views.shared import tables
from views.shared.elements import draw, use_in_plan
from views.shared.markdown import plain
from views.shared.theme import FITS, Ink, verdict_words
from views.understand import comparisons_words as words


def recent_rows(make: Callable, plan: Present, catalogs: Catalogs, *more: Any) -> pd.DataFrame:
    """The rows of a comparison, estimated once for a scenario and market."""
    key = (plan.scenario, plan.market, catalogs.version, more)
    return recent_result(
        make.__name__, key, lambda: make(plan.scenario, plan.market, catalogs, *more)
    )


def over_values(name: str, values: list[str], plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Draw bars of memory for each value of a choice, with the cost and time of the job."""
    rows = recent_rows(comparisons.over_values, plan, catalogs, name, tuple(values)).sort_values(
        "needed_bytes", kind="stable"
    )
    if rows.empty:
        st.info(words.NOTHING_COMPARED)
        return
    labels = [name_of(name, value, catalogs) for value in rows[name]]
    bars_to_use(
        rows,
        labels,
        (words.values(row, catalogs) for row in records(rows)),
        words.title(name, plan.row),
        name,
        plan,
        ink,
        catalogs,
    )
    marks = ", ".join(f"{mark} {word}" for word, mark, *_ in list(FITS.values())[:3])
    market = MARKETS[plan.row["market"]].phrase
    st.caption(
        plain(
            f"All else as in the plan. {marks}; hollow: does not fit. Money and time of the "
            f"job {market}."
        )
    )
    tables.meanings(name, rows[name], catalogs)


def bars_to_use(
    rows: pd.DataFrame,
    labels: list[str],
    texts: Iterable[str],
    title: str,
    key: str,
    plan: Present,
    ink: Ink,
    catalogs: Catalogs,
) -> None:
    """Bars of memory by component, and the list from which one of them becomes the plan."""
    least = rows["needed_bytes"].to_numpy().argmin()
    memory = three_digits(figures(rows.iloc[least]).memory_gib)
    alt = f"Least memory: {labels[least]}, {memory} GiB per GPU"
    _memory_bars(rows, labels, texts, title, alt, f"varied_{key}", ink)
    use(key, rows, labels, plan, catalogs)


def _memory_bars(
    rows: pd.DataFrame,
    labels: list[str],
    texts: Iterable[str],
    title: str,
    alt: str,
    key: str,
    ink: Ink,
) -> None:
    """Bars of memory by component, one for each row, with its text beside its name."""
    table = result_tables.by_component(rows, labels, components_of(rows["work"].iloc[0]))
    components, texts = result_tables.drawn_components(table), list(texts)
    draw(
        memory_charts.bars(ink, components, title),
        table.assign(value_text=[texts[rank] for rank in table["rank"]]),
        alt,
        key,
    )


def gpu_counts(
    plan: Present,
    ink: Ink,
    catalogs: Catalogs,
    key: str = "gpus",
    most_gpus: int = comparisons.MOST_GPUS,
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Draw memory, time and cost by GPUs and layout; return the rows and the names of lines."""
    rows = recent_rows(comparisons.over_gpus, plan, catalogs, most_gpus)
    names = {line: words.LINES.get(line, line) for line in rows["line"].unique()}
    _three_charts(rows, rows["gpus"], ("GPUs", "d"), names, plan, ink, catalogs, key)
    st.caption(words.gpus_caption(plan.row))
    use(
        key,
        rows,
        [f"{names[row['line']]}, {with_noun(int(row['gpus']), 'GPU')}" for row in records(rows)],
        plan,
        catalogs,
    )
    return rows, names


def _three_charts(
    rows: pd.DataFrame,
    x: pd.Series,
    x_axis: tuple[str, str],
    names: dict[str, str],
    plan: Present,
    ink: Ink,
    catalogs: Catalogs,
    key: str,
) -> None:
    """Three charts of the same lines: memory against the one card, time, cost."""
    ends = ends_of(plan.scenario)
    table = result_tables.for_screen(rows, ["needed_gib", "hours", "usd", "gpu_memory_gib"])
    card = [(words.card(plan.row), float(table["gpu_memory_gib"].iloc[0]))] if len(rows) else []
    if ends:
        title, unit, time = "Time of the run", "hours", table["hours"]
    else:
        title, unit = f"Time of {one_unit(plan.row, catalogs)}", "milliseconds"
        time = pd.Series(result_tables.pace_ms(rows, catalogs), rows.index, dtype=float)
    cost_title = "Cost of the run" if ends else "Cost of a month"
    charts: Arguments = {
        "memory": ("Memory per GPU", ("GiB per GPU", THREE), table["needed_gib"], card),
        "time": (title, (unit, THREE), time, []),
        "money": (cost_title, ("USD", DOLLARS), table["usd"], []),
    }
    panes = st.columns(3, gap="small")
    for (name, (title, y_axis, y, rules)), pane in zip(charts.items(), panes, strict=True):
        points = chart_lines(rows, x, y, names, rules)
        with pane:
            if points.empty:
                st.info(words.NOTHING_COMPARED)
            else:
                alt = words.lines_alt(name, rows, catalogs)
                draw_lines(points, title, x_axis, y_axis, alt, f"{key}_{name}", ink)


def draw_lines(
    points: pd.DataFrame,
    title: str,
    x: tuple[str, str],
    y: tuple[str, str],
    alt: str,
    key: str,
    ink: Ink,
) -> None:
    """A chart of lines (chart_lines) on log scales; `x` and `y`: title and number format."""
    draw(
        lines.over(ink, f"{title}, log scales", x, y),
        points.assign(verdict=verdict_words(points["fits"])),
        alt,
        key,
    )


def use(
    name: str, rows: pd.DataFrame, labels: list[str], plan: Present, catalogs: Catalogs
) -> None:
    """A row of a comparison that runs and fits becomes the plan; Undo brings today's back."""
    points = records(rows)
    sound = [
        index
        for index, row in enumerate(points)
        if not row["problem"] and row["fits"] != "no" and row["runs"] != "no"
    ]
    choices = {index: labels[index] for index in sound}
    use_in_plan(
        choices,
        f"use_{name}",
        lambda index: job_state.adopt(scenario_of(points[index]), plan.market, catalogs),
    )
