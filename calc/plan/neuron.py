"""A plan on AWS's own accelerators: what they hold, and what it costs at published rates.

They run the Neuron compiler and no CUDA. Nothing is estimated from GPUs: a plan without a published
rate of its model and work has no time and no price there.
"""

import numpy as np
import pandas as pd

from calc.catalogs.load import read_catalog, read_once
from calc.catalogs.schemas import neuron as neuron_catalog
from calc.catalogs.schemas.neuron import NeuronInstance, NeuronRate
from calc.cost.job import ends_of
from calc.evaluate import Row, evaluate
from calc.scenarios.counts import replica_gpus
from calc.units import GIB, HOUR_SECONDS, MILLION

WEIGHT_BYTES = 2  # of a parameter in bf16
TRAINED_BYTES = 16  # of a trained parameter: fp32 weights and gradients, two moments of AdamW

COLUMNS = (
    *("instance", "chip", "memory_gib", "needed_gib", "instances_least"),
    *("usd_per_hour", "market", "region", "as_of"),
    *("rate_tokens_per_second", "rate_instances", "rate_in_flight", "rate_sequence_tokens"),
    *("rate_prompt_tokens", "first_token_seconds", "token_seconds", "rate_precision"),
    *("hours", "usd", "usd_per_million_tokens", "source"),
)


@read_once
def neuron() -> neuron_catalog.File:
    """AWS's own accelerators (catalogs/edited/neuron.yaml)."""
    return read_catalog(neuron_catalog.File)


def neuron_rows(row: Row) -> pd.DataFrame:
    """A row of COLUMNS for each instance type and published rate of a plan's model and work.

    needed_gib: what the model itself needs, working memory left out: weights in bf16 and the cache
    of the requests in flight, or 16 bytes of each trained parameter. usd: of the run at the rate's
    own number of instances; usd_per_million_tokens: of what a published rate generates or trains.
    Both are NaN without a rate or a price, which is that of `market` in `region`.
    """
    gib = needed_gib(row)
    rows = []
    for name, instance in neuron().instances.items():
        if row["work"] == "training" and not neuron().chips[instance.chip].trains:
            continue
        rates = [rate for rate in neuron().rates if _is_of(rate, name, row)]
        several: list[NeuronRate | None] = [*rates] or [None]
        rows += [_row(name, instance, rate, gib, row) for rate in several]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def needed_gib(row: Row) -> float:
    """Memory that the model itself needs on all chips together. [GiB]"""
    parameters = float(row["parameters"])
    if row["work"] == "training":
        trained_parameters = float(row["trained_parameters"])
        return (
            WEIGHT_BYTES * (parameters - trained_parameters) + TRAINED_BYTES * trained_parameters
        ) / GIB
    cache = float(np.nan_to_num(row["kv_cache_bytes"]) * evaluate(replica_gpus, row))
    return (WEIGHT_BYTES * parameters + cache) / GIB


def _is_of(rate: NeuronRate, instance: str, row: Row) -> bool:
    """Return whether a rate is of the plan's model and work; training rates train all weights."""
    same = (rate.instance, rate.model, rate.work) == (instance, row["model"], row["work"])
    return same and (row["work"] != "training" or _trains_all(row))


def _trains_all(row: Row) -> bool:
    return bool(row["tuning"] == "full" and row["objective"] in ("", "sft"))


def _row(name: str, instance: NeuronInstance, rate: NeuronRate | None, gib: float, row: Row) -> Row:
    """A row for one type of instance, with the published rate nearest to the job if any."""
    memory = instance.chips * neuron().chips[instance.chip].memory_gib
    hourly = np.nan if instance.usd_per_hour is None else instance.usd_per_hour
    values: Row = {
        "instance": name,
        "chip": neuron().chips[instance.chip].name,
        "memory_gib": memory,
        "needed_gib": gib,
        "instances_least": float(np.ceil(gib / memory)),
        "usd_per_hour": hourly,
        "market": instance.market if instance.usd_per_hour else "",
        "region": instance.region if instance.usd_per_hour else "",
        "as_of": instance.as_of or "",
    }
    if rate is None:
        return values
    per_second = rate.tokens_per_second
    price = hourly * rate.instances
    tokens = float(row["run_tokens"]) if ends_of(row) and row["work"] == "training" else np.nan
    hours = tokens / per_second / HOUR_SECONDS
    return values | {
        "rate_tokens_per_second": per_second,
        "rate_instances": rate.instances,
        "rate_in_flight": rate.in_flight,
        "rate_sequence_tokens": rate.sequence_tokens,
        "rate_prompt_tokens": rate.prompt_tokens,
        "first_token_seconds": rate.first_token_seconds,
        "token_seconds": rate.token_seconds,
        "rate_precision": rate.precision,
        "hours": hours,
        "usd": hours * price,
        "usd_per_million_tokens": price / HOUR_SECONDS / per_second * MILLION,
        "source": neuron().sources[str(rate.source)],
    }
