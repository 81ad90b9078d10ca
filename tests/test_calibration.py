"""Own runs: every log is read as what it measured, and a log of another run is never taken silently."""

import pytest
from examples import catalogs, published

from calc import estimate
from calc.files.calibration.logs import runs
from calc.files.calibration.readings import readings
from calc.units import GIB

LOGS = published("run_logs")["logs"]
IN_GIB = ("allocated_peak", "reserved_peak", "used", "weights", "non_torch", "activation_peak")
SERVED = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "implementation": "vllm",
    "precision": "bf16",
    "gpu": "h100-80gb-sxm",
    "batch": 8,
    "sequence_tokens": 640,
    "prompt_tokens": 512,
}


def run_of(name):
    (run,) = runs(LOGS[name]["text"])
    return run


@pytest.mark.parametrize("name", LOGS)
def test_every_figure_and_every_fact_of_a_log_is_read(name):
    log, run = LOGS[name], run_of(name)
    figures = {figure: value * (GIB if figure in IN_GIB else 1) for figure, value in log["figures"].items()}
    assert run.figures == pytest.approx(figures, rel=1e-4)
    numbers = {fact: value for fact, value in log["facts"].items() if not isinstance(value, str)}
    assert {fact: run.facts[fact] for fact in numbers} == pytest.approx(numbers, rel=1e-3)
    assert run.facts == log["facts"] | {fact: run.facts[fact] for fact in numbers}
    assert run.day == log.get("day", "")


def plan(**choices):
    return estimate(SERVED | choices, catalogs(), solve=False)


def test_a_benchmark_of_the_plan_is_its_seconds_over_those_estimated():
    row = plan()
    (token, first), why = readings(run_of("guidellm"), row, catalogs(), "2026-11-12")
    assert why == ""
    assert token.ratio == pytest.approx(0.0079 / row["time_per_output_token_seconds"])
    assert (token.quantity, first.quantity, token.made_on) == ("time", "first_token", "2026-11-12")


def test_a_rate_counts_as_the_time_that_it_stands_for():
    row = plan(batch=32, sequence_tokens=2048, prompt_tokens=1024)
    (token,), _ = readings(run_of("vllm"), row, catalogs(), "2026-11-12")
    assert token.ratio == pytest.approx(row["tokens_per_second"] / 2900.5)


@pytest.mark.parametrize(
    ("log", "choices", "words"),
    [
        ("guidellm", {"batch": 32}, "8 requests at once"),
        ("guidellm", {"model": "qwen3-8b"}, "Llama 3.1 8B"),
        ("guidellm", {"sequence_tokens": 4096, "prompt_tokens": 2048}, "prompts of 512 tokens"),
        ("nvidia-smi query", {}, "NVIDIA A10G"),
        ("torchtune", {}, "training"),
        ("guidellm", {"precision": "fp32"}, "far outside"),
    ],
)
def test_a_log_of_another_run_is_left_out_with_one_sentence(log, choices, words):
    read, why = readings(run_of(log), plan(**choices), catalogs(), "2026-11-12")
    assert read == []
    assert words in why
    assert why.endswith(".")
