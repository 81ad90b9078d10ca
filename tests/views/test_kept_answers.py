"""Kept scenarios and Undo: nothing that the user made is lost by a click, on no page and in no
link.
"""

import pandas as pd
import pytest
from pages import address, opened, pasted, run, turned, with_share
from streamlit.testing.v1 import AppTest

from calc import estimate
from calc.files.link.kept_answers import MOST_KEPT
from views.compare_and_bill.answers import PLAN

KEPT = [
    "A~market~spot~model~llama-3.1-8b~gpus~8~sharding~zero3~instance~p4de.24xlarge~train_tokens~150000000",
    "B~market~on-demand~model~gpt2",
]
SCENARIO = {
    "model": "llama-3.1-8b",
    "gpus": 8,
    "sharding": "zero3",
    "instance": "p4de.24xlarge",
    "train_tokens": 1.5e8,
}


def keys(app, *names):
    """Which of these buttons are drawn."""
    return [button.key for button in app.button if button.key in names]


def act(app, place, action):
    turned(app, "compare")
    return run(app.menu_button(key=f"more_{place}").set_value(action))


@pytest.mark.long
def test_each_change_can_be_undone_looking_is_no_change_and_a_change_after_undo_clears_redo():
    app = opened()
    for page in ("accuracy", "plan"):
        turned(app, page)
    assert app.button(key="undo").disabled
    seen = [address(app)]
    for number in range(3):
        run(app.text_input(key="examples_written").set_value(str(1000 + number)))
        seen.append(address(app))
    for before in reversed(seen[:-1]):
        run(app.button(key="undo").click())
        assert address(app) == before
    assert app.button(key="undo").disabled
    assert not with_share(app).button(key="redo").disabled
    run(app.text_input(key="examples_written").set_value("3000"))
    assert app.button(key="redo").disabled


def test_a_pasted_link_without_answers_leaves_those_that_are_kept():
    app = opened(kept=KEPT)
    run(pasted(app, "https://planner.example/?v=3&goal=tune&model=gpt2&method=full"))
    assert address(app)["model"] == ["gpt2"]
    assert len(address(app)["kept"]) == len(KEPT)


def test_taking_makes_it_the_plan_and_undo_brings_the_plan_back():
    app = opened(kept=KEPT, model="qwen2.5-7b", gpus="4")
    before = address(run(turned(app, "compare")))
    act(app, 0, PLAN)
    after = address(app)
    assert (after["model"], after["gpus"], after["instance"], after["markets"]) == (
        ["llama-3.1-8b"],
        ["8"],
        ["p4de.24xlarge"],
        ["spot"],
    )
    run(app.button(key="undo").click())
    assert address(app) == before


def session(steps):
    """The session after these steps, that started with A and B kept."""

    def script(steps, kept_texts):
        import streamlit as st

        from views.session import address, kept_answers
        from views.session import catalogs as session_catalogs

        if "link_complaints" not in st.session_state:
            st.query_params["kept"] = kept_texts
        address.read_link(session_catalogs.base_catalogs())
        for name, *arguments in steps:
            named = arguments.pop() if isinstance(arguments[-1], dict) and name == "plan" else {}
            getattr(kept_answers, name)(*arguments, **named)
        st.session_state["rows"] = kept_answers.rows(session_catalogs.catalogs())

    app = AppTest.from_function(
        script, default_timeout=60, kwargs={"steps": steps, "kept_texts": KEPT}
    ).run()
    assert not app.exception
    return app.session_state


def test_names_places_and_bounds():
    steps = ("rename", 1, "A"), ("move", 1, -1), ("move", 0, -1), ("duplicate", 0)
    assert [entry.name for entry in session(steps)["kept"]] == ["A 2", "A 3", "A"]
    assert len(session([("duplicate", 0)] * (MOST_KEPT + 5))["kept"]) == MOST_KEPT


def test_runs_and_months_are_changed_in_place():
    state = session(
        [
            ("plan", 0, {"runs_per_month": 2.0}),
            ("plan", 1, {"plan_months": 3}),
            ("plan", 0, {"plan_months": 12}),
        ]
    )
    assert state["rows"][["runs_per_month", "plan_months"]].to_numpy().tolist() == [[2, 12], [1, 3]]
    assert state["kept"][1].scenario["plan_months"] == 3


def test_a_row_that_is_kept_is_estimated_as_it_was(catalogs):
    row = estimate(SCENARIO | {"sharding": "zero2"}, catalogs, solve=False)
    rows = session([("keep", {**row, "market": "spot"}, None, "Fine-tune it")])["rows"]
    assert rows["scenario"].tolist() == ["A", "B", "Full · p4de.24xlarge on spot"]
    assert rows["job"].tolist()[1:] == ["Fine-tune GPT-2", "Fine-tune it"]
    assert rows["plan_months"].tolist() == [12, 12, 1]  # a run is planned once
    last = rows.iloc[-1]
    assert (last["memory_bytes"], last["usd"], last["hours"]) == (
        row["memory_bytes"],
        row["run_usd_spot"],
        row["spot_run_hours"],
    )
    assert pd.isna(rows["usd"].iloc[1])
