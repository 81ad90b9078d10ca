"""Availability of instances by dated reports of their families; no promise of capacity."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.cost.quotas import entry_of
from calc.table import Words

# The easiest first; without a report in the middle.
CLASSES = ("at-once", "usually", "unknown", "wait-or-quota", "by-agreement")
OWN_MACHINES = CLASSES[0]  # machines that one has
UNKNOWN = CLASSES.index("unknown")
WAIT = CLASSES.index("wait-or-quota")
AGREEMENT = CLASSES.index("by-agreement")


class Obtainability(NamedTuple):
    """The class of every instance type on a market, in the catalog's order.

    `rank` is its place in CLASSES. `several_rank` is the rank for a run that needs at least
    `several` instances at the same time.
    """

    words: np.ndarray
    rank: np.ndarray
    several: np.ndarray
    several_rank: np.ndarray


@cached_per_catalogs("obtainability", "instances")
def obtainability(catalogs: Catalogs, market: str) -> Obtainability:
    """Availability of every instance type on a market; the last word is empty.

    A commitment and SageMaker count as on demand.
    """
    terms = MARKETS[market]
    if terms.interrupted:
        column = "spot"
    elif terms.block_hours:
        column = "block"
    else:
        column = "on_demand"
    entries = [entry_of(family, catalogs.obtainability) for family in catalogs.instances["family"]]
    words = [str(entry[column]) for entry in entries]
    rank = np.array([CLASSES.index(word or "unknown") for word in words])
    return Obtainability(
        words=np.array([*words, ""], dtype=object),
        rank=rank,
        several=np.array([float(entry["several"]) or np.inf for entry in entries]),
        several_rank=np.fmax(rank, WAIT if terms.block_hours else AGREEMENT),
    )


def classes_on(
    market: str,
    instance_rows: np.ndarray,
    of_run: np.ndarray,
    counts: np.ndarray,
    catalogs: Catalogs,
) -> Words:
    """The class of this many instances of each type at once on one market; "" without a type.

    `instance_rows`: the place of each type in the catalog, -1 without one.
    """
    classes = obtainability(catalogs, market)
    several = np.append(classes.several, np.inf)[instance_rows]
    several_rank = np.append(classes.several_rank, UNKNOWN)[instance_rows]
    is_many = of_run & (counts >= several)
    # The word of each type, then "" (which -1 finds), then the classes of several.
    codes = np.where(is_many, len(classes.words) + several_rank, instance_rows % len(classes.words))
    return Words(codes, np.array([*classes.words, *CLASSES], dtype=object))


def classes_of(rows: pd.DataFrame, counts: pd.Series, catalogs: Catalogs) -> np.ndarray:
    """Return the class of each row's instances on its market at that number; "" without a type.

    Your own machines, which the column `have` names, are always available.
    """
    numbers = catalogs.instances.index.get_indexer(rows["instance"])
    ends, instances = ends_of(rows).to_numpy(dtype=bool), counts.to_numpy(dtype=float)
    words = np.full(len(rows), "", dtype=object)
    for market in rows["market"].unique():
        here = (rows["market"] == market).to_numpy()
        classes = classes_on(market, numbers[here], ends[here], instances[here], catalogs)
        words[here] = classes.by_row(int(here.sum()))
    if "have" in rows:
        words[(rows["have"].astype(object).fillna("") != "").to_numpy()] = OWN_MACHINES
    return words
