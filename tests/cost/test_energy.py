"""Electricity and emissions: by hand, against published figures, and over regions, idle GPUs and
rest.
"""

import pytest

from calc import estimate
from calc.cost.energy import drawn_watts, energy_kwh, rated_watts
from calc.cost.machines import idle_gpus

RUN = {
    "model": "llama-3.1-8b",
    "sharding": "zero3",
    "gpus": 8,
    "instance": "p5.48xlarge",
    "train_tokens": 1e9,
}
SERVICE = {
    "work": "inference",
    "model": "llama-3.2-1b",
    "instance": "g6e.xlarge",
    "implementation": "vllm",
    "batch": 8,
}


def test_a_run_by_hand(catalogs):
    row = estimate(RUN, catalogs)
    assert row["energy_kwh"] == pytest.approx(8 * 1.275 * 0.76 * row["run_hours"] * 1.15)
    assert row["carbon_kg"] == pytest.approx(row["energy_kwh"] * 0.39625)


def test_a_month_by_hand_and_at_rest(catalogs):
    row = estimate(SERVICE, catalogs)
    assert row["energy_kwh"] == pytest.approx(0.35 * 1.35 * 0.6 * 730 * 1.15)
    four = SERVICE | {"gpus": 4, "spare": 1}
    assert estimate(four, catalogs)["energy_kwh"] == pytest.approx(5 * row["energy_kwh"])
    assert estimate(four | {"scales": "hourly", "peak_to_mean": 2}, catalogs)[
        "energy_kwh"
    ] == pytest.approx(3 * row["energy_kwh"])


def test_the_region_decides_and_idle_gpus_draw_less(catalogs):
    virginia, stockholm = (
        estimate(SERVICE | {"region": region}, catalogs) for region in ("us-east-1", "eu-north-1")
    )
    assert stockholm["energy_kwh"] / virginia["energy_kwh"] == pytest.approx(1.10 / 1.15)
    assert stockholm["carbon_kg"] < 0.1 * virginia["carbon_kg"]
    four = estimate(RUN | {"gpus": 4}, catalogs)
    watts = drawn_watts(1, 4, idle_gpus(8, 4), rated_watts(1275, 700, 0.35), 0.76, 0.6, 0.2)
    assert four["energy_kwh"] == pytest.approx(watts / 1000 * four["run_hours"] * 1.15)
    assert watts < drawn_watts(1, 8, 0, 1275, 0.76, 0.6, 0.2)


def test_what_is_not_known_is_missing(catalogs):
    card_alone = {"work": "inference", "model": "llama-3.2-1b", "gpu": "l40s"}
    assert (
        estimate(card_alone, catalogs)["energy_kwh"] != estimate(card_alone, catalogs)["energy_kwh"]
    )


@pytest.mark.parametrize(
    ("rated", "gpu_hours", "published_kwh"),
    [
        (1275, 8, 7.75),  # an hour of a node of eight H100 in intensive training, arXiv 2506.14551
        (
            812.5,
            1_082_990,
            433_196 + 256_646,
        ),  # BLOOM on A100, dynamic and idle consumption, arXiv 2211.02001
    ],
)
def test_published_runs_are_met_within_a_fifth(rated, gpu_hours, published_kwh):
    watts = drawn_watts(1, 1, 0, rated, 0.76, 0.6, 0.2)
    assert energy_kwh(watts, 1, 0, 0, 1, gpu_hours, 730, 1.0) == pytest.approx(
        published_kwh, rel=0.2
    )
