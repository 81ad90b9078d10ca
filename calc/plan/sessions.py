"""Conversations of several turns: a service with and without what its prefix cache has.

The share of turns that find their conversation is the estimate's (calc/speed/conversations.py).
Here the same service is shown for caches of other sizes.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.one_scenario import one_scenario_with_times
from calc.engine.pipeline import estimate
from calc.evaluate import Columns, Row
from calc.scenarios.inputs import ASSUMED, BY_NAME
from calc.scenarios.problems import TableError
from calc.speed.cache_stays import stay_at
from calc.speed.conversations import (
    HIT_RATIOS,
    conversation_hit_ratio,
    unused_pool_tokens,
)
from calc.table import is_missing
from calc.units import HOUR_SECONDS

POOL_RATIOS = (0.125, 0.25, 0.5, 1, 2, 4, 8)  # of the cache, in the table over its size
LEAST_TURNS, MOST_TURNS = 2, 200
LEAST_VARIATION, MOST_VARIATION = 0.1, 5.0
MADE = ("turn_tokens", "reusable_prompt_tokens", "distinct_pool_tokens", "in_flight_tokens")
MEASURES = (
    "first_token_seconds",
    "token_seconds",
    "requests_per_second",
    "sessions",
    "usd_per_million_output_tokens",
)


class Sessions(NamedTuple):
    """Conversations of several turns, with the time between an answer and the next prompt.

    think_variation_ratio: the standard deviation of that time over its mean. 1 is an exponential
    time, as of people who do not wait for each other; 0.5 is a regular one; 2 one of breaks and
    bursts.
    """

    turns: int
    think_seconds: float
    think_variation_ratio: float = 1.0


class SessionPlan(NamedTuple):
    """A service whose conversations reuse what the cache has.

    hit_ratio: turns after the first that find their conversation; reused_tokens: mean tokens of a
    prompt from earlier turns; stay_seconds: how long a conversation stays in the cache. plain,
    cached: without and with reuse, a value of each of MEASURES.
    """

    sessions: Sessions
    hit_ratio: float
    reused_tokens: float
    prompt_tokens: float
    pool_tokens: float
    stay_seconds: float
    plain: dict[str, float]
    cached: dict[str, float]
    by_pool: pd.DataFrame


def session_plan(row: Row, sessions: Sessions, catalogs: Catalogs) -> SessionPlan:
    """The service of a billed row as conversations of several turns; raises TableError."""
    if not row["kv_pool_tokens"] > 0:
        raise TableError(
            f"The cache of {row['implementation']} is not known; plan the service with vllm."
        )
    single = {name: row[name] for name in (*BY_NAME, *ASSUMED) if not is_missing(row[name])}
    single |= {"turns": 1, "reused_prompt_tokens": None}
    several = single | sessions._asdict()
    problem = estimate(several, catalogs, solve=False, columns=("problem",))["problem"]
    if problem:
        raise TableError(str(problem))
    made = one_scenario_with_times(several, catalogs)
    numbers = {name: float(np.ravel(made[name])[0]) for name in MADE}
    by_pool = _by_pool(made, numbers, sessions)
    reused = np.append(0.0, by_pool["hit_ratio"] * numbers["reusable_prompt_tokens"])
    table = pd.DataFrame([single] * len(reused)).assign(reused_prompt_tokens=reused)
    measures = _measures(estimate(table, catalogs, solve=False), row, sessions)
    by_pool = pd.concat([by_pool, measures.iloc[1:].reset_index(drop=True)], axis=1)
    present = by_pool[by_pool["pool_ratio"] == 1].iloc[0].to_dict()
    return SessionPlan(
        sessions,
        present["hit_ratio"],
        present["hit_ratio"] * numbers["reusable_prompt_tokens"],
        float(row["prompt_tokens"]),
        present["pool_tokens"],
        present["stay_seconds"],
        measures.iloc[0].to_dict(),
        {name: present[name] for name in MEASURES},
        by_pool,
    )


def _by_pool(made: Columns, numbers: dict[str, float], sessions: Sessions) -> pd.DataFrame:
    """The share of turns that find their conversation, for caches of other sizes."""
    pool = numbers["distinct_pool_tokens"] * np.array(POOL_RATIOS)
    unused = unused_pool_tokens(pool, numbers["in_flight_tokens"])
    rates = np.asarray(made["turns_per_second_at_hits"])
    hits = np.broadcast_to(
        conversation_hit_ratio(*sessions, numbers["turn_tokens"], unused, rates), pool.shape
    )
    rate = np.interp(hits, HIT_RATIOS, rates[:, 0])
    added = rate / sessions.turns * numbers["turn_tokens"] * sessions.think_seconds
    stay = stay_at(sessions.turns, sessions.think_variation_ratio, unused / added)
    return pd.DataFrame(
        {
            "pool_ratio": POOL_RATIOS,
            "pool_tokens": pool,
            "hit_ratio": hits,
            "stay_seconds": stay * sessions.think_seconds,
        }
    )


def _measures(found: pd.DataFrame, row: Row, sessions: Sessions) -> pd.DataFrame:
    """MEASURES of each row; sessions and requests are those of all working replicas."""
    answer = (found["sequence_tokens"] - found["prompt_tokens"]).astype(float)
    rate = found["tokens_per_second"].astype(float) / answer
    first = found["time_to_first_token_seconds"].astype(float)
    token = found["time_per_output_token_seconds"].astype(float)
    price = float(row["usd_per_hour"])
    return pd.DataFrame(
        {
            "first_token_seconds": first,
            "token_seconds": token,
            "requests_per_second": rate,
            "sessions": rate * (sessions.think_seconds + first + answer * token),
            "usd_per_million_output_tokens": price / HOUR_SECONDS / (rate * answer) * 1e6,
        }
    )
