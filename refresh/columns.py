"""AWS's CSV files: a header that is checked as a whole, then the rows that are wanted."""

import csv
from difflib import get_close_matches

from refresh.answers import RefreshError


def lines_of(answer, file):
    """The answer's lines as text. Raises RefreshError if it breaks off.

    It does if it ends before its announced length or, without one, within a line.
    """
    announced, read, line = answer.headers.get("Content-Length"), 0, b""
    for line in answer:
        read += len(line)
        yield line.decode("utf-8")
    if read != int(announced) if announced else not line.endswith(b"\n"):
        of = f" of {announced}" if announced else ""
        raise RefreshError(f"{file} broke off after {read}{of} bytes; run it again.")


def rows_of(lines, wanted, columns, file):
    """The rows in USD as dicts, of those lines after the header that are `wanted`."""
    # Before it stand pairs of facts about the file.
    header = next((values for values in csv.reader(lines) if len(values) > 2), [])
    if missing := renamed_columns(columns, header):
        raise RefreshError(
            f"{file} does not have the columns that the refresh reads: {missing}. Correct "
            f"their names in refresh/."
        )
    currencies = set()
    for values in csv.reader(line for line in lines if wanted(line)):
        row = dict(zip(header, values, strict=True))
        currencies.add(row["Currency"])
        if row["Currency"] == "USD":
            yield row
    if currencies and "USD" not in currencies:
        raise RefreshError(
            f"{file} has prices in {', '.join(sorted(currencies))}, not in USD: nothing of "
            f"it can be used."
        )


def renamed_columns(names, there):
    """Say which of the names are missing, each with the most similar new one; "" if none is."""
    other_names = {_plain(name): name for name in there if name not in names}
    missing = [
        (name, get_close_matches(_plain(name), other_names, 1, 0.5))
        for name in names
        if name not in there
    ]
    return ", ".join(
        f"{name} is missing" + (f" (perhaps now {other_names[near[0]]})" if near else "")
        for name, near in missing
    )


def _plain(name):
    return "".join(filter(str.isalnum, name.lower()))
