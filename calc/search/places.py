"""Where a job may run: the instance types that it allows, what decides on them, and where and how each is sold."""

from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS, sold_for
from calc.cost.offers import age_days
from calc.cost.placement import slow_to_join
from calc.scenarios.hardware import band_ratios, hardware, price_rows
from calc.scenarios.lookups import constants, numbers_of, row_numbers
from calc.scenarios.private_prices import own_prices
from calc.search.settle import JobError


class Place(NamedTuple):
    """An instance type: its GPUs, how many of them tensor parallel may join, how many instances one job may span."""

    instance: str
    gpus: int
    island: int
    most: int
    has_bf16: bool


class Offer(NamedTuple):
    """A market of the job: of each place the region, its price, its age and its interruptions; NaN where it is not sold so."""

    market: int
    region: np.ndarray
    usd_per_hour: np.ndarray
    price_age_days: np.ndarray
    band_interruption_ratio: np.ndarray


def places_of(job: dict[str, Any], catalogs: Catalogs, factor: int = 1) -> list[Place]:
    """The instance types that the job allows and that have a price where it may run; raises JobError where there are none.

    `factor`: how many times as many instances as the job allows may be spanned.
    """
    rows, found = row_numbers(catalogs, "instances"), hardware(catalogs)
    named, cards = job["fixed"].get("instance"), job["fixed"].get("gpu")
    kept_names = list(named) if named else [name for name, current in _current(catalogs).items() if current]
    sold = _paid(job, catalogs)
    at = np.array([rows[name] for name in kept_names], dtype=int)
    at = at[~np.isnan(sold[at]).all(axis=(1, 2))]
    if cards:
        at = at[np.isin(catalogs.instances["gpu"].to_numpy(dtype=object)[at], cards)]
    if not len(at):
        raise JobError(_unsold(job, named or cards, catalogs))
    slowest = constants(catalogs, "overheads")["slowest_joining_bytes_per_second"]
    apart = slow_to_join(found["instance_network_bytes_per_second"], found["instance_efa_interfaces"], slowest)
    spans = ~apart | ((job["work"] == "inference") & (found["instance_gpu_fraction"] >= 1))
    island = np.fmax(found["instance_gpus"], found["instance_nvlink_domain_gpus"])
    most = int(job["instances_most"]) * factor
    names = catalogs.instances.index
    return [
        Place(
            names[row], int(found["instance_gpus"][row]), int(island[row]), most if spans[row] else 1, found["gpu_supports_bf16"][row] > 0
        )
        for row in at.tolist()
    ]


@kept("instances")
def _current(catalogs: Catalogs) -> dict[str, bool]:
    return dict(zip(catalogs.instances.index, catalogs.instances["current"].tolist(), strict=True))


def _unsold(job: dict[str, Any], asked: list[str] | None, catalogs: Catalogs) -> str:
    what = " or ".join(asked or ["a GPU instance"])
    where = ", ".join(job["regions"]) if len(job["regions"]) < len(catalogs.regions) else "any region"
    market = " or ".join(MARKETS[name].phrase for name in job["markets"])
    return f"No price is known for {what} {market} in {where}; allow other instances, regions or markets."


def _paid(job: dict[str, Any], catalogs: Catalogs) -> np.ndarray:
    """What the job pays for every instance type per hour, private prices and paid share counted, shape as _prices."""
    listed = _prices(catalogs, tuple(job["regions"]), tuple(job["markets"]))
    other = [not sold_for(name, job["work"]) for name in job["markets"]]
    listed = np.where(other, np.nan, listed) if any(other) else listed
    own = {"private_prices": "".join(job["fixed"].get("private_prices", ())), "paid_ratio": job["assumed"].get("paid_ratio")}
    if not any(own.values()):
        return listed
    paid = own_prices(listed, catalogs.instances.index, _on_demand(job), own, catalogs)
    return np.where(_price_rows(catalogs, tuple(job["regions"]))[:, :, None] >= 0, paid, np.nan)


@kept("prices", "instances")
def _prices(catalogs: Catalogs, regions: tuple[str, ...], markets: tuple[str, ...]) -> np.ndarray:
    """USD per hour of every instance type, shape (instances, regions, markets)."""
    prices = np.stack([numbers_of(catalogs, "prices", MARKETS[market].price) for market in markets], axis=-1)
    return prices[_price_rows(catalogs, regions)]


def _ages(job: dict[str, Any], catalogs: Catalogs) -> np.ndarray:
    """Days since the price of every instance type was seen, shape as _prices; NaN where there is none, or one's own contract's."""
    listed = _listed_ages(catalogs, tuple(job["regions"]), tuple(job["markets"]))
    text = "".join(job["fixed"].get("private_prices", ()))
    if not text:
        return listed
    private = own_prices(np.full(listed.shape, np.nan), catalogs.instances.index, _on_demand(job), {"private_prices": text}, catalogs)
    return np.where(np.isnan(private), listed, np.nan)


@kept("prices", "instances")
def _listed_ages(catalogs: Catalogs, regions: tuple[str, ...], markets: tuple[str, ...]) -> np.ndarray:
    ages = [age_days(catalogs.prices[f"{MARKETS[market].key}_as_of"], catalogs.read_on) for market in markets]
    return np.stack([np.append(age.to_numpy(dtype=float), np.nan) for age in ages], axis=-1)[_price_rows(catalogs, regions)]


def _on_demand(job: dict[str, Any]) -> np.ndarray:
    return np.array([MARKETS[name].takes_private for name in job["markets"]])


@kept("prices", "instances")
def _price_rows(catalogs: Catalogs, regions: tuple[str, ...]) -> np.ndarray:
    """The row of prices of every instance type in some regions, -1 where it is not sold."""
    known, _ = price_rows(catalogs)
    return np.array([[known.get((name, region), -1) for region in regions] for name in catalogs.instances.index], dtype=int)


def offers(job: dict[str, Any], places: list[Place], catalogs: Catalogs) -> list[Offer]:
    """How each place is sold, market by market: in the region of the least price, also where it is interrupted less on spot.

    Where that price is old, also in the region of the least that is not.
    """
    regions = tuple(job["regions"])
    rows = [row_numbers(catalogs, "instances")[place.instance] for place in places]
    sold = _paid(job, catalogs)[rows]
    bands = band_ratios(catalogs)[_price_rows(catalogs, regions)][rows]
    ages = _ages(job, catalogs)[rows]
    each = np.arange(len(places))
    found = []
    for market, name in enumerate(job["markets"]):
        price = np.where(np.isnan(sold[:, :, market]), np.inf, sold[:, :, market])
        band = np.nan_to_num(bands, nan=float(catalogs.assumptions["value"]["interruption_unknown_ratio"]))
        while True:
            region = np.lexsort((band, price), axis=1)[:, 0]
            least = price[each, region]
            if np.isinf(least).all():
                break
            age = ages[each, region, market]
            found.append(Offer(market, region, np.where(np.isinf(least), np.nan, least), age, bands[each, region]))
            calmer = (band < band[each, region][:, None]) & (MARKETS[name].interrupted > 0)
            fresh = (age > MARKETS[name].old_days)[:, None] & (ages[:, :, market] <= MARKETS[name].old_days)
            price = np.where(calmer | fresh, price, np.inf)
    return found
