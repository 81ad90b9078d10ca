"""The Explore page: every tab opens from a training and from a serving plan, a point becomes the plan."""

import pytest
from pages import opened, run, title

TABS = ("Out of memory", "Phases", "GPUs", "Largest batch", "Precision and task", "Full, LoRA, QLoRA", "Decision guide")


def at(tab, **query):
    app = opened("explore", **query)
    app.session_state["explore_tab"] = tab
    return run(app)


@pytest.mark.parametrize("query", [{"model": "llama-3.2-1b"}, {"model": "qwen2.5-7b", "goal": "serve"}])
def test_every_tab_shows_its_rows_while_it_is_open(query):
    app = opened("explore", **query)
    assert title(app).startswith("Explore around ")
    tabs = [tab for tab in TABS if "goal" not in query or "LoRA" not in tab]
    for tab in tabs:
        app.session_state["explore_tab"] = tab
        panes = {pane.label: pane for pane in run(app).tabs}
        assert [name for name in panes if name in TABS] == tabs
        assert len(panes[tab].children) > 1, tab
        assert not app.error, tab


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
