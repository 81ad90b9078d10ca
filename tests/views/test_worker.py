"""Jobs are answered beside the server, by other processes, with the same answer; without those
processes by the server.
"""

import os

import pytest

from calc.answers.full_answer import full_answer as answered_here
from views.session import worker
from views.session.catalogs import base_catalogs

pytestmark = pytest.mark.long  # a process starts
JOB = {"model": "llama-3.2-1b", "instances_most": 512, "run_tokens": 1e9}
SMALL_JOB = {"model": "llama-3.2-1b", "run_tokens": 1e9}


def process_of(**_):
    return os.getpid()


def end(**_):
    os._exit(1)


def compute(function):
    return worker.in_worker(JOB, base_catalogs(), function)


def test_a_large_job_is_answered_in_another_process_the_same_whose_end_costs_nothing_but_time(
    monkeypatch,
):
    assert worker.in_worker(SMALL_JOB, base_catalogs(), process_of) == os.getpid()
    assert (first := compute(process_of)) != os.getpid()
    there, here = worker.options(JOB, base_catalogs()), answered_here(JOB, base_catalogs())
    assert (there.job, there.tried, there.problem, there.relaxed) == (
        here.job,
        here.tried,
        here.problem,
        here.relaxed,
    )
    for name in ("answers", "board", "edge"):
        assert getattr(there, name).equals(getattr(here, name))
    with monkeypatch.context() as here_only:
        # What is asked ends the other process, and then runs in this one.
        here_only.setattr(os, "_exit", lambda _: None)
        assert compute(end) is None
    assert compute(process_of) not in (first, os.getpid())


@pytest.mark.bench
def test_questions_about_one_job_go_to_one_process_once_it_has_read_the_catalogs():
    worker.start_workers()
    for started in worker._workers.values():
        started.reading.result()
    try:
        several = {worker.in_worker(SMALL_JOB, base_catalogs(), process_of) for _ in range(3)}
        assert len(several) == 1
        assert os.getpid() not in several
        there = worker.options(SMALL_JOB, base_catalogs())
        assert there.board.equals(answered_here(SMALL_JOB, base_catalogs()).board)
    finally:
        while worker._workers:
            worker._workers.popitem()[1].pool.shutdown()
