"""Whether a card holds it: what is left, and the largest peak that lives. Bytes."""

import numpy as np

HOLDS = ("yes", "tight")  # the verdicts that a run lives with
FITS = np.array([*HOLDS, "no", ""], dtype=object)


def headroom_bytes(gpu_memory_bytes, memory_bytes):
    """Left on the card. [B]"""
    return gpu_memory_bytes - memory_bytes


def limit_bytes(gpu_memory_bytes, context_bytes, graphs_bytes, is_engine, memory_utilization, tight_ratio, serving_counts_graphs):
    """The largest allocated peak that lives: the card less the context and five per cent. [B]

    For a serving engine its share of the card (vLLM's gpu_memory_utilization) less the context, and the CUDA graphs if it counts them.
    """
    plain = (gpu_memory_bytes - context_bytes) / tight_ratio
    return np.where(is_engine > 0, memory_utilization * gpu_memory_bytes - context_bytes - serving_counts_graphs * graphs_bytes, plain)


def fits(memory_high_bytes, allocated_peak_bytes, memory_run_ratio, limit_bytes, gpu_memory_bytes):
    """Whether the card holds it, as a number into FITS.

    yes: the card holds the whole range; tight: not that, but allocated peak, context and five per cent; no: not even these. The peak
    is that which runs of one's own make of the estimate.
    """
    inside = allocated_peak_bytes * memory_run_ratio <= limit_bytes
    verdict = np.where(inside, np.where(memory_high_bytes <= gpu_memory_bytes, 0, 1), 2)
    return np.where(np.isnan(gpu_memory_bytes), 3, verdict)
