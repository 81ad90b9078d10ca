"""Use of an account's quotas by all plans together, by quota and region."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.quotas import quota_for
from calc.evaluate import Row
from calc.plan.budgets import own_day
from calc.plan.figures import records

Need = tuple[float, date, date]  # vCPUs or blocks of a plan, and its first and last day


class QuotaUse(NamedTuple):
    """A quota in a region, and how much of it concurrent plans use, in vCPUs or blocks."""

    code: str
    name: str
    region: str
    counts: str
    needed: float


def quota_use(rows: pd.DataFrame, catalogs: Catalogs) -> list[QuotaUse]:
    """The use of each quota by rows with an instance, a region, a market and instances.

    The most that is needed on one day. Rows with `starts` and `ends`, ISO days, run from the first
    to the last; others are assumed to run on every day. Your own machines are left out, and so are
    those of SageMaker, which has other quotas.
    """
    needs_by_quota: dict[tuple[str, str, str, str], list[Need]] = {}
    for row in records(rows):
        if not row["instance"] or row["have"] or row["market"].startswith("sagemaker"):
            continue
        terms, instance = MARKETS[row["market"]], catalogs.instances.loc[row["instance"]]
        quota = quota_for(instance["family"], catalogs, terms.interrupted, terms.block_hours)
        key = (quota.code, quota.name, row["region"], quota.counts)
        is_blocks = quota.counts == "blocks"
        units = 1.0 if is_blocks else float(row["instances"] * instance["vcpus"])
        needs_by_quota.setdefault(key, []).append((units, *_days(row)))
    return [QuotaUse(*key, _most_at_once(needs)) for key, needs in sorted(needs_by_quota.items())]


def _days(row: Row) -> tuple[date, date]:
    """The first and the last day of a plan, as far as it names them."""
    return own_day(row, "starts") or date.min, own_day(row, "ends") or date.max


def _most_at_once(needs: Sequence[Need]) -> float:
    """The most that is needed on a day; it is reached on one on which a plan begins."""
    return max(
        sum(units for units, starts, ends in needs if starts <= day <= ends)
        for day in {starts for _, starts, _ in needs}
    )
