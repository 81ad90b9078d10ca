"""The range around a time: wider where few published runs show a corner, and the truth inside nine times in ten."""

import numpy as np
import pandas as pd
import pytest
from examples import recorded, timed

from calc.scenarios.inputs import BY_NAME
from calc.speed.spread import CORNERS, OF_FIRST_TOKEN
from validation.speed import encoders, errors, published, time_table, with_published_models

TRAINING = {"model": "llama-3.1-8b", "gpu": "h100-80gb-sxm", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096}
TRAINING |= {"implementation": "torchtitan"}
SERVING = {"work": "inference", "model": "llama-3.1-8b", "gpu": "h200-sxm", "implementation": "vllm", "batch": 8}
SERVING |= {"prompt_tokens": 4096, "sequence_tokens": 6144}
EXPERTS = {"model": "qwen3-30b-a3b", "sequence_tokens": 8192}
# Of each corner a scenario that lies in no other but those named, and what puts it there.
IN_CORNER = recorded("cases/speed_ranges.json")["corners"]


@pytest.mark.parametrize("corner", IN_CORNER)
def test_a_range_widens_in_a_corner(catalogs, corner):
    outside, inside = IN_CORNER[corner]
    table = timed(catalogs, outside, {**outside, **inside})
    spread = catalogs.time_spreads.loc[corner]
    assert table["time_high_ratio"][1] / table["time_high_ratio"][0] == pytest.approx(spread["high_ratio"])
    assert table["time_low_ratio"][1] / table["time_low_ratio"][0] == pytest.approx(spread["low_ratio"])


def test_the_corners_say_how_many_runs_they_rest_on(catalogs):
    rows = pd.concat([published(), encoders()], ignore_index=True)
    table, _ = time_table(rows[[name for name in rows if name in BY_NAME]].fillna(""), with_published_models(catalogs))
    inside = table["layout_corners"].astype(int) | table["place_corners"].astype(int)
    of_prompts = rows["measured"].isin(("time_to_first_token_seconds", "prefill_tokens_per_second"))
    for place, corner in enumerate(CORNERS):
        lies = (inside >> place & 1 > 0) & (of_prompts == (corner in OF_FIRST_TOKEN))
        assert lies.sum() == catalogs.time_spreads["runs"][corner], corner


def test_first_tokens_are_less_sure_and_dense_models_have_the_range_of_their_software(catalogs):
    long, short = timed(catalogs, SERVING, {**SERVING, "batch": 1, "prompt_tokens": 64})["first_token_high_ratio"]
    step = timed(catalogs, SERVING)["time_high_ratio"][0]
    spread = catalogs.time_spreads["high_ratio"]
    assert long == pytest.approx(step * spread["first-token"])
    assert short == pytest.approx(long * spread["short-prompt"])
    table = timed(catalogs, TRAINING, SERVING)
    engines = catalogs.engines.loc[["torchtitan", "vllm"]]
    assert table["time_low_ratio"] == pytest.approx(engines["time_low_ratio"].to_numpy())
    assert table["time_high_ratio"] == pytest.approx(engines["time_high_ratio"].to_numpy())
    assert list(catalogs.time_spreads.index) == list(CORNERS)


def test_the_truth_lies_inside_nine_times_in_ten_in_every_group(catalogs):
    """Training by software, width and experts; serving by engine, release, card and kind of model: every group of ten or more."""
    compared = errors(pd.concat([published(), encoders()], ignore_index=True), with_published_models(catalogs))
    narrow = np.where(compared["precision"].isin(("fp8-mixed", "fp8", "nvfp4", "mxfp4")), "narrow", "wide")
    compared = compared.assign(narrow=narrow, release=compared["engine_release"].fillna(""))
    kinds = (["engine", "gpu", "narrow"], ["engine", "release", "gpu", "model"], ["source", "engine"])
    groups = pd.concat(compared.groupby(["measured", "implementation", *kind])["inside"].agg(["size", "mean"]) for kind in kinds)
    large = groups[groups["size"] >= 10]
    assert len(large) > 10
    assert (large["mean"] >= 0.9).all(), large[large["mean"] < 0.9]
