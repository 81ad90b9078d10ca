"""Prices with credentials: on demand, reserved terms, current spot, and the shapes of instances."""

import json
from datetime import UTC, datetime
from statistics import median

from botocore.exceptions import BotoCoreError, ClientError

from refresh import capacity, offer_files
from refresh.answers import LISTED, Answers, RefreshError, commitment, is_local, is_plain_hour, reserved
from refresh.pages import MANNERS, pages
from refresh.plans import cover, plain_hour_of
from refresh.shapes import shape_of

PRICE_LIST, PLANS, SPOT, SHAPES = "aws-price-list", "savings-plans", "ec2-spot", "ec2"
SOURCES = {
    PRICE_LIST: "AWS Price List Query API, GetProducts (Linux, shared tenancy; bare metal: dedicated)",
    PLANS: "AWS Savings Plans, DescribeSavingsPlansOfferingRates (Linux, shared tenancy)",
    SPOT: "Amazon EC2 DescribeSpotPriceHistory, Linux/UNIX, over the zones of the region",
    SHAPES: "Amazon EC2 DescribeInstanceTypes",
}
LINUX = {"operatingSystem": "Linux", "preInstalledSw": "NA", "capacitystatus": "Used", "marketoption": "OnDemand"}
SOLD_AS = (
    {"tenancy": "Shared", "productFamily": "Compute Instance"},
    {"tenancy": "Dedicated", "productFamily": "Compute Instance (bare metal)"},
)
PLAN_TYPES = {"Compute": "compute_plan", "EC2Instance": "instance_plan"}
YEAR_SECONDS = 31_536_000
THROTTLES = {"Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException"}


def fetch(session, scope, progress):
    """AWS's answers about the scope; raises RefreshError with a sentence."""
    answers = Answers(sources=SOURCES | capacity.SOURCES)
    try:
        opted_in = _opted_in(session)
        pricing = session.client("pricing", region_name="us-east-1", config=MANNERS)
        for region in [region for region in scope.regions if region in opted_in]:
            client = session.client("ec2", region_name=region, config=MANNERS)
            read_shapes(client, region, scope, answers)
        wanted = {instance for instance in scope.instances | set(answers.shapes) if scope.wants(instance)}
        allowed = True
        for place, region in enumerate(scope.regions, 1):
            read_on_demand(pricing, region, wanted, scope, answers)
            if region in opted_in:
                client = session.client("ec2", region_name=region, config=MANNERS)
                read_spot(client, region, sorted(wanted), answers)
            else:
                answers.note(f"{region} is not switched on in this account: its spot prices stay as they were")
            seen = [sum(key[1] == region for key in answers.prices[market]) for market in ("on_demand", "spot")]
            allowed = allowed and _plans_of(session, region, sorted(wanted), scope, answers)
            progress(f"[{place}/{len(scope.regions)}] {region}: {seen[0]} on demand, {seen[1]} spot")
        for region in [region for region in scope.regions if region in opted_in]:
            read_ebs(pricing, region, answers)
            capacity.fetch(session, region, scope, answers)
        capacity.fetch_scores(session, [region for region in scope.regions if region in opted_in], scope, answers)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "an error")
        raise RefreshError(f"AWS answered {error.operation_name} with {code}; {_cure(code)}.") from error
    except BotoCoreError as error:
        raise RefreshError(f"AWS could not be asked ({error}); check the network and the credentials.") from error
    return answers


def _cure(code):
    if code in THROTTLES:
        return "wait some minutes and run it again, or ask for fewer regions with --region"
    if "AccessDenied" in code or "Unauthorized" in code:
        return "give the credentials that permission, or use the public files with --public"
    return "check the credentials, or use the public files with --public"


def _opted_in(session):
    client = session.client("ec2", region_name="us-east-1", config=MANNERS)
    regions = [region for page in pages(client, "describe_regions", AllRegions=True) for region in page["Regions"]]
    return {region["RegionName"] for region in regions if region.get("OptInStatus") != "not-opted-in"}


def read_shapes(client, region, scope, answers):
    """Instances with a GPU whose card the catalog knows; G and P are AWS's letters for GPU families."""
    names = [f"{family}.*" for family in scope.families] if scope.families else ["g*", "p*"]
    request = {"Filters": [{"Name": "instance-type", "Values": names}]}
    for page in pages(client, "describe_instance_types", **request):
        for answer in page["InstanceTypes"]:
            shape, note = shape_of(answer, scope.cards)
            if shape:
                answers.shapes[answer["InstanceType"]] = shape
            elif note:
                answers.note(note)
    answers.shaped.add(region)


def read_on_demand(pricing, region, wanted, scope, answers):
    """On-demand prices and reserved terms of one region."""
    for sold_as in SOLD_AS:
        filters = {"regionCode": region, **LINUX, **sold_as}
        request = {
            "ServiceCode": "AmazonEC2",
            "FormatVersion": "aws_v1",
            "MaxResults": 100,
            "Filters": [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in filters.items()],
        }
        for page in pages(pricing, "get_products", **request):
            for text in page["PriceList"]:
                _read_product(json.loads(text), region, wanted, scope, answers)
    for market in LISTED:
        answers.covered[market].add(region)


def read_ebs(pricing, region, answers):
    """The price of a GiB of EBS gp3 in a region; where it may not be read, the old one stays."""
    fields = {"regionCode": region, "volumeApiName": "gp3", "productFamily": "Storage"}
    filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in fields.items()]
    request = {"ServiceCode": "AmazonEC2", "FormatVersion": "aws_v1", "MaxResults": 100, "Filters": filters}
    try:
        for page in pages(pricing, "get_products", **request):
            for text in page["PriceList"]:
                item = json.loads(text)
                kind = offer_files.kind_of(item["product"]["attributes"].get("usagetype", ""))
                prices = [usd for term in item["terms"].get("OnDemand", {}).values() for _, usd in _usd(term)]
                if kind == "ebs-gp3" and prices:
                    answers.put_small("storage_and_traffic", kind, region, PRICE_LIST, usd_per_gib=max(prices))
    except (ClientError, BotoCoreError) as error:
        answers.note(f"EBS could not be read in {region} ({error}): its price stays as it was")


def _read_product(item, region, wanted, scope, answers):
    attributes, terms = item["product"]["attributes"], item.get("terms", {})
    instance = attributes.get("instanceType", "")
    if attributes.get("regionCode") != region:
        return
    if not is_plain_hour(instance, attributes.get("usagetype", ""), attributes.get("marketoption")):
        return
    if instance not in wanted:
        if attributes.get("instanceFamily") == "GPU instance" and scope.wants(instance) and instance not in scope.instances:
            answers.note(f"{instance} is sold, but its card is not in gpus.yaml: add the card first")
        return
    answers.regions[region] = attributes.get("location", region).rpartition("(")[2].rstrip(")")
    prices = [price for term in terms.get("OnDemand", {}).values() for price in _usd(term)]
    if prices:
        usd = max(price for _, price in prices)
        answers.put("on_demand", instance, region, PRICE_LIST, usd_per_hour=usd, basis="published")
    terms_reserved = (
        (*(term["termAttributes"].get(name) for name in ("LeaseContractLength", "OfferingClass", "PurchaseOption")), _usd(term))
        for term in terms.get("Reserved", {}).values()
    )
    for market, figures in reserved(terms_reserved).items():
        answers.put(market, instance, region, PRICE_LIST, **figures)


def _usd(term):
    """(unit, USD) of a term's price dimensions; other currencies (China) are left out."""
    dimensions = term["priceDimensions"].values()
    return [(one["unit"], float(one["pricePerUnit"]["USD"])) for one in dimensions if "USD" in one["pricePerUnit"]]


def _plans_of(session, region, instances, scope, answers):
    """Read the Savings Plans of a region; False where they may not be read: then they stay as they were."""
    try:
        read_plans(session.client("savingsplans", region_name="us-east-1", config=MANNERS), region, instances, scope, answers)
    except (ClientError, BotoCoreError) as error:
        answers.note(f"Savings Plans could not be read ({error}): those not read stay as they were")
        return False
    return True


def read_plans(client, region, instances, scope, answers):
    """The rates of Compute and EC2 Instance Savings Plans of one region: the whole price per hour, whatever is paid upfront."""
    filters = {"region": [region], "instanceType": instances, "productDescription": ["Linux/UNIX"], "tenancy": ["shared"]}
    request = {
        "savingsPlanTypes": list(PLAN_TYPES),
        "products": ["EC2"],
        "serviceCodes": ["AmazonEC2"],
        "filters": [{"name": name, "values": values} for name, values in filters.items()],
        "maxResults": 1000,
    }
    rates = [rate for page in pages(client, "describe_savings_plans_offering_rates", **request) for rate in page["searchResults"]]
    for rate in rates:
        plan, instance = rate["savingsPlanOffering"], plain_hour_of(rate["usageType"], rate["operation"])
        years = plan["durationSeconds"] / YEAR_SECONDS
        name = commitment(PLAN_TYPES.get(plan["planType"]), f"{years:g}yr", plan["paymentOption"])
        if name and instance in scope.instances and plan.get("currency") == "USD" and rate["unit"] == "Hrs":
            answers.put(name, instance, region, PLANS, usd_per_hour=float(rate["rate"]), basis="published")
    cover(region, answers)


def read_spot(client, region, instances, answers):
    """Current spot prices: median, lowest and highest over the zones, of the newest price of each."""
    request = {"InstanceTypes": instances, "ProductDescriptions": ["Linux/UNIX"], "StartTime": datetime.now(UTC)}
    newest = {}
    for page in pages(client, "describe_spot_price_history", **request):
        for item in page["SpotPriceHistory"]:
            zone = item.get("AvailabilityZoneId") or item["AvailabilityZone"]
            if is_local(zone, region):
                continue
            key = item["InstanceType"], zone
            if key not in newest or newest[key][0] < item["Timestamp"]:
                newest[key] = item["Timestamp"], float(item["SpotPrice"])
    zones = {}
    for (instance, _), (_, usd) in newest.items():
        zones.setdefault(instance, []).append(usd)
    for instance, prices in zones.items():
        figures = {"usd_per_hour": round(median(prices), 6), "low_usd_per_hour": min(prices), "high_usd_per_hour": max(prices)}
        answers.put("spot", instance, region, SPOT, **figures, zones=len(prices), basis="observed")
    answers.covered["spot"].add(region)
