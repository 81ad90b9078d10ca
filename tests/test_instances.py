"""Instance types beside the job: what a dollar rents, each order, every region of one type."""

import pytest

from calc.search import instances
from calc.search.options import options


@pytest.fixture(scope="module")
def board(catalogs):
    return options({"model": "llama-3.1-8b", "train_tokens": 1.5e8}, catalogs).board


def test_every_instance_of_the_board_stands_once_with_the_boards_figures(board, catalogs):
    table = instances.for_job(board, catalogs)
    assert sorted(table["instance"]) == sorted(set(board["instance"]))
    for row in table.to_dict("records"):
        own = board.iloc[row["at"]]
        assert (row["instance"], row["instances_needed"], row["job_gpus"]) == (own["instance"], own["instances_needed"], own["gpus"])
        assert row["usd"] == pytest.approx(own["usd"], nan_ok=True)
        assert own["usd_per_hour_on_demand"] == pytest.approx(row["instances_needed"] * row["on_demand_usd_per_hour"], nan_ok=True)


def test_memory_per_dollar_is_all_the_memory_over_the_price_and_families_and_memory_choose(catalogs):
    row = instances.priced(catalogs, ["us-east-1"]).set_index("instance").loc["p5.48xlarge"]
    assert row["gib_per_usd"] * row["on_demand_usd_per_hour"] == pytest.approx(8 * catalogs.gpus["memory_bytes"][row["gpu"]] / 2**30)
    table = instances.priced(catalogs, ["us-east-1"])
    assert set(instances.chosen(table, ["p5"])["family"]) == {"p5"}
    assert (instances.chosen(table, least_gib=300)["gpu_gib"] >= 300).all()
    assert len(instances.chosen(table)) == len(table) == len(catalogs.instances)


@pytest.mark.parametrize("by", instances.SORTS)
def test_each_order_puts_the_best_first_and_the_unknown_last(by, catalogs):
    column, smaller = instances.SORTS[by]
    table = instances.priced(catalogs, ["eu-central-1"]).assign(usd=range(69))
    values = instances.in_order(table, by)[column]
    known = values[values.notna()]
    assert known.is_monotonic_increasing if smaller else known.is_monotonic_decreasing
    assert values.iloc[len(known) :].isna().all()


def test_the_regions_of_one_type_are_those_with_a_price(catalogs):
    table = instances.by_region("p5.48xlarge", "us-east-1", catalogs)
    prices = catalogs.prices[(catalogs.prices["instance"] == "p5.48xlarge")]
    assert set(table["region"]) == set(prices["region"])
    assert table.set_index("region")["against_here_ratio"]["us-east-1"] == 0
    assert table["on_demand_usd_per_hour"].dropna().is_monotonic_increasing
    assert instances.by_region("g6f.large", "mars", catalogs)["against_here_ratio"].isna().all()
