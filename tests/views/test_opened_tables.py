"""A CSV opened on Compare & bill: rows estimated, wrong rows named, wrong files answered with one
sentence.
"""

import re
from datetime import date

import pandas as pd
import pytest
from examples import catalogs
from examples import table as table_of
from pages import address, opened, page_text, run
from test_compare_page import EIGHT_BIT, HOLD, PLAIN, names

from calc.files.csv import tables as csv_tables
from calc.files.csv.earlier import earlier, earlier_of
from calc.files.csv.tables import MOST_ROWS, people_csv
from calc.plan.bill import bill_rows
from calc.search.options import options
from views.compare_and_bill.earlier import _csv

ROWS = "scenario,model,gpus,sharding,instance,batch\n"
PAIR = ({"scenario": "plain"}, {"scenario": "8-bit", "optimizer": "adamw-8bit"})
GOOD = "plain,llama-3.2-1b,1,none,g6e.xlarge,1\n"


@pytest.fixture(scope="module")
def app():
    return opened("compare")


def uploaded(app, content, name="plans.csv"):
    """The page after a file was given."""
    content = content.encode() if isinstance(content, str) else content
    if not app.file_uploader:
        run(app.button(key="open_csv").click())
    run(app.file_uploader(key="uploaded").set_value((name, content, "text/csv")))
    return app


def accept(app):
    return app.button(key="accept_earlier")


def table(app):
    """The scenarios of the file as they are shown, or None."""
    return next((frame.value for frame in app.dataframe if "standing" in frame.value), None)


def test_wrong_rows_unknown_columns_and_missing_cells_are_said(app):
    uploaded(
        app,
        ROWS
        + "wrong,no-such-model,1,none,g6e.xlarge,1\n"
        + GOOD
        + ",llama-3.2-1b,1,none,g6e.xlarge,half\n",
    )
    assert not app.error
    assert "3 answers: 1 fit, 2 not understood." in " ".join(
        element.value for element in app.markdown
    )
    warning = app.warning[0].value
    assert "Row 1: " in warning
    assert "no-such-model" in warning
    assert "Row 3: batch 'half' is not a whole number" in warning
    shown = table(app)
    assert list(shown["name"]) == ["plain", "wrong", "Row 3"]
    assert list(shown["verdict"]) == ["fits", "refused", "refused"]
    assert [bool(problem) for problem in shown["problem"]] == [False, True, True]
    uploaded(app, "model,batch,gpus\nllama-3.2-1b,2\n")
    assert not app.error
    assert list(table(app)["gpus"]) == [1]
    uploaded(app, "model,color\nllama-3.2-1b,blue\n")
    assert "'color' that is unknown" in app.warning[0].value
    uploaded(app, ROWS + GOOD)
    app.file_uploader(key="uploaded").set_value(None).run()
    assert table(app) is None
    assert "earlier" not in app.session_state


def test_the_best_thousand_of_more_are_shown(app):
    uploaded(app, "model,batch\n" + "".join(f"gpt2,{batch}\n" for batch in range(1, 1202)))
    assert len(table(app)) == 1000
    assert any("The best 1,000 of 1,201 answers" in element.value for element in app.caption)


def test_what_the_page_writes_can_be_given_back_and_gives_the_same_rows_again(catalogs):
    scenarios, _ = csv_tables.scenarios_of(
        csv_tables.read_csv(ROWS + GOOD + "wrong,no-such-model,1,none,g6e.xlarge,1\n"), "the file"
    )
    content = _csv(earlier(scenarios, "plans.csv", catalogs))
    again, complaints = csv_tables.scenarios_of(csv_tables.read_csv(content), "the file")
    assert not complaints
    assert _csv(earlier(again, "plans.csv", catalogs)) == content


def test_a_csv_of_an_earlier_meeting_is_previewed_and_kept_in_one_step(catalogs):
    scenarios = (
        {"scenario": "plain"},
        {"scenario": "fresh", "batch": 2},
        {"scenario": "8-bit", "optimizer": "lion"},
    )
    rows = table_of(
        scenarios, **HOLD | {"sequence_tokens": 4096, "train_tokens": 1.5e8, "plan_months": 1}
    )
    older = bill_rows(rows.assign(market="on-demand"), catalogs).assign(
        usd_per_hour_on_demand=99.0, prices_as_of="2026-01-02"
    )
    app = uploaded(opened("compare", kept=[PLAIN, EIGHT_BIT]), csv_tables.to_csv(older))
    words = page_text(app)
    assert "1 new, 1 changed, 1 as kept" in words
    assert "Of 3 hourly prices in the file of 2026-01-02, 3 cost less today" in words
    shown = app.dataframe[0].value
    assert set(shown["then_usd_per_hour"]) == {99.0}
    assert names(app) == ["plain", "8-bit"]
    assert accept(app).label == "Keep 2 answers"
    run(accept(app).click())
    assert names(app) == ["plain", "8-bit", "fresh", "8-bit (plans)"]
    assert not app.file_uploader
    run(app.button(key="undo").click())
    assert names(app) == ["plain", "8-bit"]


def test_nothing_is_kept_of_a_file_that_is_not_understood_whole():
    app = uploaded(
        opened("compare", kept=[PLAIN]), "scenario,model,batch\ngood,gpt2,1\nbad,gpt2,half\n"
    )
    for words in (
        "Row 2: batch 'half' is not a whole number from 1 up to 1e+15",
        "Nothing is kept of a file that is not understood whole",
    ):
        assert words in page_text(app)
    assert accept(app).disabled
    assert names(app) == ["plain"]


@pytest.mark.parametrize(
    ("content", "sentence"),  # more: test_export.py
    [
        (b"\x89PNG\xff", "is not UTF-8"),
        (b"", "is empty"),
        (b"model\n" + b"gpt2\n" * (MOST_ROWS + 1), "at most"),
    ],
    ids=("picture", "empty", "too many"),
)
def test_a_file_that_is_no_table_costs_one_sentence(content, sentence):
    app = uploaded(opened("compare", kept=[PLAIN, EIGHT_BIT]), content)
    assert [sentence in error.value and "plans.csv" in error.value for error in app.error] == [True]
    assert names(app) == ["plain", "8-bit"]


def test_a_file_with_more_than_there_is_room_for_is_left():
    rows = "".join(f"s{number},gpt2,{number + 1}\n" for number in range(25))
    app = uploaded(opened("compare"), "scenario,model,batch\n" + rows)
    assert "There is room for 24 more answers" in page_text(app)
    assert accept(app).disabled


def test_what_has_changed_since_a_file_was_written_is_said_in_words(catalogs):
    rows = bill_rows(table_of(PAIR, **HOLD).assign(market=["on-demand", "on-demand"]), catalogs)
    older = rows.assign(
        usd_per_hour_on_demand=49.0,
        usd=rows["usd"] / 2,
        needed_bytes=rows["needed_bytes"] * [1, 1.25],
        fits=["yes", "no"],
    )
    content = csv_tables.dated_csv(older, catalogs, date(2026, 1, 2)).replace(
        catalogs.facts_version.encode(), b"00000000"
    )
    words = page_text(uploaded(opened("compare"), content))
    assert "in the file of 2026-01-02, 2 cost more today" in words
    assert re.search(
        (
            r"p5.48xlarge on demand in N. Virginia: \$49.00 → \$55.04 an hour \(12 % more\), its "
            r"price of \d+ \w+ 20"
        ),
        words,
    )
    assert re.search(
        (
            r"The memory per GPU has moved in 1 scenario, most in 8-bit: [\d.]+ GiB → [\d.]+ GiB "
            r"\(20 % less\)"
        ),
        words,
    )
    assert "The verdict of 8-bit was 'does not fit' and is 'fits' today." in words
    assert "Facts of the catalogs have changed." in words
    assert "formulas" not in words


def test_a_file_of_today_has_nothing_to_say_but_that(catalogs):
    rows = bill_rows(table_of(PAIR, **HOLD).assign(market=["on-demand", "spot"]), catalogs)
    words = page_text(
        uploaded(opened("compare"), csv_tables.dated_csv(rows, catalogs, date.today()))
    )
    assert ("none of 2 has moved" in words, "→" in words) == (True, False)


def test_what_a_file_assumes_of_a_row_stays_when_it_is_kept():
    columns = "scenario,work,model,instance,gpus,implementation,batch,spare"
    app = uploaded(
        opened("compare"), f"{columns}\nchat,inference,llama-3.2-1b,g6e.xlarge,1,vllm,4,2\n"
    )
    run(accept(app).click())
    assert app.session_state["kept"][0].scenario["spare"] == 2
    assert "spare~2" in address(app)["kept"][0]


def test_the_csv_that_people_read_shows_its_cost_and_memory_then_beside_those_of_today(app):
    rows = options({"work": "training", "model": "llama-3.2-1b"}, catalogs()).rows[:1]
    uploaded(app, people_csv(pd.DataFrame(rows), catalogs()).decode("utf-8-sig"))
    (shown,) = table(app).to_dict("records")
    assert shown["then_usd"] == pytest.approx(shown["usd"])
    assert shown["then_gib"] == pytest.approx(shown["needed_gib"])
    assert shown["prices_as_of"] == rows[0]["on_demand_as_of"]
    assert "problem" not in shown


@pytest.mark.parametrize(
    ("decision", "read"),
    [
        ("Take Lion; Ana, against $500", "Take Lion; Ana, against $500"),
        ("Take it; batch=64", "Take it, batch=64"),  # no setting of the scenario
    ],
)
def test_the_csv_that_people_read_keeps_name_and_decision_and_none_of_them_sets_a_column(
    decision, read, catalogs
):
    rows = options({"work": "training", "model": "llama-3.2-1b"}, catalogs).rows[:1]
    named = pd.DataFrame(rows).assign(scenario="ours; the second", in_bill="yes", decision=decision)
    earlier = earlier_of(people_csv(named, catalogs), "it", catalogs)
    assert (earlier.meeting.decision, earlier.rows["scenario"].tolist()) == (
        read,
        ["ours; the second"],
    )
    assert earlier.rows["batch"].tolist() == named["batch"].tolist()
    assert earlier.rows["memory_bytes"].tolist() == named["memory_bytes"].tolist()
