"""Steps of the join: releases, electricity, listed prices of storage and of endpoints."""

import numpy as np
import pandas as pd

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.scenarios.lookups import columns_of, word_rows
from calc.scenarios.releases import earlier_release
from calc.table import word_pairs

STORED_ON = "s3-standard"
ENDPOINT = ("usd_per_million_input_tokens", "usd_per_million_output_tokens")


def release_numbers(implementation, software_release, catalogs):
    """The numbers of the release that a row names, NaN if they are those of the newest."""
    codes, pairs = word_pairs(implementation, software_release)
    row = np.array(
        [earlier_release(software, release, catalogs) for software, release in pairs],
        dtype=np.int64,
    )[codes]
    indicators = {"names_release": (~software_release.are("")).astype(float)}
    return columns_of(catalogs, "earlier_releases", row, "release_") | indicators


def listed_storage_usd_per_gib_month(region, catalogs):
    """The listed price of storage in the region. [USD per GiB and month]"""
    return region.mapped(lambda name: _s3(catalogs).get(name, np.nan))


def grid_numbers(region, catalogs):
    """The data centers' overhead and the grid's emissions of the region; NaN if not known."""
    return columns_of(catalogs, "grids", word_rows(catalogs, "grids", region), "region_")


def listed_endpoints(region, model, catalogs):
    """The listed prices of the model's endpoint in the region, NaN if there is none. [USD]"""
    codes, pairs = word_pairs(model, region)
    usd = np.array([_endpoints(catalogs).get(pair, (np.nan, np.nan)) for pair in pairs])[codes]
    return {f"listed_{name}": usd[..., number] for number, name in enumerate(ENDPOINT)}


@cached_per_catalogs("storage_and_traffic")
def _s3(catalogs: Catalogs) -> dict[str, float]:
    s3 = catalogs.storage_and_traffic[catalogs.storage_and_traffic["kind"] == STORED_ON]
    return dict(zip(s3["region"], s3["usd_per_gib"], strict=True))


@cached_per_catalogs("endpoints")
def _endpoints(catalogs: Catalogs) -> dict[tuple[str, str], tuple[float, ...]]:
    """The prices of a token by model and region."""
    endpoints: pd.DataFrame = catalogs.endpoints
    prices = zip(*(endpoints[name] for name in ENDPOINT), strict=True)
    return dict(zip(zip(endpoints["model"], endpoints["region"], strict=True), prices, strict=True))
