"""Your own machines compared with a price per token, over the tokens generated in a month."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.plan.bill import month_generated_tokens, on_markets
from calc.units import MILLION, YEAR_DAYS, YEAR_MONTHS

PER_TOKEN, ALWAYS_ON, WHEN_USED, BOUGHT = "per-token", "always-on", "when-used", "bought"
COMMITTED = {"commit-1y": 1, "commit-3y": 3}  # line -> years, the cheapest that is known
LEAST_RATIO, MOST_COPIES = 0.002, 5  # of what one copy generates in a month
POINTS, FEW_POINTS = 600, 24  # of a line, to look for crossings and to draw
JUST_ABOVE = 1 + 1e-6
MONTH_DAYS = YEAR_DAYS / YEAR_MONTHS


class Purchase(NamedTuple):
    """Machines that are bought: USD of one instance, months of its life, and USD of its hour."""

    usd: float
    months: float = 36.0
    usd_per_hour: float = 0.0


def over_volume(
    row: Row, catalogs: Catalogs, purchase: Purchase | None = None, points: int = POINTS
) -> pd.DataFrame:
    """Generated tokens of a month, line and USD, for a billed row of a service.

    Lines: per-token (of the row's endpoint), always-on (rented for the plan's hours, another copy
    where one is full), when-used (rented for the hours that the tokens take, with one start a day),
    commitments, and bought. A line without a price is left out; empty without tokens.
    """
    can = month_generated_tokens(row)
    if not can > 0:
        return pd.DataFrame(columns=["tokens", "line", "usd"])
    steps = np.arange(1, MOST_COPIES)
    ratios = np.concatenate(
        [np.geomspace(LEAST_RATIO, MOST_COPIES, points), steps, steps * JUST_ABOVE]
    )
    tokens = can * np.unique(ratios)
    copies = np.ceil(tokens / can / JUST_ABOVE)
    lines = _month_usd(row, catalogs, purchase)
    parts = {name: usd * copies for name, usd in lines.items()}
    if ALWAYS_ON in lines:
        hours = float(row["hours"]) * tokens / can
        starts = MONTH_DAYS * np.nan_to_num(float(row["start_hours"]))
        usd_when_used = float(row["usd_per_hour"]) * (hours + starts * copies)
        parts[WHEN_USED] = np.minimum(usd_when_used, parts[ALWAYS_ON])
    if (endpoint := float(row["endpoint_usd_per_million_tokens"])) > 0:
        parts[PER_TOKEN] = tokens * endpoint / MILLION
    return pd.concat(
        [pd.DataFrame({"tokens": tokens, "line": name, "usd": usd}) for name, usd in parts.items()],
        ignore_index=True,
    )


def _month_usd(row: Row, catalogs: Catalogs, purchase: Purchase | None) -> dict[str, float]:
    """Monthly cost of one copy by line of the chart, without lines that have no price. [USD]"""
    markets = on_markets(dict(row), catalogs)
    years = markets["market"].map(lambda market: MARKETS[market].committed_years)
    lines = {
        name: float(markets.loc[years == term, "usd"].min()) for name, term in COMMITTED.items()
    }
    if not MARKETS[row["market"]].committed_years:
        lines |= {ALWAYS_ON: float(row["usd"])}
    if purchase:
        each = purchase.usd / purchase.months + purchase.usd_per_hour * float(row["hours"])
        lines[BOUGHT] = each * float(row["instances"])
    return {name: usd for name, usd in lines.items() if usd > 0}


def crossings(table: pd.DataFrame) -> dict[str, float]:
    """Return for each line the monthly tokens from which it is no dearer than the endpoint.

    From the first volume after which it does not cost more again, up to what one copy generates.
    """
    wide = table.pivot_table(index="tokens", columns="line", values="usd")
    if PER_TOKEN not in wide:
        return {}
    wide = wide[wide.index <= wide.index.max() / MOST_COPIES * JUST_ABOVE]
    days = {}
    for line in wide.columns.drop(PER_TOKEN):
        costlier = np.flatnonzero((wide[line] > wide[PER_TOKEN]).to_numpy())
        after = costlier[-1] + 1 if len(costlier) else 0
        days[line] = float(wide.index[after]) if after < len(wide) else np.nan
    return days
