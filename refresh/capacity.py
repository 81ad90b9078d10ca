"""What AWS answers an account about capacity: quotas, offers of capacity blocks, spot placement scores. Read only; a row per answer.

Asked and none, and refused, are answers of their own: neither is ever written as the other.
"""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

from botocore.exceptions import BotoCoreError, ClientError

from refresh.found import is_local
from refresh.pages import MANNERS, pages

BLOCKS = "capacity-block-offers"
SOURCES = {BLOCKS: "Amazon EC2 DescribeCapacityBlockOfferings, the least of the offers for one instance, upfront fee over its hours"}
BLOCK_HOURS = (24, 168)  # a day and a week
LOOK_AHEAD = timedelta(weeks=8)  # as far as AWS offers
FEWEST_TYPES = 3  # a score of fewer is always low (API reference)
HOURS_OF_MINUTES = 60


def fetch(session, region, scope, found, now=None):
    """Every question of one region: the quotas, and offers of the types that are sold in blocks."""
    ec2 = session.client("ec2", region_name=region, config=MANNERS)
    read_quotas(session.client("service-quotas", region_name=region, config=MANNERS), region, scope.quota_codes, found)
    for instance in scope.block_types:
        if scope.wants(instance):
            read_blocks(ec2, region, instance, found, now or datetime.now(UTC))


def fetch_scores(session, regions, scope, found):
    """The spot placement score of each pool of types, over all regions in one question: AWS counts questions by the day."""
    ec2 = session.client("ec2", region_name="us-east-1", config=MANNERS)
    for pool in scope.pools:
        if len(pool) >= FEWEST_TYPES and any(map(scope.wants, pool)):
            read_scores(ec2, regions, pool, found)


def read_quotas(client, region, codes, found):
    """The account's own value of each quota, AWS's default where the account has none of its own."""
    for code in codes:
        row = {"signal": "quota", "region": region, "of": code}
        asked = {"ServiceCode": "ec2", "QuotaCode": code}
        try:
            try:
                answer = client.get_service_quota(**asked)
            except ClientError as error:
                if _code(error) != "NoSuchResourceException":
                    raise
                answer = client.get_aws_default_service_quota(**asked)
            found.signals.append({**row, "answer": "yes", "value": answer["Quota"]["Value"]})
        except (ClientError, BotoCoreError) as error:
            found.signals.append({**row, "answer": "refused", "error": _code(error)})


def read_blocks(client, region, instance, found, now):
    """Offers of one instance for a day and for a week: the earliest of each, and the least price of all as the market's."""
    prices = []
    for hours in BLOCK_HOURS:
        row = {"signal": "block", "region": region, "of": instance}
        asked = {"InstanceType": instance, "InstanceCount": 1, "CapacityDurationHours": hours}
        asked |= {"StartDateRange": now, "EndDateRange": now + LOOK_AHEAD}
        try:
            offers = [
                each for page in pages(client, "describe_capacity_block_offerings", **asked) for each in page["CapacityBlockOfferings"]
            ]
        except (ClientError, BotoCoreError) as error:
            if _code(error) == "InvalidParameterValue":  # not sold in blocks there
                return
            found.signals.append({**row, "hours": hours, "answer": "refused", "error": _code(error)})
            continue
        offers = [each for each in offers if each.get("CurrencyCode", "USD") == "USD" and not is_local(each["AvailabilityZone"], region)]
        if not offers:
            found.signals.append({**row, "hours": hours, "answer": "none"})
            continue
        first = min(offers, key=lambda each: (each["StartDate"], _usd_per_hour(each)))
        prices += map(_usd_per_hour, offers)
        figures = {"zone": first["AvailabilityZone"], "starts_on": first["StartDate"].date().isoformat()}
        figures |= {"hours": round(_hours(first), 2), "usd_per_hour": round(_usd_per_hour(first), 4)}
        found.signals.append({**row, "answer": "yes", **figures})
    if prices:
        found.put("capacity_block", instance, region, BLOCKS, usd_per_hour=round(min(prices), 4), basis="offered")


def _hours(offer):
    return offer["CapacityBlockDurationHours"] + offer.get("CapacityBlockDurationMinutes", 0) / HOURS_OF_MINUTES


def _usd_per_hour(offer):
    return float(offer["UpfrontFee"]) / offer["InstanceCount"] / _hours(offer)


def read_scores(client, regions, pool, found):
    """One pool's best score in each region that AWS names; regions that it leaves out have none."""
    row = {"signal": "score", "of": "+".join(pool)}
    asked = {"InstanceTypes": list(pool), "TargetCapacity": 1, "TargetCapacityUnitType": "units", "SingleAvailabilityZone": True}
    try:
        answers = [
            each
            for page in pages(client, "get_spot_placement_scores", **asked, RegionNames=list(regions))
            for each in page["SpotPlacementScores"]
        ]
    except (ClientError, BotoCoreError) as error:
        found.signals += [{**row, "region": region, "answer": "refused", "error": _code(error)} for region in regions]
        return
    best = defaultdict(lambda: {"Score": 0})
    for each in answers:
        if each["Score"] > best[each["Region"]]["Score"]:
            best[each["Region"]] = each
    for region in regions:
        if region in best:
            zone = {"zone": best[region]["AvailabilityZoneId"]} if "AvailabilityZoneId" in best[region] else {}
            found.signals.append({**row, "region": region, "answer": "yes", "value": best[region]["Score"], **zone})
        else:
            found.signals.append({**row, "region": region, "answer": "none"})


def _code(error):
    return error.response.get("Error", {}).get("Code", "an error") if isinstance(error, ClientError) else type(error).__name__
