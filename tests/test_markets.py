"""The one table of markets: every other list of them follows it, in one spelling."""

import ast
from pathlib import Path

import pytest

from calc import estimate
from calc.cost.markets import MARKETS, PLAN_MARKETS, SUMMED_UP
from calc.search.job_fields import JOB
from refresh.answers import KINDS

ROOT = Path(__file__).resolve().parent.parent
TABLE = "calc/cost/markets.py"


def test_prices_results_link_and_refresh_have_every_market_of_the_table(catalogs):
    assert {market.price for market in MARKETS.values()} <= set(catalogs.prices.columns)
    row = estimate({"model": "gpt2", "instance": "p5.48xlarge", "gpus": 8, "train_tokens": 1e9}, catalogs, solve=False)
    for name in PLAN_MARKETS:
        key = MARKETS[name].key
        assert row[f"usd_per_hour_{key}"] > 0
        assert row[f"run_usd_{key}"] > 0
        assert row[f"usd_per_month_{key}"] > 0
    assert set(JOB["markets"].choices) == set(MARKETS)
    assert set(KINDS) - {"interruption"} == {market.key for name, market in MARKETS.items() if name not in SUMMED_UP}
    assert [MARKETS[name].phrase for name in PLAN_MARKETS] == ["on demand", "on spot"]


@pytest.mark.parametrize("room", ["calc", "views"])
def test_no_other_file_lists_the_markets(room):
    """Two ids or more in one tuple, list, set or dict are a second table."""
    listing = []
    for path in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
            words = {part.value for part in parts if isinstance(part, ast.Constant)}
            if len(words & set(MARKETS)) > 1:
                listing.append(path.relative_to(ROOT).as_posix())
    assert set(listing) <= {TABLE}
