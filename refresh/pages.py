"""Requests to AWS: botocore's paginators and adaptive retries, which slow down on demand."""

from botocore.config import Config

MANNERS = Config(
    retries={"mode": "adaptive", "max_attempts": 10}, connect_timeout=20, read_timeout=60
)


def pages(client, operation, **request):
    """Every page of a call: by botocore's paginator, or by its token where botocore has none."""
    if client.can_paginate(operation):
        yield from client.get_paginator(operation).paginate(**request)
        return
    token = {}
    while True:
        page = getattr(client, operation)(**request, **token)
        yield page
        if not page.get("nextToken"):
            return
        token = {"nextToken": page["nextToken"]}


def items(client, operation, key, **request):
    """The items under a key of every page of a call."""
    return [item for page in pages(client, operation, **request) for item in page[key]]
