"""The board of Plan: its order and the column of what is compared."""

import pytest
from pages import address, opened, run
from test_plan_page import board

from calc.files.link import link
from calc.search.board import ORDERS, sort_board


@pytest.mark.long
def test_the_board_is_sorted_by_its_switch(shown_options, catalogs):
    app = opened(v="3", model="llama-3.2-3b")
    board(app)
    for by in ORDERS:
        run(app.segmented_control(key="sort").set_value(by))
        rows = sort_board(shown_options[-1].board, by)
        assert board(app)["usd"].to_list() == pytest.approx(rows["usd"].to_list(), nan_ok=True), by
        possible = rows[
            rows["usd"].notna()
            & (rows["fits"] == "yes")
            & (rows["misses"] == "")
            & (rows["runs"] == "yes")
        ]
        values = possible[ORDERS[by].column]
        assert (
            values.is_monotonic_decreasing
            if ORDERS[by].largest_first
            else values.iloc[1:].is_monotonic_increasing
        ), by
        assert possible.index.to_list() == list(range(len(possible)))
        assert address(app)["sort"] == [by]
        assert link.parse(address(app), catalogs)[1] == []


def test_what_is_compared_has_a_column_of_its_own(shown_options):
    app = opened(v="3", model="llama-3.2-1b", optimizer=["adamw", "adamw-8bit"], gpus=["1", "2"])
    shown = board(app)
    assert set(shown["optimizer"]) == {"AdamW", "AdamW 8-bit"}
    assert set(shown["gpus"]) == {"1", "2"}
    assert len(shown) == len(shown_options[-1].board)
