"""Which prices of a refresh are doubted: on demand by its past and its witnesses, other markets by
their ratio to it.
"""

import pytest

from calc.catalogs.load import FOLDER
from refresh.answers import Answers, Scope
from refresh.merge import merge
from refresh.write import read_documents
from tests.refresh_answers import TODAY

DOCUMENTS = read_documents(FOLDER)
PRICES = DOCUMENTS["prices"]["prices"]
SCOPE = Scope(
    tuple(DOCUMENTS["prices"]["regions"]), None, frozenset(DOCUMENTS["instances"]["instances"]), {}
)
P5 = ("p5.48xlarge", "us-east-1")


def usd(market, instance, region="us-east-1"):
    return PRICES[instance][region][market]["usd_per_hour"]


def entries(*prices):
    """The entries that are doubted when AWS answers with these: (market, instance, region, USD)."""
    answers = Answers()
    for market, instance, region, dollars in prices:
        answers.put(market, instance, region, "source", usd_per_hour=dollars, basis="published")
    return sorted({doubt.entry for doubt in merge(DOCUMENTS, answers, SCOPE, TODAY).doubts})


def times(factor, market="on_demand", instance="p5.48xlarge", region="us-east-1"):
    return (market, instance, region, factor * usd(market, instance, region))


def all_of(region, factor):
    return [
        times(factor, "on_demand", instance, region)
        for instance, rows in PRICES.items()
        if "on_demand" in rows.get(region, {})
    ]


def test_the_first_day_doubts_no_true_price_of_hosting():
    """ml.g4dn.xlarge asks 0.7364, 1.40 times 0.526; that few prices of hosting are known says
    nothing of it.
    """
    assert entries(("sagemaker_hosting", "g4dn.xlarge", "us-east-1", 0.7364)) == []
    every = [
        ("sagemaker_hosting", name, place, 1.4 * usd("on_demand", name, place))
        for name, place in on_demand()
    ]
    assert len(every) > 300
    assert entries(*every) == []
    assert entries(("sagemaker_hosting", "g4dn.xlarge", "us-east-1", 7.364)) == [
        "sagemaker_hosting/g4dn.xlarge/us-east-1"
    ]


def on_demand():
    return [
        (name, region)
        for name, rows in PRICES.items()
        for region, row in rows.items()
        if "on_demand" in row
    ]


@pytest.mark.parametrize(
    ("instance", "dollars"),
    [("p5.48xlarge", 110.08), ("p6-b200.48xlarge", 330.0), ("p4d.24xlarge", 0.4 * 21.957642)],
)
def test_a_dear_type_that_moves_alone_is_doubted(instance, dollars):
    entry = f"on_demand/{instance}/us-east-1"
    assert entries(("on_demand", instance, "us-east-1", dollars)) == [entry]
    others = [
        times(1, instance=name, region=region)
        for name, region in on_demand()
        if (name, region) != (instance, "us-east-1")
    ]
    assert entries(("on_demand", instance, "us-east-1", dollars), *others) == [entry]


@pytest.mark.parametrize("factor", [0.56, 0.65, 1.5, 2.0])
def test_what_another_price_moves_with_is_believed(factor):
    """The cut of June 2025 (-44 %) was seen in every region, in blocks and in commitments."""
    here, there = times(factor), times(factor, region="us-east-2")
    assert entries(here) == ["on_demand/p5.48xlarge/us-east-1"]
    assert entries(here, there) == []
    assert entries(here, times(factor, "capacity_block")) == []
    assert len(entries(here, times(1, region="us-east-2"))) == 1
    # The other way is no witness.
    assert len(entries(here, times(1 / factor, region="us-east-2"))) == 2
    a100 = times(factor, instance="p4d.24xlarge")
    assert entries(a100, times(factor, "reserved_1y_no_upfront", "p4d.24xlarge")) == []


@pytest.mark.parametrize("factor", [0.75, 1.0, 1.15, 1.3])
def test_small_moves_are_not_doubted(factor):
    assert entries(*all_of("us-east-1", factor)) == []


def test_a_file_that_doubles_as_a_whole_is_an_error_whatever_else_it_says():
    doubled = all_of("us-east-1", 2)
    terms = [
        times(2, market, instance, "us-east-1")
        for instance, rows in PRICES.items()
        for market in rows.get("us-east-1", {})
        if market.startswith("reserved") and "on_demand" in rows["us-east-1"]
    ]
    assert len(
        [entry for entry in entries(*doubled, *terms) if entry.startswith("on_demand")]
    ) == len(doubled)
    others = [
        price for region in SCOPE.regions if region != "us-east-1" for price in all_of(region, 2)
    ]
    assert len(entries(*doubled, *others)) == len(doubled) + len(others)


def test_other_markets_are_judged_by_their_ratio_to_on_demand():
    # Above on demand.
    assert entries(("spot", *P5, 3 * usd("spot", "p5.48xlarge"))) == ["spot/p5.48xlarge/us-east-1"]
    assert entries(("spot", *P5, 0.00001)) == ["spot/p5.48xlarge/us-east-1"]
    # Four times April's median, and true.
    assert entries(("spot", "p5en.48xlarge", "us-east-2", 48.0)) == []
    # On demand, with fewer digits.
    assert entries(("spot", "p4de.24xlarge", "ap-southeast-1", 32.9365)) == []
    assert entries(("capacity_block", *P5, 60.0)) == ["capacity_block/p5.48xlarge/us-east-1"]
    assert entries(times(2), ("spot", *P5, 100.0)) == [
        "on_demand/p5.48xlarge/us-east-1",
        "spot/p5.48xlarge/us-east-1",
    ]


def test_without_on_demand_a_price_is_compared_with_its_own_past():
    """p5e.48xlarge is sold by spot and blocks alone."""
    region = next(
        region for region, row in PRICES["p5e.48xlarge"].items() if "capacity_block" in row
    )
    assert entries(times(1.5, "capacity_block", "p5e.48xlarge", region)) == []
    assert entries(times(4, "capacity_block", "p5e.48xlarge", region)) == [
        f"capacity_block/p5e.48xlarge/{region}"
    ]
