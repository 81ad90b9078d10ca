"""Stubbed AWS clients, and answers made from the recorded ones; shared by the tests of the
refresh.
"""

import io
import json
import shutil
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from urllib.error import URLError

import pytest
from examples import catalogs

from calc.catalogs.load import FOLDER, load_catalogs
from calc.catalogs.rooms import path_of
from refresh.answers import family_of
from refresh.write import NAMES, read_documents, yaml_text

RECORDED = Path(__file__).parent / "recorded"
ANSWERS = json.loads((RECORDED / "aws_answers.json").read_text("utf-8"))
TODAY = "2026-11-21"
CATALOGS = catalogs()


@cache
def small_texts():
    """The prices of two families in three regions, us-east-1 without terms, as the text of each
    file: as real, and quicker to read.
    """
    documents = read_documents(FOLDER)
    kept = {
        instance: rows
        for instance, rows in documents["prices"]["prices"].items()
        if family_of(instance) in ("g5", "gr6")
    }
    documents["prices"]["prices"] = {
        instance: {
            region: {
                market: price
                for market, price in row.items()
                if region != "us-east-1" or not market.startswith("reserved")
            }
            for region, row in rows.items()
            if region in ("eu-south-2", "eu-west-1", "us-east-1")
        }
        for instance, rows in kept.items()
    }
    return {name: yaml_text(name, documents[name]) for name in NAMES}


def small_catalogs(folder):
    """A folder of catalogs with few prices."""
    shutil.copytree(FOLDER, folder)
    for name, text in small_texts().items():
        path_of(name, folder).write_text(text, "utf-8")
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Small catalogs for a test, whose refresh does not pause before it asks again."""
    monkeypatch.setattr("refresh.public.PAUSES_SECONDS", (0, 0))
    return small_catalogs(tmp_path / "catalogs")


@cache
def botocore_session():
    """One for all tests: it keeps the service models, which take a second to read."""
    import botocore.session

    return botocore.session.get_session()


class Session:
    """Hands out stubbed clients; every call that a test expects is queued in order."""

    def __init__(self, credentials=True):
        self.credentials, self.stubs = credentials, {}

    def get_credentials(self):
        return self.credentials or None

    def client(self, service, region_name, config=None):
        from botocore.stub import Stubber

        assert config is None or config.retries["mode"] == "adaptive"
        if (service, region_name) not in self.stubs:
            keys = {"aws_access_key_id": "example", "aws_secret_access_key": "example"}
            client = botocore_session().create_client(
                service, region_name=region_name, config=config, **keys
            )
            self.stubs[service, region_name] = Stubber(client)
            self.stubs[service, region_name].activate()
        return self.stubs[service, region_name].client

    def expect(self, service, operation, answer, parameters=None):
        self.client(service, "us-east-1")
        self.stubs[service, "us-east-1"].add_response(operation, answer, parameters)
        return self

    def expect_error(self, service, operation, code):
        self.client(service, "us-east-1")
        self.stubs[service, "us-east-1"].add_client_error(operation, code)
        return self


def product(instance, usd, recorded="on_demand_only"):
    """One entry of PriceList: a recorded product with another instance and price."""
    item = deepcopy(ANSWERS["get_products"][recorded])
    attributes = item["product"]["attributes"]
    attributes |= {
        "instanceType": instance,
        "usagetype": f"{attributes['usagetype'].partition(':')[0]}:{instance}",
    }
    for term in item["terms"]["OnDemand"].values():
        for dimension in term["priceDimensions"].values():
            dimension["pricePerUnit"] = {"USD": f"{usd:.10f}"}
    return json.dumps(item)


def g5_prices(**changed):
    """Today's on-demand prices of g5 in us-east-1 as the catalog has them, but for what a test
    changes (by size).
    """
    prices = CATALOGS.prices
    current = prices[prices["instance"].str.startswith("g5.") & (prices["region"] == "us-east-1")]
    today = dict(zip(current["instance"], current["on_demand_usd_per_hour"], strict=True))
    today |= {f"g5.{size.removeprefix('_')}": usd for size, usd in changed.items()}
    return [product(instance, usd) for instance, usd in today.items() if usd is not None]


def spot(instances, usd=None):
    """Today's spot prices, one zone, as the catalog has them or at `usd`."""
    prices = CATALOGS.prices.query("region == 'us-east-1'").set_index("instance")[
        "spot_usd_per_hour"
    ]
    seen_at = datetime(2026, 11, 20, tzinfo=UTC)
    zone = {
        "ProductDescription": "Linux/UNIX",
        "AvailabilityZone": "us-east-1a",
        "AvailabilityZoneId": "use1-az1",
    }
    return [
        {
            **zone,
            "InstanceType": name,
            "SpotPrice": f"{usd or prices[name]:.6f}",
            "Timestamp": seen_at,
        }
        for name in instances
    ]


def session(price_list, history=None, types=()):
    """A session that answers one region in full: shapes, on demand (with an empty last page), bare
    metal, spot.
    """
    started = (
        Session()
        .expect("ec2", "describe_regions", ANSWERS["describe_regions"])
        .expect("ec2", "describe_instance_types", {"InstanceTypes": list(types)})
        .expect("pricing", "get_products", {"PriceList": price_list, "NextToken": "more"})
        .expect("pricing", "get_products", {"PriceList": []})
        .expect("pricing", "get_products", {"PriceList": []})
    )
    if history is None:
        history = spot(
            [
                f"g5.{size}"
                for size in ("xlarge", "2xlarge", "4xlarge", "12xlarge", "16xlarge", "48xlarge")
            ]
        )
    return started.expect("ec2", "describe_spot_price_history", {"SpotPriceHistory": history})


def advice(url, **_):
    if "/offers/" in url:
        raise URLError("the small offer files are tests of their own")
    return io.BytesIO(json.dumps(ANSWERS["spot_advisor"]).encode())


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.suffix in (".yaml", ".csv")
    }


def price(folder, instance, region="us-east-1"):
    prices = load_catalogs(folder).prices
    return prices[(prices["instance"] == instance) & (prices["region"] == region)].iloc[0]
