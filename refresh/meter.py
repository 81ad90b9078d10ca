"""Progress of a refresh: the sizes of its files first, then the time left after each part."""

import time
from http.client import HTTPException

MEGABYTE = 10**6
SHOW_EVERY_BYTES = 100 * MEGABYTE
FEWEST_BYTES = 10**5  # after as many a rate says something
MINUTE_SECONDS = 60


class Meter:
    """Counts the bytes of every file that is opened through it."""

    def __init__(self, progress, clock=time.monotonic):
        self.progress, self.clock = progress, clock
        self.read_bytes, self.seconds, self.total_bytes, self.shown_bytes = 0, 0.0, 0, 0

    def announce(self, urls, open_url):
        """Say how large the files are together, and how long they take at the rate so far."""
        sizes = [size for url in urls if (size := size_of(url, open_url))]
        self.read_bytes, rate = 0, self._rate()
        self.total_bytes, self.seconds = sum(sizes), 0.0
        if sizes:
            unknown = (
                f", {len(urls) - len(sizes)} more of unknown size" if len(sizes) < len(urls) else ""
            )
            time_to_go = (
                f", {_duration(self.total_bytes / rate)} at {rate / MEGABYTE:.1f} MB/s"
                if rate
                else ""
            )
            files = "1 large file" if len(sizes) == 1 else f"{len(sizes)} large files"
            self.progress(
                f"To read: {files}, {self.total_bytes / MEGABYTE:,.0f} MB{unknown}{time_to_go}."
            )

    def counted(self, open_url):
        """The same function, whose files are counted."""
        return lambda url, **options: _Counted(open_url(url, **options), self)

    def add(self, count, seconds):
        """Count some bytes, and say now and then how many are left."""
        self.read_bytes += count
        self.seconds += seconds
        if self.read_bytes >= self.shown_bytes + SHOW_EVERY_BYTES:
            self.shown_bytes = self.read_bytes
            self.progress(self.text())

    def text(self):
        """310 of 917 MB read, about 2 min to go.

        Files that announce no size may make it more than is known.
        """
        left, rate = self.total_bytes - self.read_bytes, self._rate()
        of = f" of {self.total_bytes / MEGABYTE:,.0f}" if left >= 0 and self.total_bytes else ""
        to_go = f", {_duration(left / rate)} to go" if left > 0 and rate else ""
        return f"{self.read_bytes / MEGABYTE:,.0f}{of} MB read{to_go}"

    def _rate(self):
        return (
            self.read_bytes / self.seconds
            if self.read_bytes >= FEWEST_BYTES and self.seconds > 0
            else 0.0
        )


class _Counted:
    """An answer whose bytes are counted."""

    def __init__(self, answer, meter):
        self.answer, self.meter, self.opened_at = answer, meter, meter.clock()
        self.headers = getattr(answer, "headers", {})

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.answer.close()

    def read(self, *size):
        data = self.answer.read(*size)
        self._count(len(data))
        return data

    def __iter__(self):
        count = 0
        for line in self.answer:
            count += len(line)
            if count >= MEGABYTE:
                self._count(count)
                count = 0
            yield line
        self._count(count)

    def _count(self, count):
        before, self.opened_at = self.opened_at, self.meter.clock()
        self.meter.add(count, self.opened_at - before)


def size_of(url, open_url):
    """The bytes that a file announces; 0 if it announces none, or does not open."""
    try:
        with open_url(url, timeout=20) as answer:
            return int(getattr(answer, "headers", {}).get("Content-Length") or 0)
    except (OSError, HTTPException, ValueError):
        return 0


def _duration(seconds):
    return (
        f"about {max(round(seconds), 1)} s"
        if seconds < MINUTE_SECONDS
        else f"about {round(seconds / MINUTE_SECONDS)} min"
    )
