"""AWS's answers to an account about capacity: quotas, offers of capacity blocks, spot placement scores; a row each.

An empty answer and a refusal are different answers; neither is ever written as the other.
"""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

from botocore.exceptions import BotoCoreError, ClientError

from refresh.answers import is_local
from refresh.pages import MANNERS, pages

BLOCKS = "capacity-block-offers"
SOURCES = {BLOCKS: "Amazon EC2 DescribeCapacityBlockOfferings, the least of the offers for one instance, upfront fee over its hours"}
BLOCK_HOURS = (24, 168)  # a day and a week
LOOK_AHEAD = timedelta(weeks=8)  # as far as AWS offers
FEWEST_TYPES = 3  # a score of fewer is always low (API reference)
HOURS_OF_MINUTES = 60


def fetch(session, region, scope, answers, today=None):
    """Every question of one region: the quotas, and offers of the types that are sold in blocks."""
    ec2 = session.client("ec2", region_name=region, config=MANNERS)
    read_quotas(session.client("service-quotas", region_name=region, config=MANNERS), region, scope.quota_codes, answers)
    for instance in scope.block_types:
        if scope.wants(instance):
            read_blocks(ec2, region, instance, answers, today or datetime.now(UTC))


def fetch_scores(session, regions, scope, answers):
    """The spot placement score of each pool of types, over all regions in one question: AWS counts questions by the day."""
    ec2 = session.client("ec2", region_name="us-east-1", config=MANNERS)
    for pool in scope.pools:
        if len(pool) >= FEWEST_TYPES and any(map(scope.wants, pool)):
            read_scores(ec2, regions, pool, answers)


def read_quotas(client, region, codes, answers):
    """The account's own value of each quota, AWS's default where the account has none of its own."""
    for code in codes:
        row = {"signal": "quota", "region": region, "of": code}
        request = {"ServiceCode": "ec2", "QuotaCode": code}
        try:
            try:
                answer = client.get_service_quota(**request)
            except ClientError as error:
                if _code(error) != "NoSuchResourceException":
                    raise
                answer = client.get_aws_default_service_quota(**request)
            answers.signals.append({**row, "answer": "yes", "value": answer["Quota"]["Value"]})
        except (ClientError, BotoCoreError) as error:
            answers.signals.append({**row, "answer": "refused", "error": _code(error)})


def read_blocks(client, region, instance, answers, today):
    """Offers of one instance for a day and for a week: the earliest of each, and the least price of all as the market's."""
    prices = []
    for hours in BLOCK_HOURS:
        row = {"signal": "block", "region": region, "of": instance}
        request = {"InstanceType": instance, "InstanceCount": 1, "CapacityDurationHours": hours}
        request |= {"StartDateRange": today, "EndDateRange": today + LOOK_AHEAD}
        try:
            offers = [
                offer for page in pages(client, "describe_capacity_block_offerings", **request) for offer in page["CapacityBlockOfferings"]
            ]
        except (ClientError, BotoCoreError) as error:
            if _code(error) == "InvalidParameterValue":  # not sold in blocks there
                return
            answers.signals.append({**row, "hours": hours, "answer": "refused", "error": _code(error)})
            continue
        offers = [
            offer for offer in offers if offer.get("CurrencyCode", "USD") == "USD" and not is_local(offer["AvailabilityZone"], region)
        ]
        if not offers:
            answers.signals.append({**row, "hours": hours, "answer": "none"})
            continue
        first = min(offers, key=lambda offer: (offer["StartDate"], _usd_per_hour(offer)))
        prices += map(_usd_per_hour, offers)
        figures = {"zone": first["AvailabilityZone"], "starts_on": first["StartDate"].date().isoformat()}
        figures |= {"hours": round(_hours(first), 2), "usd_per_hour": round(_usd_per_hour(first), 4)}
        answers.signals.append({**row, "answer": "yes", **figures})
    if prices:
        answers.put("capacity_block", instance, region, BLOCKS, usd_per_hour=round(min(prices), 4), basis="offered")


def _hours(offer):
    return offer["CapacityBlockDurationHours"] + offer.get("CapacityBlockDurationMinutes", 0) / HOURS_OF_MINUTES


def _usd_per_hour(offer):
    return float(offer["UpfrontFee"]) / offer["InstanceCount"] / _hours(offer)


def read_scores(client, regions, pool, answers):
    """One pool's best score in each region that AWS names; regions that it leaves out have none."""
    row = {"signal": "score", "of": "+".join(pool)}
    request = {"InstanceTypes": list(pool), "TargetCapacity": 1, "TargetCapacityUnitType": "units", "SingleAvailabilityZone": True}
    try:
        scores = [
            score
            for page in pages(client, "get_spot_placement_scores", **request, RegionNames=list(regions))
            for score in page["SpotPlacementScores"]
        ]
    except (ClientError, BotoCoreError) as error:
        answers.signals += [{**row, "region": region, "answer": "refused", "error": _code(error)} for region in regions]
        return
    best = defaultdict(lambda: {"Score": 0})
    for score in scores:
        if score["Score"] > best[score["Region"]]["Score"]:
            best[score["Region"]] = score
    for region in regions:
        if region in best:
            zone = {"zone": best[region]["AvailabilityZoneId"]} if "AvailabilityZoneId" in best[region] else {}
            answers.signals.append({**row, "region": region, "answer": "yes", "value": best[region]["Score"], **zone})
        else:
            answers.signals.append({**row, "region": region, "answer": "none"})


def _code(error):
    return error.response.get("Error", {}).get("Code", "an error") if isinstance(error, ClientError) else type(error).__name__
