"""Contract prices in place of on demand, as `p5.48xlarge=40.1; g6e.xlarge=1.5`. [USD/h]"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from calc.catalogs.load import Catalogs
from calc.scenarios.inputs import HUGE
from calc.scenarios.lookups import row_numbers, similar
from calc.scenarios.problems import Problems, quoted
from calc.scenarios.read import number
from calc.table import Words


class PrivatePriceError(ValueError):
    """A text that is no list of private prices; the message is one sentence with the cure."""


def private_prices(text: str, known: Iterable[str]) -> dict[str, float]:
    """USD per hour by instance type; `known` are the types there are. Raises PrivatePriceError."""
    prices = {}
    for pair in filter(None, (part.strip() for part in text.split(";"))):
        instance, _, usd = (part.strip() for part in pair.partition("="))
        if instance not in known:
            raise PrivatePriceError(
                f"private_prices names '{quoted(instance)}'; write an instance such as {similar(instance, known) or 'p5.48xlarge'}=40.1."
            )
        if not 0 < number(usd) <= HUGE:
            raise PrivatePriceError(f"private_prices has '{quoted(usd)}' for {instance}; write USD per hour above 0, as {instance}=40.1.")
        prices[instance] = number(usd)
    return prices


def join_private_prices(texts: Words, instances: Words, catalogs: Catalogs, problems: Problems) -> np.ndarray:
    """The private price of each row's instance, NaN where it has none. [USD per hour]"""
    known = row_numbers(catalogs, "instances")
    read: list[dict[str, float]] = []
    wrong: dict[str, str] = {}
    for text in texts.vocabulary:
        try:
            read.append(private_prices(str(text), known))
        except PrivatePriceError as error:
            read.append({})
            wrong[str(text)] = str(error)
    problems.add(texts.are(wrong.__contains__), lambda row: wrong[texts.in_row(row)])
    usd = np.array([[prices.get(str(instance), np.nan) for instance in instances.vocabulary] for prices in read])
    return usd[texts.codes, instances.codes]


def own_prices(
    listed: np.ndarray, instances: Iterable[str], on_demand: np.ndarray, scenario: Mapping[str, Any], catalogs: Catalogs
) -> np.ndarray:
    """Prices as paid: private ones in place of on demand, all at the paid ratio. [USD/h]

    `on_demand`: which of the markets that is. `scenario` may have private_prices and paid_ratio; what cannot be read is refused
    where its rows are.
    """
    try:
        private = private_prices(str(scenario.get("private_prices") or ""), row_numbers(catalogs, "instances"))
    except PrivatePriceError:
        private = {}
    ratio = scenario.get("paid_ratio")
    paid = listed.copy()
    for at, instance in enumerate(instances):
        if instance in private:
            paid[at][..., on_demand] = private[instance]
    return paid * ratio if ratio is not None and ratio > 0 else paid
