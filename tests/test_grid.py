"""No number changes unnoticed: what moved against the recorded grid fails here and is said at the end of the run."""

import grid
from examples import catalogs

from calc import estimate


def test_nothing_moved(record_property):
    """A wanted change is recorded anew in its commit: python tests/grid.py --record."""
    given, before = grid.recorded()
    changes = grid.moved(before, estimate(given, catalogs()))
    said = grid.summary(changes, len(given))
    record_property("moved", said)
    assert changes.empty, said


def test_a_change_is_seen_with_its_group_and_its_size():
    given, before = grid.recorded()
    after = before.copy()
    row = int(before["memory_bytes"].gt(0).to_numpy().argmax())
    after.loc[row, "memory_bytes"] *= 1.5
    after.loc[row, "peak_phase"] = "never"
    after.loc[row + 1, "weights_bytes"] *= 1 + 1e-14
    changes = grid.moved(before, after)
    assert changes[["row", "column"]].to_numpy().tolist() == [[row, "memory_bytes"], [row, "peak_phase"]]
    said = grid.summary(changes, len(given))
    assert said.startswith(f"Recorded grid: 2 results of 1 of {len(given):,} scenarios moved.")
    assert "memory_bytes: 1, most in training, full, transformers; largest 0.5 (row " in said
