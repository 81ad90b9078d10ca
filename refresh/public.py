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
# Usage types in EC2's file beside instances.
SMALL = (
    "EBS:VolumeUsage.gp3",
    "DataTransfer-Regional-Bytes",
)
COLUMNS = (  # that are read, of some ninety
    *(
        "TermType",
        "OfferTermCode",
        "LeaseContractLength",
        "OfferingClass",
        "PurchaseOption",
        "Unit",
        "PricePerUnit",
        "Currency",
    ),
    *(
        "Product Family",
        "Location",
        "Location Type",
        "Region Code",
        "Instance Type",
        "Instance Family",
        "Tenancy",
        "usageType",
    ),
    *("Operating System", "Pre Installed S/W", "CapacityStatus", "MarketOption"),
)
# Columns that say what a new type is.
FACTS_OF_NEW = {
    "GPU": "GPUs",
    "vCPU": "vCPUs",
    "Memory": "of host memory",
}
PATIENCE = (2, 8)  # seconds between tries to open a file


def fetch(scope, kept, progress, open_url=urlopen):
    """On-demand prices, reserved terms and spot estimates; raises RefreshError with a sentence."""
    meter = Meter(progress)
    opened = patient(meter.counted(open_url))
    advice = Answers(sources=dict(SOURCES))
    try:
        read_advisor(scope, advice, opened)
        versions = plans.versions(advice, opened)
        large = [
            url for region in kept.missing(scope.regions) for url in _large_files(region, versions)
        ]
        meter.announce(large, open_url)

        def read_region(region, of_region, part):
            read_offers(region, of_region, part, opened)
            plans.read(region, versions, of_region, part, opened)
            offer_files.fetch(region, of_region, part, opened)

        answers = kept.read(scope, read_region, progress)
    except (OSError, HTTPException) as error:
        missing = getattr(error, "code", None) in NOT_THERE
        cure = (
            f"{error.url} is not there: check the name of the region"
            if missing
            else "check the network and run it again"
        )
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
    """A function that opens an address, retrying after growing pauses what AWS may have."""

    def opened(url, **options):
        for pause in PATIENCE:
            try:
                return open_url(url, **options)
            except (OSError, HTTPException) as error:
                if getattr(error, "code", None) in NOT_THERE:
                    raise
                sleep(pause)
        return open_url(url, **options)

    return opened


def read_offers(region, scope, answers, open_url):
    """Keep the Linux hours of wanted instances of one region's file (hundreds of MiB)."""
    terms_of = {}
    with open_url(OFFER_URL.format(region=region), timeout=60) as answer:
        for row in rows_of(
            lines_of(answer, f"the offer file of {region}"),
            _may_be_kept,
            COLUMNS,
            f"the offer file of {region}",
        ):
            if row["Location Type"] != "AWS Region" or row["Region Code"] not in ("", region):
                continue  # Local Zones ask other prices
            _keep_small(row, region, answers)
            if _wanted(row, scope, answers):
                _keep(row, region, answers, terms_of)
    for instance, terms in terms_of.items():
        for market, figures in reserved_prices(
            (*term, prices.items()) for (*term, _), prices in terms.items()
        ).items():
            answers.put(market, instance, region, OFFERS, **figures)
    for market in LISTED:
        answers.covered[market].add(region)


def _may_be_kept(line):
    """Whether a line can be an instance's hour, storage or traffic: most lines are neither."""
    return ("Linux" in line and "Usage" in line) or any(f'{name}"' in line for name in SMALL)


def _keep_small(row, region, answers):
    """Keep storage and traffic, which EC2's file lists too."""
    kind = offer_files.kind_of(row["usageType"]) if row["TermType"] == "OnDemand" else ""
    if kind and row["Unit"].startswith("GB"):
        answers.put_small(
            "storage_and_traffic", kind, region, OFFERS, usd_per_gib=float(row["PricePerUnit"])
        )


def _wanted(row, scope, answers):
    """Whether a line is a plain Linux hour of an instance in the catalog; new types are noted."""
    instance = row["Instance Type"]
    tenancy, family = (
        ("Dedicated", "Compute Instance (bare metal)")
        if ".metal" in instance
        else ("Shared", "Compute Instance")
    )
    linux = row["Operating System"] == "Linux" and row["Pre Installed S/W"] in ("", "NA")
    sold = (
        row["Tenancy"] == tenancy
        and row["Product Family"] == family
        and row["CapacityStatus"] == "Used"
    )
    if not (linux and sold and is_plain_hour(instance, row["usageType"], row["MarketOption"])):
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


def _keep(row, region, answers, terms_of):
    instance, usd = row["Instance Type"], float(row["PricePerUnit"])
    answers.regions[region] = row["Location"].rpartition("(")[2].rstrip(")")
    if row["TermType"] == "OnDemand":
        answers.put("on_demand", instance, region, OFFERS, usd_per_hour=usd, basis="published")
    elif row["TermType"] == "Reserved":
        term = tuple(
            row[name]
            for name in ("LeaseContractLength", "OfferingClass", "PurchaseOption", "OfferTermCode")
        )
        usd_of = terms_of.setdefault(instance, {}).setdefault(term, {})
        # A line that comes twice counts once.
        usd_of[row["Unit"]] = max(usd_of.get(row["Unit"], 0), usd)


def read_advisor(scope, answers, open_url):
    """Keep the savings over on demand and the band of interruptions, by region and type (Linux)."""
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
