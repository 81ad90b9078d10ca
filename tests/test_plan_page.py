"""The Plan page: heading, cards, board and CSV say one thing in every state; looking at a row moves only what follows it."""

import io
from datetime import date

import pandas as pd
import pytest
from examples import recorded
from pages import address, opened, run, texts, title

from calc.cost.markets import MARKETS
from calc.files.csv import tables as csv_tables
from calc.files.link import link
from calc.say.numbers import about, span, spoken_span
from calc.search.board import COLUMN, ORDERS, ordered
from views.frame import share
from views.session import present_plan
from views.shared.row_words import time_rests_on

DAY = date(2026, 11, 22)
STATES = recorded("cases/plan_page.json")["states"]
TABS = ("Precisions", "Optimizers", "GPU counts", "Batch", "Cost against time")


@pytest.fixture
def shown_options(monkeypatch):
    """The options that the page works out, in their order; the last are those on screen."""
    seen, present = [], present_plan.present

    def noted(catalogs):
        result = present(catalogs)
        seen.append(result.options)
        return result

    monkeypatch.setattr(present_plan, "present", noted)
    return seen


def board(app):
    return next(frame.value for frame in app.dataframe if "tank" in frame.value)


@pytest.mark.parametrize("state", STATES)
def test_heading_cards_board_and_csv_are_of_one_table(state, shown_options, catalogs):
    app = opened(v="3", **STATES[state])
    options = shown_options[-1]
    first = options.board.iloc[0]
    where = f"{first['instances_needed']:.0f} × {first['instance']}"
    heading = title(app).replace("\\$", "$")
    assert about(first["usd"]) in heading
    assert where in heading
    cards = [metric for metric in app.metric if metric.label != "Over all instances"]
    assert [metric.value.replace("\\$", "$") for metric in cards] == [about(money) for money in options.answers["usd"]]
    if first["work"] == "training":
        assert first["answer"] == "nearest" or f", in {spoken_span(first['hours'])}, on {where}" in heading
        assert all(span(hours) in card.delta for card, hours in zip(cards, options.answers["hours"], strict=True))
    assert any(text.startswith(f"**{where}") for text in texts(app))
    rests_on = f"which is {options.answers['memory_basis'].iloc[0]}. Its time: {time_rests_on(options.answers.iloc[0])}."
    assert any(text.endswith(rests_on) for text in texts(app))
    shown = board(app)
    assert shown["usd"].to_list() == pytest.approx(options.board["usd"].to_list(), nan_ok=True)
    assert shown["name"].iloc[0].startswith(where)
    written = pd.read_csv(io.BytesIO(share.csv(options, catalogs, DAY)))
    for name in ("answer", "instance", "instances_needed", "usd", "hours", "usd_per_hour", "memory_bytes"):
        assert written[name].iloc[0] == pytest.approx(first[name])
    assert set(written["answer"].dropna()) == set(options.answers["answer"])
    assert len(written) >= len(options.board)
    scenarios, _ = csv_tables.scenarios_of(csv_tables.read_csv(share.csv(options, catalogs, DAY)), "the file")
    assert scenarios["instance"].iloc[0] == first["instance"]
    assert len(scenarios) == len(written)
    if state in ("training", "serving"):  # no budget: the fastest costs at most three times the least
        assert options.job["usd_most"] is None
        assert options.answers["usd"].max() <= 3 * options.answers["usd"].iloc[0] * 1.001


def test_a_restriction_is_said_with_what_it_costs(shown_options):
    app = opened(v="3", instance="p4d.24xlarge")
    assert any("On p4d.24xlarge, as set by hand" in text and "over all" in text for text in texts(app))
    free = next(metric for metric in app.metric if metric.label == "Over all instances")
    app = run(app.button(key="free_instances").click())
    assert about(shown_options[-1].answers["usd"].iloc[0]) == free.value.replace("\\$", "$")
    assert "instance" not in address(app)
    assert not any("set by hand" in text for text in texts(app))


@pytest.mark.parametrize(
    ("query", "sentence", "before", "after"),
    [
        ({"model": "gpt-oss-120b", "fewest_bits": "16"}, "The weights are published in 4 bits", "bf16", "mxfp4"),
        ({"model": "qwen2.5-32b", "people": "20"}, "In 16 bits: about $", "fp8", "bf16"),
    ],
)
def test_published_bits_and_16_bits_are_one_press_away_with_their_money(query, sentence, before, after, shown_options):
    app = opened(v="3", goal="serve", **query)
    assert shown_options[-1].rows[0]["precision"] == before
    (offered,) = [text for text in texts(app) if text.startswith(sentence)]
    app = run(app.button(key="allow_bits").click())
    assert (shown_options[-1].rows[0]["precision"], address(app)["fewest_bits"] == query.get("fewest_bits")) == (after, False)
    assert about(shown_options[-1].rows[0]["usd"]) in offered
    assert not any(text.startswith(sentence) for text in texts(app))


def test_a_spare_machine_is_one_press_away_with_its_money_and_one_press_back(shown_options):
    app = opened(v="3", goal="serve", model="qwen2.5-32b", people="20")
    without = about(shown_options[-1].rows[0]["usd"])
    for spare, start in ((1, "To keep running when a machine fails: about $"), (0, "Without a spare machine: about $")):
        (offered,) = [text for text in texts(app) if text.startswith(start)]
        app = run(app.button(key="take_spare").click())
        least = shown_options[-1].rows[0]
        assert (least["spare"], about(least["usd"]) in offered) == (spare, True)
    assert about(least["usd"]) == without
    assert not any("spare machine" in text for text in texts(opened(v="3")))


def test_nothing_within_the_limits_or_nothing_possible_says_what_is_in_the_way(shown_options):
    app = opened(v="3", instance=["g5.xlarge", "g6.xlarge"])
    assert title(app).startswith("Nothing allowed is large enough: ")
    assert shown_options[-1].problem
    assert app.warning[0].value
    assert [metric.label for metric in app.metric] == ["Over all instances"]
    assert not app.dataframe
    app = opened(v="3", **STATES["nothing within the limits"])
    assert title(app).startswith("Nothing keeps every limit: the nearest plan, ")
    assert any("allowed" in text for text in texts(app))
    assert [metric.label for metric in app.metric] == ["Nearest"]
    assert "misses" in board(app)


def test_looking_at_an_answer_moves_the_memory_and_keeping_it_fills_the_kept_once(shown_options):
    app = opened()
    before = title(app)
    fastest = shown_options[-1].answers.iloc[1]
    app = run(app.button(key="look_1").click())
    assert title(app) == before
    assert f"{fastest['instances_needed']:.0f} × {fastest['instance']}" in app.subheader[0].value
    assert address(app)["looked"]
    again = opened(**address(app))
    assert again.subheader[0].value == app.subheader[0].value
    app = opened()
    app = run(app.button(key="keep_0").click())
    assert len(app.session_state["kept"]) == 1
    assert app.button(key="keep_0").label == "Kept"
    assert app.button(key="keep_0").disabled
    app = run(app.button(key="undo").click())
    assert not app.session_state["kept"]


def test_the_board_is_sorted_by_its_switch(shown_options, catalogs):
    app = opened(v="3", model="llama-3.2-3b")
    for by in ORDERS:
        run(app.segmented_control(key="sort").set_value(by))
        rows = ordered(shown_options[-1].board, by)
        assert board(app)["usd"].to_list() == pytest.approx(rows["usd"].to_list(), nan_ok=True), by
        possible = rows[rows["usd"].notna() & (rows["fits"] == "yes") & (rows["misses"] == "") & (rows["runs"] == "yes")]
        values = possible[COLUMN.get(by, "usd")]
        assert values.is_monotonic_decreasing if by == "headroom" else values.iloc[1:].is_monotonic_increasing, by
        assert possible.index.to_list() == list(range(len(possible)))
        assert address(app)["sort"] == [by]
        assert link.parse(address(app), catalogs)[1] == []


def test_what_is_compared_has_a_column_of_its_own(shown_options):
    app = opened(v="3", model="llama-3.2-1b", optimizer=["adamw", "adamw-8bit"], gpus=["1", "2"])
    shown = board(app)
    assert set(shown["optimizer"]) == {"AdamW", "AdamW 8-bit"}
    assert set(shown["gpus"]) == {"1", "2"}
    assert len(shown) == len(shown_options[-1].board)


@pytest.mark.parametrize("state", ["training", "serving"])
def test_a_tab_draws_only_while_it_is_open(state):
    app = opened(v="3", **STATES[state])
    tabs = [tab for tab in TABS if (tab, state) != ("Optimizers", "serving")]
    for tab in tabs:
        app.session_state["tab"] = tab
        panes = {pane.label: pane for pane in run(app).tabs}
        assert list(panes) == tabs
        assert [label for label, pane in panes.items() if len(pane.children)] == [tab]
        assert len(panes[tab].get("vega_lite_chart")) == (3 if tab in ("GPU counts", "Batch") else 1), tab


def test_three_changes_come_first_and_other_work_is_the_last_of_them_and_named_so():
    app = run(opened())
    taken = [button for button in app.button if button.key and button.key.startswith("take_")]
    effects = [text for text in texts(app) if text.endswith(".") and ("GiB less" in text or "% less" in text)]
    assert (len(taken), "Other training: check the quality" in effects[-1]) == (3, True)
    assert not any("Other training" in text for text in effects[:-1])
    assert {button.label.lower() for button in taken}.isdisjoint(market.label for market in MARKETS.values())
    app.session_state["more_changes"] = True
    every = [button.label for button in run(app).button if button.key and button.key.startswith("take_")]
    assert (len(every) > 3, len(set(every)), every[:3]) == (True, len(every), [button.label for button in taken])
    before = address(app)
    app = run(app.button(key=taken[0].key).click())
    assert address(app) != before
    app = run(app.button(key="undo").click())
    assert address(app) == before


def test_nothing_is_worked_out_twice(monkeypatch):
    """A rerun without a change estimates nothing."""
    app = run(opened())
    from calc.search import comparisons

    calls = []
    for module, name in ((comparisons, "estimate"), (present_plan, "options")):
        plain = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *arguments, plain=plain, name=name: calls.append(name) or plain(*arguments))
    run(app)
    assert "estimate" not in calls


@pytest.mark.parametrize("state", ["training", "serving"])
def test_a_row_of_a_comparison_becomes_the_plan(state, shown_options):
    app = opened(v="3", **STATES[state])
    for tab, column in (("Precisions", "precision"), ("GPU counts", "gpus"), ("Batch", "batch")):
        app.session_state["tab"] = tab
        box = run(app).selectbox(key=f"use_{column}")
        other = next(option for option in box.options if str(shown_options[-1].answers.iloc[0][column]) not in option)
        run(box.set_value(other))
        assert app.session_state[column], "set by hand"
        assert app.selectbox(key=f"use_{column}").value is None
