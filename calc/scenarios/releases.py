"""A release of software newer than those that its constants are known from: a warning in the row's note."""

import re

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.coded import Words
from calc.evaluate import Table

RELEASE = re.compile(r"\d+(?:\.\d+)*")


def release_numbers(text: str) -> tuple[int, ...]:
    """The numbers of the first release that a text names: v0.25.1 is (0, 25, 1); of none (). [numbers]"""
    found = RELEASE.search(text)
    return tuple(map(int, found[0].split("."))) if found else ()


def newest_known(releases: str) -> tuple[int, ...]:
    """The last release of a range such as "0.21 to 0.25"; what comes after a comma is other software. [numbers]"""
    return release_numbers(releases.partition(",")[0].rpartition(" to ")[2])


def is_newer(release: str, releases: str) -> bool:
    """Whether a release is newer than those known, patches of the last one apart."""
    known = newest_known(releases)
    return release_numbers(release)[: len(known)] > known > ()


def release_notes(table: Table, catalogs: Catalogs) -> Words:
    """The warning of each row that names a release newer than those known; else an empty text. Shape (rows,) or (1,)."""
    software, asked = table["implementation"], table["software_release"]
    places = np.broadcast_arrays(software.codes, asked.codes)
    pairs, found = pd.factorize(places[0].astype(np.int64) * len(asked.known) + places[1])
    said = [_warning(software.known[pair // len(asked.known)], asked.known[pair % len(asked.known)], catalogs) for pair in found]
    return Words(pairs, np.array(said, dtype=object))


def _warning(software: str, release: str, catalogs: Catalogs) -> str:
    entry = catalogs.implementations.loc[software]
    if not is_newer(release, entry["releases"]):
        return ""
    return f"{entry['name']} {release} is newer than what this is known from ({entry['releases']}): it may differ."
