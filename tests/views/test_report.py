"""The report: what it says is the plan's, it opens without a network, and nothing in it can be
run.
"""

import re
from dataclasses import replace
from datetime import date
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from examples import catalogs
from pages import address, all_columns, opened, run, with_share

from calc.answers.full_answer import full_answer as options
from calc.files.csv import tables as csv_tables
from calc.files.link.short import expand
from calc.plan.figures import records
from calc.say.job import job_sentence
from calc.say.near_ties import near_ties_heading
from calc.say.place import place
from calc.studies.assumptions import assumptions_of
from calc.studies.near_ties import near_ties
from views.frame import report
from views.shared import answer_words as plan_words

DAY = date(2026, 11, 22)
LINK = "http://localhost:8501/?model=llama-3.1-8b&name=%3Cscript%3E"


@pytest.fixture(scope="module", params=["training", "inference"])
def answered(request):
    result = options({"work": request.param, "model": "llama-3.1-8b"}, catalogs())
    return result, job_sentence(result.job, catalogs()), plan_words.heading(result, catalogs())


def text_of(html):
    """The text of a page, without its tags."""
    return unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL))


def test_the_report_says_what_the_plan_says_with_days_and_sources_and_needs_no_network(answered):
    result, job, heading = answered
    page = report.html(result, LINK, DAY, catalogs())
    text = text_of(page)
    assert text.index(job) < text.index(heading)
    assert near_ties_heading(near_ties(result), result) in text
    for row in records(result.answers):
        assert place(row, catalogs()) in text
        assert plan_words.money_and_time(row) in text
    assert "2026-11-22" in text
    assert {unescape(address) for address in re.findall(r"(?:src|href)=[\"']([^\"']*)", page)} == {
        LINK
    }
    assert not re.search("<(script|link|img|iframe)", page)
    assert page.count("<svg") >= 1 + len(result.answers)
    assert re.search(r"\d{4}-\d\d-\d\d", text.split("Prices")[1])
    read = assumptions_of(result.rows[0], catalogs())
    assert 5 < len(read) < len(catalogs().assumptions)
    for name, label in catalogs().assumptions["label"].items():
        assert (str(label) in text) == (name in read), name


def test_the_minutes_are_one_table_and_what_is_typed_cannot_become_markup(answered):
    result, job, heading = answered
    lines = report.markdown(result, LINK, DAY, catalogs()).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + len(result.answers)
    assert {line.count(" | ") for line in table} == {len(report.HEADS) - 1}
    assert lines[0] == f"## {job}"
    assert lines[2] == f"**{heading}.**"
    assert LINK in lines[-1]
    named = replace(result, job=result.job | {"model": "<script>alert(1)</script>"})
    text = report.html(named, "javascript:'><b>", DAY, catalogs())
    assert "&lt;script&gt;alert(1)" in text
    assert "<script" not in text
    assert "'><b>" not in text


def test_a_job_without_a_plan_has_a_report_too_and_the_plan_page_gives_it():
    result = options({"work": "training", "model": "llama-3.1-405b", "usd_most": 1}, catalogs())
    for text in (
        text_of(report.html(result, LINK, DAY, catalogs())),
        report.markdown(result, LINK, DAY, catalogs()),
    ):
        assert plan_words.heading(result, catalogs()) in text
        assert plan_words.cure(result, catalogs()) in text
    app = opened(model="llama-3.2-1b")
    with_share(app)
    assert any(
        block.value.startswith("## Fine-tune all weights of Llama 3.2 1B on 150 million tokens ")
        for block in app.code
    )
    assert not app.error


def test_share_carries_the_plan_away_from_every_page_and_takes_changes_back():
    app = with_share(opened("accuracy", model="llama-3.2-1b"))
    link, minutes = (block.value for block in app.code)
    said, _ = expand(parse_qs(urlsplit(link).query))
    assert said["model"] == ["llama-3.2-1b"]
    assert link in minutes
    assert app.get("download_button")[0].label == "Report (HTML)"
    assert app.button(key="redo").disabled
    run(app.button(key="reset").click())
    assert address(app)["model"] == ["llama-3.1-8b"]
    run(app.button(key="undo").click())
    assert address(app)["model"] == ["llama-3.2-1b"]
    run(app.button(key="redo").click())
    assert address(app)["model"] == ["llama-3.1-8b"]


def test_the_csv_begins_with_the_job_and_is_read_back(answered):
    result, job, _ = answered
    written = all_columns(result, catalogs(), DAY)
    table = csv_tables.read_csv(written)
    assert table.columns[0] == "job"
    assert set(table["job"]) == {job}
    assert csv_tables.scenarios_of(table, "the file")[1] == []
