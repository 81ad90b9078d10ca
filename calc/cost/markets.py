"""Markets, the ways in which AWS sells an instance, by id: their labels, columns and terms."""

from dataclasses import dataclass

from calc.catalogs.commitments import COMMITMENTS, KINDS, PAYMENTS, YEARS
from calc.mappings import Cells


@dataclass(frozen=True)
class Market:
    """A way to pay: label, key in prices.yaml, and its terms.

    `committed_years` is how long is paid, used or not; 0 if one pays by use. Spot moves by the
    day, listed prices by the month.
    """

    label: str
    key: str
    takes_private: bool = False  # a private price stands in its place
    interrupted: float = 0
    block_hours: float = 0
    committed_years: float = 0
    work: str = ""  # the only work that it is sold for
    old_days: int = 90  # from then on its price is to be checked

    @property
    def price(self) -> str:
        """The price's column in the catalog of prices."""
        return f"{self.key}_usd_per_hour"

    @property
    def title(self) -> str:
        """The label at the beginning of a line: On demand; Reserved instance, standard, 1 year."""
        return self.label[:1].upper() + self.label[1:]

    @property
    def phrase(self) -> str:
        """The label in a sentence: on demand, in a capacity block, paid as reserved instance."""
        if self.committed_years:
            return f"paid as {self.label}"
        if self.block_hours:
            return f"in a {self.label}"
        return self.label if self.key == "on_demand" else f"on {self.label}"


def _commitment(kind: str, years: int, payment: str) -> Market:
    """The market of one kind of commitment for some years and one way to pay for it."""
    term = "1 year" if years == 1 else f"{years} years"
    return Market(
        f"{KINDS[kind]}, {term}, {PAYMENTS[payment]}",
        COMMITMENTS[kind, years, payment],
        committed_years=years,
    )


# Market -> kind, years and payment of its commitment.
TERMS = {key.replace("_", "-"): terms for terms, key in COMMITMENTS.items()}
MARKETS = {
    "on-demand": Market("on demand", "on_demand", takes_private=True),
    "spot": Market("spot", "spot", interrupted=1, old_days=7),
    "capacity-block": Market(
        "capacity block",
        "capacity_block",
        block_hours=24,  # EC2 User Guide, Capacity Blocks for ML: 1 to 14 days, then whole weeks
        work="training",  # a block ends, and a service does not, unless its work is offline
    ),
    "sagemaker-training": Market("SageMaker training", "sagemaker_training", work="training"),
    "sagemaker-hosting": Market("SageMaker hosting", "sagemaker_hosting", work="inference"),
    **{
        f"commit-{years}y": Market(
            f"{years}-year commitment", f"commit_{years}y", committed_years=years
        )
        for years in YEARS
    },
    **{market: _commitment(*terms) for market, terms in TERMS.items()},
}
SAVINGS_PLANS = frozenset(market for market, (kind, _, _) in TERMS.items() if kind != "reserved")
USUAL_MARKETS = ("on-demand", "capacity-block")  # those that a job is offered without being asked
PLAN_MARKETS = ("on-demand", "spot")  # those whose prices every result row carries


def sold_for(market: str, work: str, ends: bool = False) -> bool:
    """Return whether a market serves a kind of work; SageMaker training serves training.

    Offline work `ends`: a capacity block serves it, and an endpoint that SageMaker keeps up does
    not.
    """
    if ends and work == "inference":
        return MARKETS[market].work == "" or MARKETS[market].block_hours > 0
    return MARKETS[market].work in ("", work)


def spare_of(row: Cells) -> float:
    """Instances of a row that its market keeps beyond the load, paid all the time. [instances]"""
    return float(
        row.get("spare_instances" if MARKETS[row["market"]].interrupted else "standby_instances")
        or 0
    )


BY_USE = tuple(name for name, market in MARKETS.items() if not market.committed_years)
OF_EC2 = tuple(name for name in BY_USE if not name.startswith("sagemaker"))
# The cheapest of the commitments of a term.
SUMMED_UP = tuple(f"commit-{years}y" for years in YEARS)
COMMITTED = tuple(TERMS)
