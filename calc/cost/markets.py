"""Markets, the ways in which AWS sells an instance, by id: their words, columns and terms."""

from dataclasses import dataclass

from calc.catalogs.commitments import COMMITMENTS, KINDS, PAYMENTS, YEARS
from calc.mappings import Cells


@dataclass(frozen=True)
class Market:
    """A way to pay: label, key in prices.yaml, what it binds to, and its terms.

    `committed_years` is how long is paid, used or not; 0 if one pays by use. Spot moves by the
    day, listed prices by the month.
    """

    label: str
    key: str
    binds: str
    note: str = ""
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


def _terms(years: int) -> str:
    return "1 year" if years == 1 else f"{years} years"


def _commitment(kind: str, years: int, payment: str) -> Market:
    """The market of one kind of commitment for some years and one way to pay for it."""
    sold, of = KINDS[kind]
    return Market(
        f"{sold}, {_terms(years)}, {PAYMENTS[payment][0]}",
        COMMITMENTS[kind, years, payment],
        (
            f"Each hour of {'the year' if years == 1 else f'{years} years'} is paid, used or "
            f"not; {PAYMENTS[payment][1]}. It is for {of}."
        ),
        committed_years=years,
    )


def _cheapest_commitment(years: int) -> Market:
    """Return the market of the cheapest commitment for this number of years, of any kind."""
    return Market(
        f"{years}-year commitment",
        f"commit_{years}y",
        (
            f"The cheapest that is known of all commitments for {_terms(years)}; each hour is "
            f"paid, used or not."
        ),
        committed_years=years,
    )


MARKETS = {
    "on-demand": Market(
        "on demand", "on_demand", "Paid by the second, ends when you end it.", takes_private=True
    ),
    "spot": Market(
        "spot",
        "spot",
        "AWS takes instances back at two minutes' notice; capacity is not promised.",
        note="median over the zones",
        interrupted=1,
        old_days=7,
    ),
    # EC2 User Guide, Capacity Blocks for ML: 1 to 14 days, then whole weeks; paid whole
    "capacity-block": Market(
        "capacity block",
        "capacity_block",
        "Paid up front, ends on a date: booked to the slow end of the run, in whole days to "
        "14 and whole weeks to 182, at most 64 "
        "instances in one block; the one way to be sure of the newest cards.",
        note="whole days, paid ahead",
        block_hours=24,
        work="training",  # a block ends, and a service does not, unless its work is offline
    ),
    **{
        f"sagemaker-{use}": Market(
            f"SageMaker {use}",
            f"sagemaker_{use}",
            (
                "ml.* instances that SageMaker runs: no idle cluster, its own quotas by type and "
                "use; capacity is not promised."
            ),
            work=work,
        )
        for use, work in (("training", "training"), ("hosting", "inference"))
    },
    **{f"commit-{years}y": _cheapest_commitment(years) for years in YEARS},
    **{key.replace("_", "-"): _commitment(*terms) for terms, key in COMMITMENTS.items()},
}
SAVINGS_PLANS = frozenset(
    key.replace("_", "-") for (kind, _, _), key in COMMITMENTS.items() if kind != "reserved"
)
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
COMMITTED = tuple(name for name in MARKETS if name not in (*BY_USE, *SUMMED_UP))
