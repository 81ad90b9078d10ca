"""Tables behind the charts of Compare choices: one row per cell, in the order of the axes."""

from collections.abc import Callable, Sequence

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.mappings import Cells
from calc.say.choices import (
    MARK,
    choice_name,
    decision,
    is_of_amounts,
    least_words,
    machine_name,
    quality_note,
)
from calc.say.numbers import about, gib, is_missing, span, three_digits, with_capital
from calc.say.place import place
from calc.say.problem import misses_text, problem_text
from calc.say.setting import arrangement
from calc.say.speed import service_pace
from calc.studies.choices import TIE_RATIO, Cell, Choice, is_plan, least_cell
from calc.units import GIB

MEASURES: dict[str, Callable[[Cells], float]] = {
    "usd": lambda plan: plan["usd"],
    "hours": lambda plan: plan["hours"],
    "gpu_hours": lambda plan: plan["billed_gpu_hours"],
    "memory_gib": lambda plan: plan["needed_bytes"] / GIB,
}
LONG_WORDS = ("gpu_hours",)  # measures whose words leave a cell of a matrix no room for its tick
PENDING, NO_PLAN = "…", "no plan"  # of a cell that is not computed yet; that nothing can run
OVER_LIMIT, NOT_CERTAIN = "over limit", "not certain"  # of a plan that does not qualify
LEAST = {"usd": "cheapest", "hours": "fastest", "gpu_hours": "fewest", "memory_gib": "least"}
WORDS: dict[str, Callable[[float], str]] = {
    "usd": about,
    "hours": span,
    "gpu_hours": lambda value: f"{three_digits(value)} GPU-h",
    "memory_gib": gib,
}


def choices_table(
    cells: Sequence[Cell],
    measure: str,
    job: Cells,
    plan: Cells,
    catalogs: Catalogs,
) -> pd.DataFrame:
    """Return the cells as marks of a chart.

    Columns: `row`, `column` (names), `row_rank`, `column_rank`, `value` (the measure, NaN without a
    plan), `times` (the value over the least one), `text` (the measure in words), `machine`,
    `layout`, `detail` (time or pace; beside hours, the cost), `why` (the limit that it exceeds, or
    why there is no plan), `qualifies`, `quality` (what a choice changes in the result), `mark`
    (plan, cheapest, fastest, least or empty), `cell`, the number of the cell, and texts that are
    drawn in a mark: `figure`, `cell_text`, `timed` (the measure with the detail of a run),
    `detail_line`, `machine_line` and `summary`; and `description`, all of a cell for those who do
    not see it.
    """
    table = _cell_columns(cells, measure, plan, catalogs)
    is_own = pd.Series(
        [is_plan(cell.row, job, plan) and is_plan(cell.column, job, plan) for cell in cells]
    )
    mark = _marks(table, cells, is_own, measure, plan)
    doubts = pd.Series([_doubt(cell) for cell in cells])
    doubt_or_mark = mark.where((doubts == "") | is_own, doubts)
    own_doubts = doubts.where(is_own, "")
    summary = _join_texts(
        table["text"], table["detail"], table["machine_line"], own_doubts, doubt_or_mark
    )
    summary = summary.where(table["text"] != NO_PLAN, NO_PLAN + ": " + table["why"])
    names = table["row"] + (", " + table["column"]).where(table["column"] != "", "")
    return table.assign(
        mark=mark,
        cell_text=table["figure"] if measure in LONG_WORDS else table["text"],
        timed=_measure_texts(table, doubts, is_own, cells),
        detail_line=_join_texts(table["detail"], doubt_or_mark).mask(table["value"].isna(), ""),
        summary=summary,
        description=names + ": " + summary,
    )


def takeaway(
    cells: Sequence[Cell], measure: str, job: Cells, plan: Cells, catalogs: Catalogs
) -> str:
    """Return the sentences above a chart: the least of its measure, and what decides on cost.

    A load or a length has no better choice: less of it always takes less.
    """
    costs = decision(cells, job, plan, catalogs)
    least = least_cell(cells, MEASURES[measure])
    if measure == "usd" or least is None or least.plan is None or is_of_amounts(least):
        return costs
    value_text = WORDS[measure](MEASURES[measure](least.plan))
    return f"{least_words(least, measure, value_text, catalogs)} {costs}"


def _cell_columns(
    cells: Sequence[Cell], measure: str, plan: Cells, catalogs: Catalogs
) -> pd.DataFrame:
    """Return what each cell holds, without its mark and the texts that depend on it."""
    rows = list(dict.fromkeys(cell.row.id for cell in cells))
    columns = list(dict.fromkeys(cell.column.id for cell in cells))
    values = [MEASURES[measure](cell.plan) if cell.plan else float("nan") for cell in cells]
    return pd.DataFrame(
        {
            "row": [_label_of(cell.row, plan, catalogs) for cell in cells],
            "column": [_label_of(cell.column, plan, catalogs) for cell in cells],
            "row_rank": [rows.index(cell.row.id) for cell in cells],
            "column_rank": [columns.index(cell.column.id) for cell in cells],
            "value": values,
            "times": pd.Series(values) / pd.Series(values).min(),
            "text": [_text(cell, measure) for cell in cells],
            "figure": [_figure(measure, value) for value in values],
            "machine": [place(cell.plan) if cell.plan else "" for cell in cells],
            "machine_line": [machine_name(cell.plan) if cell.plan else "" for cell in cells],
            "layout": [arrangement(cell.plan, catalogs) if cell.plan else "" for cell in cells],
            "detail": [_detail(cell.plan, measure, catalogs) for cell in cells],
            "why": [_why_refused(cell, catalogs) for cell in cells],
            "qualifies": [cell.qualifies for cell in cells],
            "quality": [_quality(cell, plan["work"], catalogs) for cell in cells],
            "cell": range(len(cells)),
        }
    )


def _marks(
    table: pd.DataFrame, cells: Sequence[Cell], is_own: pd.Series, measure: str, plan: Cells
) -> pd.Series:
    """Return the mark of each cell: plan, cheapest, fastest or least, or empty."""
    mark = pd.Series("", index=table.index)
    value_of, words = MEASURES[measure], WORDS[measure]
    least = least_cell(cells, value_of)
    if least is None or least.plan is None:
        return mark.mask(is_own, "plan")
    value = value_of(least.plan)
    is_plan_least = is_own.any() and value_of(plan) <= (1 + TIE_RATIO) * value
    if not is_plan_least:
        usable = table["value"].where(table["qualifies"] | ~table["qualifies"].any())
        # In a tie, another cell may show a smaller amount.
        about_so = "" if words(value) == words(usable.min()) else "≈ "
        mark = mark.mask(table["cell"].eq(cells.index(least)), about_so + LEAST[measure])
    return mark.mask(is_own, "plan")


def _join_texts(*columns: pd.Series) -> pd.Series:
    """Return the texts of each row that are not empty, with a dot between them."""
    rows = zip(*columns, strict=True)
    return pd.Series([" · ".join(filter(None, texts)) for texts in rows], dtype=object)


def _measure_texts(
    table: pd.DataFrame, doubts: pd.Series, is_own: pd.Series, cells: Sequence[Cell]
) -> pd.Series:
    """Return the measure in words, with why a plan does not qualify, else with a run's detail."""
    ends = pd.Series([cell.plan is not None and ends_of(cell.plan) for cell in cells], dtype=bool)
    detail = table["detail"].where(ends, "")
    own = is_own.map({True: "plan", False: ""})
    return _join_texts(table["text"], doubts.where(doubts != "", detail), own)


def _text(cell: Cell, measure: str) -> str:
    """Return the measure of a cell in words, or that it has no plan or is not computed yet."""
    if cell.plan:
        return WORDS[measure](MEASURES[measure](cell.plan))
    return NO_PLAN if cell.refused else PENDING


def _figure(measure: str, value: float) -> str:
    """Return the measure as short as a narrow cell needs it."""
    if is_missing(value):
        return "–"
    return WORDS[measure](value) if measure in ("usd", "hours") else three_digits(value)


def _quality(cell: Cell, work: str, catalogs: Catalogs) -> str:
    """Return what the two choices of a cell change in the result."""
    notes = [quality_note(one, work, catalogs) for one in (cell.row, cell.column)]
    return "; ".join(filter(None, dict.fromkeys(notes)))


def _label_of(choice: Choice, plan: Cells, catalogs: Catalogs) -> str:
    """Return the name of a choice, with a mark if it changes the quality of the result."""
    mark = f" {MARK}" if quality_note(choice, plan["work"], catalogs) else ""
    return choice_name(choice, catalogs) + mark


def _detail(plan: Row | None, measure: str, catalogs: Catalogs) -> str:
    """Return the time of a run, its cost beside that, or the pace of a service."""
    if plan is None:
        return ""
    if ends_of(plan):
        return about(plan["usd"]) if measure == "hours" else span(plan["hours"])
    return "" if is_missing(plan["seconds"]) else service_pace(plan, catalogs)


def _doubt(cell: Cell) -> str:
    """Return in short why the plan of a cell does not qualify."""
    if cell.plan is None or cell.qualifies:
        return ""
    return OVER_LIMIT if cell.plan["missed_limits"] else NOT_CERTAIN


def _why_refused(cell: Cell, catalogs: Catalogs) -> str:
    """Return the limits that the plan of a cell exceeds, or why it has none."""
    if cell.qualifies or cell.refused is None or cell.refused.obstacle is None:
        return ""
    obstacle, job = cell.refused.obstacle, cell.refused.resolved
    if job is not None and obstacle.misses:
        text = misses_text(obstacle.misses, job)
        return with_capital(text)
    return problem_text(obstacle, job, catalogs)
