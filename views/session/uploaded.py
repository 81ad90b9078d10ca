"""A CSV of scenarios estimated beside the plan: read as the command line reads it, best first, given back as CSV."""

from functools import partial
from pathlib import PurePath

import streamlit as st

from calc import estimate
from calc.charts import tables as chart_tables
from calc.doors import csv_tables
from calc.plan.ranking import rank
from calc.scenarios.problems import TableError, quoted
from views import tables
from views.wording.numbers import plain

ROWS = 1000  # as many as a browser scrolls well
MOST_ROWS = 10_000  # five seconds; more are the command line's
SENTENCES = 5


def chooser():
    """Where a file is given; returns it, or None."""
    with st.popover("Estimate a CSV", icon=":material/upload_file:"):
        st.caption(
            "One row per scenario, columns as in “Scenarios as CSV”. Only `model` is needed: an empty cell takes its "
            "default, and columns of results are worked out anew."
        )
        return st.file_uploader("CSV of scenarios", type="csv", key="uploaded", label_visibility="collapsed")


def results(file, catalogs, market, period):
    """What the file says, row for row; a file that cannot be read costs one sentence and nothing else."""
    state = st.session_state
    if file is None:
        state.pop("uploaded_rows", None)
        return
    name = quoted(file.name)
    try:
        table, frame, complaints = _estimated(file, name, catalogs)
    except TableError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return
    ranked = rank(frame, market, period)
    shown = ranked.head(ROWS)
    with st.container(border=True):
        st.markdown(plain(f"**{name}**: {summary(frame)}"))
        said = complaints + problems(frame)
        if said:
            more = [f"And {len(said) - SENTENCES:,} more."] * (len(said) > SENTENCES)
            st.warning(plain("  \n".join([*said[:SENTENCES], *more])), icon=":material/rule:")
        tables.scenarios(shown, names(shown, catalogs), period, "uploaded_scenarios")
        if len(ranked) > ROWS:
            st.caption(f"The best {ROWS:,} of {len(ranked):,} scenarios are shown; the CSV holds them all.")
        tables.download(
            f"Estimates as CSV ({_counted(len(frame), 'row')})",
            partial(_csv, frame, table),
            f"{PurePath(file.name).stem}-estimated.csv",
            "uploaded_csv",
        )


def _estimated(file, name, catalogs):
    """The file's table, its results and what was left unread; worked out once per file and catalogs."""
    held = st.session_state.get("uploaded_rows")
    if held and held[0] == file.file_id and held[1] is catalogs:
        return held[2]
    table, complaints = csv_tables.from_csv(file.getvalue(), name)
    if not len(table):
        raise TableError(f"{name} names its columns and no scenario; add a row per scenario under the first line.")
    if len(table) > MOST_ROWS:
        raise TableError(
            f"{name} has {len(table):,} rows and at most {MOST_ROWS:,} are estimated here; split it, or run `python -m calc` on it."
        )
    with st.spinner(f"Estimating {_counted(len(table), 'scenario')}"):
        found = table, estimate(table, catalogs), complaints
    st.session_state["uploaded_rows"] = (file.file_id, catalogs, found)
    return found


def _csv(frame, table):
    """All rows in the order of the file, with the cells as given where a row could not be estimated."""
    return csv_tables.to_csv(csv_tables.as_written(frame, table))


def summary(frame):
    """12 scenarios: 7 fit, 1 tight, 3 do not fit, 1 cannot be estimated."""
    wrong = frame["problem"] != ""
    counts = [
        ((frame["fits"] == "yes").sum(), "fit"),
        ((frame["fits"] == "tight").sum(), "tight"),
        ((frame["fits"] == "no").sum(), "do not fit"),
        ((~wrong & (frame["fits"] == "")).sum(), "without a card"),
        (wrong.sum(), "cannot be estimated"),
    ]
    return f"{_counted(len(frame), 'scenario')}: " + ", ".join(f"{n:,} {word}" for n, word in counts if n) + "."


def problems(frame):
    """A sentence for each row that cannot be estimated, in the order of the file."""
    wrong = frame.loc[frame["problem"] != "", "problem"]
    return [f"Scenario {number + 1}: {problem}" for number, problem in wrong.items()]


def names(rows, catalogs):
    """The names that the file gives; else what sets a row apart, and the number of a row that has a problem."""
    labels = chart_tables.labels(rows, catalogs)
    given = zip(rows.index, rows["scenario"], rows["problem"], labels, strict=True)
    return [quoted(name) or (f"Scenario {number + 1}" if problem else label) for number, name, problem, label in given]


def _counted(count, noun):
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
