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
            if old == new:
                continue
            last = last_rows.get((*key, market), (None, ""))[0]
            for price in (old, new):
                if price and price.get("basis") != ESTIMATED and price["usd_per_hour"] != last:
                    last = price["usd_per_hour"]
                    rows.append((*key, market, last, price["as_of"], price["source"]))
            if new is None and last is not None:
                rows.append((*key, market, "", today, old["source"]))
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def text_of(folder, rows, today):
    """The text of the day's file: its lines so far and the new rows."""
    path = Path(folder) / HISTORY / f"{today}.csv"
    text = path.read_text("utf-8") if path.exists() else ",".join(COLUMNS) + "\n"
    written = io.StringIO()
    csv.DictWriter(written, COLUMNS, lineterminator="\n").writerows(rows)
    lines = set(text.splitlines())
    return text + "".join(
        f"{line}\n" for line in written.getvalue().splitlines() if line not in lines
    )
