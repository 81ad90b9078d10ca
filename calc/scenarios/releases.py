"""Releases of software: how an earlier one differs, and a warning about a newer one."""

import re

import numpy as np

from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.table import Words, word_pairs

RELEASE = re.compile(r"\d+(?:\.\d+)*")


def numbers_of_release(text: str) -> tuple[int, ...]:
    """The numbers of the first release in a text: v0.25.1 is (0, 25, 1); () of none."""
    found = RELEASE.search(text)
    return tuple(map(int, found[0].split("."))) if found else ()


def newest_known(releases: str) -> tuple[int, ...]:
    """The last release of a range such as "0.21 to 0.25"; a comma begins other software."""
    return numbers_of_release(releases.partition(",")[0].rpartition(" to ")[2])


def is_newer(release: str, releases: str) -> bool:
    """Whether a release is newer than those known, patches of the last one apart."""
    known = newest_known(releases)
    return numbers_of_release(release)[: len(known)] > known > ()


def release_notes(table: Columns, catalogs: Catalogs) -> Words:
    """The warning of each row whose release is newer than those known, else an empty text."""
    codes, pairs = word_pairs(table["implementation"], table["software_release"])
    return Words(codes, np.array([_warning(software, release, catalogs) for software, release in pairs], dtype=object))


def earlier_release(software: str, release: str, catalogs: Catalogs) -> int:
    """The row of serving_releases that a release lies in, -1 for that of the newest known."""
    numbers, known = numbers_of_release(release), catalogs.serving_releases
    for row, (own, first, last) in enumerate(zip(known["software"], known["first"], known["last"], strict=True)):
        newest = numbers_of_release(last)
        if own == software and numbers_of_release(first) <= numbers and numbers[: len(newest)] <= newest:
            return row
    return -1


def _warning(software: str, release: str, catalogs: Catalogs) -> str:
    entry = catalogs.implementations.loc[software]
    if not is_newer(release, entry["releases"]):
        return ""
    return f"{entry['name']} {release} is newer than what this is known from ({entry['releases']}): it may differ."
