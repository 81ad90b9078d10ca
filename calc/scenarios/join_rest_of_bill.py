"""Prices beside the instance of each row, by its region: storage, and an endpoint that serves the model, paid per token."""

import numpy as np
import pandas as pd

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns

STORED_ON = "s3-standard"
ENDPOINT = ("usd_per_million_input_tokens", "usd_per_million_output_tokens")


def join_rest_of_bill(table: Columns, catalogs: Catalogs) -> None:
    """The columns listed_storage_usd_per_gib_month and listed_ of ENDPOINT, NaN where nothing is published."""
    region, model = table["region"], table["model"]
    s3 = _s3(catalogs)
    table["listed_storage_usd_per_gib_month"] = np.array([s3.get(each, np.nan) for each in region.known])[region.codes]
    listed = _endpoints(catalogs)
    grid = np.array([[listed.get((one, each), (np.nan, np.nan)) for each in region.known] for one in model.known])
    found = grid[model.codes, region.codes]
    table |= {f"listed_{name}": found[..., at] for at, name in enumerate(ENDPOINT)}


@kept("storage_and_traffic")
def _s3(catalogs: Catalogs) -> dict[str, float]:
    found = catalogs.storage_and_traffic[catalogs.storage_and_traffic["kind"] == STORED_ON]
    return dict(zip(found["region"], found["usd_per_gib"], strict=True))


@kept("endpoints")
def _endpoints(catalogs: Catalogs) -> dict[tuple[str, str], tuple[float, ...]]:
    found: pd.DataFrame = catalogs.endpoints
    prices = zip(*(found[name] for name in ENDPOINT), strict=True)
    return dict(zip(zip(found["model"], found["region"], strict=True), prices, strict=True))
