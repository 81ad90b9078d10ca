"""Percentiles under random arrivals against a simulation of every step of a serving engine.

    python -m validation.arrivals

Ten shapes of service (data/arrival_shapes.csv) that the formulas were tried on and ten further
ones, at loads from 0.1 to 0.9. Requests arrive at random; a step decodes a token of each sequence
in flight and runs waiting prompts, first come first served, up to the engine's budget of tokens; a
request takes a slot of the cache from its first chunk to its last token. What a step takes comes
from the formulas of the estimate. Writes results/arrivals.csv: a row for each shape, load and
percentile.
"""

import heapq
from collections import deque
from pathlib import Path

import numpy as np
import pandas as pd

from calc import load_catalogs
from calc.engine.pipeline import parts
from calc.engine.stages import AFTER_MEMORY, memory, walk
from calc.rules.remarks_on_rows import CERTAIN_LOAD

HERE = Path(__file__).parent
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
WITHIN_RATIO = 0.15
SHARES = (50, 90, 99)
PERCENTILES = tuple(
    f"{time}_p{share}_seconds" for time in ("first_token", "token", "request") for share in SHARES
)
REQUESTS, SEED = 60_000, 20_261_123
MOST_BATCH = 2048
LENGTHS = np.geomspace(1 / 30, 64, 80)  # of prompts, over their mean: where prefill is computed


def tables(scenarios, catalogs):
    """Return all columns of serving scenarios, including the percentiles."""
    part = next(parts(scenarios.assign(work="inference", implementation="vllm"), catalogs))
    assert part.problems.sound.all(), part.problems.remarks[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        return walk(memory(part.table), AFTER_MEMORY, PERCENTILES)


def column(table, name):
    """Return a column with one value for each row."""
    return np.broadcast_to(table[name], table["rows"])


def of_shape(shape, catalogs):
    """Yield each percentile of a shape, estimated and simulated, at the batch of each load."""
    scenario = shape.drop(["shape", "further", "answer_tokens"]).to_dict() | {
        "sequence_tokens": shape["prompt_tokens"] + shape["answer_tokens"]
    }
    table = tables(pd.DataFrame({**scenario, "batch": np.arange(1, MOST_BATCH + 1)}), catalogs)
    load = column(table, "arrivals_load_ratio")
    for place in sorted({int(np.nanargmin(abs(load - load_target))) for load_target in LOADS}):
        simulated = simulated_percentiles(
            shape, place, table, prefill_seconds(scenario, place, catalogs)
        )
        for name, value in simulated.items():
            estimate_seconds = column(table, name)[place]
            yield {
                "shape": shape["shape"],
                "further": shape["further"],
                "load_ratio": load[place],
                "batch": place + 1,
                "quantity": name,
                "simulated_seconds": value,
                "estimated_seconds": estimate_seconds,
                "error_ratio": estimate_seconds / value - 1,
            }


def prefill_seconds(scenario, place, catalogs):
    """Return prompt lengths and the time that each adds to a decode step. [tokens, s]"""
    prompts = np.unique(
        np.maximum(LENGTHS * scenario["prompt_tokens"], 1)
        .round()
        .clip(max=longest(scenario, catalogs))
    )
    answer = scenario["sequence_tokens"] - scenario["prompt_tokens"]
    rows = pd.DataFrame(
        {
            **scenario,
            "batch": place + 1,
            "prompt_tokens": prompts,
            "sequence_tokens": prompts + answer,
        }
    )
    return prompts, column(tables(rows, catalogs), "prompt_seconds")


def longest(scenario, catalogs):
    """Return the longest prompt that fits in the model's context. [tokens]"""
    return catalogs.models["max_position"][scenario["model"]] - scenario["sequence_tokens"]


def simulated_percentiles(shape, place, table, prefill):
    """Return the percentiles of simulated requests that arrive at a row's rate. [s]

    The first tenth of the requests is left out, because the queue is still filling.
    """
    draw = np.random.default_rng(SEED)
    arrivals = np.cumsum(
        draw.exponential(1 / column(table, "arrivals_per_second")[place], REQUESTS)
    )
    prompts, answers = (
        lengths(draw, shape[f"{name}_tokens"], shape[f"{name}_variation_ratio"])
        for name in ("prompt", "answer")
    )
    prompts = np.minimum(prompts, prefill[0][-1])
    first, last = simulate(
        arrivals, prompts, answers, np.interp(prompts, *prefill), Engine(table, place)
    )
    counted = slice(REQUESTS // 10, None)
    arrival_seconds = column(table, "arrival_seconds")[place]
    several = answers[counted] > 1
    times = {
        "first_token": (first - arrivals)[counted] + arrival_seconds,
        "token": ((last - first)[counted] / np.maximum(answers[counted] - 1, 1))[several],
        "request": (last - arrivals)[counted] + arrival_seconds,
    }
    return {
        f"{name}_p{share}_seconds": np.percentile(values, share)
        for name, values in times.items()
        for share in SHARES
    }


def lengths(draw, mean, variation_ratio):
    """Draw log-normal lengths with this mean and coefficient of variation. [tokens]"""
    square = np.log1p(variation_ratio**2)
    return np.maximum(
        np.rint(mean * np.exp(draw.standard_normal(REQUESTS) * np.sqrt(square) - square / 2)), 1
    )


class Engine:
    """Step times and limits of one replica of a serving engine."""

    def __init__(self, table, place):
        # Seconds of a decode step, by the number of sequences in it.
        self.step_seconds = [0.0, *column(table, "decode_token_seconds").tolist()]
        self.slots = min(int(column(table, "cache_slots")[place]), MOST_BATCH)
        self.budget = int(column(table, "engine_batched_tokens")[place])
        # Whether a step is scheduled while the one before it runs.
        self.ahead = bool(column(table, "ahead_steps")[place] > 1)
        weights = column(table, "read_weights_bytes") / column(table, "streamed_bytes_per_second")
        # Weights are read only once if a step and its prompts are one pass.
        self.weights_seconds = weights[place] * self.ahead
        # The shortest time of a step that runs prompts.
        self.least_seconds = max(column(table, "host_seconds")[place], weights[0])

    def mixed_seconds(self, sequences, prefill):
        """Time of a step that decodes `sequences` and also runs `prefill` seconds of prompts."""
        step = self.step_seconds[sequences]
        return max(step + prefill - min(self.weights_seconds, prefill, step), self.least_seconds)


def simulate(arrivals, prompts, answers, work, engine):
    """Return when each request gets its first token and its last. [s]"""
    first, last = np.full(len(arrivals), np.nan), np.full(len(arrivals), np.nan)
    arrivals, prompts, answers, work = (
        values.tolist() for values in (arrivals, prompts, answers, work)
    )
    waiting, running = deque(), deque()
    ends = []  # of the requests that decode: (step of the last token, request)
    clock_seconds = before = 0.0
    step = arrived = 0
    while arrived < len(arrivals) or waiting or running or ends:
        if not (waiting or running or ends):
            clock_seconds = before = max(clock_seconds, arrivals[arrived])
        seen = before if engine.ahead and (running or ends) else clock_seconds
        while arrived < len(arrivals) and arrivals[arrived] <= seen:
            waiting.append(arrived)
            arrived += 1
        while waiting and len(ends) + len(running) < engine.slots:
            request = waiting.popleft()
            running.append([request, prompts[request]])
        begun, finished = clock_seconds, []
        if running:
            prefill, budget = 0.0, engine.budget - len(ends)
            for chunk in running:
                tokens = min(chunk[1], budget)
                budget, chunk[1] = budget - tokens, chunk[1] - tokens
                prefill += work[chunk[0]] * tokens / prompts[chunk[0]]
                if chunk[1] == 0:
                    finished.append(chunk[0])
                if budget <= 0:
                    break
            for _ in finished:
                running.popleft()
            clock_seconds, step = clock_seconds + engine.mixed_seconds(len(ends), prefill), step + 1
        else:  # plain steps until an arrival is seen or an answer ends
            step_seconds = engine.step_seconds[len(ends)]
            until = (
                (arrivals[arrived] - clock_seconds) / step_seconds
                if arrived < len(arrivals) and not waiting
                else np.inf
            )
            steps = max(min(ends[0][0] - step, int(until) + 1 if until < 1e9 else 10**9), 1)
            begun, clock_seconds, step = (
                clock_seconds + (steps - 1) * step_seconds,
                clock_seconds + steps * step_seconds,
                step + steps,
            )
        before = begun
        while ends and ends[0][0] <= step:
            last[heapq.heappop(ends)[1]] = clock_seconds
        for request in finished:
            first[request] = clock_seconds
            if answers[request] > 1:
                heapq.heappush(ends, (step + answers[request] - 1, request))
            else:
                last[request] = clock_seconds
    return first, last


def summary(rows, by):
    """Errors by load: up to the one to which percentiles hold, and beyond it.

    The ten further shapes have groups of their own.
    """
    beyond = np.where(rows["load_ratio"] > CERTAIN_LOAD, "beyond", "up to 0.8")
    groups = rows.assign(load=beyond, size=rows["error_ratio"].abs()).groupby(
        ["further", "load", *by]
    )["size"]
    return groups.agg(
        cases="size",
        median="median",
        p90=lambda sizes: sizes.quantile(0.9),
        worst="max",
        within=lambda sizes: (sizes <= WITHIN_RATIO).mean(),
    )


def main():
    """Simulate every shape, print the errors and write them."""
    catalogs = load_catalogs()
    shapes = pd.read_csv(HERE / "data" / "arrival_shapes.csv")
    rows = pd.DataFrame(
        [row for _, shape in shapes.iterrows() for row in of_shape(shape, catalogs)]
    )
    for by in ([], ["quantity"]):
        print(summary(rows, by).round(3).to_string(), "\n")
    rows.to_csv(HERE / "results" / "arrivals.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
