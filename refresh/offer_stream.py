"""AWS's offer files in JSON, read member by member: tens of MiB in a buffer of one product."""

import json
from codecs import getincrementaldecoder

CHUNK_BYTES = 2**18
LONGEST_MEMBER = 2**22  # characters; a product of AWS has about a thousand


class OfferError(ValueError):
    """An offer file in an unknown form, or one that ends in the middle."""


class Stream:
    """JSON text of which one value at a time is in memory."""

    def __init__(self, file):
        self.file, self.text, self.place = file, "", 0
        self.decode, self.ended = getincrementaldecoder("utf-8")().decode, False
        self.parse = json.JSONDecoder().raw_decode

    def members(self):
        """The keys of an object; after each, its value is to be read."""
        self._take("{")
        if self._next() == "}":
            self.place += 1
            return
        while True:
            key = self.value()
            self._take(":")
            yield key
            if self._next() == "}":
                self.place += 1
                return
            self._take(",")

    def value(self):
        """The next value as Python data."""
        self._next()
        while True:
            try:
                value, end = self.parse(self.text, self.place)
                if end < len(self.text) or self.ended:  # a number may go on
                    self.place = end
                    return value
            except json.JSONDecodeError as error:
                if self.ended or len(self.text) - self.place > LONGEST_MEMBER:
                    raise OfferError("the file is cut off, or no JSON") from error
            self._fill()

    def _next(self):
        """The next character that is no space."""
        while True:
            while self.place < len(self.text) and self.text[self.place].isspace():
                self.place += 1
            if self.place < len(self.text):
                return self.text[self.place]
            if self.ended:
                raise OfferError("the file ends in the middle")
            self._fill()

    def _take(self, character):
        if self._next() != character:
            raise OfferError(f"{character} is missing where the file has {self._next()}")
        self.place += 1

    def _fill(self):
        chunk = self.file.read(CHUNK_BYTES)
        self.ended = not chunk
        self.text, self.place = self.text[self.place :] + self.decode(chunk, self.ended), 0


def prices(file, target_of):
    """(target, unit, USD, description) of the products on demand that are wanted: the dearest tier
    of each.

    `target_of` makes of a product's attributes what it is wanted as, or None.
    """
    stream, targets = Stream(file), None
    for section in stream.members():
        if section == "products":
            targets = {
                sku: target
                for sku in stream.members()
                if (target := target_of(stream.value()["attributes"]))
            }
        elif section == "terms":
            if targets is None:
                raise OfferError("its terms stand before its products")
            for kind in stream.members():
                for sku in stream.members():
                    terms = stream.value()
                    if kind == "OnDemand" and sku in targets:
                        yield from _dearest(targets[sku], terms)
        else:
            stream.value()


def _dearest(target, terms):
    dimensions = [
        dimension for term in terms.values() for dimension in term["priceDimensions"].values()
    ]
    currencies = {currency for dimension in dimensions for currency in dimension["pricePerUnit"]}
    if currencies and "USD" not in currencies:
        raise OfferError(f"it has prices in {', '.join(sorted(currencies))}, not in USD")
    tiers = [
        (float(dimension["pricePerUnit"]["USD"]), dimension)
        for dimension in dimensions
        if "USD" in dimension["pricePerUnit"]
    ]
    if tiers:
        usd, dimension = max(tiers, key=lambda tier: tier[0])
        yield target, dimension["unit"], usd, dimension.get("description", "")
