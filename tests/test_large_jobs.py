"""Jobs with many instances: every count where it matters, in parts that give what the whole gives."""

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

from calc.search import combinations
from calc.search.arrangements import EVERY_COUNT
from calc.search.grid import grid
from calc.search.job_row import JobRow
from calc.search.options import _combinations_of, options_of
from calc.search.places import places_of
from calc.search.settle import settled

TRAINED = {"model": "llama-3.2-1b", "instance": ["p5.48xlarge", "g6e.xlarge"], "sequence_tokens": 2048}


def tried_instances(catalogs, most):
    """Instances of 8 GPUs that a training is tried on."""
    job = settled(TRAINED | {"instances_most": most}, catalogs)
    places = places_of(job, catalogs, 1)
    tried = grid(job, places, catalogs)
    of_eight = [number for number, place in enumerate(places) if place.instance == "p5.48xlarge"]
    gpus = np.broadcast_to(tried.layouts["gpus"], tried.size)[tried.layout[np.isin(tried.place, of_eight)]]
    return sorted({int(count) // 8 for count in gpus if count % 8 == 0})


@pytest.mark.parametrize("most", [1, 64, 100, 512])
def test_every_count_is_tried_up_to_64_and_the_most_always(catalogs, most):
    counts = tried_instances(catalogs, most)
    assert set(counts) >= {*range(1, min(most, EVERY_COUNT) + 1), most}
    assert max(counts) == most
    beyond = np.array(counts[EVERY_COUNT - 1 :], dtype=float)
    assert np.all(beyond[1:] / beyond[:-1] <= 1 + 1 / 16 + 1e-9)


def anew(catalogs):
    """The combinations of a job, kept by nobody."""
    return lambda row: _combinations_of(row, catalogs)


@pytest.mark.parametrize("job", [TRAINED, {"work": "inference", "model": "llama-3.2-1b", "requests_per_second": 4, "fewest_bits": 8}])
def test_a_job_in_parts_has_the_options_of_the_whole(monkeypatch, catalogs, job):
    row = JobRow.of(job)
    whole = options_of(row, catalogs)
    monkeypatch.setattr(combinations, "PAIRS_AT_ONCE", 997)
    monkeypatch.setattr("calc.search.options._combined", anew)
    parts = options_of(row, catalogs)
    assert (parts.tried, parts.possible) == (whole.tried, whole.possible)
    for name in ("answers", "board", "edge"):
        assert_frame_equal(getattr(parts, name), getattr(whole, name))
