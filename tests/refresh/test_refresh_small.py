"""The refresh beside EC2's prices: SageMaker, Bedrock, storage, traffic, block offers, quotas, spot
scores, in their real shapes.
"""

import io
import json
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from urllib.error import URLError

import pytest
from examples import recorded

from calc.catalogs.load import FOLDER, load_catalogs
from calc.catalogs.rooms import HISTORY
from refresh.__main__ import main
from refresh.answers import Answers, Scope
from refresh.merge import merge
from refresh.offer_files import fetch, plain_name
from refresh.write import read_documents
from tests.refresh_answers import (
    RECORDED,
    TODAY,
    Session,
    advice,
    g5_prices,
    price,
    session,
    small_catalogs,
)

pytest.importorskip("botocore", reason="the refresh needs pip install -r requirements/prices.txt")

OFFERS = json.loads((RECORDED / "small_offers.json").read_text("utf-8"))
MODELS = {"llama318b": "llama-3.1-8b", "gptoss20b": "gpt-oss-20b", "mixtral8x7b": "mixtral-8x7b"}
SCOPE = Scope(("us-east-1",), None, frozenset(["g5.xlarge", "g5.2xlarge"]), {}, MODELS)
NOW = datetime(2026, 11, 21, tzinfo=UTC)


def small_files(url, offers=OFFERS, **_):
    service = next((name for name in offers if f"/{name}/" in url), None)
    if service is None:
        return advice(url)
    return io.BytesIO(json.dumps(offers[service]).encode())


def found_in(offers=OFFERS):
    answers = Answers()
    fetch("us-east-1", SCOPE, answers, lambda url, **_: small_files(url, offers))
    return answers


def test_what_is_kept_of_each_offer_file_and_what_is_not():
    answers = found_in()
    assert {market: rows for market, rows in answers.prices.items() if rows} == {
        "sagemaker_training": {
            ("g5.xlarge", "us-east-1"): {
                "usd_per_hour": 1.41,
                "basis": "published",
                "source": SAGEMAKER,
            }
        },
        "sagemaker_hosting": {
            ("g5.xlarge", "us-east-1"): {
                "usd_per_hour": 1.408,
                "basis": "published",
                "source": SAGEMAKER,
            }
        },
    }
    figures = {
        key[1]: {name: value for name, value in rows.items() if name != "source"}
        for key, rows in answers.small.items()
    }
    assert figures == recorded("cases/refresh_small.json")["kept"]
    assert not answers.notes


SAGEMAKER = "offer-file-amazonsagemaker"


@pytest.mark.parametrize(
    "text", ["Llama 3.1 8B Instruct", "meta.llama3-1-8b-instruct-v1:0", "llama-3.1-8b"]
)
def test_a_model_has_one_plain_name(text):
    assert plain_name(text) == "llama318b"


@pytest.mark.parametrize("service", OFFERS)
@pytest.mark.parametrize("broken", ["away", "cut off", "other form", "empty"])
def test_one_file_that_cannot_be_read_leaves_the_others(service, broken):
    def files(url, **_):
        if f"/{service}/" not in url:
            return small_files(url)
        if broken == "away":
            raise URLError("no route")
        cut = json.dumps(OFFERS[service])[:-300]
        return io.BytesIO(
            {
                "cut off": cut,
                "other form": '{"products": []}',
                "empty": '{"products": {}, "terms": {}}',
            }[broken].encode()
        )

    answers, complete = Answers(), found_in()
    fetch("us-east-1", SCOPE, answers, files)
    assert len(answers.notes) == 1
    assert service in answers.notes[0]
    assert "as they were" in answers.notes[0] or "stay as they were" in answers.notes[0]
    assert 0 < len(answers.small) <= len(complete.small)


def merged_with(**changes):
    """A merge of the files with the USD of some products changed: kind of product -> factor."""
    offers = deepcopy(OFFERS)
    for service, factor in changes.items():
        for term in offers[service]["terms"]["OnDemand"].values():
            for dimension in next(iter(term.values()))["priceDimensions"].values():
                dimension["pricePerUnit"]["USD"] = str(
                    float(dimension["pricePerUnit"]["USD"]) * factor
                )
    return merge(read_documents(FOLDER), found_in(offers), SCOPE, TODAY)


def test_they_go_into_their_catalogs_with_day_and_source():
    answers = merged_with()
    storage = answers.documents["storage_and_traffic"]
    expected = {"usd_per_gib": 0.024, "as_of": TODAY, "source": "offer-file-amazons3"}
    assert storage["storage_and_traffic"]["s3-standard"]["prices"]["us-east-1"] == expected
    assert "AmazonS3" in storage["sources"]["offer-file-amazons3"]
    assert storage["storage_and_traffic"]["s3-standard"]["prices"]["eu-west-1"]["as_of"] < TODAY
    assert (
        answers.documents["endpoints"]["endpoints"]["llama-3.1-8b"]["us-east-1"][
            "usd_per_million_output_tokens"
        ]
        == 0.24
    )
    # Half a price is none.
    assert answers.documents["endpoints"]["endpoints"]["mixtral-8x7b"]["us-east-1"]["as_of"] < TODAY
    assert "s3-standard us-east-1 usd_per_gib: 0.023 -> 0.024" in answers.changes
    assert not answers.doubts


@pytest.mark.parametrize(
    ("service", "factor", "doubt"), recorded("cases/refresh_small.json")["doubts"]
)
def test_what_is_strange_is_doubted(service, factor, doubt):
    assert any(doubt in sentence for _, sentence in merged_with(**{service: factor}).doubts)


def offering(usd, days=2, hours=24, count=1, zone="us-east-1a", **more):
    start = NOW + timedelta(days=days)
    what = {
        "CapacityBlockOfferingId": "cb-1",
        "InstanceType": "p5.48xlarge",
        "AvailabilityZone": zone,
        "InstanceCount": count,
    }
    when = {
        "StartDate": start,
        "EndDate": start + timedelta(hours=hours),
        "CapacityBlockDurationHours": hours,
    }
    return (
        what
        | when
        | {"UpfrontFee": f"{usd:.2f}", "CurrencyCode": "USD", "Tenancy": "default", **more}
    )


def test_offers_of_blocks_by_day_duration_and_zone():
    from refresh.capacity import read_blocks

    request = {
        "InstanceType": "p5.48xlarge",
        "InstanceCount": 1,
        "StartDateRange": NOW,
        "EndDateRange": NOW + timedelta(weeks=8),
    }
    local = offering(10, 1, zone="us-east-1-atl-2a")
    first = {
        "CapacityBlockOfferings": [offering(1000.8, 5), local, offering(1044, 3)],
        "NextToken": "more",
    }
    second = {"CapacityBlockOfferings": [offering(996.672, 9)]}
    answering = Session().expect(
        "ec2", "describe_capacity_block_offerings", first, {**request, "CapacityDurationHours": 24}
    )
    answering.expect(
        "ec2",
        "describe_capacity_block_offerings",
        second,
        {**request, "CapacityDurationHours": 24, "NextToken": "more"},
    )
    none = {"CapacityBlockOfferings": []}
    answering.expect(
        "ec2", "describe_capacity_block_offerings", none, {**request, "CapacityDurationHours": 168}
    )
    answers = Answers()
    read_blocks(answering.client("ec2", "us-east-1"), "us-east-1", "p5.48xlarge", answers, NOW)
    day, week = answers.signals
    assert (day["answer"], day["starts_on"], day["zone"], day["usd_per_hour"]) == (
        "yes",
        "2026-11-24",
        "us-east-1a",
        43.5,
    )
    assert (week["answer"], week["hours"]) == ("none", 168)
    assert answers.prices["capacity_block"]["p5.48xlarge", "us-east-1"][
        "usd_per_hour"
    ] == pytest.approx(996.67 / 24, abs=1e-4)


def test_refused_is_not_none():
    from refresh.capacity import read_blocks, read_quotas, read_scores

    answering = Session()
    for _ in range(2):
        answering.expect_error("ec2", "describe_capacity_block_offerings", "UnauthorizedOperation")
    answering.expect_error("ec2", "get_spot_placement_scores", "MaxConfigLimitExceeded")
    answering.expect_error("ec2", "describe_capacity_block_offerings", "InvalidParameterValue")
    answering.expect_error("service-quotas", "get_service_quota", "NoSuchResourceException")
    default = {"Quota": {"ServiceCode": "ec2", "QuotaCode": "L-417A185B", "Value": 0.0}}
    answering.expect("service-quotas", "get_aws_default_service_quota", default)
    answering.expect_error("service-quotas", "get_service_quota", "AccessDeniedException")
    answers, ec2 = Answers(), answering.client("ec2", "us-east-1")
    read_blocks(ec2, "us-east-1", "p5.48xlarge", answers, NOW)
    read_scores(ec2, ("us-east-1",), ("g5.xlarge", "g5.2xlarge", "g5.4xlarge"), answers)
    read_blocks(ec2, "us-east-1", "g5.xlarge", answers, NOW)  # not sold in blocks: no answer at all
    read_quotas(
        answering.client("service-quotas", "us-east-1"),
        "us-east-1",
        ("L-417A185B", "L-DB2E81BA"),
        answers,
    )
    signals = [
        (row["signal"], row["answer"], row.get("error", row.get("value")))
        for row in answers.signals
    ]
    assert signals == [
        ("block", "refused", "UnauthorizedOperation"),
        ("block", "refused", "UnauthorizedOperation"),
        ("score", "refused", "MaxConfigLimitExceeded"),
        ("quota", "yes", 0.0),
        ("quota", "refused", "AccessDeniedException"),
    ]
    assert not answers.prices["capacity_block"]


def test_scores_of_a_pool_over_regions():
    from refresh.capacity import read_scores

    scores = [
        {"Region": "us-east-1", "AvailabilityZoneId": f"use1-az{zone}", "Score": zone}
        for zone in (2, 7, 3)
    ]
    answering = Session().expect(
        "ec2", "get_spot_placement_scores", {"SpotPlacementScores": scores}
    )
    answers = Answers()
    read_scores(
        answering.client("ec2", "us-east-1"),
        ("us-east-1", "us-west-2"),
        ("g5.xlarge", "g5.2xlarge", "g5.4xlarge"),
        answers,
    )
    here, there = answers.signals
    assert (here["answer"], here["value"], here["zone"]) == ("yes", 7, "use1-az7")
    assert (there["region"], there["answer"]) == ("us-west-2", "none")


def test_scores_are_asked_for_ten_regions_at_a_time():
    from refresh.capacity import fetch_scores

    pool = ("g5.2xlarge", "g5.4xlarge", "g5.xlarge")
    regions = [f"us-east-{number}" for number in range(1, 24)]
    answering, request = (
        Session(),
        {"InstanceTypes": list(pool), "TargetCapacity": 1, "TargetCapacityUnitType": "units"},
    )
    parts = [regions[:10], regions[10:20], regions[20:]]
    for part in parts:
        scores = [
            {"Region": part[0], "AvailabilityZoneId": f"az{zone}", "Score": zone}
            for zone in range(len(part))
        ]
        parameters = {**request, "SingleAvailabilityZone": True, "RegionNames": part}
        answering.expect(
            "ec2", "get_spot_placement_scores", {"SpotPlacementScores": scores}, parameters
        )
    answers = Answers()
    fetch_scores(
        answering, regions, Scope(tuple(regions), None, frozenset(pool), {}, pools=(pool,)), answers
    )
    answering.stubs["ec2", "us-east-1"].assert_no_pending_responses()
    rows = [(row["region"], row["answer"]) for row in answers.signals]
    assert rows == [
        (parts[0][0], "yes"),
        (parts[1][0], "yes"),
        (parts[2][0], "yes"),
        *((region, "none") for region in parts[2][1:]),
    ]


def test_make_prices_end_to_end_brings_every_source(tmp_path, capsys, monkeypatch):
    """One region with credentials: prices, spot, small files, EBS, blocks refused, quota, scores;
    what is left is in the catalogs.
    """
    monkeypatch.setattr("refresh.public.PAUSES_SECONDS", (0, 0))
    folder = small_catalogs(tmp_path / "catalogs")
    gp3 = {
        "product": {
            "productFamily": "Storage",
            "attributes": {"usagetype": "EBS:VolumeUsage.gp3", "volumeApiName": "gp3"},
        }
    }
    gp3["terms"] = {
        "OnDemand": {
            "T": {
                "priceDimensions": {"D": {"unit": "GB-Mo", "pricePerUnit": {"USD": "0.0850000000"}}}
            }
        }
    }
    answering = session(g5_prices(_xlarge=1.1)).expect(
        "pricing", "get_products", {"PriceList": [json.dumps(gp3)]}
    )
    quota = {"Quota": {"ServiceCode": "ec2", "QuotaCode": "L-417A185B", "Value": 192.0}}
    codes = sorted(
        {
            code
            for name in ("on_demand_code", "spot_code", "block_code")
            for code in load_catalogs().quotas[name]
            if code
        }
    )
    for _ in codes:
        answering.expect("service-quotas", "get_service_quota", quota)
    scores = {
        "SpotPlacementScores": [
            {"Region": "us-east-1", "AvailabilityZoneId": "use1-az2", "Score": 9}
        ]
    }
    answering.expect("ec2", "get_spot_placement_scores", scores)
    arguments = ["--region", "us-east-1", "--family", "g5", "--folder", str(folder)]
    assert main(arguments, session=answering, open_url=small_files, today=TODAY) == 0, (
        capsys.readouterr().err
    )
    row, catalogs = price(folder, "g5.xlarge"), load_catalogs(folder)
    names = (
        "on_demand_usd_per_hour",
        "sagemaker_training_usd_per_hour",
        "sagemaker_training_basis",
    )
    assert [row[name] for name in names] == [1.1, 1.41, "published"]
    storage = catalogs.storage_and_traffic.set_index(["kind", "region"])["usd_per_gib"]
    assert [
        storage[kind, "us-east-1"] for kind in ("ebs-gp3", "s3-standard", "traffic-internet")
    ] == [0.085, 0.024, 0.095]
    signals = catalogs.capacity.set_index("signal")
    assert set(signals.loc[["quota"], "value"]) == {192}
    assert signals.loc["score", ["of", "value", "as_of"]].tolist() == [
        "+".join(sorted(g5_types(catalogs))),
        9,
        TODAY,
    ]
    kept = catalogs.price_history.query(
        "instance == 'g5.xlarge' and market == 'on_demand' and region == 'us-east-1'"
    )
    assert kept["usd_per_hour"].tolist() == [1.006, 1.1]
    day = (folder / HISTORY / f"{TODAY}.csv").read_text("utf-8").splitlines()
    assert day[0] == "instance,region,market,usd_per_hour,as_of,source"
    assert len(day) < 60
    assert (folder / HISTORY / "2026-11-20.csv").read_bytes() == (
        FOLDER / HISTORY / "2026-11-20.csv"
    ).read_bytes()
    assert not list(folder.parent.glob(".catalogs-*"))


def g5_types(catalogs):
    current = catalogs.instances[catalogs.instances["current"]]
    return current.index[current["gpu"] == current.at["g5.xlarge", "gpu"]]
