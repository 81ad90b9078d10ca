"""Traits of number formats besides their widths: which are defaults, where each is tried.

The traits are read once, when the program starts, as the columns and assumptions are.
"""

import numpy as np

from calc.catalogs.load import read_catalog
from calc.catalogs.schemas import precisions
from calc.table import Words

_CATALOG = read_catalog(precisions.File)
DEFAULT_PRECISIONS = (
    _CATALOG.defaults.full_training,
    _CATALOG.defaults.adapters,
    _CATALOG.defaults.inference,
)
# The precision of as many bits for cards without bf16, by the one that needs bf16.
WITHOUT_BF16 = {
    name: entry.without_bf16 for name, entry in _CATALOG.precisions.items() if entry.without_bf16
}


def default_precision(work: Words, tuning: Words) -> Words:
    """The precision of scenarios that name none: an adapter's frozen weights have 16 bits."""
    serves = work.are("inference")
    adapts = tuning.are("lora")
    numbers = np.where(serves, 2, np.where(adapts, 1, 0))
    return Words(numbers, np.array(DEFAULT_PRECISIONS, dtype=object))


def tried_for(work: str) -> tuple[str, ...]:
    """The precisions that the search tries for a kind of work if the job names none.

    `work`: a word of the field tried_for of precisions.yaml, such as "full in 8 bits".
    """
    entries = _CATALOG.precisions.items()
    return tuple(name for name, entry in entries if work in (entry.tried_for or ()))


def with_and_without_bf16(work: str) -> tuple[str, str]:
    """The one precision tried for a kind of work on cards with bf16, and on those without."""
    (name,) = tried_for(work)
    return name, WITHOUT_BF16.get(name, name)
