"""The closed parts of the Accuracy tab: errors by group, worst cases, gaps, times."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts import accuracy as accuracy_tables
from calc.columns import GLOSSARY
from calc.evaluate import Row
from calc.say.numbers import is_missing, percent
from views.charts.accuracy import predicted_against_truth
from views.session.results import Results
from views.shared.elements import draw
from views.shared.row_words import TOKEN_TIMES
from views.shared.tables import NUMBER, TEXT, columns_of, show, text_table
from views.shared.texts import texts_beside
from views.shared.theme import Ink

GROUPS = texts_beside(__file__)["accuracy"]["groups"]
WORST = 20
SETTING = (
    "precision",
    "tuning",
    "recompute",
    "attention",
    "optimizer",
    "sharding",
    "implementation",
)


def error(ratio: float) -> str:
    """The size of an error in per cent, two digits; exact where it is."""
    if is_missing(ratio):
        return "unknown"
    if ratio == 0:
        return "none"
    if abs(ratio) >= 1e-4:
        return f"{100 * ratio:.2g} %"
    return "under 0.01 %"


def by_group(comparison: Results) -> None:
    """The error of every group, or of every group and family."""
    by_family = st.toggle(
        "Each family of models", key="accuracy_by_family", persist_state="session"
    )
    rows = comparison.summary
    rows = rows[rows["family"] != ""] if by_family else rows[rows["family"] == ""]
    rows = rows.assign(on_gpus=accuracy_tables.on_gpus(rows)).sort_values(
        "on_gpus", ascending=False, kind="stable"
    )
    table = accuracy_tables.in_percent(rows).assign(
        meaning=rows["group"].map(GROUPS).fillna(""),
        seen=rows["on_gpus"].map({True: "real GPUs", False: "simulated"}),
    )
    columns = {"group": TEXT("Group"), "seen": TEXT("Truth")}
    if by_family:
        columns["family"] = TEXT("Family")
    columns |= columns_of("error_by_group")
    columns |= {} if by_family else {"meaning": TEXT("A case is", width="large")}
    show(
        table,
        columns,
        "Error of the estimate by group",
        "summary",
        height=480 if by_family else "content",
    )


def worst(comparison: Results) -> None:
    """The cases that miss most, those on real GPUs first, each with why."""
    on_gpus = accuracy_tables.on_gpus(comparison.errors)
    for part, words in (
        (comparison.errors[on_gpus], "on real GPUs"),
        (comparison.errors[~on_gpus], "simulated"),
    ):
        if len(part):
            st.markdown(f"**The {WORST} cases that miss most, {words}**")
            rows = accuracy_tables.misses(part, comparison.reasons, WORST)
            _miss_lines(
                rows,
                "Case",
                ("model", "quantity", "case"),
                _setting,
                "+.2g",
                "The cases that miss most, and why",
            )


def not_covered(comparison: Results, catalogs: Catalogs) -> None:
    """Draw what is refused, which models are not covered, and what no column can say."""
    left, right = st.columns(2)
    with left:
        st.markdown("**Refused**, in the row's words: no estimate is made.")
        _reasons(
            accuracy_tables.reasons_counted(comparison.errors, "problem"),
            "Cases that the estimate refuses",
            "refused",
        )
        st.markdown("**Models of the catalog** that are refused by name:")
        models = catalogs.models
        groups = (
            models[models["refused"] != ""].groupby("refused", sort=False)["name"].agg(", ".join)
        )
        st.markdown("\n".join(f"- {names}: {reason}" for reason, names in groups.items()))
    with right:
        st.markdown("**Left out of the comparison**: no scenario column says what these cases did.")
        _reasons(
            accuracy_tables.reasons_counted(comparison.left_out, "left_out"),
            "Cases left out of the comparison",
            "left_out",
        )


def league(comparison: Results) -> None:
    """This estimate beside other authors' on the same peaks, refusals counted."""
    rows = accuracy_tables.in_percent(comparison.league)
    st.markdown(
        f"Each was asked through its own functions on {rows['asked_on'].max()}. What it has "
        f"no word for counts as refused; errors are "
        "those of the peaks that it answers. This estimate was made with these simulated "
        "peaks at hand."
    )
    columns = {
        "estimator": TEXT("Estimator"),
        "version": TEXT("Version"),
        "answered": NUMBER("Answered", format="%d"),
        "refused": NUMBER("Refused", format="%d"),
        "median_error_percent": NUMBER("Median error, %", format="%.3g"),
        "p90_error_percent": NUMBER("90th percentile, %", format="%.3g"),
        "within_percent": NUMBER("Within 10 %, %", format="%.0f"),
    }
    show(rows, columns, "Estimators of memory on the same peaks", "league")


def times(comparison: Results, ink: Ink) -> None:
    """Draw the error of time on published figures, and the times with the largest errors."""
    speed = comparison.speed
    st.markdown(_held_out_errors(speed))
    st.markdown(TOKEN_TIMES)
    if len(comparison.arrivals):
        services, within = accuracy_tables.simulated_arrivals(comparison.arrivals)
        st.markdown(
            f"Percentiles under random arrivals were compared with a simulation of every "
            f"step of {services} services: up to a load of "
            f"80 %, {percent(within)} of them are within 15 %; beyond they are rough."
        )
    if len(comparison.side_by_side):
        _side_by_side(comparison.side_by_side)
    left, right = st.columns(2)
    with left:
        spec = predicted_against_truth(
            ink, "tokens per second", "published", "Time: predicted and published"
        )
        alt = "Tokens per second: predicted against published"
        draw(spec, accuracy_tables.speed_points(speed), alt, "accuracy_speed")
    with right:
        _by_source(
            accuracy_tables.by_source(
                speed, ("source", "engine", "engine_release", "gpu", "measured", "held_out")
            )
        )
    first = speed["measured"] == "time_to_first_token_seconds"
    for part, count, words in (
        (speed[~first], WORST, "times and rates"),
        (speed[first], WORST // 2, "first tokens"),
    ):
        st.markdown(f"**The {count} {words} furthest off**")
        rows = accuracy_tables.misses(part, comparison.time_reasons, count)
        names = ("published_model", "measured", "source")
        _miss_lines(rows, "Run", names, _run, "+.0f", "The published times that miss most, and why")


def _held_out_errors(speed: pd.DataFrame) -> str:
    """Return one sentence: the median error of each quantity on figures outside the fit."""
    held_out = speed[speed["held_out"].astype(str) == "True"]
    errors = []
    for name, figures in held_out.groupby("measured"):
        size = accuracy_tables.size_of_error(figures)
        errors.append(
            f"{GLOSSARY[name].label.lower()} {error(size.median_error_ratio)} at the median "
            f"over {size.cases} figures"
        )
    return f"On published figures that nothing was fitted to: {'; '.join(errors)}."


def _miss_lines(
    rows: pd.DataFrame, what: str, names: tuple[str, ...], setting: Callable, digits: str, alt: str
) -> None:
    """A line for each row: its columns `names`, the setting, the error and its cause."""
    model, quantity, origin = names
    lines = [
        {
            what: (
                f"{row[model]}, {GLOSSARY[row[quantity]].label.lower()}: {setting(row)} "
                f"*({row[origin]})*"
            ),
            "Error": f"{100 * row['error_ratio']:{digits}} %",
            "Why": row["why"] + (f" *{row['why_source']}*" if row["why_source"] else ""),
        }
        for row in rows.to_dict("records")
    ]
    text_table(lines, alt)


def _run(row: Row) -> str:
    """Return a published run in words: engine, cards, precision and batch."""
    gpus = f"{row['gpus']} × " if str(row["gpus"]) not in ("", "1") else ""
    return (
        f"{row['engine']} {row['engine_release']}".strip()
        + f", {gpus}{row['gpu']}, {row['precision']}, {row['batch']} × {row['sequence_tokens']}"
    )


def _setting(row: Row) -> str:
    """The setting of a case in a few words."""
    choices = [
        str(row[name])
        for name in SETTING
        if name in row and str(row[name]) not in ("", "none", "full", "flash")
    ]
    choices += ["recompute full"] if str(row.get("recompute")) == "full" else []
    choices += [f"{row['gpus']} GPUs"] if str(row.get("gpus")) not in ("", "1", "None") else []
    return ", ".join(choices) + f", {row['batch']} × {row['sequence_tokens']}"


def _reasons(rows: pd.DataFrame, alt: str, key: str) -> None:
    """Why cases are not compared, most frequent first."""
    columns = {
        "cases": NUMBER("Cases", format="%d"),
        "reason": TEXT("Reason", width="large"),
        "models": TEXT("Models", width="medium"),
    }
    if len(rows):
        show(rows, columns, alt, key)
    else:
        st.caption("None.")


def _side_by_side(rows: pd.DataFrame) -> None:
    """The error of time of fitted rows, of rows held out, and of sources left out whole."""
    what = rows["work"] + ", " + rows["measured"].map(accuracy_tables.measured_label)
    show(
        accuracy_tables.in_percent(rows).assign(what=what),
        columns_of("error_side_by_side"),
        "Error of time, fitted and left out",
        "fitted_and_left_out",
    )


def _by_source(rows: pd.DataFrame) -> None:
    """The error of time by source of the published figures."""
    use = rows["held_out"].astype(str).map({"True": "held out", "False": "looked at"})
    columns = columns_of("error_of_time")
    what = rows["measured"].map(lambda name: GLOSSARY[name].label)
    software = (rows["engine"] + " " + rows["engine_release"].fillna("").astype(str)).str.strip()
    show(
        accuracy_tables.in_percent(rows).assign(seen=use, what=what, software=software),
        columns,
        "Error of time by source",
        "speed",
        height=420,
    )
