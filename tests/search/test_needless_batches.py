"""Batches that another one beats on the same cards: the best plans hardly move without them."""

import numpy as np
import pytest

from calc.job.cells import JobRow
from calc.search import search_results
from calc.search.ranking import frontier
from calc.search.rankings import _recent_results, ranked_candidates

PLACES = {"goal": "serve", "instance": ["g5.xlarge", "g6e.12xlarge", "p5.48xlarge"]}
ANSWERS = PLACES | {"model": "llama-3.2-1b", "sequence_tokens": 2048, "prompt_tokens": 1536}
JOBS = {
    "long answers": ANSWERS | {"tokens_total": 3e9},
    "a deadline": ANSWERS | {"tokens_total": 3e10, "hours_most": 12},
    "few requests": ANSWERS | {"tokens_total": 1e6},
    "an encoder": PLACES | {"model": "bge-m3", "sequence_tokens": 4096, "tokens_total": 1e9},
}


@pytest.mark.parametrize("name", JOBS)
def test_the_best_plans_are_those_of_all_batches(catalogs, monkeypatch, name):
    few, few_best = _best_plans(JOBS[name], catalogs)
    monkeypatch.setattr(search_results, "without_needless_batches", lambda shared, *_: shared)
    every, best = _best_plans(JOBS[name], catalogs)
    assert len(few) < 0.6 * len(every)
    np.testing.assert_allclose(few_best, best, rtol=1e-3)


def test_batches_that_a_job_compares_all_stay(catalogs):
    ranked, _ = ranked_candidates(JobRow.of(JOBS["long answers"] | {"batch": [1, 64]}), catalogs)
    assert ranked is not None
    assert {*ranked.candidates.batch} == {1, 64}


def _best_plans(job, catalogs):
    """Return all candidates of a job, and USD and hours of those that no other beats in both."""
    _recent_results(catalogs).cache_clear()
    ranked, _ = ranked_candidates(JobRow.of(job), catalogs)
    _recent_results(catalogs).cache_clear()
    candidates = ranked.candidates
    best = frontier(candidates, ranked.qualifying)
    return candidates, np.array([candidates.usd[best], candidates.hours[best]])
