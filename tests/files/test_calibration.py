"""Own runs: every log is read as what it measured, and a log of another run is never taken
silently.
"""

import json

import numpy as np
import pages
import pytest
from examples import catalogs, published

from calc import answer, estimate
from calc.catalogs.checked_documents import document_of
from calc.catalogs.load import with_readings
from calc.catalogs.rooms import READINGS, label_of
from calc.files.calibration.entries import calibration_text, entries_of_readings
from calc.files.calibration.run_logs import runs
from calc.files.calibration.run_readings import readings, readings_of_runs
from calc.files.link.link import compose, parse
from calc.units import GIB

LOGS = published("run_logs")["logs"]
IN_GIB = (
    "allocated_peak",
    "reserved_peak",
    "used",
    "weights",
    "non_torch",
    "activation_peak",
    "kv_pool",
)
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
    figures = {
        figure: value * (GIB if figure in IN_GIB else 1) for figure, value in log["figures"].items()
    }
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


def test_a_sweep_is_read_at_each_of_its_loads_once_one_is_the_plans():
    sweep = json.loads(LOGS["guidellm"]["text"])
    (at_8,) = sweep["benchmarks"]
    sweep["benchmarks"] = [
        at_8,
        json.loads(json.dumps(at_8).replace('"streams": 8', '"streams": 16')),
    ]
    read, left_out = readings_of_runs(runs(json.dumps(sweep)), [plan()], catalogs(), "2026-11-12")
    assert ([reading.row["batch"] for reading in read], left_out) == ([8, 8, 16, 16], [])
    assert read[2].estimated == pytest.approx(plan(batch=16)["time_per_output_token_seconds"])
    read, left_out = readings_of_runs(
        runs(json.dumps(sweep)), [plan(batch=64)], catalogs(), "2026-11-12"
    )
    assert (read, len(left_out)) == ([], 2)


@pytest.mark.parametrize(
    ("log", "choices", "words"),
    [
        ("guidellm", {"batch": 32}, "8 requests in flight"),
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


def readings_of(*ratios, quantity="time", **choices):
    """Runs of the plan that took so many times what was estimated."""
    entry = {
        "made_on": "2026-11-12",
        "tool": "vLLM",
        "quantity": quantity,
        "gpus": 1,
        **SERVED,
        **choices,
    }
    return with_readings(
        catalogs(),
        {f"run-{number}": entry | {"ratio": ratio} for number, ratio in enumerate(ratios)},
    )


def half_width(row):
    return np.log(
        row["time_per_output_token_high_seconds"] / row["time_per_output_token_low_seconds"]
    )


def test_a_run_moves_its_plan_by_its_weight_and_narrows_the_range_by_what_it_explains():
    before, after = plan(), estimate(SERVED, readings_of(1.3), solve=False)
    exponent = catalogs().time_constants["value"]["run_held_serving_ratio"]
    assert after["time_per_output_token_seconds"] == pytest.approx(
        1.3**exponent * before["time_per_output_token_seconds"], rel=0.01
    )
    assert half_width(after) == pytest.approx(np.sqrt(1 - exponent**2) * half_width(before))
    assert after["note"] == "Time is calibrated on your run of 12 November."
    assert after["time_reason"].endswith("corrected by your own runs")
    assert (after["memory_bytes"], after["time_to_first_token_low_seconds"] > 0) == (
        before["memory_bytes"],
        True,
    )


def test_more_runs_weigh_more_and_others_less():
    """Three runs of the plan over one; another model less than the plan, another card less than
    that, other work nothing.
    """

    def moved(catalogs_of_runs, **choices):
        rows = [
            estimate(SERVED | choices, source, solve=False)
            for source in (catalogs(), catalogs_of_runs)
        ]
        return np.log(
            rows[1]["time_per_output_token_seconds"] / rows[0]["time_per_output_token_seconds"]
        )

    one = readings_of(1.3)
    moves = [
        moved(readings_of(1.3, 1.3, 1.3)),
        moved(one),
        moved(one, batch=16),
        moved(one, model="qwen3-8b"),
        moved(one, gpu="a10g"),
    ]
    assert moves == sorted(moves, reverse=True)
    assert np.log(1.3) > moves[0] > moves[1] > moves[3] > moves[4] == 0
    assert moved(readings_of(1.3, work="training")) == 0


def test_a_first_token_that_was_measured_moves_first_tokens_alone():
    before, after = plan(), estimate(SERVED, readings_of(1.3, quantity="first_token"), solve=False)
    exponent = catalogs().time_constants["value"]["run_held_serving_ratio"]
    assert after["time_to_first_token_seconds"] == pytest.approx(
        1.3**exponent * before["time_to_first_token_seconds"], rel=0.02
    )
    assert after["time_per_output_token_seconds"] == pytest.approx(
        before["time_per_output_token_seconds"], rel=0.01
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"benchmarks": [3], "args": []}',
        '{"segments": 1, "device_traces": [[{}]]}',
        '{"mean_tpot_ms": 1e999}',
    ],
)
def test_a_text_of_another_form_has_no_run(text):
    assert runs(text) == []


def test_memory_of_a_run_is_in_the_overhead_and_in_the_verdict():
    before, after = plan(), estimate(SERVED, readings_of(1.1, quantity="memory"))
    assert after["memory_bytes"] > before["memory_bytes"]
    assert after["memory_bytes"] == pytest.approx(
        after["allocated_peak_bytes"] + after["overhead_bytes"]
    )
    assert (
        after["memory_high_bytes"] - after["memory_low_bytes"]
        < before["memory_high_bytes"] - before["memory_low_bytes"]
    )
    assert after["max_batch"] < estimate(SERVED, catalogs())["max_batch"]
    assert after["note"].startswith("Memory is")


def test_an_answer_rests_on_runs_as_its_row_does():
    """The search weighs a run on each card as the estimate of a row does."""
    calibrated = readings_of(1.3)
    job = {
        "goal": "serve",
        "model": "llama-3.1-8b",
        "users": 8,
        "prompt_tokens": 512,
        "answer_tokens": 128,
        "fewest_bits": 16,
    }
    row = answer({**job, "gpu": "h100-80gb-sxm"}, calibrated).iloc[0]
    scenario = {name: row[name] for name in SERVED | {"instance": "", "gpus": 1}}
    again = estimate(scenario, calibrated, solve=False)
    assert row["time_per_output_token_seconds"] == pytest.approx(
        again["time_per_output_token_seconds"]
    )
    assert "12 November" in row["note"]


def test_readings_are_written_as_the_catalog_reads_them():
    read, _ = readings(run_of("guidellm"), plan(), catalogs(), "2026-11-12")
    entries = entries_of_readings(read)
    document = document_of(calibration_text(entries).encode(), READINGS, label_of(READINGS))
    assert document == {"calibration": json.loads(json.dumps(entries))}
    assert len(with_readings(catalogs(), entries).readings) == 2


def test_readings_travel_in_the_link_and_what_is_none_is_said():
    entries = readings_of(1.3).readings.to_dict("index")
    query = compose({"readings": entries})
    choices, complaints = parse(query, catalogs())
    assert (list(choices["readings"].values()), complaints) == (list(entries.values()), [])
    choices, complaints = parse(
        {"run": ["2026-11-12~vLLM~time~1e9~inference", query["run"][0]]}, catalogs()
    )
    assert (len(choices["readings"]), len(complaints)) == (1, 1)


@pytest.mark.long
def test_a_pasted_benchmark_calibrates_the_plan_and_one_press_takes_it_off():
    query = {
        "goal": "serve",
        "model": "llama-3.1-8b",
        "users": "8",
        "prompt_tokens": "512",
        "answer_tokens": "128",
        "gpu": "h100-80gb-sxm",
    }
    app = pages.opened("bring", **query, fewest_bits="16")
    app = pages.pasted(app, LOGS["guidellm"]["text"])
    pages.run(app.button(key="calibrate").click())
    assert len(pages.address(app)["run"]) == 2
    pages.turned(app, "plan")
    assert "Time is calibrated on your run of" in pages.page_text(app)
    pages.run(app.button(key="calibration_off").click())
    assert "calibrated on your run" not in pages.page_text(app)
    assert "run" not in pages.address(app)
