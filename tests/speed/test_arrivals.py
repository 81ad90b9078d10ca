"""Percentiles under random arrivals: their theory at its limits, who has none, and a simulation of
every step.
"""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from examples import catalogs

from calc import answer, estimate
from calc.search.limit_percentiles import goodput_ratio
from calc.speed.arrivals import arrivals_load_ratio, prompts_queue_seconds
from calc.speed.waits import slot_wait_ratio, slot_wait_seconds
from validation.arrivals import PERCENTILES, lengths, simulate

SERVED = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "implementation": "vllm",
    "gpu": "h100-80gb-sxm",
    "sequence_tokens": 1536,
}
SERVED |= {"prompt_tokens": 1024}
LOADED = (*PERCENTILES, "arrivals_load_ratio")


class Steps:
    """An engine whose steps take 10 ms, without a limit but its slots."""

    budget, ahead, least_seconds, step_seconds = 10_000, False, 0.0, [0.0, *[0.01] * 99]

    def __init__(self, slots):
        self.slots = slots

    def mixed_seconds(self, sequences, prefill):
        return self.step_seconds[sequences] + prefill


def test_a_prompt_alone_takes_its_prefill_and_an_answer_its_steps():
    first, last = simulate(
        np.array([1.0, 9.0]),
        np.array([100, 100]),
        np.array([11, 1]),
        np.array([0.5, 0.25]),
        Steps(slots=4),
    )
    assert first - [1, 9] == pytest.approx([0.5, 0.25])
    assert last - first == pytest.approx([0.1, 0])


def test_a_request_without_a_slot_waits_for_the_first_to_end():
    first, last = simulate(
        np.array([0.0, 0.1]),
        np.array([100, 100]),
        np.array([11, 11]),
        np.array([0.5, 0.5]),
        Steps(slots=1),
    )
    assert first[1] == pytest.approx(last[0] + 0.5)


def test_the_simulation_of_prompts_alone_is_the_queue_of_pollaczek_and_khinchine():
    """Answers of one token, one prompt a step: M/M/1 at a load of one half waits for one
    service.
    """
    draw, count = np.random.default_rng(1), 30_000
    arrivals, work = np.cumsum(draw.exponential(2.0, count)), draw.exponential(1.0, count)
    one_a_step = Steps(slots=1)
    first, _ = simulate(arrivals, np.full(count, 100), np.ones(count), work, one_a_step)
    assert np.mean(first - arrivals - work) == pytest.approx(
        prompts_queue_seconds(0.5, 1.0, 2.0, 0.0), rel=0.1
    )


def test_lengths_have_their_mean_and_spread():
    drawn = lengths(np.random.default_rng(2), 500, 0.8)
    assert (drawn.mean(), drawn.std() / drawn.mean()) == (
        pytest.approx(500, rel=0.02),
        pytest.approx(0.8, rel=0.05),
    )


def test_many_free_slots_are_no_wait_and_none_are_always_one():
    waits = slot_wait_ratio(1.0, 50.0, 0.0, 50.0, np.array([1.0, 50.0, 60.0, 200.0]))
    assert waits[0] == waits[1] > 0.9
    assert 0.02 < waits[2] < 0.2
    assert waits[3] < 1e-9
    # M/M/k: the mean over the spare rate of answers.
    assert slot_wait_seconds(1.0, 0.5) == pytest.approx(1)


def test_the_load_is_one_where_every_slot_is_always_taken():
    """K sequences of g tokens on steps of d + K d' and prompts of s: K answered in g (d + K d') + K
    s.
    """
    rate = 8 / (100 * (0.01 + 8 * 0.001) + 8 * 0.05)
    assert arrivals_load_ratio(
        rate, 100, 0.01, 8, rate * 0.05, rate * 100 * 0.001
    ) == pytest.approx(1)


def test_percentiles_grow_with_the_share_the_load_and_the_spread():
    rows = pd.DataFrame([SERVED | {"batch": batch} for batch in (4, 16, 64)])
    table = estimate(rows, catalogs(), columns=LOADED)
    for time in ("first_token", "token", "request"):
        of_time = table[[name for name in PERCENTILES if name.startswith(time)]]
        assert (np.diff(of_time, axis=1) > 0).all()
        assert (np.diff(of_time, axis=0) > 0).all()
    spread = estimate(
        rows.assign(prompt_variation_ratio=2, answer_variation_ratio=2), catalogs(), columns=LOADED
    )
    assert (spread["request_p99_seconds"] > table["request_p99_seconds"]).all()
    even = estimate(rows.assign(prompt_variation_ratio=0, answer_variation_ratio=0), catalogs())
    assert (even["request_p99_seconds"] < 1.5 * even["request_p50_seconds"]).all()
    assert (
        (even["token_p50_seconds"] / even["time_per_output_token_seconds"]).between(0.9, 1.1).all()
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"work": "training", "implementation": "transformers"},
        {"tokens_total": 1e9},
        {"prompt_tokens": 1536},
        {"batch": 5000},
        {"gpu": ""},
    ],
)
def test_work_that_nobody_waits_for_or_that_never_keeps_up_has_none(changes):
    row = estimate(SERVED | {"batch": 8} | changes, catalogs(), solve=False)
    assert row["problem"] == ""
    assert np.isnan([row[name] for name in PERCENTILES]).all()


def test_a_row_says_where_its_percentiles_are_rough():
    rows = estimate(
        pd.DataFrame([SERVED | {"batch": batch} for batch in (8, 150, 5000)]),
        catalogs(),
        solve=False,
    )
    assert rows["note"].str.contains("percentiles are rough").tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("gpu", "limit", "most"),
    [("l40s", 32, 32), ("l40s", None, 256), ("h100-80gb-sxm", None, 1024)],
)
def test_an_engine_runs_no_more_requests_than_its_limit_and_never_catches_up_beyond(
    gpu, limit, most
):
    """vLLM's defaults are 256 sequences and, on cards of 70 GiB, 1,024."""
    row = SERVED | {"gpu": gpu, "instance": "", "max_sequences": limit, "prompt_tokens": 64}
    full, over = (
        estimate(row | {"batch": batch, "sequence_tokens": 96}, catalogs())
        for batch in (most, 2 * most)
    )
    assert full["arrivals_load_ratio"] > 0
    assert np.isnan(over["arrivals_load_ratio"])
    assert over["tokens_per_second"] == pytest.approx(full["tokens_per_second"], rel=0.05)
    waits = [one["time_to_first_token_seconds"] for one in (over, full)]
    assert waits[0] > 3 * waits[1]


JOB = {
    "goal": "serve",
    "model": "llama-3.1-8b",
    "requests_per_second": 20,
    "prompt_tokens": 1024,
    "answer_tokens": 256,
}
JOB |= {
    "instance": ["g6e.xlarge", "p5.4xlarge"],
    "first_token_seconds": 0.2,
    "token_seconds": 0.03,
    "confidence": "50",
}


@pytest.mark.long
def test_a_limit_holds_for_the_percentile_that_it_names():
    """The more requests have to keep a limit, the more is paid; goodput is then at least the
    share.
    """
    jobs = [
        JOB | {"first_token_percentile": share, "token_percentile": share}
        for share in ("", "p90", 99)
    ]
    rows = answer(
        [job | {"job": str(number)} for number, job in enumerate(jobs)], catalogs()
    ).drop_duplicates("job")
    mean, most, nearly_all = rows.to_dict("records")
    assert mean["usd"] <= most["usd"] < nearly_all["usd"]
    assert most["first_token_p90_seconds"] <= 0.2 < most["first_token_p99_seconds"]
    assert nearly_all["first_token_p99_seconds"] <= 0.2
    assert 0.9 <= most["goodput_ratio"] < 0.99 <= nearly_all["goodput_ratio"]
    slow = answer(
        JOB | {"first_token_percentile": "99", "first_token_seconds": 0.01}, catalogs()
    ).iloc[0]
    assert "for 99 of 100 requests" in slow["problem"] + slow["why"]
    dear = answer(
        JOB | {"requests_per_second": 40, "instance": "", "first_token_percentile": "99"},
        catalogs(),
    ).iloc[0]
    assert "to the first token for 99 of 100 requests −$" in dear["limits_cost"]


def test_goodput_is_the_share_at_a_percentile_and_none_where_the_queue_never_ends():
    row = {
        f"{time}_p{share}_seconds": np.array([seconds, np.nan])
        for time in ("first_token", "token")
        for share, seconds in SPREAD
    }
    row["arrivals_load_ratio"] = np.array([0.5, 1.2])
    shares = [
        goodput_ratio(
            SimpleNamespace(first_token_seconds=limit, token_seconds=None), row.__getitem__
        )
        for limit in (1.0, 2.0, 8.0)
    ]
    assert np.array(shares)[:, 0] == pytest.approx([0.5, 0.9, 0.99])
    assert not np.array(shares)[:, 1].any()


SPREAD = ((50, 1.0), (90, 2.0), (99, 8.0))
