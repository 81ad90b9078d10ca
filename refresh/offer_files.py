"""A region's small public offer files: SageMaker, Bedrock, S3, FSx, traffic (JSON).

A service that cannot be read is noted, and its prices stay as they were. Products and terms are keyed by sku.
"""

import json
import re
from http.client import HTTPException

HOST = "https://pricing.us-east-1.amazonaws.com"
URL = HOST + "/offers/v1.0/aws/{service}/current/{region}/index.json"
SERVICES = ("AmazonSageMaker", "AmazonBedrock", "AmazonS3", "AmazonFSx", "AWSDataTransfer")
KEY = "offer-file-{}"
COMPONENTS = {"Training": "sagemaker_training", "Hosting": "sagemaker_hosting"}
TOKENS = {"input tokens": "usd_per_million_input_tokens", "output tokens": "usd_per_million_output_tokens"}
TOKEN_UNITS = {"1k tokens": 1000, "1m tokens": 1, "tokens": 1_000_000}  # unit -> how many make a million tokens
USAGE = {  # usage type, after an optional prefix of the region -> entry of catalogs/edited/storage_and_traffic.yaml
    "TimedStorage-ByteHrs": "s3-standard",
    "DataTransfer-Out-Bytes": "traffic-internet",
    "DataTransfer-Regional-Bytes": "traffic-zones",
    "EBS:VolumeUsage.gp3": "ebs-gp3",
}
PREFIX = re.compile(r"[A-Z0-9]{2,5}-")


def fetch(scope, answers, progress, open_url):
    """Read every service in every region; models are matched by their plain names."""
    for region in scope.regions:
        for service in SERVICES:
            try:
                with open_url(URL.format(service=service, region=region), timeout=60) as answer:
                    rows = list(products(json.load(answer)))
                count = sum(_keep(service, row, region, scope, answers) for row in rows)
                answers.sources[KEY.format(service.lower())] = f"AWS public offer file of the region, {service}"
                if not count:
                    answers.note(f"{service} names no price that is kept in {region}: those there stay as they were")
            except (OSError, HTTPException, ValueError, LookupError, TypeError, AttributeError) as error:
                answers.note(f"the offer file {service} of {region} could not be read ({error}): its prices stay as they were")
        progress(f"{region}: storage, traffic, SageMaker, Bedrock")


def products(document):
    """(attributes, unit, USD) of each product on demand: its dearest tier in USD."""
    terms = document["terms"].get("OnDemand", {})
    for sku, product in document["products"].items():
        dimensions = [dimension for term in terms.get(sku, {}).values() for dimension in term["priceDimensions"].values()]
        prices = [(float(dimension["pricePerUnit"]["USD"]), dimension) for dimension in dimensions if "USD" in dimension["pricePerUnit"]]
        if prices:
            usd, dimension = max(prices, key=lambda price: price[0])
            entry = {**product["attributes"], "description": dimension.get("description", "")}
            yield entry, dimension["unit"], usd


def _keep(service, row, region, scope, answers):
    """Keep one product where it is wanted; return whether it was."""
    attributes, unit, usd = row
    source = KEY.format(service.lower())
    if service == "AmazonSageMaker":
        return _sagemaker(attributes, unit, usd, region, scope, answers, source)
    if service == "AmazonBedrock":
        return _bedrock(attributes, unit, usd, region, scope, answers, source)
    kind = _lustre(attributes) if service == "AmazonFSx" else kind_of(attributes.get("usagetype", ""))
    if not kind or not unit.lower().startswith("gb") or not is_of(attributes, region):
        return False
    answers.put_small("storage_and_traffic", kind, region, source, usd_per_gib=usd)
    return True


def is_of(attributes, region):
    """Whether a product belongs to the region itself; the files list Local Zones too."""
    place = attributes.get("fromRegionCode") or attributes.get("regionCode") or region
    local = "Local Zone" in attributes.get("locationType", "") or "Local Zone" in attributes.get("fromLocationType", "")
    return place == region and not local


def kind_of(usage_type):
    """The storage or traffic of a usage type (USE2-TimedStorage-ByteHrs), or empty."""
    return USAGE.get(PREFIX.sub("", usage_type, count=1)) or USAGE.get(usage_type, "")


def _lustre(attributes):
    """FSx for Lustre, persistent SSD of 125 MB/s per TiB, by all attributes together."""
    words = " ".join(map(str, attributes.values())).lower().replace("_", " ")
    wanted = "lustre" in words and "ssd" in words and "persistent" in words and "backup" not in words
    return "fsx-lustre-125" if wanted and re.search(r"(?<!\d)125 ?mb", words) else ""


def _sagemaker(attributes, unit, usd, region, scope, answers, source):
    market = COMPONENTS.get(attributes.get("component", ""))
    instance = attributes.get("instanceName", "").removeprefix("ml.")
    if not market or unit != "Hrs" or not is_of(attributes, region) or not scope.wants(instance) or instance not in scope.instances:
        return False
    answers.put(market, instance, region, source, usd_per_hour=usd, basis="published")
    return True


def _bedrock(attributes, unit, usd, region, scope, answers, source):
    """Keep standard on-demand tokens of a model in the catalog; other tiers have other prices."""
    figure, units = TOKENS.get(attributes.get("inferenceType", "").lower()), TOKEN_UNITS.get(unit.lower())
    plain = attributes.get("feature") == "On-demand Inference" and not attributes.get("batch")
    tier = attributes.get("service_tier", attributes.get("serviceTier", "")).lower() in ("", "standard", "default")
    usual = not any(word in attributes.get("usagetype", "").lower() for word in ("mantle", "global", "cross-region", "long_ctx"))
    model = scope.models.get(plain_name(attributes.get("model", "")))
    if not (figure and units and plain and tier and usual and model and is_of(attributes, region)):
        return False
    answers.put_small("endpoints", model, region, source, **{figure: round(usd * units, 6)}, sold_as=attributes["model"])
    return True


def plain_name(text):
    """A model's name without what sellers add.

    Llama 3.1 8B Instruct, meta.llama3-1-8b-instruct-v1:0 and llama-3.1-8b are the same.
    """
    text = re.sub(r"-v\d+:\d+$|:\d+$", "", text.lower().partition(".")[2] if re.match(r"[a-z]+\.[a-z]", text.lower()) else text.lower())
    return re.sub(r"[^a-z0-9]", "", re.sub(r"instruct|chat|\bit\b", "", text))
