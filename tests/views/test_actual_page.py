"""The tab What it cost: files and typed dollars beside the plans, questions, attempts."""

import pytest
from bills import as_csv, cur, focus, line
from pages import address, opened, page_text, run, title
from test_compare_page import PLAIN, SERVED

from calc.files.link.link import VIEWS
from views.session.tabs import TABS

SEARCH = SERVED.replace("served", "search", 1).replace("llama-3.1-8b", "qwen2.5-7b")


def given(app, *files):
    """The page after files of a bill were given."""
    files = [(name, content, "text/csv") for name, content in files]
    return run(app.file_uploader(key="actual_files").set_value(files))


def shown(app):
    """The cells of the table of plans."""
    return [[str(cell).replace("\\", "") for cell in row] for row in app.table[0].value.to_numpy()]


def test_the_tabs_that_a_link_may_open_are_those_of_the_pages():
    assert {*VIEWS} == {tab for tabs in TABS.values() for tab in tabs}


@pytest.mark.long
def test_a_bill_is_shown_beside_the_kept_plans_and_its_attempts_are_taken():
    app = opened("actual", kept=[PLAIN, SERVED])
    assert title(app) == "What did it really cost?"
    lines = [
        line(1, 300.0, 5.0, tags={"plan": "plain"}),
        line(30, 2000.0, 720.0, instance="g6e.xlarge", tags={"plan": "served"}),
    ]
    given(app, ("bill.csv.gz", as_csv(cur(lines), packed=True)))
    rows = {row[0]: row for row in shown(app)}
    assert (rows["plain"][2], rows["plain"][4]) == ("$300", "further attempts")
    assert rows["served"][2:4] == ["$2,000", "149 %"]
    assert "was paid for what was planned at" in title(app)
    (button,) = [one for one in app.button if one.label == "Plan with that"]
    run(button.click())
    assert any("attempts" in text for text in address(app)["kept"])
    run(app.button(key="actual_forget").click())
    assert title(app) == "What did it really cost?"


@pytest.mark.long
def test_a_bad_file_costs_one_sentence_and_loses_nothing():
    app = opened("actual", kept=[PLAIN])
    given(app, ("plans.csv", b"model,usd\ngpt2,3\n"))
    assert "is a plan and not a bill" in app.error[0].value
    assert len(address(app)["kept"]) == 1


@pytest.mark.long
def test_two_plans_on_one_machine_are_asked_about():
    app = opened("actual", kept=[SERVED, SEARCH])
    given(app, ("focus.csv", as_csv(focus([line(3, 100.0, 50.0, instance="g6e.xlarge")]))))
    (question,) = [box for box in app.selectbox if "which plan is it" in box.label]
    assert question.options == ["served", "search", "None of them"]
    run(question.set_value("search"))
    assert {row[0]: row[2] for row in shown(app)} == {"served": "$0.00", "search": "$100"}
    run(app.number_input(key="actual_budget").set_value(1000.0))
    assert "$100 of $1,000 is spent; at $" in page_text(app).replace("\\", "")


def test_typed_dollars_are_a_bill_of_the_present_plan():
    app = opened("actual")
    run(app.number_input(key="actual_usd").set_value(120.0))
    run(app.button(key="actual_compare").click())
    assert shown(app)[0][2] == "$120"
    assert shown(app)[0][4] == "not known: the bill has no hours"
