"""A link in one compressed parameter: z=..., the query as JSON, short enough for a chat."""

import base64
import binascii
import json
import zlib
from urllib.parse import urlencode

NAME = "z"
MOST_BYTES = 2**20  # of a query that is unpacked
BROKEN = (
    "The link is cut off or changed: its part z cannot be read. Copy it again from where it was "
    "made."
)
Query = dict[str, list[str]]


def shorten(query: Query) -> Query:
    """Return the query in one parameter, or itself where that is no shorter."""
    packed = zlib.compress(json.dumps(query, separators=(",", ":")).encode(), 9)
    text = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    packed_query = {NAME: [text]}
    is_shorter = len(urlencode(packed_query)) < len(urlencode(query, doseq=True))
    return packed_query if is_shorter else query


def expand(query: Query) -> tuple[Query, str]:
    """Return the query that a link holds, and a sentence where it cannot be read.

    Parameters beside the compressed one stay, and win over those inside it.
    """
    if NAME not in query:
        return query, ""
    beside = {name: values for name, values in query.items() if name != NAME}
    try:
        inside = json.loads(_unpack(query[NAME][0]))
    except (ValueError, binascii.Error, zlib.error, RecursionError):
        return beside, BROKEN
    if not _is_query(inside):
        return beside, BROKEN
    return inside | beside, ""


def _unpack(text: str) -> bytes:
    """The bytes of the text, at most MOST_BYTES of them."""
    packed = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    unpacking = zlib.decompressobj()
    result = unpacking.decompress(packed, MOST_BYTES)
    if not unpacking.eof:
        raise ValueError(BROKEN)
    return result


def _is_query(value: object) -> bool:
    """Return whether a value is a query: names with lists of texts."""
    return isinstance(value, dict) and all(
        isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        for texts in value.values()
    )
