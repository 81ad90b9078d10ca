"""The regions that AWS has, for a refresh of all of them."""

import json
import re
from http.client import HTTPException

from refresh.answers import RefreshError

ALL = "all"
INDEX_URL = (
    "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/region_index.json"
)
REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")  # us-west-2-lax-1 is a Local Zone
APART = re.compile(r"us-gov-|cn-|[a-z]{2}-iso")  # accounts and price lists of their own


def every_region(open_url):
    """All regions of the public price list: no credentials are needed."""
    try:
        with open_url(INDEX_URL, timeout=60) as answer:
            listed = json.load(answer)["regions"]
    except (OSError, HTTPException, ValueError, LookupError, TypeError) as error:
        raise RefreshError(
            f"the list of AWS's regions could not be read ({error}); name them with "
            f"--region, or run it again."
        ) from error
    regions = sorted(name for name in listed if REGION.fullmatch(name) and not APART.match(name))
    if not regions:
        raise RefreshError("the list of AWS's regions names none; name them with --region.")
    return tuple(regions)
