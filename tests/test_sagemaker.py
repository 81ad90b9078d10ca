"""SageMaker's prices: published where a source has one, else derived from on demand, and of no type that was not seen."""

import pytest

from calc.catalogs.load import FOLDER, read_document
from calc.catalogs.prices import SAGEMAKER


def test_what_sagemaker_does_not_publish_follows_from_on_demand(catalogs):
    """1.40 for the smallest size of G, 1.25 for its others, 1.15 for P; a published price stands, and no other type is guessed."""
    prices = catalogs.prices.set_index(["instance", "region"])
    for instance, ratio in (("g6.xlarge", 1.40), ("g6.2xlarge", 1.25), ("p5.48xlarge", 1.15)):
        row = prices.loc[(instance, "us-east-1")]
        for component in SAGEMAKER:
            assert row[f"{component}_usd_per_hour"] == pytest.approx(ratio * row["on_demand_usd_per_hour"], abs=1e-6)
            assert (row[f"{component}_basis"], row[f"{component}_as_of"]) == ("derived", row["on_demand_as_of"])
    published = prices[[f"{component}_basis" for component in SAGEMAKER]].eq("published")
    seen = [row for by_region in read_document(FOLDER, "prices")["prices"].values() for row in by_region.values()]
    assert published.sum().tolist() == [sum(component in row for row in seen) for component in SAGEMAKER]
    assert published.any().all()
    ratios = prices["sagemaker_training_usd_per_hour"] / prices["on_demand_usd_per_hour"]
    assert ratios[published["sagemaker_training_basis"]].round(2).isin([1.15, 1.25]).all()
    unseen = ["p6-b200.48xlarge", "p5en.48xlarge", "p5.4xlarge", "g5g.xlarge", "g6f.large", "g4dn.metal"]
    assert prices.loc[unseen, "sagemaker_training_usd_per_hour"].isna().all()
