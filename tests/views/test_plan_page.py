"""The Plan page: heading, cards, board and CSV say one thing in every state; looking at a row moves
only what follows it.
"""

import io
import re
from datetime import date

import pandas as pd
import pytest
from examples import recorded
from pages import (
    address,
    all_columns,
    cards,
    html_texts,
    job_line,
    opened,
    page_text,
    run,
    texts,
    title,
)

from calc.columns import GLOSSARY
from calc.cost.markets import MARKETS
from calc.files.csv import tables as csv_tables
from calc.say.change import NOTHING_FITS, NOTHING_MEETS, NOTHING_SAVES, nothing_helps
from calc.say.numbers import about, span, spoken_span, three_digits
from calc.units import GIB
from views.plan import changes, limits
from views.session import present_plan
from views.shared.row_words import capital, on_screen, time_basis

DAY = date(2026, 11, 22)
STATES = recorded("cases/plan_page.json")["states"]
SERVED = {"goal": "serve", "model": "qwen2.5-32b", "people": "20"}


def board(app):
    """The full board, which is drawn when its expander is open."""
    app.session_state["all_types"] = True
    run(app)
    return next(frame.value for frame in app.dataframe if "tank" in frame.value)


def the_short_board_has_what_cannot_be_ranked(app, options):
    """From two to six types, all within 10 % among them; its heading says how many these are."""
    sound = options.board[
        (options.board["misses"] == "")
        & (options.board["fits"] == "yes")
        & (options.board["runs"] == "yes")
    ]
    close = (
        sound[sound["usd"] <= 1.1 * options.rows[0]["usd"]]["instance"].nunique()
        if not options.problem
        else 0
    )
    table = next(text for text in html_texts(app) if text.startswith("Type, at its best"))
    listed = re.findall(r"\d+ × [\w.-]+", table.replace("\u2060", ""))
    assert 2 <= len(listed) <= 6
    assert listed[0] == f"{options.rows[0]['instances_needed']:.0f} × {options.rows[0]['instance']}"
    assert not close or len(listed) == min(max(close, 2), 6)
    headings = " ".join(heading.value for heading in app.header)
    assert ("No other type within 10 %" in headings) == (close == 1)
    assert ("types within 10 %: any will do" in headings) == (close > 1)
    assert ("The nearest types" in headings) == bool(options.problem)
    assert not app.dataframe


@pytest.mark.sample(5)
@pytest.mark.parametrize("state", STATES)
def test_heading_cards_boards_and_csv_are_of_one_table(state, shown_options, catalogs):
    app = opened(v="3", **STATES[state])
    options = shown_options[-1]
    first = options.board.iloc[0]
    where = f"{first['instances_needed']:.0f} × {first['instance']}"
    heading = title(app).replace("\\$", "$")
    assert about(first["usd"]) in heading
    assert where in heading
    shown = cards(app)
    assert all(
        about(money) in card for money, card in zip(options.answers["usd"], shown, strict=False)
    )
    if first["work"] == "training":
        assert (
            first["answer"] == "nearest"
            or f", in {spoken_span(first['hours'])}, on {where}" in heading
        )
        assert all(
            f"in {span(hours)} (" in card
            for hours, card in zip(options.answers["hours"], shown, strict=False)
        )
    assert where in shown[0]
    time = time_basis(options.answers.iloc[0])
    rests_on = f"Line: range ({first['memory_basis']}). Time: {time}."
    assert any(rests_on in text for text in html_texts(app))
    the_short_board_has_what_cannot_be_ranked(app, options)
    shown = board(app)
    assert shown["usd"].to_list() == pytest.approx(options.board["usd"].to_list(), nan_ok=True)
    assert shown["name"].iloc[0].startswith(where)
    written = pd.read_csv(io.BytesIO(all_columns(options, catalogs, DAY)))
    for name in (
        "answer",
        "instance",
        "instances_needed",
        "usd",
        "hours",
        "usd_per_hour",
        "memory_bytes",
    ):
        assert written[name].iloc[0] == pytest.approx(first[name])
    assert set(written["answer"].dropna()) == set(options.answers["answer"])
    assert len(written) >= len(options.board)
    scenarios, _ = csv_tables.scenarios_of(
        csv_tables.read_csv(all_columns(options, catalogs, DAY)), "the file"
    )
    assert scenarios["instance"].iloc[0] == first["instance"]
    assert len(scenarios) == len(written)
    # No budget: the fastest costs at most three times the least.
    if state in (
        "training",
        "serving",
    ):
        assert options.job["usd_most"] is None
        assert options.answers["usd"].max() <= 3 * options.answers["usd"].iloc[0] * 1.001


RARER = (
    {"instance": "p5.48xlarge"},
    {"method": "qlora", "model": "llama-3.1-70b", "days_most": "1"},
    {"goal": "serve", "model": "gpt-oss-120b", "fewest_bits": "16"},
    {
        "goal": "serve",
        "requests_per_second": "20",
        "token_seconds": "0.02",
        "first_token_seconds": "0.3",
    },
    {"regions": "eu-central-1"},
)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "query",
    [{}, *(pytest.param(query, marks=pytest.mark.long) for query in (SERVED, *RARER[::2]))],
    ids=repr,
)
def test_a_press_on_a_limit_gives_the_money_that_its_button_says(query, shown_options):
    app = opened(v="3", **query)
    buttons = [button for button in app.button if str(button.key).startswith("limit_cost_")]
    assert len(buttons) <= limits.MOST
    before, money = shown_options[-1].rows[0]["usd"], []
    for button in buttons:
        words, _, change = (
            button.label.replace("\\", "").partition(", price of ")[0].rpartition(": ")
        )
        pressed = run(opened(v="3", **query).button(key=button.key).click())
        after = shown_options[-1].rows[0]["usd"]
        money.append(abs(after - before))
        assert (after > before) == change.startswith("+"), words
        if change.startswith("+"):
            assert change.lstrip("+") == about(after - before), words
        else:  # asked of the types that promise most
            said = float(re.sub(r"[^0-9.]", "", change))  # three digits, whole dollars
            assert before - after >= 0.995 * said - 0.5, words
        assert about(after) in title(pressed).replace("\\$", "$"), words
    assert not query or buttons
    assert (
        "cost nothing" in page_text(app)
        or "costs nothing" in page_text(app)
        or len(buttons) == limits.MOST
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("query", "card", "button"),
    [
        ({**SERVED, "model": "gpt-oss-120b", "fewest_bits": "16"}, "In 4 bits", "4-bit weights"),
        (SERVED, "In 16 bits", "16-bit weights: +$"),
    ],
)
def test_the_other_width_of_weights_is_a_card_and_one_press_away(
    query, card, button, shown_options
):
    app = opened(v="3", **query)
    (other,) = [text for text in cards(app) if text.startswith(card)]
    key = next(
        entry.key for entry in app.button if entry.label.replace("\\", "").startswith(button)
    )
    before, first = title(app), shown_options[-1].rows[0]["precision"]
    number = cards(app).index(other)
    app = run(app.button(key=f"show_card_{number}").click())
    assert title(app) != before
    assert address(app)["looked"][0].endswith(f"fewest_bits~{card.split()[1]}")
    assert cards(opened(**address(app))) == cards(app)
    memory = re.search(r"([\d.]+) of ", other)[1]
    assert present_memory(app) == pytest.approx(float(memory), rel=0.005)
    run(app.button(key=key).click())
    least = shown_options[-1].rows[0]
    assert about(least["usd"]) in other
    assert least["precision"] != first


def test_a_service_with_three_answers_shows_two_of_them_and_the_other_width(shown_options):
    shown = [text.split(" $")[0] for text in cards(opened(v="3", **SERVED | {"people": "200"}))]
    assert (shown, len(shown_options[-1].answers)) == (["Lowest cost", "Faster", "In 16 bits"], 3)


def present_memory(app):
    """The GiB of what is shown: the sum of the names of its components."""
    names = next(text for text in html_texts(app) if text.startswith("■"))
    return sum(float(number.replace(",", "")) for number in re.findall(r"([\d.,]+) GiB", names))


@pytest.mark.long
def test_nothing_within_the_limits_or_nothing_possible_says_what_is_in_the_way(shown_options):
    app = opened(v="3", instance=["g5.xlarge", "g6.xlarge"])
    assert title(app).startswith("No allowed GPU is large enough")
    assert app.warning[0].value
    (free,) = cards(app)
    assert free.startswith("On any instance")
    assert not app.dataframe
    app = run(app.button(key="limit_cost_0").click())
    assert about(shown_options[-1].rows[0]["usd"]) in free
    assert "instance" not in address(app)
    app = opened(v="3", **STATES["nothing within the limits"])
    assert title(app).startswith("No option meets every limit")
    (nearest,) = cards(app)
    assert nearest.startswith("Nearest")
    assert "Exceeds a limit: " in nearest
    assert "misses" in board(app)
    (by_hand,) = cards(opened(v="3", batch="2", **STATES["nothing within the limits"]))
    assert by_hand.startswith("As you set it")


def test_beside_a_limit_that_is_exceeded_stands_the_change_that_meets_it():
    job = {"goal": "tune", "method": "lora", "model": "mistral-7b-v0.3", "usd_most": "5"}
    app = opened(v="3", **job, examples="20000", example_tokens="800", epochs="2")
    first = next(one.label for one in app.button if (one.key or "").startswith("take_"))
    assert f"The change to {first} meets the limits: $" in app.warning[0].value.replace("\\", "")
    assert nothing_helps({"fits": "yes", "missed_limits": "usd_most"}) == NOTHING_MEETS
    assert nothing_helps({"fits": "yes", "missed_limits": ""}) == NOTHING_SAVES
    assert nothing_helps({"fits": "no", "missed_limits": ""}) == NOTHING_FITS


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("query", "titles", "press"),
    [
        (
            {"have": "8 x h100-80gb-sxm"},
            ["As it is", "Largest batch", "Rented instead"],
            "Take the largest batch",
        ),
        (
            {"have": "1 x a100-80gb-sxm", "goal": "serve"},
            ["As it is", "Most requests", "Rented instead"],
            "Plan for ",
        ),
        ({"have": "1 x a100-80gb-sxm"}, ["What would make it fit", "Rented instead"], "Take LoRA"),
    ],
)
def test_ones_own_machines_have_cards_of_their_own_and_a_press_makes_one_the_job(
    query, titles, press, shown_options
):
    app = opened(v="3", **query)
    assert [next(name for name in titles if card.startswith(name)) for card in cards(app)] == titles
    wanted = cards(app)[titles.index("Rented instead") - 1]
    app = run(next(button for button in app.button if button.label.startswith(press)).click())
    row = shown_options[-1].rows[0]
    assert f"{three_digits(row['needed_bytes'] / GIB)} of " in wanted
    assert cards(app)[0].startswith("As it is")


def test_what_is_shown_moves_the_memory_and_keeping_it_fills_the_kept_once(shown_options):
    app = opened()
    faster = shown_options[-1].answers.iloc[1]
    app = run(app.button(key="show_card_1").click())
    assert about(faster["usd"]) in title(app).replace("\\$", "$")
    middle = [
        heading.value for heading in app.header if heading.value.startswith("What is in the memory")
    ]
    assert f"{faster['instances_needed']:.0f} × {faster['instance']}" in middle[0]
    assert address(app)["looked"]
    assert title(opened("method", **address(app))) != title(opened("method"))
    again = opened(**address(app))
    assert [heading.value for heading in again.header] == [heading.value for heading in app.header]
    app = run(opened().button(key="keep").click())
    assert len(app.session_state["kept"]) == 1
    assert app.button(key="keep").label == "Kept"
    assert not run(app.button(key="keep").click()).session_state["kept"]  # and it goes again
    app = run(app.button(key="keep").click())
    assert app.session_state["kept"][0].then["usd"] == pytest.approx(
        shown_options[-1].rows[0]["usd"]
    )
    app = run(app.button(key="undo").click())
    assert not app.session_state["kept"]


@pytest.mark.bench
def test_the_promise_and_other_ready_jobs_stand_until_the_first_change():
    app = opened()
    promise = "GPU memory and AWS cost, before you rent."
    assert promise in page_text(app)
    assert "Tune an 8B chat model" not in app.selectbox(key="start_from").options  # it is on screen
    for number, words in (
        (2, "Fine-tune all weights of Llama 3.1 70B"),
        (3, "Serve Llama 3.1 8B, 16 requests in flight"),
    ):
        app = run(opened().selectbox(key="start_from").set_value(number))
        assert promise not in page_text(app)
        assert job_line(app).startswith(words)
    assert promise not in page_text(run(opened().selectbox(key="model").set_value("qwen2.5-7b")))
    assert promise not in page_text(run(opened().button(key="keep").click()))


@pytest.mark.long
def test_changes_of_the_same_work_come_first_and_what_is_compared_elsewhere_when_it_is_opened():
    app = run(opened())
    taken = [button for button in app.button if button.key and button.key.startswith("take_")]
    assert 1 <= len(taken) <= changes.MOST_SHOWN
    assert not any("Other training" in text for text in texts(app))
    assert {button.label.lower() for button in taken}.isdisjoint(
        market.label for market in MARKETS.values()
    )
    app.session_state["more_changes"] = True
    every = [
        button.label for button in run(app).button if button.key and button.key.startswith("take_")
    ]
    assert every[: len(taken)] == [button.label for button in taken]
    assert len(every) == len(set(every)) > len(taken)
    assert any("Other training: check the quality" in text for text in texts(app))
    before = address(app)
    app = run(app.button(key=taken[0].key).click())
    assert address(app) != before
    app = run(app.button(key="undo").click())
    assert address(app) == before


def test_a_refusal_names_fields_as_the_screen_does_and_what_to_do_beside_it():
    app = opened(
        v="3",
        goal="serve",
        model="llama-3.1-8b",
        gpus="6",
        tensor_parallel="3",
        instance="p5.48xlarge",
    )
    sentence = " ".join([title(app), *(warning.value for warning in app.warning)])
    assert (sentence[0].isupper(), "take" in sentence.lower()) == (True, True)
    assert not any(name in sentence for name in GLOSSARY if "_" in name)
    assert (
        on_screen("prompt_tokens 9 exceeds sequence_tokens 5; raise it.")
        == "Prompt 9 exceeds Context 5; raise it."
    )
    assert [
        capital(text) for text in ("full recompute", "bf16", "p5.48xlarge", "micro-batch 2")
    ] == ["Full recompute", "bf16", "p5.48xlarge", "Micro-batch 2"]


def test_nothing_is_worked_out_twice(monkeypatch):
    """A rerun without a change estimates nothing."""
    app = run(opened())
    from calc.studies import comparisons

    calls = []
    for module, name in ((comparisons, "estimate"), (present_plan, "options")):
        plain = getattr(module, name)
        monkeypatch.setattr(
            module,
            name,
            lambda *arguments, plain=plain, name=name: calls.append(name) or plain(*arguments),
        )
    run(app)
    assert "estimate" not in calls


def test_counts_are_written_with_separators_and_read_in_words_and_what_is_none_changes_nothing():
    app = opened(v="3")
    assert app.text_input(key="examples_written").value == "50,000"
    for written, examples in (("2 million", "2000000"), ("75k", "75000"), ("many", "75000")):
        app = run(app.text_input(key="examples_written").set_value(written))
        assert address(app)["examples"] == [examples]
    assert "75k" not in [toast.value for toast in app.toast]
    assert "'many' is not a count" in app.toast[0].value
    assert app.text_input(key="examples_written").value == "75,000"
