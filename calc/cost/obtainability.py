"""Availability of instances by dated reports of their families; no promise of capacity."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.quotas import entry_of

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


def classes_of(
    instances: Iterable[str],
    markets: Iterable[str],
    of_run: Iterable[bool],
    counts: Iterable[float],
    catalogs: Catalogs,
) -> list[str]:
    """The class of this many instances of each type at once on its market; "" without a type."""
    numbers = catalogs.instances.index.get_indexer(list(instances))
    words = []
    for number, market, ends, count in zip(numbers, markets, of_run, counts, strict=True):
        known = obtainability(catalogs, market)
        is_many = number >= 0 and ends and count >= known.several[number]
        words.append(CLASSES[known.several_rank[number]] if is_many else known.words[number])
    return words
