"""After a restart of the server the first change counts: the browser's values win over the address of the page."""

from pages import DASHBOARD, address, opened
from streamlit.testing.v1 import AppTest

JOB = {"model": "qwen2.5-7b", "method": "lora"}


def test_the_browsers_values_win_over_the_address():
    before = opened(**JOB)
    before.number_input(key="examples").set_value(90_000)  # while no server was there
    again = AppTest.from_file(DASHBOARD, default_timeout=60)
    for name, value in address(before).items():
        again.query_params[name] = value
    again._run(before._tree.get_widget_states())
    assert not again.exception
    assert again.session_state["examples"] == 90_000
    assert address(again)["examples"] == ["90000"]
    assert again.session_state["model"] == JOB["model"]


def test_a_first_visit_takes_nothing_over():
    assert opened(**JOB).session_state["said_by_browser"] == {}
