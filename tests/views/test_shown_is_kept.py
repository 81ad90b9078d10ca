"""What is shown is what is kept: heading, frame of the card, memory, advice, Keep, Share and launch
kit name one row, whichever answer was chosen and however the job changes after that.
"""

import re
from types import SimpleNamespace

import pytest
from pages import address, cards, html_texts, loose, opened, run, title

from calc.say.cards import Card
from calc.say.numbers import about
from views.plan import answer_cards, changes

JOBS = {
    "run": {"model": "llama-3.2-1b"},
    "run with three answers": {"model": "llama-3.1-8b"},
    "service": {"goal": "serve", "model": "llama-3.1-8b", "people": "40"},
}
CONTROLS = {  # every field of the sidebar, and another value for it
    "run": {
        "selectbox": {"method": "lora", "objective_asked": "dpo", "model": "qwen3-1.7b"},
        "number_input": {
            "epochs": 2.0,
            "days_most": 2.0,
            "usd_most": 400.0,
            "usd_per_hour_most": 60.0,
            "gpu_hours_most": 300.0,
            "instances_most": 4,
        },
        "text_input": {
            "examples_written": "40k",
            "example_tokens_written": "700",
            "sequence_tokens_written": "2,048",
            "step_tokens_written": "65536",
        },
    },
    "service": {
        "selectbox": {
            "model": "qwen3-8b",
            "fewest_bits": "16",
            "load": "users",
            "limits_hold_for": "90",
        },
        "number_input": {
            "people": 60,
            "active_percent": 25.0,
            "first_token_seconds": 2.0,
            "token_ms": 60.0,
            "spare": 1.0,
            "usd_most": 9000.0,
            "usd_per_hour_most": 12.0,
            "gpu_hours_most": 3000.0,
            "instances_most": 4,
        },
        "text_input": {"request_tokens_written": "4k"},
        "slider": {"split": 3000},
    },
}
CHANGES = {
    "run": ("text_input", "example_tokens_written", "500"),
    "run with three answers": ("text_input", "example_tokens_written", "900"),
    "service": ("number_input", "people", 80),
}


def framed(app):
    """The titles of the cards whose frame says that they are shown."""
    return [
        element.proto.body.split("</div>")[0].rpartition(">")[2]
        for element in app.get("html")
        if "border:2px solid" in element.proto.body
    ]


def all_name_one_row(app):
    """Every place that names the answer names the machines and the cost of the one that is kept."""
    for opens in ("share", "launch_kit"):
        app.session_state[opens] = True
    app = run(app.button(key="keep").click())
    entry = app.session_state["kept"][-1]
    where = re.search(r"\d+ × [\w.-]+", loose(title(app)))[0]
    assert entry.scenario["instance"] in where
    assert about(entry.then["usd"]) in title(app).replace("\\$", "$")
    memory = [text.value for text in app.header if text.value.startswith("What is in the memory")]
    assert where in loose(memory[0])
    card = next(text for text in cards(app) if text.startswith(tuple(framed(app))))
    assert about(entry.then["usd"]) in card
    codes = [code.value for code in app.code]
    minutes = next(code for code in codes if code.startswith("##"))
    assert about(entry.then["usd"]) in minutes.splitlines()[2]
    assert where in minutes.splitlines()[2]
    files = "\n".join(code for code in codes if code != minutes)
    assert entry.scenario["instance"] in files
    return entry


def test_a_frame_is_around_the_card_of_the_market_that_is_shown():
    """One instance type may be the answer twice, On-Demand and in a capacity block."""
    row = {"instance": "p5.48xlarge", "gpus": 8, "memory_bytes": 1.0, "seconds": 2.0}
    block, on_demand = (row | {"market": market} for market in ("capacity-block", "on-demand"))
    shown = SimpleNamespace(row=block)
    assert answer_cards.is_shown(Card("Easiest to get", block, "", {}, ""), shown)
    assert not answer_cards.is_shown(Card("Lowest cost", on_demand, "", {}, ""), shown)


CARDS = [("run", 1), ("run with three answers", 2), ("service", 1)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(("kind", "number"), CARDS)
def test_a_role_is_kept_as_shown_before_and_after_the_job_changes(kind, number, monkeypatch):
    advised = []
    advise = changes.changes
    monkeypatch.setattr(
        changes, "changes", lambda row, *more: advised.append(row) or advise(row, *more)
    )
    app = opened(v="3", **JOBS[kind])
    app = run(app.button(key=f"show_card_{number}").click())
    role = framed(app)
    assert len(role) == 1
    widget, key, value = CHANGES[kind]
    changed = run(getattr(app, widget)(key=key).set_value(value))
    assert [name[:6] for name in framed(changed)] == [role[0][:6]]
    again = opened(**address(changed))
    assert framed(again) == framed(changed)
    assert title(again) == title(changed)
    entry = all_name_one_row(changed)
    assert advised[-1]["instance"] == entry.scenario["instance"]
    assert advised[-1]["usd"] == pytest.approx(entry.then["usd"], rel=1e-4)


@pytest.mark.sample(2)
@pytest.mark.long
@pytest.mark.parametrize("kind", CONTROLS)
def test_what_is_shown_is_what_is_kept_after_a_change_of_any_field_of_the_job(kind):
    app = opened(v="3", **JOBS[kind])
    for widget in ("selectbox", "number_input", "text_input", "slider"):
        asked = {element.key for element in getattr(app.sidebar, widget)}
        assert asked == CONTROLS[kind].get(widget, {}).keys(), widget
    changes = [
        (widget, key, value) for widget, of in CONTROLS[kind].items() for key, value in of.items()
    ]
    for widget, key, value in sorted(changes, key=lambda change: change[1] == "load"):
        before = address(app)
        app.session_state["kept"] = []
        app = run(getattr(app, widget)(key=key).set_value(value))
        assert address(app) != before, key
        all_name_one_row(app)


@pytest.mark.bench
def test_a_row_of_the_board_ends_with_the_job_in_which_it_was_chosen():
    app = opened(v="3", **JOBS["run"])
    first = title(app)
    board = [row for row in html_texts(app) if row.startswith("Type, at its best")]
    other = re.findall(r"\d+ × ([\w.-]+)", board[0].replace("\u2060", ""))[-1]
    linked = opened(v="3", **JOBS["run"], looked=f"instance~{other}~market~on-demand")
    assert other in title(linked).replace("\u2060", "")
    changed = run(linked.text_input(key="example_tokens_written").set_value("500"))
    assert "looked" not in address(changed)
    assert title(changed) == title(
        run(app.text_input(key="example_tokens_written").set_value("500"))
    )
    assert first != title(changed)
