"""Conversations of several turns: how much of each prompt the prefix cache still has.

After a turn its tokens stay in the cache until others need the room. They are reused if the next
turn comes before that. How long they stay follows from the size of the cache.

Source: Che, Tung and Wang 2002, IEEE JSAC 20(7), 1305-1314, for least-recently-used caches;
validation/queues/sessions.py compares it with a simulation of the cache's blocks.
"""

from math import gamma
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.scenarios.inputs import BY_NAME
from calc.scenarios.problems import TableError
from calc.table import is_missing
from calc.units import HOUR_SECONDS

SHARES = np.linspace(0, 1, 41)  # of what could be reused, at which the service is estimated
POOL_RATIOS = (0.125, 0.25, 0.5, 1, 2, 4, 8)  # of the cache, in the table over its size
STAYS = np.geomspace(1e-4, 1e5, 4000)  # how long a context may stay, in think times
MOST_TURNS, LEAST_VARIATION, MOST_VARIATION = 200, 0.1, 5.0
SHAPES, BISECTIONS = (0.2, 20.0), 60  # of Weibull distributions


class Sessions(NamedTuple):
    """Conversations of several turns, with the time between an answer and the next prompt.

    think_variation_ratio: the standard deviation of that time over its mean. 1 is an exponential
    time, as of people who do not wait for each other; 0.5 is a regular one; 2 one of breaks and
    bursts.
    """

    turns: int
    think_seconds: float
    think_variation_ratio: float = 1.0


class Contexts(NamedTuple):
    """Tokens of a turn: new ones, and those that stay in the cache after each turn but the last.

    turn_tokens: question and answer. shared_tokens: the beginning that all conversations share.
    """

    turn_tokens: float
    question_tokens: float
    shared_tokens: float

    def kept(self, turns: int) -> np.ndarray:
        """Tokens of a conversation after each turn, without the shared beginning. [tokens]"""
        return self.turn_tokens * np.arange(1, turns + 1)

    def reusable(self, turns: int) -> float:
        """Mean tokens of a prompt that earlier turns computed. [tokens]"""
        return self.turn_tokens * (turns - 1) / 2


class SessionPlan(NamedTuple):
    """A service whose conversations reuse what the cache has.

    hit_ratio: turns after the first that find their conversation; reused_tokens: mean tokens of a
    prompt from earlier turns; stay_seconds: how long a conversation stays in the cache. plain,
    cached: without and with reuse, a value of each of MEASURES.
    """

    sessions: Sessions
    contexts: Contexts
    hit_ratio: float
    reused_tokens: float
    prompt_tokens: float
    pool_tokens: float
    stay_seconds: float
    plain: dict[str, float]
    cached: dict[str, float]
    by_pool: pd.DataFrame


MEASURES = (
    "first_token_seconds",
    "token_seconds",
    "requests_per_second",
    "sessions",
    "usd_per_million_output_tokens",
)


def contexts_of(row: Row, turns: int) -> Contexts:
    """The tokens of each turn, where the row has those of a mean turn; raises TableError."""
    answer = float(row["sequence_tokens"] - row["prompt_tokens"])
    if not answer > 0:
        raise TableError(
            f"{row['scenario']} generates no answer, so it has no conversations; set "
            f"sequence_tokens above prompt_tokens."
        )
    shared = float(np.nan_to_num(row["shared_prompt_tokens"]))
    prompts = float(row["prompt_tokens"]) - shared - answer * (turns - 1) / 2
    question = prompts / ((turns + 1) / 2)
    if not question >= 1:
        raise TableError(
            f"Prompts of {row['prompt_tokens']:,.0f} tokens on average are too short for {turns} "
            f"turns with answers of {answer:,.0f} tokens; name fewer turns or longer prompts."
        )
    return Contexts(question + answer, question, shared)


def session_plan(row: Row, sessions: Sessions, catalogs: Catalogs) -> SessionPlan:
    """The service of a billed row as conversations of several turns; raises TableError."""
    contexts = contexts_of(row, sessions.turns)
    if not row["kv_pool_tokens"] > 0:
        raise TableError(
            f"The cache of {row['implementation']} is not known; plan the service with vllm."
        )
    reusable = contexts.reusable(sessions.turns)
    scenario = {name: row[name] for name in BY_NAME if not is_missing(row[name])}
    table = pd.DataFrame([scenario] * len(SHARES)).assign(reused_prompt_tokens=SHARES * reusable)
    found = estimate(table, catalogs, solve=False)
    measures = _measures(found, row, sessions)
    pool = float(row["kv_pool_tokens"])
    in_flight = in_flight_tokens(row, contexts)
    by_pool = [
        _in_pool(pool * ratio, in_flight, measures, sessions, contexts) | {"pool_ratio": ratio}
        for ratio in POOL_RATIOS
    ]
    present = _in_pool(pool, in_flight, measures, sessions, contexts)
    return SessionPlan(
        sessions,
        contexts,
        present["hit_ratio"],
        present["hit_ratio"] * reusable,
        float(row["prompt_tokens"]),
        pool,
        present["stay_seconds"],
        measures.iloc[0].to_dict(),
        {name: present[name] for name in MEASURES},
        pd.DataFrame(by_pool)[
            ["pool_ratio", "pool_tokens", "hit_ratio", "stay_seconds", *MEASURES]
        ],
    )


def replicas_of(row: Row) -> float:
    """Replicas of the service that the row estimates."""
    names = ("tensor_parallel", "pipeline_parallel", "context_parallel")
    return float(row["gpus"]) / float(np.prod([float(row[name]) for name in names]))


def in_flight_tokens(row: Row, contexts: Contexts) -> float:
    """Tokens of the cache that requests in flight take on each replica, on average. [tokens]"""
    answer = float(row["sequence_tokens"] - row["prompt_tokens"])
    own = float(row["prompt_tokens"]) - contexts.shared_tokens + answer / 2
    return float(row["batch"]) * own + contexts.shared_tokens


def _measures(found: pd.DataFrame, row: Row, sessions: Sessions) -> pd.DataFrame:
    """MEASURES at each of SHARES; sessions and requests are those of all working replicas."""
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
            "replica_turns_per_second": rate / replicas_of(row),
        }
    )


def _in_pool(
    pool_tokens: float,
    in_flight: float,
    measures: pd.DataFrame,
    sessions: Sessions,
    contexts: Contexts,
) -> dict[str, float]:
    """The hit ratio in a cache of a number of tokens, and the measures there.

    More hits make turns faster, and more turns fill the cache faster. The hit ratio is the fixed
    point: the rate that it allows gives the same ratio again.
    """
    free = max(pool_tokens - in_flight, 0.0)
    stays = stay_seconds(free, measures["replica_turns_per_second"], sessions, contexts)
    given_back = hit_ratio(stays, sessions)
    above = given_back - SHARES  # falls from at least 0 to at most 0
    place = int(np.searchsorted(-above, 0.0))
    if place == 0 or place >= len(SHARES):
        hits = float(SHARES[min(place, len(SHARES) - 1)])
    else:
        before, after = above[place - 1], above[place]
        step = before / (before - after) if before > after else 0.0
        hits = float(SHARES[place - 1] + step * (SHARES[place] - SHARES[place - 1]))
    values = {name: float(np.interp(hits, SHARES, measures[name])) for name in MEASURES}
    rate = float(np.interp(hits, SHARES, measures["replica_turns_per_second"]))
    stay = float(stay_seconds(free, rate, sessions, contexts))
    return {"pool_tokens": pool_tokens, "hit_ratio": hits, "stay_seconds": stay, **values}


def weibull_shape(variation_ratio: float) -> float:
    """The shape k of a Weibull distribution with this ratio of standard deviation to mean."""
    low, high = SHAPES
    for _ in range(BISECTIONS):
        shape = (low + high) / 2
        variance = gamma(1 + 2 / shape) / gamma(1 + 1 / shape) ** 2 - 1
        low, high = (shape, high) if variance > variation_ratio**2 else (low, shape)
    return high


def hit_ratio(stay: Any, sessions: Sessions) -> Any:
    """Turns after the first that come before their conversation is evicted: P(think time < T)."""
    shape = weibull_shape(sessions.think_variation_ratio)
    scale = sessions.think_seconds / gamma(1 + 1 / shape)
    return 1 - np.exp(-((stay / scale) ** shape))


def stay_seconds(
    free_tokens: float, turns_per_second: Any, sessions: Sessions, contexts: Contexts
) -> np.ndarray:
    """Time that a conversation stays in the cache after a turn, for one rate or many. [s]

    Che's approximation: in the time T that an unused context stays, what the cache holds sums to
    its size. A context that is used again stays for E[min(Z, T)], Z the time to the next prompt;
    the last one of a conversation stays for T.
    """
    stays = sessions.think_seconds * STAYS
    unused = 1 - hit_ratio(stays, sessions)
    steps = np.diff(stays, prepend=0.0)
    reused = np.cumsum(steps * (unused + np.concatenate([[1.0], unused[:-1]])) / 2)
    kept = contexts.kept(sessions.turns)
    held = kept[:-1].sum() * reused + kept[-1] * stays  # of one conversation a second
    rates = np.asarray(turns_per_second, dtype=float) / sessions.turns
    return np.interp(free_tokens / rates, np.append(0.0, held), np.append(0.0, stays))
