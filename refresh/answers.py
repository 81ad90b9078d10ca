"""The scope of a refresh and AWS's answers before they are merged; how terms become a price per hour."""

from dataclasses import dataclass, field

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
HOURS_PER_YEAR = 8760
TERMS = {"1yr": 1, "3yr": 3}
UPFRONT = {"No Upfront": "no", "Partial Upfront": "partial", "All Upfront": "all"}


class RefreshError(Exception):
    """One sentence: what failed and what to do; nothing has been written."""


@dataclass(frozen=True)
class Scope:
    """What is asked for: regions, families (None: all with a GPU) and the instance types that the catalog holds.

    `cards` are known by their names in EC2, `models` by their plain names; of capacity: the codes of quotas, the types sold in
    blocks, pools of types that would do for one another.
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
        return self.families is None or family_of(instance) in self.families


@dataclass
class Answers:
    """Prices, market -> (instance, region) -> figures; the regions covered by market; shapes of instances.

    `small`: (catalog, entry, region) -> figures of storage, traffic and endpoints; `signals`: answers on capacity, a row each.
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

    def put(self, market, instance, region, source, **figures):
        """Keep a price; of two for the same thing the dearer one stays."""
        earlier = self.prices[market].get((instance, region))
        if earlier is None or figures.get("usd_per_hour", 0) > earlier.get("usd_per_hour", 0):
            self.prices[market][instance, region] = {**figures, "source": source}

    def put_small(self, catalog, entry, region, source, **figures):
        """Keep figures of an entry; of two with one name the dearer one stays."""
        earlier = self.small.setdefault((catalog, entry, region), {"source": source})
        for name, value in figures.items():
            if isinstance(value, str) or name not in earlier or value > earlier[name]:
                earlier[name] = value

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)


def family_of(instance):
    return instance.partition(".")[0]


def is_local(zone, region):
    """Whether an id or name is a Local or Wavelength Zone's: use1-atl2-az1, not use1-az1; us-east-1-atl-2a, not us-east-1a."""
    return zone.startswith(f"{region}-") if zone.startswith(region) else zone.count("-") > 1


def is_plain_hour(instance, usage, market_option):
    """Whether usage is a running Linux hour on demand, no capacity block or reservation; bare metal is dedicated use."""
    kinds = ("BoxUsage", "DedicatedUsage") if ".metal" in instance else ("BoxUsage",)
    return usage.partition(":")[0].endswith(kinds) and market_option in ("OnDemand", "", None)


def commitment(kind, length, option):
    """The catalog's name of a commitment, from its length and payment as AWS writes them; None for others."""
    return COMMITMENTS.get((kind, TERMS.get(length), UPFRONT.get(option)))


def reserved(terms):
    """Reserved terms (length, class, option, [(unit, USD)]) as USD per hour by name: hourly + upfront / hours of the term."""
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
