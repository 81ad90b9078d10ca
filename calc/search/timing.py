"""The time of layouts on places, and what interruptions of spot add to it."""

from collections.abc import Callable

import numpy as np

from calc.cost.job import JOB_READS
from calc.cost.spot import UNTIL_OVERHEAD
from calc.engine.stages import EMPTY, HITS, OTHERS_READ, TIME, TURNS, TURNS_AT_HITS, makes
from calc.layout_place_table import ONE, PLACE, WAY, LayoutPlaceTable, needed
from calc.speed.conversations import HIT_RATIOS

TIMED = (  # what is known of the time of a candidate, and what its cost reads
    "step_tokens",
    "time_to_first_token_seconds",
    "added_prompt_seconds",
    "first_token_high_ratio",
    *sorted(JOB_READS.intersection(makes(TIME))),
)


def add_time(
    pair_table: LayoutPlaceTable,
    work: str,
    wanted: tuple[str, ...],
    before: tuple[Callable, ...] = (),
) -> None:
    """Add the wanted columns of time; those of the other kind of work are empty. [s]

    `before`: formulas whose columns are computed again for the formulas of time.
    """
    of_work = [stage for stage in TIME if stage.work in ("", work)]
    for stage in TIME:
        if stage not in of_work:
            for name in {
                *OTHERS_READ[stage.name],
                *(name for name in wanted if name in {made.__name__ for made in stage.formulas}),
            }:
                pair_table.set(name, ONE, EMPTY)
    formulas = (*before, *(formula for stage in of_work for formula in stage.formulas))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        _add_turns_at_hits(pair_table, formulas)
        pair_table.evaluate_all(needed(formulas, wanted))


def has_turns(pair_table: LayoutPlaceTable) -> bool:
    """Return whether any row has conversations of several turns."""
    return bool(np.any(pair_table.columns["turns"][1] > 1))


def _add_turns_at_hits(pair_table: LayoutPlaceTable, formulas: tuple[Callable, ...]) -> None:
    """Add the rate of turns of conversations at given hits, from which the hits follow."""
    pair_table.set(TURNS_AT_HITS, ONE, np.full((1, 1), np.nan))
    if not has_turns(pair_table):
        return
    others = tuple(formula for formula in formulas if formula.__name__ != HITS)
    rates = []
    for ratio in HIT_RATIOS:
        pair_table.set(HITS, ONE, np.full(1, ratio))
        pair_table.evaluate_all(needed(others, (TURNS,)))
        level, values = pair_table.columns[TURNS]
        rates.append(values)
    pair_table.set(TURNS_AT_HITS, level, np.stack(rates))


def spot_overhead(pair_table: LayoutPlaceTable, band_interruption_ratio: np.ndarray) -> np.ndarray:
    """Time that interruptions add, at a place's share of instances taken back. [ratio]"""
    pair_table.set("band_interruption_ratio", PLACE, band_interruption_ratio)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        pair_table.evaluate_all(UNTIL_OVERHEAD)
    return np.asarray(pair_table.column("spot_overhead_ratio", WAY))
