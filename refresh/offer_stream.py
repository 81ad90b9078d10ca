"""AWS's offer files in JSON. They have tens of MiB, so one product at a time is in memory."""

import json
from codecs import getincrementaldecoder

CHUNK_BYTES = 2**18
LONGEST_MEMBER = 2**22  # characters; a product of AWS has about a thousand


class OfferError(ValueError):
    """An offer file in an unknown form, or one that ends in the middle."""


class Stream:
    """JSON text of which one value at a time is in memory."""

    def __init__(self, file):
        self.file = file
        self.text, self.place = "", 0  # what has been read, and the position in it
        self.is_at_end = False
        self.decode = getincrementaldecoder("utf-8")().decode
        self.parse = json.JSONDecoder().raw_decode

    def members(self):
        """Yield the keys of an object. The caller must read each value before the next key."""
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
        """Read the next value as Python data."""
        self._next()
        while True:
            try:
                value, end = self.parse(self.text, self.place)
                if end < len(self.text) or self.is_at_end:  # else a number may go on
                    self.place = end
                    return value
            except json.JSONDecodeError as error:
                if self.is_at_end or len(self.text) - self.place > LONGEST_MEMBER:
                    raise OfferError("the file is cut off, or no JSON") from error
            self._fill()

    def _next(self):
        """Skip spaces and return the next character without reading it."""
        while True:
            while self.place < len(self.text) and self.text[self.place].isspace():
                self.place += 1
            if self.place < len(self.text):
                return self.text[self.place]
            if self.is_at_end:
                raise OfferError("the file ends in the middle")
            self._fill()

    def _take(self, character):
        if self._next() != character:
            raise OfferError(f"{character} is missing where the file has {self._next()}")
        self.place += 1

    def _fill(self):
        chunk = self.file.read(CHUNK_BYTES)
        self.is_at_end = not chunk
        self.text = self.text[self.place :] + self.decode(chunk, self.is_at_end)
        self.place = 0


def prices(file, target_of):
    """Yield (target, unit, USD, description) of each product on demand that has a target.

    `target_of` returns the target for a product's attributes: what its price is for, or None for a
    product to skip. A product with several tiers has the price of the most expensive one.
    """
    stream = Stream(file)
    targets = None
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
                        yield from _most_expensive(targets[sku], terms)
        else:
            stream.value()


def _most_expensive(target, terms):
    """Yield the most expensive tier of a product's terms, if it has a price in USD."""
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
