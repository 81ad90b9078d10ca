"""Estimates tables of scenarios: one row and a million take the same path."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY, SECTIONS
from calc.cost.obtainability import obtainability
from calc.engine.largest import SOLVED, largest_columns
from calc.engine.least import least
from calc.engine.origins import joined_table
from calc.engine.results import Results
from calc.engine.stages import AFTER_MEMORY, NAMES, RESTING_ON_TIME, STAGES, memory, walk
from calc.evaluate import Columns
from calc.memory.basis import BASES
from calc.memory.fit import FITS
from calc.memory.moments import MOMENTS
from calc.rules import placement
from calc.rules.layouts import RULES, refuse
from calc.rules.notes import notes
from calc.rules.support import support
from calc.scenarios.inputs import ASSUMED, inputs_by_name
from calc.scenarios.problems import Problems
from calc.scenarios.read import as_frame, read_inputs
from calc.speed.basis import basis
from calc.table import Table, Words, emptied, factorized, spread

FEWEST_SCENARIOS = 64  # among which looking for like ones pays
CHUNK_ROWS = 16_384  # columns of this length stay in the processor's cache
OF_THE_BILL = (*SECTIONS["time_and_cost"], "fits")  # empty where a row is refused for its place
RESULTS = [section for section in SECTIONS if section not in ("remarks", "others")]
COLUMNS = (*(name for section in RESULTS for name in SECTIONS[section]), *ASSUMED, *SECTIONS["remarks"])  # of a result, in order
WORDS = frozenset(name for name in COLUMNS if name in GLOSSARY and GLOSSARY[name].unit == "text")
BEFORE_MEMORY = STAGES[: NAMES.index("counts") + 1]


class Part(NamedTuple):
    """The rows of a table that do one kind of work, joined and settled, with their problems."""

    rows: np.ndarray
    table: Table
    problems: Problems


def estimate(
    table: pd.DataFrame | dict, catalogs: Catalogs, solve: bool = True, columns: Iterable[str] | None = None
) -> pd.DataFrame | dict:
    """Scenarios (a DataFrame, or one dict) with their defaults and results, in the same order.

    Every row is present. Numbers are float64, words categories. Without `solve` the largest batch and sequence stay empty.
    `columns` names the results wanted, which is faster: other columns of the table are then left out too.
    """
    if isinstance(table, dict):
        found, _ = estimate_distinct(as_frame(table), catalogs, solve, columns)
        return {name: value for name, value in table.items() if name not in COLUMNS and columns is None} | found.row(0)
    frame = as_frame(table)
    found, copies = estimate_distinct(frame, catalogs, solve, columns)
    results = found.frame(copies, len(frame))
    if "scenario" in results and "scenario" in frame:
        names = names_of(frame["scenario"])
        results["scenario"] = pd.Categorical(names, categories=pd.Index(sorted(set(names)), dtype=object))
    extra = [name for name in frame.columns if name not in COLUMNS] if columns is None else []
    return pd.concat([frame[extra].reset_index(drop=True), results], axis=1) if extra else results


def estimate_distinct(
    frame: pd.DataFrame, catalogs: Catalogs, solve: bool = True, columns: Iterable[str] | None = None
) -> tuple[Results, np.ndarray | None]:
    """The results of each distinct scenario, and the number of each row's scenario.

    Names of scenarios do not make them distinct: the first of like scenarios lends its name.
    """
    wanted = tuple(COLUMNS if columns is None else dict.fromkeys(columns))
    unknown = [name for name in wanted if name not in COLUMNS]
    if unknown:
        raise ValueError(f"There is no result column '{unknown[0]}'; name some of calc.engine.pipeline.COLUMNS.")
    solve = solve and bool(set(SOLVED) & set(wanted))
    first, copies = distinct_scenarios(frame)
    once = frame if copies is None else frame.iloc[first]
    once = once if len(once) else pd.DataFrame({"model": [""]})  # a table without rows takes its columns from one
    results = Results(wanted, WORDS, len(once))
    for start in range(0, len(once), CHUNK_ROWS):
        chunk = once.iloc[start : start + CHUNK_ROWS]
        for part in parts(chunk, catalogs):
            results.add(start + part.rows, _finished(part, catalogs, solve))
    return results, copies


def distinct_scenarios(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray | None]:
    """The first row of each distinct scenario, and each row's scenario; None where few repeat."""
    named = [name for name in (*inputs_by_name(), "problem") if name in frame.columns and name != "scenario"]
    found = Table({name: frame[name] for name in named}, len(frame)).distinct(named) if len(frame) >= FEWEST_SCENARIOS else None
    return found or (np.arange(len(frame)), None)


def names_of(cells: pd.Series) -> np.ndarray:
    """The names of scenarios as they were read."""
    codes, found = factorized(cells)
    return np.array([str(value).strip() for value in found] + [""], dtype=object)[codes]


def parts(frame: pd.DataFrame, catalogs: Catalogs) -> Iterator[Part]:
    """The rows of each kind of work, joined with the catalogs and settled."""
    problems = Problems(len(frame))
    inputs = Table(read_inputs(frame, problems, catalogs), len(frame))
    trains = np.broadcast_to(inputs["work"].are("training"), len(frame))
    for rows in (np.flatnonzero(trains), np.flatnonzero(~trains)):
        if len(rows):
            own = problems if len(rows) == len(frame) else problems.of(rows)
            yield Part(rows, settled_table(inputs if own is problems else inputs.take(rows), catalogs, own), own)


def settled_table(inputs: Columns, catalogs: Catalogs, problems: Problems) -> Table:
    """Inputs of one kind of work, joined and settled; impossible layouts are problems."""
    table = joined_table(inputs, catalogs, problems)
    walk(table, BEFORE_MEMORY)
    refuse(RULES, table, problems)
    return table


def results_of(inputs: Columns, catalogs: Catalogs, columns: Iterable[str] = COLUMNS) -> Results:
    """The results of inputs of one kind of work, without their largest batch and sequence."""
    rows = np.arange(inputs["rows"])
    problems = Problems(len(rows))
    results = Results(columns, WORDS, len(rows))
    results.add(rows, _finished(Part(rows, settled_table(inputs, catalogs, problems), problems), catalogs, False))
    return results


def sound_rows(part: Part) -> tuple[np.ndarray, Table]:
    """The numbers of the rows without a problem so far, and their table."""
    sound = np.flatnonzero(part.problems.sound)
    return sound, part.table if len(sound) == len(part.rows) else part.table.take(sound)


def _finished(part: Part, catalogs: Catalogs, solve: bool) -> Columns:
    """The result columns of a part; rows with a problem have their inputs alone."""
    rows, problems = len(part.rows), part.problems
    shown = {name: part.table[name] for name in (*SECTIONS["inputs"], *ASSUMED)}
    known = np.where(part.table["unknown_model"], np.nan, 1.0)
    counts = {name: part.table[name] * known for name in SECTIONS["counts"]}
    sound, table = sound_rows(part)
    found: Columns = {}
    if len(sound):
        table = memory(table)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            walk(table, AFTER_MEMORY)
        found = _found(table, solve)
        runs, note, timed = support(table, catalogs)
        untimed = {name: emptied(found[name], ~timed) for name in RESTING_ON_TIME.intersection(found)} if not timed.all() else {}
        obtainable = Words(table["instance_row"], obtainability(catalogs, "on-demand").words)
        found |= (
            {"runs": runs, "note": notes(table, note, catalogs), "obtainable": obtainable}
            | untimed
            | basis(table | untimed, catalogs)._asdict()
        )
        covered = ~np.isnan(np.broadcast_to(table["allocated_peak_bytes"], len(sound)))
        stands = Problems(len(sound))
        stands.add(~covered, lambda row: not_covered(table, row, catalogs))
        if not covered.all():
            found = {name: emptied(values, ~covered) for name, values in found.items()}
        refuse(placement.RULES, table, stands)
        if not stands.sound.all():
            misplaced = ~stands.sound
            found = {name: emptied(values, misplaced) if name in OF_THE_BILL else values for name, values in found.items()}
            problems.text[sound[misplaced]] = stands.text[misplaced]
        found = {name: spread(values, sound, rows) for name, values in found.items()}
    for name, values in least(part.table, problems, catalogs).items():
        found[name] = np.where(np.isnan(values), found.get(name, np.nan), values)
    codes, said = pd.factorize(problems.text)
    return shown | counts | found | {"problem": Words(codes, said)}


def _found(table: Table, solve: bool) -> Columns:
    """The results of a table whose rows are all sound."""
    work = "training" if table["trains"][0] > 0 else "inference"
    found = {name: table[name] for section in ("components", "memory", "card", "prices") for name in SECTIONS[section] if name in table}
    phases = np.array([moment.phase for moment in MOMENTS[work]], dtype=object)
    found["memory_basis"] = Words(table["memory_basis"], BASES)
    found["peak_phase"], found["fits"] = Words(table["peak_moment"], phases), Words(table["fits"], FITS)
    found |= {name: _finite(table[name]) for name in SECTIONS["time_and_cost"] if name in table}
    return found | (largest_columns(table) if solve else {})


def _finite(values: np.ndarray | Words) -> np.ndarray | Words:
    """A column of time or money; what would take forever has no number."""
    return values if isinstance(values, Words) else np.where(np.isinf(values), np.nan, values)


def not_covered(table: Columns, row: int, catalogs: Catalogs) -> str:
    """Why the memory of a row is not known."""
    kind = [*catalogs.blocks, "an unknown kind"][int(np.broadcast_to(table["stack_kind"][0], table["rows"])[row])]
    how = " with LoRA" if np.broadcast_to(table["adapts"], table["rows"])[row] else ""
    chosen = ", ".join(f"{name} {table[name].in_row(row)}" for name in ("precision", "attention", "recompute"))
    return f"Blocks of kind {kind} were not measured with {chosen}{how}; choose another precision, attention or recompute."
