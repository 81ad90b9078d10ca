"""Foreign texts, read in a process of their own as the page reads them: the outcome of a reader and
its CPU time.
"""

import os
import resource
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from examples import catalogs

from calc.answers.answer_table import answer
from calc.answers.full_answer import full_answer
from calc.catalogs.checked_documents import document_of
from calc.catalogs.load import with_readings
from calc.catalogs.rooms import READINGS, label_of
from calc.catalogs.strict_yaml import CatalogError
from calc.engine.pipeline import estimate
from calc.files.apart.reader import Reader
from calc.files.csv.tables import read_csv, scenarios_of
from calc.files.door import REFUSALS, UNEXPECTED
from calc.files.oom.explain import explained_logs
from calc.files.request import request_of
from calc.files.request_answer import job_of_request
from calc.files.simulated_models import with_simulated

LONGEST_SENTENCE, LONGEST_QUOTE = 400, 120  # characters of a refusal; of the text inside it
PLAN = {"model": "llama-3.1-8b", "gpu": "a10g"}  # beside which logs are explained
ESTIMATED_ROWS = 20  # of a table


@contextmanager
def reader_of_tests(**variables):
    """A process that reads texts, finds the functions of tests, and has these variables."""
    with pytest.MonkeyPatch.context() as environment:
        here = Path(__file__).parent
        paths = os.pathsep.join([str(here), str(here / "files")])
        for name, value in {"PYTHONPATH": paths, **variables}.items():
            environment.setenv(name, value)
        started = Reader(catalogs())
    yield started
    started.close()


class Figure(NamedTuple):
    """A row of a result: its problem, and its memory. [B]"""

    problem: str
    memory_bytes: float


class Outcome(NamedTuple):
    """The value of a reader or the sentence of its refusal, and the CPU time of both. [s]"""

    value: Any
    refusal: str
    cpu_seconds: float


def outcome_of(function: Any, *arguments: Any) -> Outcome:
    """The outcome of a reader in this process; raises whatever is no refusal."""
    value, refusal, begun = None, "", _cpu_seconds()
    try:
        value = function(*arguments)
    except REFUSALS as error:
        refusal = str(error)
    return Outcome(value, refusal, _cpu_seconds() - begun)


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def kinds_of(documents, catalogs):
    """The kinds of documents (name, bytes) as a request."""
    return request_of(documents, catalogs).kinds


def figures_of(documents, catalogs):
    """The results of documents (name, bytes): of a run, of the job of a link, beside a log."""
    request = request_of(documents, catalogs)
    if request.logs:
        row = estimate(PLAN, request.catalogs, solve=False)
        return [_figure(explained_logs(list(request.logs), row, request.catalogs).row)]
    if request.run:
        return [_figure(request.run.row)]
    if "link" in request.kinds:
        ranked = full_answer(job_of_request(request), request.catalogs)
        return [_figure(ranked.rows[0])]
    if request.models:
        row = estimate({"model": next(iter(request.models))}, request.catalogs, solve=False)
        return [_figure(row)]
    return []


def figures_of_table(content, catalogs):
    """The results of the first rows of a CSV of scenarios."""
    table, _ = scenarios_of(read_csv(content), "the file")
    return _figures(estimate(table.head(ESTIMATED_ROWS), catalogs, solve=False))


def figures_of_jobs(content, catalogs):
    """The best option of the first job of a CSV of jobs."""
    return _figures(answer(read_csv(content).head(1), catalogs).head(1))


def figures_of_folder(folder, catalogs):
    """The results of one's own models in a folder, and the sentence of each that is left out."""
    extended = with_simulated(catalogs, folder)
    rows = [
        estimate({"model": model}, extended, solve=False)
        for model in extended.models.index.difference(catalogs.models.index)
    ]
    return [*map(_figure, rows), *(Figure(sentence, 0) for sentence in extended.left_out)]


def figures_of_readings(content, catalogs):
    """A result that rests on the readings of a calibration.yaml."""
    document = document_of(content, READINGS, label_of(READINGS))
    entries = document[READINGS]
    if not isinstance(entries, dict):
        raise CatalogError("The readings are no mapping; write an entry for each.")
    return [_figure(estimate(PLAN, with_readings(catalogs, entries), solve=False))]


def _figures(results):
    return [_figure(row) for row in results.to_dict("records")]


def _figure(row):
    return Figure(row["problem"], float(row["memory_bytes"]))


def check_sentence(sentence, text=""):
    """Assert that a refusal is one short sentence that any reader but the door has written."""
    assert "\n" not in sentence, sentence
    assert sentence.endswith("."), sentence
    assert len(sentence) <= LONGEST_SENTENCE, sentence
    assert not sentence.startswith(UNEXPECTED.partition("{")[0]), sentence
    longest = LONGEST_QUOTE + 1
    windows = (sentence[start : start + longest] for start in range(len(sentence) - LONGEST_QUOTE))
    assert not any(window in text for window in windows), sentence


def check_figure(figure):
    """Assert that a row has its memory or one sentence."""
    if figure.problem:
        assert figure.problem.endswith((".", "?")), figure
        assert "\n" not in figure.problem, figure
    else:
        assert 0 < figure.memory_bytes < float("inf"), figure
