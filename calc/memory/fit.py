"""Memory that must fit on a card, its range, and the verdict. Bytes.

The allocator returns its cached blocks before it fails (c10/cuda/CUDACachingAllocator.cpp,
release_cached_blocks). A run therefore needs its allocated peak, what it loses to fragmentation,
and the memory outside of the allocator. On a card with memory to spare, nvidia-smi shows more:
`memory_bytes`.
"""

from collections.abc import Callable

import numpy as np

from calc.evaluate import formulas_of
from calc.memory import serving_share
from calc.memory.overhead import SURE_ODDS

HOLDS = ("yes", "tight")  # the verdicts that a run lives with
FITS = np.array([*HOLDS, "no", ""], dtype=object)


def headroom_bytes(gpu_memory_bytes, memory_bytes):
    """Memory left on the card. [B]

    By definition.
    """
    return gpu_memory_bytes - memory_bytes


def limit_bytes(
    gpu_memory_bytes, context_bytes, is_engine, engine_limit_bytes, matrix_waste_bytes, lost_ratio
):
    """Largest allocated peak that fits if the estimate is exact. [B]

    By definition; of a serving engine as calc/memory/serving_share.py says.
    """
    plain = (gpu_memory_bytes - context_bytes - matrix_waste_bytes) / (1 + lost_ratio)
    return np.where(is_engine > 0, engine_limit_bytes, plain)


def run_peak_bytes(allocated_peak_bytes, memory_run_ratio):
    """Allocated peak as your own runs correct it. [B]

    By definition.
    """
    return allocated_peak_bytes * memory_run_ratio


def outside_bytes(
    context_bytes,
    matrix_waste_bytes,
    is_engine,
    counts_graphs,
    graphs_bytes,
    limit_bytes,
    gpu_memory_bytes,
):
    """Card memory that must be free beside the allocated peak. [B]

    The CUDA context, and blocks that the allocator cannot split; for a serving engine, all that is
    beyond its limit. Without a card that is its context, and the CUDA graphs that it counts.
    By definition.
    """
    plain = context_bytes + matrix_waste_bytes
    of_engine = np.where(
        np.isnan(gpu_memory_bytes),
        context_bytes + counts_graphs * graphs_bytes,
        gpu_memory_bytes - limit_bytes,
    )
    return np.where(is_engine > 0, of_engine, plain)


def fragmentation_ratio(is_engine, lost_ratio):
    """Share of the allocated peak that fragmentation loses; 0 for an engine. [ratio]

    Source: catalogs/calibrated/overheads.yaml.
    """
    return np.where(is_engine > 0, 0.0, lost_ratio)


def needed_bytes(run_peak_bytes, fragmentation_ratio, outside_bytes):
    """Memory that must fit on the busiest GPU once cached memory is released. [B]

    The allocated peak with what fragmentation loses of it, and what lies outside of the allocator.
    By definition.
    """
    return run_peak_bytes * (1 + fragmentation_ratio) + outside_bytes


def starting_peak_bytes(run_peak_bytes, is_engine, kv_cache_bytes, batch, limit_bytes):
    """Allocated peak without which a run cannot start. [B]

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
    """Memory of uncounted parts and unknown blocks beyond the range of counted ones. [B]

    Source: the ranges of calc/memory/overhead.py, from catalogs/calibrated/overheads.yaml.
    """
    spread = (spread_ratio * allocated_peak_bytes + least_spread_bytes) * memory_run_width_ratio
    return np.maximum(memory_high_bytes - (memory_bytes + spread), 0)


def needed_high_bytes(
    needed_bytes,
    starting_peak_bytes,
    unknown_bytes,
    sure_ratio,
    fragmentation_ratio,
    reduction_pool_bytes,
    outside_bytes,
):
    """Upper end of what must fit, the 95th percentile. [B]

    The peak that a run needs to start, as far above its estimate as 95 % of measured peaks, with
    what is unknown about its model and what FSDP's reductions may hold. Source: sure_ratio of
    calc/memory/overhead.py, from catalogs/calibrated/overheads.yaml.
    """
    peak_bytes = (starting_peak_bytes + unknown_bytes) * sure_ratio * (1 + fragmentation_ratio)
    return np.maximum(needed_bytes, peak_bytes + reduction_pool_bytes + outside_bytes)


def needed_low_bytes(
    needed_bytes,
    run_peak_bytes,
    fewest_parameters_ratio,
    counted_states_bytes,
    sure_ratio,
    fragmentation_ratio,
    outside_bytes,
):
    """Lower end of what must fit, the 5th percentile. [B]

    It divides the estimated peak by the factor within which 95 % of measured peaks lie. For a model
    whose size is a range, the estimate is that of its smallest number of parameters.

    Source: sure_ratio of calc/memory/overhead.py, from catalogs/calibrated/overheads.yaml.
    """
    fewer_bytes = (1 - fewest_parameters_ratio) * counted_states_bytes
    least_bytes = np.maximum(run_peak_bytes - fewer_bytes, 0)
    peak_bytes = least_bytes / sure_ratio * (1 + fragmentation_ratio)
    return np.minimum(needed_bytes, peak_bytes + outside_bytes)


def fits(needed_bytes, needed_high_bytes, gpu_memory_bytes):
    """Verdict on whether the card holds the run, as a number into FITS.

    yes: the upper end of what must fit is within the card. tight: the central value is, the upper
    end is not. no: not even the central value is. By definition of the verdict.
    """
    surely = needed_high_bytes <= gpu_memory_bytes
    verdict = np.where(needed_bytes <= gpu_memory_bytes, np.where(surely, 0, 1), 2)
    return np.where(np.isnan(gpu_memory_bytes), 3, verdict)


def hangs_on_release(trains, earlier_release_bytes, allocated_peak_bytes):
    """1 if an earlier release of the trainer needs over 10 % more memory. [0 or 1]

    Source: catalogs/edited/log_probabilities.yaml, by release.
    """
    return (trains > 0) & (earlier_release_bytes > 1.1 * allocated_peak_bytes)


def _probability(needed_bytes, room_bytes, need_scale_ratio):
    """Logistic distribution of the logarithm of need over room: one half if both are equal."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        odds = (np.maximum(room_bytes, 0) / np.maximum(needed_bytes, 1)) ** (1 / need_scale_ratio)
        return np.where(np.isinf(odds), 1.0, odds / (1 + odds))


def fit_probability(
    starting_peak_bytes,
    limit_bytes,
    reduction_pool_bytes,
    lost_ratio,
    need_scale_ratio,
    returned_ratio,
    unknown_bytes,
):
    """Probability that the card holds the run, from the spread of measured peaks. [0 to 1]

    The spread is that of its kind of work. Two cases are joined: FSDP's reductions keep the memory
    of their own stream, or it is returned. The upper end of what is not known of the model counts
    as its 95th percentile. The probability is at least 0.95 if the run is said to fit, and at most
    one half if it is said not to. Source: catalogs/calibrated/overheads.yaml; compared with
    published runs, each with the spread of the others' models (validation/probability.py).
    """
    unknown_ratio = unknown_bytes / np.maximum(starting_peak_bytes, 1)
    scale_ratio = need_scale_ratio + np.log1p(unknown_ratio) / np.log(SURE_ODDS)
    with_pool = _probability(
        starting_peak_bytes, limit_bytes - reduction_pool_bytes / (1 + lost_ratio), scale_ratio
    )
    alone = _probability(starting_peak_bytes, limit_bytes, scale_ratio)
    return (1 - returned_ratio) * with_pool + returned_ratio * alone


VERDICT: tuple[Callable, ...] = (
    *formulas_of(serving_share),
    limit_bytes,
    run_peak_bytes,
    outside_bytes,
    fragmentation_ratio,
    needed_bytes,
    starting_peak_bytes,
    unknown_bytes,
    needed_high_bytes,
    fits,
)
