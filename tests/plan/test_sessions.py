"""Conversations of several turns: Che's approximation by hand, its laws, the command, the page."""

import numpy as np
import pytest
from examples import billed_row, steady, written
from hypothesis import given
from hypothesis import strategies as st
from pages import opened, page_text

from calc.__main__ import main
from calc.plan.sessions import (
    Contexts,
    Sessions,
    contexts_of,
    hit_ratio,
    session_plan,
    stay_seconds,
    weibull_shape,
)
from calc.scenarios.problems import TableError

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
    contexts, sessions = Contexts(100.0, 60.0, 0.0), Sessions(2, 60.0)
    free = 60 * (1 - np.exp(-1)) * 100 + 60 * 200
    assert stay_seconds(free, 2.0, sessions, contexts) == pytest.approx(60, rel=1e-4)
    assert hit_ratio(60.0, sessions) == pytest.approx(1 - np.exp(-1))


@pytest.mark.parametrize("variation", [0.3, 0.5, 1.0, 2.0, 4.0])
def test_times_to_think_have_the_mean_and_the_variation(variation):
    drawn = np.random.default_rng(1).random(400_000)
    sessions = Sessions(2, 60.0, variation)
    times = np.geomspace(1e-6, 1e6, 20_000)
    seconds = np.interp(drawn, hit_ratio(times, sessions), times)
    assert seconds.mean() == pytest.approx(60, rel=0.05)
    assert seconds.std() / seconds.mean() == pytest.approx(variation, rel=0.1)
    assert weibull_shape(1.0) == pytest.approx(1)


@steady(40)
@given(st.integers(1, 50), st.floats(1, 1e4), st.floats(1e3, 1e7), st.floats(0.01, 50))
def test_a_larger_cache_keeps_longer_and_a_faster_load_shorter(turns, think, free, rate):
    contexts, sessions = Contexts(500.0, 300.0, 0.0), Sessions(turns, think)
    stay = stay_seconds(free, rate, sessions, contexts)
    assert stay <= stay_seconds(2 * free, rate, sessions, contexts)
    assert stay >= stay_seconds(free, 2 * rate, sessions, contexts)
    assert 0 <= hit_ratio(stay, sessions) <= 1


def test_a_service_of_conversations_reuses_what_its_cache_keeps(catalogs):
    row = billed_row(catalogs, **CHAT)
    contexts = contexts_of(row, 8)
    prompts = [turn * contexts.turn_tokens + contexts.question_tokens for turn in range(8)]
    assert np.mean(prompts) == pytest.approx(4096)
    plans = [session_plan(row, Sessions(8, think), catalogs) for think in (10, 60, 600)]
    hits = [plan.hit_ratio for plan in plans]
    assert hits == sorted(hits, reverse=True)
    assert hits[0] > 0.95
    assert hits[2] < 0.2
    for plan in plans:
        assert plan.cached["first_token_seconds"] <= plan.plain["first_token_seconds"]
        rates = plan.by_pool["requests_per_second"]
        assert rates.is_monotonic_increasing
        cost = plan.by_pool["usd_per_million_output_tokens"]
        assert (cost * rates).to_numpy() == pytest.approx((cost * rates)[0], rel=1e-3)
    once = session_plan(row, Sessions(1, 60), catalogs)
    assert once.reused_tokens == 0
    with pytest.raises(TableError, match="too short for 100 turns"):
        session_plan(row, Sessions(100, 60), catalogs)


@pytest.mark.usefixtures("read_once")
def test_the_command_and_the_page_say_what_is_reused(tmp_path, capsys):
    plans, caches = tmp_path / "plans.csv", tmp_path / "caches.csv"
    names = ",".join(["scenario", *CHAT])
    plans.write_text(f"{names}\nchat,{','.join(map(str, CHAT.values()))}\n", "utf-8")
    words = ["load", str(plans), "--turns", "8", "-o", str(tmp_path / "out.csv")]
    assert main([*words, "--caches", str(caches)]) == 0
    assert "of the later turns find their conversation" in capsys.readouterr().err
    assert len(written(caches)) == 7
    for wrong in (["--turns", "0"], ["--think", "0"], ["--turns", "150"]):
        assert main([*words, *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    for kept, words in ((KEPT, "generates no answer"), (ANSWERS, "4 turns with 60 s between")):
        app = opened("load", kept=[kept])
        app.session_state["conversations_open"] = True
        app.run()
        assert words in page_text(app) + "".join(error.value for error in app.error)


def test_a_conversation_without_a_known_cache_is_refused(catalogs):
    row = billed_row(catalogs, **CHAT) | {"kv_pool_tokens": float("nan")}
    with pytest.raises(TableError, match="plan the service with vllm"):
        session_plan(row, Sessions(4, 60), catalogs)
