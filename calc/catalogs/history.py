"""Earlier prices: one file per day on which prices were fetched, never changed afterwards.

A row is the price of a market from the day on which it was seen (as_of) until the next row. A row
without a price means that the market is no longer sold.
"""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.rooms import HISTORY
from calc.catalogs.schema_check import check_reference
from calc.catalogs.strict_yaml import CatalogError

COLUMNS = ("instance", "region", "market", "usd_per_hour", "as_of", "source")
HEADER = ",".join(COLUMNS).encode()
DAY = r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"


def read_history(folder: Path, digest: Any = None) -> pd.DataFrame:
    """The rows of the history, oldest price first, in USD per hour. Raises CatalogError."""
    lines: list[bytes] = []
    places: list[tuple[str, int]] = []  # file and line number of each row
    for path in sorted((folder / HISTORY).glob("*.csv")):
        file = f"catalogs/{HISTORY}/{path.name}"
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CatalogError(
                f"{file}: it cannot be read ({error.strerror}); restore the file."
            ) from None
        if digest is not None:
            digest.update(path.name.encode() + b"\0" + content + b"\0")
        first, *rows = content.splitlines() or [b""]
        if first != HEADER:
            raise CatalogError(
                f"{file}: its first line is not {HEADER.decode()}; restore the file."
            )
        lines += rows
        places += [(file, number) for number in range(2, len(rows) + 2)]
    return _table(lines, places).sort_values("as_of", kind="stable", ignore_index=True)


def _table(lines: list[bytes], places: list[tuple[str, int]]) -> pd.DataFrame:
    """The rows of all files, parsed at once; a year of files takes a second."""
    for line, (file, number) in zip(lines, places, strict=True):
        if line.count(b",") != len(COLUMNS) - 1 or b'"' in line:
            raise CatalogError(
                f"{file}, line {number}: it does not have {len(COLUMNS)} plain cells; "
                f"restore the file."
            )
    try:
        body = BytesIO(b"\n".join(lines))
        table = (
            pd.read_csv(body, names=list(COLUMNS), dtype=str, keep_default_na=False)
            if lines
            else pd.DataFrame(columns=list(COLUMNS))
        )
    except ValueError:
        raise CatalogError(
            f"catalogs/{HISTORY}: not every file is UTF-8; restore the files."
        ) from None
    usd = pd.to_numeric(table["usd_per_hour"], errors="coerce")
    days = {day: re.fullmatch(DAY, day) is not None for day in table["as_of"].unique()}
    wrong = (
        (usd.isna() & (table["usd_per_hour"] != ""))
        | ~((usd > 0) & (usd < np.inf) | usd.isna())
        | ~table["as_of"].map(days).astype(bool)
    )
    if wrong.any():
        file, number = places[int(wrong.to_numpy().argmax())]
        raise CatalogError(
            f"{file}, line {number}: the price or the date cannot be read; restore the file."
        )
    return table.assign(usd_per_hour=usd)


def history_table(
    rows: pd.DataFrame, instances: pd.DataFrame, sources: dict[str, str]
) -> pd.DataFrame:
    """The rows with their sources written out and their instances checked."""
    for instance in rows["instance"].unique():
        check_reference(instance, instances.index, f"catalogs/{HISTORY}", (instance,), "instance")
    return rows.assign(source=rows["source"].map(lambda key: sources.get(key, key)))
