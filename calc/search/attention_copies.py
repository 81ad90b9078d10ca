"""Layouts of a service in which copies of attention share one copy of the experts.

Tensor parallel copies what it cannot divide: the latent cache of MLA, and heads of keys and values
beyond their number. Where each copy of attention takes requests of its own and the experts are
divided over the GPUs of all copies, no token is cached twice. Source: vLLM's documentation, data
parallel and expert parallel deployment (data_parallel_size, enable_expert_parallel); SGLang's
documentation, DP, DPA and SGLang DP Router (enable_dp_attention).
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.job.job import Job
from calc.job.resolve import fixed_at
from calc.search.places import Place

SHARING_GPUS = (2, 4, 8)  # that divide one copy of the experts, within one machine
# A job that sets one of these lays itself out.
LAID_OUT = ("expert_parallel", "pipeline_parallel", "batch")


def attention_copies(
    job: Job, places: list[Place], catalogs: Catalogs
) -> Iterator[tuple[Job, np.ndarray]]:
    """Yield jobs laid out with copies of attention, and the numbers of the places to try.

    The experts are divided over all GPUs of a machine, or over eight where it has more.
    """
    if job.trains or not job.generates or any(name in job.fixed for name in LAID_OUT):
        return
    island_gpus = np.array([min(place.gpus, place.island) for place in places])
    for sharing_gpus in SHARING_GPUS:
        is_whole = np.minimum(island_gpus, max(SHARING_GPUS)) == sharing_gpus
        place_numbers = np.flatnonzero(is_whole)
        attention_gpus = [
            int(gpus)
            for gpus in fixed_at(job, "tensor_parallel", (1, *SHARING_GPUS))
            if gpus < sharing_gpus and sharing_gpus % gpus == 0
        ]
        if (
            len(place_numbers)
            and attention_gpus
            and copies_cache(catalogs, job.model, sharing_gpus)
        ):
            laid_out = {"tensor_parallel": attention_gpus, "expert_parallel": [sharing_gpus]}
            yield replace(job, fixed=job.fixed | laid_out), place_numbers


@cached_per_catalogs("stacks")
def has_experts(catalogs: Catalogs, model: str) -> bool:
    """Return whether a model has experts among which each token chooses."""
    return bool((_stacks(catalogs, model, "experts") > 0).any())


@cached_per_catalogs("stacks")
def copies_cache(catalogs: Catalogs, model: str, gpus: int) -> bool:
    """Return whether GPUs that divide a model's matrices copy a part of its cache.

    The model has experts, which the copies of attention can share.
    """
    has_latents = _stacks(catalogs, model, "latent_width") > 0
    kv_heads = _stacks(catalogs, model, "kv_heads")
    has_few_heads = (kv_heads > 0) & (kv_heads < gpus)
    return has_experts(catalogs, model) and bool((has_latents | has_few_heads).any())


def _stacks(catalogs: Catalogs, model: str, column: str) -> np.ndarray:
    """Return a column of the model's stacks of blocks."""
    rows = catalogs.stacks.loc[catalogs.stacks["model"] == model, column]
    return np.nan_to_num(rows.to_numpy(dtype=float))
