"""Jobs that are searched together: each has the candidates that it has alone, in the same order;
a run those that can be its answers.
"""

from dataclasses import fields

import numpy as np
import pytest

from calc.job.cells import JobRow
from calc.search.candidates import Candidates
from calc.search.rankings import ranked_candidates, rankings_of

SERVICE = {"goal": "serve", "model": "llama-3.1-8b", "people": 50, "instance": "g5.12xlarge"}
RUN = {
    "goal": "train",
    "model": "llama-3.2-1b",
    "run_tokens": 1e9,
    "instance": ["g5.12xlarge", "p4d.24xlarge"],
}
# What the others change: limits, markets, places, widths of weights and steps.
CASES = {
    "a service": (
        SERVICE,
        [{}, {"fewest_bits": 4}, {"instances_most": 8}, {"instance": "p5.48xlarge"}],
    ),
    "requests a second": (
        SERVICE | {"people": None, "requests_per_second": 4.0},
        [{}, {"fewest_bits": 8}, {"requests_per_second": 3.0}, {"markets": "on-demand+spot"}],
    ),
    "a run": (
        RUN,
        [{"instance": "g5.12xlarge"}, {}, {"instances_most": 2}, {"step_tokens": 2**20}],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_job_has_the_candidates_that_it_has_alone(catalogs, name):
    job, changes = CASES[name]
    jobs = [job | change for change in changes]
    found = dict(rankings_of(jobs, catalogs))
    assert [*found] == [*range(len(jobs))]
    for number, ranked in found.items():
        alone, _ = ranked_candidates(JobRow.of(jobs[number]), catalogs)
        assert alone is not None
        if ranked.job.trains:
            assert len(ranked.classes) < len(alone.classes)
            alone = alone.only(np.flatnonzero(alone.is_possible))
        np.testing.assert_array_equal(ranked.classes, alone.classes)
        names = {field.name for field in fields(Candidates)}
        for name in names - {"layout_number"}:  # counted on another grid
            one, other = (getattr(each.candidates, name).astype(float) for each in (ranked, alone))
            np.testing.assert_allclose(one, other, rtol=1e-9, err_msg=name)
        assert [place.instance for place in ranked.grid.places] == [
            place.instance for place in alone.grid.places
        ]
