"""Age acts on rank: an old price yields to a fresher one that competes, and to nothing else."""

from dataclasses import replace

import pytest

from calc.answers.full_answer import full_answer as options
from calc.cost.markets import MARKETS

DAY = "2026-11-20"
JOB = {
    "model": "llama-3.2-1b",
    "method": "lora",
    "instance": ["g6e.xlarge", "g5.xlarge"],
    "instances_most": 1,
    "train_tokens": 1e8,
}
BOTH = {"markets": "on-demand+spot", "regions": "us-east-1+us-west-2"}


def seen_on(catalogs, market, day, **where):
    """The catalogs read on DAY, with the prices of a market as seen on another day (at other places
    as they are).
    """
    prices, column = catalogs.prices.copy(), f"{MARKETS[market].key}_as_of"
    chosen = prices[column] != ""
    for name, value in where.items():
        chosen &= prices[name] == value
    prices.loc[chosen, column] = day
    return replace(catalogs, prices=prices, read_on=DAY)


def first(job, catalogs):
    return options(job, catalogs).answers.iloc[0]


@pytest.mark.parametrize(
    ("spot", "market"),
    [("2026-11-19", "spot"), ("2026-11-13", "spot"), ("2026-11-12", "on-demand")],
)
def test_an_old_spot_price_yields_to_a_fresher_one_on_demand(catalogs, spot, market):
    aged = seen_on(seen_on(catalogs, "on-demand", "2026-11-15"), "spot", spot)
    results = options(JOB | BOTH, aged)
    row = results.answers.iloc[0]
    assert row["market"] == market
    assert set(results.board["market"]) == {"spot", "on-demand"}  # what yields stays in sight
    assert (
        "on spot" in row["why"] and "has a stale price, so it ranks behind this one" in row["why"]
    ) == (market == "on-demand")
    assert results.possible == options(JOB | BOTH, catalogs).possible


def test_the_market_that_the_job_names_always_answers_and_where_all_are_old_the_least_is_first(
    catalogs,
):
    aged = seen_on(seen_on(catalogs, "on-demand", DAY), "spot", "2025-01-01")
    for market in ("spot", "on-demand"):
        row = first(JOB | {"markets": market}, aged)
        assert (row["market"], row["answer"].split("+")[0]) == (market, "least-money")
    # Spot of 12 days ago is old, on demand of 60 days ago is not, and yet of longer ago.
    aged = seen_on(seen_on(catalogs, "on-demand", "2026-09-21"), "spot", "2026-11-08")
    assert first(JOB | BOTH, aged)["market"] == "spot"
    row = first(JOB | BOTH, replace(catalogs, read_on="2028-01-01"))
    assert row["market"] == "spot"
    assert "old price" not in row["why"]


def test_a_region_with_an_old_price_yields_to_a_fresh_one_and_answers_alone(catalogs):
    job = JOB | {"instance": ["g6e.xlarge"]}
    aged = seen_on(
        seen_on(catalogs, "on-demand", "2026-01-01"), "on-demand", DAY, region="eu-central-1"
    )
    both = job | {"regions": "us-east-1+eu-central-1"}
    assert first(both, catalogs)["region"] == "us-east-1"  # the cheaper
    dear = first(both, aged)
    assert dear["region"] == "eu-central-1"
    assert first(job | {"regions": "us-east-1"}, aged)["region"] == "us-east-1"
    cheap = first(job | {"regions": "us-east-1"}, aged)["usd"]
    within = both | {"usd_most": (cheap + dear["usd"]) / 2}
    # The fresh one keeps no limit, and so competes no more.
    assert first(within, aged)["region"] == "us-east-1"


def test_a_private_price_has_no_age(catalogs):
    private = JOB | {"private_prices": "g5.xlarge=0.9"}
    assert first(private, replace(catalogs, read_on=DAY))["usd"] == pytest.approx(
        first(private, catalogs)["usd"]
    )
    aged = seen_on(
        seen_on(catalogs, "on-demand", "2026-01-01"), "on-demand", DAY, instance="g6e.xlarge"
    )
    cheap = JOB | {"private_prices": "g5.xlarge=0.001"}
    assert first(cheap, aged)["instance"] == "g5.xlarge"
