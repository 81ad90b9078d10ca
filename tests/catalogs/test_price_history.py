"""The price history: a small file a day that is only ever added to, what is read out of it;
SageMaker's prices; markets.
"""

import numpy as np
import pandas as pd
import pytest
from examples import recorded

from calc import estimate
from calc.catalogs.history import read_history
from calc.catalogs.load import FOLDER, CatalogError, read_document
from calc.catalogs.prices import SAGEMAKER
from calc.catalogs.rooms import HISTORY
from calc.charts.lines import over_days
from calc.cost.markets import MARKETS, PLAN_MARKETS, SUMMED_UP
from calc.cost.offers import price_change, price_line, price_on
from calc.job.fields import JOB
from refresh.answers import KINDS
from refresh.history import changed_prices, last_known, text_of

KEY = ("g5.xlarge", "us-east-1")
FIELDS = ("usd_per_hour", "as_of", "source", "basis")


@pytest.mark.parametrize(
    ("before", "after", "history", "kept"), recorded("cases/price_history.json")["refreshes"]
)
def test_what_a_refresh_adds(before, after, history, kept):
    """The first day of a price that stays is kept too: it would be lost otherwise."""
    last = last_known(
        pd.DataFrame(history, columns=["instance", "region", "market", "usd_per_hour", "as_of"])
    )
    prices = [
        {KEY: {market: dict(zip(FIELDS, price, strict=True)) for market, price in seen.items()}}
        for seen in (before, after)
    ]
    changes = changed_prices(*prices, last, ("on_demand", "spot"), "2026-11-21")
    assert [[row["market"], row["usd_per_hour"], row["as_of"]] for row in changes] == kept


def test_a_second_refresh_of_a_day_adds_to_its_file(tmp_path):
    (tmp_path / HISTORY).mkdir(parents=True)
    one, two = (
        {
            "instance": "g5.xlarge",
            "region": "us-east-1",
            "market": "spot",
            "usd_per_hour": usd,
            "as_of": "2026-11-21",
            "source": "s",
        }
        for usd in (1, 2)
    )
    path = tmp_path / HISTORY / "2026-11-21.csv"
    path.write_text(text_of(tmp_path, [one], "2026-11-21"), "utf-8")
    path.write_text(text_of(tmp_path, [one, two], "2026-11-21"), "utf-8")
    assert read_history(tmp_path)["usd_per_hour"].tolist() == [1, 2]


@pytest.mark.parametrize("line", recorded("cases/price_history.json")["broken_rows"])
def test_a_broken_row_is_one_sentence(tmp_path, line):
    (tmp_path / HISTORY).mkdir(parents=True)
    (tmp_path / HISTORY / "2026-11-21.csv").write_text(
        f"instance,region,market,usd_per_hour,as_of,source\n{line}\n", "utf-8"
    )
    with pytest.raises(CatalogError, match=r"2026-11-21.csv, line 2: .* restore the file"):
        read_history(tmp_path)


def test_a_price_stands_until_the_next_in_files_that_stay(catalogs):
    """p5.48xlarge in us-east-1: 98.32 from September 2023, 55.04 from June 2025, still so in July
    2026.
    """
    place = catalogs, "p5.48xlarge", "us-east-1"
    assert [price_on(*place, day) for day in ("2024-12-31", "2025-06-23", "2026-11-22")] == [
        98.32,
        55.04,
        55.04,
    ]
    assert np.isnan(price_on(*place, "2020-01-01"))
    assert price_change(*place, "2024-12-31").ratio == pytest.approx(55.04 / 98.32 - 1)
    assert price_change(*place, "2025-01-01", "capacity-block").ratio == pytest.approx(
        41.528 / 39.33 - 1
    )
    line = price_line(*place)
    assert line["as_of"].is_monotonic_increasing
    assert "estimated" not in set(line["source"])
    assert (FOLDER / HISTORY / "2026-11-20.csv").exists()
    assert len(catalogs.price_history) == len(read_history(FOLDER))
    assert catalogs.price_history["source"].str.len().min() > 10


def test_a_chart_of_it_has_the_prices_that_were_seen(catalogs):
    """SageMaker's, which follow by rule, are none; each market is named once, at its newest."""
    labels = {name: market.title for name, market in MARKETS.items()}
    table = over_days(price_line(catalogs, "p5.48xlarge", "us-east-1"), labels)
    assert set(table["line"]) == {"On demand", "Spot", "Capacity block"}
    assert table[table["line"] == "On demand"]["usd"].tolist() == [98.32, 55.04, 55.04]
    named = table[table["name"] != ""]
    assert sorted(named["line"]) == sorted(set(table["line"]))
    assert named["name_y"].notna().all()
    assert not len(over_days(price_line(catalogs, "p6e-gb200.36xlarge", "us-east-1"), labels))


def test_what_sagemaker_does_not_publish_follows_from_on_demand(catalogs):
    """1.40 for the smallest size of G, 1.25 for its others, 1.15 for P; a published price stands,
    and no other type is guessed.
    """
    prices = catalogs.prices.set_index(["instance", "region"])
    for instance, ratio in (("g6.xlarge", 1.40), ("g6.2xlarge", 1.25), ("p5.48xlarge", 1.15)):
        row = prices.loc[(instance, "us-east-1")]
        for component in SAGEMAKER:
            assert row[f"{component}_usd_per_hour"] == pytest.approx(
                ratio * row["on_demand_usd_per_hour"], abs=1e-6
            )
            assert (row[f"{component}_basis"], row[f"{component}_as_of"]) == (
                "derived",
                row["on_demand_as_of"],
            )
    published = prices[[f"{component}_basis" for component in SAGEMAKER]].eq("published")
    seen = [
        row
        for by_region in read_document(FOLDER, "prices")["prices"].values()
        for row in by_region.values()
    ]
    assert published.sum().tolist() == [
        sum(component in row for row in seen) for component in SAGEMAKER
    ]
    assert published.any().all()
    ratios = prices["sagemaker_training_usd_per_hour"] / prices["on_demand_usd_per_hour"]
    assert ratios[published["sagemaker_training_basis"]].round(2).isin([1.15, 1.25]).all()
    unseen = [
        "p6-b200.48xlarge",
        "p5en.48xlarge",
        "p5.4xlarge",
        "g5g.xlarge",
        "g6f.large",
        "g4dn.metal",
    ]
    assert prices.loc[unseen, "sagemaker_training_usd_per_hour"].isna().all()


def test_prices_results_link_and_refresh_have_every_market_of_the_table(catalogs):
    assert {market.price for market in MARKETS.values()} <= set(catalogs.prices.columns)
    row = estimate(
        {"model": "gpt2", "instance": "p5.48xlarge", "gpus": 8, "train_tokens": 1e9},
        catalogs,
        solve=False,
    )
    for name in PLAN_MARKETS:
        key = MARKETS[name].key
        assert row[f"usd_per_hour_{key}"] > 0
        assert row[f"run_usd_{key}"] > 0
        assert row[f"usd_per_month_{key}"] > 0
    assert set(JOB["markets"].choices) == set(MARKETS)
    assert set(KINDS) - {"interruption"} == {
        market.key for name, market in MARKETS.items() if name not in SUMMED_UP
    }
    assert [MARKETS[name].phrase for name in PLAN_MARKETS] == ["on demand", "on spot"]
