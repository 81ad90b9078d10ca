"""Estimates tables of scenarios: one row and a million take the same path."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY, SECTIONS
from calc.cost.markets import MARKETS
from calc.cost.obtainability import classes_of, classes_on
from calc.engine.largest import SOLVED, largest_columns
from calc.engine.least import least
from calc.engine.origins import joined_table
from calc.engine.results import Results
from calc.engine.stages import AFTER_MEMORY, NAMES, RESTING_ON_TIME, STAGES, memory, walk
from calc.evaluate import Columns
from calc.memory.fit import FITS
from calc.memory.moments import MOMENTS
from calc.remarks import Remark, remark
from calc.rules import objectives, placement
from calc.rules.layouts import RULES, refuse
from calc.rules.remarks_on_rows import remarks_on_rows
from calc.rules.support import support
from calc.say.remarks.memory import BASES
from calc.say.remarks.text import note_column, text_column
from calc.scenarios.inputs import ASSUMED, inputs_by_name
from calc.scenarios.lookups import work_of
from calc.scenarios.problems import Problems
from calc.scenarios.read import as_frame, cell_words, read_inputs
from calc.scenarios.stack_numbers import KINDS
from calc.speed.time_basis import basis
from calc.table import Table, Words, clear_rows, place_rows

FEWEST_SCENARIOS = 64  # among which looking for equal ones pays
CHUNK_ROWS = 16_384  # columns of this length stay in the processor's cache
OF_THE_BILL = (*SECTIONS["time_and_cost"], "fits")  # empty where a row is refused for its place
RESULTS = [section for section in SECTIONS if section not in ("remarks", "others")]
# The columns of a result, in order.
COLUMNS = (
    *(name for section in RESULTS for name in SECTIONS[section]),
    *ASSUMED,
    *SECTIONS["remarks"],
)
WORDS = frozenset(name for name in COLUMNS if name in GLOSSARY and GLOSSARY[name].unit == "text")
VERDICT = AFTER_MEMORY[:1]
BEFORE_MEMORY = STAGES[: NAMES.index("counts") + 1]


class Part(NamedTuple):
    """The rows of a table that do one kind of work, joined and resolved, with their problems."""

    rows: np.ndarray
    table: Table
    problems: Problems


def estimate(
    table: pd.DataFrame | dict,
    catalogs: Catalogs,
    solve: bool = True,
    columns: Iterable[str] | None = None,
) -> pd.DataFrame | dict:
    """Scenarios (a DataFrame, or one dict) with their defaults and results, in the same order.

    Every row is present. Numbers are float64, words are categories. Without `solve` the largest
    batch and sequence are empty. Naming the wanted `columns` is faster; all others are left out,
    the table's own too.
    """
    if isinstance(table, dict):
        distinct, _ = estimate_distinct(as_frame(table), catalogs, solve, columns)
        row = distinct.row(0)
        if "market" in table and columns is None:
            row["obtainable"] = _obtainable(as_frame(table), pd.DataFrame([row]), catalogs)[0]
        return {
            name: value for name, value in table.items() if name not in COLUMNS and columns is None
        } | row
    frame = as_frame(table)
    distinct, copies = estimate_distinct(frame, catalogs, solve, columns)
    results = distinct.frame(copies, len(frame))
    if "scenario" in results and "scenario" in frame:
        names = cell_words(frame["scenario"]).by_row(len(frame))
        results["scenario"] = pd.Categorical(
            names, categories=pd.Index(sorted(set(names)), dtype=object)
        )
    extra = [name for name in frame.columns if name not in COLUMNS] if columns is None else []
    if "market" in extra:
        results["obtainable"] = pd.Categorical(_obtainable(frame, results, catalogs))
    return pd.concat([frame[extra].reset_index(drop=True), results], axis=1) if extra else results


def _obtainable(frame: pd.DataFrame, results: pd.DataFrame, catalogs: Catalogs) -> np.ndarray:
    """Return how hard the machines of rows that name their market are to get there."""
    words = results["obtainable"].astype(object).to_numpy(copy=True)
    is_sold = (frame["market"].isin(MARKETS) & (results["problem"] == "")).to_numpy()
    columns_of_row = [name for name in ("market", "have") if name in frame]
    rows = results.assign(**{name: frame[name].to_numpy() for name in columns_of_row})[is_sold]
    words[is_sold] = classes_of(rows, rows["instances_needed"], catalogs)
    return words


def estimate_distinct(
    frame: pd.DataFrame,
    catalogs: Catalogs,
    solve: bool = True,
    columns: Iterable[str] | None = None,
) -> tuple[Results, np.ndarray | None]:
    """The results of each distinct scenario, and the number of each row's scenario.

    Scenarios that differ in name alone are one, under the name of the first.
    """
    result_names = tuple(COLUMNS if columns is None else dict.fromkeys(columns))
    unknown = [name for name in result_names if name not in COLUMNS]
    if unknown:
        raise ValueError(
            f"There is no result column '{unknown[0]}'; choose from calc.engine.pipeline.COLUMNS."
        )
    solve = solve and bool(set(SOLVED) & set(result_names))
    first, copies = _distinct_scenarios(frame)
    once = frame if copies is None else frame.iloc[first]
    # An empty table gets the columns of one row.
    once = once if len(once) else pd.DataFrame({"model": [""]})
    results = Results(result_names, WORDS, len(once))
    for start in range(0, len(once), CHUNK_ROWS):
        chunk = once.iloc[start : start + CHUNK_ROWS]
        for part in parts(chunk, catalogs):
            results.add(
                start + part.rows,
                _solved_alone(part)
                if set(result_names) <= set(SOLVED)
                else _results_of_part(part, catalogs, solve, result_names),
            )
    return results, copies


def _distinct_scenarios(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray | None]:
    """The first row of each distinct scenario, and each row's scenario; None if few repeat."""
    input_columns = [
        name
        for name in (*inputs_by_name(), "problem")
        if name in frame.columns and name != "scenario"
    ]
    first_and_copies = (
        Table({name: frame[name] for name in input_columns}, len(frame)).distinct(input_columns)
        if len(frame) >= FEWEST_SCENARIOS
        else None
    )
    return first_and_copies or (np.arange(len(frame)), None)


def parts(frame: pd.DataFrame, catalogs: Catalogs) -> Iterator[Part]:
    """The rows of each kind of work, joined with the catalogs and resolved."""
    problems = Problems(len(frame))
    inputs = Table(read_inputs(frame, problems, catalogs), len(frame))
    trains = np.broadcast_to(inputs["work"].are("training"), len(frame))
    for rows in (np.flatnonzero(trains), np.flatnonzero(~trains)):
        if len(rows):
            is_all = len(rows) == len(frame)
            of_part = problems if is_all else problems.of(rows)
            yield Part(
                rows,
                resolved_table(inputs if is_all else inputs.take(rows), catalogs, of_part),
                of_part,
            )


def resolved_table(inputs: Columns, catalogs: Catalogs, problems: Problems) -> Table:
    """Inputs of one kind of work, joined and resolved; an impossible layout is a problem."""
    table = joined_table(inputs, catalogs, problems)
    walk(table, BEFORE_MEMORY)
    refuse((*RULES, *objectives.RULES), table, problems)
    return table


def results_of(inputs: Columns, catalogs: Catalogs, columns: Iterable[str] = COLUMNS) -> Results:
    """The results of inputs of one kind of work, without the largest batch and sequence."""
    rows = np.arange(inputs["rows"])
    problems = Problems(len(rows))
    results = Results(columns, WORDS, len(rows))
    results.add(
        rows,
        _results_of_part(
            Part(rows, resolved_table(inputs, catalogs, problems), problems),
            catalogs,
            False,
            results.columns,
        ),
    )
    return results


def sound_rows(part: Part) -> tuple[np.ndarray, Table]:
    """The rows without a problem so far, by number and as a table."""
    sound = np.flatnonzero(part.problems.sound)
    return sound, part.table if len(sound) == len(part.rows) else part.table.take(sound)


def _results_of_part(
    part: Part, catalogs: Catalogs, solve: bool, result_names: tuple[str, ...]
) -> Columns:
    """The result columns of a part; a row with a problem has its inputs alone."""
    rows = len(part.rows)
    problems = part.problems
    inputs = {name: part.table[name] for name in (*SECTIONS["inputs"], *ASSUMED)}
    counts = {
        name: np.where(part.table["unknown_model"], np.nan, part.table[name])
        for name in SECTIONS["counts"]
    }
    sound, table = sound_rows(part)
    results = {
        name: place_rows(values, sound, rows)
        for name, values in _sound_results(
            sound, table, problems, catalogs, solve, result_names
        ).items()
    }
    for name, values in least(part.table, problems).items():
        results[name] = np.where(np.isnan(values), results.get(name, np.nan), values)
    problem = text_column(Words(*pd.factorize(problems.remarks)))
    return inputs | counts | results | {"problem": problem}


def _solved_alone(part: Part) -> Columns:
    """The largest batch and sequence of a part, which need neither time nor cost."""
    sound, table = sound_rows(part)
    limits = largest_columns(walk(memory(table), VERDICT)) if len(sound) else {}
    return {name: place_rows(values, sound, len(part.rows)) for name, values in limits.items()}


def _sound_results(
    sound: np.ndarray,
    table: Table,
    problems: Problems,
    catalogs: Catalogs,
    solve: bool,
    result_names: tuple[str, ...],
) -> Columns:
    """The results of the sound rows; those without a place or a measured block get a problem."""
    if not len(sound):
        return {}
    table = memory(table)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        walk(table, AFTER_MEMORY, result_names)
    runs, support_remarks, is_timed = support(table, catalogs)
    note = note_column(remarks_on_rows(table, support_remarks, catalogs))
    results = _figures(table, solve)
    untimed: Columns = {}
    if not is_timed.all():
        of_time = RESTING_ON_TIME.intersection(results)
        untimed = {name: clear_rows(results[name], ~is_timed) for name in of_time}
    obtainable = classes_on(
        "on-demand", table["instance_row"], table["ends"] > 0, table["instances_needed"], catalogs
    )
    results |= {"runs": runs, "note": note, "obtainable": obtainable}
    results |= untimed | basis(table | untimed, runs, catalogs)._asdict()
    return _refuse_rows(results, sound, table, problems, catalogs)


def _refuse_rows(
    results: Columns, sound: np.ndarray, table: Table, problems: Problems, catalogs: Catalogs
) -> Columns:
    """Clear the results of rows without a measured block, and the bill of those without a place.

    Both get a problem.
    """
    is_covered = ~np.isnan(np.broadcast_to(table["allocated_peak_bytes"], len(sound)))
    fresh = Problems(len(sound))
    if not is_covered.all():
        uncovered_rows = np.flatnonzero(~is_covered)
        remarks = [not_covered(table, row, catalogs) for row in uncovered_rows.tolist()]
        fresh.note(uncovered_rows, np.array(remarks, dtype=object))
        results = {name: clear_rows(values, ~is_covered) for name, values in results.items()}
    refuse(placement.RULES, table, fresh)
    is_refused = ~fresh.sound
    if is_refused.any():
        of_bill = {
            name: clear_rows(results[name], is_refused) for name in results if name in OF_THE_BILL
        }
        results = results | of_bill
        problems.remarks[sound[is_refused]] = fresh.remarks[is_refused]
    return results


def _figures(table: Table, solve: bool) -> Columns:
    """The figures of a table whose rows are all sound."""
    sections = ("components", "memory", "card", "prices")
    figures = {
        name: table[name] for section in sections for name in SECTIONS[section] if name in table
    }
    phases = np.array([moment.phase for moment in MOMENTS[work_of(table)]], dtype=object)
    figures["memory_basis"] = Words(table["memory_basis"], BASES)
    figures["peak_phase"] = Words(table["peak_moment"], phases)
    figures["fits"] = Words(table["fits"], FITS)
    figures |= {name: _finite(table[name]) for name in SECTIONS["time_and_cost"] if name in table}
    return figures | (largest_columns(table) if solve else {})


def _finite(values: np.ndarray | Words) -> np.ndarray | Words:
    """Return a column of time or cost without infinite values."""
    return values if isinstance(values, Words) else np.where(np.isinf(values), np.nan, values)


def not_covered(table: Columns, row: int, catalogs: Catalogs) -> Remark:
    """Return the remark that says why the memory of a row is not known."""
    kinds = [*catalogs.blocks, *(f"any {kind}" for kind in KINDS)]
    stack_kind = np.broadcast_to(table["stack_kind"][0], table["rows"])[row]
    choices = {name: table[name].in_row(row) for name in ("precision", "attention", "recompute")}
    adapts = bool(np.broadcast_to(table["adapts"], table["rows"])[row])
    return remark("blocks-not-measured", kind=kinds[int(stack_kind)], **choices, adapts=adapts)
