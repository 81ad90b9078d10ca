"""Releases of software: their numbers, and the recorded release that one lies in."""

import re

from calc.catalogs.load import Catalogs

RELEASE = re.compile(r"\d+(?:\.\d+)*")


def numbers_of_release(text: str) -> tuple[int, ...]:
    """The numbers of the first release in a text: (0, 25, 1) for v0.25.1, () without one."""
    match = RELEASE.search(text)
    return tuple(map(int, match[0].split("."))) if match else ()


def newest_known(releases: str) -> tuple[int, ...]:
    """The last release of a range such as "0.21 to 0.25"; a comma begins other software."""
    return numbers_of_release(releases.partition(",")[0].rpartition(" to ")[2])


def earlier_release(software: str, release: str, catalogs: Catalogs) -> int:
    """The row of earlier_releases that contains a release; -1 where none does."""
    numbers, recorded = numbers_of_release(release), catalogs.earlier_releases
    for row, (name, first, last) in enumerate(zip(recorded["software"], recorded["first"], recorded["last"], strict=True)):
        newest = numbers_of_release(last)
        if name == software and numbers_of_release(first) <= numbers and numbers[: len(newest)] <= newest:
            return row
    return -1
