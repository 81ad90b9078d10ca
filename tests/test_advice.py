"""Advice: every change holds when it is estimated again, does the work that it says, saves what it says, and is the useful one."""

import numpy as np
import pandas as pd
import pytest

from calc import estimate
from calc.search.advice import advise
from calc.search.comparisons import at_once
from calc.search.neighbours import distinct_changes, job_of_scenario, neighbours
from calc.search.options import options
from calc.search.pick import DEAREST_RATIO, MOST_OF_A_KIND, choices_of

GIB = 2**30
PLAN = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096}
RUN = PLAN | {"train_tokens": 1e9}
TOO_LARGE = PLAN | {"instance": "p4d.24xlarge"}
FAR_TOO_LARGE = TOO_LARGE | {"model": "llama-3.1-70b"}
UNSHARDED = {"model": "llama-3.1-8b", "instance": "p4d.24xlarge", "gpus": 8, "batch": 4, "sequence_tokens": 2048}
ONE_GPU = {"model": "llama-3.1-8b", "instance": "g6e.xlarge", "batch": 4}
LORA = FAR_TOO_LARGE | {"tuning": "lora", "precision": "bf16", "accumulation_steps": 4, "train_tokens": 1.5e8}
ON_A_T4 = {"model": "gpt2", "instance": "g4dn.xlarge", "precision": "bf16-mixed", "batch": 8, "sequence_tokens": 1024, "train_tokens": 1e9}
SERVED = {"work": "inference", "implementation": "vllm", "instance": "p5.48xlarge", "gpus": 8, "tensor_parallel": 8}
SERVED_32B = SERVED | {"model": "qwen2.5-32b", "sequence_tokens": 8192, "batch": 20}
SERVED_70B = SERVED | {"model": "llama-3.1-70b", "sequence_tokens": 4096, "prompt_tokens": 3072, "batch": 32}
SERVED_SMALL = SERVED_32B | {"instance": "g6.12xlarge", "gpus": 4, "tensor_parallel": 4, "sequence_tokens": 2048, "batch": 8}
SERVED_TOO_LARGE = SERVED_70B | {"instance": "g6e.xlarge", "gpus": 1, "tensor_parallel": 1, "batch": 8}
FITTING = {"a run": RUN, "32B served": SERVED_32B, "70B served": SERVED_70B, "on small cards": SERVED_SMALL}
TOO_BIG = {"too large": TOO_LARGE, "far too large": FAR_TOO_LARGE, "unsharded": UNSHARDED, "one GPU": ONE_GPU, "LoRA": LORA}
TOO_BIG |= {"served": SERVED_TOO_LARGE}
ALL = FITTING | {"without a length": PLAN, "on a T4": ON_A_T4} | TOO_BIG


ADVISED = {}


def advised(scenario, catalogs, market="on-demand"):
    """What is advised for a scenario without limits, worked out once for all tests."""
    key = (*scenario.items(), market)
    if key not in ADVISED:
        ADVISED[key] = advise(scenario, catalogs, market)
    return ADVISED[key].copy()


def each(scenarios):
    return pytest.mark.parametrize("scenario", scenarios.values(), ids=scenarios.keys())


def after(scenario, change, catalogs):
    return estimate(scenario | {name: value for name, value in change["set"].items() if name != "market"}, catalogs, solve=False)


def with_estimates(changes, scenario, catalogs):
    """Each change beside the estimate of the scenario that it makes."""
    sets = [{name: value for name, value in change.items() if name != "market"} for change in changes["set"]]
    rows = estimate(pd.DataFrame([scenario | one for one in sets]).astype(object).fillna(""), catalogs, solve=False)
    return zip(changes.to_dict("records"), rows.to_dict("records"), strict=True)


@pytest.mark.parametrize("market", ["on-demand", "spot"])
@each(ALL)
def test_every_change_holds_and_saves_what_it_says(catalogs, scenario, market):
    now, changes = estimate(scenario, catalogs, solve=False), advised(scenario, catalogs, market)
    assert len(changes)
    for change, row in with_estimates(changes, scenario, catalogs):
        assert row["problem"] == ""
        assert row["fits"] == change["fits"]
        assert row["fits"] in ("yes", "tight")
        assert row["runs"] == change["runs"]
        assert row["runs"] == "yes" or (row["runs"] == "emulated" and now["runs"] == "no" and row["tokens_per_second"] > 0)
        assert ("(emulated)" in change["change"]) == (row["runs"] == "emulated")
        assert change["saved_gib"] == pytest.approx((now["memory_bytes"] - row["memory_bytes"]) / GIB)
        sold = change["set"].get("market", market)
        if sold not in ("on-demand", "spot"):
            continue
        key, spot = sold.replace("-", "_"), sold == "spot"
        slower, before = 1 + spot * row["spot_overhead_ratio"], 1 + (market == "spot") * now["spot_overhead_ratio"]
        assert change["usd_per_hour"] == pytest.approx(row[f"usd_per_hour_{key}"], nan_ok=True)
        rates = now["tokens_per_second"] / before / (row["tokens_per_second"] / slower)
        assert change["slowdown_ratio"] == pytest.approx(rates, nan_ok=True)
        trains = row["work"] == "training"
        assert change["usd"] == pytest.approx(row[f"run_usd_{key}" if trains else f"usd_per_month_{key}"], nan_ok=True)
        assert change["hours"] == pytest.approx((row["spot_run_hours" if spot else "run_hours"]) if trains else 730, nan_ok=True)
        if trains:
            saved = 1 - change["usd_per_hour"] * change["slowdown_ratio"] / now[f"usd_per_hour_{market.replace('-', '_')}"]
            assert change["saved_work_ratio"] == pytest.approx(saved, nan_ok=True)


@each(ALL)
def test_the_changed_job_is_answered_with_the_same_figures(catalogs, scenario):
    for change in advised(scenario, catalogs).to_dict("records"):
        market = change["set"].get("market", "on-demand")
        own = options(job_of_scenario(after(scenario, change, catalogs), market, {}), catalogs).answers.iloc[0]
        assert own["fits"] == change["fits"]
        assert own["usd_per_hour"] == pytest.approx(change["usd_per_hour"], rel=1e-12)
        assert np.isnan(change["usd"]) or own["usd"] == pytest.approx(change["usd"], rel=1e-12)


@each(ALL)
def test_no_layout_beats_the_answer_of_the_job_that_leaves_it_free(catalogs, scenario):
    job = job_of_scenario(estimate(scenario, catalogs, solve=False), "on-demand", {})
    laid_out = ("gpu", "gpus", "instance", "sharding", "tensor_parallel", "pipeline_parallel", "batch", "accumulation_steps", "recompute")
    own = options({name: value for name, value in job.items() if name not in laid_out}, catalogs).answers.iloc[0]
    changes = advised(scenario, catalogs)
    alike = changes[changes["same_work"] & changes["kind"].isin(["layout", "instance", "gpus"]) & (changes["fits"] == "yes")]
    assert own["problem"] or not (alike["usd"] < own["usd"] * (1 - 1e-9)).any()


@each(ALL)
def test_the_same_work_is_the_same(catalogs, scenario):
    """The method, as many bits, the tokens of a step; in service no fewer sequences at once, and the context."""
    now, changes = estimate(scenario, catalogs, solve=False), advised(scenario, catalogs)
    bits = catalogs.precisions[["matrix_bytes_each", "outer_bytes_each", "state_bytes_each", "compute_bytes_each"]]
    for change, row in with_estimates(changes, scenario, catalogs):
        same = (bits.loc[row["precision"]] == bits.loc[now["precision"]]).all()
        same &= all(row[name] == now[name] for name in ("tuning", "optimizer", "sequence_tokens", "kv_precision"))
        if now["work"] == "training":
            same &= now["step_tokens"] / 2 <= row["step_tokens"] <= now["step_tokens"] * 2 and change["kind"] != "step"
        else:
            same &= at_once(row) >= at_once(now)
        assert same == change["same_work"], change["change"]


@each(ALL)
def test_the_same_work_comes_first(catalogs, scenario):
    changes = advised(scenario, catalogs)
    assert changes["same_work"].any()
    assert changes["same_work"].is_monotonic_decreasing
    assert changes["change"].is_unique
    assert (changes.groupby(["kind", "same_work"]).size() <= 3).all()
    assert max(MOST_OF_A_KIND.values()) == 3


@each(FITTING)
def test_where_it_fits_each_change_saves_money_or_memory_and_what_saves_most_comes_first(catalogs, scenario):
    now, changes = estimate(scenario, catalogs, solve=False), advised(scenario, catalogs)
    assert now["fits"] == "yes"
    for _, part in changes.groupby("same_work"):
        assert part["saved_work_ratio"].is_monotonic_decreasing
    cheaper = changes["saved_work_ratio"] > 0.01
    smaller = (changes["saved_gib"] > 0.02 * now["gpu_memory_bytes"] / GIB) & (changes["saved_usd_per_hour"] >= 0)
    assert (cheaper | smaller).all()
    assert cheaper.any()
    assert (changes["slowdown_ratio"][~cheaper] < np.where(changes["same_work"][~cheaper], 1.5, 1.1)).all()
    assert (changes["fits"] == "yes").all()  # a plan that fits is not traded for one that may run out of memory
    if now["work"] == "inference":
        assert (changes["saved_usd_per_hour"] >= 0).all()


@each(TOO_BIG)
def test_where_it_does_not_fit_what_fits_for_sure_and_for_no_more_an_hour_comes_first(catalogs, scenario):
    changes = advised(scenario, catalogs)
    same = changes[changes["same_work"]]
    rank = list(zip(same["fits"] == "tight", same["saved_usd_per_hour"] < 0, strict=True))
    assert rank == sorted(rank)
    cost = 1 - same["saved_work_ratio"]
    assert (cost <= DEAREST_RATIO * cost.min() * 1.0001).all()


def test_a_layout_that_trains_the_same_comes_before_lora_and_larger_cards(catalogs):
    """8B on 8 A100 of 40 GB, unsharded: ZeRO 3 beside tensor parallel, or tensor parallel 8, keep price and training."""
    changes = advised(UNSHARDED, catalogs)
    own = changes[changes["kind"] == "layout"]
    assert list(changes["kind"][: len(own)]) == ["layout"] * len(own)
    assert (own["saved_usd_per_hour"] == 0).all()
    row = own.iloc[0]
    assert row["set"].keys() <= {"sharding", "tensor_parallel", "batch", "accumulation_steps", "recompute"}
    now, after = (estimate(one, catalogs, solve=False) for one in (UNSHARDED, UNSHARDED | row["set"]))
    assert (now["fits"], after["fits"]) == ("no", "yes")
    assert (now["memory_bytes"] - after["memory_bytes"]) / GIB == pytest.approx(row["saved_gib"])
    assert row["slowdown_ratio"] == pytest.approx(1.1, abs=0.2)
    assert any(change.get("tensor_parallel") == 8 for change in own["set"])


def test_a_card_without_bf16_is_given_fp16(catalogs):
    """GPT-2 on a T4: as many bits on tensor cores; with eager attention it runs as planned, and fits at half the batch."""
    changes = advised(ON_A_T4, catalogs)
    change = changes.set_index("change").loc["fp16 mixed (emulated)"]
    assert change["same_work"]
    assert change["set"] == {"precision": "fp16-mixed"}
    assert change["usd"] == pytest.approx(10, abs=0.5)
    assert changes["runs"][0] == "yes"
    native = advise(ON_A_T4 | {"batch": 4}, catalogs).set_index("change").loc["fp16 mixed, eager attention"]
    assert (native["runs"], native["same_work"]) == ("yes", True)


@pytest.mark.parametrize(
    ("scenario", "saved"), [(RUN, 0.2), (RUN | {"model": "llama-3.1-70b", "gpus": 64, "recompute": "full"}, 0.3)], ids=["8B", "70B"]
)
def test_fp8_products_are_offered_as_other_work_where_the_card_has_them(catalogs, scenario, saved):
    """Compiled; without, casting takes what the products save."""
    eager = advised(scenario, catalogs).set_index("change")["saved_work_ratio"].get("fp8 mixed", 0)
    scenario = scenario | {"compile": "yes"}
    change = advised(scenario, catalogs).set_index("change").loc["fp8 mixed"]
    assert not change["same_work"]
    assert change["saved_work_ratio"] > saved > eager
    assert "Micikevicius" in change["source"]
    older = advise(scenario | {"instance": "p4de.24xlarge"}, catalogs)
    assert "fp8 mixed" not in set(older["change"])


def test_a_service_is_offered_more_sequences_at_once(catalogs):
    """70B on 8 H100: four times the sequences generate a token for about 40 % less, in time."""
    changes = advised(SERVED_70B, catalogs)
    row = changes[(changes["kind"] == "batch") & changes["same_work"]].iloc[0]
    assert row["set"]["batch"] >= 128
    assert row["saved_work_ratio"] > 0.4
    assert "times the users" in row["change"]
    table = after(SERVED_70B, row, catalogs)
    assert table["time_per_output_token_seconds"] <= 0.05
    assert table["time_to_first_token_seconds"] <= 2


def test_a_service_is_offered_fewer_gpus_on_a_larger_card(catalogs):
    """32B for 8 at once on four L4: one RTX PRO 6000 serves as many for less, laid out anew, and faster."""
    changes = advised(SERVED_SMALL, catalogs)
    row = changes[changes["kind"] == "instance"].iloc[0]
    assert row["same_work"]
    assert row["set"] == {"instance": "g7e.2xlarge", "gpu": "", "gpus": 1.0, "tensor_parallel": 1.0}
    assert row["change"] == "g7e.2xlarge"
    assert row["saved_usd_per_hour"] > 1
    assert row["slowdown_ratio"] < 1


@each(
    {
        "8B": {"model": "llama-3.1-8b"},
        "LoRA": {"model": "llama-3.1-70b", "method": "lora"},
        "32B served": {"work": "inference", "model": "qwen2.5-32b", "users": 20, "prompt_tokens": 7168, "answer_tokens": 1024},
        "70B served": {"work": "inference", "model": "llama-3.1-70b", "users": 100},
    }
)
def test_no_advice_beats_the_answer_of_least_money_by_what_the_answer_was_free_to_choose(catalogs, scenario):
    found = options(scenario, catalogs)
    row = found.answers.iloc[0].to_dict()
    changes = advise(row, catalogs, row["market"], found.job)
    assert len(changes)
    free = changes["same_work"] & changes["kind"].isin(["layout", "instance", "gpus"])
    assert not (changes["saved_work_ratio"][free] > 0.01).any()


def test_limits_are_kept(catalogs):
    dear = advise(TOO_LARGE, catalogs, limits={"usd_per_hour_most": 30})
    assert (dear["usd_per_hour"] <= 30).all()
    assert len(dear)
    one = advise(FAR_TOO_LARGE, catalogs, limits={"instances_most": 1})
    assert not any(change.get("gpus", 8) > 8 for change in one["set"])
    late = advise(RUN, catalogs, limits={"hours_most": 4.2})
    assert (late["hours"] <= 4.2).all()
    quick = advise(SERVED_32B, catalogs, limits={"token_seconds": 0.02})
    for change in quick.to_dict("records"):
        assert after(SERVED_32B, change, catalogs)["time_per_output_token_seconds"] <= 0.02
    sure = advise(SERVED_32B, catalogs, limits={"token_seconds": 0.04, "hold_slow_end": "yes"})
    assert len(sure)
    for change in sure.to_dict("records"):
        assert after(SERVED_32B, change, catalogs)["time_per_output_token_high_seconds"] <= 0.04 * (1 + 1e-9)


def test_pairs_are_tried_only_where_no_single_change_keeps_the_work(catalogs):
    limits = {"instances_most": 1, "usd_per_hour_most": 5}
    changes = advise(ONE_GPU, catalogs, limits=limits)
    assert "pair" in set(changes["kind"])
    for change, row in with_estimates(changes, ONE_GPU, catalogs):
        assert (row["problem"], row["fits"]) == ("", change["fits"])
        assert row["usd_per_hour_on_demand"] <= 5
        assert len(choices_of(change["set"])) > 1 or change["kind"] != "pair"
    for scenario in TOO_BIG.values():
        assert "pair" not in set(advised(scenario, catalogs)["kind"])


def test_where_nothing_helps_nothing_is_said(catalogs):
    assert advise(PLAN | {"tensor_parallel": 3}, catalogs).empty
    assert advise(SERVED_TOO_LARGE, catalogs, limits={"usd_per_hour_most": 0.5}).empty


def test_a_row_of_estimate_is_advised_as_its_scenario(catalogs):
    for scenario in (UNSHARDED, SERVED_32B):
        row = estimate(scenario, catalogs, solve=False) | {"market": "on-demand", "why": ""}
        from_row, from_scenario = advise(row, catalogs), advised(scenario, catalogs)
        assert from_row["change"].tolist() == from_scenario["change"].tolist()
        assert from_row["set"].tolist() == from_scenario["set"].tolist()


def test_a_change_that_changes_nothing_is_left_out(catalogs):
    now = estimate(PLAN, catalogs, solve=False)
    changes = neighbours(now, catalogs, "on-demand", {}).changes
    assert all(now[name] != value for change in changes for name, value in change.items() if name in now)
    assert distinct_changes(now, [changes[0], changes[0]]) == changes[:1]
