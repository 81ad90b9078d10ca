"""The fields of training that generates its answers."""

import re

import pytest
from pages import job_line, opened, pasted, run, title


@pytest.mark.bench
def test_training_that_generates_its_answers_asks_for_their_number_and_length():
    asked = {
        "Answers per prompt",
        "Answer, tokens",
        "Rollout's share of the card, 0 to 1",
        "Prompts",
    }
    for objective, asks in (("grpo", True), ("dpo", False)):
        app = opened("", objective=objective, model="qwen3-8b", goal="tune")
        assert not app.exception
        assert (asked <= {widget.label for widget in (*app.number_input, *app.text_input)}) == asks
        assert re.search(r"\$\d", title(app).replace("\\", ""))
        assert ("128 prompts a step" in job_line(app)) == asks


@pytest.mark.long
def test_answers_of_an_objective_are_forgotten_with_it_and_its_context_is_what_they_need():
    app = opened(v="3")
    text = "GRPO qwen3-8b on 1000 prompts, 4 answers each of 1000 tokens"
    app = pasted(app, text)
    assert app.session_state["sequence_tokens"] == 2000
    assert "4 answers each of up to 1,000 tokens" in job_line(app)
    app = run(app.selectbox(key="objective_asked").set_value("sft"))
    assert "answers" not in job_line(app)
