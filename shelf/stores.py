"""Stores of plans: a SQLite file or any database that SQLAlchemy reaches.

Both take the same statements. The file needs no package beyond Python; a database is the engine of
st.connection.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from shelf.plans import Run, ShelfBusyError, ShelfError

FILE = Path(__file__).resolve().parents[1] / "shelf.sqlite3"
WAIT_SECONDS = 2  # for another that is writing


def in_file(path: Path | str) -> Run:
    """Return a function that runs statements in a SQLite file.

    The first statement creates the file. Each one opens it, so that any number of processes can
    share it.
    """

    def run(statement: str, values: dict[str, Any]) -> list[tuple]:
        try:
            with closing(sqlite3.connect(path, timeout=WAIT_SECONDS)) as connection, connection:
                return connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise ShelfBusyError(
                    f"The shelf's file has been locked by another program for {WAIT_SECONDS} "
                    f"seconds; try again, or pass the plan on as a link."
                ) from None
            raise ShelfError(
                f"The shelf's file cannot be used ({error}); a link holds the whole plan "
                f"without it."
            ) from None

    return run


def in_database(engine: Any) -> Run:
    """Statements run through an engine of SQLAlchemy, each in a transaction of its own."""
    from sqlalchemy import text
    from sqlalchemy.exc import SQLAlchemyError

    def run(statement: str, values: dict[str, Any]) -> list[tuple]:
        try:
            with engine.begin() as connection:
                result = connection.execute(text(statement), values)
                return [tuple(row) for row in result] if result.returns_rows else []
        except SQLAlchemyError as error:
            reason = type(error).__name__  # its text may hold the address
            raise ShelfError(
                f"The shelf's database cannot be used ({reason}); a link holds the whole "
                f"plan without it."
            ) from None

    return run
