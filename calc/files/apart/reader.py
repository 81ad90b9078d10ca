"""Runs a reader of foreign text in a process of its own, which may be canceled."""

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import BoundedSemaphore, Lock, Thread
from typing import Any

from calc.catalogs.load import Catalogs
from calc.files.apart.messages import pack, receive, send, unpack
from calc.files.door import ReadingProblem

ROOT = Path(__file__).resolve().parents[3]
PROCESS = "calc.files.apart.process"
AT_ONCE = 4  # texts of all sessions; others wait for their turn
PATIENCE_SECONDS = 40  # for a turn, and for an answer: ten seconds of CPU time on a busy machine
LOOK_SECONDS = 0.1  # how often the caller may cancel
STOPPED = (
    "Reading this text took more than 10 s of processor time or 1 GB of memory, so it was stopped; "
    "give the config, the command or the last lines of the log alone."
)
BUSY = "Many other texts are being read at this moment; try again in a minute."
RESTARTED = "The reader of texts has just been started anew; try again."
# A process with threads must not fork.
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
CAN_FORK = hasattr(os, "fork")


class BusyProblem(ReadingProblem):
    """The text was not read, and may be at another moment."""


class Reader:
    """One loaded process for these catalogs; each text is read in a child of it."""

    def __init__(self, catalogs: Catalogs) -> None:
        self.catalogs = catalogs
        self._turns, self._lock = BoundedSemaphore(AT_ONCE), Lock()
        self._control, theirs = socket.socketpair()
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        with theirs, tempfile.TemporaryFile() as content:
            content.write(pack(catalogs))
            content.seek(0)
            self._process = subprocess.Popen(
                [sys.executable, "-m", PROCESS, str(theirs.fileno())],
                stdin=content,
                pass_fds=[theirs.fileno()],
                env={
                    **os.environ,
                    **ONE_THREAD,
                    "PYTHONPATH": paths,
                    "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",  # of macOS, for one thread
                },
            )
        atexit.register(self.close)

    def is_alive(self) -> bool:
        """Return whether its process runs and takes texts."""
        return self._control.fileno() >= 0 and self._process.poll() is None

    def close(self) -> None:
        """End the process; texts that are being read are still answered."""
        self._control.close()
        Thread(target=self._process.wait, daemon=True).start()

    def read(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        on_wait: Callable[[], object] = lambda: None,
        **named: Any,
    ) -> Any:
        """Return what a function of this package reads in a text; raise what it refuses.

        `on_wait` runs every tenth of a second. What it raises cancels the reading.
        """
        message = pack((function, arguments, named), self.catalogs)
        end = time.monotonic() + PATIENCE_SECONDS
        while not self._turns.acquire(timeout=LOOK_SECONDS):
            on_wait()
            if time.monotonic() > end:
                raise BusyProblem(BUSY)
        try:
            is_answer, value = self._answer(message, on_wait)
        except (OSError, EOFError, ValueError):  # the child has ended, or was stopped
            if not self.is_alive():
                raise BusyProblem(RESTARTED) from None
            raise ReadingProblem(STOPPED) from None
        finally:
            self._turns.release()
        if not is_answer:
            raise value
        return value

    def _answer(self, message: bytes, on_wait: Callable[[], object]) -> tuple[bool, Any]:
        """The answer of a child to a message; the child ends with this call at the latest."""
        ours, theirs = socket.socketpair()
        end = time.monotonic() + PATIENCE_SECONDS
        pid = 0
        with ours:
            ours.settimeout(PATIENCE_SECONDS)
            with theirs, self._lock:
                socket.send_fds(self._control, [b"r"], [theirs.fileno()])
            try:
                _wait(ours, end, on_wait)
                pid = int.from_bytes(receive(ours))
                send(ours, message)
                _wait(ours, end, on_wait)
                return unpack(receive(ours), self.catalogs)
            except BaseException:
                if pid:  # of a child that has not closed its side
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                raise


def _wait(connection: socket.socket, end: float, on_wait: Callable[[], object]) -> None:
    """Wait until the other side says something; raises TimeoutError after the end."""
    waiting = select.poll()
    waiting.register(connection, select.POLLIN)
    while not waiting.poll(1e3 * LOOK_SECONDS):
        on_wait()
        if time.monotonic() > end:
            raise TimeoutError
