"""The Compare page: kept scenarios side by side, named, moved and removed; a CSV of an earlier meeting kept or left."""

import re
from datetime import date

import pytest
from examples import billed_row, table
from pages import address, opened, page_text, run, title, turned

from calc.files.csv import tables as csv_tables
from calc.files.csv.earlier import MOST_ROWS
from calc.plan.bill import billed
from views.compare_and_bill.compare_panels import AGAIN, AWAY, LEFT, RIGHT

PAIR = ({"scenario": "plain"}, {"scenario": "8-bit", "optimizer": "adamw-8bit"})
HOLD = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3", "train_tokens": 1e9}
COMMON = "model~llama-3.1-8b~gpus~8~sharding~zero3~instance~p5.48xlarge~sequence_tokens~4096~train_tokens~150000000"
PLAIN = f"plain~market~on-demand~{COMMON}"
EIGHT_BIT = f"8-bit~market~on-demand~{COMMON}~optimizer~adamw-8bit"
ON_SPOT = f"on spot~market~spot~{COMMON}"
SERVED = "served~market~on-demand~work~inference~model~llama-3.1-8b~instance~g6e.xlarge~implementation~vllm~batch~8"
NO_PRICE = "a card~market~on-demand~model~llama-3.2-1b~gpu~h100-80gb-sxm"
REFUSED = f"refused~market~on-demand~{COMMON}~tensor_parallel~3"


def names(app):
    return [text.split("~")[0] for text in address(app).get("kept", [])]


def more(app, place, action):
    return run(app.menu_button(key=f"more_{place}").set_value(action))


def uploaded(app, content):
    content = content.encode() if isinstance(content, str) else content
    return run(app.file_uploader(key="uploaded").set_value(("plans.csv", content, "text/csv")))


def accept(app):
    return app.button(key="accept_earlier")


def test_with_nothing_kept_it_says_what_keeping_does_and_keeps_the_present_answers_and_one_alone_asks_for_a_second():
    app = opened("compare")
    assert title(app) == "Nothing is kept yet"
    assert "Two to six of them stand side by side" in page_text(app)
    run(app.button(key="keep_answers").click())
    assert 1 <= len(names(app)) <= 3
    assert app.button(key="keep_answers").disabled
    run(app.button(key="undo").click())
    assert names(app) == []
    alone = opened("compare", kept=[PLAIN])
    assert "Keep a second scenario" in page_text(alone)
    assert not alone.table


def test_choices_that_differ_come_first_and_differences_say_why(catalogs):
    app = opened("compare", kept=[PLAIN, EIGHT_BIT, ON_SPOT])
    row = billed_row(catalogs, **HOLD | {"train_tokens": 1.5e8})
    assert "“on spot” costs least" in title(app)
    differing = app.table[0].value
    assert list(differing.iloc[:, 0]) == ["Market", "Optimizer"]
    assert list(differing.columns[1:]) == ["plain", "8-bit", "on spot"]
    hourly = f"{row['usd_per_hour']:.2f} an hour on demand"
    for words in (": optimizer state", "on spot instead of on demand", hourly, "The others are compared with this one."):
        assert words in page_text(app)


def test_a_scenario_without_a_price_and_one_that_is_refused_stand_beside_the_others():
    app = opened("compare", kept=[PLAIN, NO_PRICE, REFUSED])
    assert "No instance, so no price" in page_text(app)
    assert "do not divide" in app.error[0].value
    assert (app.button(key="take_2").disabled, app.button(key="take_0").disabled) == (True, False)
    assert "compared with this one" not in page_text(opened("compare", kept=[REFUSED, PLAIN]))


def test_what_would_fail_is_marked_and_leads_in_nothing():
    app = opened("compare", kept=[PLAIN, f"too large~market~on-demand~{COMMON}~batch~16", EIGHT_BIT])
    assert "✗ does not fit" in page_text(app)
    assert "too large" not in title(app)


def test_scenarios_are_renamed_moved_duplicated_and_removed():
    app = opened("compare", kept=[PLAIN, EIGHT_BIT])
    run(app.text_input(key="name_0_plain").set_value("as it is"))
    assert names(app) == ["as it is", "8-bit"]
    assert names(more(app, 0, RIGHT)) == ["8-bit", "as it is"]
    assert names(more(app, 1, LEFT)) == ["as it is", "8-bit"]
    assert names(more(app, 1, AGAIN)) == ["as it is", "8-bit", "8-bit 2"]
    assert names(more(app, 0, AWAY)) == ["8-bit", "8-bit 2"]
    for _ in range(5):
        run(app.button(key="undo").click())
    assert names(app) == ["plain", "8-bit"]


def test_a_run_and_a_month_are_not_compared_in_all_and_either_becomes_the_plan():
    app = opened("compare", kept=[PLAIN, SERVED])
    assert "a run beside a month" in page_text(app)
    run(app.button(key="take_1").click())
    assert address(app)["goal"] == ["serve"]
    assert names(app) == ["plain", "served"]


def test_the_plan_that_a_scenario_became_costs_what_it_cost():
    rest = "tensor_parallel~1~batch~1"
    app = opened("compare", kept=[PLAIN, f"older~market~on-demand~{COMMON.replace('p5.48', 'p4d.24')}~recompute~full~{rest}"])
    for place in (0, 1):
        turned(app, "compare")
        run(run(app).button(key=f"take_{place}").click())
        before = app.table[1].value.set_index("").loc["USD in all"].iloc[place]
        turned(app, "pay")
        assert str(run(app).table[0].value["USD"].iloc[-1]).strip("*") == before.split(" ")[0]


def test_of_more_than_six_the_six_chosen_are_shown():
    app = opened("compare", kept=[PLAIN.replace("plain", f"copy {number}") for number in range(8)])
    assert len(app.multiselect(key="side_by_side").value) == 6
    run(app.multiselect(key="side_by_side").set_value(["copy 7", "copy 2"]))
    assert list(app.table[-1].value.columns[1:]) == ["copy 2"]  # what all share is said once
    run(app.text_input(key="name_7_copy 7").set_value("last"))
    assert app.multiselect(key="side_by_side").value == ["last", "copy 2"]


def test_a_csv_of_an_earlier_meeting_is_previewed_and_kept_in_one_step(catalogs):
    scenarios = {"scenario": "plain"}, {"scenario": "fresh", "batch": 2}, {"scenario": "8-bit", "optimizer": "lion"}
    rows = table(scenarios, **HOLD | {"sequence_tokens": 4096, "train_tokens": 1.5e8})
    older = billed(rows.assign(market="on-demand"), catalogs).assign(usd_per_hour_on_demand=99.0, prices_as_of="2026-01-02")
    app = uploaded(opened("compare", kept=[PLAIN, EIGHT_BIT]), csv_tables.to_csv(older))
    words = page_text(app)
    assert "1 new, 1 changed, 1 as kept" in words
    assert "Of 3 hourly prices in the file of 2026-01-02, 3 cost less today" in words
    shown = app.dataframe[0].value
    assert set(shown["then_usd_per_hour"]) == {99.0}
    assert names(app) == ["plain", "8-bit"]
    assert accept(app).label == "Keep 2 scenarios"
    run(accept(app).click())
    assert names(app) == ["plain", "8-bit", "fresh", "8-bit (plans)"]
    assert accept(app).disabled
    run(app.button(key="undo").click())
    assert names(app) == ["plain", "8-bit"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("scenario,model,batch\ngood,gpt2,1\nbad,gpt2,half\n", "Row 2: batch 'half' is not a whole number from 1 up to 1e+15"),
        ("scenario,model\ngood,gpt2\nbad,no-such\n", "Row 2: model 'no-such' is not in the catalog; choose one such as"),
    ],
)
def test_nothing_is_kept_of_a_file_that_is_not_understood_whole(content, sentence):
    app = uploaded(opened("compare", kept=[PLAIN]), content)
    assert (sentence in page_text(app), "Nothing is kept of a file that is not understood whole" in page_text(app)) == (True, True)
    assert accept(app).disabled
    assert names(app) == ["plain"]


@pytest.mark.parametrize(
    ("content", "sentence"),  # more: test_export.py
    [(b"\x89PNG\xff", "is not UTF-8"), (b"", "is empty"), (b"model\n" + b"gpt2\n" * (MOST_ROWS + 1), "at most")],
    ids=("picture", "empty", "too many"),
)
def test_a_file_that_is_no_table_costs_one_sentence(content, sentence):
    app = uploaded(opened("compare", kept=[PLAIN, EIGHT_BIT]), content)
    assert [sentence in error.value and "plans.csv" in error.value for error in app.error] == [True]
    assert len(app.table) == 3


def test_a_file_with_more_than_there_is_room_for_is_left():
    rows = "".join(f"s{number},gpt2,{number + 1}\n" for number in range(25))
    app = uploaded(opened("compare"), "scenario,model,batch\n" + rows)
    assert "There is room for 24 more scenarios" in page_text(app)
    assert accept(app).disabled


def test_what_has_changed_since_a_file_was_written_is_said_in_words(catalogs):
    rows = billed(table(PAIR, **HOLD).assign(market=["on-demand", "on-demand"]), catalogs)
    older = rows.assign(usd_per_hour_on_demand=49.0, usd=rows["usd"] / 2, memory_bytes=rows["memory_bytes"] * [1, 1.25], fits=["yes", "no"])
    content = csv_tables.dated_csv(older, catalogs, date(2026, 1, 2)).replace(catalogs.facts_version.encode(), b"00000000")
    words = page_text(uploaded(opened("compare"), content))
    assert "in the file of 2026-01-02, 2 cost more today" in words
    assert re.search(r"p5.48xlarge on demand in us-east-1: \$49.00 → \$55.04 an hour \(12 % more\), its price of \d+ \w+ 20", words)
    assert re.search(r"The memory per GPU has moved in 1 scenario, most in 8-bit: [\d.]+ GiB → [\d.]+ GiB \(20 % less\)", words)
    assert "The verdict of 8-bit was 'does not fit' and is 'fits' today." in words
    assert "Facts of the catalogs have changed." in words
    assert "formulas" not in words


def test_a_file_of_today_has_nothing_to_say_but_that(catalogs):
    rows = billed(table(PAIR, **HOLD).assign(market=["on-demand", "spot"]), catalogs)
    words = page_text(uploaded(opened("compare"), csv_tables.dated_csv(rows, catalogs, date.today())))
    assert ("none of 2 has moved" in words, "→" in words) == (True, False)
