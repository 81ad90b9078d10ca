"""The wording of the plan's bill: kept scenarios by month, quarter and year."""

import pandas as pd

from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.plan.plan_bill import PERIODS
from calc.say.numbers import counted, percent, usd
from views.wording.markdown import plain

PERIOD_LABELS = {name: f"A {name.removesuffix('_usd')}" for name in PERIODS}
NOTHING_KEPT = "Keep scenarios on Plan or Compare: here they become a bill by month, quarter and year, against a budget."
HOW = (
    "A run is paid as often as it is made, a service for its month. Quarter and year begin with the plan's first month; what is at work "
    "for fewer months is paid for those. A commitment is paid every month of its term, however much is used. Storage, traffic and "
    "failed runs are not in it. A base on a plan and peaks on demand: keep the scenario twice, with copies and hours of its own for each."
)


def summary(bill: pd.DataFrame, budget: float | None, period: str, against: dict[str, float]) -> str:
    """$84,000 a year for 3 scenarios, 70 % of the budget: $36,000 left."""
    unpriced = int(bill["year_usd"].isna().sum())
    missing = f" {counted(unpriced, 'scenario')} without a price {'is' if unpriced == 1 else 'are'} not in it." if unpriced else ""
    if not budget:
        return f"{usd(bill['month_usd'].sum())} in the first month, {usd(bill['year_usd'].sum())} in a year.{missing}"
    left = f"{usd(against['left_usd'])} left" if against["left_usd"] >= 0 else f"**{usd(-against['left_usd'])} over it**"
    return f"{usd(against['usd'])} a {period}, {percent(against['used_ratio'])} of the budget of {usd(budget)}: {left}.{missing}"


def rows(bill: pd.DataFrame) -> list[Row]:
    """A line per scenario."""
    return [
        {
            "Scenario": row["scenario"],
            "Paid as": MARKETS[row["market"]].title,
            "One run, or month": row["usd"],
            "runs_per_month": row["runs_per_month"],
            "plan_months": row["plan_months"],
            **{label: row[name] for name, label in PERIOD_LABELS.items()},
        }
        for row in bill.to_dict("records")
    ]


def sums(table: pd.DataFrame) -> list[dict[str, str]]:
    """A line per market, and the whole."""
    return [
        {
            "Paid as": "**Together**" if row["market"] == "all" else MARKETS[row["market"]].title,
            "Scenarios": f"{row['scenarios']:,}",
            **{label: plain(usd(row[name])) for name, label in PERIOD_LABELS.items()},
        }
        for row in table.to_dict("records")
    ]
