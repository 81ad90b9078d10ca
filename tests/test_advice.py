"""Advice: every suggested change holds when it is estimated again, with the savings that were said; and why plans win."""

import numpy as np
import pandas as pd
import pytest

from calc import estimate
from calc.scenarios.inputs import DEFAULTS
from calc.search.advice import FEW_ALONE, advise
from calc.search.frontier import best
from calc.search.limits import OPEN
from calc.search.reasons import reasons
from calc.search.search import search
from calc.search.space import usual
from calc.words import in_words, quality

GIB = 2**30
PLAN = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096}
TOO_LARGE = PLAN | {"instance": "p4d.24xlarge"}
FAR_TOO_LARGE = TOO_LARGE | {"model": "llama-3.1-70b"}
SERVED = {
    "work": "inference",
    "model": "qwen2.5-32b",
    "implementation": "vllm",
    "instance": "p5.48xlarge",
    "gpus": 8,
    "tensor_parallel": 8,
    "sequence_tokens": 8192,
    "batch": 20,
}
ONE_GPU = {"model": "llama-3.1-8b", "instance": "g6e.xlarge", "batch": 4}
ALL = {"fits": PLAN, "too large": TOO_LARGE, "far too large": FAR_TOO_LARGE, "served": SERVED, "one GPU": ONE_GPU}


@pytest.mark.parametrize("market", ["on-demand", "spot"])
@pytest.mark.parametrize("scenario", ALL.values(), ids=ALL.keys())
def test_every_change_holds_and_saves_what_it_says(catalogs, scenario, market):
    now, changes = estimate(scenario, catalogs, solve=False), advise(scenario, catalogs, market)
    assert len(changes)
    for change in changes.to_dict("records"):
        setting = {name: value for name, value in change["set"].items() if name != "market"}
        row = estimate(scenario | setting, catalogs, solve=False)
        kind = change["set"].get("market", market).replace("-", "_")
        assert row["problem"] == ""
        assert row["fits"] in ("yes", "tight")
        assert change["usd_per_hour"] == pytest.approx(row[f"usd_per_hour_{kind}"], nan_ok=True)
        assert change["saved_gib"] == pytest.approx((now["memory_bytes"] - row["memory_bytes"]) / GIB)
        slower = 1 + (row["spot_overhead_ratio"] if kind == "spot" else 0)
        before = 1 + (now["spot_overhead_ratio"] if market == "spot" else 0)
        rates = now["tokens_per_second"] / before / (row["tokens_per_second"] / slower)
        assert change["slowdown_ratio"] == pytest.approx(rates, nan_ok=True)


def test_what_saves_most_comes_first_where_it_fits(catalogs):
    changes = advise(PLAN, catalogs)
    assert len(changes) > 5
    assert changes["saved_work_ratio"].notna().all()
    assert changes["saved_work_ratio"].is_monotonic_decreasing
    assert changes["saved_work_ratio"].nunique() > 3
    assert changes.iloc[0]["change"] == "spot"
    spot = estimate(PLAN, catalogs, solve=False)["spot_saving_ratio"]
    assert changes.iloc[0]["saved_work_ratio"] == pytest.approx(spot)


def test_what_makes_it_fit_comes_cheapest_first(catalogs):
    changes = advise(TOO_LARGE, catalogs)
    assert len(changes) >= FEW_ALONE
    assert changes["usd_per_hour"].is_monotonic_increasing
    assert "recompute full" in set(changes["change"])


def test_where_few_alone_fit_the_two_cheapest_pairs_come_first(catalogs):
    changes = advise(FAR_TOO_LARGE, catalogs)
    assert list(changes["kind"][:2]) == ["pair", "pair"]
    assert (changes["kind"] == "pair").sum() == 2
    assert all(len(change) > 1 for change in changes["set"][:2])
    single = changes[changes["kind"] != "pair"]["usd_per_hour"]
    assert single.empty or changes["usd_per_hour"][0] < single.min()


def test_where_nothing_helps_nothing_is_said(catalogs):
    assert advise(PLAN | {"tensor_parallel": 3}, catalogs).empty


def test_a_change_says_what_it_costs_in_quality_and_who_says_so(catalogs):
    assert quality({"recompute": "full"}, catalogs) == ("the same numbers", "Chen et al. 2016, arXiv 1604.06174")
    words, source = quality({"tuning": "lora", "precision": "nf4-dq"}, catalogs)
    assert "QLoRA" in words
    assert "2305.14314" in source
    assert "stall" in quality({"precision": "bf16"}, catalogs)[0]
    assert quality({"precision": "bf16"}, catalogs, serves=True)[0] == "none"
    assert quality({"region": "us-east-2"}, catalogs) == ("", "")


def test_changes_are_said_in_the_words_of_the_catalogs(catalogs):
    assert in_words({"optimizer": "adamw-8bit"}, catalogs) == "AdamW 8-bit"
    assert in_words({"tuning": "lora", "precision": "nf4", "recompute": "full"}, catalogs) == "LoRA over NF4, recompute full"
    assert in_words({"gpus": 1.0, "sharding": "none"}, catalogs) == "1 GPU, no sharding"
    assert in_words({"batch": 10.0}, catalogs, serves=True) == "10 at once"
    assert in_words({"instance": "p5.48xlarge", "gpu": "", "market": "spot"}, catalogs) == "p5.48xlarge, spot"


@pytest.fixture(scope="module")
def explained(catalogs):
    plan = DEFAULTS | PLAN | {"precision": "bf16-mixed", "train_tokens": 1e9}
    found = search(plan, usual(plan), OPEN, catalogs)
    present = estimate(plan, catalogs, solve=False)
    return present, reasons(best(found, catalogs), present, "on-demand", 0, catalogs)


def test_a_found_plan_is_held_against_the_present_one(explained):
    present, rows = explained
    assert rows["usd_ratio"].to_numpy() == pytest.approx(rows["found_usd"] / present["run_usd_on_demand"])
    first = rows.iloc[0]
    assert f"{1 - first['usd_ratio']:.0%} cheaper".replace("%", " %") in first["why"]
    assert f"${present['run_usd_on_demand']:,.0f} in {present['run_hours']:.3g} h" in first["why"]
    assert rows["why"].str.endswith(".").all()


def test_what_it_owes_to_spot_is_what_it_costs_without(explained):
    _, rows = explained
    row = rows[(rows["found_market"] == "spot") & rows["run_usd_on_demand"].notna()].iloc[0]
    share = 1 - row["run_usd_spot"] / row["run_usd_on_demand"]
    assert f"spot ({share:.0%})".replace("%", " %") in row["why"]


def test_a_present_plan_that_does_not_fit_is_said(catalogs):
    plan = DEFAULTS | TOO_LARGE | {"precision": "bf16-mixed", "train_tokens": 1e9, "instance": "g6.xlarge", "gpus": 1}
    present = estimate(plan, catalogs, solve=False)
    assert present["fits"] == "no"
    found = search(plan, usual(plan), OPEN, catalogs)
    rows = reasons(best(found, catalogs, most=3), present, "on-demand", 0, catalogs)
    assert rows["why"].str.startswith("The present plan does not fit.").all()
    assert np.isfinite(rows["found_usd"]).all()
    assert reasons(pd.DataFrame(), present, "on-demand", 0, catalogs).empty
