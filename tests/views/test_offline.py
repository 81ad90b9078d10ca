"""Offline work of a service: tokens in all by a deadline, its hours, its money, and the words for
them.
"""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from examples import bill_row, least_usd, one, recorded, table
from pages import address, job_line, opened, page_text, run, title, turned
from plain_answers import offered, sold

from calc.answers.advice import advise
from calc.answers.full_answer import full_answer as options
from calc.job.fields import job_fields_of
from calc.plan.bill import lines, on_markets
from calc.say.numbers import spoken_span
from calc.search.shapes import DEGREES, OFFLINE_BATCHES
from calc.studies.differences import differences

CASES = recorded("cases/offline.json")
SERVED = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "implementation": "vllm",
    "precision": "bf16",
    "sequence_tokens": 1536,
}
SERVED |= {"prompt_tokens": 1024}
REPLICA = SERVED | {"instance": "g6e.xlarge", "batch": 64}
JOB = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "precision": "bf16",
    "kv_precision": "fp8",
    "confidence": "50",
    "instances_most": 3,
}
JOB |= {
    "instance": ["g5.12xlarge", "g6e.xlarge", "g6e.12xlarge", "p5.48xlarge"],
    "markets": "on-demand+spot+capacity-block",
}


@pytest.mark.parametrize("replicas", [1, 6])
def test_the_hours_are_the_start_and_the_tokens_over_the_tokens_of_a_second(replicas):
    row = one(**REPLICA, gpus=replicas, tokens_total=1e9)
    assert row["tokens_per_second"] == pytest.approx(replicas * one(**REPLICA)["tokens_per_second"])
    assert row["run_hours"] == pytest.approx(
        row["start_hours"] + 1e9 / row["run_tokens_per_second"] / 3600
    )
    assert row["run_usd_on_demand"] == pytest.approx(
        row["run_hours"] * replicas * row["instance_usd_per_hour_on_demand"]
    )
    assert row["run_low_hours"] < row["run_hours"] < row["run_high_hours"]
    assert np.isnan(one(**REPLICA)["run_hours"])


def test_the_last_answers_take_the_same_time_after_little_work_and_after_much():
    def late(amount, **more):
        row = one(**REPLICA, **more, tokens_total=amount)
        return amount / row["run_tokens_per_second"] - amount / row["tokens_per_second"]

    assert late(1e9) == pytest.approx(late(1e8))
    assert 0 < late(1e9, answer_variation_ratio=0) < late(1e9) / 2
    assert late(1e9) < late(1e9, answer_variation_ratio=2)


@pytest.mark.parametrize(("model", "tokens", "length", "requests"), CASES["requests"])
def test_a_request_counts_for_what_it_generates_or_else_for_what_it_reads(
    model, tokens, length, requests
):
    """Patches of an image whatever its text, tokens read, or tokens that a window of sound is
    answered with.
    """
    prompt = length - tokens if model == "whisper-large-v3" else length
    served = {
        "work": "inference",
        "model": model,
        "instance": "g6e.xlarge",
        "batch": 32,
        "sequence_tokens": length,
    }
    served |= {"prompt_tokens": prompt}
    row, offline = one(**served), one(**served, tokens_total=requests * tokens)
    rate = row["tokens_per_second" if prompt < length else "prefill_tokens_per_second"]
    hours = offline["run_hours"] - offline["start_hours"]
    if prompt == length:
        assert hours == pytest.approx(requests * tokens / rate / 3600)
    else:  # the last answers differ in length
        assert 1 < hours * 3600 * rate / (requests * tokens) < 1.1
    if prompt == length:
        assert requests / 32 * row["burst_first_token_seconds"] == pytest.approx(
            requests * tokens / rate
        )


@pytest.mark.parametrize("market", ["on-demand", "spot", "capacity-block"])
def test_offline_work_is_billed_as_a_run(market, catalogs):
    row = bill_row(
        catalogs,
        market,
        **SERVED,
        instance="p5.48xlarge",
        gpus=8,
        batch=64,
        tokens_total=1e9,
        attempts=2,
    )
    parts = lines(row).set_index("line")
    assert parts["usd"].sum() == pytest.approx(row["usd"])
    assert parts["hours"]["start"] == pytest.approx(row["start_hours"] / 2)
    assert row["instances"] == row["instances_needed"] == 1  # nothing spare, even on spot
    markets = on_markets(row, catalogs).set_index("market")
    assert markets["usd"]["capacity-block"] > 0
    assert (
        "capacity-block"
        not in on_markets(row | {"tokens_total": np.nan}, catalogs)["market"].tolist()
    )
    assert markets["low_usd"][market] <= row["usd"] <= markets["high_usd"][market]


def every_row(tokens, catalogs):
    """Each layout of JOB estimated, with its money on each of its markets."""
    rows = [
        SERVED
        | {
            "kv_precision": "fp8",
            "instance": instance,
            "gpus": gpus,
            "tensor_parallel": tensor,
            "batch": batch,
        }
        for instance, tensor, batch in product(JOB["instance"], DEGREES, OFFLINE_BATCHES)
        for gpus in (count * catalogs.instances["gpus"][instance] for count in (1, 2, 3))
        if gpus % tensor == 0
    ]
    every = sold(
        pd.DataFrame(rows).assign(tokens_total=tokens),
        ["us-east-1"],
        JOB["markets"].split("+"),
        catalogs,
    )
    return every[offered(every, catalogs)]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("tokens", "hours"), [(3e7, 168), (1e9, 168), (1e9, 30), (3e9, 24), (3e9, 8)]
)
def test_the_answer_is_the_least_money_of_all_layouts_that_keep_the_deadline(
    tokens, hours, catalogs
):
    ranked = options(JOB | {"tokens_total": tokens, "hours_most": hours}, catalogs)
    keeping = every_row(tokens, catalogs)
    keeping = keeping[keeping["hours"] <= hours]
    if keeping.empty:
        assert ranked.problem.startswith("No option meets every limit")
        return
    worked = keeping[keeping["hours"] >= 2 * keeping["start_hours"]]
    least = (keeping if worked.empty else worked)["usd"].min()
    assert ranked.edge["usd"].min() == pytest.approx(least, rel=1e-6)
    assert ranked.answers["usd"].iloc[0] <= least * 1.011
    assert (ranked.answers["hours"] <= hours).all()


def test_an_earlier_deadline_never_costs_less_and_limits_on_latency_are_not_read(catalogs):
    jobs = [JOB | {"tokens_total": 3e9, "hours_most": hours} for hours in (1000, 168, 72, 24, 12)]
    usds = [least_usd(job, catalogs) for job in jobs]
    usds = [usd for usd in usds if usd == usd]
    assert usds == sorted(usds)
    assert len(usds) > 2
    slow = options(
        jobs[1] | {"token_seconds": 0.001, "first_token_seconds": 0.001, "users": 5}, catalogs
    )
    assert (
        slow.rows[0]["usd"]
        == options(jobs[1], catalogs).rows[0]["usd"]
        == options(JOB | {"tokens_total": 3e9}, catalogs).rows[0]["usd"]
    )


@pytest.mark.sample(3)
@pytest.mark.long
@pytest.mark.parametrize(("model", "amount", "tokens", "words"), CASES["amounts"])
def test_an_amount_may_be_of_images_or_hours_and_no_sentence_speaks_of_a_month(
    model, amount, tokens, words, catalogs
):
    ranked = options(
        {"work": "inference", "model": model, "tokens_total": amount, "hours_most": 24}, catalogs
    )
    row = ranked.rows[0]
    assert (row["tokens_total"], row["usd"], row["hours"]) == (
        tokens,
        row["run_usd_on_demand"],
        row["run_hours"],
    )
    assert words in row["why"]
    assert "a month" not in row["why"] + row["limits_cost"]


@pytest.mark.parametrize(
    ("model", "amount"),
    [("llama-3.1-8b", "1000 hours"), ("whisper-base", "3 images"), ("bge-m3", "many")],
)
def test_an_amount_that_the_model_does_not_take_is_refused(model, amount, catalogs):
    assert options(
        {"work": "inference", "model": model, "tokens_total": amount}, catalogs
    ).problem.startswith("tokens_total '")


@pytest.mark.bench
def test_advice_on_offline_work_saves_money_of_the_run(catalogs):
    row = bill_row(
        catalogs,
        **SERVED,
        instance="g5.12xlarge",
        gpus=4,
        tensor_parallel=4,
        batch=4,
        tokens_total=1e8,
    )
    advised = advise(row, catalogs)
    best = advised[advised["same_machine"] & advised["same_work"]].iloc[0]
    assert best["usd"] < row["usd"]
    assert best["saved_work_ratio"] == pytest.approx(1 - best["usd"] / row["usd"])


def test_more_tokens_in_all_are_the_cause_of_more_hours_and_of_more_money(catalogs):
    less, more = (bill_row(catalogs, **REPLICA, tokens_total=tokens) for tokens in (1e8, 3e8))
    parts = differences(less, more)
    assert {name: parts[name].cause for name in ("hours", "usd")} == {
        "hours": "tokens_total",
        "usd": "tokens_total",
    }
    assert sum(parts["usd"].parts.values()) == pytest.approx(more["usd"] - less["usd"])
    assert "usd" not in differences(less, bill_row(catalogs, **REPLICA))  # a run beside a month


@pytest.mark.long
def test_the_page_asks_for_the_work_in_all_and_its_deadline_and_speaks_of_no_month(catalogs):
    work = {"work": "inference", "model": "llama-3.1-8b", "tokens_total": 1e9, "precision": "bf16"}
    app = opened(goal="serve", tokens_total="1e9", token_seconds="0.07", precision="bf16")
    assert job_line(app).startswith(
        "Generate 1 billion tokens with Llama 3.1 8B (3 billion through the model), "
    )
    fields = {field.key for field in app.number_input}
    assert "days_most" in fields
    assert not {"first_token_seconds", "token_seconds"} & fields
    assert "users" not in fields
    assert not any(
        "a month" in text
        for text in [page_text(app), *(metric.delta or "" for metric in app.metric)]
        if "taken back" not in text
    )
    week = options(work, catalogs).rows[0]
    run(app.number_input(key="days_most").set_value(1.0))
    day = options(work | {"hours_most": 24}, catalogs).rows[0]
    assert day["hours"] <= 24
    assert f", in {spoken_span(day['hours'])}, on " in title(app) or week["hours"] == day["hours"]
    assert address(app)["tokens_total"] == ["1e9"]
    turned(app, "pay")
    assert re.fullmatch(
        r"About \\\$\d+ once: Generate 1 billion tokens with Llama 3\.1 8B", title(app)
    )
    turned(app, "plan")
    run(app.selectbox(key="load").set_value("users"))
    assert "a month" in title(app)
    assert address(app)["token_seconds"] == ["0.07"]  # what was set before stays
    run(app.selectbox(key="load").set_value("tokens_total"))
    assert address(app)["tokens_total"] == ["1e9"]
    assert app.text_input(key="in_all").value == "1 billion"
    run(app.text_input(key="in_all").set_value("2.5 billion tokens"))
    assert address(app)["tokens_total"] == ["2500000000 tokens"]
    run(app.text_input(key="in_all").set_value("3 images"))
    assert "rite a number of tokens" in app.warning[0].value


def test_a_scenario_taken_as_the_plan_keeps_its_work_in_all(catalogs):
    scenario = {**REPLICA, "gpus": 2, "tokens_total": 2.5e9}
    assert job_fields_of(scenario, catalogs)[0]["tokens_total"] == "2500000000"
    assert job_fields_of(scenario | {"tokens_total": np.nan}, catalogs)[0]["tokens_total"] == ""


@pytest.mark.bench
@pytest.mark.parametrize("model", ["llama-3.1-8b", "llama-3.2-1b", "whisper-base", "bge-m3"])
def test_no_count_of_sequences_at_once_makes_the_work_two_per_cent_cheaper(model, catalogs):
    job = {
        "work": "inference",
        "model": model,
        "tokens_total": 1e8,
        "instance": "g6e.xlarge",
        "instances_most": 1,
        "fewest_bits": 16,
    }
    row = options(job, catalogs).rows[0]
    same = {name: row[name] for name in (*SERVED, "instance", "kv_precision")} | {
        "work": "inference",
        "tokens_total": 1e8,
    }
    every = table([{"batch": batch} for batch in range(1, 1025)], **same)
    able = every[(every["problem"] == "") & (every["fits"] == "yes")]
    assert able["run_usd_on_demand"].min() > row["usd"] / 1.02


def test_an_empty_work_in_all_is_a_service_as_before_and_a_training_reads_none(catalogs):
    served, trained = (
        {"work": "inference", "model": "llama-3.2-1b"},
        {"model": "llama-3.2-1b", "method": "lora"},
    )
    assert (
        options(served | {"tokens_total": ""}, catalogs).rows[0]["why"]
        == options(served, catalogs).rows[0]["why"]
    )
    assert "above 0" in options(served | {"tokens_total": 0}, catalogs).problem
    assert (
        options(trained | {"tokens_total": 1e9}, catalogs).rows[0]["usd"]
        == options(trained, catalogs).rows[0]["usd"]
    )


def test_offline_work_on_what_is_there_takes_all_of_it(catalogs):
    job = {"work": "inference", "model": "llama-3.1-8b", "tokens_total": 1e9, "hours_most": 400}
    row = options(job | {"have": "8 x a100-80gb-sxm"}, catalogs).rows[0]
    assert (row["gpus"], np.isnan(row["usd"])) == (8, True)
    assert row["run_hours"] == pytest.approx(
        row["start_hours"] + 1e9 / row["run_tokens_per_second"] / 3600
    )
    assert "a month" not in row["why"]
