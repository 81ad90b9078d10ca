"""Savings Plans without credentials: the public offer file of a region, read line by line.

Only hours of Linux instances are kept; the file also lists Windows, Fargate, Lambda and unused
reservations.
"""

import json
from http.client import HTTPException

from refresh.answers import PLANS, RefreshError, commitment
from refresh.columns import lines_of, rows_of

OFFERS = "savings-plan-file"
SOURCES = {
    OFFERS: (
        "AWS public offer file of the region, AWSComputeSavingsPlan (holds Compute and EC2 "
        "Instance plans)"
    )
}
HOST = "https://pricing.us-east-1.amazonaws.com"
INDEX_URL = f"{HOST}/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json"
NOT_READ = "Savings Plans could not be read ({}): those not read stay as they were"
FAMILIES = {"ComputeSavingsPlans": "compute_plan", "EC2InstanceSavingsPlans": "instance_plan"}
COLUMNS = (
    *(
        "DiscountedRate",
        "Currency",
        "Unit",
        "DiscountedUsageType",
        "DiscountedOperation",
        "DiscountedServiceCode",
    ),
    *("DiscountedRegionCode", "PurchaseOption", "LeaseContractLength", "Product Family"),
)


def versions(answers, open_url):
    """Region -> address of its file of plans; empty, and noted, if the list cannot be read."""
    try:
        with open_url(INDEX_URL, timeout=60) as answer:
            versions_by_region = {
                region["regionCode"]: region["versionUrl"]
                for region in json.load(answer)["regions"]
            }
    except (OSError, HTTPException, ValueError, LookupError, TypeError) as error:
        answers.fail(NOT_READ.format(f"their list: {error}"), error)
        return {}
    return {
        region: HOST + url.replace("index.json", "index.csv")
        for region, url in versions_by_region.items()
    }


def read(region, addresses, scope, answers, open_url):
    """Read the plans of a region; if that fails, it is noted and they stay as they were."""
    if region not in addresses:
        return
    try:
        _read(addresses[region], region, scope, answers, open_url)
        answers.sources |= SOURCES
    except (OSError, HTTPException, ValueError, LookupError, TypeError, RefreshError) as error:
        answers.fail(NOT_READ.format(f"{region}: {error}".rstrip(".")), error)


def _read(url, region, scope, answers, open_url):
    file = f"the Savings Plan file of {region}"
    with open_url(url, timeout=60) as answer:
        rows = rows_of(lines_of(answer, file), lambda line: "BoxUsage:" in line, COLUMNS, file)
        plans = [plan for row in rows if (plan := _plan(row, region, scope))]
    if not plans:
        answers.note(f"{file} names no plan of an instance here: those known stay as they were")
        return
    for market, instance, usd in plans:
        answers.put(market, instance, region, OFFERS, usd_per_hour=usd, basis="published")
    cover(region, answers)


def _plan(row, region, scope):
    """Return (market, instance, USD) of a plain Linux hour of a wanted instance, or None."""
    years = f"{row['LeaseContractLength'].removesuffix('yr')}yr"
    market = commitment(FAMILIES.get(row["Product Family"]), years, row["PurchaseOption"])
    instance = plain_hour_of(row["DiscountedUsageType"], row["DiscountedOperation"])
    is_here = row["DiscountedRegionCode"] == region and row["DiscountedServiceCode"] == "AmazonEC2"
    is_wanted = market and instance in scope.instances and scope.wants(instance)
    if is_here and is_wanted and row["Unit"] == "Hrs":
        return market, instance, float(row["DiscountedRate"])
    return None


def plain_hour_of(usage_type, operation):
    """Return the instance type of a plain Linux hour (USE1-BoxUsage:p5.48xlarge), or None."""
    kind, _, instance = usage_type.partition(":")
    return (
        instance if kind.rpartition("-")[2] == "BoxUsage" and operation == "RunInstances" else None
    )


def cover(region, answers):
    """Mark a region whose plans were read to the end: missing ones are no longer sold."""
    for name in PLANS:
        answers.covered[name].add(region)
