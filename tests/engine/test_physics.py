"""No estimate and no answer asks more of its cards than they compute and move."""

import grid
import numpy as np
import pandas as pd
import pytest
from card_bounds import _cross_width, beyond, shares
from examples import TIMES, entries, recorded

from calc import answer, estimate

CARDS = (
    "g4dn.xlarge",
    "g6.xlarge",
    "g6e.xlarge",
    "p4d.24xlarge",
    "p5.48xlarge",
    "p6-b200.48xlarge",
)
WORKS = recorded("cases/physics.json")["works"]


def test_the_recorded_grid_obeys_its_cards(catalogs):
    table = shares(estimate(grid.recorded()[0], catalogs))
    assert not beyond(table)
    # The bounds lie near what is estimated.
    assert table.groupby("work")["flop_ratio"].max().min() > 0.4


@pytest.mark.sample(2)
@pytest.mark.parametrize("work", WORKS, ids=lambda work: " ".join(map(str, work.values())))
def test_every_model_obeys_its_cards(catalogs, work):
    rows = [
        work | {"model": model, "instance": card}
        for model in catalogs.models.index
        for card in CARDS
    ]
    table = shares(estimate(pd.DataFrame(rows).astype(object), catalogs))
    assert len(table) > len(rows) / 10
    assert not beyond(table)


@pytest.mark.parametrize("batch", [64, 192])
def test_every_decode_step_reads_the_whole_source(catalogs, batch):
    """Whisper's decoder reads 1,500 positions of sound in each of its layers, for every token."""
    entry = entries("models")["whisper-large-v3"]
    row = {"work": "inference", "model": "whisper-large-v3", "implementation": "vllm"}
    row |= {"gpu": "h100-80gb-sxm", "batch": batch, "sequence_tokens": 448, "prompt_tokens": 4}
    result = estimate(row, catalogs)
    step_seconds = batch / result["decode_tokens_per_second"]
    source_bytes = 2 * _cross_width(entry) * 1500
    assert source_bytes == pytest.approx(246e6, rel=0.01)
    assert (
        step_seconds
        > batch * source_bytes / catalogs.gpus["bandwidth_bytes_per_second"][row["gpu"]]
    )


def test_images_in_sequences_are_counted(catalogs):
    seen = catalogs.models.index[catalogs.models["usual_image_tokens"] > 0]
    rows = [
        {"work": "inference", "model": model, "images_per_sequence": 1, "sequence_tokens": 8192}
        for model in seen
    ]
    rows += [row | {"work": "training"} for row in rows]
    table = shares(
        estimate(pd.DataFrame(rows).assign(instance="p5.48xlarge").astype(object), catalogs)
    )
    assert table["work"].nunique() == 2
    assert not beyond(table)


CHOICES = recorded("cases/physics.json")["choices"]
MOST_INSTANCES = 16  # of a job drawn here; `make bench` draws hundreds, which take seconds each


def drawn(catalogs, count, seed):
    """Jobs at random, of every model."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        work = ("training", "inference")[draw.integers(2)]
        job = {name: values[draw.integers(len(values))] for name, values in CHOICES[work].items()}
        job |= {"work": work, "model": catalogs.models.index[draw.integers(len(catalogs.models))]}
        if TIMES == 1 and "instances_most" in job:
            job["instances_most"] = min(job["instances_most"], MOST_INSTANCES)
        yield {name: value for name, value in job.items() if value != ""}


def _answered(catalogs, count, seed):
    rows = pd.concat(
        [answer(job, catalogs) for job in drawn(catalogs, count, seed)], ignore_index=True
    )
    return shares(
        rows.reindex(columns=dict.fromkeys([*rows, "requests_per_second", "answer_tokens"])).fillna(
            {"answer_tokens": 0}
        )
    )


@pytest.mark.long
def test_drawn_answers_obey_their_cards(catalogs):
    """Some ten answers; `make bench` draws a hundred times as many."""
    table = _answered(catalogs, count=5 * TIMES, seed=38)
    assert {"run_hours", "requests_per_second"} <= {*table["time"]}
    assert not beyond(table)


@pytest.mark.parametrize(
    "model", ["bge-reranker-v2-m3", "bge-m3", "vit-large-patch16", "wav2vec2-base-960h"]
)
def test_a_model_that_answers_no_token_takes_as_many_requests_as_its_prefill_allows(
    catalogs, model
):
    job = {
        "work": "inference",
        "model": model,
        "requests_per_second": 1000,
        "prompt_tokens": 512,
        "first_token_seconds": 1,
    }
    row = answer(job, catalogs).iloc[0]
    replicas = row["gpus"] / row["tensor_parallel"]
    assert row["problem"] == ""
    assert replicas * row["batch"] / row["burst_first_token_seconds"] >= 1000 * (1 - 1e-9)
    assert row["burst_first_token_seconds"] <= 1
