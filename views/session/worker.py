"""Processes beside the server that answer jobs, so that no page waits for another's job.

The server starts them once it is up. All questions about one job go to the same process, which has
its layouts and places at hand. A process of its own, started with the first such job, works out
large jobs, one at a time. Where no process is ready, or one has ended, the server does the
work itself.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from signal import SIG_IGN, SIGINT, signal
from threading import Lock, Thread
from typing import Any, NamedTuple
from zlib import crc32

from calc import CatalogError
from calc.answers.full_answer import Answer, full_answer
from calc.catalogs.load import Catalogs
from calc.job.fields import job_of
from calc.mappings import Arguments, Cells
from views.session.catalogs import base_catalogs, read_ahead
from views.session.heap import give_back
from views.session.job_state import first_visit
from views.session.recent_results import recent_result

MANY_INSTANCES = 100  # allowed, from which a job can take seconds
WORKERS = 2  # for ordinary jobs: a quick one need not wait for one that takes seconds
LARGE = -1  # the number of the worker for large jobs


class OtherCatalogsError(LookupError):
    """The files have changed since the session read them."""


class Worker(NamedTuple):
    """A process beside the server, and what is done once it has read the catalogs."""

    pool: ProcessPoolExecutor
    reading: Future


_workers: dict[int, Worker] = {}
_starting = Lock()


def start_workers() -> None:
    """Start the processes for ordinary jobs in the background."""
    for number in range(WORKERS):
        _running_worker(number)


def is_large(job: Cells) -> bool:
    """Return whether a job has so many candidates that it takes seconds and much memory.

    It may take hundreds of instances, or it generates an amount of tokens, at any batch size.
    """
    return bool(job.get("tokens_total")) or float(job.get("instances_most") or 0) > MANY_INSTANCES


def options(job: Cells, catalogs: Catalogs) -> Answer:
    """The options of a job, computed beside the server."""
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
    """Return a function's result for a job, from the process that knows the job."""
    worker = _worker_of(job) if catalogs is base_catalogs() else None
    if worker:
        try:
            return worker.pool.submit(
                _work_out, catalogs.version, function, arguments, named
            ).result()
        except BrokenProcessPool:
            _replace(worker)
        except OtherCatalogsError:
            pass
    return function(*arguments, catalogs=catalogs, **named)


def begin_in_worker(
    job: Cells,
    catalogs: Catalogs,
    is_own: bool,
    function: Callable[..., Any],
    *arguments: Any,
) -> Future | None:
    """Begin a function for a job and return its future; None while no process is ready.

    `is_own`: in the process that answers the job's questions; else in the next one, so that these
    do not wait.
    """
    worker = _worker_of(job, 0 if is_own else 1) if catalogs is base_catalogs() else None
    if worker is None:
        return None
    try:
        return worker.pool.submit(_work_out, catalogs.version, function, arguments, {})
    except BrokenProcessPool:
        _replace(worker)
        return None


def wait_until_ready() -> None:
    """Wait until the processes for ordinary jobs have read the catalogs."""
    for worker in list(_workers.values()):
        worker.reading.exception()


def _worker_of(job: Cells, step: int = 0) -> Worker | None:
    """The process for a job, or one so many after it; None until it has read the catalogs.

    A large job has a single process.
    """
    if is_large(job):
        return None if step else _running_worker(LARGE)
    worker = _workers.get((crc32(repr(job).encode()) + step) % WORKERS)
    return worker if worker and worker.reading.done() else None


def _running_worker(number: int) -> Worker:
    """Return the worker of a number, started if it is not."""
    with _starting:
        if number not in _workers:
            pool = ProcessPoolExecutor(1, get_context("spawn"), _begin)
            _workers[number] = Worker(pool, pool.submit(_read))
        return _workers[number]


def _replace(ended: Worker) -> None:
    """Start a process in place of one that has ended; that for large jobs only when needed."""
    with _starting:
        numbers = [number for number, worker in _workers.items() if worker is ended]
        for number in numbers:
            del _workers[number]
    for number in numbers:
        if number != LARGE:
            _running_worker(number)


def _begin() -> None:
    """The process leaves the keyboard to the server, and ends with it."""
    signal(SIGINT, SIG_IGN)
    Thread(target=_end_with_server, daemon=True).start()


def _end_with_server() -> None:
    """End this process when the server ends."""
    if server := parent_process():
        server.join()
        os._exit(0)


def _read() -> None:
    """Read the catalogs and answer a first job, after which others are quick."""
    full_answer(job_of(first_visit(), {}), read_ahead())


def _work_out(
    version: str, function: Callable[..., Any], arguments: tuple, named: Arguments
) -> Any:
    """Work out a function here, on the catalogs that the session uses."""
    try:
        catalogs = read_ahead()
    except CatalogError as error:
        raise OtherCatalogsError from error
    if catalogs.version != version:
        raise OtherCatalogsError
    try:
        return function(*arguments, catalogs=catalogs, **named)
    finally:
        give_back()
