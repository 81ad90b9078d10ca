"""AWS's answers to an account about quotas, offers of capacity blocks and spot scores.

An empty answer and a refusal are different answers; neither is written as the other.
"""

from datetime import UTC, datetime, timedelta
from operator import itemgetter

from botocore.exceptions import BotoCoreError, ClientError

from refresh.answers import is_local
from refresh.pages import MANNERS, items

BLOCKS = "capacity-block-offers"
SOURCES = {
    BLOCKS: (
        "Amazon EC2 DescribeCapacityBlockOfferings, the least of the offers for one instance, "
        "upfront fee over its hours"
    )
}
BLOCK_HOURS = (24, 168)  # a day and a week
LOOK_AHEAD = timedelta(weeks=8)  # as far as AWS offers
MOST_SCORED = 10  # regions of one question, and zones or regions of its answer
FEWEST_TYPES = 3  # scores of fewer are always low (API reference)
HOURS_OF_MINUTES = 60


def fetch(session, region, scope, answers, today=None):
    """Read the quotas of one region, and the offers of types sold in blocks."""
    ec2 = session.client("ec2", region_name=region, config=MANNERS)
    read_quotas(
        session.client("service-quotas", region_name=region, config=MANNERS),
        region,
        scope.quota_codes,
        answers,
    )
    for instance in scope.block_types:
        if scope.wants(instance):
            read_blocks(ec2, region, instance, answers, today or datetime.now(UTC))


def fetch_scores(session, regions, scope, answers):
    """Read the spot placement score of each pool, for as many regions at once as AWS scores."""
    ec2 = session.client("ec2", region_name="us-east-1", config=MANNERS)
    for pool in scope.pools:
        if len(pool) >= FEWEST_TYPES and any(map(scope.wants, pool)):
            for first in range(0, len(regions), MOST_SCORED):
                read_scores(ec2, regions[first : first + MOST_SCORED], pool, answers)


def read_quotas(client, region, codes, answers):
    """The account's value of each quota, or AWS's default if the account has none."""
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
    """Keep the earliest offer of one instance for a day and a week, and the least price of all."""
    prices = []
    for hours in BLOCK_HOURS:
        row = {"signal": "block", "region": region, "of": instance}
        try:
            offers = _block_offers(client, region, instance, hours, today)
        except (ClientError, BotoCoreError) as error:
            if _code(error) == "InvalidParameterValue":  # not sold in blocks there
                return
            refusal = {"hours": hours, "answer": "refused", "error": _code(error)}
            answers.signals.append(row | refusal)
            continue
        prices += map(_usd_per_hour, offers)
        nothing = {"hours": hours, "answer": "none"}
        answers.signals.append(row | (_earliest(offers) if offers else nothing))
    if prices:
        least = round(min(prices), 4)
        answers.put("capacity_block", instance, region, BLOCKS, usd_per_hour=least, basis="offered")


def _block_offers(client, region, instance, hours, today):
    """The offers of a block of so many hours in USD, outside of local zones."""
    offers = items(
        client,
        "describe_capacity_block_offerings",
        "CapacityBlockOfferings",
        InstanceType=instance,
        InstanceCount=1,
        CapacityDurationHours=hours,
        StartDateRange=today,
        EndDateRange=today + LOOK_AHEAD,
    )
    return [
        offer
        for offer in offers
        if offer.get("CurrencyCode", "USD") == "USD"
        and not is_local(offer["AvailabilityZone"], region)
    ]


def _earliest(offers):
    """The signal of the earliest offer; of several, of the cheapest."""
    first = min(offers, key=lambda offer: (offer["StartDate"], _usd_per_hour(offer)))
    return {
        "answer": "yes",
        "zone": first["AvailabilityZone"],
        "starts_on": first["StartDate"].date().isoformat(),
        "hours": round(_hours(first), 2),
        "usd_per_hour": round(_usd_per_hour(first), 4),
    }


def _hours(offer):
    return (
        offer["CapacityBlockDurationHours"]
        + offer.get("CapacityBlockDurationMinutes", 0) / HOURS_OF_MINUTES
    )


def _usd_per_hour(offer):
    return float(offer["UpfrontFee"]) / offer["InstanceCount"] / _hours(offer)


def read_scores(client, regions, pool, answers):
    """Keep one pool's best score in each region; one that AWS leaves out has none.

    AWS names its ten best zones: if it names as many, a region that is left out may have a score
    all the same.
    """
    row = {"signal": "score", "of": "+".join(pool)}
    request = {
        "InstanceTypes": list(pool),
        "TargetCapacity": 1,
        "TargetCapacityUnitType": "units",
        "SingleAvailabilityZone": True,
    }
    try:
        scores = items(
            client,
            "get_spot_placement_scores",
            "SpotPlacementScores",
            **request,
            RegionNames=list(regions),
        )
    except (ClientError, BotoCoreError) as error:
        answers.signals += [
            {**row, "region": region, "answer": "refused", "error": _code(error)}
            for region in regions
        ]
        return
    best = {score["Region"]: score for score in sorted(scores[::-1], key=itemgetter("Score"))}
    for region in regions:
        score = best.get(region, {})
        if not score and len(scores) >= MOST_SCORED:
            continue
        zone = {"zone": score["AvailabilityZoneId"]} if "AvailabilityZoneId" in score else {}
        answer = {"answer": "yes", "value": score["Score"], **zone} if score else {"answer": "none"}
        answers.signals.append({**row, "region": region, **answer})


def _code(error):
    return (
        error.response.get("Error", {}).get("Code", "an error")
        if isinstance(error, ClientError)
        else type(error).__name__
    )
