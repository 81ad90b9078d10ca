"""The contract: every column under its name with its default, parts that sum, one row like many, no
row lost.
"""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from examples import MODELS, PARTS, answered, catalogs, many, one, recorded

from calc import estimate, estimate_distinct
from calc.columns import COMPONENTS, GLOSSARY
from calc.memory import fit
from calc.memory.memory_basis import AXES, GROUNDS
from calc.say.remarks.memory import BASES
from calc.scenarios.inputs import ASSUMPTIONS, INPUTS

# Column -> default in training, in inference; null: empty.
SCENARIO = recorded("cases/columns.json")["defaults"]
RESULTS = (
    *(
        "parameters",
        "active_parameters",
        "trained_parameters",
        *PARTS,
        "overhead_bytes",
        "allocated_peak_bytes",
    ),
    *(
        "memory_bytes",
        "memory_low_bytes",
        "memory_high_bytes",
        "peak_phase",
        "gpu_memory_bytes",
        "headroom_bytes",
    ),
    *(
        "fits",
        "max_batch",
        "max_sequence_tokens",
        "instances_needed",
        "gpus_paid",
        "usd_per_hour_on_demand",
    ),
    *(
        "usd_per_hour_spot",
        "run_hours",
        "run_usd_on_demand",
        "run_usd_spot",
        "usd_per_month_on_demand",
    ),
    *("usd_per_month_spot", "prices_as_of", "problem"),
)
PHASES = {
    "training": {"load", "rollout", "log-probs", "forward", "backward", "step"},
    "inference": {"load", "prefill", "decode"},
}
NUMBERS = [name for name in GLOSSARY if GLOSSARY[name].unit != "text"]


def same(first, second):
    """Two tables hold the same columns, words and numbers."""
    pd.testing.assert_frame_equal(
        first, second, check_dtype=False, check_categorical=False, rtol=0, atol=0
    )


@pytest.mark.parametrize("work", ["training", "inference"])
def test_every_scenario_column_has_the_default_of_the_contract(work):
    result = one(model="llama-3.1-8b", work=work)
    filled = {name: None if pd.isna(result[name]) else result[name] for name in SCENARIO}
    assert filled == {name: pair[work == "inference"] for name, pair in SCENARIO.items()}
    assert [column.name for column in INPUTS] == list(SCENARIO)


def test_every_result_column_is_there_in_order_after_the_inputs():
    frame = estimate(pd.DataFrame({"model": ["gpt2"]}), catalogs())
    assert list(frame)[: len(SCENARIO)] == list(SCENARIO)
    assert set(RESULTS) <= set(frame)
    assert set(frame) <= {*GLOSSARY, *ASSUMPTIONS}
    assert list(frame)[-1] == "problem"


def test_words_are_those_of_the_contract():
    results = answered()
    for work, phases in PHASES.items():
        assert set(results.loc[results["work"] == work, "peak_phase"]) <= phases
    carded = results["gpu"] != ""
    assert set(results.loc[carded, "fits"]) == {"yes", "tight", "no"}
    assert set(results.loc[~carded, "fits"]) == {""}


def test_components_sum_to_the_peak_and_memory_none_is_negative_and_the_range_has_the_estimate():
    results = answered()
    assert len(results) > 250
    assert (results[list(PARTS)].sum(axis=1) == results["allocated_peak_bytes"]).all()
    assert (results[list(COMPONENTS)].sum(axis=1) == results["memory_bytes"]).all()
    amounts = [
        name
        for name in NUMBERS
        if name in results and name not in ("headroom_bytes", "spot_saving_ratio")
    ]
    assert not (results[amounts] < 0).any().any()
    assert (
        results["memory_bytes"]
        .between(results["memory_low_bytes"], results["memory_high_bytes"])
        .all()
    )
    assert not results[list(COMPONENTS)].isna().any().any()


def test_the_verdict_follows_from_what_must_fit():
    """yes: its upper end is within the card; tight: the estimate is; no: not even the estimate."""
    results = answered()
    results = results[results["gpu_memory_bytes"] > 0]
    needed, card = results["needed_bytes"], results["gpu_memory_bytes"]
    surely, fitting = results["needed_high_bytes"] <= card, needed <= card
    expected = np.where(surely, "yes", np.where(fitting, "tight", "no"))
    assert (results["fits"] == expected).all()
    assert (results["needed_low_bytes"] <= needed).all()
    assert (needed <= results["needed_high_bytes"]).all()
    assert (results.loc[results["fits"] == "yes", "fit_probability"] >= 0.95 - 1e-9).all()
    trained = results[results["implementation"] != "vllm"]
    lost = trained["allocated_peak_bytes"] * 0.005
    shown = lost + trained["logged_peak_bytes"] + trained["context_bytes"]
    assert np.allclose(trained["needed_bytes"], shown)


@pytest.mark.parametrize(
    ("unknown_bytes", "verdict"), [(0.0, "yes"), (49.0, "yes"), (51.0, "tight")]
)
def test_a_fit_holds_what_is_not_known_95_times_of_100(unknown_bytes, verdict):
    """Of a model that is only sized, or whose parts or blocks are not known, the upper end
    counts.
    """
    sure_ratio, peak, card = 1.1, 100.0, 165.0
    high = fit.needed_high_bytes(peak, peak, unknown_bytes, sure_ratio, 0.0, 0.0, 0.0)
    number = fit.fits(peak, high, card)
    scale_ratio = np.log(sure_ratio) / np.log(fit.SURE_ODDS)
    probability = fit.fit_probability(peak, card, 0.0, 0.0, scale_ratio, 0.0, unknown_bytes)
    assert (fit.FITS[number], bool(probability >= 0.95)) == (verdict, verdict == "yes")


def test_inference_trains_nothing_and_training_caches_nothing():
    results = answered()
    serving, training = (
        results[results["work"] == "inference"],
        results[results["work"] == "training"],
    )
    assert (serving[["gradients_bytes", "optimizer_bytes", "trained_parameters"]] == 0).all().all()
    assert (training["kv_cache_bytes"] == 0).all()
    assert serving["kv_cache_bytes"].max() > 0
    assert training["optimizer_bytes"].max() > 0


def test_chunks_do_not_show(monkeypatch):
    scenarios, results = many()
    monkeypatch.setattr(import_module("calc.engine.pipeline"), "CHUNK_ROWS", 37)
    same(estimate(scenarios.head(120), catalogs()), results.head(120))


def test_a_wrong_row_empties_itself_and_no_other():
    scenarios, results = many()
    broken = scenarios.copy()
    broken.loc[5::10, "model"] = "no-such-model"
    again = estimate(broken, catalogs())
    numbers = [name for name in RESULTS if name in NUMBERS]
    wrong = again["model"] == "no-such-model"
    assert wrong.sum() == 40
    assert again.loc[wrong, numbers].isna().all().all()
    assert (again.loc[wrong, ["fits", "peak_phase", "prices_as_of"]] == "").all().all()
    assert again.loc[wrong, "problem"].str.contains("no-such-model").all()
    same(again[~wrong], results[~wrong])


def test_a_dict_a_table_and_a_list_of_text_say_the_same():
    row = {"model": "llama-3.1-8b", "batch": 4, "gpu": "h100-80gb-sxm", "recompute": "full"}
    number = one(solve=True, **row)
    text = one(solve=True, **{name: str(value) for name, value in row.items()})
    frame = estimate(pd.DataFrame([row]), catalogs()).iloc[0].to_dict()
    for name in RESULTS:
        assert (
            number[name] == text[name] == frame[name]
            or np.isnan([number[name], text[name], frame[name]]).all()
        )


def test_extra_columns_and_the_order_of_rows_are_kept_and_the_given_table_is_left_as_it_was():
    frame = pd.DataFrame(
        {"owner": list("bac"), "model": MODELS[:3], "parameters_seen": [3, 1, 2]}, index=[9, 9, 1]
    )
    results = estimate(frame, catalogs())
    same(results[list(frame)], frame.reset_index(drop=True))
    frame = pd.DataFrame({"model": ["gpt2", "nope"], "batch": ["2", "x"]})
    kept = frame.copy(deep=True)
    estimate(frame, catalogs())
    same(frame, kept)


@pytest.mark.parametrize("dtype", [object, "string", "category", "str"])
def test_words_may_come_in_any_dtype(dtype):
    words = pd.DataFrame(
        {"model": ["gpt2", "llama-3.2-1b"], "precision": ["bf16", None], "batch": ["2", None]}
    )
    expected = estimate(words.astype(object), catalogs())
    same(estimate(words.astype(dtype), catalogs()), expected)


@pytest.mark.parametrize(
    "dtype", ["int8", "int64", "uint16", "float32", "Int64", "Float64", "boolean", bool, object]
)
def test_numbers_may_come_in_any_dtype(dtype):
    frame = pd.DataFrame({"model": ["gpt2", "llama-3.2-1b"], "batch": [1, 1]})
    expected = estimate(frame, catalogs())
    if dtype in (bool, "boolean"):
        assert (estimate(frame.astype({"batch": dtype}), catalogs())["problem"] != "").all()
    else:
        same(estimate(frame.astype({"batch": dtype}), catalogs()), expected)


def test_columns_that_are_named_are_those_of_all():
    scenarios, results = many()
    columns = ["memory_bytes", "fits", "usd_per_hour_spot", "problem", "batch"]
    some = estimate(scenarios, catalogs(), columns=columns)
    assert list(some) == columns
    same(some, results[columns])
    with pytest.raises(ValueError, match="There is no result column 'memory'"):
        estimate(scenarios, catalogs(), columns=["memory"])


@pytest.mark.bench
def test_distinct_scenarios_and_their_copies_are_the_whole_table():
    scenarios, results = many()
    repeated = pd.concat([scenarios] * 2, ignore_index=True).assign(
        scenario=[f"row {row}" for row in range(2 * len(scenarios))]
    )
    distinct, copies = estimate_distinct(repeated, catalogs())
    assert distinct.rows <= len(scenarios)
    again = estimate(repeated, catalogs())
    same(
        again.drop(columns="scenario"),
        pd.concat([results] * 2, ignore_index=True).drop(columns="scenario"),
    )
    assert again["scenario"].tolist() == repeated["scenario"].tolist()
    assert [distinct.row(copy)["memory_bytes"] for copy in copies[:9]] == pytest.approx(
        results["memory_bytes"][:9].tolist(), nan_ok=True
    )


FSDP = {"model": "llama-3.1-8b", "gpus": 8, "sharding": "zero3", "recompute": "full"}


def half_width_ratio(row):
    return (row["memory_high_bytes"] - row["memory_low_bytes"]) / 2 / row["memory_bytes"]


@pytest.mark.parametrize(("scenario", "basis"), recorded("cases/basis.json")["basis"])
def test_a_figure_says_what_it_rests_on(scenario, basis):
    assert one(**{"model": "llama-3.1-8b"} | scenario)["memory_basis"] == basis


def test_the_range_is_wider_where_a_figure_rests_on_less_and_doubles_beyond_what_is_known():
    simulated, derived = (
        one(model="llama-3.1-8b"),
        one(model="llama-3.1-8b", implementation="torchtune"),
    )
    assert half_width_ratio(simulated) < half_width_ratio(derived)
    inside, beyond = (
        one(work="inference", model="llama-3.1-8b", sequence_tokens=tokens)
        for tokens in (32_768, 32_769)
    )
    least = catalogs().overheads.at["least_spread_bytes", "value"]
    inside, beyond = (
        row["memory_high_bytes"] - row["memory_bytes"] - least for row in (inside, beyond)
    )
    assert beyond / inside == pytest.approx(2, rel=1e-3)


def test_every_row_has_a_basis_and_every_basis_is_a_sentence_part():
    assert len(BASES) == len(GROUNDS) * len(AXES) == len(set(BASES))
    refused = estimate({"model": "llama-3.1-8b", "gpus": 3, "tensor_parallel": 2}, catalogs())
    assert (refused["memory_basis"] == "") == (refused["problem"] != "")
