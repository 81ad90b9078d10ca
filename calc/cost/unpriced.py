"""Rows whose instance has no price: the sentence that says so."""

import numpy as np
import pandas as pd

from calc.evaluate import Columns
from calc.table import Words


def price_notes(table: Columns) -> Words:
    """For each row whose instance is not sold in its region, as far as the catalog knows, a sentence; else empty."""
    instance, region = table["instance"], table["region"]
    usd = np.fmax(table["instance_usd_per_hour_on_demand"], table["instance_usd_per_hour_spot"])
    unpriced = np.isnan(usd) & ~np.isnan(table["instance_gpus"])
    codes, pairs = pd.factorize(np.where(unpriced, instance.codes * len(region.known) + region.codes, -1))
    return Words(codes, np.array([_sentence(instance, region, pair) for pair in pairs], dtype=object))


def _sentence(instance: Words, region: Words, pair: int) -> str:
    if pair < 0:
        return ""
    type_, place = instance.known[pair // len(region.known)], region.known[pair % len(region.known)]
    return f"{type_} has no price in {place}, so the row has no costs; choose another region or instance."
