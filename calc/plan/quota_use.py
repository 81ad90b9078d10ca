"""Use of an account's quotas by all plans together, by quota and region."""

from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.quotas import quota_for
from calc.plan.figures import records


class QuotaUse(NamedTuple):
    """A quota in a region, and what plans that run at once take of it: vCPUs or blocks."""

    code: str
    name: str
    region: str
    counts: str
    needed: float


def quota_use(rows: pd.DataFrame, catalogs: Catalogs) -> list[QuotaUse]:
    """The use of each quota by rows with an instance, a region, a market and instances.

    All rows are assumed to run at the same time. Your own machines are left out, and so are those
    of SageMaker, which has other quotas.
    """
    needed: dict[tuple[str, str, str, str], float] = {}
    for row in records(rows):
        if not row["instance"] or row["have"] or row["market"].startswith("sagemaker"):
            continue
        terms, instance = MARKETS[row["market"]], catalogs.instances.loc[row["instance"]]
        quota = quota_for(instance["family"], catalogs, terms.interrupted, terms.block_hours)
        key = (quota.code, quota.name, row["region"], quota.counts)
        is_blocks = quota.counts == "blocks"
        units = 1.0 if is_blocks else float(row["instances"] * instance["vcpus"])
        needed[key] = needed.get(key, 0.0) + units
    return [QuotaUse(*key, units) for key, units in sorted(needed.items())]
