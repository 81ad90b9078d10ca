"""Prices without credentials: the public offer files (streamed CSV) and the Spot Advisor."""

import json
import time
from http.client import HTTPException
from urllib.request import urlopen

from refresh import offer_files, plans
from refresh.answers import LISTED, Answers, RefreshError, is_plain_hour, reserved
from refresh.columns import rows_of

OFFERS, ADVISOR = "aws-offer-file", "spot-advisor"
SOURCES = {
    OFFERS: "AWS public offer file of the region, AmazonEC2/current/<region>/index.csv",
    ADVISOR: "AWS Spot Instance Advisor: on demand less its savings of the last 30 days; its band of interruptions",
}
OFFER_URL = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/{region}/index.csv"
ADVISOR_URL = "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"
SMALL = ("EBS:VolumeUsage.gp3", "DataTransfer-Regional-Bytes")  # usage types in EC2's file beside instances
COLUMNS = (  # that are read, of some ninety
    *("TermType", "OfferTermCode", "LeaseContractLength", "OfferingClass", "PurchaseOption", "Unit", "PricePerUnit", "Currency"),
    *("Product Family", "Location", "Location Type", "Region Code", "Instance Type", "Instance Family", "Tenancy", "usageType"),
    *("Operating System", "Pre Installed S/W", "CapacityStatus", "MarketOption"),
)
PATIENCE = (2, 8)  # seconds between tries to open a file
SHOW_EVERY_BYTES = 100 * 2**20


def fetch(scope, progress, open_url=urlopen):
    """On-demand prices, reserved terms and spot estimates; raises RefreshError with a sentence."""
    answers, open_url = Answers(sources=dict(SOURCES)), patient(open_url)
    try:
        for place, region in enumerate(scope.regions, 1):
            label = f"[{place}/{len(scope.regions)}] {region}"
            read_offers(region, scope, answers, open_url, lambda text, label=label: progress(f"{label}: {text}"))
            progress(f"{label}: {sum(key[1] == region for key in answers.prices['on_demand'])} on demand")
        read_advisor(scope, answers, open_url)
        plans.fetch(scope, answers, progress, open_url, lines_of)
    except (OSError, HTTPException) as error:
        raise RefreshError(f"the public price files could not be read ({error}); check the network and run it again.") from error
    estimate_spot(answers)
    return answers


def patient(open_url, sleep=time.sleep):
    """A function that opens an address, retrying after growing pauses."""

    def opened(url, **options):
        for pause in PATIENCE:
            try:
                return open_url(url, **options)
            except (OSError, HTTPException):
                sleep(pause)
        return open_url(url, **options)

    return opened


def read_offers(region, scope, answers, open_url, progress):
    """Keep the Linux hours of wanted instances of one region's file (hundreds of MiB)."""
    terms_of = {}
    with open_url(OFFER_URL.format(region=region), timeout=60) as answer:
        lines = lines_of(answer, region, progress)
        for row in rows_of(lines, _may_be_kept, COLUMNS, f"the offer file of {region}"):
            if row["Location Type"] != "AWS Region" or row["Region Code"] not in ("", region):
                continue  # Local Zones ask other prices
            _keep_small(row, region, answers)
            if _wanted(row, scope, answers):
                _keep(row, region, answers, terms_of)
    for instance, terms in terms_of.items():
        for market, figures in reserved((*term, prices.items()) for (*term, _), prices in terms.items()).items():
            answers.put(market, instance, region, OFFERS, **figures)
    for market in LISTED:
        answers.covered[market].add(region)


def lines_of(answer, region, progress):
    """The answer's lines as text; raises RefreshError where it ends before its announced length."""
    announced, read, shown = answer.headers.get("Content-Length"), 0, SHOW_EVERY_BYTES
    for line in answer:
        read += len(line)
        if read >= shown:
            shown += SHOW_EVERY_BYTES
            progress(f"{read // 2**20} MiB read")
        yield line.decode("utf-8")
    if announced is not None and read != int(announced):
        raise RefreshError(f"the file of {region} broke off after {read} of {announced} bytes; run it again.")


def _may_be_kept(line):
    """Whether a line can be an instance's hour, storage or traffic: most lines are neither."""
    return ("Linux" in line and "Usage" in line) or any(f'{name}"' in line for name in SMALL)


def _keep_small(row, region, answers):
    """Keep storage and traffic, which EC2's file lists too."""
    kind = offer_files.kind_of(row["usageType"]) if row["TermType"] == "OnDemand" else ""
    if kind and row["Unit"].startswith("GB"):
        answers.put_small("storage_and_traffic", kind, region, OFFERS, usd_per_gib=float(row["PricePerUnit"]))


def _wanted(row, scope, answers):
    """Whether a line is a plain Linux hour of an instance in the catalog; new types are noted."""
    instance = row["Instance Type"]
    tenancy, family = ("Dedicated", "Compute Instance (bare metal)") if ".metal" in instance else ("Shared", "Compute Instance")
    linux = row["Operating System"] == "Linux" and row["Pre Installed S/W"] in ("", "NA")
    sold = row["Tenancy"] == tenancy and row["Product Family"] == family and row["CapacityStatus"] == "Used"
    if not (linux and sold and is_plain_hour(instance, row["usageType"], row["MarketOption"])):
        return False
    if not scope.wants(instance):
        return False
    if instance not in scope.instances and row["Instance Family"] == "GPU instance":
        answers.note(f"{instance} is sold and new: its shape comes in when the refresh runs with credentials")
    return instance in scope.instances


def _keep(row, region, answers, terms_of):
    instance, usd = row["Instance Type"], float(row["PricePerUnit"])
    answers.regions[region] = row["Location"].rpartition("(")[2].rstrip(")")
    if row["TermType"] == "OnDemand":
        answers.put("on_demand", instance, region, OFFERS, usd_per_hour=usd, basis="published")
    elif row["TermType"] == "Reserved":
        term = tuple(row[name] for name in ("LeaseContractLength", "OfferingClass", "PurchaseOption", "OfferTermCode"))
        usd_of = terms_of.setdefault(instance, {}).setdefault(term, {})
        usd_of[row["Unit"]] = max(usd_of.get(row["Unit"], 0), usd)  # a line that comes twice counts once


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
