"""Advice: every change holds when it is estimated again, does the work that it says, saves what it
says, and is the useful one.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from examples import catalogs, recorded

from calc import estimate
from calc.answers.advice import advise
from calc.answers.full_answer import full_answer as options
from calc.layout import at_once
from calc.studies.advice_selection import DEAREST_RATIO, MOST_OF_A_KIND, choices_of
from calc.studies.neighbors import SETUPS, job_of_scenario

CASES = recorded("cases/advice.json")
FITTING, TOO_BIG = CASES["fitting"], CASES["too big"]
ALL = FITTING | CASES["others"] | TOO_BIG
PLAN, RUN = ALL["without a length"], ALL["a run"]


def advice(scenario, market="on-demand", **limits):
    """Return the advice on a scenario, and with each change the estimate that it leads to."""
    changes = advise(scenario, catalogs(), market, limits=limits or None)
    sets = [
        {name: value for name, value in change.items() if name != "market"}
        for change in changes["set"]
    ]
    rows = (
        estimate(
            pd.DataFrame([scenario | one for one in sets]).astype(object).fillna(""),
            catalogs(),
            solve=False,
        )
        if sets
        else changes
    )
    return changes, list(zip(changes.to_dict("records"), rows.to_dict("records"), strict=True))


@cache
def advised(name, market="on-demand"):
    """The estimate of one of the scenarios above, and its advice without limits."""
    return estimate(ALL[name], catalogs(), solve=False), *advice(ALL[name], market)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("name", "market"),
    [
        *((name, "on-demand") for name in ALL),
        *((name, "spot") for name in [*FITTING, "LoRA"]),
    ],
)
def test_every_change_holds_and_saves_what_it_says(name, market):
    planned, changes, pairs = advised(name, market)
    assert len(changes)
    for change, row in pairs:
        assert (row["problem"], row["fits"], row["runs"]) == ("", change["fits"], change["runs"])
        assert row["fits"] in ("yes", "tight")
        assert row["runs"] == "yes" or (
            row["runs"] == "emulated" and planned["runs"] == "no" and row["tokens_per_second"] > 0
        )
        assert ("(emulated)" in change["change"]) == (row["runs"] == "emulated")
        assert change["saved_gib"] == pytest.approx(
            (planned["needed_bytes"] - row["needed_bytes"]) / 2**30
        )
        market_of = change["set"].get("market", market)
        if market_of not in ("on-demand", "spot"):
            continue
        key, spot, trains = (
            market_of.replace("-", "_"),
            market_of == "spot",
            row["work"] == "training",
        )
        slower, before = (
            1 + spot * row["spot_overhead_ratio"],
            1 + (market == "spot") * planned["spot_overhead_ratio"],
        )
        expected = {
            "usd_per_hour": row[f"usd_per_hour_{key}"],
            "slowdown_ratio": planned["tokens_per_second"]
            / before
            / (row["tokens_per_second"] / slower),
            "usd": row[f"run_usd_{key}" if trains else f"usd_per_month_{key}"],
            "hours": row["spot_run_hours" if spot else "run_hours"] if trains else 730,
        }
        if trains:
            before = market.replace("-", "_")
            hourly = (
                change["usd_per_hour"]
                * change["slowdown_ratio"]
                / planned[f"usd_per_hour_{before}"]
            )
            expected["saved_work_ratio"] = 1 - (
                hourly if np.isnan(change["usd"]) else change["usd"] / planned[f"run_usd_{before}"]
            )
        assert {column: change[column] for column in expected} == pytest.approx(
            expected, nan_ok=True
        )


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.long
def test_a_changed_job_is_answered_with_the_same_figures(name):
    """The first, the last and one between, each as a job in which all is fixed."""
    _, _, pairs = advised(name)
    for change, row in (pairs[0], pairs[len(pairs) // 2], pairs[-1]):
        answer = options(
            job_of_scenario(row, change["set"].get("market", "on-demand"), {}), catalogs()
        ).answers.iloc[0]
        assert (answer["fits"], answer["usd_per_hour"]) == (
            change["fits"],
            pytest.approx(change["usd_per_hour"], rel=1e-9),
        )
        assert np.isnan(change["usd"]) or answer["usd"] == pytest.approx(change["usd"], rel=1e-9)


def is_ranked(change):
    """Return whether answers rank every choice that a change sets."""
    return not change.keys() & SETUPS.keys()


def test_what_is_not_ranked_is_said_with_its_layout_and_machine_and_so_is_other_software():
    """Gemma 3 27B by QLoRA on an L40S: a fused loss leaves room to recompute less, which the loss
    alone does not save; NeMo Automodel quantizes too, and Megatron, which does not, is not named.
    """
    job = {"model": "gemma-3-27b", "method": "qlora", "train_tokens": 3e7, "instance": "g6e.xlarge"}
    answer = options(job, catalogs())
    row = answer.rows[0]
    assert "other-setups" in row["why_codes"]
    changes = advise(row, catalogs(), row["market"], answer.job)
    saved = {
        tuple(change): ratio
        for change, ratio in zip(changes["set"], changes["saved_work_ratio"], strict=True)
    }
    assert saved[("loss", "recompute")] > 0.1 > saved.get(("loss",), 0)
    assert saved[("compile",)] > 0.1
    software = [change["implementation"] for change in changes["set"] if "implementation" in change]
    assert software == ["automodel"]
    elsewhere = [change for change in changes["set"] if {"instance", "compile"} <= change.keys()]
    assert elsewhere


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.long
def test_no_layout_beats_the_answer_of_the_job_that_leaves_it_free(name):
    planned, changes, _ = advised(name)
    laid_out = (
        "gpu",
        "gpus",
        "instance",
        "sharding",
        "tensor_parallel",
        "pipeline_parallel",
        "batch",
        "accumulation_steps",
        "recompute",
    )
    job = {
        column: value
        for column, value in job_of_scenario(planned, "on-demand", {}).items()
        if column not in laid_out
    }
    answer = options(job, catalogs()).answers.iloc[0]
    alike = changes[
        changes["same_work"]
        & changes["kind"].isin(["layout", "instance", "gpus"])
        & (changes["fits"] == "yes")
        & changes["set"].map(is_ranked)
    ]
    assert answer["problem"] or not (alike["usd"] < answer["usd"] * (1 - 1e-9)).any()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ALL)
def test_the_same_work_is_the_same_and_comes_first(name):
    """The method, as many bits, the tokens of a step; in service no fewer concurrent sequences, and
    the context.
    """
    planned, changes, pairs = advised(name)
    bits = catalogs().precisions[
        ["matrix_bytes_each", "outer_bytes_each", "state_bytes_each", "compute_bytes_each"]
    ]
    for change, row in pairs:
        same = (bits.loc[row["precision"]] == bits.loc[planned["precision"]]).all()
        same &= all(
            row[column] == planned[column]
            for column in ("tuning", "optimizer", "sequence_tokens", "kv_precision")
        )
        if planned["work"] == "training":
            same &= (
                planned["step_tokens"] / 2 <= row["step_tokens"] <= planned["step_tokens"] * 2
                and change["kind"] != "step"
            )
        else:
            same &= at_once(row) >= at_once(planned)
        assert same == change["same_work"], change["change"]
    assert (changes["same_work"].any(), changes["change"].is_unique) == (True, True)
    ranks = list(zip(~changes["same_machine"], ~changes["same_work"], strict=True))
    assert ranks == sorted(ranks)
    assert changes["same_machine"].tolist() == [
        not change.keys() & {"instance", "gpu", "gpus"} for change in changes["set"]
    ]
    assert changes.groupby(["kind", "same_work"]).size().max() <= max(MOST_OF_A_KIND.values()) == 3


@pytest.mark.parametrize("name", FITTING)
def test_where_it_fits_each_change_saves_money_or_memory_and_what_saves_most_comes_first(name):
    planned, changes, _ = advised(name)
    assert planned["fits"] == "yes"
    assert (
        changes["fits"] == "yes"
    ).all()  # a plan that fits is not traded for one that may run out of memory
    assert all(
        part["saved_work_ratio"].is_monotonic_decreasing
        for _, part in changes.groupby(["same_machine", "same_work"])
    )
    cheaper = changes["saved_work_ratio"] > 0.01
    smaller = (changes["saved_gib"] > 0.02 * planned["gpu_memory_bytes"] / 2**30) & (
        changes["saved_usd_per_hour"] >= 0
    )
    assert cheaper.any()
    assert (cheaper | smaller).all()
    assert (
        changes["slowdown_ratio"][~cheaper] < np.where(changes["same_work"][~cheaper], 1.5, 1.1)
    ).all()
    assert planned["work"] == "training" or (changes["saved_usd_per_hour"] >= 0).all()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", TOO_BIG)
def test_where_it_does_not_fit_what_fits_for_sure_and_for_no_more_an_hour_comes_first(name):
    _, changes, _ = advised(name)
    same = changes[changes["same_work"]]
    stays, elsewhere = (same[same["same_machine"] == here] for here in (True, False))
    for part, second in (
        (stays, stays["slowdown_ratio"].round(2)),
        (elsewhere, elsewhere["saved_usd_per_hour"] < 0),
    ):
        rank = list(zip(part["fits"] == "tight", second, strict=True))
        assert rank == sorted(rank)
    cost = 1 - same["saved_work_ratio"]
    assert (cost <= DEAREST_RATIO * cost.min() * 1.0001).all()
    single = changes[changes["same_work"] & changes["same_machine"] & (changes["kind"] != "pair")]
    assert single.empty or "pair" not in set(changes["kind"])


def test_a_layout_that_trains_the_same_comes_before_lora_and_larger_cards():
    """8B on 8 A100 of 40 GB, unsharded: FSDP keeps price and training; in transformers no matrix is
    divided unasked.
    """
    planned, changes, pairs = advised("unsharded")
    layouts = changes[changes["kind"] == "layout"]
    assert list(layouts.index) == list(range(len(layouts)))
    assert (layouts["saved_usd_per_hour"] == 0).all()
    change, row = pairs[0]
    assert change["set"].keys() <= {
        "sharding",
        "tensor_parallel",
        "batch",
        "accumulation_steps",
        "recompute",
    }
    assert (planned["fits"], row["fits"]) == ("no", "yes")
    assert change["slowdown_ratio"] == pytest.approx(1.1, abs=0.2)
    assert all(one.get("tensor_parallel", 1) == 1 for one in layouts["set"])


def test_a_card_without_bf16_is_given_fp16():
    """GPT-2 on a T4: as many bits on tensor cores; with PyTorch's own attention it runs as
    planned.
    """
    _, changes, _ = advised("on a T4")
    change = changes.set_index("change").loc["fp16 mixed, sdpa attention"]
    elsewhere = changes[~changes["same_machine"]]
    assert (change["same_work"], change["set"], elsewhere["runs"].iloc[0]) == (
        True,
        {"precision": "fp16-mixed", "attention": "sdpa"},
        "yes",
    )
    assert (change["runs"], change["usd"]) == ("yes", pytest.approx(9.4, abs=0.5))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("more", "saved"),
    [({}, 0.2), ({"model": "llama-3.1-70b", "gpus": 64, "recompute": "full"}, 0.3)],
    ids=["8B", "70B"],
)
def test_fp8_products_are_offered_as_other_work_where_the_card_has_them(more, saved):
    """Compiled; without, casting takes what the products save."""
    eager, compiled, older = (
        advise(RUN | more | one, catalogs()).set_index("change")
        for one in ({}, {"compile": "yes"}, {"compile": "yes", "instance": "p4de.24xlarge"})
    )
    change = compiled.loc["fp8 mixed"]
    assert not change["same_work"]
    assert change["saved_work_ratio"] > saved > eager["saved_work_ratio"].get("fp8 mixed", 0)
    assert "Micikevicius" in change["source"]
    assert "fp8 mixed" not in older.index


def test_a_service_is_offered_more_sequences_at_once_or_fewer_gpus_on_a_larger_card():
    """70B on 8 H100: four times the sequences for 40 % less a token, in time; 32B on four L4: one
    RTX PRO 6000, laid out anew.
    """
    _, _, pairs = advised("70B served")
    change, row = next(
        pair for pair in pairs if pair[0]["kind"] == "batch" and pair[0]["same_work"]
    )
    assert change["set"]["batch"] >= 128
    assert change["saved_work_ratio"] > 0.4
    assert change["change"].endswith("concurrent sequences")
    assert row["time_per_output_token_seconds"] <= 0.1
    assert row["time_to_first_token_seconds"] <= 5
    _, changes, _ = advised("on small cards")
    change = changes[changes["kind"] == "instance"].iloc[0]
    assert change["set"] == {
        "instance": "g7e.2xlarge",
        "gpu": "",
        "gpus": 1.0,
        "tensor_parallel": 1.0,
    }
    assert (change["same_work"], change["change"]) == (True, "g7e.2xlarge")
    assert change["saved_usd_per_hour"] > 1 > change["slowdown_ratio"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("job", CASES["jobs"], ids=str)
def test_no_advice_beats_the_answer_of_least_money_by_what_the_answer_was_free_to_choose(job):
    answered = options(job, catalogs())
    row = answered.answers.iloc[0].to_dict()
    changes = advise(row, catalogs(), row["market"], answered.job)
    assert len(changes)
    free = changes["same_work"] & changes["kind"].isin(["layout", "instance", "gpus"])
    free &= changes["set"].map(is_ranked)
    assert not (changes["saved_work_ratio"][free] > 0.01).any()


@pytest.mark.sample(2)
@pytest.mark.parametrize(("name", "limits", "column", "most"), CASES["limits"])
def test_limits_are_kept(name, limits, column, most):
    _, pairs = advice(ALL[name], **limits)
    assert pairs
    assert all((row | change)[column] <= most for change, row in pairs)


def test_pairs_are_tried_where_no_single_change_keeps_the_work():
    changes, pairs = advice(ALL["one GPU"], instances_most=1, usd_per_hour_most=5)
    assert "pair" in set(changes["kind"])
    for change, row in pairs:
        assert (row["problem"], row["fits"]) == ("", change["fits"])
        assert row["usd_per_hour_on_demand"] <= 5
        assert len(choices_of(change["set"])) > 1 or change["kind"] != "pair"


def test_where_nothing_helps_nothing_is_said():
    assert advise(PLAN | {"tensor_parallel": 3}, catalogs()).empty
    assert advise(ALL["served"], catalogs(), limits={"usd_per_hour_most": 0.5}).empty


@pytest.mark.parametrize("name", ["unsharded", "32B served"])
def test_a_row_of_estimate_is_advised_as_its_scenario(name):
    planned, changes, _ = advised(name)
    from_row = advise(planned | {"market": "on-demand", "why": ""}, catalogs())
    assert from_row[["change", "set"]].to_dict("list") == changes[["change", "set"]].to_dict("list")


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", FITTING)
def test_of_a_run_that_failed_although_it_fits_each_change_frees_what_was_refused(name):
    planned, lacking = estimate(ALL[name], catalogs(), solve=False), 3 * 2**30
    changes = advise(ALL[name], catalogs(), lacking_bytes=lacking)
    rows = estimate(
        pd.DataFrame([ALL[name] | one for one in changes["set"]]).astype(object).fillna(""),
        catalogs(),
        solve=False,
    )
    freed = (rows["gpu_memory_bytes"] - rows["needed_bytes"]) - (
        planned["gpu_memory_bytes"] - planned["needed_bytes"]
    )
    assert (freed >= lacking).all()
    here = changes[changes["same_machine"] & changes["same_work"] & (changes["fits"] == "yes")]
    assert len(changes)
    assert here["slowdown_ratio"].round(2).is_monotonic_increasing
