"""No number changes unnoticed: what moved against the recorded grid fails here and is said at the
end of the run.
"""

import grid
import numpy as np
import pytest
from examples import catalogs

from calc import estimate


def test_nothing_moved(record_property):
    """Record an intended change in its own commit:

    PYTHONPATH=. .venv/bin/python tests/grid.py --record
    """
    scenarios, before = grid.recorded()
    changes = grid.moved(before, estimate(scenarios, catalogs()))
    summary = grid.summary(changes, len(scenarios))
    record_property("moved", summary)
    assert changes.empty, summary


def test_a_change_is_seen_with_its_group_and_its_size():
    _, before = grid.recorded()
    after = before.copy()
    row = int(before["memory_bytes"].gt(0).to_numpy().argmax())
    after.loc[row, "memory_bytes"] *= 1.5
    after.loc[row, "peak_phase"] = "never"
    after.loc[row + 1, "weights_bytes"] *= 1 + 1e-14
    changes = grid.moved(before, after)
    assert changes[["row", "column"]].to_numpy().tolist() == [
        [row, "memory_bytes"],
        [row, "peak_phase"],
    ]
    summary = grid.summary(changes, len(before))
    assert summary.startswith(f"Recorded grid: 2 results of 1 of {len(before):,} scenarios moved.")
    assert "memory_bytes: 1, most in training, full, transformers; largest 0.5 (row " in summary


@pytest.mark.parametrize("name", grid.WHOLES)
def test_a_rest_may_move_by_a_last_place_of_its_whole_and_by_no_more(name):
    """Another processor rounds exp otherwise: of an overhead of 1e-5 beside 1 that is a change of
    1e-11.
    """
    _, before = grid.recorded()
    minuend = (
        before[grid.WHOLES[name]]
        if isinstance(grid.WHOLES[name], str)
        else before[name].notna().astype(float)
    )
    rows = before.index[before[name].abs().gt(0) & minuend.gt(0)]
    row = (before.loc[rows, name].abs() / minuend[rows]).idxmin()  # the smallest rest
    last_place, after = np.spacing(minuend[row]), before.copy()
    after.loc[row, name] += 8 * last_place
    assert grid.moved(before, after).empty
    after.loc[row, name] += 10 * grid.TOLERANCE * minuend[row]
    assert grid.moved(before, after)[["row", "column"]].to_numpy().tolist() == [[row, name]]
