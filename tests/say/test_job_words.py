"""The job in words: one sentence of any job, which differs wherever what it says differs."""

import re

import pytest
from examples import catalogs, recorded

from calc.answers.full_answer import full_answer as options
from calc.files.link.link import compose, parse
from calc.job.fields import BY_HAND, JOB, job_of
from calc.job.resolve import resolve
from calc.say.job import job_sentence, short_job
from calc.say.place import instances_in_words
from calc.scenarios.inputs import ASSUMED
from calc.studies.guide import ready_jobs
from views.session.job_state import FIRST_VISIT

CASES = recorded("cases/job_words.json")
LINKS = {
    **recorded("cases/one_plan.json"),
    **{setup.name: compose(setup.asks) for setup in ready_jobs().setups},
}
NO_WORD = re.compile(r"nan|None|inf|\b[a-z]+_[a-z]|[a-z]+-[a-z]+-\d\b|  |, ,|\(\)|,,|, \.")


def job(query):
    """The job row of a link's query, as the first visit has it with these choices."""
    choices, complaints = parse(
        {name: value if isinstance(value, list) else [value] for name, value in query.items()},
        catalogs(),
    )
    assert complaints == []
    listed = {
        name: value if isinstance(value, list) else [value] for name, value in choices.items()
    }
    fields = {
        name: listed[name] if isinstance(usual, list) else choices[name]
        for name, usual in FIRST_VISIT.items()
        if name in choices
    }
    fields = FIRST_VISIT | {name: None if value == "" else value for name, value in fields.items()}
    by_hand = {
        name: values
        for name, values in listed.items()
        if name not in JOB and (name in BY_HAND or name in ASSUMED)
    }
    return job_of(fields, by_hand)


def sentence(row):
    return job_sentence(options(row, catalogs()).job, catalogs())


def resolved_cells(row):
    """The job that its options show."""
    return resolve(row, catalogs()).cells


@pytest.mark.parametrize("name", LINKS)
def test_every_job_is_one_sentence_with_its_model_and_its_amount(name):
    row = job(LINKS[name])
    shown = resolved_cells(row)
    words = job_sentence(shown, catalogs())
    assert words.endswith(".")
    assert not re.search(r"(?<! N)\. ", words)
    assert not NO_WORD.search(words), words
    model = catalogs().models["name"][row["model"]]
    short = short_job(shown, catalogs())
    for text in (words, short):
        assert model in text
        assert re.search(
            r"\d (million|billion|trillion|requests?|images|hours)", text.replace(model, "")
        ), text
    assert not short.endswith(".")
    assert len(short) < len(words)


@pytest.mark.parametrize(("query", "words", "short"), CASES["said"])
def test_a_job_is_said_as_people_say_it(query, words, short):
    shown = resolved_cells(job(query))
    assert job_sentence(shown, catalogs()) == words
    assert short_job(shown, catalogs()) == short


@pytest.mark.parametrize("work", CASES["changes"])
def test_jobs_that_differ_in_a_said_field_differ_in_the_sentence(work):
    first, *others = CASES["changes"][work]
    words = [
        job_sentence(resolved_cells(job({**first, **other})), catalogs()) for other in ({}, *others)
    ]
    assert len(set(words)) == len(words), [text for text in words if words.count(text) > 1]


def test_what_is_usual_is_not_said_and_the_job_that_is_shown_is_the_resolved_one():
    usual = {
        name: field.default
        for name, field in JOB.items()
        if name in ("confidence", "obtainable", "instances_most", "fewest_bits")
    }
    row = {"model": "llama-3.2-1b", "work": "training"}
    assert (
        sentence({**row, **usual}) == sentence(row) == job_sentence(resolved_cells(row), catalogs())
    )


def test_a_refused_job_is_said_as_far_as_it_can_be_read():
    assert (
        sentence({"model": "gpt-6", "train_tokens": "many"})
        == "Fine-tune all weights of gpt-6, in any region."
    )
    assert sentence({"model": "llama-3.1-8b", "have": "3 x nothing"}).endswith(
        "on your 3 x nothing."
    )


@pytest.mark.parametrize(("row", "tokens"), CASES["examples"])
def test_examples_are_tokens_of_a_run(row, tokens):
    assert resolve({"model": "llama-3.2-1b", **row}, catalogs()).train_tokens == tokens


@pytest.mark.parametrize(
    ("model", "tokens_each"),
    [("llama-3.2-1b", 1000), ("vit-large-patch16", 197), ("siglip2-so400m-patch14-384", 64)],
)
def test_an_example_has_the_tokens_that_a_step_counts_of_it(model, tokens_each):
    """An image has its patches; of a pair of image and text a step counts the text."""
    assert resolve({"model": model, "examples": 10}, catalogs()).train_tokens == 10 * tokens_each


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("hours", "said"),
    [
        (336, "14 days"),
        (156, "6.5 days"),
        (2000, "2,000 hours"),
        (1, "1 hour"),
        (0.5, "30 minutes"),
    ],
)
def test_a_deadline_is_said_in_the_unit_in_which_it_is_round(hours, said):
    assert f"within {said}." in sentence({"model": "llama-3.2-1b", "hours_most": hours})


@pytest.mark.sample(2)
@pytest.mark.parametrize("model", ["vit-large-patch16", "wav2vec2-base-960h"])
def test_only_what_has_a_length_of_its_own_is_said_with_a_context(model):
    said = sentence({"model": model, "examples": 1000})
    assert ("context" in said) == (model == "wav2vec2-base-960h")


@pytest.mark.parametrize(("row", "problem"), CASES["contradictions"])
def test_a_job_that_contradicts_itself_is_refused_with_the_cure(row, problem):
    assert problem in options({"model": "llama-3.2-1b", **row}, catalogs()).problem


@pytest.mark.parametrize(("row", "short"), CASES["rows"])
def test_a_result_row_is_said_as_its_job(row, short):
    assert short_job(row, catalogs()) == short


def test_a_list_of_instances_is_said_by_families():
    instances = list(catalogs().instances.index)
    g6e = [name for name in instances if name.startswith("g6e.")]
    without = [name for name in instances if not name.startswith(("g4dn.", "p5.48"))]
    assert instances_in_words([*g6e, "p5.48xlarge"], catalogs()) == ["g6e instances", "p5.48xlarge"]
    assert instances_in_words(g6e[1:], catalogs()) == g6e[1:]
    assert instances_in_words(without, catalogs()) == ["any instance except g4dn and p5.48xlarge"]


def test_a_card_beside_its_instance_is_said_once():
    job = {"goal": "tune", "model": "llama-3.1-8b"}
    own = {"instance": ["p4d.24xlarge"], "gpu": ["a100-40gb-sxm"]}
    either = {"instance": ["p4d.24xlarge", "p5.48xlarge"], "gpu": ["h100-80gb-sxm"]}
    assert "on p4d.24xlarge" in job_sentence(job | own, catalogs())
    assert "A100" not in job_sentence(job | own, catalogs())
    expected = "on p4d.24xlarge or p5.48xlarge with H100"
    assert expected in job_sentence(job | either, catalogs())


@pytest.mark.parametrize("model", ["vit-large-patch16", "bge-m3"])
def test_a_service_of_images_reads_no_tokens(model):
    said = sentence({"model": model, "goal": "serve", "requests_per_second": 9})
    assert ("tokens each" in said) == (model == "bge-m3")


def test_a_refused_job_that_names_its_goal_alone_is_said_as_what_it_is():
    job = {"model": "mixtral-8x7b", "goal": "serve", "users": 16, "have": "4 x no-card"}
    refused = options(job, catalogs())
    assert job_sentence(refused.job, catalogs()).startswith("Serve Mixtral 8x7B v0.1, 16 requests")
