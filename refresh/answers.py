"""The scope of a refresh, AWS's answers before they are merged, and prices of terms."""

from dataclasses import dataclass, field
from urllib.error import HTTPError

from calc.catalogs.commitments import COMMITMENTS
from calc.catalogs.prices import SAGEMAKER
from calc.cost.markets import MARKETS

ON_DEMAND, SPOT = MARKETS["on-demand"].key, MARKETS["spot"].key
RESERVED = tuple(key for (kind, *_), key in COMMITMENTS.items() if kind == "reserved")
PLANS = tuple(key for (kind, *_), key in COMMITMENTS.items() if kind != "reserved")
LISTED = (ON_DEMAND, *RESERVED)  # in AWS's price list
BLOCK = MARKETS["capacity-block"].key
PRICED = (*LISTED, *PLANS, SPOT, BLOCK, *SAGEMAKER)
KINDS = (*PRICED, "interruption")
NOT_THERE = (403, 404)  # AWS's answers to a file that a region does not have
HOURS_PER_YEAR = 8760
TERMS = {"1yr": 1, "3yr": 3}
UPFRONT = {"No Upfront": "no", "Partial Upfront": "partial", "All Upfront": "all"}


class RefreshError(Exception):
    """One sentence: what failed and what to do; nothing has been written."""


@dataclass(frozen=True)
class Scope:
    """The scope of a refresh: regions, families (None: all with a GPU), instance types.

    `instances` are the types in the catalog; `cards` are keyed by their names in EC2, `models` by
    their plain names. About capacity: the codes of quotas, the types sold in blocks, pools of types
    that can replace one another.
    """

    regions: tuple
    families: tuple | None
    instances: frozenset
    cards: dict
    models: dict = field(default_factory=dict)
    quota_codes: tuple = ()
    block_types: tuple = ()
    pools: tuple = ()

    def wants(self, instance):
        """Return whether the refresh fetches this instance type."""
        return self.families is None or family_of(instance) in self.families


@dataclass
class Answers:
    """AWS's answers before they are merged.

    `prices`: market -> (instance, region) -> figures; `covered`: market -> regions read to the end;
    `small`: (catalog, entry, region)
    -> figures of storage, traffic and endpoints; `signals`: answers about capacity, one row each.
    """

    prices: dict = field(default_factory=lambda: {market: {} for market in KINDS})
    covered: dict = field(default_factory=lambda: {market: set() for market in KINDS})
    sources: dict = field(default_factory=dict)
    shapes: dict = field(default_factory=dict)
    shaped: set = field(default_factory=set)
    regions: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)
    small: dict = field(default_factory=dict)
    signals: list = field(default_factory=list)
    failed: bool = False  # a file broke off, so these answers are not all

    def put(self, market, instance, region, source, **figures):
        """Keep a price; of two for the same thing, the dearer one."""
        earlier = self.prices[market].get((instance, region))
        if earlier is None or figures.get("usd_per_hour", 0) > earlier.get("usd_per_hour", 0):
            self.prices[market][instance, region] = {**figures, "source": source}

    def put_small(self, catalog, entry, region, source, **figures):
        """Keep figures of an entry; of two with the same name, the dearer one."""
        earlier = self.small.setdefault((catalog, entry, region), {"source": source})
        for name, value in figures.items():
            if isinstance(value, str) or name not in earlier or value > earlier[name]:
                earlier[name] = value

    def note(self, text):
        """Keep a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def fail(self, text, error):
        """Note a file that could not be read; unless AWS says that there is none, it is to be read
        again.
        """
        self.note(text)
        self.failed |= not isinstance(error, HTTPError) or error.code not in NOT_THERE

    def absorb(self, other):
        """Add the answers of another region."""
        for name, (pack, unpack) in PARTS.items():
            mine = getattr(self, name)
            items = unpack(pack(getattr(other, name)))
            if isinstance(mine, list):
                mine += [item for item in items if item not in mine]
            elif name in ("prices", "covered"):
                for market, rows in items.items():
                    mine[market].update(rows)
            else:
                mine.update(items)
        self.failed |= other.failed

    def as_json(self):
        """The answers as data of JSON, whose keys are words."""
        return {name: pack(getattr(self, name)) for name, (pack, _) in PARTS.items()}

    @classmethod
    def from_json(cls, data):
        """The answers that as_json wrote."""
        return cls(**{name: unpack(data[name]) for name, (_, unpack) in PARTS.items()})


def _as_it_is(value):
    return value


def _pairs(rows):
    return [[list(key), figures] for key, figures in rows.items()]


def _by_key(pairs):
    return {tuple(key): dict(figures) for key, figures in pairs}


PARTS = {  # field of Answers -> how it becomes JSON, and back
    "prices": (
        lambda prices: {market: _pairs(rows) for market, rows in prices.items()},
        lambda data: {market: _by_key(rows) for market, rows in data.items()},
    ),
    "covered": (
        lambda covered: {market: sorted(regions) for market, regions in covered.items()},
        lambda data: {market: set(regions) for market, regions in data.items()},
    ),
    "small": (_pairs, _by_key),
    "shaped": (sorted, set),
    **dict.fromkeys(("sources", "shapes", "regions", "notes", "signals"), (_as_it_is, _as_it_is)),
}


def family_of(instance):
    """The family of an instance type: p5 of p5.48xlarge."""
    return instance.partition(".")[0]


def is_local(zone, region):
    """Return whether a zone, by id or name, is a Local or Wavelength Zone.

    use1-atl2-az1 and us-east-1-atl-2a are; use1-az1 and us-east-1a are not.
    """
    return zone.startswith(f"{region}-") if zone.startswith(region) else zone.count("-") > 1


def is_plain_hour(instance, usage, market_option):
    """Return whether usage is a plain On-Demand hour; bare metal counts as dedicated."""
    kinds = ("BoxUsage", "DedicatedUsage") if ".metal" in instance else ("BoxUsage",)
    return usage.partition(":")[0].endswith(kinds) and market_option in ("OnDemand", "", None)


def commitment(kind, length, option):
    """The catalog's name of a commitment with AWS's length and payment; None for others."""
    return COMMITMENTS.get((kind, TERMS.get(length), UPFRONT.get(option)))


def reserved_prices(terms):
    """Prices of reserved terms by name: hourly + upfront / hours of the term. [USD per hour]

    Each term is (length, class, option, [(unit, USD)]).
    """
    usd_of = {}
    for length, offering, option, prices in terms:
        name = commitment("reserved", length, option)
        if offering != "standard" or not name:
            continue
        hourly = sum(usd for unit, usd in prices if unit == "Hrs")
        upfront = sum(usd for unit, usd in prices if unit == "Quantity")
        usd_per_hour = round(hourly + upfront / (HOURS_PER_YEAR * TERMS[length]), 6)
        if usd_per_hour > 0:
            usd_of[name] = max(usd_of.get(name, 0), usd_per_hour)
    return {name: {"usd_per_hour": usd, "basis": "published"} for name, usd in usd_of.items()}
