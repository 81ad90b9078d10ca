"""The Run and month page and the advice panel: figures as the estimate has them, assumptions that reach every page."""

from pathlib import Path

import pages
import pytest
from pages import run
from streamlit.testing.v1 import AppTest

from calc import estimate
from calc.plan.run_length import over_concurrency, over_tokens
from calc.scenarios.inputs import DEFAULTS, inputs_by_name

DASHBOARD = str(Path(__file__).resolve().parent.parent / "dashboard.py")
RUN = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "optimizer": "adamw", "train_tokens": "1e10", "days_most": ""}
SET = {"gpus": 8, "sharding": "zero3", "batch": 1, "accumulation_steps": 4, "recompute": "none", "tensor_parallel": 1}
SERVE = {"work": "inference", "model": "qwen2.5-32b", "instance": "p5.48xlarge", "implementation": "vllm"}
SERVE |= {"batch": "20", "sequence_tokens": "8192", "prompt_tokens": "6000", "instances_most": ""}


@pytest.fixture(autouse=True)
def warnings_of_the_machine(recwarn):
    """Streamlit warns of a missing browser; only what the page shows counts here."""


def opened(page="views/pages/run_and_month.py", **query):
    app = AppTest.from_file(DASHBOARD, default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    app.switch_page(page).run()
    assert not app.exception
    return app


def shown(app):
    return {metric.label: metric.value.replace("\\", "") for metric in app.metric}


def test_a_run_says_hours_dollars_and_what_interruptions_cost(catalogs):
    app = opened(**RUN, **{name: str(value) for name, value in SET.items()})
    scenario = {**RUN, **SET, "train_tokens": 1e10, "sequence_tokens": 4096}
    del scenario["days_most"]
    row = estimate(scenario, catalogs, solve=False)
    numbers = shown(app)
    assert float(numbers["On demand"].strip("$").replace(",", "")) == pytest.approx(row["run_usd_on_demand"], rel=0.005)
    assert float(numbers["On spot"].strip("$").replace(",", "")) == pytest.approx(row["run_usd_spot"], rel=0.005)
    assert float(numbers["Interruptions expected"]) == pytest.approx(row["expected_interruptions"], rel=0.005)
    words = " ".join(element.value for element in app.caption)
    assert "Young 1974" in words
    assert "Daly 2006" in words
    assert any("work done twice" in element.value for element in app.markdown)


def title(app):
    return app.title[0].value


def test_serving_says_time_cost_of_tokens_and_the_month():
    app = opened(**SERVE)
    numbers = shown(app)
    assert {"Time to first token", "Time per token", "Tokens per second", "Million output tokens"} <= set(numbers)
    assert "A month on demand" in numbers
    assert "Instances for the load" not in numbers
    app.get_by_key("served_tokens_per_second").set_value(20_000.0).run()
    assert not app.exception
    assert int(shown(app)["Instances for the load"]) > 1


def test_an_assumption_is_an_input_like_any_other():
    app = opened(**RUN)
    before = shown(app)["Time of the run"]
    app.get_by_key("utilization").set_value(0.2).run()
    assert shown(app)["Time of the run"] != before
    assert app.query_params["utilization"] in ("0.2", ["0.2"])
    assert any(element.value.startswith("1 of ") for element in app.markdown)
    again = opened(**{name: value for name, value in app.query_params.items()})
    assert shown(again) == shown(app)
    app.get_by_key("unassume").click().run()
    assert shown(app)["Time of the run"] == before
    assert "utilization" not in app.query_params


def test_an_assumption_of_the_link_reaches_the_plan_page():
    app = AppTest.from_file(DASHBOARD, default_timeout=60)
    app.query_params["restart_seconds"] = "7200"
    app.run()
    assert not app.exception
    assert app.query_params["restart_seconds"] in ("7200", ["7200"])


def test_every_assumption_has_its_field():
    app = opened(**RUN)
    keys = {field.key for field in app.number_input}
    assert {name for name in inputs_by_name() if name not in DEFAULTS} <= keys


def test_a_refused_plan_shows_no_bill():
    app = opened(model="llama-3.1-8b", tensor_parallel="3", gpus="3", instance="p5.48xlarge")
    assert "no bill for this plan" in title(app)
    assert "does not divide" in app.error[0].value


def test_cost_over_tokens_is_that_of_the_estimate(catalogs):
    scenario = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3"}
    row = estimate(scenario | {"train_tokens": 1e10}, catalogs, solve=False)
    table = over_tokens(scenario | {"train_tokens": 1e9}, catalogs)
    last = table[table["tokens"] == table["tokens"].max()].set_index("market")["usd"]
    assert last["on demand"] == pytest.approx(row["run_usd_on_demand"])
    assert last["spot, interruptions counted"] == pytest.approx(row["run_usd_spot"])
    assert table["now"].sum() == 2


def test_more_at_once_make_a_token_cheaper(catalogs):
    scenario = {"work": "inference", "model": "qwen2.5-32b", "implementation": "vllm", "instance": "p5.48xlarge"}
    scenario |= {"gpus": 8, "tensor_parallel": 8, "sequence_tokens": 8192, "prompt_tokens": 6000, "batch": 20}
    table = over_concurrency(scenario, "on-demand", catalogs)
    assert table["usd"].is_monotonic_decreasing
    assert table["milliseconds"].is_monotonic_increasing
    assert table[table["now"]]["sequences"].tolist() == [20]


def test_advice_is_taken_with_one_click_and_undone_with_another():
    app = run(pages.opened(model="llama-3.1-8b", instance="p5.48xlarge"))
    app.session_state["advice"] = True
    before = pages.address(run(app))
    run(next(button for button in app.button if button.label == "Take it").click())
    assert pages.address(app) != before
    run(app.button(key="undo").click())
    assert pages.address(app) == before
