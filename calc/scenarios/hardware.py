"""Numbers of cards, instances and prices by their rows in the catalogs; NaN for none."""

import numpy as np
import pandas as pd

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.lookups import columns_of, numbers_in, numbers_of, words_of
from calc.table import Words, word_pairs

ASSUMED = "assumed"  # the basis of an entry that no published run was held against
OF_RELEASE = "of_older_release"


def place_numbers(catalogs: Catalogs, card: np.ndarray, instance: np.ndarray) -> Columns:
    """The numbers of the cards and the instances at these places of their catalogs, -1 for none."""
    made: Columns = {"gpu_row": card, "instance_row": instance}
    names = tuple(name for name in numbers_in(catalogs, "gpus") if name != "memory_bytes")
    made |= columns_of(catalogs, "gpus", names, card, "gpu_")
    names = tuple(name for name in numbers_in(catalogs, "instances") if name != "gpu_memory_bytes")
    made |= columns_of(catalogs, "instances", names, instance, "instance_")
    share = numbers_of(catalogs, "instances", "gpu_memory_bytes")[instance]
    made["gpu_memory_bytes"] = np.where(instance >= 0, share, numbers_of(catalogs, "gpus", "memory_bytes")[card])
    of_card, of_class = _card_row(catalogs)[card], _card_class(catalogs)[card]
    made |= columns_of(catalogs, "utilization", numbers_in(catalogs, "utilization"), of_card, "card_")
    names = tuple(name for name in numbers_in(catalogs, "serving_steps") if name != OF_RELEASE)
    made |= columns_of(catalogs, "serving_steps", names, of_class, "card_")
    made["card_is_of_older_release"] = np.nan_to_num(numbers_of(catalogs, "serving_steps", OF_RELEASE))[of_class]
    for name, of, row in (("card_is_assumed", "utilization", of_card), ("card_step_is_assumed", "serving_steps", of_class)):
        made[name] = (words_of(catalogs, of, "basis") == ASSUMED).astype(float)[row]
    return made


@kept("instances", "gpus", "utilization", "serving_steps")
def hardware(catalogs: Catalogs) -> Columns:
    """Numbers of the card and the instance of every instance type, in the catalog's order."""
    cards = catalogs.gpus.index.get_indexer(catalogs.instances["gpu"])
    return place_numbers(catalogs, cards, np.arange(len(cards)))


def price_at(catalogs: Catalogs, instances: pd.Series, regions: pd.Series) -> np.ndarray:
    """The row of the price of each row's instance in its region, -1 where there is none."""
    words = [Words(codes, np.asarray(known, dtype=object)) for codes, known in map(pd.factorize, (instances, regions))]
    return prices_of(catalogs, *words)


def prices_of(catalogs: Catalogs, instance: Words, region: Words) -> np.ndarray:
    """The price row of each row's instance and region, both as words; -1 where there is none."""
    price_of, _ = price_rows(catalogs)
    codes, pairs = word_pairs(instance, region)
    return np.array([price_of.get(pair, -1) for pair in pairs], dtype=np.int64)[codes]


@kept("gpus", "utilization")
def _card_row(catalogs: Catalogs) -> np.ndarray:
    """For each card its row of utilization, and -1 for no card."""
    return np.append(catalogs.utilization.index.get_indexer(catalogs.gpus.index), -1)


@kept("gpus", "utilization", "serving_steps")
def _card_class(catalogs: Catalogs) -> np.ndarray:
    """The serving_steps row of each card's class, -1 for no card or one without a class."""
    return np.append(catalogs.serving_steps.index.get_indexer(catalogs.utilization["card_class"].reindex(catalogs.gpus.index)), -1)


@kept("prices", "interruption_bands")
def band_ratios(catalogs: Catalogs) -> np.ndarray:
    """For each price the middle of its interruption band, NaN where no band is known."""
    at = catalogs.interruption_bands.index.get_indexer(words_of(catalogs, "prices", "interruption_band"))
    return numbers_of(catalogs, "interruption_bands", "band_interruption_ratio")[at]


@kept("prices")
def price_rows(catalogs: Catalogs) -> tuple[dict[tuple[str, str], int], frozenset[str]]:
    """The row of the price of each instance in each region, and all regions."""
    pairs = list(zip(catalogs.prices["instance"], catalogs.prices["region"], strict=True))
    return {pair: row for row, pair in enumerate(pairs)}, frozenset(region for _, region in pairs)
