"""The Accuracy page: estimates against what PyTorch allocates and what published runs measured, misses and all."""

from functools import partial

import streamlit as st

from calc import accuracy, export
from calc.columns import GLOSSARY
from views import charts_accuracy, compared, comparisons, data, results, tables
from views.compared import error
from views.look import INKS

WORST = 20

catalogs = data.catalogs()
ink = INKS[st.context.theme.type or "light"]
found = results.results()
if found is None:
    st.title("The estimate was not compared yet", anchor=False)
    st.info("`make accuracy` compares it with every case of validation/ and writes what this page draws.")
    st.stop()

compared_peaks = accuracy.peaks(found.errors)
peaks = accuracy.size_of_error(compared_peaks)
measured = compared_peaks["group"].str.startswith("measured")
st.title(compared.headline(compared_peaks), anchor=False)
st.markdown(compared.introduction(found.errors, peaks["cases"], int(measured.sum())))
with st.container(horizontal=True):
    for label, value, note in compared.metrics(peaks, found.errors):
        tables.metric(label, value, note)

quantities = sorted(set(found.errors["quantity"]), key=lambda name: (name not in accuracy.PEAKS, name))
left, middle, right = st.columns([2, 3, 3])
with left:
    quantity = st.selectbox(
        "Quantity", quantities, format_func=lambda name: GLOSSARY[name].label, key="accuracy_quantity"
    )
of_quantity = accuracy.answered(found.errors)
of_quantity = of_quantity[of_quantity["quantity"] == quantity]
with middle:
    groups = st.multiselect("Groups", sorted(of_quantity["group"].unique()), key="accuracy_groups", placeholder="All")
with right:
    families = st.multiselect(
        "Families of models", sorted(of_quantity["family"].unique()), key="accuracy_families", placeholder="All"
    )
chosen = of_quantity[of_quantity["group"].isin(groups)] if groups else of_quantity
chosen = chosen[chosen["family"].isin(families)] if families else chosen

if len(chosen):
    unit, unit_words = accuracy.unit_of(quantity)
    points = accuracy.points(chosen, unit)
    size = accuracy.size_of_error(chosen)
    left, right = st.columns(2)
    with left:
        comparisons.draw(
            charts_accuracy.predicted_against_truth(
                ink, unit_words, "true", f"{GLOSSARY[quantity].label}: predicted and true"
            ),
            points,
            f"{size['cases']} cases, median error {error(size['median_error_ratio'])}",
            "accuracy_points",
        )
    with right:
        comparisons.draw(
            charts_accuracy.error_by_family(ink),
            points,
            f"Worst error {error(size['worst_error_ratio'])}",
            "accuracy_families_chart",
        )
    st.caption(
        f"{size['cases']} cases: median {error(size['median_error_ratio'])}, 90th percentile "
        f"{error(size['p90_error_ratio'])}, worst {error(size['worst_error_ratio'])}."
    )
else:
    st.info("No case of this choice is answered; the tables below say which are refused.")

st.subheader("Error by group", anchor=False)
by_family = st.toggle("Each family of models", key="accuracy_by_family", persist_state="session")
compared.summary(found.summary, by_family)

st.subheader(f"The {WORST} cases that miss most", anchor=False)
compared.misses(accuracy.misses(found.errors, found.reasons, WORST))

st.subheader("What is not covered", anchor=False)
left, right = st.columns(2)
with left:
    st.markdown("**Refused**, in the row's own words: no estimate is made.")
    compared.reasons(accuracy.refused(found.errors), "Cases that the estimate refuses", "refused")
    st.markdown("**Models of the catalog** that are refused by name:")
    st.markdown(compared.refused_models(catalogs.models))
with right:
    st.markdown("**Left out of the comparison**: no scenario column says what these cases did.")
    compared.reasons(accuracy.left_out(found.left_out), "Cases left out of the comparison", "left_out")

if len(found.speed):
    st.subheader("Time against published runs", anchor=False)
    st.markdown(compared.speed_sentence(found.speed))
    left, right = st.columns(2)
    with left:
        comparisons.draw(
            charts_accuracy.predicted_against_truth(
                ink, "tokens per second", "published", "Time: predicted and published"
            ),
            accuracy.speed_points(found.speed),
            compared.speed_sentence(found.speed)[:118],
            "accuracy_speed",
        )
    with right:
        compared.speed(accuracy.by_source(found.speed, ("work", "held_out", "source")))

with st.container(horizontal=True):
    st.download_button(
        f"Every case as CSV ({len(found.errors):,} rows)",
        data=partial(export.to_csv, found.errors),
        file_name="headroom-accuracy.csv",
        mime="text/csv",
        on_click="ignore",
        icon=":material/download:",
        key="accuracy_csv",
    )
st.caption(f"{found.made} `make accuracy` compares again and writes the files that this page draws.")
