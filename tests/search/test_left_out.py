"""Trainings that a search leaves out because no limit or tie prefers them: no answer changes."""

from dataclasses import fields

import numpy as np
import pytest

from calc.job.cells import JobRow
from calc.search import rankings, search_results
from calc.search.best_answers import answers
from calc.search.candidates import Candidates
from calc.search.pareto_front import is_beaten

RUN = {"goal": "train", "model": "llama-3.2-1b", "run_tokens": 1e9, "instances_most": 4}
JOBS = {
    "a run": RUN,
    "tuning": {
        "goal": "tune",
        "model": "llama-3.1-8b",
        "method": "full",
        "instance": "p4d.24xlarge",
    },
    "a deadline": RUN | {"hours_most": 6},
    "a sure deadline": RUN | {"hours_most": 6, "confidence": "95"},
    "on Spot": RUN | {"markets": "spot"},
    "a deadline too short": RUN | {"hours_most": 0.2, "instance": "g6e.12xlarge"},
}


def ranked(job, catalogs):
    """The ranking of a job, searched anew."""
    rankings._recent_results(catalogs).cache_clear()
    found, _ = rankings.ranked_candidates(JobRow.of(job), catalogs)
    assert found is not None
    return found


def named(found):
    """The figures of each answer that is named."""
    names = sorted({field.name for field in fields(Candidates)} - {"pair_number", "layout_number"})
    if not len(found.qualifying):
        return {}
    return {
        name: [float(getattr(found.candidates, column)[number]) for column in names]
        for name, number in answers(found).items()
    }


@pytest.mark.parametrize("name", JOBS)
def test_answers_stay_without_the_trainings_that_never_win(catalogs, monkeypatch, name):
    few = ranked(JOBS[name], catalogs)
    monkeypatch.setattr(search_results, "on_the_front", lambda candidates, _: candidates)
    every = ranked(JOBS[name], catalogs)
    assert len(few.candidates) < 0.75 * len(every.candidates)
    of_few, of_every = named(few), named(every)
    assert of_few.keys() == of_every.keys()
    for answer, figures in of_every.items():
        np.testing.assert_allclose(of_few[answer], figures, rtol=1e-9, err_msg=answer)


def test_only_what_is_clearly_slower_on_average_and_at_worst_is_beaten():
    mean = np.log([1.0, 1.01, 1.5, 1.5, 2.0, 9.0])
    slow = np.log([2.0, 2.00, 1.9, 2.5, 1.8, 9.0])
    group = np.array([0, 0, 0, 0, 0, 1])  # the last has no other in its group
    assert is_beaten(mean, slow, group).tolist() == [False, False, False, True, False, False]
    backwards = is_beaten(mean[::-1], slow[::-1], group[::-1])
    assert backwards.tolist() == [False, False, True, False, False, False]


def test_of_a_few_parts_the_same_remain_as_of_all_at_once():
    """A search goes through its pairs in parts, which must not decide what remains."""
    draw = np.random.default_rng(7)
    mean, slow = draw.normal(0, 0.1, (2, 400))
    group = draw.integers(0, 5, 400)
    at_once = np.flatnonzero(~is_beaten(mean, slow, group))
    remain = np.concatenate(
        [
            part[~is_beaten(mean[part], slow[part], group[part])]
            for part in np.split(np.arange(400), 4)
        ]
    )
    in_parts = remain[~is_beaten(mean[remain], slow[remain], group[remain])]
    assert in_parts.tolist() == at_once.tolist()


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


@pytest.mark.parametrize("name", ["a run", "tuning", "a deadline"])
def test_answers_stay_without_needless_recompute(catalogs, keep_all, name):
    job = JOBS[name]
    few = ranked(job, catalogs)
    keep_all()
    every = ranked(job, catalogs)
    assert len(few.candidates) < 0.8 * len(every.candidates)
    of_few, of_every = named(few), named(every)
    assert of_few.keys() == of_every.keys()
    for answer, figures in of_every.items():
        np.testing.assert_allclose(of_few[answer], figures, rtol=1e-9, err_msg=answer)


@pytest.mark.parametrize("wanted", [{"recompute": ["none", "full"]}, {"answers": "roomiest"}])
def test_a_job_that_compares_recompute_or_asks_for_room_keeps_all(catalogs, keep_all, wanted):
    kept = ranked(RUN | wanted, catalogs)
    keep_all()
    assert len(kept.candidates) == len(ranked(RUN | wanted, catalogs).candidates)
