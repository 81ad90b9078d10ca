"""Prices of a contract that replace on demand: `p5.48xlarge=40.1; g6e.xlarge=1.5`. [USD/h]"""

from collections.abc import Iterable

import numpy as np

from calc.catalogs.load import Catalogs
from calc.mappings import Cells
from calc.remarks import Remark, remark
from calc.scenarios.inputs import HUGE
from calc.scenarios.lookups import row_numbers, similar
from calc.scenarios.problems import Problems
from calc.scenarios.read import number
from calc.table import Words, word_pairs


class PrivatePriceError(ValueError):
    """A text is no list of private prices; `remark` says why."""

    def __init__(self, why: Remark) -> None:
        super().__init__(why.code)
        self.remark = why


def private_prices(text: str, types: Iterable[str]) -> dict[str, float]:
    """USD per hour by instance, out of the instance types there are. Raises PrivatePriceError."""
    prices = {}
    for pair in filter(None, (part.strip() for part in text.split(";"))):
        instance, _, usd = (part.strip() for part in pair.partition("="))
        if instance not in types:
            similar_types = similar(instance, types)
            raise PrivatePriceError(
                remark("private-instance-unknown", instance=instance, similar_types=similar_types)
            )
        if not 0 < number(usd) <= HUGE:
            raise PrivatePriceError(
                remark("private-price-not-positive", instance=instance, cell=usd)
            )
        prices[instance] = number(usd)
    return prices


def _readable(text: str, catalogs: Catalogs) -> tuple[dict[str, float], Remark | None]:
    """The prices of a text and what is wrong with it, which leaves no prices."""
    try:
        return private_prices(text, row_numbers(catalogs, "instances")), None
    except PrivatePriceError as error:
        return {}, error.remark


def join_private_prices(
    texts: Words, instances: Words, catalogs: Catalogs, problems: Problems
) -> np.ndarray:
    """The private price of each row's instance, NaN if it has none. [USD per hour]"""
    codes, pairs = word_pairs(texts, instances)
    prices_by_text = {text: _readable(text, catalogs) for text in texts.vocabulary}
    rows = problems.fresh(texts.are(lambda text: prices_by_text[text][1] is not None))
    problems.note(
        rows, np.array([prices_by_text[texts.in_row(row)][1] for row in rows], dtype=object)
    )
    return np.array([prices_by_text[text][0].get(instance, np.nan) for text, instance in pairs])[
        codes
    ]


def paid_prices(
    listed: np.ndarray,
    instances: Iterable[str],
    on_demand: np.ndarray,
    scenario: Cells,
    catalogs: Catalogs,
) -> np.ndarray:
    """The prices as paid: private ones in place of on demand, all at the paid ratio. [USD/h]

    `on_demand` marks the markets that private prices replace. A text that cannot be read has no
    prices; its rows are refused elsewhere.
    """
    private, _ = _readable(str(scenario.get("private_prices") or ""), catalogs)
    ratio = scenario.get("paid_ratio")
    prices = listed.copy()
    for row, instance in enumerate(instances):
        if instance in private:
            prices[row][..., on_demand] = private[instance]
    return prices * ratio if ratio is not None and ratio > 0 else prices


def discount_percent(paid_ratio: float) -> float:
    """Discount on the listed price; below 0 it is a tax. [%]"""
    return round(100 * (1 - paid_ratio), 6)


def paid_share(discount_percent: float) -> float:
    """Price paid over the price listed. [ratio]"""
    return 1 - discount_percent / 100
