"""A CSV of scenarios as the repository commands read it: billed rows, or a fault."""

from pathlib import Path

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.files.csv.earlier import earlier
from calc.files.csv.tables import read_csv
from calc.scenarios.problems import TableError


def plan_rows(path: str, catalogs: Catalogs, solve: bool = False) -> pd.DataFrame:
    """Every row estimated and billed; raises TableError or OSError.

    A cell that is not understood makes the whole file unusable: a check must not pass over what it did not read.
    """
    plan = earlier(read_csv(Path(path).read_bytes(), path), path, catalogs, solve)
    if plan.unread:
        raise TableError(f"{path}: {plan.unread[0]}")
    return plan.rows.assign(scenario=_names(plan.rows))


def _names(rows: pd.DataFrame) -> list[str]:
    """Unique names: an unnamed row has its number, a repeated name is numbered."""
    names: list[str] = []
    for number, name in enumerate(map(str, rows["scenario"]), start=1):
        plain = name or f"row {number}"
        same = sum(other == plain or other.startswith(f"{plain} #") for other in names)
        names.append(f"{plain} #{same + 1}" if same else plain)
    return names
