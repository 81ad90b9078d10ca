"""The verdict on a card: free memory, and the largest peaks that fit. Bytes.

The allocator returns its cached blocks before it fails (c10/cuda/CUDACachingAllocator.cpp,
release_cached_blocks), so a run needs its allocated peak, what fragmentation loses of it, and the
context; the stated range, of a roomy card, is for display.
"""

import numpy as np

from calc.memory.overhead import SURE_ODDS

HOLDS = ("yes", "tight")  # the verdicts that a run lives with
FITS = np.array([*HOLDS, "no", ""], dtype=object)


def headroom_bytes(gpu_memory_bytes, memory_bytes):
    """Memory left on the card. [B]

    By definition.
    """
    return gpu_memory_bytes - memory_bytes


def limit_bytes(
    gpu_memory_bytes,
    context_bytes,
    graphs_bytes,
    is_engine,
    memory_utilization,
    serving_counts_graphs,
    matrix_waste_bytes,
    lost_ratio,
):
    """Largest allocated peak that fits if the estimate is exact. [B]

    For a serving engine this is its share of the card less the context, and less the CUDA graphs if
    it counts them. Source: vLLM, gpu_memory_utilization.
    """
    plain = (gpu_memory_bytes - context_bytes - matrix_waste_bytes) / (1 + lost_ratio)
    return np.where(
        is_engine > 0,
        memory_utilization * gpu_memory_bytes
        - context_bytes
        - serving_counts_graphs * graphs_bytes,
        plain,
    )


def run_peak_bytes(allocated_peak_bytes, memory_run_ratio):
    """Allocated peak as your own runs correct it. [B]

    By definition.
    """
    return allocated_peak_bytes * memory_run_ratio


def needed_bytes(run_peak_bytes, is_engine, kv_cache_bytes, batch, limit_bytes):
    """Memory that a run must have: its peak. [B]

    A serving engine starts with the cache of one sequence: if that of all at once fits as estimated
    and turns out too small, some wait. Source: vLLM, vllm/v1/core/kv_cache_utils.py,
    check_enough_kv_cache_memory.
    """
    return run_peak_bytes - is_engine * (run_peak_bytes <= limit_bytes) * kv_cache_bytes * (
        1 - 1 / np.maximum(batch, 1)
    )


def sure_limit_bytes(limit_bytes, reduction_pool_bytes, lost_ratio, sure_ratio):
    """Largest peak that fits with 95 % probability, beside what FSDP's reductions hold. [B]

    Source: error_ratio of calc/memory/overhead.py, from catalogs/calibrated/overheads.yaml.
    """
    return (limit_bytes - reduction_pool_bytes / (1 + lost_ratio)) / sure_ratio


def unknown_bytes(
    memory_high_bytes,
    memory_bytes,
    allocated_peak_bytes,
    spread_ratio,
    least_spread_bytes,
    memory_run_width_ratio,
):
    """Memory of uncounted parts and unknown blocks beyond the usual range. [B]

    Source: the ranges of calc/memory/overhead.py, from catalogs/calibrated/overheads.yaml.
    """
    usual = (
        memory_bytes
        + (spread_ratio * allocated_peak_bytes + least_spread_bytes) * memory_run_width_ratio
    )
    return np.maximum(memory_high_bytes - usual, 0)


def fits(
    run_peak_bytes,
    needed_bytes,
    sure_limit_bytes,
    limit_bytes,
    memory_bytes,
    gpu_memory_bytes,
    unknown_bytes,
):
    """Verdict on whether the card holds the run, as a number into FITS.

    yes: the upper end of the range fits, and the run fits with 95 % probability, including what is
    unknown about its model. tight: the estimate fits once cached memory is released. no: it does
    not fit. By definition of the verdict.
    """
    surely = (needed_bytes + unknown_bytes <= sure_limit_bytes) & (memory_bytes <= gpu_memory_bytes)
    verdict = np.where(run_peak_bytes <= limit_bytes, np.where(surely, 0, 1), 2)
    return np.where(np.isnan(gpu_memory_bytes), 3, verdict)


def hangs_on_release(trains, earlier_release_bytes, allocated_peak_bytes):
    """1 if an earlier release of the trainer needs over 10 % more memory. [0 or 1]

    Source: catalogs/edited/log_probabilities.yaml, by release.
    """
    return (trains > 0) & (earlier_release_bytes > 1.1 * allocated_peak_bytes)


def _probability(needed_bytes, room_bytes, need_scale_ratio):
    """Logistic in the logarithm of what is needed over the room: one half where they are equal."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        odds = (np.maximum(room_bytes, 0) / np.maximum(needed_bytes, 1)) ** (1 / need_scale_ratio)
        return np.where(np.isinf(odds), 1.0, odds / (1 + odds))


def fit_probability(
    needed_bytes,
    limit_bytes,
    reduction_pool_bytes,
    lost_ratio,
    need_scale_ratio,
    returned_ratio,
    unknown_bytes,
):
    """Probability that the card holds the run, by the spread of its kind's peaks. [0 to 1]

    Once with what FSDP's reductions hold on a stream of their own, once with that returned; the end
    of what is not known of its model is the 95th of 100 as well. At least 0.95 where it is said to
    fit, at most one half where it is said not to. Source: catalogs/calibrated/overheads.yaml; held
    against published runs, each with the spread of the others' models (validation/probability.py).
    """
    scale_ratio = need_scale_ratio + np.log1p(unknown_bytes / np.maximum(needed_bytes, 1)) / np.log(
        SURE_ODDS
    )
    with_pool = _probability(
        needed_bytes, limit_bytes - reduction_pool_bytes / (1 + lost_ratio), scale_ratio
    )
    alone = _probability(needed_bytes, limit_bytes, scale_ratio)
    return (1 - returned_ratio) * with_pool + returned_ratio * alone


VERDICT = (limit_bytes, run_peak_bytes, needed_bytes, sure_limit_bytes, unknown_bytes, fits)
