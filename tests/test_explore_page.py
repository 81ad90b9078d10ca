"""The Explore page: every tab opens from a training and from a serving plan, a point becomes the plan."""

import pytest
from pages import opened, run, title

TRAINING_TABS = ("Out of memory", "Phases", "GPUs", "Largest batch", "Precision and task", "Full, LoRA, QLoRA", "Decision guide")


def at(tab, **query):
    app = opened("explore", **query)
    app.session_state["explore_tab"] = tab
    return run(app)


@pytest.mark.parametrize("tab", TRAINING_TABS)
def test_every_tab_of_a_training_plan_shows_its_rows(tab):
    app = at(tab, model="llama-3.2-1b")
    assert title(app).startswith("Explore around Llama 3.2 1B on ")
    shown = len(app.get("vega_lite_chart")) + len(app.get("arrow_vega_lite_chart")) + len(app.dataframe) + len(app.button)
    assert shown
    assert not app.error


@pytest.mark.parametrize("tab", [tab for tab in TRAINING_TABS if "LoRA" not in tab])
def test_every_tab_of_a_serving_plan_opens(tab):
    app = at(tab, model="qwen2.5-7b", goal="serve")
    assert not app.error
    assert "LoRA" not in " ".join(each.label for each in app.tabs)


def test_a_point_of_the_cliff_becomes_the_plan():
    app = at("Out of memory", model="llama-3.2-1b", instance="g6e.xlarge")
    chosen = app.selectbox(key="use_cliff")
    run(chosen.set_value(0))
    assert app.session_state["batch"] == [1]


def test_a_leaf_of_the_guide_becomes_the_plan():
    app = at("Decision guide", model="llama-3.1-8b")
    run(app.button(key="guide_2").click())
    assert app.session_state["method"] == "qlora"
    assert app.session_state["gpus"] == [1]


def test_a_plan_that_cannot_be_estimated_is_one_sentence():
    app = opened("explore", model="llama-3.1-8b", tensor_parallel="3")
    assert not app.exception
