"""`python -m calc estimate 'many-*.parquet' -o results/`: many files, here or on a cluster.

A part is written under its final name once it is complete, so the same part again, after a worker
was lost, replaces a file by an equal one. Workers take the catalogs from a file beside the results.
Source: distributed 2026.8.0, client.py (Client.map, as_completed), scheduler.py
(Scheduler.remove_worker, KilledWorker).
"""

import logging
import pickle
import socket
import sys
from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError
from dataclasses import replace
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.command import INTERRUPTED, UNUSABLE
from calc.commands.progress import Progress
from calc.engine.pipeline import estimate
from calc.files.csv.tables import as_written
from calc.files.parts import Part, parts_of_files, tables_of, write_part
from calc.files.streams import read, replacing_stream
from calc.scenarios.problems import TableError
from calc.versions import formulas_version

CHUNK_ROWS = 60_000
ANSWER_SECONDS, RETRIES = 10, 2
WORKERS_LOST = (
    "{} has no results (every worker that took it was lost, most likely for want of memory; give "
    "workers more, or cut the file)."
)
MISSING = (
    "--cluster needs the package distributed, which is not installed: make .venv/ready-cluster."
)
Columns = list[str] | None


class Outcome(NamedTuple):
    """The outcome of a part: its rows, sentences about them, and why it has no results."""

    rows: int = 0
    sentences: tuple[str, ...] = ()
    fault: str = ""


def results_as_written(table: pd.DataFrame, catalogs: Catalogs, columns: Columns) -> pd.DataFrame:
    """Return the results of a table as they are written: all, or `columns` and the problem."""
    return as_written(estimate(table, catalogs, columns=columns and [*columns, "problem"]), table)


def estimate_files(
    pattern: str, folder: str, columns: Columns, cluster: str, catalogs: Catalogs
) -> int:
    """Write the results of every file that matches, here or on a cluster; say which have none."""
    if cluster and not find_spec("distributed"):
        raise TableError(MISSING)
    parts = parts_of_files(pattern, folder)
    outcomes = (
        _on_cluster(parts, columns, catalogs, cluster, Path(folder))
        if cluster
        else (_estimate_part(part, columns, catalogs) for part in parts)
    )
    progress = Progress("rows")
    rows_done = 0
    sentences = {""}
    try:
        for outcome in outcomes:
            for sentence in (*outcome.sentences, outcome.fault):
                if sentence not in sentences:
                    print(sentence, file=sys.stderr)
                    sentences.add(sentence)
            rows_done += not outcome.fault
            progress.add(outcome.rows, f", {rows_done} of {len(parts)} parts")
    except KeyboardInterrupt:
        print(f"Interrupted; {rows_done} of {len(parts)} parts are in {folder}.", file=sys.stderr)
        return INTERRUPTED
    finally:
        outcomes.close()
        progress.close()
    print(f"{progress}; {rows_done} of {len(parts)} parts are in {folder}.", file=sys.stderr)
    return 0 if rows_done == len(parts) else UNUSABLE


def _estimate_part(part: Part, columns: Columns, catalogs: Catalogs) -> Outcome:
    """Write the results of a part, table by table."""
    counts: list[int] = []

    def results() -> Iterator[pd.DataFrame]:
        for table in tables_of(part, CHUNK_ROWS):
            counts.append(len(table))
            yield results_as_written(table, catalogs, columns)

    try:
        write_part(part, results())
    except TableError as error:
        return Outcome(fault=str(error))
    return Outcome(sum(counts))


def _on_cluster(
    parts: list[Part], columns: Columns, catalogs: Catalogs, address: str, folder: Path
) -> Generator[Outcome, None, None]:
    """The outcomes of the parts in the order in which workers finish them. Raises TableError."""
    from distributed import KilledWorker, as_completed

    catalogs_path = folder.resolve() / ".catalogs"
    with _client(address) as client:
        try:
            with replacing_stream(str(catalogs_path), binary=True) as target:
                pickle.dump(replace(catalogs, base=None), target)
            futures = client.map(
                _part_on_worker,
                parts,
                pure=False,
                retries=RETRIES,
                columns=columns,
                shared=str(catalogs_path),
                release=release_here(),
            )
            sources = {future.key: part.source for future, part in zip(futures, parts, strict=True)}
            finished = as_completed(futures)
            # a future that is held would be computed again where the worker that holds its result
            # is lost
            del futures
            for future in finished:
                try:
                    yield future.result()
                except KilledWorker:
                    yield Outcome(fault=WORKERS_LOST.format(sources[future.key]))
        except CancelledError:
            raise TableError(
                f"The scheduler at {address} was lost; start it again, and the run into a "
                f"new folder."
            ) from None
        finally:
            for path in folder.rglob(".*"):  # the catalogs, and what lost workers had begun
                path.unlink(missing_ok=True)


def _client(address: str) -> Any:
    """A connection to a scheduler that has workers. Raises TableError."""
    from distributed import Client

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=ANSWER_SECONDS)
    except Exception:  # no port, no such host, nobody there, or somebody else
        raise TableError(
            f"No Dask scheduler answers at {address}; start one (make cluster), or check the "
            f"address."
        ) from None
    try:
        client.wait_for_workers(1, timeout=ANSWER_SECONDS)
    except TimeoutError:
        client.close()
        raise TableError(
            f"The scheduler at {address} has no workers; start some: python -m dask worker "
            f"{address}"
        ) from None
    # A worker that cannot read its task would try for ever.
    specs = client.run(find_spec, __name__, on_error="return")
    if without := next(
        (worker for worker, spec in specs.items() if not isinstance(spec, ModuleSpec)), ""
    ):
        client.close()
        raise TableError(
            f"The worker at {without} cannot import this release of Headroom; start it in "
            f"Headroom's folder there."
        )
    return client


def _part_on_worker(part: Part, columns: Columns, shared: str, release: str) -> Outcome:
    """Estimate a part on a worker; raise TableError if its release differs from the client's."""
    return _estimate_part(part, columns, _shared_catalogs(shared, release))


def release_here() -> str:
    """Return what must be equal on every machine that estimates parts."""
    return f"formulas {formulas_version()}, pandas {pd.__version__}"


@lru_cache(1)
def _shared_catalogs(path: str, release: str) -> Catalogs:
    """The catalogs that the client wrote to a shared folder; refuse those of another release."""
    if release_here() != release:
        raise TableError(
            f"The worker on {socket.gethostname()} has {release_here()}, the client "
            f"{release}; install the same release there."
        )
    try:
        with read(path) as stream:
            return pickle.load(stream)
    except OSError:
        raise TableError(
            f"The worker on {socket.gethostname()} has no {path}; workers need the same "
            f"folders under the same paths."
        ) from None
