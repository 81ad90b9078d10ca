"""The team, owner, project and days of a plan, which follow it from job to bill."""

from datetime import date

import pandas as pd

OWNERSHIP = ("team", "owner", "project")
LONGEST_OWNER = 60  # characters of each
DAYS = ("starts", "ends")  # between which a plan is at work, as 2026-11-28
NOBODY = ""  # the team of a plan without one


def owned_rows(rows: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """The rows with team, owner, project and days of a table of cells; empty where it has none."""
    days = {
        name: [day_of(str(cell)) for cell in cells[name]] if name in cells else NOBODY
        for name in DAYS
    }
    return rows.assign(
        **{
            name: (
                cells[name].fillna("").astype(str).str.strip().str[:LONGEST_OWNER].to_numpy()
                if name in cells
                else NOBODY
            )
            for name in OWNERSHIP
        },
        **days,
    )


def day_of(text: str) -> str:
    """An ISO day; empty for any other text."""
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        return ""
