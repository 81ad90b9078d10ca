"""The shelf of this app: HEADROOM_SHELF names a file or database, else a local file."""

import os
from typing import Any

import streamlit as st

from shelf import stores
from shelf.plans import Run, ShelfError

VARIABLE = "HEADROOM_SHELF"
NEEDS = f"{VARIABLE} is the address of a database, for which requirements/shelf.txt has to be installed: make shelf."
PATIENCE_SECONDS = 5
WITH_PATIENCE = ("postgresql", "mysql", "mariadb")


def store() -> Run:
    """What runs the shelf's statements; raises ShelfError."""
    place = os.environ.get(VARIABLE) or str(stores.FILE)
    if "://" not in place:
        return stores.in_file(place)
    patience: dict[str, Any] = {"connect_args": {"connect_timeout": PATIENCE_SECONDS}} if place.startswith(WITH_PATIENCE) else {}
    try:
        return stores.in_database(st.connection("shelf", type="sql", url=place, pool_pre_ping=True, **patience).engine)
    except ModuleNotFoundError:
        raise ShelfError(NEEDS) from None
    except Exception as error:  # what an address that is none raises is SQLAlchemy's, which need not be installed, or the driver's
        raise ShelfError(f"{VARIABLE} is not the address of a database ({type(error).__name__}): docs/serve.md has one.") from None
