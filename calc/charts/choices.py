"""Tables behind the charts of Compare choices: one row per cell, in the order of the axes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.say.choices import MARK, changes_quality, choice_name
from calc.say.numbers import about, gib, span, three
from calc.say.place import place
from calc.say.problem import problem_text
from calc.studies.choices import Cell, Choice, cheapest_cell, gpu_hours, is_plan
from calc.units import GIB

MEASURES: dict[str, Callable[[Mapping[str, Any]], float]] = {
    "usd": lambda plan: plan["usd"],
    "hours": lambda plan: plan["hours"],
    "gpu_hours": gpu_hours,
    "memory_gib": lambda plan: plan["needed_bytes"] / GIB,
}
WORDS: dict[str, Callable[[float], str]] = {
    "usd": about,
    "hours": span,
    "gpu_hours": lambda value: f"{three(value)} GPU-hours",
    "memory_gib": gib,
}


def choices_table(
    cells: Sequence[Cell],
    measure: str,
    job: Mapping[str, Any],
    plan: Mapping[str, Any],
    catalogs: Catalogs,
) -> pd.DataFrame:
    """Return the cells as marks of a chart.

    Columns: `row`, `column` (names), `row_rank`, `column_rank`, `value` (the measure, NaN without a
    plan), `text` (the measure in words), `machine`, `detail` (time and GPUs, or why there is no
    plan), `mark` (plan, cheapest, least or empty), `headline`, `detail_line` and `summary` (texts
    drawn in a mark) and `cell`, the number of the cell.
    """
    rows = list(dict.fromkeys(cell.row.id for cell in cells))
    columns = list(dict.fromkeys(cell.column.id for cell in cells))
    values = [MEASURES[measure](cell.plan) if cell.plan else float("nan") for cell in cells]
    table = pd.DataFrame(
        {
            "row": [_marked(cell.row, plan, catalogs) for cell in cells],
            "column": [_marked(cell.column, plan, catalogs) for cell in cells],
            "row_rank": [rows.index(cell.row.id) for cell in cells],
            "column_rank": [columns.index(cell.column.id) for cell in cells],
            "value": values,
            "text": [
                WORDS[measure](value) if cell.plan else "no plan"
                for cell, value in zip(cells, values, strict=True)
            ],
            "machine": [place(cell.plan) if cell.plan else "" for cell in cells],
            "detail": [_detail(cell, catalogs) for cell in cells],
            "cell": range(len(cells)),
        }
    )
    is_own = [is_plan(cell.row, job, plan) and is_plan(cell.column, job, plan) for cell in cells]
    least = cheapest_cell(cells) if measure == "usd" else None
    is_least = (
        table["value"].eq(table["value"].min())
        if least is None
        else table["cell"].eq(cells.index(least))
    )
    mark = (
        pd.Series("", index=table.index)
        .mask(is_least, "cheapest" if measure == "usd" else "least")
        .mask(is_own, "plan")
    )
    return table.assign(
        mark=mark,
        headline=table["text"]
        + mark.map({"plan": " · plan", "cheapest": " · cheapest", "least": " · least", "": ""}),
        detail_line=table["detail"].where(table["value"].notna(), ""),
        summary=[
            " · ".join(filter(None, parts))
            for parts in zip(table["text"], table["detail"], table["machine"], strict=True)
        ],
    )


def _marked(choice: Choice, plan: Mapping[str, Any], catalogs: Catalogs) -> str:
    """Return the name of a choice, with a mark if it changes the quality of the result."""
    mark = f" {MARK}" if changes_quality(choice, plan["work"], catalogs) else ""
    return choice_name(choice, catalogs) + mark


def _detail(cell: Cell, catalogs: Catalogs) -> str:
    """Return the time of a run, the words for a service's pace, or why there is no plan."""
    if cell.refused and cell.refused.obstacle:
        return problem_text(cell.refused.obstacle, cell.refused.resolved, catalogs)
    if cell.plan is None:
        return ""
    return span(cell.plan["hours"]) if ends_of(cell.plan) else ""
