"""Savings Plans without credentials: the public offer file of a region, read line by line.

Only hours of Linux instances are kept; the file also lists Windows, Fargate, Lambda and unused reservations.
"""

import csv
import json
from http.client import HTTPException

from refresh.answers import PLANS, RefreshError, commitment

OFFERS = "savings-plan-file"
SOURCES = {OFFERS: "AWS public offer file of the region, AWSComputeSavingsPlan (holds Compute and EC2 Instance plans)"}
HOST = "https://pricing.us-east-1.amazonaws.com"
INDEX_URL = f"{HOST}/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json"
FAMILIES = {"ComputeSavingsPlans": "compute_plan", "EC2InstanceSavingsPlans": "instance_plan"}
COLUMNS = ("DiscountedRate", "Currency", "DiscountedUsageType", "DiscountedOperation", "PurchaseOption", "LeaseContractLength")


def fetch(scope, answers, progress, open_url, lines_of):
    """Read the plans of every region; where that fails, it is noted and they stay as they were."""
    try:
        with open_url(INDEX_URL, timeout=60) as answer:
            versions = {region["regionCode"]: region["versionUrl"] for region in json.load(answer)["regions"]}
        for region in scope.regions:
            if region in versions:
                _read(HOST + versions[region].replace("index.json", "index.csv"), region, scope, answers, progress, open_url, lines_of)
        answers.sources |= SOURCES
    except (OSError, HTTPException, ValueError, LookupError, TypeError, RefreshError) as error:
        answers.note(f"the Savings Plan files could not be read to their end ({error}): what is missing stays as it was")


def _read(url, region, scope, answers, progress, open_url, lines_of):
    with open_url(url, timeout=60) as answer:
        lines = lines_of(answer, region, progress)
        rows = csv.reader(line for line in lines if line.startswith('"SKU"') or "BoxUsage:" in line)
        header = next(rows, [])
        if not set(COLUMNS) <= set(header):
            raise RefreshError(f"the Savings Plan file of {region} has no header as expected")
        read = [_plan(dict(zip(header, values, strict=True)), region, scope) for values in rows]
    for name, instance, usd in filter(None, read):
        answers.put(name, instance, region, OFFERS, usd_per_hour=usd, basis="published")
    cover(region, answers)


def _plan(row, region, scope):
    """(name, instance, USD) of a plain Linux hour of a wanted instance in the region, or None."""
    years = f"{row['LeaseContractLength'].removesuffix('yr')}yr"
    name = commitment(FAMILIES.get(row.get("Product Family")), years, row["PurchaseOption"])
    instance = plain_hour_of(row["DiscountedUsageType"], row["DiscountedOperation"])
    here = row.get("DiscountedRegionCode", region) == region and row.get("DiscountedServiceCode", "AmazonEC2") == "AmazonEC2"
    sold = row.get("Unit", "Hrs") == "Hrs" and row["Currency"] == "USD"
    wanted = name and instance in scope.instances and scope.wants(instance)
    return (name, instance, float(row["DiscountedRate"])) if here and sold and wanted else None


def plain_hour_of(usage_type, operation):
    """The instance type of a plain Linux hour (USE1-BoxUsage:p5.48xlarge), or None."""
    kind, _, instance = usage_type.partition(":")
    return instance if kind.rpartition("-")[2] == "BoxUsage" and operation == "RunInstances" else None


def cover(region, answers):
    """Mark a region whose plans were read to the end: missing ones are no longer sold."""
    for name in PLANS:
        answers.covered[name].add(region)
