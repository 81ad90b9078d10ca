"""Numbers of cards, instances and prices by their rows in the catalogs; NaN for none."""

import numpy as np
import pandas as pd

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.lookups import assumed_entries, columns_of, numbers_of, words_of
from calc.table import Words, word_pairs

OF_RELEASE = "of_older_release"
HOPPER = "9.0"  # its compute capability


def place_numbers(catalogs: Catalogs, card: np.ndarray, instance: np.ndarray) -> Columns:
    """Return the columns of cards and instances, given by row in the catalogs; -1 for none."""
    columns: Columns = {"gpu_row": card, "instance_row": instance}
    columns |= columns_of(catalogs, "gpus", card, "gpu_", without=("memory_bytes",))
    columns |= columns_of(
        catalogs, "instances", instance, "instance_", without=("gpu_memory_bytes",)
    )
    share = numbers_of(catalogs, "instances", "gpu_memory_bytes")[instance]
    columns["gpu_memory_bytes"] = np.where(
        instance >= 0, share, numbers_of(catalogs, "gpus", "memory_bytes")[card]
    )
    of_card = _card_row(catalogs)[card]
    of_class = _card_class(catalogs)[card]
    columns |= columns_of(catalogs, "utilization", of_card, "card_")
    columns |= columns_of(catalogs, "serving_steps", of_class, "card_", without=(OF_RELEASE,))
    columns["card_is_of_older_release"] = np.nan_to_num(
        numbers_of(catalogs, "serving_steps", OF_RELEASE)
    )[of_class]
    columns["card_is_hopper"] = _is_hopper(catalogs)[card]
    columns["card_is_assumed"] = assumed_entries(catalogs, "utilization")[of_card]
    return columns | {"card_step_is_assumed": assumed_entries(catalogs, "serving_steps")[of_class]}


@cached_per_catalogs("instances", "gpus", "utilization", "serving_steps")
def hardware(catalogs: Catalogs) -> Columns:
    """The numbers of the card and the instance of every instance type, in the catalog's order."""
    cards = catalogs.gpus.index.get_indexer(catalogs.instances["gpu"])
    return place_numbers(catalogs, cards, np.arange(len(cards)))


def price_at(catalogs: Catalogs, instances: pd.Series, regions: pd.Series) -> np.ndarray:
    """The row of the price of each row's instance in its region, -1 if there is none."""
    words = [
        Words(codes, np.asarray(vocabulary, dtype=object))
        for codes, vocabulary in map(pd.factorize, (instances, regions))
    ]
    return prices_of(catalogs, *words)


def prices_of(catalogs: Catalogs, instance: Words, region: Words) -> np.ndarray:
    """The price row of each row's instance and region; -1 if there is none."""
    price_of, _ = price_rows(catalogs)
    codes, pairs = word_pairs(instance, region)
    return np.array([price_of.get(pair, -1) for pair in pairs], dtype=np.int64)[codes]


@cached_per_catalogs("gpus", "utilization")
def _card_row(catalogs: Catalogs) -> np.ndarray:
    """The row of each card in utilization; last, -1 for no card."""
    return np.append(catalogs.utilization.index.get_indexer(catalogs.gpus.index), -1)


@cached_per_catalogs("gpus")
def _is_hopper(catalogs: Catalogs) -> np.ndarray:
    """Return whether each card is of the Hopper architecture: 1 or 0; last, 0 for no card."""
    return np.append(catalogs.gpus["compute_capability"] == HOPPER, False).astype(float)


@cached_per_catalogs("gpus", "utilization", "serving_steps")
def _card_class(catalogs: Catalogs) -> np.ndarray:
    """The row of each card's class in serving_steps; -1 for a card without one, and for none."""
    return np.append(
        catalogs.serving_steps.index.get_indexer(
            catalogs.utilization["card_class"].reindex(catalogs.gpus.index)
        ),
        -1,
    )


@cached_per_catalogs("prices", "interruption_bands")
def band_ratios(catalogs: Catalogs) -> np.ndarray:
    """Middle of each price's interruption band; NaN if the band is not known. [share]"""
    rows = catalogs.interruption_bands.index.get_indexer(
        words_of(catalogs, "prices", "interruption_band")
    )
    return numbers_of(catalogs, "interruption_bands", "band_interruption_ratio")[rows]


@cached_per_catalogs("prices")
def price_rows(catalogs: Catalogs) -> tuple[dict[tuple[str, str], int], frozenset[str]]:
    """The price row of each instance in each region, and all regions."""
    pairs = list(zip(catalogs.prices["instance"], catalogs.prices["region"], strict=True))
    return {pair: row for row, pair in enumerate(pairs)}, frozenset(region for _, region in pairs)
