"""A region's small public offer files: SageMaker, Bedrock, S3, FSx, traffic (JSON).

A service that cannot be read is noted, and its prices stay as they were. Products and terms are
keyed by sku.
"""

import re
from http.client import HTTPException
from typing import NamedTuple

from refresh.columns import renamed_columns
from refresh.offer_stream import prices

HOST = "https://pricing.us-east-1.amazonaws.com"
URL = HOST + "/offers/v1.0/aws/{service}/current/{region}/index.json"
ATTRIBUTES = {  # service -> the attributes by which its products are told apart
    "AmazonSageMaker": ("component", "instanceName"),
    "AmazonBedrock": ("model", "inferenceType", "feature"),
    "AmazonS3": ("usagetype",),
    "AmazonFSx": ("usagetype",),
    "AWSDataTransfer": ("usagetype",),
}
SERVICES = tuple(ATTRIBUTES)
KEY = "offer-file-{}"
COMPONENTS = {"Training": "sagemaker_training", "Hosting": "sagemaker_hosting"}
TOKENS = {
    "input tokens": "usd_per_million_input_tokens",
    "output tokens": "usd_per_million_output_tokens",
}
TOKEN_UNITS = {
    "1k tokens": 1000,
    "1m tokens": 1,
    "tokens": 1_000_000,
}  # unit -> how many make a million tokens
# usage type, after an optional prefix of the region -> entry of
# catalogs/edited/storage_and_traffic.yaml
USAGE = {
    "TimedStorage-ByteHrs": "s3-standard",
    "DataTransfer-Out-Bytes": "traffic-internet",
    "DataTransfer-Regional-Bytes": "traffic-zones",
    "EBS:VolumeUsage.gp3": "ebs-gp3",
}
LUSTRE = "fsx-lustre-125"
PREFIX = re.compile(r"[A-Z0-9]{2,5}-")


class Target(NamedTuple):
    """The catalog, entry and figure that a product's price is for, and the product in words."""

    catalog: str
    entry: str
    figure: str
    words: str = ""


def fetch(region, scope, answers, open_url):
    """Read every service in a region; models are matched by their plain names."""
    for service in SERVICES:
        try:
            _read(service, region, scope, answers, open_url)
        except (
            OSError,
            HTTPException,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
        ) as error:
            answers.fail(
                (
                    f"the offer file {service} of {region} could not be read ({error}): its "
                    f"prices stay as they were"
                ),
                error,
            )


def _read(service, region, scope, answers, open_url):
    """Keep the prices of one file, once it is read to its end."""
    source, attributes_seen = KEY.format(service.lower()), set()

    def target_of(attributes):
        attributes_seen.update(attributes)
        return TARGETS[service](attributes, scope) if is_of(attributes, region) else None

    with open_url(URL.format(service=service, region=region), timeout=60) as answer:
        rows = list(prices(answer, target_of))
    count = sum(_keep(*row, region, answers, source) for row in rows)
    answers.sources[source] = f"AWS public offer file of the region, {service}"
    if not count:
        missing = renamed_columns(ATTRIBUTES[service], attributes_seen)
        why = f": {missing}" if attributes_seen and missing else ""
        answers.note(
            f"{service} names no price that is kept in {region}{why}; those there stay as they were"
        )


def _keep(target, unit, usd, description, region, answers, source):
    """Keep one price if its unit is as expected; return whether it was."""
    catalog, entry, figure, words = target
    if catalog == "prices":
        if unit == "Hrs":
            answers.put(figure, entry, region, source, usd_per_hour=usd, basis="published")
        return unit == "Hrs"
    if catalog == "storage_and_traffic":
        is_of_entry = entry != LUSTRE or _is_lustre_125(f"{words} {description}")
        if not (is_of_entry and unit.lower().startswith("gb")):
            return False
        answers.put_small(catalog, entry, region, source, **{figure: usd})
        return True
    per_million = TOKEN_UNITS.get(unit.lower())
    if not per_million:
        return False
    figures = {figure: round(usd * per_million, 6), "sold_as": words}
    answers.put_small(catalog, entry, region, source, **figures)
    return True


def is_of(attributes, region):
    """Return whether a product is sold in the region itself. The files list Local Zones too."""
    place = attributes.get("fromRegionCode") or attributes.get("regionCode") or region
    local = "Local Zone" in attributes.get("locationType", "") or "Local Zone" in attributes.get(
        "fromLocationType", ""
    )
    return place == region and not local


def kind_of(usage_type):
    """The storage or traffic of a usage type (USE2-TimedStorage-ByteHrs), or empty."""
    return USAGE.get(PREFIX.sub("", usage_type, count=1)) or USAGE.get(usage_type, "")


def _lustre(attributes, _):
    """Return the target of a product of FSx for Lustre, with all its attributes; else None.

    Only all attributes and the description together distinguish its kinds.
    """
    words = " ".join(map(str, attributes.values()))
    if "lustre" not in words.lower():
        return None
    return Target("storage_and_traffic", LUSTRE, "usd_per_gib", words)


def _is_lustre_125(words):
    """Return whether a product is persistent SSD of 125 MB/s per TiB."""
    words = words.lower().replace("_", " ")
    return (
        "ssd" in words
        and "persistent" in words
        and "backup" not in words
        and re.search(r"(?<!\d)125 ?mb", words) is not None
    )


def _by_usage(attributes, _):
    kind = kind_of(attributes.get("usagetype", ""))
    return Target("storage_and_traffic", kind, "usd_per_gib") if kind else None


def _sagemaker(attributes, scope):
    market = COMPONENTS.get(attributes.get("component", ""))
    instance = attributes.get("instanceName", "").removeprefix("ml.")
    if market and scope.wants(instance) and instance in scope.instances:
        return Target("prices", instance, market)
    return None


def _bedrock(attributes, scope):
    """Return the target of standard on-demand tokens of a model in the catalog; else None.

    Other tiers have other prices.
    """
    figure = TOKENS.get(attributes.get("inferenceType", "").lower())
    model = scope.models.get(plain_name(attributes.get("model", "")))
    is_on_demand = attributes.get("feature") == "On-demand Inference" and not attributes.get(
        "batch"
    )
    tier = attributes.get("service_tier", attributes.get("serviceTier", "")).lower()
    usage_type = attributes.get("usagetype", "").lower()
    is_standard = tier in ("", "standard", "default") and not any(
        word in usage_type for word in ("mantle", "global", "cross-region", "long_ctx")
    )
    if figure and model and is_on_demand and is_standard:
        return Target("endpoints", model, figure, attributes["model"])
    return None


TARGETS = {  # service -> the function that returns the target of a product, or None
    "AmazonSageMaker": _sagemaker,
    "AmazonBedrock": _bedrock,
    "AmazonS3": _by_usage,
    "AmazonFSx": _lustre,
    "AWSDataTransfer": _by_usage,
}


def plain_name(text):
    """A model's name without what sellers add.

    Llama 3.1 8B Instruct, meta.llama3-1-8b-instruct-v1:0 and llama-3.1-8b are the same.
    """
    text = re.sub(
        r"-v\d+:\d+$|:\d+$",
        "",
        text.lower().partition(".")[2]
        if re.match(r"[a-z]+\.[a-z]", text.lower())
        else text.lower(),
    )
    return re.sub(r"[^a-z0-9]", "", re.sub(r"instruct|chat|\bit\b", "", text))
