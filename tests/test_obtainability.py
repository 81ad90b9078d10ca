"""How hard instances are to get: the catalog's classes by family and market, and what answers make of them."""

import pandas as pd
from examples import recorded

from calc import estimate
from calc.cost.obtainability import CLASSES, obtainability

SEEN = recorded("cases/obtainability.json")["classes"]


def test_an_instance_takes_the_longest_entry_that_its_family_begins_with(catalogs):
    markets = [obtainability(catalogs, market) for market in ("on-demand", "spot", "capacity-block")]
    rows = {name: [market.words[catalogs.instances.index.get_loc(name)] for market in markets] for name in SEEN}
    assert rows == SEEN
    assert set(markets[0].words) <= {*CLASSES, ""}
    results = estimate(pd.DataFrame([{"model": "llama-3.2-1b", "instance": name} for name in ("p5.48xlarge", "g4dn.xlarge", "")]), catalogs)
    assert results["obtainable"].tolist() == ["wait-or-quota", "at-once", ""]
