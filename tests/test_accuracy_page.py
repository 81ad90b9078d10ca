"""The Accuracy page draws what validation/results holds, nothing typed in; and says so where nothing is there."""

from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from calc.catalogs.strict_yaml import read_strictly
from calc.charts import accuracy as accuracy_tables
from views.session import results

ROOT = Path(__file__).resolve().parent.parent
PAGE = str(ROOT / "views" / "pages" / "accuracy.py")


def script(page):
    import streamlit as st

    st.navigation([st.Page(page)]).run()


def open_page():
    return AppTest.from_function(script, default_timeout=60, kwargs={"page": PAGE}).run()


@pytest.fixture(scope="module")
def app():
    return open_page()


@pytest.fixture(scope="module")
def errors():
    table = pd.read_csv(ROOT / "validation" / "results" / "errors.csv", keep_default_na=False, low_memory=False)
    return table.assign(**{name: pd.to_numeric(table[name], errors="coerce") for name in results.NUMBERS})


def case(**more):
    plain = {
        "case": "a 1", "group": "training", "family": "llama", "model": "llama-3.1-8b", "problem": "",
        "quantity": "allocated_peak_bytes", "truth": 100.0, "predicted": 98.0, "error_ratio": -0.02, "inside": 1.0,
        "recompute": "full",
    }  # fmt: skip
    return {**plain, **more}


def test_the_page_shows_the_numbers_of_the_files(app, errors):
    assert not app.exception
    sound = errors[(errors["problem"] == "") & errors["quantity"].isin(accuracy_tables.PEAKS)]
    assert app.metric[0].delta == f"{len(sound):,} peaks"
    assert app.metric[3].value == f"{(errors['problem'] == '').sum():,} of {len(errors):,}"
    real = accuracy_tables.on_gpus(sound)
    assert 0 < real.sum() < len(sound)
    first, second = app.title[0].value.split("; ")
    for part, said in ((sound[real], first), (sound[~real], second)):
        assert f"{len(part):,}" in said
        assert f"{100 * part['error_ratio'].abs().max():.2g} %" in said


def test_the_page_says_what_is_said_of_runs_that_ran(app):
    rows = pd.read_csv(ROOT / "validation" / "results" / "verdicts.csv", keep_default_na=False)
    ran = (rows["outcome"] == "ran").sum()
    assert any(f"Of {ran:,} published runs that ran" in text.value for text in app.markdown)


def test_worst_cases_on_real_gpus_stand_before_simulated_ones(app):
    heads = [head.value for head in app.subheader if "miss most" in head.value]
    assert [head.rsplit(", ", 1)[1] for head in heads] == ["on real GPUs", "simulated"]


def test_the_times_furthest_off_are_told_with_their_reasons(app):
    heads = [head.value for head in app.subheader if "furthest off" in head.value]
    assert heads == ["The 20 times and rates furthest off", "The 10 first tokens furthest off"]
    rates, first = (table.value for table in app.table[-2:])
    assert (len(rates), len(first)) == (20, 10)
    assert rates["Why"].str.contains("contradict").any()
    assert first["Why"].str.contains("share experts").any()


def test_every_group_of_cases_is_said_in_words(errors):
    from views.wording.accuracy import GROUPS

    assert set(errors["group"]) <= set(GROUPS)


def test_the_worst_cases_stand_with_their_reasons(app, errors):
    shown = app.table[0].value
    real = accuracy_tables.without_problem(errors[accuracy_tables.on_gpus(errors)])
    worst = real.sort_values("error_ratio", key=abs, ascending=False).iloc[0]
    assert worst["case"] in shown["Case"].iloc[0]
    assert (shown["Why"] != "").all()


def test_families_and_groups_narrow_what_is_drawn():
    app = open_page()
    group = app.multiselect(key="accuracy_groups").options[0]
    app.multiselect(key="accuracy_groups").set_value([group]).run()
    assert not app.exception
    app.selectbox(key="accuracy_quantity").set_value("parameters").run()
    assert not app.exception
    app.toggle(key="accuracy_by_family").set_value(True).run()
    assert not app.exception
    assert "family" in app.dataframe[0].value.columns


def test_without_results_the_page_says_how_to_make_them(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "FILES", {name: tmp_path / path.name for name, path in results.FILES.items()})
    app = open_page()
    assert not app.exception
    assert "make accuracy" in app.info[0].value


def test_a_reason_fits_by_pattern_and_by_side():
    reasons = [
        {"where": {"family": ["mistral", "l*"], "recompute": "full"}, "too": "low", "why": "because", "source": "read"},
        {"where": {"family": "gemma"}, "too": "high", "why": "other", "source": "seen"},
    ]
    gemma = case(case="a 3", family="gemma", error_ratio=0.01)
    table = pd.DataFrame([case(), case(case="a 2", error_ratio=0.03), gemma, case(problem="no")])
    found = accuracy_tables.misses(table, reasons, 10)
    assert list(found["case"]) == ["a 2", "a 1", "a 3"]
    assert list(found["why"]) == [accuracy_tables.UNEXPLAINED, "because", "other"]
    assert list(found["why_source"]) == ["", "read", "seen"]


def test_every_reason_has_its_fields_and_names_columns(errors):
    text = (ROOT / "validation" / "misses.yaml").read_text("utf-8")
    for reason in read_strictly(text, "validation/misses.yaml")["misses"]:
        assert set(reason) == {"where", "too", "why", "source"}
        assert set(reason["where"]) <= set(errors.columns)
        assert reason["too"] in accuracy_tables.TOO
        assert reason["why"].endswith(".")


def test_every_reason_of_a_missed_time_names_columns_and_is_met():
    reasons = read_strictly((ROOT / "validation" / "misses.yaml").read_text("utf-8"), "validation/misses.yaml")["times"]
    speed = pd.read_csv(ROOT / "validation" / "results" / "speed_errors.csv", keep_default_na=False, low_memory=False)
    given = accuracy_tables.misses(speed, reasons, len(speed))["why"]
    for reason in reasons:
        assert set(reason) == {"where", "too", "why", "source"}
        assert set(reason["where"]) <= set(speed.columns)
        assert reason["why"] in set(given)
    first = speed["measured"] == "time_to_first_token_seconds"
    worst = pd.concat(accuracy_tables.misses(speed[part], reasons, count) for part, count in ((~first, 20), (first, 10)))
    assert (worst["why"] != accuracy_tables.UNEXPLAINED).mean() > 0.85


def test_size_of_error_counts_only_what_it_is_given():
    size = accuracy_tables.size_of_error(pd.DataFrame([case(), case(error_ratio=0.04, inside=0.0)]))
    assert size["cases"] == 2
    assert size["median_error_ratio"] == pytest.approx(0.03)
    assert size["worst_error_ratio"] == 0.04
    assert size["inside_ratio"] == 0.5


def test_what_is_refused_is_counted_with_its_models():
    table = pd.DataFrame([case(problem="no blocks"), case(problem="no blocks", model="gpt2"), case()])
    found = accuracy_tables.refused(table)
    assert found.to_dict("records") == [{"reason": "no blocks", "cases": 2, "models": "llama-3.1-8b, gpt2"}]
    assert accuracy_tables.refused(table[table["problem"] == ""]).empty


def test_points_are_in_the_unit_of_their_quantity():
    unit, words = accuracy_tables.unit_of_quantity("allocated_peak_bytes")
    points = accuracy_tables.case_points(pd.DataFrame([case(truth=2.0 * unit, predicted=3.0 * unit)]), unit)
    assert (points["measured"][0], points["predicted"][0], words) == (2.0, 3.0, "GiB")
    assert accuracy_tables.unit_of_quantity("parameters")[1] == "billions"
