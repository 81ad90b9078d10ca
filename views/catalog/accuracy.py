"""The Accuracy page: estimates against PyTorch's allocations and published runs."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.charts import accuracy as accuracy_tables
from calc.columns import GLOSSARY
from calc.files.csv import tables as csv_tables
from views.catalog import accuracy_panels as panel
from views.catalog import accuracy_words
from views.catalog.accuracy_words import error
from views.charts import accuracy as accuracy_charts
from views.session import catalogs as session_catalogs
from views.session import results
from views.shared import elements, tables
from views.shared.row_words import TOKEN_TIMES
from views.shared.theme import INKS

WORST = 20


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    ink = INKS[st.context.theme.type or "light"]
    comparison = results.results()
    if comparison is None:
        title.title("The estimate was not compared yet", anchor=False)
        st.info("`make accuracy` compares it with every case of validation/ and writes what this page draws.")
        return

    compared_peaks = accuracy_tables.peaks(comparison.errors)
    peaks = accuracy_tables.size_of_error(compared_peaks)
    real = accuracy_tables.on_gpus(compared_peaks)
    title.title(accuracy_words.headline(compared_peaks), anchor=False)
    st.markdown(accuracy_words.introduction(comparison.errors, int(peaks["cases"]), int(real.sum())))
    if len(comparison.verdicts):
        st.markdown(accuracy_words.verdicts(comparison.verdicts))
    with st.container(horizontal=True):
        for label, value, note in accuracy_words.metrics(peaks, comparison.errors):
            tables.metric(label, value, note)

    quantities = sorted(set(comparison.errors["quantity"]), key=lambda name: (name not in accuracy_tables.PEAKS, name))
    left, middle, right = st.columns([2, 3, 3])
    with left:
        quantity = st.selectbox("Quantity", quantities, format_func=lambda name: GLOSSARY[name].label, key="accuracy_quantity")
    of_quantity = accuracy_tables.without_problem(comparison.errors)
    of_quantity = of_quantity[of_quantity["quantity"] == quantity]
    with middle:
        groups = st.multiselect("Groups", sorted(of_quantity["group"].unique()), key="accuracy_groups", placeholder="All")
    with right:
        families = st.multiselect("Families of models", sorted(of_quantity["family"].unique()), key="accuracy_families", placeholder="All")
    chosen = of_quantity[of_quantity["group"].isin(groups)] if groups else of_quantity
    chosen = chosen[chosen["family"].isin(families)] if families else chosen

    if len(chosen):
        unit, unit_words = accuracy_tables.unit_of_quantity(quantity)
        points = accuracy_tables.case_points(chosen, unit)
        size = accuracy_tables.size_of_error(chosen)
        left, right = st.columns(2)
        with left:
            elements.draw(
                accuracy_charts.predicted_against_truth(ink, unit_words, "true", f"{GLOSSARY[quantity].label}: predicted and true"),
                points,
                f"{size['cases']} cases, median error {error(size['median_error_ratio'])}",
                "accuracy_points",
            )
        with right:
            worst = f"Worst error {error(size['worst_error_ratio'])}"
            elements.draw(accuracy_charts.error_by_family(ink), points, worst, "accuracy_families_chart")
        st.caption(
            f"{size['cases']} cases: median {error(size['median_error_ratio'])}, 90th percentile "
            f"{error(size['p90_error_ratio'])}, worst {error(size['worst_error_ratio'])}."
        )
    else:
        st.info("No case of this choice is answered; the tables below say which are refused.")

    st.subheader("Error by group", anchor=False)
    by_family = st.toggle("Each family of models", key="accuracy_by_family", persist_state="session")
    panel.summary(comparison.summary, by_family)

    on_gpus = accuracy_tables.on_gpus(comparison.errors)
    for part, words in ((comparison.errors[on_gpus], "on real GPUs"), (comparison.errors[~on_gpus], "simulated")):
        if len(part):
            st.subheader(f"The {WORST} cases that miss most, {words}", anchor=False)
            panel.misses(accuracy_tables.misses(part, comparison.reasons, WORST))

    st.subheader("What is not covered", anchor=False)
    left, right = st.columns(2)
    with left:
        st.markdown("**Refused**, in the row's own words: no estimate is made.")
        panel.reasons(accuracy_tables.reasons_counted(comparison.errors, "problem"), "Cases that the estimate refuses", "refused")
        st.markdown("**Models of the catalog** that are refused by name:")
        st.markdown(accuracy_words.refused_models(catalogs.models))
    with right:
        st.markdown("**Left out of the comparison**: no scenario column says what these cases did.")
        panel.reasons(accuracy_tables.reasons_counted(comparison.left_out, "left_out"), "Cases left out of the comparison", "left_out")

    if len(comparison.speed):
        st.subheader("Time against published runs", anchor=False)
        st.markdown(accuracy_words.speed_sentence(comparison.speed))
        st.markdown(TOKEN_TIMES)
        left, right = st.columns(2)
        with left:
            elements.draw(
                accuracy_charts.predicted_against_truth(ink, "tokens per second", "published", "Time: predicted and published"),
                accuracy_tables.speed_points(comparison.speed),
                accuracy_words.speed_sentence(comparison.speed)[:118],
                "accuracy_speed",
            )
        with right:
            panel.speed(accuracy_tables.by_source(comparison.speed, ("source", "engine", "engine_release", "gpu", "measured", "held_out")))

        first = comparison.speed["measured"] == "time_to_first_token_seconds"
        for part, count, words in (
            (comparison.speed[~first], WORST, f"{WORST} times and rates"),
            (comparison.speed[first], WORST // 2, f"{WORST // 2} first tokens"),
        ):
            st.subheader(f"The {words} furthest off", anchor=False)
            panel.missed_times(accuracy_tables.misses(part, comparison.time_reasons, count))

    with st.container(horizontal=True):
        csv = partial(csv_tables.to_csv, comparison.errors)
        tables.download(f"Every case as CSV ({len(comparison.errors):,} rows)", csv, "headroom-accuracy.csv", "accuracy_csv")
    st.caption(f"{comparison.made} `make accuracy` compares again and writes the files that this page draws.")
