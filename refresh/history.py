"""The price history: what a refresh changed, one file a day (calc/catalogs/history.py)."""

import csv
import io
from pathlib import Path

from calc.catalogs.history import COLUMNS
from calc.catalogs.rooms import HISTORY

ESTIMATED = "estimated"  # not worth keeping


def last_known(rows):
    """(instance, region, market) -> the last (USD, day) of the history; `rows` oldest first."""
    columns = ["instance", "region", "market", "usd_per_hour", "as_of"]
    return {tuple(row[:3]): tuple(row[3:]) for row in rows[columns].itertuples(index=False)}


def changed_prices(before, after, last_rows, markets, today):
    """Rows to add: prices that differ from the last kept; an empty price is no longer sold.

    If none was kept, the earlier price is added too. `before`, `after`: (instance, region) ->
    market -> price.
    """
    rows = []
    for key in sorted(before.keys() | after.keys()):
        for market in markets:
            old = before.get(key, {}).get(market)
            new = after.get(key, {}).get(market)
            if old != new:
                last_usd = last_rows.get((*key, market), (None, ""))[0]
                rows += [
                    dict(zip(COLUMNS, (*key, market, *cells), strict=True))
                    for cells in _changes_of_price(old, new, last_usd, today)
                ]
    return rows


def _changes_of_price(old, new, last_usd, today):
    """(USD, day, source) of each price to add; USD is empty for one that is no longer sold."""
    cells = []
    for price in (old, new):
        if price and price.get("basis") != ESTIMATED and price["usd_per_hour"] != last_usd:
            last_usd = price["usd_per_hour"]
            cells.append((last_usd, price["as_of"], price["source"]))
    if new is None and last_usd is not None:
        cells.append(("", today, old["source"]))
    return cells


def text_of(folder, rows, today):
    """The text of the day's file: its lines so far and the new rows."""
    path = Path(folder) / HISTORY / f"{today}.csv"
    text = path.read_text("utf-8") if path.exists() else ",".join(COLUMNS) + "\n"
    stream = io.StringIO()
    csv.DictWriter(stream, COLUMNS, lineterminator="\n").writerows(rows)
    lines = set(text.splitlines())
    return text + "".join(
        f"{line}\n" for line in stream.getvalue().splitlines() if line not in lines
    )
