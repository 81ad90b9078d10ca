"""How hard instances are to get: the catalog's classes by family and market, and what answers make of them."""

import pandas as pd

from calc import estimate
from calc.cost.obtainability import CLASSES, obtainability

SEEN = {  # instance -> its class on demand, on spot, as a capacity block
    "g4dn.xlarge": ("at-once", "usually", ""),
    "g5.xlarge": ("usually", "usually", ""),
    "gr6.4xlarge": ("usually", "usually", ""),
    "gr6f.4xlarge": ("unknown", "unknown", ""),
    "g6e.48xlarge": ("usually", "usually", ""),
    "g7e.2xlarge": ("unknown", "unknown", ""),
    "p4de.24xlarge": ("wait-or-quota", "wait-or-quota", "usually"),
    "p5.4xlarge": ("wait-or-quota", "wait-or-quota", "usually"),
    "p6-b200.48xlarge": ("wait-or-quota", "wait-or-quota", "usually"),
    "p6e-gb200.36xlarge": ("by-agreement", "by-agreement", "by-agreement"),
}


def test_an_instance_takes_the_longest_entry_that_its_family_begins_with(catalogs):
    markets = [obtainability(catalogs, market) for market in ("on-demand", "spot", "capacity-block")]
    rows = {name: tuple(market.words[catalogs.instances.index.get_loc(name)] for market in markets) for name in SEEN}
    assert rows == SEEN
    assert set(markets[0].words) <= {*CLASSES, ""}
    results = estimate(pd.DataFrame([{"model": "llama-3.2-1b", "instance": name} for name in ("p5.48xlarge", "g4dn.xlarge", "")]), catalogs)
    assert results["obtainable"].tolist() == ["wait-or-quota", "at-once", ""]
