"""Whether a card holds it: what is left, and the largest peaks that live. Bytes.

The allocator returns its cached blocks before it fails (c10/cuda/CUDACachingAllocator.cpp, release_cached_blocks), so a run needs
its allocated peak, what fragmentation loses of it, and the context; the stated range, of a roomy card, is for display.
"""

import numpy as np

HOLDS = ("yes", "tight")  # the verdicts that a run lives with
FITS = np.array([*HOLDS, "no", ""], dtype=object)


def headroom_bytes(gpu_memory_bytes, memory_bytes):
    """Left on the card. [B]"""
    return gpu_memory_bytes - memory_bytes


def limit_bytes(
    gpu_memory_bytes, context_bytes, graphs_bytes, is_engine, memory_utilization, serving_counts_graphs, matrix_waste_bytes, lost_ratio
):
    """The largest allocated peak that lives if the estimate is exact. [B]

    For a serving engine its share of the card (vLLM's gpu_memory_utilization) less the context, and the CUDA graphs if it counts them.
    """
    plain = (gpu_memory_bytes - context_bytes - matrix_waste_bytes) / (1 + lost_ratio)
    return np.where(is_engine > 0, memory_utilization * gpu_memory_bytes - context_bytes - serving_counts_graphs * graphs_bytes, plain)


def run_peak_bytes(allocated_peak_bytes, memory_run_ratio):
    """The allocated peak as runs of one's own make it of the estimate. [B]"""
    return allocated_peak_bytes * memory_run_ratio


def needed_bytes(run_peak_bytes, is_engine, kv_cache_bytes, batch):
    """What must fit for a run to live: its peak. [B]

    A serving engine starts with the cache of one sequence; where it holds fewer than all at once, the others wait.
    Source: vLLM, vllm/v1/core/kv_cache_utils.py, check_enough_kv_cache_memory.
    """
    return run_peak_bytes - is_engine * kv_cache_bytes * (1 - 1 / np.maximum(batch, 1))


def sure_limit_bytes(limit_bytes, reduction_pool_bytes, lost_ratio, sure_ratio):
    """The most that lives 95 times of 100, beside what FSDP's reductions hold. [B]"""
    return (limit_bytes - reduction_pool_bytes / (1 + lost_ratio)) / sure_ratio


def fits(run_peak_bytes, needed_bytes, sure_limit_bytes, limit_bytes, memory_bytes, gpu_memory_bytes):
    """Whether the card holds it, as a number into FITS.

    yes: all that a roomy card shows is within, and what the run needs is 95 times of 100; tight: as estimated, once the allocator has
    returned what it cached; no: not even then.
    """
    surely = (needed_bytes <= sure_limit_bytes) & (memory_bytes <= gpu_memory_bytes)
    verdict = np.where(run_peak_bytes <= limit_bytes, np.where(surely, 0, 1), 2)
    return np.where(np.isnan(gpu_memory_bytes), 3, verdict)


def hangs_on_release(trains, earlier_release_bytes, allocated_peak_bytes):
    """1 where an earlier release of the trainer would take over 10 % more memory. [0 or 1]"""
    return (trains > 0) & (earlier_release_bytes > 1.1 * allocated_peak_bytes)


VERDICT = (limit_bytes, run_peak_bytes, needed_bytes, sure_limit_bytes, fits)
