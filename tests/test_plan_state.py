"""The plan in the session: one file knows its keys, and holds every choice as its widget does."""

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from calc.scenarios.inputs import INPUTS
from views.session import plan_state

VIEWS = Path(plan_state.__file__).resolve().parents[1]
OWNER = Path(plan_state.__file__).resolve()


@pytest.mark.parametrize("path", sorted(VIEWS.rglob("*.py")), ids=lambda path: path.relative_to(VIEWS).as_posix())
def test_no_other_view_spells_where_the_session_holds_a_choice(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    spelled = [
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and _is_session(node.value)
    ]
    keys = [
        keyword.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "key" and isinstance(keyword.value, ast.Constant)
    ]
    assert path == OWNER or not set(plan_state.FIRST_VISIT) & {*spelled, *keys}


def _is_session(node):
    return getattr(node, "attr", getattr(node, "id", "")) in ("state", "session_state")


def test_a_choice_that_no_plan_has_is_refused():
    with pytest.raises(AttributeError):
        plan_state.choose(wrok="training")


def adopted(scenario):
    """What the session holds after a scenario became the plan of the first visit."""

    def script(scenario):
        from views.session import catalogs as session_catalogs
        from views.session import plan_state

        plan_state.read_link(session_catalogs.base_catalogs())
        plan_state.adopt(scenario, "spot")

    app = AppTest.from_function(script, default_timeout=60, kwargs={"scenario": scenario}).run()
    assert not app.exception
    return app.session_state


def test_an_adopted_scenario_is_held_as_the_widgets_hold_it():
    row = {"model": "gpt2", "instance": "p5.48xlarge", "precision": "bf16", "gpus": 4.0, "batch": 2.0}
    row |= {"sequence_tokens": 1024.0, "decoder_tokens": 1024.0, "train_tokens": 5e9, "max_sequences": float("nan")}
    state = adopted(row)
    assert (state["precision"], state["gpus"], state["instance"]) == (["bf16"], [4], ["p5.48xlarge"])
    assert (state["decoder_tokens"], state["max_sequences"], state["train_tokens"]) == (None, None, 5e9)
    assert (state["market"], state["layout"], state["gpu"]) == ("spot", "given", "")
    kinds = {each.name: each.kind for each in INPUTS if each.kind in plan_state.HELD_AS}
    held = {name: [each for each in _listed(state[name]) if each is not None] for name in kinds}
    assert all(type(each) is plan_state.HELD_AS[kinds[name]] for name, values in held.items() for each in values)


def _listed(value):
    return value if isinstance(value, list) else [value]
