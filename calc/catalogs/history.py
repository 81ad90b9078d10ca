"""Prices as they were: catalogs/history, one small file for each day on which prices were fetched, written once, then left alone.

A row is the price of a market from the day on which it was seen (as_of); it stands until the next. Without a price: no longer sold.
"""

from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from calc.catalogs.schema_check import check_reference
from calc.catalogs.strict_yaml import CatalogError

COLUMNS = ("instance", "region", "market", "usd_per_hour", "as_of", "source")
DAY = r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"


def read_history(folder: Path, digest: Any = None) -> pd.DataFrame:
    """Every row of catalogs/history, oldest price first, USD as numbers; the bytes go into the digest. Raises CatalogError."""
    read = []
    for path in sorted((folder / "history").glob("*.csv")):
        content = path.read_bytes()
        if digest is not None:
            digest.update(path.name.encode() + b"\0" + content + b"\0")
        read.append(_rows(content, f"catalogs/history/{path.name}"))
    rows = pd.concat(read, ignore_index=True) if read else pd.DataFrame(columns=list(COLUMNS))
    return rows.sort_values("as_of", kind="stable", ignore_index=True)


def _rows(content: bytes, file: str) -> pd.DataFrame:
    try:
        table = pd.read_csv(BytesIO(content), dtype=str, keep_default_na=False)
    except (ValueError, pd.errors.ParserError) as error:
        raise CatalogError(f"{file}: it is no table that can be read ({error}); put the file back.") from None
    if tuple(table) != COLUMNS:
        raise CatalogError(f"{file}: its first line is not {','.join(COLUMNS)}; put the file back.")
    usd = pd.to_numeric(table["usd_per_hour"], errors="coerce")
    wrong = (usd.isna() & (table["usd_per_hour"] != "")) | (usd <= 0) | ~table["as_of"].str.fullmatch(DAY)
    if wrong.any():
        raise CatalogError(f"{file}, line {wrong.argmax() + 2}: the price or the day cannot be read; put the file back.")
    return table.assign(usd_per_hour=usd)


def history_table(rows: pd.DataFrame, instances: pd.DataFrame, sources: dict[str, str]) -> pd.DataFrame:
    """The rows with their sources in words, instances checked."""
    for instance in rows["instance"].unique():
        check_reference(instance, instances.index, "catalogs/history", (instance,), "instance")
    return rows.assign(source=rows["source"].map(lambda key: sources.get(key, key)))
