"""The Search page: answered at once, its sets and limits in the link, stale where the plan moved on, taken with one click."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

DASHBOARD = str(Path(__file__).resolve().parent.parent / "dashboard.py")


@pytest.fixture(autouse=True)
def warnings_of_the_machine(recwarn):
    """Streamlit warns of a missing browser; only what the page shows counts here."""


def opened(page="views/pages/search.py", **query):
    app = AppTest.from_file(DASHBOARD, default_timeout=60)
    for name, value in query.items():
        app.query_params[name.replace("__", ".")] = value
    app.run()
    app.switch_page(page).run()
    assert not app.exception
    return app


def address(app):
    return {name: value if isinstance(value, list) else [value] for name, value in app.query_params.items()}


def title(app):
    return app.title[0].value


def asked(app, question):
    app.get_by_key("question").set_value(question).run()
    assert not app.exception
    return app


def test_a_million_ways_are_answered_at_once_with_three_cards():
    app = opened()
    assert "trains cheapest on" in title(app)
    ways = int(app.markdown[0].value.split(" ways")[0].replace(",", ""))
    assert ways > 1_000_000
    assert [metric.label for metric in app.metric] == ["Cheapest run", "Cheapest hour", "Fastest within the limits"]
    assert [button.label for button in app.button].count("Take into the Plan") == 3
    assert any("than the present plan" in words.value for words in app.markdown)


def test_the_plan_stays_what_it_is_on_the_search_page():
    app = opened(model="qwen2.5-7b", markets="spot", regions="us-west-2", gpus="4")
    assert title(app).startswith("Qwen2.5 7B")
    assert address(app)["regions"] == ["us-west-2"]
    assert address(app)["markets"] == ["spot"]
    assert address(app)["gpus"] == ["4"]


def test_limits_and_sets_go_into_the_link_and_come_back():
    app = opened()
    app.get_by_key("limit_usd_per_hour").set_value(5.0)
    app.get_by_key("allow_optimizer").set_value(["adamw-8bit"])
    app.get_by_key("go").click().run()
    assert not app.exception
    query = address(app)
    assert query["limit.usd_per_hour"] == ["5"]
    assert query["allow.optimizer"] == ["adamw-8bit"]
    again = opened(**query)
    assert title(again) == title(app)
    assert [metric.value for metric in again.metric] == [metric.value for metric in app.metric]


def test_nothing_is_searched_again_unasked():
    app = opened(train_tokens="1000000000")
    before = title(app)
    app.get_by_key("model").set_value("llama-3.2-1b").run()
    assert not app.exception
    assert title(app) == before
    assert "another plan" in app.warning[0].value
    app.get_by_key("again").click().run()
    assert title(app).startswith("Llama 3.2 1B")
    assert not app.warning


def test_a_way_becomes_the_plan_with_one_click():
    app = opened()
    named = title(app)
    app.get_by_key("take_cheapest").click().run()
    assert not app.exception
    place = named.split("cheapest on ")[1].split(",")[0]
    assert place in title(app)
    query = address(app)
    assert len(query["instance"]) == len(query["precision"]) == len(query["optimizer"]) == 1
    assert query["examples"] == ["50000"]
    assert len(app.metric) == 4


def test_lora_within_a_week_turns_the_plan_to_lora():
    app = asked(opened(model="llama-3.1-70b"), "week")
    assert "fine-tunes with LoRA cheapest on" in title(app)
    query = address(app)
    assert (query["goal"], query["method"]) == (["tune"], ["lora"])
    assert query["limit.hours"] == ["168"]
    assert set(query["allow.precision"]) == {"bf16", "int8", "nf4-dq"}


def test_serving_users_asks_for_a_month():
    app = asked(opened(model="qwen2.5-32b", prompt_tokens="7680"), "users")
    assert "Qwen2.5 32B runs cheapest on" in title(app)
    assert title(app).endswith("a month")
    query = address(app)
    assert (query["goal"], query["users"]) == (["serve"], ["20"])
    assert query["limit.users"] == ["20"]
    assert app.metric[0].label == "Cheapest month"


def test_one_workload_under_a_budget_four_ways():
    app = asked(opened(model="llama-2-7b", sequence_tokens="2048"), "budget")
    labels = [metric.label for metric in app.metric]
    assert [label.split(",")[0] for label in labels] == ["Full training", "With gradient checkpointing", "Inference", "int8 inference"]
    app.get_by_key("budget").set_value(0.5).run()
    assert not app.exception
    assert "over the budget" in app.metric[0].delta
    assert "to spare" in app.metric[3].delta


def test_nothing_within_the_limits_says_what_to_loosen():
    app = opened(limit__usd="0.01")
    assert title(app) == "Nothing allowed holds it within the limits"
    assert "would hold without the limits" in app.info[0].value


def test_too_many_ways_are_refused_in_words():
    app = opened(allow__batch=[str(batch) for batch in range(1, 60)], allow__region="", allow__family="")
    app.get_by_key("allow_gpus").set_value([1, 2, 4, 8, 16, 32, 64, 128])
    app.get_by_key("allow_accumulation_steps").set_value([1, 2, 4, 8, 16, 32, 64])
    app.get_by_key("go").click().run()
    assert not app.exception
    assert "multiplies most" in app.error[0].value
