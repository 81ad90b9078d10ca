"""Memory that a page freed goes back to the system, a moment after the page is drawn.

Beside many sessions at once the C library keeps what they freed: several times what they need. Only
the library of Linux (glibc) is asked; others return memory themselves.
"""

import ctypes
import sys
import time
from functools import lru_cache
from threading import Event, Thread

LEAST_SECONDS = 2.0  # between two returns


def give_back() -> None:
    """Return freed memory to the system soon; the caller does not wait."""
    _asked().set()


@lru_cache(maxsize=1)
def _asked() -> Event:
    """Return the event that wakes the server's one thread that returns memory."""
    asked = Event()
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        Thread(target=_return_often, args=(asked, library), name="heap", daemon=True).start()
    return asked


def _return_often(asked: Event, library: ctypes.CDLL) -> None:
    while asked.wait():
        asked.clear()
        library.malloc_trim(0)
        time.sleep(LEAST_SECONDS)
