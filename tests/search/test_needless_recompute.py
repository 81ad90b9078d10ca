"""Layouts that recompute more than they need are left out, and no answer changes for it."""

from dataclasses import fields

import numpy as np
import pytest

from calc.job.cells import JobRow
from calc.search import rankings, search_results
from calc.search.best_answers import answers
from calc.search.candidates import Candidates

RUN = {"goal": "train", "model": "llama-3.2-1b", "run_tokens": 1e9, "instances_most": 2}
TUNING = {"goal": "tune", "model": "llama-3.1-8b", "method": "full", "instance": "p4d.24xlarge"}
LIMITED = RUN | {"hours_most": 12}


def ranked(job, catalogs):
    """The ranking of a job, searched anew."""
    rankings._recent_results(catalogs).cache_clear()
    found, _ = rankings.ranked_candidates(JobRow.of(job), catalogs)
    assert found is not None
    return found


def named(found):
    """The figures of each answer that is named."""
    names = sorted({field.name for field in fields(Candidates)} - {"pair_number", "layout_number"})
    return {
        name: [float(getattr(found.candidates, column)[number]) for column in names]
        for name, number in answers(found).items()
    }


@pytest.fixture
def keep_all(monkeypatch):
    """Make the search keep every layout."""

    def keep():
        monkeypatch.setattr(
            search_results,
            "needs_recompute",
            lambda pairs, *_: np.ones(len(pairs.layout_of_pair), dtype=bool),
        )

    return keep


@pytest.mark.parametrize("job", [RUN, TUNING, LIMITED], ids=["a run", "tuning", "a deadline"])
def test_answers_stay_without_needless_recompute(catalogs, keep_all, job):
    few = ranked(job, catalogs)
    keep_all()
    every = ranked(job, catalogs)
    assert len(few.candidates) < 0.8 * len(every.candidates)
    of_few, of_every = named(few), named(every)
    assert of_few.keys() == of_every.keys()
    for name, figures in of_every.items():
        np.testing.assert_allclose(of_few[name], figures, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("wanted", [{"recompute": ["none", "full"]}, {"answers": "roomiest"}])
def test_a_job_that_compares_recompute_or_asks_for_room_keeps_all(catalogs, keep_all, wanted):
    kept = ranked(RUN | wanted, catalogs)
    keep_all()
    assert len(kept.candidates) == len(ranked(RUN | wanted, catalogs).candidates)
