"""The team, owner, project and days of a plan, which follow it from job to bill."""

from datetime import date

import pandas as pd

from calc.evaluate import Columns

OWNERSHIP = ("team", "owner", "project")
LONGEST_OWNER = 60  # characters of each
DAYS = ("starts", "ends")  # between which a plan is at work, as 2026-11-28
NOBODY = ""  # the team of a plan without one


def owned_rows(rows: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """The rows with team, owner, project and days of a table of cells; empty if it has none."""
    columns: Columns = {}
    for name in (*OWNERSHIP, *DAYS):
        if name not in cells:
            columns[name] = NOBODY
        elif name in DAYS:
            columns[name] = [day_of(str(cell)) for cell in cells[name]]
        else:
            texts = cells[name].fillna("").astype(str).str.strip()
            columns[name] = texts.str[:LONGEST_OWNER].to_numpy()
    return rows.assign(**columns)


def day_of(text: str) -> str:
    """An ISO day; empty for any other text."""
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        return ""
