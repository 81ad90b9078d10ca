"""The one table of markets: the ways in which AWS sells an instance, by id, with their words, columns and terms."""

from dataclasses import dataclass

from calc.units import MEAN_MONTH_HOURS, YEAR_HOURS


@dataclass(frozen=True)
class Market:
    """A way to pay: its label, its name in the catalogs, what it binds one to, whether AWS takes instances back, the least billed."""

    label: str
    key: str
    binds: str
    note: str = ""
    interrupted: float = 0
    block_hours: float = 0
    least_run_hours: float = 0
    least_month_hours: float = 0

    @property
    def price(self) -> str:
        """The price's column in the catalog of prices."""
        return f"{self.key}_usd_per_hour"

    @property
    def phrase(self) -> str:
        """As a sentence says it: on demand, on spot."""
        return self.label if self.label.startswith("on ") else f"on {self.label}"


MARKETS = {
    "on-demand": Market("on demand", "on_demand", "Paid by the second, ends when you end it."),
    "spot": Market(
        "spot",
        "spot",
        "AWS takes instances back at two minutes' notice; capacity is not promised.",
        note="median over the zones",
        interrupted=1,
    ),
    # EC2 User Guide, Capacity Blocks for ML: 1 to 14 days, then whole weeks; paid whole
    "capacity-block": Market(
        "capacity block",
        "capacity_block",
        "Booked ahead in whole days and paid in full; the one way to be sure of the newest cards.",
        note="whole days, paid ahead",
        block_hours=24,
    ),
    "commit-1y": Market(
        "1-year commitment",
        "commit_1y",
        "The whole year is paid, used or not.",
        least_run_hours=YEAR_HOURS,
        least_month_hours=MEAN_MONTH_HOURS,
    ),
    "commit-3y": Market(
        "3-year commitment",
        "commit_3y",
        "All three years are paid, used or not.",
        least_run_hours=3 * YEAR_HOURS,
        least_month_hours=MEAN_MONTH_HOURS,
    ),
}
PLAN_MARKETS = ("on-demand", "spot")  # those whose prices every result row carries
