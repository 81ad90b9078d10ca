"""Releases of software: their numbers, and the recorded release that one lies in."""

import re
from itertools import product

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.table import Words, word_pairs

RELEASE = re.compile(r"\d+(?:\.\d+)*")


def numbers_of_release(text: str) -> tuple[int, ...]:
    """The numbers of the first release in a text: (0, 25, 1) for v0.25.1, () without one."""
    match = RELEASE.search(text)
    return tuple(map(int, match[0].split("."))) if match else ()


def newest_known(releases: str) -> tuple[int, ...]:
    """The last release of a range such as "0.21 to 0.25"; a comma begins other software."""
    return numbers_of_release(releases.partition(",")[0].rpartition(" to ")[2])


def earlier_release(software: str, release: str, catalogs: Catalogs) -> int:
    """The row of earlier_releases that contains a release; -1 if none does."""
    numbers = numbers_of_release(release)
    for row, (name, oldest, newest) in enumerate(_release_ranges(catalogs)):
        if name == software and oldest <= numbers and numbers[: len(newest)] <= newest:
            return row
    return -1


@cached_per_catalogs("earlier_releases")
def _release_ranges(catalogs: Catalogs) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """The software of each entry of earlier_releases, its first release and its last."""
    frame = catalogs.earlier_releases
    return [
        (name, numbers_of_release(first), numbers_of_release(last))
        for name, first, last in zip(frame["software"], frame["first"], frame["last"], strict=True)
    ]


def rows_of_release(catalogs: Catalogs, name: str, words: Words, releases: Words) -> np.ndarray:
    """The entry of each row's words with the newest `since` of its release; -1 without one."""
    codes, pairs = word_pairs(words, releases)
    rows = [row_of_release(catalogs, name, *pair) for pair in pairs]
    return np.array(rows, dtype=np.int64)[codes]


def row_of_release(catalogs: Catalogs, name: str, words: str, release: str) -> int:
    """The row that is valid for a release, for a software, or for an objective and a software."""
    numbers = numbers_of_release(release)
    return max(
        (
            (since, row)
            for since, row in releases_by_software(catalogs, name).get(words, ())
            if since <= numbers or not numbers
        ),
        default=((), -1),
    )[1]


@cached_per_catalogs()
def releases_by_software(catalogs: Catalogs, name: str) -> dict[str, list[tuple]]:
    """The releases since which entries hold, with their rows, by objective and software."""
    frame = getattr(catalogs, name)
    objectives = frame["objectives"] if "objectives" in frame else [[""]] * len(frame)
    releases: dict[str, list[tuple]] = {}
    for row, entry in enumerate(zip(frame["since"], objectives, frame["software"], strict=True)):
        for words in product(*entry[1:]):
            releases.setdefault(" ".join(filter(None, words)), []).append(
                (numbers_of_release(entry[0]), row)
            )
    return releases
