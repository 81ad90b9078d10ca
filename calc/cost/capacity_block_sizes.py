"""The sizes in which AWS sells capacity blocks, and what a job rents of them."""

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS

ANY_SIZE = np.empty(0)  # of a market that rents every number of instances


@cached_per_catalogs("block_sizes")
def _block_sizes(catalogs: Catalogs) -> np.ndarray:
    return np.sort(catalogs.block_sizes["block_instances"].to_numpy(dtype=float))


def sizes_sold(market: str, catalogs: Catalogs) -> np.ndarray:
    """Instances that a market rents at once, ascending; empty if every number is rented.

    Source: block_sizes of catalogs/edited/choices.yaml.
    """
    return _block_sizes(catalogs) if MARKETS[market].block_hours else ANY_SIZE


def rented_instances(instances: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Instances to pay for so that this many work: the next larger size of a block. [instances]

    Beyond the largest size several blocks are rented: as many of the largest as are full, and one
    for the rest.
    """
    if not len(sizes):
        return instances
    full_blocks, rest = np.divmod(instances, sizes[-1])
    place = np.minimum(np.searchsorted(sizes, rest), len(sizes) - 1)
    return full_blocks * sizes[-1] + np.where(rest > 0, sizes[place], 0 * rest)


def blocks_rented(instances: float, sizes: np.ndarray) -> int:
    """Blocks that hold these instances; 1 if any number can be rented. [blocks]"""
    return int(np.ceil(instances / sizes[-1])) if len(sizes) else 1
