"""The places where a job may run: instance types, and their offers by market and region."""

from collections.abc import Iterator
from typing import NamedTuple, NoReturn

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.cost.capacity_block_sizes import ANY_SIZE, sizes_sold
from calc.cost.markets import MARKETS, Market, sold_for
from calc.cost.obtainability import obtainability
from calc.cost.offers import age_days
from calc.evaluate import Columns
from calc.job.cells import JobError
from calc.job.columns import MOST_INSTANCES
from calc.job.job import Job
from calc.rules.placement import slow_to_join
from calc.scenarios.hardware import band_ratios, hardware, place_numbers, price_rows
from calc.scenarios.lookups import constants, numbers_of, row_numbers
from calc.scenarios.private_prices import paid_prices
from calc.units import DAY_HOURS, HOUR_SECONDS

NO_INSTANCE = np.array([-1])  # the row of cards that are in no instance type


class Place(NamedTuple):
    """An instance type: GPUs, GPUs that tensor parallel may join, instances that a job may span."""

    instance: str
    gpus: int
    island: int
    most: int
    has_bf16: bool
    gpu: str = ""  # of cards without an instance


class Offer(NamedTuple):
    """An offer of every place on one market, an array over places; NaN if a place has none.

    `market_number` and `region_number` are positions in the lists of the job. `obtainability_rank`
    is a position in calc.cost.obtainability.CLASSES; a run on `many_instances` or more has
    `many_obtainability_rank`. `sizes`: instances that the market rents at once, empty if it rents
    every number.
    """

    market_number: int
    region_number: np.ndarray
    usd_per_hour: np.ndarray
    price_age_days: np.ndarray
    band_interruption_ratio: np.ndarray
    obtainability_rank: np.ndarray
    many_instances: np.ndarray
    many_obtainability_rank: np.ndarray
    sizes: np.ndarray = ANY_SIZE


def places_of(job: Job, catalogs: Catalogs, factor: int = 1) -> list[Place]:
    """The instance types that a job allows and that have a price; JobError if none has.

    `factor`: how many times as many instances as the job allows may be spanned.
    """
    if job.have:
        return _own_places(job, catalogs)
    numbers = row_numbers(catalogs, "instances")
    named, cards = job.fixed.get("instance"), job.fixed.get("gpu")
    allowed = list(named) if named else _current(catalogs)
    rows = np.array([numbers[name] for name in allowed], dtype=int)
    rows = rows[~np.isnan(_paid_prices(job, catalogs)[rows]).all(axis=(1, 2))]
    if cards:
        priced = rows
        rows = rows[np.isin(catalogs.instances["gpu"].to_numpy(dtype=object)[rows], cards)]
        if named and len(priced) > len(rows) == 0:
            raise JobError(
                f"{' or '.join(named)} has no {' or '.join(cards)}", "leave instance or gpu empty"
            )
    if not len(rows):
        _refuse_unsold(job, named or cards, catalogs)
    gpus = hardware(catalogs)["instance_gpus"][rows]
    most = np.minimum(job.most_instances(gpus) * factor, MOST_INSTANCES)
    return _places(rows, np.maximum(most, job.most_instances(gpus)), job, catalogs)


def _places(rows: np.ndarray, most: np.ndarray, job: Job, catalogs: Catalogs) -> list[Place]:
    """Instance types by number, of which a job may span so many where their network allows it."""
    columns, names = hardware(catalogs), catalogs.instances.index
    slowest = constants(catalogs, "overheads")["slowest_joining_bytes_per_second"]
    apart = slow_to_join(
        columns["instance_network_bytes_per_second"], columns["instance_efa_interfaces"], slowest
    )
    spans = ~apart | ((job.work == "inference") & (columns["instance_gpu_fraction"] >= 1))
    island = np.fmax(columns["instance_gpus"], columns["instance_nvlink_domain_gpus"])
    gpus, native = columns["instance_gpus"], columns["gpu_supports_bf16"] > 0
    return [
        Place(
            names[row],
            int(gpus[row]),
            int(island[row]),
            int(count) if spans[row] else 1,
            bool(native[row]),
        )
        for row, count in zip(rows.tolist(), most.tolist(), strict=True)
    ]


def _own_places(job: Job, catalogs: Catalogs) -> list[Place]:
    """Return a place for each kind of machine or card that the team has."""
    instances = row_numbers(catalogs, "instances")
    own_places = []
    for name, count in job.have.items():
        if name in instances:
            own_places += _places(np.array([instances[name]]), np.array([count]), job, catalogs)
        else:
            own_places.append(_place_of_cards(name, count, catalogs))
    fixed = {name for column in ("instance", "gpu") for name in job.fixed.get(column, ())}
    if not fixed:
        return own_places
    allowed = [place for place in own_places if {place.instance, place.gpu} & fixed]
    if not allowed:
        raise JobError(
            f"{' or '.join(sorted(fixed))} is not among the machines of have",
            "leave one of the two empty",
        )
    return allowed


def _place_of_cards(card: str, count: int, catalogs: Catalogs) -> Place:
    """Return the place of cards that are in no instance type of the catalog."""
    row = np.array([row_numbers(catalogs, "gpus")[card]])
    numbers = place_numbers(catalogs, row, NO_INSTANCE)
    gpus_of_node = int(np.nan_to_num(numbers["card_node_gpus"][0], nan=1))
    has_bf16 = bool(numbers["gpu_supports_bf16"][0] > 0)
    return Place("", count, min(count, gpus_of_node), 1, has_bf16, card)


def place_columns(places: list[Place], catalogs: Catalogs) -> Columns:
    """The numbers of the card and the instance of every place."""
    rows = np.array(
        [row_numbers(catalogs, "instances").get(place.instance, -1) for place in places]
    )
    if (rows >= 0).all():
        return {
            name: values[rows] if len(values) > 1 else values
            for name, values in hardware(catalogs).items()
        }
    cards = [place.gpu or catalogs.instances["gpu"][place.instance] for place in places]
    return place_numbers(catalogs, catalogs.gpus.index.get_indexer(cards), rows)


@cached_per_catalogs("instances")
def _current(catalogs: Catalogs) -> list[str]:
    return list(catalogs.instances.index[catalogs.instances["current"].astype(bool)])


def _refuse_unsold(job: Job, allowed: list[str] | None, catalogs: Catalogs) -> NoReturn:
    """Refuse a job whose instances have no price where it may rent them."""
    what = " or ".join(allowed or ["any instance"])
    where = ", ".join(job.regions) if len(job.regions) < len(catalogs.regions) else "any region"
    sold = [name for name in job.markets if sold_for(name, job.work, job.ends)]
    if not sold:
        titles = " and ".join(MARKETS[name].title for name in job.markets)
        raise JobError(
            f"{titles} is not sold for {'a run' if job.ends else 'a service'}",
            "allow another market",
        )
    market = " or ".join(MARKETS[name].phrase for name in sold)
    if catalogs.prices[[MARKETS[name].price for name in sold]].isna().all(axis=None):
        raise JobError(f"No price is known for any instance {market}", "allow another market")
    raise JobError(
        f"No price is known for {what} {market} in {where}",
        "allow other instances, regions or markets",
    )


def _paid_prices(job: Job, catalogs: Catalogs) -> np.ndarray:
    """Prices that the job pays for every type, with private prices and paid share. [USD/h]

    Shape: (instances, regions, markets).
    """
    listed, _ = _list_prices(catalogs, tuple(job.regions), tuple(job.markets))
    other = [not sold_for(name, job.work, job.ends) for name in job.markets]
    listed = np.where(other, np.nan, listed) if any(other) else listed
    terms = {
        "private_prices": "".join(job.fixed.get("private_prices", ())),
        "paid_ratio": job.assumed.get("paid_ratio"),
    }
    if not any(terms.values()):
        return listed
    paid = paid_prices(listed, catalogs.instances.index, _takes_private(job), terms, catalogs)
    return np.where(_price_rows(catalogs, tuple(job.regions))[:, :, None] >= 0, paid, np.nan)


@cached_per_catalogs("prices", "instances")
def _list_prices(
    catalogs: Catalogs, regions: tuple[str, ...], markets: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The listed price of every instance type [USD/h], and its age [days].

    Shape: (instances, regions, markets).
    """
    prices = [numbers_of(catalogs, "prices", MARKETS[market].price) for market in markets]
    ages = [
        age_days(catalogs.prices[f"{MARKETS[market].key}_as_of"], catalogs.read_on)
        for market in markets
    ]
    rows = _price_rows(catalogs, regions)
    return np.stack(prices, axis=-1)[rows], np.stack(
        [np.append(age.to_numpy(dtype=float), np.nan) for age in ages], axis=-1
    )[rows]


def _ages(job: Job, catalogs: Catalogs) -> np.ndarray:
    """Age of every price, NaN for a private one. Shape: (instances, regions, markets). [days]"""
    _, ages = _list_prices(catalogs, tuple(job.regions), tuple(job.markets))
    private_prices = "".join(job.fixed.get("private_prices", ()))
    if not private_prices:
        return ages
    unlisted, terms = np.full(ages.shape, np.nan), {"private_prices": private_prices}
    private = paid_prices(unlisted, catalogs.instances.index, _takes_private(job), terms, catalogs)
    return np.where(np.isnan(private), ages, np.nan)


def _takes_private(job: Job) -> np.ndarray:
    """Return whether private prices apply, by market of the job."""
    return np.array([MARKETS[name].takes_private for name in job.markets])


@cached_per_catalogs("prices", "instances")
def _price_rows(catalogs: Catalogs, regions: tuple[str, ...]) -> np.ndarray:
    """The row of prices of every instance type in some regions, -1 if it is not sold."""
    rows, _ = price_rows(catalogs)
    return np.array(
        [[rows.get((name, region), -1) for region in regions] for name in catalogs.instances.index],
        dtype=int,
    )


def offers(job: Job, places: list[Place], catalogs: Catalogs) -> list[Offer]:
    """Return the offers of every place: by market at the lowest price, and where Spot is calmer.

    If that price is old, there is also an offer in the cheapest region whose price is not.
    """
    if job.have:
        return [_own_offer(len(places))]
    rows = np.array([row_numbers(catalogs, "instances")[place.instance] for place in places])
    prices, ages_days = _paid_prices(job, catalogs)[rows], _ages(job, catalogs)[rows]
    bands = band_ratios(catalogs)[_price_rows(catalogs, tuple(job.regions))][rows]
    unknown_band = float(catalogs.assumptions["value"]["interruption_unknown_ratio"])
    known_bands = np.nan_to_num(bands, nan=unknown_band)
    counted_days = job.judged["scarce_spot_seconds"] / HOUR_SECONDS / DAY_HOURS
    every_place = np.arange(len(places))
    several = []
    for number, name in enumerate(job.markets):
        obtained = obtainability(catalogs, name)
        of_market = ages_days[:, :, number]
        regions = _regions_offered(
            prices[:, :, number], of_market, known_bands, MARKETS[name], counted_days
        )
        for region, usd_per_hour in regions:
            several.append(
                Offer(
                    market_number=number,
                    region_number=region,
                    usd_per_hour=usd_per_hour,
                    price_age_days=of_market[every_place, region],
                    band_interruption_ratio=bands[every_place, region],
                    obtainability_rank=obtained.rank[rows],
                    many_instances=obtained.several[rows],
                    many_obtainability_rank=obtained.several_rank[rows],
                    sizes=sizes_sold(name, catalogs),
                )
            )
    return several


def _own_offer(count: int) -> Offer:
    """Return the offer of the team's own machines: they cost nothing and are available at once."""
    zeros, numbers = np.zeros(count), np.zeros(count, dtype=int)
    return Offer(
        market_number=0,
        region_number=numbers,
        usd_per_hour=zeros,
        price_age_days=np.full(count, np.nan),
        band_interruption_ratio=zeros,
        obtainability_rank=numbers,
        many_instances=np.full(count, np.inf),
        many_obtainability_rank=numbers,
    )


def _regions_offered(
    prices: np.ndarray,
    ages_days: np.ndarray,
    bands: np.ndarray,
    market: Market,
    counted_days: float,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield regions of every place on a market, with the price there: the cheapest region first.

    Each further region has a calmer Spot market, or a price that is fresh where the last one's is
    old or is not counted. The arrays have the shape (places, regions), yielded ones (places,).
    """
    every_place = np.arange(len(prices))
    open_prices = np.where(np.isnan(prices), np.inf, prices)
    while True:
        region = np.lexsort((bands, open_prices), axis=1)[:, 0]
        usd_per_hour = open_prices[every_place, region]
        if np.isinf(usd_per_hour).all():
            return
        yield region, np.where(np.isinf(usd_per_hour), np.nan, usd_per_hour)
        age_days = ages_days[every_place, region][:, None]
        is_calmer = (bands < bands[every_place, region][:, None]) & (market.interrupted > 0)
        is_fresh = (age_days > market.old_days) & (ages_days <= market.old_days)
        is_counted = (age_days > counted_days) & (ages_days <= counted_days)
        open_prices = np.where(is_calmer | is_fresh | is_counted, open_prices, np.inf)
