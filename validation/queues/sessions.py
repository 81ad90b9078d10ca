"""Che's approximation of a prefix cache against a simulation of every block of it.

    make queues

Conversations begin at random; each has so many turns, with a random time to think between an answer
and the next prompt. A request takes the blocks of its conversation that are still there, from the
first on, and evicts the least recently used ones for the rest; when it ends its blocks are unused,
the last ones first (vLLM, v1/core/kv_cache_manager.py). The simulation runs on simpy. Writes
results/sessions.csv: a row for each number of turns, time to think, its shape and size of cache.
"""

from collections import OrderedDict
from itertools import product
from math import gamma
from pathlib import Path

import numpy as np
import pandas as pd
import simpy

from calc.plan.sessions import Sessions
from calc.speed.cache_stays import stay_at, think_time_ratio, weibull_shape

RESULTS = Path(__file__).parents[1] / "results"
TURNS, THINK_SECONDS = (2, 4, 8, 16), (20, 120)
HELD_RATIOS = (0.2, 0.5, 1.0, 2.0)  # of the cache, over what waiting conversations would fill
SHAPES = {"exponential": 1.0, "regular": 0.5, "bursty": 2.0}  # variation of the time to think
QUESTION, ANSWER, BLOCK = 400, 240, 16  # tokens
CONVERSATIONS_PER_SECOND, REQUEST_SECONDS = 0.25, 8.0
CONVERSATIONS, SEED = 1_000, 20_261_128


class Cache:
    """Blocks in use, and unused ones that still hold tokens, the least recently used first."""

    def __init__(self, blocks: int) -> None:
        self.empty, self.unused = blocks, OrderedDict()

    def reuse(self, blocks: list) -> int:
        """Take a conversation's cached blocks up to the first missing one. Return their number."""
        hits = 0
        for block in blocks:
            if block not in self.unused:
                break
            del self.unused[block]
            hits += 1
        return hits

    def take(self, count: int) -> None:
        """Take `count` other blocks: empty ones, then the least recently used."""
        self.empty -= count
        while self.empty < 0 and self.unused:
            self.unused.popitem(last=False)
            self.empty += 1

    def end(self, blocks: list) -> None:
        """Release the blocks of a request; the last of them is evicted first."""
        for block in reversed(blocks):
            self.unused[block] = None


def simulated_hit_ratio(sessions: Sessions, pool_tokens: float) -> float:
    """Share of the tokens of earlier turns that requests find in the cache."""
    draw, environment = np.random.default_rng(SEED), simpy.Environment()
    cache, counts = Cache(int(pool_tokens // BLOCK)), np.zeros(2)
    shape = weibull_shape(sessions.think_variation_ratio)
    scale = sessions.think_seconds / gamma(1 + 1 / shape)

    def conversation(number: int):
        """Run the turns of one conversation, and count how many of its blocks each finds."""
        blocks: list = []  # of the turns so far
        for turn in range(sessions.turns):
            hits = cache.reuse(blocks)
            if number > CONVERSATIONS // 10:
                counts[:] += hits, len(blocks)
            prompt = turn * (QUESTION + ANSWER) + QUESTION
            cache.take(prompt // BLOCK - hits)
            yield environment.timeout(REQUEST_SECONDS / 2)
            cache.take(ANSWER // BLOCK)
            yield environment.timeout(REQUEST_SECONDS / 2)
            blocks = [(number, block) for block in range((prompt + ANSWER) // BLOCK)]
            cache.end(blocks)
            yield environment.timeout(scale * draw.weibull(shape))

    def arrivals():
        for number in range(CONVERSATIONS):
            yield environment.timeout(draw.exponential(1 / CONVERSATIONS_PER_SECOND))
            environment.process(conversation(number))

    environment.process(arrivals())
    environment.run()
    return float(counts[0] / counts[1])


def main() -> None:
    """Write the comparison, and print its errors by shape."""
    turn_tokens = QUESTION + ANSWER
    rows = []
    for turns, think, ratio, (shape, variation) in product(
        TURNS, THINK_SECONDS, HELD_RATIOS, SHAPES.items()
    ):
        sessions = Sessions(turns, think, variation)
        prompt = QUESTION + turn_tokens * (turns - 1) / 2
        rate = CONVERSATIONS_PER_SECOND * turns
        in_flight = rate * REQUEST_SECONDS * (prompt + ANSWER / 2)
        held = ratio * turns * (turns + 1) / 2
        free = held * CONVERSATIONS_PER_SECOND * think * turn_tokens
        stay = float(stay_at(turns, variation, held))
        estimated_ratio = float(think_time_ratio(stay, variation))
        simulated_ratio = simulated_hit_ratio(sessions, in_flight + free)
        row = {"turns": turns, "think_seconds": think, "think_shape": shape}
        row |= {"pool_tokens": round(in_flight + free), "stay_seconds": round(stay * think, 1)}
        row |= {"simulated_hit_ratio": simulated_ratio, "estimated_hit_ratio": estimated_ratio}
        rows.append(row)
    table = pd.DataFrame(rows)
    table["error"] = table["estimated_hit_ratio"] - table["simulated_hit_ratio"]
    table.round(4).to_csv(RESULTS / "sessions.csv", index=False)
    size = table["error"].abs().groupby(table["think_shape"])
    print(size.describe(percentiles=[0.5, 0.9]).round(3).to_string())


if __name__ == "__main__":
    main()
