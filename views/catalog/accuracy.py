"""The Accuracy tab: how far estimates are from real GPUs, and from simulated steps."""

from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.charts import accuracy as accuracy_tables
from calc.columns import GLOSSARY
from calc.files.csv import tables as csv_tables
from calc.say.numbers import percent
from views.catalog import accuracy_panels as panel
from views.catalog.accuracy_panels import error
from views.charts import accuracy as accuracy_charts
from views.session import catalogs as session_catalogs
from views.session import results
from views.session.results import Results
from views.shared import elements, tables
from views.shared.elements import theme_ink
from views.shared.theme import Ink

MEASURED = (
    "Peaks of runs on real GPUs, published with their settings, or measured by `make measure`."
)
SIMULATED = (
    "A real model runs one step on no GPU while every storage is followed. Such a step has "
    "no context, no library workspace and no "
    "allocator slack, so the overhead of the estimate is added before the range is checked."
)


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    ink = theme_ink()
    comparison = results.results()
    if comparison is None:
        title.title("The estimate was not compared yet", anchor=False)
        st.info(
            "`make accuracy` compares it with every case of validation/ and writes what this "
            "page draws."
        )
        return
    peaks = accuracy_tables.peaks(comparison.errors)
    real = accuracy_tables.on_gpus(peaks)
    size = accuracy_tables.size_of_error(peaks[real])
    median, worst = error(size.median_error_ratio), error(size.worst_error_ratio)
    title.title(
        f"On real GPUs, memory is {median} off at the median, {worst} at worst", anchor=False
    )
    _real_gpus(comparison, size)
    st.header("Simulated", anchor=False)
    _tiles(accuracy_tables.size_of_error(peaks[~real]))
    st.markdown(SIMULATED)
    st.header("Case by case", anchor=False)
    _case_by_case(comparison.errors, ink)
    _panels(comparison, catalogs, ink)
    _download(comparison)


def _real_gpus(comparison: Results, size: accuracy_tables.ErrorSize) -> None:
    """Draw what is known of runs on real GPUs."""
    st.header("On real GPUs", anchor=False)
    _tiles(size)
    st.markdown(f"{MEASURED} {_verdicts(comparison.verdicts)}")
    st.markdown(_calibration(comparison.calibration))


def _download(comparison: Results) -> None:
    """Draw the download of every case, and when they were compared."""
    tables.download(
        f"Every case as CSV ({len(comparison.errors):,} rows)",
        partial(csv_tables.to_csv, comparison.errors),
        "headroom-accuracy",
        "accuracy_csv",
    )
    st.caption(
        f"{comparison.made} `make accuracy` compares again and writes the files that this "
        f"page draws."
    )


def _panels(comparison: Results, catalogs: Catalogs, ink: Ink) -> None:
    """Draw the panels below the cases, each behind its own heading."""
    elements.expander("Error by group", "accuracy_groups_open", partial(panel.by_group, comparison))
    elements.expander(
        "The cases that miss most, and why", "accuracy_misses", partial(panel.worst, comparison)
    )
    elements.expander(
        "What is not covered", "accuracy_gaps", partial(panel.not_covered, comparison, catalogs)
    )
    if len(comparison.league):
        elements.expander(
            "Other estimators on the same peaks",
            "accuracy_league",
            partial(panel.league, comparison),
        )
    if len(comparison.speed):
        elements.expander(
            "Time against published runs", "accuracy_time", partial(panel.times, comparison, ink)
        )


def _tiles(size: accuracy_tables.ErrorSize) -> None:
    """Four numbers of a group of peaks, each with what it means."""
    tiles = (
        ("Median error", error(size.median_error_ratio), f"{size.cases:,} peaks"),
        ("90th percentile", error(size.p90_error_ratio), "nine of ten are closer"),
        ("Worst", error(size.worst_error_ratio), "the largest of all"),
        ("Inside the stated range", percent(size.inside_ratio), "of all peaks"),
    )
    for column, tile in zip(st.columns(len(tiles)), tiles, strict=True):
        with column:
            tables.metric(*tile)


def _verdicts(rows: pd.DataFrame) -> str:
    """Return the verdicts on published runs that ran, and on those that ran out of memory."""
    if not len(rows):
        return ""
    ran = rows[rows["outcome"] == "ran"]["fits"]
    out_of_memory = rows[rows["outcome"] == "out of memory"]["fits"]
    return (
        f"Of {len(ran):,} published runs that ran, the estimate calls "
        f"{percent((ran == 'no').mean())} too large and "
        f"{percent((ran == 'tight').mean())} tight; of {len(out_of_memory):,} that ran out of "
        f"memory, it calls {(out_of_memory == 'yes').sum():,} "
        "fitting."
    )


def _calibration(rows: pd.DataFrame) -> str:
    """Return what calibrating on one run does for another of the same card and software."""
    if not len(rows):
        return ""
    near = rows[
        (rows["quantity"] == "all times") & (rows["calibrated_on"] == "1 of the set-up, near")
    ].iloc[0]
    many = rows[
        (rows["quantity"] == "all times") & (rows["calibrated_on"] == "10 of the set-up")
    ].iloc[0]
    return (
        f"Calibrated on one published run, the time of a similar one of the same model, card "
        f"and software is "
        f"{error(near['median_after_ratio'])} off at the median, "
        f"{error(near['median_before_ratio'])} without; its range is "
        f"{percent(near['narrower_ratio'])} narrower, with "
        f"{percent(near['inside_after_ratio'])} inside, over {int(near['runs']):,} pairs. "
        f"On ten runs, any other of that set-up: {error(many['median_after_ratio'])}, "
        f"{error(many['median_before_ratio'])} without."
    )


def _chosen_cases(errors: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Draw the choice of a quantity, groups and families; return the quantity and its cases."""
    quantities = sorted(
        set(errors["quantity"]), key=lambda name: (name not in accuracy_tables.PEAKS, name)
    )
    left, middle, right = st.columns([2, 3, 3])
    quantity = left.selectbox(
        "Quantity",
        quantities,
        format_func=lambda name: GLOSSARY[name].label,
        key="accuracy_quantity",
    )
    cases = accuracy_tables.without_problem(errors)
    cases = cases[cases["quantity"] == quantity]
    for column, name, label, key in (
        (middle, "group", "Groups", "accuracy_groups"),
        (right, "family", "Families of models", "accuracy_families"),
    ):
        values = column.multiselect(label, sorted(cases[name].unique()), key=key, placeholder="All")
        cases = cases[cases[name].isin(values)] if values else cases
    return quantity, cases


def _case_by_case(errors: pd.DataFrame, ink: Ink) -> None:
    """Predicted and true values of the chosen quantity, and the error by family."""
    quantity, cases = _chosen_cases(errors)
    if not len(cases):
        st.info(
            "No case of this choice is estimated: choose another, or look under What is not "
            "covered."
        )
        return
    unit, unit_words = accuracy_tables.unit_of_quantity(quantity)
    points = accuracy_tables.case_points(cases, unit)
    size = accuracy_tables.size_of_error(cases)
    alt = f"{size.cases} cases, median error {error(size.median_error_ratio)}"
    spec = accuracy_charts.predicted_against_truth(
        ink, unit_words, "true", f"{GLOSSARY[quantity].label}: predicted and true"
    )
    left, right = st.columns(2)
    with left:
        elements.draw(spec, points, alt, "accuracy_points")
    with right:
        worst = f"Worst error {error(size.worst_error_ratio)}"
        elements.draw(
            accuracy_charts.error_by_family(ink), points, worst, "accuracy_families_chart"
        )
    ends = f"90th percentile {error(size.p90_error_ratio)}, worst {error(size.worst_error_ratio)}"
    st.caption(f"{size.cases} cases: median {error(size.median_error_ratio)}, {ends}.")
