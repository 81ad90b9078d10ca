"""The link: out and in gives the same plan or search, old links open still, and what is not
understood is named, never dropped.
"""

from urllib.parse import parse_qs, urlencode

import pytest
from examples import catalogs as read_catalogs
from examples import recorded

from calc import estimate
from calc.files.link.earlier import is_earlier
from calc.files.link.kept import MOST_KEPT, differing, scenario_name
from calc.files.link.link import LONGEST_VALUE, MOST_VALUES, VERSION, compose, parse
from calc.models.huggingface.config import custom_entry
from calc.search.job_fields import JOB, LIMITS, job_fields_of, job_of
from calc.search.options import options
from calc.search.widened import settled_sets, usual_limits, usual_sets, widened

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


@pytest.mark.parametrize("model", ["mine", "my-llama-3.1-8b.v2"])
def test_a_model_of_ones_own_travels_field_by_field(model):
    entry = {
        name: value
        for name, value in custom_entry(64, 2, 4, 2, 128, 999, model, CATALOGS).items()
        if value != ""
    }
    choices = {"model": model, "custom_models": {model: entry}, "batch": 3}
    assert through_the_address(choices) == (choices, [])


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


def test_a_choice_of_an_earlier_name_keeps_its_meaning():
    assert parse({"v": [VERSION], "hold_slow_end": ["no"]}, CATALOGS) == ({"confidence": "50"}, [])
    assert parse({"v": [VERSION], "hold_slow_end": ["yes"]}, CATALOGS) == ({"confidence": "95"}, [])


def test_of_several_values_the_possible_ones_stay_and_of_too_many_the_first():
    choices, complaints = parse({"precision": ["bf16", "bf17", "fp32"]}, CATALOGS)
    assert choices == {"precision": ["bf16", "fp32"]}
    assert len(complaints) == 1
    choices, complaints = parse({"gpus": [str(number) for number in range(1, 100)]}, CATALOGS)
    assert choices == {"gpus": list(range(1, MOST_VALUES + 1))}
    assert complaints == [
        f"The link asked for 99 values of gpus; the first {MOST_VALUES} are used."
    ]
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
    kept = [{"name": "A & B, 100 %", "market": "spot", "scenario": differing(row, CATALOGS)}]
    assert kept[0]["scenario"] == {
        **scenario,
        "train_tokens": 1_000_000_000,
        "loss": "fused",
        "precision": "bf16-mixed",
    }
    back, complaints = through_the_address({"kept": kept})
    assert (back["kept"], complaints) == (kept, [])
    again = estimate(back["kept"][0]["scenario"], CATALOGS, solve=False)
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
        "colour~1",
    ],
)
def test_a_figure_of_then_that_is_none_is_named_and_the_scenario_stays(pair):
    choices, complaints = parse({"then": [f"model~gpt2~then_{pair}~then_hours~2"]}, CATALOGS)
    assert choices["then"] == {
        "market": "on-demand",
        "scenario": {"model": "gpt2"},
        "then": {"hours": 2.0},
    }
    assert len(complaints) == 1
    assert f"then_{pair.replace('~', '=')} , which is not possible" in complaints[0]


def test_a_kept_name_is_one_line_and_no_second_column():
    assert scenario_name(" a~b\n c ") == "a-b c"
    assert scenario_name(" \n") == "Scenario"


SEARCHED = {"model": "llama-3.1-8b", "markets": "on-demand+spot", "step_tokens": 5001}


def searches(catalogs):
    for more in (
        {},
        {"method": "lora", "batch": 3},
        {"work": "inference", "users": 20, "regions": "anywhere"},
    ):
        settled = options(SEARCHED | more, catalogs).job
        yield usual_sets(settled, catalogs), usual_limits(settled)
    yield (
        {"family": [], "region": [], "kv_precision": ["", "fp8"], "gpus": [8]},
        {"usd_per_hour": 35.5, "surely": 1, "users": 20},
    )


def test_a_search_comes_back_from_its_link(catalogs):
    for sets, limits in searches(catalogs):
        query = compose({"model": "llama-3.1-8b", "allowed": sets, "limits": limits})
        choices, complaints = parse(query, catalogs)
        assert complaints == []
        assert choices["allowed"] == {
            name: values for name, values in sets.items() if values or name in ("family", "region")
        }
        assert choices["limits"] == limits


def test_an_old_link_of_a_search_asks_for_what_it_meant(catalogs):
    """Deployments of 2 GPUs, as many as 20 users need; a step of at least 16,384 tokens, no
    deadline; whatever fits.
    """
    query = {
        "allow.gpus": ["2"],
        "allow.batch": ["4"],
        "allow.kv_precision": ["", "fp8"],
        "allow.region": [""],
        "limit.users": ["20"],
    }
    choices, _ = parse(
        {"v": ["2"], "model": ["llama-3.1-8b"], "goal": ["serve"], **query}, catalogs
    )
    job = options({"model": "llama-3.1-8b", "work": "inference"}, catalogs).job
    row = widened(
        job, settled_sets(choices["allowed"], job, catalogs), choices["limits"], catalogs
    ).columns
    assert (row["gpus"][:3], row["batch"], row["users"], row["regions"]) == (
        [2, 6, 10],
        [4],
        20,
        "anywhere",
    )
    assert (row["kv_precision"], row["admits"], row["instances_most"]) == (["", "fp8"], "tight", 16)
    job = options(SEARCHED, catalogs).job
    row = widened(job, {}, {"step_tokens": 16384}, catalogs).columns
    assert row["step_tokens"] / row["step_factor"] == pytest.approx(16384, rel=1e-3)
    assert row["step_tokens"] * row["step_factor"] >= job["train_tokens"]
    assert row["hours_most"] >= 1e15


@pytest.mark.parametrize(("query", "sentence"), recorded("cases/link_sets.json")["not_understood"])
def test_what_is_not_understood_of_a_search_is_named(catalogs, query, sentence):
    choices, complaints = parse(query, catalogs)
    assert len(complaints) == 1
    assert sentence in complaints[0]
    assert not any(choices.get("allowed", {}).values())
    assert not choices.get("limits")


# As version 1 wrote them.
FIRST_VISIT = recorded("cases/link_v1.json")["first_visit"]
SERVING = {
    **FIRST_VISIT,
    "work": ["inference"],
    "precision": ["bf16"],
    "batch": ["20"],
    "sequence_tokens": ["8192"],
    "gpus": ["4"],
}


def test_training_keeps_every_choice_that_was_made(catalogs):
    choices, complaints = parse(FIRST_VISIT, catalogs)
    assert complaints == []
    assert (choices["goal"], choices["method"], choices["model"]) == (
        "tune",
        "full",
        "llama-3.1-8b",
    )
    assert (choices["regions"], choices["markets"], choices["sequence_tokens"]) == (
        "us-west-2",
        "spot",
        4096,
    )
    by_hand = {
        "precision": "bf16-mixed",
        "optimizer": ["adamw", "adamw-8bit"],
        "gpus": 8,
        "batch": 1,
        "accumulation_steps": 1,
    }
    by_hand |= {
        "instance": ["p4de.24xlarge", "p5.48xlarge"],
        "sharding": "zero3",
        "tensor_parallel": 1,
        "recompute": "none",
    }
    assert {name: choices[name] for name in by_hand} == by_hand
    assert not {
        "lora_rank",
        "attention",
        "hours_per_month",
        "kv_precision",
        "gpu",
        "period",
        "layout",
        "work",
    } & set(choices)
    assert {name: choices[name] for name in LIMITS} == dict.fromkeys(LIMITS, "")


@pytest.mark.parametrize(
    ("tuning", "precision", "method"),
    [("lora", "bf16", "lora"), ("lora", "nf4-dq", "qlora"), ("full", "bf16", "full")],
)
def test_tuning_and_precision_make_the_method(catalogs, tuning, precision, method):
    choices, _ = parse({**FIRST_VISIT, "tuning": [tuning], "precision": [precision]}, catalogs)
    assert (choices["goal"], choices["method"], choices["precision"]) == ("tune", method, precision)


def test_serving_has_its_users_prompt_and_answer_and_as_set_its_degrees(catalogs):
    choices, complaints = parse(
        {**SERVING, "prompt_tokens": ["6000"], "implementation": ["vllm"]}, catalogs
    )
    assert complaints == []
    assert (choices["goal"], choices["prompt_tokens"], choices["answer_tokens"]) == (
        "serve",
        6000,
        2192,
    )
    assert (choices["users"], choices["batch"], choices["implementation"]) == (20, 20, "vllm")
    assert "tensor_parallel" not in choices  # version 1 divided the model by itself
    query = {
        **SERVING,
        "layout": ["given"],
        "tensor_parallel": ["2"],
        "pipeline_parallel": ["1"],
        "context_parallel": ["1"],
    }
    choices, _ = parse(query, catalogs)
    assert (choices["tensor_parallel"], choices["users"]) == (2, 40)


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_link_of_an_earlier_version_means_the_defaults_of_then_and_says_what_is_counted_now(
    catalogs, version
):
    """16 bits, 2 s and 0.05 s (none in version 1, which had no limits), the estimate itself, on
    demand alone.
    """
    query = {"v": [version], "goal": ["serve"], "model": ["llama-3.1-8b"]}
    choices, complaints = parse(query, catalogs)
    job = job_of(
        {name: field.default for name, field in JOB.items()}
        | choices
        | {"regions": [], "markets": [choices["markets"]]},
        {},
    )
    limits = {"1": ("", ""), "2": (2, 0.05)}[version]
    assert complaints == []
    assert (choices["first_token_seconds"], choices["token_seconds"]) == limits
    assert (job["fewest_bits"], job["confidence"], job["markets"]) == ("16", "50", "on-demand")
    assert is_earlier(query)
    assert parse(query | {"fewest_bits": ["8"]}, catalogs)[0]["fewest_bits"] == "8"


def test_a_link_of_today_takes_the_defaults_of_today(catalogs):
    for query in (
        {"model": ["gpt2"]},
        {"v": [VERSION], "model": ["gpt2"]},
        {"work": ["inference"], "model": ["gpt2"]},
    ):
        assert "fewest_bits" not in parse(query, catalogs)[0]
        assert not is_earlier(query)


@pytest.mark.parametrize(("name", "values"), recorded("cases/link.json")["one_value"].items())
def test_a_second_value_of_what_takes_one_is_said(catalogs, name, values):
    first, _ = parse({name: values[:1]}, catalogs)
    choices, complaints = parse({name: values}, catalogs)
    assert choices == first
    assert complaints == [
        f"The link asked for 2 values of {name}, which takes one; {values[0]} is used."
    ]


def test_an_address_written_by_hand_may_say_either(catalogs):
    choices, complaints = parse({"model": ["gpt2"], "work": ["inference"], "gpus": ["2"]}, catalogs)
    assert complaints == []
    assert choices == {"model": "gpt2", "goal": "serve", "gpus": 2}
    assert parse({"model": ["gpt2"], "region": ["us-west-2"]}, catalogs)[0] == {
        "model": "gpt2",
        "regions": "us-west-2",
    }


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
