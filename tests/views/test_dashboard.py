"""The pages: what they say in every state that a meeting can bring about, without a browser."""

import json

import pandas as pd
import pytest
from examples import SMALL_LLAMA, recorded
from pages import (
    address,
    by_hand,
    job_line,
    loose,
    opened,
    page_text,
    pasted,
    run,
    title,
    with_fields,
)

from calc.catalogs.load import FOLDER
from calc.charts.result_tables import catalog_table, screen_names
from calc.files.link import link
from views.catalog.prices import CATALOGS, _catalog_columns
from views.sidebar.assumptions import ASKED_ABOVE


def messages_of(app):
    return " ".join(
        loose(element.value) for kind in (app.warning, app.info, app.error) for element in kind
    )


def test_a_bad_link_or_half_a_model_is_named_and_the_rest_stays():
    app = opened(model="nope", batch="-3", gpus="64x", color="red", v="9", sequence_tokens="8192")
    for wrong in ("model=nope", "batch=-3", "gpus=64x", "color=red", "version 9"):
        assert wrong in messages_of(app)
    assert (app.session_state["sequence_tokens"], app.session_state["model"]) == (
        8192,
        "llama-3.1-8b",
    )
    run(app.button(key="dismiss").click())
    assert not app.warning
    assert "ignored" in messages_of(opened(custom__mine__layers="4", model="mine"))
    assert "color=red" in messages_of(opened("accuracy", color="red"))  # on every page


@pytest.mark.sample(3)
@pytest.mark.parametrize(("query", "reason"), recorded("cases/dashboard.json")["impossible"])
def test_an_impossible_choice_says_why(query, reason):
    app = opened(**query)
    assert reason in title(app) + messages_of(app)


def test_prices_of_another_day_are_messages_of():
    assert "made with prices of 2025-01-01" in messages_of(opened(prices_as_of="2025-01-01"))
    messages = messages_of(opened(prices_as_of="2025-01-01", instance="p5.48xlarge"))
    assert ("98.32 per hour then and" in messages, "55.04 now: 44 % less" in messages) == (
        True,
        True,
    )


@pytest.mark.long
def test_a_model_of_ones_own_by_six_sizes_is_in_the_address(catalogs):
    app = pasted(opened(), "16 layers, hidden 4096, 32 heads, 8 kv heads, ffn 14336, vocab 128256")
    assert job_line(app).startswith("Fine-tune all weights of my-model · own on ")
    choices, complaints = link.parse(address(app), catalogs)
    assert (choices["custom_models"]["my-model"]["layers"], complaints) == (16, [])
    assert title(opened(**address(app))) == title(app)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("goal", "stored", "precision"),
    [("serve", "fp8", ["fp8"]), ("tune", None, [])],
)
def test_a_pasted_config_becomes_the_model_and_is_served_as_its_file_is_stored(
    goal, stored, precision
):
    config = SMALL_LLAMA | ({"quantization_config": {"quant_method": stored}} if stored else {})
    app = pasted(opened(goal=goal), json.dumps(config))
    assert (
        job_line(app)
        .lower()
        .startswith(
            ("serve my-model · own,", "fine-tune all weights of my-model · own on ")[goal == "tune"]
        )
    )
    assert by_hand(app, "precision") == precision


@pytest.mark.bench
def test_assumptions_in_words_reach_the_page_and_turns_have_a_field():
    """A share of people and the time between turns are read with the rest of the text."""
    app = pasted(opened(), "qwen3-8b for 200 people, 10% active, 8 turns, 30 s between them")
    assert "one in ten active" in job_line(app)
    assert "conversations of 8 turns, 30 s between them" in job_line(app)
    assert app.number_input(key="think_seconds").value == 30
    app.number_input(key="conversation_turns").set_value(20)
    run(app)
    assert "of later turns find their conversation in the cache" in page_text(app)
    assert "5,888 in" in job_line(app)  # the prompt of a mean turn holds the earlier answers


@pytest.mark.bench
def test_a_dialog_has_the_assumptions_that_the_job_reads_and_what_is_set_is_in_the_link(catalogs):
    app = opened()
    run(app.button(key="open_assumptions").click())
    only = catalogs.assumptions["only"]
    shown = only[only.index.isin([field.key for field in app.number_input])]
    assert set(shown) == {"", "training"}
    run(app.toggle(key="all_assumptions_shown").set_value(True))
    every = {field.key for field in app.number_input}
    assert {*only.index} - {*ASKED_ABOVE} <= every
    run(app.number_input(key="utilization").set_value(0.3))
    assert address(app)["utilization"] == ["0.3"]


@pytest.mark.bench
def test_turns_are_asked_for_by_hand_and_stand_with_the_load_once_there_are_several():
    app = opened(goal="serve", model="qwen3-8b")
    assert not [field for field in app.number_input if field.key == "conversation_turns"]
    with_fields(app).number_input(key="conversation_turns").set_value(8)
    assert "conversations of 8 turns" in job_line(run(app))
    app.session_state["by_hand"] = False
    assert run(app).number_input(key="conversation_turns").value == 8


def test_a_number_without_a_meaning_can_be_left_out_of_the_text_by_a_button():
    app = pasted(opened(), "serve qwen3 8b to 40 people 977")
    assert "977" in app.warning[0].value
    run(app.button(key="leave_0").click())
    assert not app.warning
    assert "to 40 people" in job_line(app)


def test_a_pasted_text_that_says_nothing_is_answered_by_what_it_lacks_and_the_plan_stays():
    before = title(app := opened())
    app = pasted(app, "hello")
    asked = [warning.value for warning in app.warning]
    assert any("Shall the model be served" in text for text in asked)
    assert any(text.startswith("No model is named.") for text in asked)
    assert (title(app), app.text_area(key="pasted").value) == (before, "hello")


def test_every_catalog_is_shown(catalogs):
    app = opened("prices")
    app.session_state["all_catalogs"] = True
    run(app)
    tables = {name: catalog_table(catalogs, name) for name in CATALOGS}
    files = {path.stem for path in FOLDER.glob("*/*.yaml")}
    assert (
        {name for name in files if isinstance(getattr(catalogs, name, None), pd.DataFrame)}
        <= {*tables}
        <= files
    )
    for name in (next(iter(CATALOGS)), "assumptions"):
        assert len(run(app.selectbox(key="catalog").set_value(name)).dataframe) == 2
    assert {name: list(_catalog_columns(table)) for name, table in tables.items()} == {
        name: screen_names(table) for name, table in tables.items()
    }


def test_another_model_changes_answer_and_address_and_is_answered_at_the_length_it_has():
    app = opened()
    run(app.selectbox(key="model").set_value("gpt2"))
    assert job_line(app).startswith("Fine-tune all weights of GPT-2 on ")
    assert address(app)["model"] == ["gpt2"]
    assert "learned positions for 1,024 tokens" in messages_of(app)
    run(app.selectbox(key="model").set_value("llama-3.1-8b"))
    assert app.session_state["sequence_tokens"] == 4096
    assert "learned positions" not in messages_of(app)
    unasked = opened(v="3", goal="serve", model="whisper-large-v3", tokens_total="1000 hours")
    assert unasked.session_state["prompt_tokens"] == 224
    assert "learned positions" not in messages_of(unasked)
    asked = opened(v="3", goal="serve", model="whisper-large-v3", prompt_tokens="1024")
    assert "used: prompt 224, not 1,024" in messages_of(asked)


def test_a_model_is_found_by_its_repository_and_the_newest_of_a_size_first():
    app = opened(model="gpt2")
    labels = app.selectbox(key="model").options
    newest, oldest = (
        next(one for one in labels if one.startswith(name)) for name in ("Qwen2.5 7B", "BLOOM 7B1")
    )
    assert len(newest) < len(oldest)  # of names that match alike the browser takes the shortest
    run(app.selectbox(key="model").set_value("meta-llama/Meta-Llama-3.1-8B"))
    assert address(app)["model"] == ["llama-3.1-8b"]


@pytest.mark.bench
@pytest.mark.parametrize(
    ("model", "used"),
    [("bert-base-uncased", "prompt 512, not 1,024"), ("whisper-large-v3", "answer 224, not 512")],
)
def test_a_service_is_answered_at_the_lengths_that_its_model_has(model, used):
    app = opened(goal="serve", model=model)
    assert job_line(app).startswith("Serve ")
    assert used not in messages_of(app)  # nobody asked for another one
    assert not app.warning
    named = opened(goal="serve", model=model, prompt_tokens="1024", answer_tokens="512")
    assert any(used in warning.value for warning in named.warning)


@pytest.mark.bench
def test_a_model_that_generates_nothing_is_asked_for_the_time_of_its_answer():
    labels = {
        model: opened(goal="serve", model=model).number_input(key="first_token_seconds").label
        for model in ("bge-m3", "llama-3.2-1b")
    }
    assert labels == {"bge-m3": "Answer, s", "llama-3.2-1b": "First token, s"}


@pytest.mark.bench
def test_a_context_beyond_the_models_is_refused_with_a_button_for_the_longest_it_takes():
    app = opened(v="3", goal="serve", model="qwen3-32b", people="50", context_tokens="100000")
    assert title(app) == "No layout runs this job"
    assert "100,000 are asked for, which vllm refuses" in messages_of(app)
    app = run(app.button(key="shorter_context").click())
    assert "40,960 tokens each" in job_line(app)
    assert title(app).startswith("About")
    app = run(app.slider(key="split").set_value(30000))
    assert "(30,000 in, 10,960 out)" in job_line(app)


@pytest.mark.bench
def test_tokens_that_are_named_stand_in_place_of_the_examples_that_they_overrule():
    app = opened(v="3", train_tokens="200000000")
    assert "examples_written" not in [field.key for field in app.text_input]
    app = run(app.text_input(key="train_tokens_written").set_value("300 million"))
    assert "300 million tokens" in job_line(app)
    app = run(app.text_input(key="train_tokens_written").set_value(""))
    assert "50,000 examples" in job_line(app)
