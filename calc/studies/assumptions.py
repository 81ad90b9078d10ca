"""The assumptions of time and cost that a row reads."""

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.job.columns import JUDGED
from calc.plan.bill import bill_rows
from calc.search.row_status import scenario_of

SPOT = "spot"  # of markets that take instances back
MOST_RATIO = 2.0  # by which a value is varied where its bounds allow it


def assumptions_of(row: Row, catalogs: Catalogs) -> list[str]:
    """Return the names of the assumptions that a row reads.

    Those of the ranking count for any row of their work. One of a formula counts if another value
    of it changes a figure of the row.
    """
    is_interrupted = row.get("market") and MARKETS[row["market"]].interrupted
    readers = {"", row["work"], *([SPOT] if is_interrupted else [])}
    table = catalogs.assumptions[catalogs.assumptions["only"].isin(readers)]
    changing = _effective_assumptions(
        row, [name for name in table.index if name not in JUDGED], catalogs
    )
    return [name for name in table.index if name in JUDGED or name in changing]


def _effective_assumptions(row: Row, names: list[str], catalogs: Catalogs) -> set[str]:
    """Return the assumptions whose smaller or larger values change a figure of the row."""
    variations = [(name, value) for name in names for value in _other_values(row, name, catalogs)]
    scenarios = [
        scenario_of(row),
        *(scenario_of(row) | {name: value} for name, value in variations),
    ]
    results = estimate(pd.DataFrame(scenarios), catalogs, solve=False)
    on_market = {"market": row.get("market") or "on-demand", "have": ""}
    figures = bill_rows(pd.DataFrame(results).assign(**on_market), catalogs).drop(columns=names)
    present = figures.iloc[0]
    is_equal = figures.eq(present) | (figures.isna() & present.isna())
    changes = ~is_equal[1:].all(axis=1)
    return {name for (name, _), has_effect in zip(variations, changes, strict=True) if has_effect}


def _other_values(row: Row, name: str, catalogs: Catalogs) -> tuple[float, float]:
    """Return a smaller and a larger value than the row's, halfway to a bound that is near."""
    entry = catalogs.assumptions.loc[name]
    own = row.get(name)
    value = float(entry["value"] if own is None or pd.isna(own) else own)
    least, most = float(entry["least"]), float(entry["most"])
    smaller = max(value / MOST_RATIO, (value + least) / 2)
    return smaller, min(max(value * MOST_RATIO, least + 1), (value + most) / 2)
