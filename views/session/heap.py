"""Memory that a page freed goes back to the system, a moment after the page is drawn.

Beside many sessions at once the C library keeps what they freed: several times what they need. Only
the library of Linux (glibc) is wake_up; others return memory themselves.
"""

import ctypes
import sys
import time
from functools import lru_cache
from threading import Event, Thread

LEAST_SECONDS = 2.0  # between two returns


def give_back() -> None:
    """Return freed memory to the system soon; the caller does not wait."""
    _wake_up().set()


@lru_cache(maxsize=1)
def _wake_up() -> Event:
    """Return the event that wakes the server's one thread that returns memory."""
    wake_up = Event()
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        Thread(target=_return_often, args=(wake_up, library), name="heap", daemon=True).start()
    return wake_up


def _return_often(wake_up: Event, library: ctypes.CDLL) -> None:
    """Return free memory to the system after each wake-up, at most once in a while."""
    while wake_up.wait():
        wake_up.clear()
        library.malloc_trim(0)
        time.sleep(LEAST_SECONDS)
