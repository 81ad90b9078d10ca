"""Progress of a refresh: the sizes of its files first, then the time left after each part."""

import time
from http.client import HTTPException

MEGABYTE = 10**6
SHOW_EVERY_BYTES = 100 * MEGABYTE
FEWEST_BYTES = 10**5  # from which on a rate is known
MINUTE_SECONDS = 60


class Meter:
    """Counts the bytes of every file that is opened through it."""

    def __init__(self, progress, clock=time.monotonic):
        self.progress, self.clock = progress, clock
        self.read_bytes, self.seconds, self.total_bytes, self.shown_bytes = 0, 0.0, 0, 0

    def announce(self, urls, open_url):
        """Say how large the files are together, and how long they take at the rate so far."""
        sizes = [size for url in urls if (size := size_of(url, open_url))]
        rate = self._rate()
        self.read_bytes, self.total_bytes, self.seconds = 0, sum(sizes), 0.0
        if not sizes:
            return
        text = "1 large file" if len(sizes) == 1 else f"{len(sizes)} large files"
        text += f", {self.total_bytes / MEGABYTE:,.0f} MB"
        if len(sizes) < len(urls):
            text += f", {len(urls) - len(sizes)} more of unknown size"
        if rate:
            text += f", {_duration(self.total_bytes / rate)} at {rate / MEGABYTE:.1f} MB/s"
        self.progress(f"To read: {text}.")

    def counted(self, open_url):
        """Return the function with a count of the bytes that are read from its files."""
        return lambda url, **options: _Counted(open_url(url, **options), self)

    def add(self, count, seconds):
        """Count some bytes. Report every SHOW_EVERY_BYTES how many are left."""
        self.read_bytes += count
        self.seconds += seconds
        if self.read_bytes >= self.shown_bytes + SHOW_EVERY_BYTES:
            self.shown_bytes = self.read_bytes
            self.progress(self.text())

    def text(self):
        """Say the progress: 310 of 917 MB read, about 2 min to go.

        Files without a known size may make it more than the total.
        """
        bytes_left, rate = self.total_bytes - self.read_bytes, self._rate()
        of = (
            f" of {self.total_bytes / MEGABYTE:,.0f}"
            if bytes_left >= 0 and self.total_bytes
            else ""
        )
        to_go = f", {_duration(bytes_left / rate)} to go" if bytes_left > 0 and rate else ""
        return f"{self.read_bytes / MEGABYTE:,.0f}{of} MB read{to_go}"

    def _rate(self):
        """Bytes per second so far; 0 if it is not known yet."""
        is_known = self.read_bytes >= FEWEST_BYTES and self.seconds > 0
        return self.read_bytes / self.seconds if is_known else 0.0


class _Counted:
    """A file whose bytes a Meter counts while they are read."""

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
    """Return the size of a file in its headers; 0 if it has none, or does not open. [B]"""
    try:
        with open_url(url, timeout=20) as answer:
            return int(getattr(answer, "headers", {}).get("Content-Length") or 0)
    except (OSError, HTTPException, ValueError):
        return 0


def _duration(seconds):
    if seconds < MINUTE_SECONDS:
        return f"about {max(round(seconds), 1)} s"
    return f"about {round(seconds / MINUTE_SECONDS)} min"
