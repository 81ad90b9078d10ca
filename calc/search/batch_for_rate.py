"""Sequences on each replica that keep up with a rate of requests, by Little's law.

Concurrent sequences = requests per second x seconds of a request, which grow with the sequences:
the fewest that satisfy this. A model that answers no token takes whole batches, at the rate
batch / seconds of its prefill, and no batch carries more than its card does.
"""

from collections.abc import Callable

import numpy as np

from calc.engine.stages import MEMORY
from calc.evaluate import resting
from calc.job.job import Job
from calc.layout_place_table import PAIR, LayoutPlaceTable
from calc.search.grid import Grid
from calc.search.timing import add_time
from calc.table import distinct, take_rows

MOST_SEQUENCES = 4096
TURNS = 6  # most pairs settle in so many
ANSWERED = ("time_to_first_token_seconds", "time_per_output_token_seconds")
# Column of a model that generates no token: the prefill of a whole batch.
READ = ("burst_first_token_seconds",)

OF_BATCH = resting(("batch",), MEMORY[0].formulas)  # what a layout has of its batch


def generates_nothing(job: Job) -> bool:
    """Return whether a request of a service is its prompt alone, as an encoder's is."""
    return job.work != "training" and not job.generates


def first_token_column(job: Job) -> str:
    """The column of the time from a request to its first token, or to all that it gets."""
    return READ[0] if generates_nothing(job) else ANSWERED[0]


def load_columns(job: Job) -> tuple[str, ...]:
    """Return the columns that only the load of a service with a rate of requests reads."""
    has_load = job.requests_per_second and not generates_nothing(job)
    return ("arrivals_load_ratio", "running_sequences") if has_load else ()


def request_seconds(
    first_token_seconds: np.ndarray, token_seconds: np.ndarray, job: Job
) -> np.ndarray:
    """Time from a request to its last token; for an encoder, to the end of its prefill. [s]"""
    return (
        first_token_seconds + (0 if generates_nothing(job) else job.answer_tokens) * token_seconds
    )


def load_ratio(
    values: Callable[[str], np.ndarray],
    first_token_seconds: np.ndarray,
    token_seconds: np.ndarray,
    job: Job,
) -> np.ndarray:
    """Return the load of the job over what each candidate carries; 0 of work that ends. [ratio]

    `values`: the values of a column by name.

    Concurrent sequences are the users. The load of a rate of requests is its share of the most that
    a replica answers. A model that answers no token takes larger batches where more wait, so its
    load is the share of the time that its requests take in full batches.
    """
    if job.ends:
        return np.zeros(1)
    replicas = values("data_parallel")
    if job.requests_per_second and generates_nothing(job):
        each_seconds = values("added_prompt_seconds")
        return np.asarray(job.requests_per_second * each_seconds / replicas)
    batch = values("batch")
    if not job.requests_per_second:
        return np.asarray(job.users / (batch * replicas))
    seconds = request_seconds(first_token_seconds, token_seconds, job)
    in_flight = job.requests_per_second * seconds / replicas
    of_batch = values("arrivals_load_ratio")  # NaN where the cache is too small
    of_slots = in_flight / values("running_sequences")
    return np.where(np.isnan(of_batch), of_slots, in_flight / batch * of_batch)


def with_batches(
    grid: Grid, pair_table: LayoutPlaceTable, requests_per_second: np.ndarray, job: Job
) -> Grid:
    """The grid with a layout for each batch that a pair of layout and place needs.

    `requests_per_second`: of each pair. Time grows with the sequences: where a number of them does
    not keep up and would need more, none below that need keeps up either. An encoder that no batch
    lets keep up has one sequence, since its load exceeds what its card does anyway.
    """
    batch = _fewest_that_keep_up(pair_table, requests_per_second, job)
    if generates_nothing(job):
        batch[batch == MOST_SEQUENCES] = 1
    layout_of_pair = pair_table.layout_of_pair
    first, copies = distinct((layout_of_pair.astype(float), batch), len(batch))
    source = layout_of_pair[first]
    layouts = {
        name: take_rows(values, grid.layout_count, source) for name, values in grid.layouts.items()
    }
    return Grid(
        places=grid.places,
        layouts=layouts | {"batch": batch[first]},
        layout_count=len(first),
        layout_of_pair=copies,
        place_of_pair=pair_table.place_of_pair,
        first_step=grid.first_step[source],
        steps_count=grid.steps_count[source],
        steps=grid.steps,
    )


def _fewest_that_keep_up(
    pair_table: LayoutPlaceTable, requests_per_second: np.ndarray, job: Job
) -> np.ndarray:
    """Fewest sequences on each replica that keep up with each pair's rate, up to the most.

    Doubling finds a number that does, and halving the fewest.
    """
    pairs = len(pair_table.layout_of_pair)
    few, many = np.zeros(pairs), np.ones(pairs)  # `few` do not keep up
    open_pairs, turn = np.arange(pairs), 0
    while len(open_pairs):
        rates = requests_per_second[open_pairs]
        needed = _busy_sequences(pair_table.only(open_pairs), many[open_pairs], rates, job)
        short = (needed > many[open_pairs]) & (many[open_pairs] < MOST_SEQUENCES)
        open_pairs, needed, turn = open_pairs[short], needed[short], turn + 1
        few[open_pairs] = needed - 1
        doubled = np.minimum(many[open_pairs] * 2, MOST_SEQUENCES)
        many[open_pairs] = needed if turn < TURNS else np.maximum(needed, doubled)
    while len(open_pairs := np.flatnonzero(many - few > 1)):
        middle = np.floor((few[open_pairs] + many[open_pairs]) / 2)
        rates = requests_per_second[open_pairs]
        needed = _busy_sequences(pair_table.only(open_pairs), middle, rates, job)
        enough = needed <= middle
        few[open_pairs] = np.where(enough, few[open_pairs], needed - 1)
        many[open_pairs] = np.where(enough, middle, many[open_pairs])
    return many


def _busy_sequences(
    pair_table: LayoutPlaceTable, batch: np.ndarray, requests_per_second: np.ndarray, job: Job
) -> np.ndarray:
    """Sequences that the rate keeps busy on each replica, up to the most. [sequences]"""
    pair_table.set("batch", PAIR, batch)
    add_time(pair_table, job.work, READ if generates_nothing(job) else ANSWERED, OF_BATCH)
    first = pair_table.column(first_token_column(job), PAIR)
    token = np.zeros(1) if generates_nothing(job) else pair_table.column(ANSWERED[1], PAIR)
    busy = requests_per_second * request_seconds(first, token, job)
    needed = np.ceil(busy / pair_table.column("data_parallel", PAIR))
    return np.broadcast_to(
        np.minimum(np.nan_to_num(needed, nan=np.inf), MOST_SEQUENCES), len(batch)
    )
