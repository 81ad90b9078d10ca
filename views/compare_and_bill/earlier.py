"""A CSV of an earlier meeting in a dialog, estimated today and kept on a click; CSV out."""

from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts import result_tables
from calc.evaluate import Row
from calc.files.csv import tables as csv_tables
from calc.files.csv.earlier import Earlier, Meeting, earlier_of, standings
from calc.files.door import REFUSALS
from calc.files.link.kept_answers import MOST_KEPT
from calc.plan.drift import price_moves
from calc.plan.figures import records
from calc.say.job import short_job
from calc.say.numbers import is_missing, with_noun
from calc.say.price_moves import price_moves_sentence
from calc.say.verdict import fit_word
from calc.scenarios.problems import quote_cell
from calc.search.row_status import rank
from views.compare_and_bill.bill_charts import wall_switch
from views.compare_and_bill.compared_answers import (
    BUDGET_FOR,
    BUDGET_USD,
    CONTINGENCY,
    DECISION,
    compared_answers,
)
from views.compare_and_bill.moves import LONGEST_DECISION
from views.session import catalogs as session_catalogs
from views.session import kept_answers, reading
from views.shared import drift_words, tables
from views.shared.elements import button, dialog, show_error
from views.shared.markdown import plain

ROWS = 1000  # as many as a browser scrolls well
SENTENCES = 5


OPEN = "csv_open"


def csv_out_and_in() -> None:
    """At the right of the tabs: open a CSV, and all that is kept as one, with its bill."""
    catalogs = session_catalogs.catalogs()
    wall_switch()
    button(
        "Open a CSV", lambda: st.session_state.update({OPEN: True}), type="tertiary", key="open_csv"
    )
    dialog("Open a CSV", OPEN, lambda: _open_file(catalogs), width="large")
    if kept_answers.entries():
        tables.scenarios(
            "CSV", compared_answers(catalogs).rows, "headroom-kept", "kept_csv", catalogs
        )


def _open_file(catalogs: Catalogs) -> None:
    """Show the answers of a file, then and today; one sentence if it cannot be read."""
    st.caption(
        "A row for each answer, as the CSV buttons write them. Only `model` is needed: an "
        "empty cell takes its default."
    )
    file: Any = st.file_uploader(
        "CSV of answers", type="csv", key="uploaded", label_visibility="collapsed"
    )
    if file is None:
        st.session_state.pop("earlier", None)
        return
    name = quote_cell(file.name)
    try:
        result = _read(file, name, catalogs)
    except REFUSALS as error:
        show_error(error)
        return
    states = np.array(standings(result.rows, kept_answers.rows(catalogs)), dtype=object)
    st.markdown(plain(f"**{name}**: {_summary(result.rows, states, result.unread)}"))
    if price_changes := price_moves_sentence(price_moves(result.rows)):
        reasons = drift_words.among(records(result.rows), catalogs)
        st.markdown(plain("\n".join([price_changes, "", *(f"- {reason}" for reason in reasons)])))
    _complaints(result.complaints + result.unread + _refusals(result.rows, result.unread_rows))
    _accept(result, states, name)
    _table(rank(result.rows.assign(standing=states)).head(ROWS), catalogs)
    if len(result.rows) > ROWS:
        st.caption(
            f"The best {ROWS:,} of {len(result.rows):,} answers are shown; the CSV has all of them."
        )
    csv_name = f"{PurePath(file.name).stem}-estimated"
    tables.download(
        f"Estimates as CSV ({with_noun(len(result.rows), 'row')})",
        partial(_csv, result),
        csv_name,
        "uploaded_csv",
    )


def _read(file: Any, name: str, catalogs: Catalogs) -> Earlier:
    """The file's rows, computed once per file and catalogs."""
    cached = st.session_state.get("earlier")
    if cached and cached[0] == file.file_id and cached[1] is catalogs:
        return cached[2]
    with st.spinner("Estimating the answers of the file"):
        result: Earlier = reading.read(
            earlier_of, file.getvalue(), name, catalogs, catalogs=catalogs
        )
    st.session_state["earlier"] = (file.file_id, catalogs, result)
    return result


def _complaints(sentences: list[str]) -> None:
    if sentences:
        more = [f"And {len(sentences) - SENTENCES:,} more."] * (len(sentences) > SENTENCES)
        st.warning(plain("  \n".join([*sentences[:SENTENCES], *more])), icon=":material/rule:")


def _table(rows: pd.DataFrame, catalogs: Catalogs) -> None:
    """Each scenario then and now."""
    table = rows.assign(
        name=names(rows, catalogs),
        verdict=[_verdict(row) for row in rows[["fits", "problem"]].itertuples()],
        then_gib=result_tables.for_screen(rows, ["then_needed_gib"])["then_needed_gib"],
        needed_gib=result_tables.for_screen(rows, ["needed_gib"])["needed_gib"],
        prices_as_of=np.where(
            rows["market"] == "spot",
            rows["spot_as_of"].astype(str),
            rows["on_demand_as_of"].astype(str),
        ),
    )
    columns = tables.filled_columns(tables.columns_of("earlier_scenarios"), table)
    tables.grid(table[list(columns)], columns, "Answers of the file, then and now", "earlier_rows")


def _accept(result: Earlier, states: np.ndarray, name: str) -> None:
    """Keep what is new or changed, all of it or nothing."""
    numbers = np.flatnonzero(np.isin(states, ("new", "changed")))
    obstacle = _obstacle(result.unread, len(numbers), MOST_KEPT - len(kept_answers.entries()))
    if obstacle:
        st.caption(obstacle)
    look = {"disabled": bool(obstacle), "type": "primary", "key": "accept_earlier"}
    args = (
        result.rows.iloc[numbers].to_dict("records"),
        PurePath(name).stem,
        "plan_months" in result.table,
        result.meeting,
    )
    button(f"Keep {with_noun(len(numbers), 'answer')}", _keep, *args, icon="bookmark_add", **look)


def _keep(rows: list[Row], file: str, is_planned: bool, meeting: Meeting) -> None:
    """Callback: keep the rows, a name in use with the name of the file; close the dialog.

    The decision, budget and contingency of the file are taken where there is none.
    """
    catalogs = session_catalogs.catalogs()
    names = {entry.name for entry in kept_answers.entries()}
    for row in rows:
        name = str(row["scenario"])
        kept_answers.keep(
            row,
            f"{name} ({file})" if name in names else name or None,
            row["job"] or short_job(row, catalogs),
            is_planned,
        )
    state = st.session_state
    if meeting.decision and not state.get(DECISION):
        state[DECISION] = meeting.decision[:LONGEST_DECISION]
    if meeting.budget_for and not state.get(BUDGET_USD):
        state[BUDGET_USD] = meeting.budget_usd
        state[BUDGET_FOR] = meeting.budget_for
    if meeting.contingency_percent > 0 and not state.get(CONTINGENCY):
        state[CONTINGENCY] = meeting.contingency_percent
    st.session_state.pop(OPEN, None)


def _csv(result: Earlier) -> bytes:
    """All rows in the order of the file, with the file's cells where a row has a problem."""
    return csv_tables.to_csv(csv_tables.as_written(result.rows, result.table))


def names(rows: pd.DataFrame, catalogs: Catalogs) -> list[str]:
    """A name for each row: its own, else what sets it apart, else its number."""
    labels = result_tables.labels(rows, catalogs)
    columns = zip(rows.index, rows["scenario"], rows["problem"], labels, strict=True)
    return [
        quote_cell(name) or (f"Row {number + 1}" if problem else label)
        for number, name, problem, label in columns
    ]


def _summary(rows: pd.DataFrame, states: np.ndarray, unread: list[str]) -> str:
    """Count the rows by verdict and by state: 12 scenarios: 7 fit, 1 tight ... 2 are new."""
    wrong = rows["problem"] != ""
    verdicts = [
        ((rows["fits"] == "yes").sum(), "fit"),
        ((rows["fits"] == "tight").sum(), "tight"),
        ((rows["fits"] == "no").sum(), "do not fit"),
        ((~wrong & (rows["fits"] == "")).sum(), "without a card"),
        (wrong.sum() - len(unread), "refused"),
        (len(unread), "not understood"),
    ]
    states_counted = [((states == state).sum(), state) for state in ("new", "changed", "as kept")]
    parts = [
        f"{with_noun(len(rows), 'answer')}: {_join_counts(verdicts)}.",
        f"Beside what is kept: {_join_counts(states_counted)}.",
    ]
    return " ".join(parts if any(count for count, _ in states_counted) else parts[:1])


def _join_counts(counts: list[tuple[int, str]]) -> str:
    return ", ".join(f"{count:,} {words}" for count, words in counts if count > 0)


def _refusals(rows: pd.DataFrame, unread_rows: list[int]) -> list[Any]:
    """A sentence for each row that is understood and refused, in the order of the file."""
    problems = rows["problem"].drop(unread_rows)
    return [f"Row {number + 1}: {problem}" for number, problem in problems.items() if problem]


def _obstacle(unread: list[str], count: int, room: int) -> str:
    """Return why nothing of the file can be kept; empty if it can."""
    if unread:
        return (
            "Nothing is kept of a file that is not understood whole: correct these cells, or "
            "delete their rows, and open it again."
        )
    if not count:
        return "Every answer of the file that can be run is kept already."
    if count > room:
        return (
            f"There is room for {room} more answers: remove some that are kept, or open a file "
            f"with fewer."
        )
    return ""


def _verdict(row: Any) -> str:
    """Fits, tight, does not fit, refused."""
    if row.problem:
        return "refused"
    return "no card named" if is_missing(row.fits) else fit_word(row.fits)
