"""Whose a plan is: team, owner and project, texts that follow it from job to bill."""

import pandas as pd

OWNERSHIP = ("team", "owner", "project")
LONGEST_OWNER = 60  # characters of each
NOBODY = ""  # the team of a plan without one


def owned_rows(rows: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """The rows with team, owner and project of a table of cells; empty where it has none."""
    return rows.assign(
        **{
            name: (
                cells[name].fillna("").astype(str).str.strip().str[:LONGEST_OWNER].to_numpy()
                if name in cells
                else NOBODY
            )
            for name in OWNERSHIP
        }
    )
