"""The plan on screen as scenarios with their estimates and the one that answers it, for the pages that start from it."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pandas as pd

from calc.plan import ranking, scaling
from calc.search.space import USUAL_TRAIN_TOKENS
from views.session import plan_state


class Present(NamedTuple):
    """The plan's scenarios, best first; the row that answers it, with its inputs; whether the run's length is ours.

    `evaluate` estimates all of them again with the largest batch and sequence solved.
    """

    ranked: pd.DataFrame
    answer: dict
    row: dict
    scenario: dict
    market: str
    period: str
    assumes_tokens: bool
    evaluate: Callable


def present(catalogs, counts_run=True):
    """What the plan is now; with `counts_run` a run of unknown length counts a billion tokens."""
    now = plan_state.plan()
    chosen = plan_state.scenario_choices(catalogs)
    assumes = counts_run and chosen["work"] == "training" and not chosen["train_tokens"]
    if assumes:
        chosen["train_tokens"] = USUAL_TRAIN_TOKENS
    evaluate = partial(scaling.scenarios, chosen, catalogs, now.layout)
    ranked = ranking.rank(evaluate(solve=False), now.market, now.period)
    answer = ranking.answer(ranked)
    row = answer["row"].to_dict()
    return Present(ranked, answer, row, ranking.scenario_of(row), now.market, now.period, assumes, evaluate)


def at_row(now, row):
    """The present plan with another of its rows in the place of the answer."""
    return now._replace(row=row.to_dict(), scenario=ranking.scenario_of(row))
