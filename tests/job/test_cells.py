"""Cells of a table of jobs as values."""

import pytest

from calc.job.cells import JobError, cell_ids, machines_of

MARKETS = ["on-demand", "spot", "capacity-block"]


@pytest.mark.parametrize("mark", ["+", ",", ", ", " ; ", "|"])
def test_several_values_stand_in_one_cell(mark):
    assert cell_ids("markets", f"on-demand{mark}spot", MARKETS) == ["on-demand", "spot"]
    machines = machines_of(f"8 x h100{mark}2 x p5", ["h100", "p5"])
    assert machines == {"h100": 8, "p5": 2}


def test_an_unknown_value_is_named_with_one_like_it():
    with pytest.raises(JobError, match="'spott' is not known; use spot"):
        cell_ids("markets", "on-demand,spott", MARKETS)
