"""Large jobs are worked out by one process beside the server, and nobody waits for them.

It starts with the first such job and takes as much memory as a server does; when it ends, the
server does the work itself.
"""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import get_context, parent_process
from signal import SIG_IGN, SIGINT, signal
from threading import Thread
from typing import Any

from calc.answers.full_answer import Answer, full_answer
from calc.catalogs.load import Catalogs
from calc.mappings import Arguments, Cells
from views.session.catalogs import base_catalogs, read_ahead
from views.session.recent_results import recent_result

MANY_INSTANCES = 100  # allowed, from which a job can take seconds


class OtherCatalogsError(LookupError):
    """The files have changed since the session read them."""


def is_large(job: Cells) -> bool:
    """Whether a job may take hundreds of instances."""
    return float(job.get("instances_most") or 0) > MANY_INSTANCES


def options(job: Cells, catalogs: Catalogs) -> Answer:
    """The options of a job, those of a large one from beside the server."""
    if not is_large(job):
        return full_answer(job, catalogs)
    return recent_result(
        "options", (job, catalogs.version), lambda: in_worker(job, catalogs, full_answer, job)
    ).copied()


def in_worker(
    job: Cells,
    catalogs: Catalogs,
    function: Callable[..., Any],
    *arguments: Any,
    **named: Any,
) -> Any:
    """What a function of the catalogs makes, for a large job in the process beside the server."""
    if is_large(job) and catalogs is base_catalogs():
        try:
            return (
                _worker().submit(_work_out, catalogs.version, function, arguments, named).result()
            )
        except BrokenProcessPool:
            _worker.cache_clear()
        except OtherCatalogsError:
            pass
    return function(*arguments, catalogs=catalogs, **named)


@lru_cache(maxsize=1)
def _worker() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), _begin)


def _begin() -> None:
    """The process leaves the keyboard to the server, and ends with it."""
    signal(SIGINT, SIG_IGN)
    Thread(target=_end_with_server, daemon=True).start()


def _end_with_server() -> None:
    if server := parent_process():
        server.join()
        os._exit(0)


def _work_out(
    version: str, function: Callable[..., Any], arguments: tuple, named: Arguments
) -> Any:
    catalogs = read_ahead()
    if catalogs.version != version:
        raise OtherCatalogsError
    return function(*arguments, catalogs=catalogs, **named)
