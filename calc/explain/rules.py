"""The rules that decide whether a scenario runs on its card, with their sources."""

from typing import Any

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import parts
from calc.rules.support import distinguished
from calc.rules.support_rules import applying, rules_of
from calc.scenarios.read import as_frame

SHOWN = ("what", "verdict", "effect", "needs", "instead", "source", "checked_on", "confidence")


def rules_that_count(scenario: dict[str, Any] | pd.Series, catalogs: Catalogs) -> pd.DataFrame:
    """The rules that apply to a scenario on a card, worst first; none without a card."""
    part = next(parts(as_frame(dict(scenario)), catalogs))
    small, _ = distinguished(part.table, catalogs)
    if small["gpu_row"][0] < 0:
        return catalogs.support.iloc[:0][list(SHOWN)]
    order = rules_of(catalogs).order
    return catalogs.support.iloc[order[applying(small, catalogs)[order, 0]]][list(SHOWN)]
