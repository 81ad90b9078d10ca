"""The catalogs of time and cost: what cards and software reach, quantised kernels, assumptions; one table each."""

from functools import cache
from typing import NamedTuple

import pandas as pd

from calc.catalogs import load as reading
from calc.catalogs.schema_check import check_reference
from calc.catalogs.strict_yaml import CatalogError

FILES = ("utilization", "engines", "kernels", "assumptions")


class SpeedTables(NamedTuple):
    """One table per catalog; utilization has a row per card, the others one per entry."""

    utilization: pd.DataFrame
    engines: pd.DataFrame
    kernels: pd.DataFrame
    assumptions: pd.DataFrame


@cache
def speed_tables(folder=reading.FOLDER):
    """The four catalogs of a folder, read as strictly as all others."""
    from hashlib import sha256

    read = {name: reading.entries_of(reading.read_document(folder, name, sha256()), name) for name in FILES}
    tables = {name: reading.table_of(read[name]) for name in FILES}
    return SpeedTables(**(tables | {"utilization": _by_card(read["utilization"])}))


def _by_card(entries):
    rows = {}
    for name, entry in entries.items():
        for gpu in entry["gpus"]:
            if gpu in rows:
                raise CatalogError(
                    f"catalogs/utilization.yaml, entry {name}, field gpus: {gpu} stands in two classes; keep it in one."
                )
            rows[gpu] = {"card_class": name} | {field: value for field, value in entry.items() if field != "gpus"}
    return reading.table_of(rows)


def check_speed_tables(tables, catalogs):
    """Raise CatalogError where a card or implementation has no entry, or an entry points nowhere."""
    pairs = (("utilization", "gpus"), ("engines", "implementations"))
    for own, other in pairs:
        known = getattr(tables, own).index
        for name in getattr(catalogs, other).index:
            check_reference(name, known, f"catalogs/{own}.yaml", (own, name), f"entry of {own} for")
        for name in known:
            check_reference(name, getattr(catalogs, other).index, f"catalogs/{own}.yaml", (own, name), other)
    for name in tables.kernels.index:
        check_reference(name, catalogs.precisions.index, "catalogs/kernels.yaml", ("kernels", name), "precision")
