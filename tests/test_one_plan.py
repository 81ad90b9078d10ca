"""Every page and panel says one thing of a plan: its machine, count, money and verdict are those of the first card."""

import json
import re

import pytest
from examples import recorded
from pages import cards as answer_cards
from pages import html_texts, opened, page_text, run, title, turned
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df

from calc.catalogs.load import load_catalogs
from calc.say.numbers import about, three, usd
from calc.say.place import cards, place
from calc.say.verdict import verdict
from calc.search.options import options
from calc.units import GIB
from views.session import present_plan
from views.shared.answer_words import pace

JOBS = recorded("cases/one_plan.json")
SHORT = 8  # of them in make test
WHOLE = ("LoRA of a 70B within a week", "a 32B for 20 people", "a 70B on spot", "outside the limits")


@pytest.fixture
def plans(monkeypatch):
    """The plans that the pages work out, in their order."""
    seen, present = [], present_plan.present
    monkeypatch.setattr(present_plan, "present", lambda catalogs: seen.append(present(catalogs)) or seen[-1])
    return seen


def charts(app):
    """The charts of the page: title of the vertical axis, and table."""
    for chart in app.get("vega_lite_chart"):
        spec = json.loads(chart.proto.spec)
        axes = [layer["encoding"]["y"]["axis"]["title"] for layer in spec["layer"] if layer["encoding"].get("y", {}).get("axis")]
        if chart.proto.data.data:
            yield (axes or [""])[0], convert_arrow_bytes_to_pandas_df(chart.proto.data.data)


def frame(app, column):
    return next(frame.value for frame in app.dataframe if column in frame.value)


@pytest.mark.parametrize("job", [*list(JOBS)[:SHORT], *(pytest.param(job, marks=pytest.mark.long) for job in list(JOBS)[SHORT:])])
def test_every_page_says_the_machine_and_the_money_of_the_first_card(job, plans):
    app = opened(**JOBS[job])
    row, is_owned = plans[-1].options.rows[0], "have" in JOBS[job]
    if not row["answer"]:
        assert title(app) == plans[-1].options.problem.partition("; ")[0].removesuffix(".")
        assert not any(card.startswith(("Least money", "As it is")) for card in answer_cards(app))
        assert title(turned(app, "pay")).startswith("No bill as it is set: ")
        return
    where = f"{row['instances_needed']:.0f} × {row['instance']}" if row["instance"] else cards(row, load_catalogs())
    said = pace(row) if is_owned else about(row["usd"])
    on_plan(app, row, where, said, is_owned)
    bill = turned(app, "pay")
    if is_owned:
        assert where in title(bill)
        assert "Rented, the same job costs $" in page_text(bill)
        for page in ("instances", "method", "compare"):
            turned(app, page)
    else:
        assert said in title(bill).replace("\\$", "$")
        paid = frame(bill, "Cost")
        assert paid["Cost"].sub(row["usd"]).abs().min() == pytest.approx(0, abs=1e-6 * row["usd"])
        assert where in page_text(bill)
        on_instances(turned(app, "instances"), row, where)
    assert (place(row) if row["instance"] else where.split(" × ")[1]) in title(turned(app, "explore"))


@pytest.mark.parametrize("job", WHOLE)
def test_every_panel_says_the_machine_and_the_money_of_the_first_card(job, plans):
    app = opened(**JOBS[job])
    row = plans[-1].options.rows[0]
    trains = row["work"] == "training"
    period = "for the run" if trains else "a month"
    wide_search(app, row, period)
    over_gpus(turned(app, "explore"), row)
    assert f"{usd(row['usd'])} {period if trains else 'for a month'}" in page_text(turned(app, "method"))
    run(turned(app, "plan").button(key="keep").click())
    assert about(row["usd"]) in title(turned(app, "compare")).replace("\\$", "$")


def on_plan(app, row, where, said, is_owned):
    """The heading, the card, the memory and the best of the board."""
    heading = title(app).replace("\\$", "$")
    if row["answer"] == "nearest":
        assert where in heading
    elif is_owned:
        assert heading.startswith(f"Fits: {three(row['memory_bytes'] / GIB)} of {three(row['gpu_memory_bytes'] / GIB)} GiB on ")
    else:
        assert heading.startswith(f"About {said}")
        assert where in heading
    assert all(part in answer_cards(app)[0] for part in (said, where, verdict(row["fits"], row["runs"])))
    assert f"What is in the memory: {where}" in page_text(app)
    short = next((text for text in html_texts(app) if text.startswith("Type, at its best")), "")
    if is_owned:  # its one row is the card
        return
    assert where in short
    assert about(row["usd"]) in short
    app.session_state["all_types"] = True
    best = frame(run(app), "tank").iloc[0]
    assert best["usd"] == pytest.approx(row["usd"], nan_ok=True)
    assert best["usd_per_hour"] == pytest.approx(row["usd_per_hour"], nan_ok=True)
    assert best["name"].startswith(where if row["instance"] else place(row))


def on_instances(app, row, where):
    """The plan's type is the first of the list, with as many instances and its money."""
    first = app.dataframe[0].value.iloc[0]
    assert first["instance"].startswith(where)
    assert first["usd"] == pytest.approx(row["usd"])


def wide_search(app, row, period):
    """It names the plan as it is, and what it finds is no dearer than the plan, which is among what it tries."""
    app.session_state["wider"] = True
    text = page_text(run(app))
    if row["answer"] == "nearest":
        assert f"the nearest plan, {place(row)}, costs {usd(row['usd'])}" in text
        return
    assert f"Row looked at: {place(row)}, {usd(row['usd'])}" in text
    least = next(metric.value for metric in app.metric if metric.label == f"Least money {period}")
    assert float(re.sub(r"[\\$,]", "", least)) <= row["usd"] * 1.006
    app.session_state["wider"] = False


def over_gpus(app, row):
    """Over GPUs the plan's point has its money."""
    app.session_state["explore_tab"] = "GPUs"
    for axis, table in charts(run(app)):
        if axis == "USD":
            assert table.loc[table["now"], "y"].item() == pytest.approx(row["usd"])


def test_a_service_with_three_answers_shows_two_of_them_and_the_other_width(catalogs):
    job = {"goal": "serve", "model": "qwen2.5-32b", "people": "200"}
    shown = answer_cards(opened(v="3", **job))
    assert len([row for row in options(job, catalogs).rows if row["answer"]]) == 3
    assert [text.split(" $")[0] for text in shown] == ["Least money", "Faster", "In 16 bits"]
