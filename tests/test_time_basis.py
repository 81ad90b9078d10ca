"""What a time rests on: published runs nearby, the least sure corner, or nothing beyond the reach of published runs."""

import numpy as np
import pandas as pd
import pytest
from examples import recorded

from calc import estimate
from calc.scenarios.inputs import BY_NAME
from calc.speed.basis import BASES
from calc.speed.spread import AXES
from validation.speed import encoders, published, published_runs, time_table, with_published_models

TRAINING = {"model": "llama-3.1-8b", "implementation": "torchtitan", "gpu": "h100-80gb-sxm", "gpus": 8, "sharding": "zero3"}
SERVING = {"work": "inference", "model": "llama-3.1-70b", "implementation": "vllm", "gpu": "b200", "prompt_tokens": 1024}
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
    rows = estimated(catalogs, TRAINING | {"implementation": "llm-foundry"}, SERVING, SERVING | {"gpu": "h200-sxm"})
    assert ["one source" in reason for reason in rows["time_reason"]] == [True, True, False]
    rows = estimated(catalogs, {"model": "llama-3.1-8b"}, TRAINING | {"tensor_parallel": 3}, SERVING)
    for name in ("time_basis", "time_reason"):
        assert [*rows[name][:2]] == ["", ""]
    assert rows["time_basis"][2] != ""
    inside, outside = estimated(catalogs, TRAINING | {"gpus": 1024}, TRAINING | {"gpus": 1032}).to_dict("records")
    for end in ("low", "high"):
        ratio, wider = (row[f"step_{end}_seconds"] / row["step_seconds"] for row in (inside, outside))
        assert wider / ratio == pytest.approx(catalogs.engines.loc["torchtitan", f"time_{end}_ratio"])


def test_the_reach_and_the_number_of_published_runs_are_those_of_the_data(runs, catalogs):
    """Every bound holds every run, and is within a hundredth of one."""
    rows, with_published = runs
    table, _ = time_table(rows[[name for name in rows if name in BY_NAME]].fillna(""), with_published)
    for axis in AXES:
        values = np.broadcast_to(table[axis], len(rows))
        for work in ("training", "inference", "encoding"):
            of_work, box = values[np.where(table["generates"] > 0, rows["work"], "encoding") == work], catalogs.time_boxes.loc[axis]
            for end, most in (("low", of_work.min()), ("high", of_work.max())):
                bound = box[f"{work}_{end}"]
                assert np.isnan(bound) or bound == pytest.approx(most, rel=0.01)
            assert not np.any((of_work < box[f"{work}_low"]) | (of_work > box[f"{work}_high"]))
    counts = published_runs(catalogs)
    assert {" ".join(name): count for name, count in counts.items()} == catalogs.time_runs["runs"].to_dict()
