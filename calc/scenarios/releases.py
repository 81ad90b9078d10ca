"""Releases of software: their numbers, and the recorded release that one lies in."""

import re

from calc.catalogs.caches import cached_per_catalogs
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
