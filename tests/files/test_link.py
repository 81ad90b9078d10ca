"""The link: out and in gives the same plan or search, old links open still, and what is not
understood is named, never dropped.
"""

from urllib.parse import parse_qs, urlencode

import pytest
from examples import catalogs as read_catalogs
from examples import recorded

from calc import estimate
from calc.files.link.kept_answers import MOST_KEPT, differing, scenario_name
from calc.files.link.link import LONGEST_VALUE, MOST_VALUES, VERSION, compose, parse
from calc.job.fields import JOB, job_fields_of, job_of
from calc.job.resolve import resolve
from calc.models.huggingface.config import custom_entry
from calc.plan.kept_answer import KeptAnswer

CATALOGS = read_catalogs()


def through_the_address(choices):
    """A job as a browser brings it back."""
    return parse(
        parse_qs(urlencode(compose(choices), doseq=True), keep_blank_values=True), CATALOGS
    )


def test_the_first_visit_a_free_region_and_the_day_of_prices_travel_and_what_is_not_set_does_not():
    choices = {name: "" if field.default is None else field.default for name, field in JOB.items()}
    back, complaints = through_the_address(choices)
    assert back == choices
    assert complaints == []
    assert set(compose(choices)) == {"v", *JOB}
    assert through_the_address({"model": "gpt2", "precision": [], "gpus": []}) == (
        {"model": "gpt2"},
        [],
    )
    assert compose({"regions": []})["regions"] == ["anywhere"]
    assert through_the_address({"regions": []}) == ({"regions": []}, [])
    assert through_the_address({"prices_as_of": "2026-07-20"}) == (
        {"prices_as_of": "2026-07-20"},
        [],
    )


@pytest.mark.parametrize(
    ("context", "prompt", "answer", "lengths"),
    [
        ("16000", "12000", "", (12000, 4000)),
        ("16000", "", "500", (15500, 500)),
        ("16000", "12000", "4000", (12000, 4000)),
        ("16000", "1024", "512", (14976, 1024)),  # a link of the page, which writes its defaults
        ("16000", "16000", "", (14976, 1024)),  # leaves no answer
    ],
)
def test_a_context_and_one_of_its_parts_give_the_other(context, prompt, answer, lengths):
    words = {"context_tokens": context, "prompt_tokens": prompt, "answer_tokens": answer}
    query = {name: [text] for name, text in words.items() if text}
    fields = {name: field.default for name, field in JOB.items()} | {"regions": [], "markets": []}
    choices, complaints = parse({"goal": ["serve"], "model": ["llama-3.1-8b"], **query}, CATALOGS)
    fields |= choices
    assert len(complaints) == (context == prompt)
    job = resolve(job_of(fields, {}), CATALOGS)
    assert (job.prompt_tokens, job.answer_tokens) == lengths


@pytest.mark.parametrize("model", ["mine", "my-llama-3.1-8b.v2"])
def test_a_model_of_ones_own_travels_field_by_field(model):
    entry = {
        name: value
        for name, value in custom_entry(64, 2, 4, 2, 128, 999, model, CATALOGS).items()
        if value != ""
    }
    choices = {"model": model, "custom_models": {model: entry}, "batch": 3}
    assert through_the_address(choices) == (choices, [])


@pytest.mark.parametrize(
    ("query", "choices"),
    [
        ({"hours_most": ["36"]}, {"days_most": 1.5}),
        ({"hours_most": [""]}, {"days_most": ""}),
        (
            {"work": ["inference"], "region": ["us-west-2"]},
            {"goal": "serve", "regions": "us-west-2"},
        ),
        ({"tuning": ["lora"], "work": ["training"]}, {"method": "lora", "goal": "tune"}),
        ({"examples": ["800"]}, {"examples": 800, "epochs": 1}),
        (
            {"goal": ["train"], "train_tokens": ["2e12"]},
            {"goal": "train", "run_tokens": 2 * 10**12},
        ),
    ],
)
def test_a_link_may_name_columns_of_a_job_that_the_page_has_under_another_name(query, choices):
    assert parse(query, CATALOGS) == (choices, [])


@pytest.mark.parametrize(
    "query", [{"hours_most": ["x"]}, {"hours_most": ["9"], "days_most": ["1"]}]
)
def test_hours_that_are_no_number_or_stand_beside_days_are_named(query):
    assert len(parse(query, CATALOGS)[1]) == 1


LONG = (
    {"custom.mine.hidden": ["[" * LONGEST_VALUE]},
    "Ignored custom.mine.hidden from the link: not a size of a model.",
)
WRONG = [*recorded("cases/link.json")["wrong"], LONG]


@pytest.mark.parametrize(("query", "sentence"), WRONG, ids=[str(query)[:40] for query, _ in WRONG])
def test_what_is_not_understood_is_named_in_one_sentence(query, sentence):
    choices, complaints = parse({"v": [VERSION], "batch": ["3"], **query}, CATALOGS)
    assert len(complaints) == 1
    assert complaints[0].startswith(sentence)
    assert complaints[0].endswith(".")
    assert len(complaints[0]) < 200
    assert choices == ({"batch": 3} if "batch" not in query else {})


def test_of_several_values_the_possible_ones_stay_and_of_too_many_the_first():
    choices, complaints = parse({"precision": ["bf16", "bf17", "fp32"]}, CATALOGS)
    assert choices == {"precision": ["bf16", "fp32"]}
    assert len(complaints) == 1
    choices, complaints = parse({"gpus": [str(number) for number in range(1, 100)]}, CATALOGS)
    assert choices == {"gpus": list(range(1, MOST_VALUES + 1))}
    assert complaints == [f"The link has 99 values of gpus. Only the first {MOST_VALUES} are used."]
    query = {"kept": [f"{number}~model~gpt2" for number in range(MOST_KEPT + 1)]}
    choices, complaints = parse(query, CATALOGS)
    assert len(choices["kept"]) == MOST_KEPT
    assert complaints == [
        f"The link holds {MOST_KEPT + 1} kept scenarios; the first {MOST_KEPT} are used."
    ]


def test_a_kept_row_comes_back_with_the_same_figures():
    scenario = {
        "model": "llama-3.1-8b",
        "gpus": 8,
        "sharding": "zero3",
        "instance": "p5.48xlarge",
        "sequence_tokens": 4096,
    }
    row = estimate(scenario | {"train_tokens": 1e9, "loss": "fused"}, CATALOGS, solve=False)
    kept = [KeptAnswer("spot", differing(row, CATALOGS), "A & B, 100 %")]
    assert kept[0].scenario == {
        **scenario,
        "train_tokens": 1_000_000_000,
        "loss": "fused",
        "precision": "bf16-mixed",
    }
    back, complaints = through_the_address({"kept": kept})
    assert (back["kept"], complaints) == (kept, [])
    again = estimate(back["kept"][0].scenario, CATALOGS, solve=False)
    assert again["memory_bytes"] == row["memory_bytes"]
    assert again["run_usd_spot"] == row["run_usd_spot"]


@pytest.mark.parametrize(
    "pair",
    [
        "usd~nan",
        "usd~-1",
        "usd~1e999",
        "usd~lots",
        "fits~maybe",
        "made_on~<b>",
        "facts_version~../..",
        "color~1",
    ],
)
def test_a_figure_of_then_that_is_none_is_named_and_the_scenario_stays(pair):
    choices, complaints = parse({"then": [f"model~gpt2~then_{pair}~then_hours~2"]}, CATALOGS)
    assert choices["then"] == KeptAnswer("on-demand", {"model": "gpt2"}, then={"hours": 2.0})
    assert len(complaints) == 1
    assert f"Ignored then_{pair.replace('~', '=')} from the link's" in complaints[0]


def test_a_kept_name_is_one_line_and_no_second_column():
    assert scenario_name(" a~b\n c ") == "a-b c"
    assert scenario_name(" \n") == "Scenario"


@pytest.mark.parametrize(("name", "values"), recorded("cases/link.json")["one_value"].items())
def test_a_second_value_of_what_takes_one_is_said(catalogs, name, values):
    first, _ = parse({name: values[:1]}, catalogs)
    choices, complaints = parse({name: values}, catalogs)
    assert choices == first
    assert complaints == [f"The link has 2 values of {name}, which takes one. {values[0]} is used."]


def test_a_scenario_read_as_a_job_asks_for_itself(catalogs):
    """Every column of a result row that decides its figures is in the job that it stands for."""
    scenario = {
        "model": "llama-3.1-8b",
        "work": "training",
        "gpus": 8,
        "sharding": "zero2",
        "instance": "p5.48xlarge",
        "batch": 2,
    }
    row = estimate(
        scenario | {"sequence_tokens": 2048, "train_tokens": 5e9, "accumulation_steps": 4},
        catalogs,
        solve=False,
    )
    plan, by_hand = job_fields_of(
        {name: row[name] for name in scenario} | {"sequence_tokens": 2048, "train_tokens": 5e9},
        catalogs,
    )
    job = job_of(
        {name: plan.get(name, field.default) for name, field in JOB.items()}
        | {"regions": [], "markets": ["spot"]},
        by_hand,
    )
    assert {name: job[name] for name in scenario} == scenario
    assert (job["train_tokens"], job["sequence_tokens"], job["regions"], job["markets"]) == (
        5e9,
        2048,
        "anywhere",
        "spot",
    )
