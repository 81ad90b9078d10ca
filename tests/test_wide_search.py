"""The wide search on the Plan page: closed at first, its sets and limits in the link, stale where
the plan moved on, one click to take.
"""

import pytest
from pages import address, opened, run, title

from calc.search.job_row import JobError
from views.plan import wider_search


def searched(**query):
    """The Plan page under an address, with the search open."""
    app = opened(v="3", **query)
    app.session_state["wider"] = True
    return run(app)


def metrics_of(app):
    """The metrics of the search: those below the answers."""
    labels = ("Least money for", "Least money a", "Fastest within")
    return [element for element in app.metric if element.label.startswith(labels)]


def counted(app):
    """How many combinations were looked at."""
    text = next(words.value for words in app.markdown if " combinations in " in words.value)
    return int(text.split(" combinations")[0].replace(",", ""))


def test_nothing_is_searched_before_it_is_opened_nor_again_unasked():
    app = opened()
    assert "found" not in app.session_state
    assert not any("combinations in" in words.value for words in app.markdown)
    app = searched()
    before = [metric.value for metric in metrics_of(app)]
    app = run(app.get_by_key("model").set_value("llama-3.2-1b"))
    assert [metric.value for metric in metrics_of(app)] == before
    assert any("an earlier plan" in words.value for words in app.warning)
    app = run(app.get_by_key("again").click())
    assert not app.warning
    assert [metric.value for metric in metrics_of(app)] != before


def test_a_search_answers_at_once_and_a_plan_is_taken_with_one_click():
    app = searched()
    assert counted(app) > 250_000
    assert [metric.label for metric in metrics_of(app)][:2] == [
        "Least money for the run",
        "Least money an hour",
    ]
    assert [button.label for button in app.button].count("Make it the plan") == 3
    row = app.session_state["found"]["rows"].iloc[0]
    app = run(app.segmented_control(key="found_cost").set_value("carbon_kg"))
    assert any("the least that each time emits" in words.value for words in app.caption)
    app = run(app.get_by_key("take_cheapest").click())
    assert f"{row['instances_needed']:.0f} × {row['instance']}" in title(app)
    query = address(app)
    assert len(query["instance"]) == len(query["precision"]) == len(query["optimizer"]) == 1
    assert query["examples"] == ["50000"]


def test_it_starts_from_the_markets_and_regions_of_the_job():
    app = searched(model="qwen2.5-7b", markets="spot", regions="us-west-2")
    assert app.session_state["allowed"]["market"] == ["spot"]
    assert app.session_state["allowed"]["region"] == ["us-west-2"]
    assert address(app)["regions"] == ["us-west-2"]
    assert searched(regions="anywhere").session_state["allowed"]["region"] == []


def test_limits_and_sets_go_into_the_link_and_come_back_open():
    app = searched()
    app.get_by_key("limit_usd_per_hour").set_value(5.0)
    app.get_by_key("allow_optimizer").set_value(["adamw-8bit"])
    app = run(app.get_by_key("go").click())
    query = address(app)
    assert query["limit.usd_per_hour"] == ["5"]
    assert query["allow.optimizer"] == ["adamw-8bit"]
    again = opened(**query)
    assert "found" not in again.session_state  # opening a link costs nothing
    assert any("came with the link" in words.value for words in again.info)
    again = run(again.get_by_key("again").click())
    assert counted(again) == counted(app)
    assert [metric.value for metric in metrics_of(again)] == [
        metric.value for metric in metrics_of(app)
    ]


def test_nothing_within_the_limits_says_what_to_loosen():
    app = run(searched(limit__usd="0.01").get_by_key("again").click())
    assert any(
        words.value.startswith("In this search nothing keeps every limit: the nearest plan, ")
        for words in app.info
    )


def test_too_many_combinations_are_refused_in_words():
    app = searched(
        allow__batch=[str(batch) for batch in range(1, 60)], allow__region="", allow__family=""
    )
    app.get_by_key("allow_gpus").set_value([1, 2, 4, 8, 16, 32, 64, 128])
    for name in ("optimizer", "loss", "offload", "recompute", "sharding", "precision"):
        app.get_by_key(f"allow_{name}").set_value(app.get_by_key(f"allow_{name}").options)
    app.get_by_key("allow_accumulation_steps").set_value([1, 2, 4, 8, 16, 32, 64])
    app = run(app.get_by_key("go").click())
    assert any("take fewer of batch" in words.value for words in app.error)


@pytest.mark.long
def test_a_search_that_was_stopped_says_so_and_begins_anew_when_asked():
    app = searched(model="gpt2")
    made = {
        name: value
        for name, value in app.session_state["found"].items()
        if name not in ("search", "seconds")
    }
    app.session_state["found"] = made | {"problem": wider_search.STOPPED}
    run(app)
    assert wider_search.STOPPED in [element.value for element in app.error]
    run(app.button(key="go").click())
    assert not app.error
    assert counted(app) > 1000


def test_a_slow_search_shows_one_way_to_stop_it(monkeypatch):
    labels, drawn = [], wider_search.st.button

    def slow(_row, _catalogs, progress):
        progress(0.5)
        progress(0.75)
        raise JobError("enough")

    monkeypatch.setattr(wider_search, "SLOW_SECONDS", 0.0)
    monkeypatch.setattr(wider_search, "wide_search", slow)
    monkeypatch.setattr(
        wider_search.st,
        "button",
        lambda label, **more: labels.append(label) or drawn(label, **more),
    )
    app = searched(model="gpt2")
    assert labels.count("Stop") == 1
    assert "stop_search" not in [element.key for element in app.button]
