"""Steps of the join: the numbers of a row's card and instance, and their prices."""

import numpy as np

from calc.columns import SECTIONS
from calc.scenarios.hardware import band_ratios, place_numbers, price_rows, prices_of
from calc.scenarios.lookups import columns_of, find, similar, words_of
from calc.scenarios.private_prices import join_private_prices
from calc.table import Words, where, word_pairs


def place(instance, asked_gpu, catalogs, problems):
    """The card and the instance of each row, with the numbers that formulas read."""
    row = find(catalogs, "instances", instance, problems, "instance")
    of_instance = Words(row, words_of(catalogs, "instances", "gpu"))
    gpu = where(row >= 0, of_instance, asked_gpu)
    problems.add(
        ~asked_gpu.are("") & (row >= 0) & ~_same(asked_gpu, of_instance),
        "another-card",
        instance=instance,
        gpu=gpu,
        asked_gpu=asked_gpu,
    )
    return {"gpu": gpu} | place_numbers(catalogs, find(catalogs, "gpus", gpu, problems, "gpu"), row)


def rollout_card_bytes(rolls_out, gpu_memory_bytes):
    """Memory of the card if an engine takes a share of it, else 0. [B]"""
    return np.where(rolls_out > 0, gpu_memory_bytes, 0.0)


def price(instance, region, private_prices, catalogs, problems):
    """The prices of the instance in the region, with their sources."""
    _, regions = price_rows(catalogs)
    problems.add(
        ~region.are(regions.__contains__),
        "region-without-prices",
        region=region,
        similar_regions=lambda row: similar(region.in_row(row), regions),
    )
    row = prices_of(catalogs, instance, region)
    columns = columns_of(
        catalogs, "prices", row, names=("on_demand_usd_per_hour", "spot_usd_per_hour")
    )
    columns |= {name: Words(row, words_of(catalogs, "prices", name)) for name in SECTIONS["prices"]}
    private = join_private_prices(private_prices, instance, catalogs, problems)
    columns["private_usd_per_hour"] = np.where(row >= 0, private, np.nan)
    return columns | {"band_interruption_ratio": band_ratios(catalogs)[row]}


def _same(first: Words, second: Words) -> np.ndarray:
    """Return whether two columns have the same word in each row."""
    codes, pairs = word_pairs(first, second)
    return np.array([one == other for one, other in pairs])[codes]
