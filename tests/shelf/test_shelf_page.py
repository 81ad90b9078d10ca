"""The Shelf page: a plan is put there, stands with its price then and now, and comes back in
another browser.
"""

import re
import sys
from dataclasses import replace
from urllib.parse import parse_qs, urlencode

import pandas as pd
import pytest
from examples import catalogs, recorded
from pages import address, job_line, loose, opened, run, title, turned

from calc.plan.drift import rows_now
from calc.plan.plan_bill import first_month
from shelf import stores
from shelf.plans import MOST_SHOWN, newest, save, take_off, versions
from shelf.states import newest_states

NAME = "[Plan](http://example.com) $x$ <b>"


pytestmark = pytest.mark.usefixtures("shelf")


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """An empty shelf for each test."""
    path = tmp_path / "shelf.sqlite3"
    monkeypatch.setenv("HEADROOM_SHELF", str(path))
    return stores.in_file(path)


def put(app, name, who):
    app.text_input(key="shelf_name").set_value(name)
    app.text_input(key="shelf_who").set_value(who)
    return run(labeled(app, "Put on the shelf").click())


def labeled(app, label):
    return next(button for button in app.button if button.label == label)


def texts(app):
    kinds = (app.success, app.error, app.warning, app.info, app.markdown, app.header)
    return "\n".join(loose(element.value) for kind in kinds for element in kind)


def test_a_plan_is_put_there_and_comes_back_in_another_browser():
    app = opened("shelf", model="llama-3.2-1b", gpus="4", kept="mine~model~gpt2")
    assert title(app) == "The shelf is empty"
    put(app, "Our 1B", "Ana")
    assert title(app) == "1 plan on the shelf"
    other = opened("shelf", model="gpt2")
    row = other.dataframe[0].value.iloc[0]
    assert (row["name"], row["saved_by"], row["moved"], row["now"]) == (
        "Our 1B",
        "Ana",
        "the same",
        row["then"],
    )
    run(labeled(other, "Open").click())
    plan = opened(model="llama-3.2-1b", gpus="4", kept="mine~model~gpt2")
    assert title(other) == title(plan)
    assert address(other) == address(plan)
    run(other.button(key="undo").click())
    assert address(other)["model"] == ["gpt2"]


def test_the_row_is_the_sum_of_the_bill():
    """The ticked answers of two jobs together, once and a month, then and now."""
    first = run(opened(model="llama-3.2-1b").button(key="keep").click())
    second = opened(**address(first) | {"goal": "serve", "model": "llama-3.1-8b"})
    second = turned(run(second.button(key="keep").click()), "shelf")
    billed = first_month(kept_rows(second))
    put(second, "Both", "Ana")
    row = second.dataframe[0].value.iloc[0]
    assert len(billed) == 2
    assert row["then"] == pytest.approx(billed["month_usd"].sum())
    assert row["now"] == pytest.approx(row["then"], rel=1e-4)
    assert row["moved"] == "the same"
    assert " once, and $" in row["answer"]


def kept_rows(app):
    """The kept answers of a session as its pages bill them."""
    answers = app.session_state["kept"]
    jobs = [answer.job for answer in answers]
    anew = [replace(answer, then={}) for answer in answers]
    return pd.DataFrame(rows_now(anew, catalogs())).assign(job=jobs, have="", in_bill="")


def test_a_price_of_then_stands_beside_todays_and_its_move_is_said(shelf):
    link = urlencode(address(opened(model="llama-3.2-1b")), doseq=True)
    usd = float(re.search(r"then_usd~([\d.]+)", link)[1])
    older = re.sub(
        r"(then_usd(?:_per_hour)?~)([\d.]+)",
        lambda match: match[1] + str(float(match[2]) / 2),
        link,
    )
    save(shelf, "Old", "Ana", "about half", older, usd / 2, 1.0)
    app = opened("shelf")
    assert "Shelf (1): one is up 100 %" in app.get_by_key("tab_compare").options
    row = app.dataframe[0].value.iloc[0]
    assert row["now"] == pytest.approx(usd, rel=1e-4)
    assert row["then"] == pytest.approx(usd / 2)
    assert row["moved"] == "100 % more"
    assert re.search(
        (
            r"g6e.xlarge on demand in N. Virginia: \\\$[\d.]+ → \\\$[\d.]+ an hour \(100 % "
            r"more\), its price of \d+ \w+ 20\d\d"
        ),
        texts(app),
    )


def test_of_two_who_save_one_name_the_second_is_told_and_both_stand(shelf):
    ana, ben = opened("shelf", model="gpt2"), opened("shelf", model="llama-3.2-1b")
    put(ana, "Ours", "Ana")
    put(ana, "Ours", "Ana")
    run(ben)
    put(ana, "Ours", "Ana")
    put(ben, "Ours", "Ben")
    assert "version 4. Ana saved this name too since you looked: both stand." in texts(ben)
    assert [item.saved_by for item in versions(shelf, "Ours")] == ["Ben", "Ana", "Ana", "Ana"]
    app = opened("shelf")
    assert [item.label for item in app.expander if "versions" in item.label] == ["All 4 versions"]
    assert "Version 4 by Ben" in texts(app)


def test_a_plan_is_taken_off_by_name_and_can_be_opened_all_the_same(shelf):
    app = put(opened("shelf", model="gpt2"), "Ours", "Ana")
    app.text_input(key="shelf_taken_by").set_value(" ")
    assert "needs a name of who saves it" in texts(run(app.button(key="take_off").click()))
    app.text_input(key="shelf_taken_by").set_value("Ben")
    run(app.button(key="take_off").click())
    assert title(app) == "The shelf is empty"
    assert re.search(r"\*\*Ours\*\*, by Ben, \d+ \w+ 20\d\d, .* UTC; before: ", texts(app))
    assert [version.saved_by for version in versions(shelf, "Ours")] == ["Ben", "Ana"]
    run(labeled(app, "Open").click())
    assert job_line(app).startswith("Fine-tune all weights of GPT-2 on ")


@pytest.mark.long
def test_a_plan_that_was_taken_off_two_hundred_times_is_still_listed(shelf):
    save(shelf, "tune", saved_by="Ana", answer="about $245", link="v=2&model=gpt2")
    for _ in range(MOST_SHOWN):
        take_off(shelf, "tune", "Ben")
    app = opened("shelf")
    assert not app.exception
    assert "by Ben" in texts(app)
    assert "before: about" in texts(app)


def test_what_is_typed_is_text_and_without_a_name_nothing_is_saved(shelf):
    app = put(opened("shelf", model="gpt2"), NAME, "<i>Ana</i>")
    assert newest(shelf)[0].name == NAME
    for raw in ("[Plan]", "](http", "$x", "<b>", "<i>"):
        assert not re.search(r"(?<!\\)" + re.escape(raw), texts(app))
    app = put(opened("shelf", model="gpt2"), "Ours", " ")
    assert "needs a name of who saves it" in texts(app)
    assert len(newest(shelf)) == 1


def test_a_plan_of_a_model_of_ones_own_has_its_price_of_today_too(shelf):
    sizes = {
        "layers": 16,
        "hidden": 2048,
        "heads": 32,
        "kv_heads": 8,
        "head_dim": 64,
        "ffn": 8192,
        "vocab": 128256,
    }
    custom = {f"custom__mine__{name}": str(value) for name, value in sizes.items()}
    app = opened(
        "shelf",
        **custom,
        custom__mine__model_type='"llama"',
        custom__mine__tied="true",
        model="mine",
    )
    put(app, "Mine", "Ana")
    assert opened("shelf").dataframe[0].value["moved"].tolist() == ["the same"]
    assert "custom.mine.hidden" in parse_qs(newest(shelf)[0].link)


def test_a_link_that_says_nothing_of_then_is_opened_all_the_same(shelf):
    save(shelf, "Bare", "Ana", "?", "model=gpt2&color=red")
    app = opened("shelf")
    assert "says nothing of its answer then" in texts(app)
    run(labeled(app, "Open").click())
    assert job_line(app).startswith("Fine-tune all weights of GPT-2 on ")
    assert "color=red" in texts(app)


@pytest.mark.parametrize(
    ("address_given", "installed", "sentence"), recorded("cases/shelf.json")["unusable"]
)
def test_an_address_that_cannot_be_used_says_what_to_do_and_never_the_password(
    monkeypatch, address_given, installed, sentence
):
    if installed:
        pytest.importorskip(
            "sqlalchemy", reason="SQLAlchemy is not installed: requirements/shelf.txt"
        )
    else:
        monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    monkeypatch.setenv("HEADROOM_SHELF", address_given)
    app = opened("shelf", model="gpt2")
    assert title(app) == "The shelf is out of reach"
    assert sentence in texts(app)
    assert "secret" not in texts(app)


def test_a_shelf_out_of_reach_costs_one_sentence_and_no_other_page(monkeypatch, tmp_path):
    monkeypatch.setenv("HEADROOM_SHELF", str(tmp_path / "no" / "folder" / "file"))
    app = opened("shelf", model="gpt2")
    assert title(app) == "The shelf is out of reach"
    assert "a link holds the whole plan without it" in texts(app)
    turned(app, "plan")
    assert job_line(app).startswith("Fine-tune all weights of GPT-2 on ")


def test_a_plan_is_proposed_approved_against_a_budget_and_filtered_by_state_and_team(
    shelf, monkeypatch
):
    owned = "mine~team~nlp~market~on-demand~model~gpt2~gpu~l4"
    app = opened("shelf", model="gpt2", kept=owned)
    put(app, "Ours", "Ana")
    put(app, "Theirs", "Ana")
    assert app.dataframe[0].value[["state", "team"]].values.tolist() == [["proposed", "nlp"]] * 2
    app.text_input(key="state_by").set_value("Bo")
    app.text_input(key="state_budget").set_value("nlp-q4")
    app.text_input(key="state_team").set_value("nlp, vision")
    run(app.button(key="state_approved").click())
    assert "**approved** by Bo" in texts(app)
    assert "against nlp-q4" in texts(app)
    assert app.selectbox(key="shelf_team").options == ["nlp", "vision"]
    run(app.selectbox(key="shelf_team").set_value("nlp"))
    assert app.dataframe[0].value["name"].tolist() == ["Theirs", "Ours"]
    run(app.selectbox(key="shelf_state").set_value("proposed"))
    assert app.dataframe[0].value["name"].tolist() == ["Ours"]
    monkeypatch.setenv("HEADROOM_APPROVERS", "Cleo, Dan")
    app.text_input(key="state_by").set_value("Bo")
    run(app.button(key="state_approved").click())
    assert "Bo may not decide here" in texts(app)
    assert newest_states(shelf)["Ours"].state == "proposed"
