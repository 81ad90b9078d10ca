"""Reading of pasted, uploaded or opened texts, one at a time in a process of its own."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.files.apart.reader import CAN_FORK, BusyProblem, Reader
from calc.files.door import REFUSALS, one_sentence
from calc.mappings import Arguments
from views.session.catalogs import base_catalogs
from views.session.recent_results import recent_result

CANCELS_AFTER_SECONDS = 1  # before that, an ordinary text is done
_readers: list[Reader] = []  # none or one, of the catalogs in use
_starting = Lock()


class Outcome(NamedTuple):
    """The outcome of a reader: its result, or the sentence with which it refused."""

    value: Any
    refusal: Exception | None


def read(function: Callable[..., Any], *arguments: Any, catalogs: Catalogs, **named: Any) -> Any:
    """Return a reader's result for a foreign text, read once; raise what it refuses.

    The session waits. When it ends, or its visitor asks for something else, the reading is
    canceled.
    """
    values = [one.version if isinstance(one, Catalogs) else one for one in arguments]
    key = (function.__module__, function.__qualname__, values, named, catalogs.version)
    outcome: Outcome = recent_result("read", key, lambda: _outcome(function, arguments, named))
    if outcome.refusal:
        raise outcome.refusal.with_traceback(None)
    return outcome.value


def _outcome(function: Callable[..., Any], arguments: tuple, named: Arguments) -> Outcome:
    """Read a text in the process for that, or here where none can be started."""
    try:
        if CAN_FORK:
            return Outcome(reader().read(function, *arguments, on_wait=_cancel(), **named), None)
        return Outcome(one_sentence(function)(*arguments, **named), None)
    except BusyProblem:  # not an outcome of the text
        raise
    except REFUSALS as error:
        return Outcome(None, error)


def reader() -> Reader:
    """The reader of the catalogs in use; it starts anew when they change or it has ended."""
    base = base_catalogs()
    with _starting:
        if not (_readers and _readers[0].catalogs is base and _readers[0].is_alive()):
            for earlier in _readers:
                earlier.close()
            _readers[:] = [Reader(base)]
        return _readers[0]


def _cancel() -> Callable[[], object]:
    """Ends the run of a session that is over, or whose visitor has moved on."""
    start = time.monotonic()

    def look() -> None:
        if time.monotonic() - start > CANCELS_AFTER_SECONDS:
            st.session_state.get("pasted")  # where Streamlit ends a run that is over

    return look
