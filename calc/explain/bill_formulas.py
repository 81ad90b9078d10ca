"""The formulas of price, run, spot and terms behind a bill, with their numbers."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from calc.catalogs.load import Catalogs
from calc.catalogs.rooms import label_of
from calc.cost import interruptions, machines, prices, spot, starts, terms
from calc.cost.markets import MARKETS
from calc.cost.offers import price_of
from calc.engine.one_scenario import one_scenario_with_times
from calc.engine.stages import FORMULAS as STAGE_FORMULAS
from calc.evaluate import evaluate_all, formulas_of
from calc.explain.derivation import CHOICES, Derivation, derivation
from calc.explain.traced_columns import plain_number
from calc.mappings import Cells
from calc.table import Table
from calc.units import YEAR_MONTHS

# Formulas that run for one market, after the stages.
TERMS = {formula.__name__: formula for formula in formulas_of(terms)}
FORMULAS = {
    formula.__name__: formula
    for module in (machines, starts, prices, interruptions, spot)
    for formula in formulas_of(module)
} | TERMS
OF_TERMS = ("committed_usd", "break_even_hours_per_month")
OF_TOKENS = {
    "training": ("usd_per_million_trained_tokens",),
    "inference": (
        "usd_per_million_input_tokens",
        "usd_per_million_output_tokens",
        "endpoint_break_even_tokens",
    ),
}
THE_OTHERS = "the_others"  # price, Spot and storage, on which no explained figure depends
MARKET_PRICE = "market_usd_per_hour"
TERM_COLUMNS = ("interrupted", "block_hours", "committed_years")


def explain_bill(
    scenario: Cells,
    market: str,
    bill: Cells,
    catalogs: Catalogs,
    write_number: Callable[[str, Any], str] = plain_number,
) -> Derivation:
    """Return the formulas and facts behind a scenario's bill, a row of bill.bill_rows.

    `write_number(name, value)` writes a number.
    """
    table = _table_with_terms(scenario, market, bill, catalogs)
    of_tokens = [name for name in OF_TOKENS[bill["work"]] if not np.isnan(table[name][0])]
    commits = table["committed_years"] + table["block_hours"] > 0
    figures = ["usd", "period_usd", *(OF_TERMS if commits else ()), *of_tokens]
    not_applicable = () if commits else ("committed_hours", *OF_TERMS)
    others = [
        name
        for name in FORMULAS
        if name not in not_applicable
        and isinstance(table.get(name), np.ndarray)
        and np.isfinite(table[name]).all()
    ]
    by_figure = {name: [name] for name in figures} | {THE_OTHERS: others}
    origin_of = partial(_origin, market=market, bill=bill, catalogs=catalogs)
    return derivation(by_figure, table, FORMULAS, origin_of, write_number, catalogs)


def _table_with_terms(scenario: Cells, market: str, bill: Cells, catalogs: Catalogs) -> Table:
    """The columns of a scenario with the terms of its market and the figures of its bill."""
    table = one_scenario_with_times(dict(scenario), catalogs)
    table |= {name: np.array([float(getattr(MARKETS[market], name))]) for name in TERM_COLUMNS}
    table |= {name: np.array([float(bill[name])]) for name in ("instances", "resting_instances")}
    table[MARKET_PRICE] = np.array([bill["usd_per_hour"] / bill["instances"] / bill["paid_ratio"]])
    table["period_months"] = np.array([float(YEAR_MONTHS)])
    with np.errstate(divide="ignore", invalid="ignore"):
        evaluate_all(TERMS.values(), table)
    return table


def _origin(name: str, market: str, bill: Cells, catalogs: Catalogs) -> dict[str, str]:
    """The origin of a column of the bill: a price, an assumption, a formula or a market."""
    if name.endswith("_usd_per_hour") and name != "private_usd_per_hour":
        price = price_of(catalogs, bill["instance"], bill["region"])
        key = MARKETS[market].key if name == MARKET_PRICE else name.removesuffix("_usd_per_hour")
        entry = f"{label_of('prices')}, {bill['instance']}, {bill['region']}, {key}"
        return {
            "from": entry,
            "source": f"{price[f'{key}_source']}, {price[f'{key}_as_of']}" if price else "",
        }
    if name == "period_months":
        return {"from": "calc/cost/terms.py", "source": "a year"}
    if name.startswith("listed_"):
        file = "storage_and_traffic" if "storage" in name else "endpoints"
        return {"from": label_of(file), "source": catalogs.about[file]["source"]}
    if name in catalogs.assumptions.index:
        return {
            "from": f"{label_of('assumptions')}, {name}",
            "source": catalogs.assumptions.at[name, "source"],
        }
    if name in STAGE_FORMULAS:
        return {
            "from": f"{STAGE_FORMULAS[name].__module__.replace('.', '/')}.py",
            "source": CHOICES,
        }
    return {"from": "calc/cost/markets.py", "source": ""} if name in TERM_COLUMNS else {}
