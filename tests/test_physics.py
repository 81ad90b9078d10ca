"""No estimate and no answer asks more of its cards than they compute and move (tests/physics.py has the formulas)."""

import grid
import numpy as np
import pandas as pd
import pytest
from examples import TIMES, recorded
from physics import beyond, shares

from calc import answer, estimate

CARDS = ("g4dn.xlarge", "g6.xlarge", "g6e.xlarge", "p4d.24xlarge", "p5.48xlarge", "p6-b200.48xlarge")
WORKS = recorded("cases/physics.json")["works"]


def test_the_recorded_grid_obeys_its_cards(catalogs):
    table = shares(estimate(grid.recorded()[0], catalogs))
    assert not beyond(table)
    assert table.groupby("work")["flop_ratio"].max().min() > 0.4  # the bounds lie near what is estimated


@pytest.mark.parametrize("work", WORKS, ids=lambda work: " ".join(map(str, work.values())))
def test_every_model_obeys_its_cards(catalogs, work):
    rows = [work | {"model": model, "instance": card} for model in catalogs.models.index for card in CARDS]
    table = shares(estimate(pd.DataFrame(rows).astype(object), catalogs))
    assert len(table) > len(rows) / 10
    assert not beyond(table)


def test_images_in_sequences_are_counted(catalogs):
    seen = catalogs.models.index[catalogs.models["usual_image_tokens"] > 0]
    rows = [{"work": "inference", "model": model, "images_per_sequence": 1, "sequence_tokens": 8192} for model in seen]
    rows += [row | {"work": "training"} for row in rows]
    table = shares(estimate(pd.DataFrame(rows).assign(instance="p5.48xlarge").astype(object), catalogs))
    assert table["work"].nunique() == 2
    assert not beyond(table)


RATES = (0.5, 5, 50, 500)
CHOICES = recorded("cases/physics.json")["choices"]


def drawn(catalogs, count, seed):
    """Jobs at random, of every model."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        work = ("training", "inference")[draw.integers(2)]
        job = {name: values[draw.integers(len(values))] for name, values in CHOICES[work].items()}
        job |= {"work": work, "model": catalogs.models.index[draw.integers(len(catalogs.models))]}
        yield {name: value for name, value in job.items() if value != ""}


def _answered(catalogs, count, seed):
    rows = pd.concat([answer(job, catalogs) for job in drawn(catalogs, count, seed)], ignore_index=True)
    return shares(rows.reindex(columns=dict.fromkeys([*rows, "requests_per_second", "answer_tokens"])).fillna({"answer_tokens": 0}))


@pytest.mark.parametrize("seed", [26, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(17))])
def test_drawn_answers_obey_their_cards(catalogs, seed):
    """Sixty; with the long ones a thousand, and `make bench` draws five thousand."""
    table = _answered(catalogs, 60 * TIMES, seed)
    assert {"run_hours", "requests_per_second"} <= {*table["time"]}
    assert not beyond(table)


@pytest.mark.parametrize("model", ["bge-reranker-v2-m3", "bge-m3", "vit-large-patch16", "wav2vec2-base-960h"])
def test_a_model_that_answers_no_token_takes_as_many_requests_as_its_prefill_allows(catalogs, model):
    job = {"work": "inference", "model": model, "requests_per_second": 1000, "prompt_tokens": 512, "first_token_seconds": 1}
    row = answer(job, catalogs).iloc[0]
    replicas = row["gpus"] / row["tensor_parallel"]
    assert row["problem"] == ""
    assert replicas * row["batch"] / row["burst_first_token_seconds"] >= 1000 * (1 - 1e-9)
    assert row["burst_first_token_seconds"] <= 1
