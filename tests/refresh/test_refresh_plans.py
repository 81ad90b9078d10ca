"""Savings Plans in the refresh: the public files and the API in their real shapes, and what is left
alone or doubted.
"""

import io
import json
from urllib.error import URLError

import pytest

from refresh.__main__ import main
from refresh.answers import Answers, Scope
from refresh.plans import INDEX_URL
from tests import refresh_answers
from tests.refresh.test_refresh import refresh
from tests.refresh.test_refresh_public import GR6, NoCredentials, public_files
from tests.refresh_answers import RECORDED, TODAY, Session, contents, g5_prices, price, session

pytestmark = pytest.mark.long
folder = refresh_answers.folder  # a fixture
PLANS = (RECORDED / "savings_plans_us_east_1.csv").read_bytes()
VERSION = "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/20261120/us-east-1/index.json"
INDEX = {"regions": [{"regionCode": "us-east-1", "versionUrl": VERSION}]}


def with_plans(url, plans=PLANS, announced=None, **_):
    if url == INDEX_URL:
        return io.BytesIO(json.dumps(INDEX).encode())
    if "savingsPlan" not in url:
        return public_files(url)
    assert url.endswith("/us-east-1/index.csv")
    answer = io.BytesIO(plans)
    answer.headers = {"Content-Length": str(announced or len(PLANS))}
    return answer


def read(folder, open_url, *arguments):
    return main(
        [*GR6, *arguments, "--folder", str(folder)],
        session=NoCredentials(),
        open_url=open_url,
        today=TODAY,
    )


def plans_of(row):
    prices = row.filter(like="plan_").filter(like="_usd_per_hour").dropna()
    return {name.removesuffix("_usd_per_hour"): usd for name, usd in prices.items()}


def test_public_plans_come_in_by_kind_term_and_payment(folder, capsys):
    assert read(folder, with_plans) == 0, capsys.readouterr().err
    small = price(folder, "gr6.4xlarge")
    compute = {
        "compute_plan_1y_no_upfront": 1.1,
        "compute_plan_1y_all_upfront": 1.0,
        "compute_plan_3y_no_upfront": 0.75,
    }
    assert plans_of(small) == compute | {"instance_plan_1y_partial_upfront": 0.95}
    assert small["compute_plan_3y_no_upfront_as_of"] == TODAY
    assert "AWSComputeSavingsPlan" in small["compute_plan_3y_no_upfront_source"]
    assert (small["commit_1y_usd_per_hour"], small["commit_1y_kind"]) == (
        0.9,
        "reserved instance, standard, partial upfront",
    )
    assert plans_of(price(folder, "gr6.8xlarge")) == {}


def unreachable(url, **_):
    if "savingsPlan" in url:
        raise URLError("no route")
    return public_files(url)


def broken_off(url, **_):
    return with_plans(url, PLANS[:-900])


def without_header(url, **_):
    changed = PLANS.replace(b"DiscountedRate", b"Rate")
    return with_plans(url, changed, len(changed))


@pytest.mark.parametrize("open_url", [unreachable, broken_off, without_header])
def test_plans_that_cannot_be_read_stay_as_they_were(folder, capsys, open_url):
    assert read(folder, with_plans) == 0
    before = plans_of(price(folder, "gr6.4xlarge"))
    capsys.readouterr()
    assert read(folder, open_url) == 0
    assert "Savings Plans could not be read (" in capsys.readouterr().out
    assert plans_of(price(folder, "gr6.4xlarge")) == before


def test_commitments_of_one_kind_that_are_all_gone_are_one_doubt(folder, capsys):
    assert read(folder, with_plans) == 0
    changed = PLANS.replace(b"No Upfront", b"Nil Upfront")
    renamed = lambda url, **_: with_plans(url, changed, len(changed))  # noqa: E731
    assert read(folder, renamed) == 1
    entries = ("compute_plan_1y_no_upfront/us-east-1", "compute_plan_3y_no_upfront/us-east-1")
    error = capsys.readouterr().err
    assert all(f"--accept {entry}\n" in error for entry in entries)
    assert read(folder, renamed, *(word for entry in entries for word in ("--accept", entry))) == 0
    assert plans_of(price(folder, "gr6.4xlarge")).keys() == {
        "compute_plan_1y_all_upfront",
        "instance_plan_1y_partial_upfront",
    }


@pytest.mark.parametrize(("before", "after"), [(b'"1.1"', b'"1.61"'), (b'"0.75"', b'"0.2"')])
def test_a_plan_dearer_than_on_demand_or_far_too_cheap_is_refused(folder, capsys, before, after):
    changed, untouched = PLANS.replace(before, after), contents(folder)
    assert read(folder, lambda url, **_: with_plans(url, changed, len(changed))) == 1
    assert "of on demand" in capsys.readouterr().err
    assert contents(folder) == untouched


def rate(
    usd, plan="Compute", seconds=31_536_000, usage="BoxUsage:g5.xlarge", operation="RunInstances"
):
    offering = {
        "offeringId": "ab-1",
        "paymentOption": "No Upfront",
        "planType": plan,
        "durationSeconds": seconds,
        "currency": "USD",
    }
    sold = {
        "unit": "Hrs",
        "productType": "EC2",
        "serviceCode": "AmazonEC2",
        "usageType": usage,
        "operation": operation,
    }
    return {"savingsPlanOffering": offering, "rate": str(usd), **sold}


def test_the_api_is_read_page_by_page():
    pytest.importorskip(
        "botocore", reason="the refresh needs pip install -r requirements/prices.txt"
    )
    from refresh.aws import read_plans

    filters = [
        ("region", ["us-east-1"]),
        ("instanceType", ["g5.xlarge"]),
        ("productDescription", ["Linux/UNIX"]),
        ("tenancy", ["shared"]),
    ]
    request = {
        "savingsPlanTypes": ["Compute", "EC2Instance"],
        "products": ["EC2"],
        "serviceCodes": ["AmazonEC2"],
        "maxResults": 1000,
    }
    request["filters"] = [{"name": name, "values": values} for name, values in filters]
    others = [
        rate(9, usage="UnusedBox:g5.xlarge"),
        rate(9, operation="RunInstances:0002"),
        rate(9, plan="Database"),
    ]
    call = ("savingsplans", "describe_savings_plans_offering_rates")
    answering = Session().expect(
        *call, {"searchResults": [rate(0.7), *others], "nextToken": "more"}, request
    )
    answering.expect(
        *call,
        {"searchResults": [rate(0.45, "EC2Instance", 94_608_000)]},
        {**request, "nextToken": "more"},
    )
    answers, scope = Answers(), Scope(("us-east-1",), None, frozenset(["g5.xlarge"]), {})
    read_plans(
        answering.client("savingsplans", "us-east-1"), "us-east-1", ["g5.xlarge"], scope, answers
    )
    seen = {
        name: prices["g5.xlarge", "us-east-1"]["usd_per_hour"]
        for name, prices in answers.prices.items()
        if prices
    }
    assert seen == {"compute_plan_1y_no_upfront": 0.7, "instance_plan_3y_no_upfront": 0.45}


def test_a_denied_plan_is_noted_and_the_rest_is_written(folder, capsys):
    denied = session(g5_prices(_2xlarge=1.25))
    denied.expect_error(
        "savingsplans", "describe_savings_plans_offering_rates", "AccessDeniedException"
    )
    assert refresh(folder, denied) == 0
    assert "Savings Plans could not be read" in capsys.readouterr().out
    assert price(folder, "g5.2xlarge")["on_demand_usd_per_hour"] == 1.25
