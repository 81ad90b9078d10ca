"""The catalogs: every fact dated and sourced, prices as published."""

import re
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from examples import entries, published
from hypothesis import given
from hypothesis import strategies as st

from calc.catalogs.commitments import COMMITMENTS
from calc.catalogs.load import FILES, CatalogError, add_models
from calc.catalogs.prices import SAGEMAKER, price_table
from calc.catalogs.rooms import BUDGETS, FOLDER, OWN, READINGS, ROOM_OF, ROOMS, path_of
from calc.cost.offers import is_old
from calc.plan.bill import price_facts
from calc.say.numbers import day_text
from views.shared.answer_words import price_age

PUBLISHED = published("prices")["prices"]
MARKETS = [
    "on_demand",
    "spot",
    "spot_newest",
    "interruption",
    "capacity_block",
    "commit_1y",
    "commit_3y",
]
MARKETS += [*COMMITMENTS.values(), *SAGEMAKER]
DAY = re.compile(r"20\d\d-\d\d-\d\d")


@pytest.mark.parametrize(
    ("instance", "region"),
    [(instance, region) for instance, regions in PUBLISHED.items() for region in regions],
)
def test_prices_equal_the_published_ones(catalogs, instance, region):
    rows = catalogs.prices.query("instance == @instance and region == @region")
    history = catalogs.price_history.query("instance == @instance and region == @region")
    for market in ("on_demand", "spot"):
        published, current = (
            PUBLISHED[instance][region][market],
            rows[f"{market}_usd_per_hour"].dropna().tolist(),
        )
        if published == "none":
            assert not current or rows[f"{market}_as_of"].item() > "2026-11-20"
        else:
            assert published in [*current, *history[history["market"] == market]["usd_per_hour"]]


def test_every_price_is_plausible_and_has_a_date_a_source_and_a_basis(catalogs):
    prices = catalogs.prices
    for market in MARKETS:
        figure = "interruption_band" if market == "interruption" else f"{market}_usd_per_hour"
        priced = (
            prices[prices[figure] != ""]
            if market == "interruption"
            else prices[prices[figure].notna()]
        )
        assert priced[f"{market}_as_of"].str.fullmatch(DAY.pattern).all(), market
        assert (priced[f"{market}_source"].str.len() > 10).all(), market
        assert (prices.drop(priced.index)[f"{market}_as_of"] == "").all(), market
    assert set(prices["on_demand_basis"]) <= {"", "published", "derived", "assumed"}
    assert set(prices["spot_basis"]) <= {"", "observed", "lowest zone", "estimated"}
    assert np.nanmin(prices.filter(like="usd_per_hour").to_numpy()) > 0
    seen = prices[prices["spot_basis"] == "observed"]
    assert (seen["spot_low_usd_per_hour"] <= seen["spot_usd_per_hour"]).all()
    assert (seen["spot_usd_per_hour"] <= seen["spot_high_usd_per_hour"]).all()
    assert not prices.duplicated(["instance", "region"]).any()


def test_a_lowest_zone_above_the_median_is_the_price_on_spot(catalogs):
    """p5en.48xlarge: April's median of 18.32 lies below August's lowest zone of 27.20, which so is
    the price.
    """
    prices = catalogs.prices.set_index(["instance", "region"])
    moved = prices.loc["p5en.48xlarge", "us-east-1"]
    assert moved[["spot_usd_per_hour", "spot_as_of", "spot_basis"]].tolist() == [
        27.1988,
        "2026-08-06",
        "lowest zone",
    ]
    assert "4110" in moved["spot_source"]
    later = prices["spot_newest_as_of"] > prices["spot_as_of"]
    assert later.sum() >= 5
    assert not (later & (prices["spot_newest_usd_per_hour"] > prices["spot_usd_per_hour"])).any()
    assert not (prices["spot_low_usd_per_hour"] > prices["spot_usd_per_hour"]).any()


@given(st.floats(0.1, 100), st.floats(0.1, 100), st.booleans())
def test_the_newest_observation_counts_where_it_proves_the_median_wrong(median, newest, later):
    days = ("2026-04-15", "2026-08-06") if later else ("2026-08-06", "2026-04-15")
    zones = {
        "usd_per_hour": median,
        "low_usd_per_hour": median / 2,
        "high_usd_per_hour": median * 2,
        "zones": 3,
        "basis": "observed",
    }
    markets = {
        "spot": zones | {"as_of": days[0], "source": "x"},
        "spot_newest": {"usd_per_hour": newest, "as_of": days[1], "source": "y"},
    }
    rule = {"types": [], "rule": "none"}
    row = price_table(
        {"a.b": {"us-east-1": markets}}, pd.DataFrame(index=["a.b"]), {"us-east-1": ""}, rule
    ).iloc[0]
    proves = later and newest > median
    assert (row["spot_usd_per_hour"], row["spot_source"]) == (
        (newest, "y") if proves else (median, "x")
    )
    assert row["spot_low_usd_per_hour"] <= row["spot_usd_per_hour"]
    assert np.isnan(row["spot_high_usd_per_hour"]) == proves


def test_old_prices_are_reported_not_failed(catalogs):
    """The age of prices is no fault of the code: it is said, and marked from the 91st day on."""
    days = pd.Series([catalogs.prices_as_of, "2020-01-01", ""])
    for age, old in ((0, False), (90, False), (91, True)):
        today = date.fromisoformat(catalogs.prices_as_of) + timedelta(days=age)
        assert is_old(days, today).tolist() == [old, True, False]
        text, warns = price_age({"market": ""}, catalogs, today)
        assert warns == old
        assert ("3 months old: check before renting" in text) == old
    eight_days = date.fromisoformat(catalogs.prices_as_of) + timedelta(days=8)
    assert is_old(days, eight_days, "spot").tolist() == [True, True, False]
    spot = {"instance": "g6e.xlarge", "region": "us-east-1", "market": "spot"}
    seen = date.fromisoformat(price_facts(spot, "spot", catalogs)["as_of"])
    assert [price_age(spot, catalogs, seen + timedelta(days=age)) for age in (7, 8)] == [
        (f"Price of {day_text(seen.isoformat())}", False),
        (f"Price of {day_text(seen.isoformat())}, 8 days old: check before renting", True),
    ]
    row = {"instance": "p6-b200.48xlarge", "region": "us-east-1"}
    for market in ("on-demand", "spot"):
        text, _ = price_age(row | {"market": market}, catalogs, date(2026, 11, 21))
        assert text.startswith(
            f"Price of {day_text(price_facts(row, market, catalogs)['as_of'])}, "
        )
        assert (catalogs.prices[f"{market.replace('-', '_')}_as_of"] <= catalogs.prices_as_of).all()


def test_cards_and_instances_are_what_the_driver_and_aws_report_and_every_fact_is_dated_and_sourced(
    catalogs,
):
    gpus, instances = catalogs.gpus, catalogs.instances
    assert gpus.loc["l4", "memory_bytes"] == 23034 * 2**20
    assert gpus.loc[
        "h100-80gb-sxm", ["bandwidth_bytes_per_second", "bf16_flops_per_second"]
    ].tolist() == [3.35e12, 989.4e12]
    sizes = ["gpus", "vcpus", "nvlink_domain_gpus", "network_bytes_per_second"]
    assert instances.loc["p5.48xlarge", sizes].tolist() == [8, 192, 8, 400e9]
    assert instances.loc["g6f.large", ["gpus", "gpu_fraction", "gpu_memory_bytes"]].tolist() == [
        1,
        0.125,
        2861 * 2**20,
    ]
    assert instances.loc["g5g.xlarge", "arm"]
    assert (len(gpus) >= 68, len(instances) >= 69) == (True, True)
    assert not instances.index.str.startswith(("inf", "trn")).any()
    assert (instances["nvlink_domain_gpus"] >= 1).all()
    assert {column for names in gpus["unverified"] for column in names} <= set(gpus.columns)
    for table in (gpus, instances):
        assert table["checked_on"].str.fullmatch(DAY.pattern).all()
        assert (table["source"] != "").all()
    for name in FILES:
        assert catalogs.about[name]["source"], name
        assert DAY.fullmatch(catalogs.about[name]["checked_on"]), name


def test_every_catalog_stands_in_its_room_and_in_the_readme_and_names_its_schema():
    """Each catalog has a schema, no two share a name, and the README says in a line what each file
    is.
    """
    there = {(path.parents[1].name, path.stem) for path in FOLDER.glob("*/schema/*.json")}
    assert {(path.parent.name, path.stem) for path in FOLDER.glob("*/*.yaml")} | {
        (OWN, READINGS),
        (OWN, BUDGETS),
    } == there
    assert {(room, name) for name, room in ROOM_OF.items()} == there
    for name in ROOM_OF.keys() - {BUDGETS, READINGS}:
        assert (
            path_of(name).read_text("utf-8").partition("\n")[0]
            == f"# yaml-language-server: $schema=schema/{name}.json"
        )
    readme = (FOLDER / "README.md").read_text("utf-8")
    parts = {part.partition("\n")[0].partition(":")[0]: part for part in readme.split("\n## ")[1:]}
    for room in ROOMS:
        names = [name for name in ROOM_OF if ROOM_OF[name] == room]
        assert re.findall(r"^\| `(\w+)\.yaml` \|", parts[room], re.MULTILINE) == names


def test_what_code_and_documents_say_of_a_catalog_leads_to_its_file():
    root, gone = FOLDER.parent, set()
    for folder in ("calc", "views", "refresh", "validation", "tests", "docs", "catalogs", "."):
        paths = (root / folder).glob("*.md") if folder == "." else (root / folder).rglob("*")
        for path in (path for path in paths if path.suffix in (".py", ".md")):
            named = re.findall(
                r"(?<![\w/])catalogs/[\w/]+\.(?:yaml|json)\b", path.read_text("utf-8")
            )
            gone |= {
                (path.name, name)
                for name in named
                if not (root / name).exists() and "/own/" not in name
            }
    assert {name for _, name in gone} == {"catalogs/x.yaml"}  # an invented name of the tests


def test_an_added_model_stands_beside_those_of_the_catalog(catalogs):
    models = entries("models")
    name, other = list(models)[:2]
    with pytest.raises(CatalogError, match="cannot be replaced"):
        add_models(catalogs, {name: models[other]})
    changed = add_models(catalogs, {"my-model": models[other]})
    assert len(changed.models) == len(catalogs.models) + 1
    assert changed.models.loc["my-model", "parameters"] == catalogs.models.loc[other, "parameters"]
    assert (changed.stacks["model"] == "my-model").sum() == (
        catalogs.stacks["model"] == other
    ).sum()
    assert changed.version != catalogs.version
    assert "my-model" not in catalogs.models.index
