"""What a time rests on, from published runs nearby to nothing, and its range: the truth lies inside
nine times in ten.
"""

import numpy as np
import pandas as pd
import pytest
from examples import recorded, timed

from calc import estimate
from calc.scenarios.inputs import BY_NAME
from calc.speed.spread import AXES, CORNERS, OF_FIRST_TOKEN
from calc.speed.time_basis import BASES
from validation.speed import (
    ASKED_AS_ANOTHER,
    SERVED,
    encoders,
    errors,
    published,
    published_runs,
    time_table,
    with_published_models,
)

TRAINING = {
    "model": "llama-3.1-8b",
    "implementation": "torchtitan",
    "gpu": "h100-80gb-sxm",
    "gpus": 8,
    "sharding": "zero3",
}
SERVING = {
    "work": "inference",
    "model": "llama-3.1-70b",
    "implementation": "vllm",
    "gpu": "b200",
    "prompt_tokens": 1024,
}
SERVING |= {"sequence_tokens": 2048}
CASES = recorded("cases/time_basis.json")["bases"]


@pytest.fixture(scope="module")
def runs(catalogs):
    return pd.concat([published(), encoders()], ignore_index=True), with_published_models(catalogs)


def estimated(catalogs, *scenarios):
    return estimate(pd.DataFrame(list(scenarios)).astype(object).fillna(""), catalogs)


@pytest.mark.parametrize("word", BASES)
def test_the_word_and_the_reason(catalogs, word):
    scenario, reason = CASES[word]
    row = estimated(catalogs, scenario).iloc[0]
    assert row["problem"] == ""
    assert row["time_basis"] == word
    assert reason in row["time_reason"]


def test_one_source_says_so_and_outside_of_published_runs_the_range_is_twice_as_wide(catalogs):
    rows = estimated(
        catalogs,
        TRAINING | {"implementation": "llm-foundry"},
        SERVING,
        SERVING | {"gpu": "h200-sxm"},
    )
    assert ["one source" in reason for reason in rows["time_reason"]] == [True, True, False]
    rows = estimated(
        catalogs, {"model": "llama-3.1-8b"}, TRAINING | {"tensor_parallel": 3}, SERVING
    )
    for name in ("time_basis", "time_reason"):
        assert [*rows[name][:2]] == ["", ""]
    assert rows["time_basis"][2] != ""
    inside, outside = estimated(
        catalogs, TRAINING | {"gpus": 1024}, TRAINING | {"gpus": 1032}
    ).to_dict("records")
    for end in ("low", "high"):
        ratio, wider = (
            row[f"step_{end}_seconds"] / row["step_seconds"] for row in (inside, outside)
        )
        variance = squared(catalogs.engines.loc["torchtitan", f"time_{end}_ratio"])
        assert squared(wider) - squared(ratio) == pytest.approx(3 * variance)  # (2 ln)² for ln²


def test_the_reach_and_the_number_of_published_runs_are_those_of_the_data(runs, catalogs):
    """Every bound holds every run, and is within a hundredth of one."""
    rows, with_published = runs
    table, _ = time_table(
        rows[[name for name in rows if name in BY_NAME]].fillna(""), with_published
    )
    for axis in AXES:
        values = np.broadcast_to(table[axis], len(rows))
        for work in ("training", "inference", "encoding"):
            of_work, box = (
                values[np.where(table["generates"] > 0, rows["work"], "encoding") == work],
                catalogs.time_boxes.loc[axis],
            )
            for end, most in (("low", of_work.min()), ("high", of_work.max())):
                bound = box[f"{work}_{end}"]
                assert np.isnan(bound) or bound == pytest.approx(most, rel=0.01)
            assert not np.any((of_work < box[f"{work}_low"]) | (of_work > box[f"{work}_high"]))
    counts = published_runs(catalogs)
    assert {" ".join(name): count for name, count in counts.items()} == catalogs.time_runs[
        "runs"
    ].to_dict()


LONG = {
    "model": "llama-3.1-8b",
    "gpu": "h200-sxm",
    "batch": 8,
    "prompt_tokens": 4096,
    "sequence_tokens": 6144,
}
# Of each corner a scenario that lies in no other but those named, and what puts it there.
IN_CORNER = recorded("cases/speed_ranges.json")["corners"]


def squared(ratio):
    """The squared logarithm of an end of a range: independent causes add in it."""
    return np.log(ratio) ** 2


@pytest.mark.parametrize("corner", IN_CORNER)
def test_a_range_widens_in_a_corner(catalogs, corner):
    outside, inside = IN_CORNER[corner]
    table = timed(catalogs, outside, {**outside, **inside})
    spread = catalogs.time_spreads.loc[corner]
    for end in ("low", "high"):
        before, after = squared(table[f"time_{end}_ratio"])
        assert after - before == pytest.approx(squared(spread[f"{end}_ratio"]), abs=1e-9)


def test_the_corners_say_how_many_runs_they_rest_on(runs, catalogs):
    rows, with_published = runs
    table, _ = time_table(
        rows[[name for name in rows if name in BY_NAME]].fillna(""), with_published
    )
    inside = table["layout_corners"].astype(int) | table["place_corners"].astype(int)
    of_prompts = rows["measured"].isin(("time_to_first_token_seconds", "prefill_tokens_per_second"))
    for place, corner in enumerate(CORNERS):
        lies = (inside >> place & 1 > 0) & (of_prompts == (corner in OF_FIRST_TOKEN))
        assert lies.sum() == catalogs.time_spreads["runs"][corner], corner


def test_first_tokens_are_less_sure_and_dense_models_have_the_range_of_their_software(catalogs):
    long, short = timed(
        catalogs, SERVING | LONG, SERVING | LONG | {"batch": 1, "prompt_tokens": 64}
    )["first_token_high_ratio"]
    step = timed(catalogs, SERVING | LONG)["time_high_ratio"][0]
    spread = catalogs.time_spreads["high_ratio"]
    assert squared(long) == pytest.approx(squared(step) + squared(spread["first-token"]))
    assert squared(short) == pytest.approx(squared(long) + squared(spread["short-prompt"]))
    table = timed(catalogs, TRAINING, SERVING | LONG)
    engines = catalogs.engines.loc[["torchtitan", "vllm"]]
    assert table["time_low_ratio"] == pytest.approx(engines["time_low_ratio"].to_numpy())
    assert table["time_high_ratio"] == pytest.approx(engines["time_high_ratio"].to_numpy())
    assert list(catalogs.time_spreads.index) == list(CORNERS)


def test_the_truth_lies_inside_nine_times_in_ten_in_every_group(runs):
    """Training by software, width and experts; serving by engine, release, card and kind of model:
    every group of ten or more.

    Other engines' runs under load are asked as vLLM, whose range is not theirs.
    """
    rows, with_published = runs
    rows = rows[
        ~(rows["measured"].isin(SERVED) & rows["engine"].str.contains(ASKED_AS_ANOTHER))
    ].reset_index(drop=True)
    compared = errors(rows, with_published)
    narrow = np.where(
        compared["precision"].isin(("fp8-mixed", "fp8", "nvfp4", "mxfp4")), "narrow", "wide"
    )
    compared = compared.assign(narrow=narrow, release=compared["engine_release"].fillna(""))
    kinds = (
        ["engine", "gpu", "narrow"],
        ["engine", "release", "gpu", "model"],
        ["source", "engine"],
    )
    groups = pd.concat(
        compared.groupby(["measured", "implementation", *kind])["inside"].agg(["size", "mean"])
        for kind in kinds
    )
    large = groups[groups["size"] >= 10]
    assert len(large) > 10
    assert (large["mean"] >= 0.9).all(), large[large["mean"] < 0.9]
