"""Answers of the regions that a refresh has read, stored next to the catalogs for a day.

A refresh that breaks off continues with the other regions.
"""

import json
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from refresh.answers import Answers, RefreshError

FOLDER = ".prices-read"
LONGEST_SECONDS = 24 * 3600


class RegionCache:
    """A cache of the answers of regions, as files; those of another scope or day are not read."""

    def __init__(self, folder, scope, source, clock=time.time):
        self.folder, self.clock = Path(folder) / FOLDER, clock
        request = (
            source,
            scope.families,
            sorted(scope.instances),
            sorted(scope.models),
            scope.quota_codes,
            scope.block_types,
            scope.pools,
        )
        self.key = sha256(repr(request).encode()).hexdigest()[:12]

    def missing(self, regions):
        """The regions that are still to be read."""
        return [region for region in regions if not self._is_young(self._path(region))]

    def read(self, scope, read_region, progress):
        """The answers of every region of a scope, from the cache or else read and put there.

        `read_region` fills the answers of a scope of one region.
        """
        answers = Answers()
        for place, region in enumerate(scope.regions, 1):
            part = self._load(region)
            if part is None:
                part = Answers()
                read_region(region, replace(scope, regions=(region,)), part)
                self._store(region, part)
                counts = ", ".join(
                    f"{len(part.prices[market])} {label}"
                    for market, label in COUNTED.items()
                    if part.prices[market]
                )
            else:
                counts = "as read before"
            progress(f"[{place}/{len(scope.regions)}] {region}: {counts or 'no price'}")
            answers.absorb(part)
        return answers

    def clear(self):
        """Empty the cache, once its answers are written or too old."""
        for path in self.folder.glob("*.json"):
            path.unlink(missing_ok=True)
        if self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def sentence(self):
        """Say how many regions the next run need not read again; "" for none."""
        count = sum(map(self._is_young, self.folder.glob(f"*-{self.key}.json")))
        regions = "1 region" if count == 1 else f"{count} regions"
        goes_on = (
            f"is kept for a day: run it again, and it goes on from there; remove {self.folder} "
            f"to read all again"
        )
        return f" What was read of {regions} {goes_on}." if count else ""

    def _path(self, region):
        return self.folder / f"{region}-{self.key}.json"

    def _is_young(self, path):
        return path.exists() and 0 <= self.clock() - path.stat().st_mtime < LONGEST_SECONDS

    def _load(self, region):
        path = self._path(region)
        if not self._is_young(path):
            return None
        try:
            return Answers.from_json(json.loads(path.read_text("utf-8")))
        except (ValueError, LookupError, TypeError):  # half a file of a refresh that was killed
            return None

    def _store(self, region, part):
        if part.failed:
            return  # to be read again
        try:
            self.folder.mkdir(exist_ok=True)
            self._path(region).write_text(json.dumps(part.as_json()), "utf-8")
        except OSError as error:
            raise RefreshError(
                f"{self.folder} cannot be written ({error}); free it and run it again."
            ) from error


COUNTED = {"on_demand": "on demand", "spot": "on spot", "sagemaker_training": "SageMaker training"}
