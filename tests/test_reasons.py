"""Why a found plan wins over the present one, and choices and changes in words with what they cost in quality."""

import numpy as np
import pandas as pd
import pytest
from examples import recorded

from calc import estimate
from calc.say.change import change_in_words, quality
from calc.say.numbers import percent, span, usd
from calc.scenarios.inputs import DEFAULTS
from calc.search.options import options
from calc.search.reasons import reasons
from calc.search.wide import best, wide_search
from calc.search.widened import usual_sets, widened

PLAN = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096}
TOO_LARGE = PLAN | {"instance": "p4d.24xlarge"}


def test_a_change_says_what_it_costs_in_quality_and_who_says_so(catalogs):
    assert quality({"recompute": "full"}, catalogs) == ("the same numbers", "Chen et al. 2016, arXiv 1604.06174")
    words, source = quality({"tuning": "lora", "precision": "nf4-dq"}, catalogs)
    assert "QLoRA" in words
    assert "2305.14314" in source
    assert "stall" in quality({"precision": "bf16"}, catalogs)[0]
    assert quality({"precision": "bf16"}, catalogs, serves=True)[0] == "none"
    assert quality({"region": "us-east-2"}, catalogs) == ("", "")


@pytest.mark.parametrize(
    ("change", "words"), recorded("cases/reasons.json")["changes"], ids=lambda value: value if isinstance(value, str) else ""
)
def test_changes_are_said_in_the_words_of_the_catalogs(catalogs, change, words):
    assert change_in_words(change, catalogs) == words


def test_a_service_has_sequences_at_once(catalogs):
    assert change_in_words({"batch": 10.0}, catalogs, serves=True) == "10 sequences at once"
    assert change_in_words({"precision": "fp8", "batch": 1.0}, catalogs, serves=True) == "fp8, 1 sequence at once"


def best_rows(catalogs, most=30):
    """What a wide search of a training of the plan's model shows."""
    job = {"model": PLAN["model"], "train_tokens": 1e9, "step_tokens": 32768, "markets": "on-demand+spot"}
    job = options(job, catalogs).job
    return best(wide_search(widened(job, usual_sets(job, catalogs), {}, catalogs), catalogs), catalogs, most)


@pytest.fixture(scope="module")
def explained(catalogs):
    plan = DEFAULTS | PLAN | {"precision": "bf16-mixed", "train_tokens": 1e9}
    present = estimate(plan, catalogs, solve=False)
    return present, reasons(best_rows(catalogs), present, "on-demand", 0, catalogs)


def test_a_found_plan_is_compared_with_the_present_one_and_spot_is_what_it_costs_without(explained):
    present, rows = explained
    assert rows["usd_ratio"].to_numpy() == pytest.approx(rows["usd"] / present["run_usd_on_demand"])
    first = rows.iloc[0]
    assert f"{percent(1 - first['usd_ratio'])} cheaper" in first["why"]
    assert f"{usd(present['run_usd_on_demand'])} in {span(present['run_hours'])}" in first["why"]
    assert rows["why"].str.endswith(".").all()
    _, rows = explained
    row = rows[(rows["market"] == "spot") & rows["run_usd_on_demand"].notna()].iloc[0]
    share = 1 - row["run_usd_spot"] / row["run_usd_on_demand"]
    assert f"spot ({percent(share)})" in row["why"]


def test_a_present_plan_that_does_not_fit_is_said(catalogs):
    plan = DEFAULTS | TOO_LARGE | {"precision": "bf16-mixed", "train_tokens": 1e9, "instance": "g6.xlarge", "gpus": 1}
    present = estimate(plan, catalogs, solve=False)
    assert present["fits"] == "no"
    rows = reasons(best_rows(catalogs, most=3), present, "on-demand", 0, catalogs)
    assert rows["why"].str.startswith("The present plan does not fit.").all()
    assert np.isfinite(rows["usd"]).all()
    assert reasons(pd.DataFrame(), present, "on-demand", 0, catalogs).empty
