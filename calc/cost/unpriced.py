"""Rows whose instance has no price: the sentence that says so."""

import numpy as np

from calc.evaluate import Columns
from calc.table import Words, word_pairs


def price_notes(table: Columns) -> Words:
    """The sentence of each row whose instance has no listed price in its region; else empty."""
    instance, region = table["instance"], table["region"]
    usd = np.fmax(table["instance_usd_per_hour_on_demand"], table["instance_usd_per_hour_spot"])
    unpriced = np.isnan(usd) & ~np.isnan(table["instance_gpus"])
    codes, pairs = word_pairs(instance, region)
    sentences = [f"{type_} has no price in {place}, so the row has no costs; choose another region or instance." for type_, place in pairs]
    return Words(np.where(unpriced, codes, len(pairs)), np.array([*sentences, ""], dtype=object))
