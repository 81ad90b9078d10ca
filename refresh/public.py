"""Prices without credentials: the public offer files (streamed CSV) and the Spot Advisor."""

import json
import time
from http.client import HTTPException
from urllib.request import urlopen

from calc.catalogs.schemas.instances import Instance
from calc.catalogs.schemas.kinds import required_fields
from refresh import offer_files, plans
from refresh.answers import LISTED, NOT_THERE, Answers, RefreshError, is_plain_hour, reserved_prices
from refresh.columns import lines_of, rows_of
from refresh.meter import Meter

OFFERS, ADVISOR = "aws-offer-file", "spot-advisor"
SOURCES = {
    OFFERS: "AWS public offer file of the region, AmazonEC2/current/<region>/index.csv",
    ADVISOR: (
        "AWS Spot Instance Advisor: on demand less its savings of the last 30 days; its band of "
        "interruptions"
    ),
}
OFFER_URL = (
    "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/{region}/index.csv"
)
ADVISOR_URL = "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"
# Usage types in EC2's file besides instances.
STORAGE_AND_TRAFFIC = ("EBS:VolumeUsage.gp3", "DataTransfer-Regional-Bytes")
COLUMNS = (  # that are read, of some ninety
    "TermType",
    "OfferTermCode",
    "LeaseContractLength",
    "OfferingClass",
    "PurchaseOption",
    "Unit",
    "PricePerUnit",
    "Currency",
    "Product Family",
    "Location",
    "Location Type",
    "Region Code",
    "Instance Type",
    "Instance Family",
    "Tenancy",
    "usageType",
    "Operating System",
    "Pre Installed S/W",
    "CapacityStatus",
    "MarketOption",
)
# Columns that describe a new type, and the unit of each.
FACTS_OF_NEW = {
    "GPU": "GPUs",
    "vCPU": "vCPUs",
    "Memory": "of host memory",
}
PAUSES_SECONDS = (2, 8)  # between tries to open a file


def fetch(scope, region_cache, progress, open_url=urlopen):
    """Fetch On-Demand prices, reserved terms and Spot estimates. Raise RefreshError on failure."""
    meter = Meter(progress)
    open_patiently = patient(meter.counted(open_url))
    advice = Answers(sources=dict(SOURCES))
    try:
        read_advisor(scope, advice, open_patiently)
        versions = plans.versions(advice, open_patiently)
        large_files = [
            url
            for region in region_cache.missing(scope.regions)
            for url in _large_files(region, versions)
        ]
        meter.announce(large_files, open_url)

        def read_region(region, region_scope, answers):
            read_offers(region, region_scope, answers, open_patiently)
            plans.read(region, versions, region_scope, answers, open_patiently)
            offer_files.fetch(region, region_scope, answers, open_patiently)

        answers = region_cache.read(scope, read_region, progress)
    except (OSError, HTTPException) as error:
        cure = "check the network and run it again"
        if getattr(error, "code", None) in NOT_THERE:
            cure = f"{error.url} is not there: check the name of the region"
        raise RefreshError(
            f"the public price files could not be read ({error}); {cure}."
        ) from error
    answers.absorb(advice)
    estimate_spot(answers)
    return answers


def _large_files(region, versions):
    sagemaker = offer_files.URL.format(service="AmazonSageMaker", region=region)
    return [
        OFFER_URL.format(region=region),
        *([versions[region]] if region in versions else []),
        sagemaker,
    ]


def patient(open_url, sleep=time.sleep):
    """Return a function that opens an address and tries again after each of PAUSES_SECONDS.

    It does not try again if AWS answers that there is no such file.
    """

    def open_patiently(url, **options):
        for pause_seconds in PAUSES_SECONDS:
            try:
                return open_url(url, **options)
            except (OSError, HTTPException) as error:
                if getattr(error, "code", None) in NOT_THERE:
                    raise
                sleep(pause_seconds)
        return open_url(url, **options)

    return open_patiently


def read_offers(region, scope, answers, open_url):
    """Read the prices of plain Linux hours from one region's offer file (hundreds of MiB).

    `answers` receives those of the instances in the catalog, and the prices of storage and traffic.
    """
    terms_by_instance = {}
    label = f"the offer file of {region}"
    with open_url(OFFER_URL.format(region=region), timeout=60) as answer:
        for row in rows_of(lines_of(answer, label), _may_have_price, COLUMNS, label):
            if row["Location Type"] != "AWS Region" or row["Region Code"] not in ("", region):
                continue  # Local Zones have other prices
            _put_storage_and_traffic(row, region, answers)
            if _is_instance_hour(row, scope, answers):
                _put_hour(row, region, answers, terms_by_instance)
    for instance, terms in terms_by_instance.items():
        for market, figures in reserved_prices(
            (*term, prices.items()) for (*term, _), prices in terms.items()
        ).items():
            answers.put(market, instance, region, OFFERS, **figures)
    for market in LISTED:
        answers.covered[market].add(region)


def _may_have_price(line):
    """Return whether a line can be an instance's hour, storage or traffic. Most are neither."""
    is_small = any(f'{name}"' in line for name in STORAGE_AND_TRAFFIC)
    return is_small or ("Linux" in line and "Usage" in line)


def _put_storage_and_traffic(row, region, answers):
    """Put a price of storage or traffic, which EC2's file lists too, into the answers."""
    kind = offer_files.kind_of(row["usageType"]) if row["TermType"] == "OnDemand" else ""
    if kind and row["Unit"].startswith("GB"):
        answers.put_small(
            "storage_and_traffic", kind, region, OFFERS, usd_per_gib=float(row["PricePerUnit"])
        )


def _is_instance_hour(row, scope, answers):
    """Return whether a row is a plain Linux hour of an instance in the catalog.

    If its type is new, a note goes into `answers`.
    """
    instance = row["Instance Type"]
    tenancy, family = (
        ("Dedicated", "Compute Instance (bare metal)")
        if ".metal" in instance
        else ("Shared", "Compute Instance")
    )
    is_linux = row["Operating System"] == "Linux" and row["Pre Installed S/W"] in ("", "NA")
    is_plain = (
        row["Tenancy"] == tenancy
        and row["Product Family"] == family
        and row["CapacityStatus"] == "Used"
    )
    if not (
        is_linux and is_plain and is_plain_hour(instance, row["usageType"], row["MarketOption"])
    ):
        return False
    if not scope.wants(instance):
        return False
    if instance not in scope.instances and row["Instance Family"] == "GPU instance":
        figures = ", ".join(
            f"{row[name]} {unit}" for name, unit in FACTS_OF_NEW.items() if row.get(name)
        )
        answers.note(
            f"{instance} is sold and new{f' ({figures})' if figures else ''}: its shape "
            f"comes in when the refresh runs with credentials; "
            f"without them add it to instances.yaml ({', '.join(required_fields(Instance))})"
        )
    return instance in scope.instances


def _put_hour(row, region, answers, terms_by_instance):
    """Put a price on demand into the answers, and a reserved one into `terms_by_instance`."""
    instance, usd = row["Instance Type"], float(row["PricePerUnit"])
    answers.regions[region] = row["Location"].rpartition("(")[2].rstrip(")")
    if row["TermType"] == "OnDemand":
        answers.put("on_demand", instance, region, OFFERS, usd_per_hour=usd, basis="published")
    elif row["TermType"] == "Reserved":
        term = tuple(
            row[name]
            for name in ("LeaseContractLength", "OfferingClass", "PurchaseOption", "OfferTermCode")
        )
        usd_by_unit = terms_by_instance.setdefault(instance, {}).setdefault(term, {})
        # A line that comes twice counts once.
        usd_by_unit[row["Unit"]] = max(usd_by_unit.get(row["Unit"], 0), usd)


def read_advisor(scope, answers, open_url):
    """Read the savings over on demand and the band of interruptions, by region and type (Linux)."""
    with open_url(ADVISOR_URL, timeout=60) as answer:
        advice = json.load(answer)
    bands = {band["index"]: band["label"] for band in advice["ranges"]}
    for region in scope.regions:
        for instance, entry in advice["spot_advisor"].get(region, {}).get("Linux", {}).items():
            if instance in scope.instances and scope.wants(instance):
                figures = {"band": bands[entry["r"]], "savings_ratio": entry["s"] / 100}
                answers.put("interruption", instance, region, ADVISOR, **figures)


def estimate_spot(answers):
    """Estimate spot prices as on demand less the advisor's savings, unless these are negative."""
    for (instance, region), entry in answers.prices["interruption"].items():
        on_demand = answers.prices["on_demand"].get((instance, region), {}).get("usd_per_hour", 0)
        if on_demand > 0 and 0 <= entry["savings_ratio"] < 1:
            usd = round(on_demand * (1 - entry["savings_ratio"]), 4)
            answers.put("spot", instance, region, ADVISOR, usd_per_hour=usd, basis="estimated")
