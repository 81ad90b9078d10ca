"""A service of conversations with several turns, with and without reuse by its prefix cache.

The share of turns whose conversation is still cached is the estimate's
(calc/speed/conversations.py). Here the same service is estimated for caches of other sizes.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.one_scenario import one_scenario_with_times
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.scenarios.inputs import ASSUMED, BY_NAME
from calc.scenarios.problems import TableError
from calc.speed.cache_stays import stay_at
from calc.speed.conversations import (
    HIT_RATIOS,
    conversation_hit_ratio,
    unused_pool_tokens,
)
from calc.table import is_missing
from calc.units import HOUR_SECONDS, MILLION

POOL_RATIOS = (0.125, 0.25, 0.5, 1, 2, 4, 8)  # sizes of a cache over the service's own
LEAST_TURNS, MOST_TURNS = 2, 200
LEAST_VARIATION, MOST_VARIATION = 0.1, 5.0
INTERMEDIATE = ("turn_tokens", "reusable_prompt_tokens", "distinct_pool_tokens", "in_flight_tokens")
MEASURES = (
    "first_token_seconds",
    "token_seconds",
    "requests_per_second",
    "sessions",
    "usd_per_million_output_tokens",
)


class Sessions(NamedTuple):
    """Conversations of several turns, with the time between an answer and the next prompt.

    think_variation_ratio: the standard deviation of that time over its mean. It is 1 for an
    exponential distribution, as of people who do not wait for each other, about 0.5 for a steady
    rhythm, and about 2 for breaks and bursts.
    """

    turns: int
    think_seconds: float
    think_variation_ratio: float = 1.0


class SessionPlan(NamedTuple):
    """A service whose conversations reuse the cache of their earlier turns.

    hit_ratio: the share of turns after the first whose conversation is still cached. reused_tokens:
    the mean tokens of a prompt that are read from the cache. stay_seconds: how long a conversation
    stays in the cache. plain, cached: each of MEASURES without and with reuse. by_pool: the same
    for POOL_RATIOS.
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
    """Return the service of a billed row as conversations of several turns.

    Raise TableError if the size of its cache is not known, or such a service is not possible.
    """
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
    columns = one_scenario_with_times(several, catalogs)
    numbers = {name: float(np.ravel(columns[name])[0]) for name in INTERMEDIATE}
    by_pool = _by_pool(np.asarray(columns["turns_per_second_at_hits"]), numbers, sessions)
    reused_tokens = np.append(0.0, by_pool["hit_ratio"] * numbers["reusable_prompt_tokens"])
    table = pd.DataFrame([single] * len(reused_tokens)).assign(reused_prompt_tokens=reused_tokens)
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


def _by_pool(
    turns_per_second_at_hits: np.ndarray, numbers: dict[str, float], sessions: Sessions
) -> pd.DataFrame:
    """Return for each of POOL_RATIOS the share of turns whose conversation is still cached.

    `turns_per_second_at_hits`: the turns that the service completes at each of HIT_RATIOS.
    """
    pool_tokens = numbers["distinct_pool_tokens"] * np.array(POOL_RATIOS)
    unused_tokens = unused_pool_tokens(pool_tokens, numbers["in_flight_tokens"])
    hit_ratio = np.broadcast_to(
        conversation_hit_ratio(
            *sessions, numbers["turn_tokens"], unused_tokens, turns_per_second_at_hits
        ),
        pool_tokens.shape,
    )
    turns_per_second = np.interp(hit_ratio, HIT_RATIOS, turns_per_second_at_hits[:, 0])
    tokens_per_pause = (
        turns_per_second / sessions.turns * numbers["turn_tokens"] * sessions.think_seconds
    )
    stay_ratio = stay_at(
        sessions.turns, sessions.think_variation_ratio, unused_tokens / tokens_per_pause
    )
    return pd.DataFrame(
        {
            "pool_ratio": POOL_RATIOS,
            "pool_tokens": pool_tokens,
            "hit_ratio": hit_ratio,
            "stay_seconds": stay_ratio * sessions.think_seconds,
        }
    )


def _measures(rows: pd.DataFrame, row: Row, sessions: Sessions) -> pd.DataFrame:
    """MEASURES of each row; sessions and requests are those of all working replicas."""
    answer_tokens = (rows["sequence_tokens"] - rows["prompt_tokens"]).astype(float)
    requests_per_second = rows["tokens_per_second"].astype(float) / answer_tokens
    first_token_seconds = rows["time_to_first_token_seconds"].astype(float)
    token_seconds = rows["time_per_output_token_seconds"].astype(float)
    session_seconds = sessions.think_seconds + first_token_seconds + answer_tokens * token_seconds
    usd_per_second = float(row["usd_per_hour"]) / HOUR_SECONDS
    return pd.DataFrame(
        {
            "first_token_seconds": first_token_seconds,
            "token_seconds": token_seconds,
            "requests_per_second": requests_per_second,
            "sessions": requests_per_second * session_seconds,
            "usd_per_million_output_tokens": usd_per_second
            / (requests_per_second * answer_tokens)
            * MILLION,
        }
    )
