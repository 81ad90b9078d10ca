"""Conversations of several turns: Che's approximation by hand, its laws, the command, the page."""

import numpy as np
import pandas as pd
import pytest
from examples import bill_row, steady, written
from hypothesis import given
from hypothesis import strategies as st
from pages import opened, page_text

from calc import answer, estimate
from calc.__main__ import main
from calc.plan.sessions import Sessions, session_plan
from calc.scenarios.problems import TableError
from calc.speed.cache_stays import hit_ratio_at, stay_at, think_time_ratio, weibull_shape
from calc.speed.conversations import turn_tokens

CHAT = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "instance": "g6e.xlarge",
    "batch": 8,
    "implementation": "vllm",
}
KEPT = "~".join(
    ["chat", "market", "on-demand", *(str(part) for pair in CHAT.items() for part in pair)]
)
ANSWERS = f"{KEPT}~sequence_tokens~2048~prompt_tokens~1792"
CHAT |= {"prompt_tokens": 4096, "sequence_tokens": 4352}


def test_che_s_approximation_by_hand():
    """Two turns of 100 tokens, 60 s to think, a conversation a second.

    A context stays for T = 60 s if the cache holds 60 (1 − 1/e) · 100 of those that wait for their
    second turn, and 60 · 200 of those that have ended.
    """
    held = (60 * (1 - np.exp(-1)) * 100 + 60 * 200) / (60 * 100)
    assert stay_at(2, 1.0, held) == pytest.approx(1, rel=1e-4)
    found = hit_ratio_at(np.array([2.0]), np.array([1.0]), np.array([held]))
    assert found == pytest.approx(1 - np.exp(-1), rel=1e-4)


@pytest.mark.parametrize("variation", [0.3, 0.5, 1.0, 2.0, 4.0])
def test_times_to_think_have_the_mean_and_the_variation(variation):
    drawn = np.random.default_rng(1).random(400_000)
    times = np.geomspace(1e-6, 1e6, 20_000)
    think = np.interp(drawn, think_time_ratio(times, variation), times)
    assert think.mean() == pytest.approx(1, rel=0.05)
    assert think.std() / think.mean() == pytest.approx(variation, rel=0.1)
    assert weibull_shape(1.0) == pytest.approx(1)


@steady(40)
@given(st.integers(2, 50), st.floats(0.1, 5), st.floats(1e-3, 1e4))
def test_a_larger_cache_keeps_more(turns, variation, held):
    found = hit_ratio_at(np.full(2, turns), np.full(2, variation), np.array([held, 2 * held]))
    assert 0 <= found[0] <= found[1] <= 1


def test_a_service_of_conversations_reuses_what_its_cache_keeps(catalogs):
    row = bill_row(catalogs, **CHAT)
    added = turn_tokens(8, 4096, 4352, 0)
    assert np.mean([turn * added + added - 256 for turn in range(8)]) == pytest.approx(4096)
    plans = [session_plan(row, Sessions(8, think), catalogs) for think in (10, 60, 600)]
    hits = [plan.hit_ratio for plan in plans]
    assert hits == sorted(hits, reverse=True)
    assert hits[0] > 0.95
    assert hits[2] < 0.2
    for plan in plans:
        assert plan.cached["first_token_seconds"] <= plan.plain["first_token_seconds"]
        rates = plan.by_pool["requests_per_second"]
        assert rates.is_monotonic_increasing
        found = estimate(CHAT | plan.sessions._asdict(), catalogs)
        assert found["conversation_hit_ratio"] == pytest.approx(plan.hit_ratio)
        assert found["tokens_per_second"] / 256 == pytest.approx(plan.cached["requests_per_second"])
        cost = plan.by_pool["usd_per_million_output_tokens"]
        assert (cost * rates).to_numpy() == pytest.approx((cost * rates)[0], rel=1e-3)
    with pytest.raises(TableError, match="too few for 100 turns"):
        session_plan(row, Sessions(100, 60), catalogs)


@pytest.mark.long
@pytest.mark.usefixtures("read_once")
def test_the_command_and_the_page_say_what_is_reused(tmp_path, capsys):
    plans, caches = tmp_path / "plans.csv", tmp_path / "caches.csv"
    names = ",".join(["scenario", *CHAT])
    plans.write_text(f"{names}\nchat,{','.join(map(str, CHAT.values()))}\n", "utf-8")
    words = ["load", str(plans), "--turns", "8", "-o", str(tmp_path / "out.csv")]
    assert main([*words, "--caches", str(caches)]) == 0
    assert "of the later turns find their conversation" in capsys.readouterr().err
    assert len(written(caches)) == 7
    for wrong in (["--turns", "1"], ["--think", "0"], ["--turns", "150"]):
        assert main([*words, *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    for kept, words in (
        (KEPT, "needs answers, and none is generated"),
        (ANSWERS, "4 turns with 60 s between"),
    ):
        app = opened("load", kept=[kept])
        app.session_state["conversations_open"] = True
        app.run()
        assert words in page_text(app) + "".join(error.value for error in app.error)


def test_a_conversation_without_a_known_cache_is_refused(catalogs):
    row = bill_row(catalogs, **CHAT) | {"kv_pool_tokens": float("nan")}
    with pytest.raises(TableError, match="plan the service with vllm"):
        session_plan(row, Sessions(4, 60), catalogs)


JOB = {"goal": "serve", "model": "llama-3.1-8b", "prompt_tokens": 4096, "answer_tokens": 256}


def test_the_search_takes_the_machines_that_the_turns_leave_necessary(catalogs):
    """The batch of the answer is the smallest that keeps up with the hits that it leaves room for.

    Without hits, no batch of these machines keeps up.
    """
    job = JOB | {"instance": "g6e.xlarge", "precision": "fp8", "tensor_parallel": 1}
    job |= {"turns": 8, "think_seconds": 5}
    found = answer(job | {"requests_per_second": 20}, catalogs).iloc[0]
    assert found["conversation_hit_ratio"] > 0.9
    scenario = {name: found[name] for name in ("gpus", "sequence_tokens")} | job
    scenario |= {"work": "inference", "implementation": "vllm", "batch": found["batch"]}
    rows = [scenario, scenario | {"batch": found["batch"] - 1}]
    rows += [scenario | {"turns": 1, "batch": batch} for batch in (16, 32, 64, 128)]
    table = estimate(pd.DataFrame(rows), catalogs, solve=False)
    seconds = table["time_to_first_token_seconds"] + 256 * table["time_per_output_token_seconds"]
    load = 20 * seconds / (table["batch"] * table["gpus"])
    assert load[0] <= 1
    assert (load[1:] > 1).all()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"turns": 100}, "too few for 100 turns with answers of 256 tokens"),
        ({"turns": 4, "reused_prompt_tokens": 5}, "leave one of the two empty"),
        ({"turns": 4, "sequence_tokens": 4096}, "needs answers, and none is generated"),
        ({"turns": 4, "implementation": "transformers"}, "estimated for implementation vllm"),
    ],
)
def test_a_conversation_that_cannot_be_is_refused(catalogs, changed, problem):
    assert problem in estimate(CHAT | changed, catalogs)["problem"]
