"""Prices with credentials: on demand, reserved terms, current spot; shapes of instances."""

import json
from datetime import UTC, datetime
from http.client import HTTPException
from operator import itemgetter
from statistics import median

from botocore.exceptions import BotoCoreError, ClientError

from refresh import capacity, offer_files, public
from refresh.answers import (
    LISTED,
    Answers,
    RefreshError,
    commitment,
    is_local,
    is_plain_hour,
    reserved_prices,
)
from refresh.meter import Meter
from refresh.pages import MANNERS, items
from refresh.plans import NOT_READ, cover, plain_hour_of
from refresh.shapes import shape_of

PRICE_LIST, PLANS, SPOT, SHAPES = "aws-price-list", "savings-plans", "ec2-spot", "ec2"
SOURCES = {
    PRICE_LIST: (
        "AWS Price List Query API, GetProducts (Linux, shared tenancy; bare metal: dedicated)"
    ),
    PLANS: "AWS Savings Plans, DescribeSavingsPlansOfferingRates (Linux, shared tenancy)",
    SPOT: "Amazon EC2 DescribeSpotPriceHistory, Linux/UNIX, over the zones of the region",
    SHAPES: "Amazon EC2 DescribeInstanceTypes",
}
LINUX = {
    "operatingSystem": "Linux",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
}
SOLD_AS = (
    {"tenancy": "Shared", "productFamily": "Compute Instance"},
    {"tenancy": "Dedicated", "productFamily": "Compute Instance (bare metal)"},
)
PLAN_TYPES = {"Compute": "compute_plan", "EC2Instance": "instance_plan"}
YEAR_SECONDS = 31_536_000
THROTTLES = {
    "Throttling",
    "ThrottlingException",
    "RequestLimitExceeded",
    "TooManyRequestsException",
}


def fetch(session, scope, region_cache, progress, open_url):
    """Return AWS's answers about the scope. Raises RefreshError.

    `open_url` opens the public files, which have the rest.
    """
    try:
        return _fetch(session, scope, region_cache, progress, open_url)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "an error")
        raise RefreshError(
            f"AWS answered {error.operation_name} with {code}; {_cure(code)}."
        ) from error
    except BotoCoreError as error:
        raise RefreshError(
            f"AWS could not be asked ({error}); check the network and the credentials."
        ) from error


def _fetch(session, scope, region_cache, progress, open_url):
    """AWS's answers about the scope. Raises the errors of botocore."""
    meter = Meter(progress)
    opened = public.patient(meter.counted(open_url))
    start = Answers(sources=SOURCES | capacity.SOURCES)
    everywhere = _opted_in(_client(session, "ec2"))
    opted_in = [region for region in scope.regions if region in everywhere]
    for region in opted_in:
        read_shapes(_client(session, "ec2", region), region, scope, start)
    instances = {name for name in scope.instances | set(start.shapes) if scope.wants(name)}
    _read_advice(scope, start, opened)
    offers_of_sagemaker = [
        offer_files.URL.format(service="AmazonSageMaker", region=region)
        for region in region_cache.missing(scope.regions)
    ]
    meter.announce(offers_of_sagemaker, open_url)
    reader = RegionReader(session, instances, opted_in, opened)
    answers = region_cache.read(scope, reader.read, progress)
    capacity.fetch_scores(session, opted_in, scope, start)
    answers.absorb(start)
    return answers


def _client(session, service, region="us-east-1"):
    """A client of one service in one region."""
    return session.client(service, region_name=region, config=MANNERS)


class RegionReader:
    """Reads the prices and the capacity of one region after another."""

    def __init__(self, session, instances, opted_in, open_url):
        self.session = session
        self.instances = instances
        self.opted_in = opted_in
        self.open_url = open_url
        self.pricing = _client(session, "pricing")
        self.denies_plans = False

    def read(self, region, of_region, part):
        """Put the answers about a region into `part`."""
        is_on = region in self.opted_in
        read_on_demand(self.pricing, region, self.instances, of_region, part)
        if is_on:
            ec2 = _client(self.session, "ec2", region)
            read_spot(ec2, region, sorted(self.instances), part)
        else:
            part.note(
                f"{region} is not switched on in this account: its spot prices stay as they were"
            )
        self._read_plans(region, of_region, part)
        if is_on:
            read_ebs(self.pricing, region, part)
            capacity.fetch(self.session, region, of_region, part)
        offer_files.fetch(region, of_region, part, self.open_url)

    def _read_plans(self, region, of_region, part):
        """Read the savings plans, unless AWS has denied them in an earlier region."""
        if self.denies_plans:
            return
        try:
            plans = _client(self.session, "savingsplans")
            read_plans(plans, region, sorted(self.instances), of_region, part)
        except (ClientError, BotoCoreError) as error:
            self.denies_plans = True
            part.note(NOT_READ.format(error))


def _read_advice(scope, answers, open_url):
    """Read the bands of interruption; if that fails, they stay as they were."""
    try:
        public.read_advisor(scope, answers, open_url)
        answers.sources[public.ADVISOR] = public.SOURCES[public.ADVISOR]
    except (OSError, HTTPException, ValueError, LookupError) as error:
        answers.note(
            f"the Spot Advisor could not be read ({error}): the bands of interruption stay "
            f"as they were"
        )


def _cure(code):
    if code in THROTTLES:
        return "wait some minutes and run it again, or ask for fewer regions with --region"
    if "AccessDenied" in code or "Unauthorized" in code:
        return "give the credentials that permission, or use the public files with --public"
    return "check the credentials, or use the public files with --public"


def _opted_in(client):
    """The regions that are switched on in this account."""
    regions = items(client, "describe_regions", "Regions", AllRegions=True)
    return {
        region["RegionName"] for region in regions if region.get("OptInStatus") != "not-opted-in"
    }


def read_shapes(client, region, scope, answers):
    """Read the shapes of GPU instances; AWS's GPU families begin with G and P."""
    names = [f"{family}.*" for family in scope.families] if scope.families else ["g*", "p*"]
    filters = [{"Name": "instance-type", "Values": names}]
    for answer in items(client, "describe_instance_types", "InstanceTypes", Filters=filters):
        shape, note = shape_of(answer, scope.cards)
        if shape:
            answers.shapes[answer["InstanceType"]] = shape
        elif note:
            answers.note(note)
    answers.shaped.add(region)


def read_on_demand(pricing, region, wanted, scope, answers):
    """Read the on-demand prices and reserved terms of one region."""
    for sold_as in SOLD_AS:
        for item in _products(pricing, {"regionCode": region, **LINUX, **sold_as}):
            _read_product(item, region, wanted, scope, answers)
    for market in LISTED:
        answers.covered[market].add(region)


def read_ebs(pricing, region, answers):
    """Read the price of EBS gp3 in a region; if that fails, the old one stays. [USD per GiB]"""
    fields = {"regionCode": region, "volumeApiName": "gp3", "productFamily": "Storage"}
    try:
        for item in _products(pricing, fields):
            kind = offer_files.kind_of(item["product"]["attributes"].get("usagetype", ""))
            prices = [
                usd for term in item["terms"].get("OnDemand", {}).values() for _, usd in _usd(term)
            ]
            if (
                kind == "ebs-gp3"
                and prices
                and offer_files.is_of(item["product"]["attributes"], region)
            ):
                answers.put_small(
                    "storage_and_traffic", kind, region, PRICE_LIST, usd_per_gib=max(prices)
                )
    except (ClientError, BotoCoreError) as error:
        answers.note(f"EBS could not be read in {region} ({error}): its price stays as it was")


def _products(pricing, fields):
    """The products of EC2 with these attributes."""
    filters = [
        {"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in fields.items()
    ]
    request = {
        "ServiceCode": "AmazonEC2",
        "FormatVersion": "aws_v1",
        "MaxResults": 100,
        "Filters": filters,
    }
    return map(json.loads, items(pricing, "get_products", "PriceList", **request))


def _reserved_term(term):
    """(length, class, payment, prices) of a reserved term."""
    facts = term["termAttributes"]
    return (
        facts.get("LeaseContractLength"),
        facts.get("OfferingClass"),
        facts.get("PurchaseOption"),
        _usd(term),
    )


def _read_product(item, region, wanted, scope, answers):
    attributes, terms = item["product"]["attributes"], item.get("terms", {})
    instance = attributes.get("instanceType", "")
    if attributes.get("regionCode") != region or not offer_files.is_of(attributes, region):
        return
    if not is_plain_hour(instance, attributes.get("usagetype", ""), attributes.get("marketoption")):
        return
    if instance not in wanted:
        if (
            attributes.get("instanceFamily") == "GPU instance"
            and scope.wants(instance)
            and instance not in scope.instances
        ):
            answers.note(
                f"{instance} is sold, but its card is not in gpus.yaml: add the card there, "
                f"and run this again"
            )
        return
    answers.regions[region] = attributes.get("location", region).rpartition("(")[2].rstrip(")")
    prices = [price for term in terms.get("OnDemand", {}).values() for price in _usd(term)]
    if prices:
        usd = max(price for _, price in prices)
        answers.put("on_demand", instance, region, PRICE_LIST, usd_per_hour=usd, basis="published")
    reserved_terms = [_reserved_term(term) for term in terms.get("Reserved", {}).values()]
    for market, figures in reserved_prices(reserved_terms).items():
        answers.put(market, instance, region, PRICE_LIST, **figures)


def _usd(term):
    """(unit, USD) of a term's price dimensions; other currencies (China) are left out."""
    prices = [
        (dimension["unit"], dimension["pricePerUnit"])
        for dimension in term["priceDimensions"].values()
    ]
    return [(unit, float(price["USD"])) for unit, price in prices if "USD" in price]


def read_plans(client, region, instances, scope, answers):
    """Read the rates of Compute and EC2 Instance Savings Plans: all of an hour's price."""
    filters = {
        "region": [region],
        "instanceType": instances,
        "productDescription": ["Linux/UNIX"],
        "tenancy": ["shared"],
    }
    request = {
        "savingsPlanTypes": list(PLAN_TYPES),
        "products": ["EC2"],
        "serviceCodes": ["AmazonEC2"],
        "filters": [{"name": name, "values": values} for name, values in filters.items()],
        "maxResults": 1000,
    }
    for rate in items(client, "describe_savings_plans_offering_rates", "searchResults", **request):
        place = {fact["name"]: fact["value"] for fact in rate.get("properties", [])}.get(
            "region", region
        )
        if place != region:  # a Local Zone
            continue
        plan = rate["savingsPlanOffering"]
        instance = plain_hour_of(rate["usageType"], rate["operation"])
        years = plan["durationSeconds"] / YEAR_SECONDS
        name = commitment(PLAN_TYPES.get(plan["planType"]), f"{years:g}yr", plan["paymentOption"])
        if (
            name
            and instance in scope.instances
            and plan.get("currency") == "USD"
            and rate["unit"] == "Hrs"
        ):
            answers.put(
                name, instance, region, PLANS, usd_per_hour=float(rate["rate"]), basis="published"
            )
    cover(region, answers)


def read_spot(client, region, instances, answers):
    """Read the newest spot price of each zone: median, lowest and highest of a region."""
    request = {
        "InstanceTypes": instances,
        "ProductDescriptions": ["Linux/UNIX"],
        "StartTime": datetime.now(UTC),
    }
    newest = {}
    for item in sorted(
        items(client, "describe_spot_price_history", "SpotPriceHistory", **request)[::-1],
        key=itemgetter("Timestamp"),
    ):
        zone = item.get("AvailabilityZoneId") or item["AvailabilityZone"]
        if not is_local(zone, region):
            newest[item["InstanceType"], zone] = float(item["SpotPrice"])
    zones = {}
    for (instance, _), usd in newest.items():
        zones.setdefault(instance, []).append(usd)
    for instance, prices in zones.items():
        figures = {
            "usd_per_hour": round(median(prices), 6),
            "low_usd_per_hour": min(prices),
            "high_usd_per_hour": max(prices),
        }
        answers.put("spot", instance, region, SPOT, **figures, zones=len(prices), basis="observed")
    answers.covered["spot"].add(region)
