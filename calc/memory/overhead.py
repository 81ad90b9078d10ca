"""What nvidia-smi shows beyond the allocated peak, the range around it, and whether a card holds it. Bytes on one GPU.

Sources: published runs that print allocated and reserved memory side by side (validation/README.md); PyTorch sees about
half a GiB less than the driver's total on an H100.
"""

import numpy as np

CONTEXT_BYTES = 0.55 * 2**30  # CUDA context with its libraries, drivers of 2024 and later
COLLECTIVE_BYTES = 1.0 * 2**30  # NCCL channels and all-reduce buffers where GPUs talk to each other
ENGINE_BYTES, ENGINE_PARALLEL_BYTES = 0.25 * 2**30 + CONTEXT_BYTES, 2 * 2**30 + CONTEXT_BYTES  # vLLM's own non-torch memory
TIGHT_RATIO = 1.05  # the allocator gives cached segments back before it fails; this much stays lost to fragmentation
SMALL_JOB_BYTES = 0.6 * 2**30  # context and cached blocks vary by this much whatever the job's size


def slack_ratio(trains, shard_gpus, tensor_parallel, batch, implementation_reserves_share):
    """Reserved beyond allocated, as a share of allocated: 1.05 to 1.2 x on one GPU, 1.2 to 1.4 x in sharded training,
    little in serving."""
    together = shard_gpus * tensor_parallel > 1
    serving = np.where(implementation_reserves_share > 0, 0, 0.01 + 0.10 * np.minimum(np.log2(np.maximum(batch, 1)) / 6, 1))
    return np.where(trains > 0, np.where(together, 0.18, 0.06), serving)


def spread_ratio(trains, shard_gpus, tensor_parallel, batch):
    """Half width of the stated range, as a share of the allocated peak."""
    together = shard_gpus * tensor_parallel > 1
    return np.where(trains > 0, np.where(together, 0.18, 0.06), 0.03 + 0.04 * np.minimum(np.log2(np.maximum(batch, 1)) / 6, 1))


def context_bytes(gpus, implementation_reserves_share, tensor_parallel):
    """Held by the driver and the libraries whatever runs; a serving engine counts a quarter GiB, 2 GiB with tensor
    parallel. [B]"""
    engine = np.where(tensor_parallel > 1, ENGINE_PARALLEL_BYTES, ENGINE_BYTES)
    return np.where(implementation_reserves_share > 0, engine, CONTEXT_BYTES + COLLECTIVE_BYTES * (gpus > 1))


def overhead_bytes(allocated_peak_bytes, slack_ratio, context_bytes, graphs_bytes):
    """CUDA context, library workspaces, CUDA graphs, and what the allocator reserves beyond the peak. [B]"""
    return context_bytes + slack_ratio * allocated_peak_bytes + graphs_bytes


def memory_bytes(allocated_peak_bytes, overhead_bytes):
    """What nvidia-smi shows on a roomy card. [B]"""
    return allocated_peak_bytes + overhead_bytes


def memory_low_bytes(memory_bytes, allocated_peak_bytes, spread_ratio):
    """Lower end of the stated range. [B]"""
    return np.maximum(memory_bytes - spread_ratio * allocated_peak_bytes - SMALL_JOB_BYTES / 2, 0)


def memory_high_bytes(memory_bytes, allocated_peak_bytes, spread_ratio):
    """Upper end of the stated range. [B]"""
    return memory_bytes + spread_ratio * allocated_peak_bytes + SMALL_JOB_BYTES


def headroom_bytes(gpu_memory_bytes, memory_bytes):
    """Left on the card. [B]"""
    return gpu_memory_bytes - memory_bytes


def limit_bytes(gpu_memory_bytes, context_bytes, implementation_reserves_share):
    """The largest allocated peak that lives: the card less the context and five per cent; of a serving engine, its
    share of the card. [B]"""
    plain = (gpu_memory_bytes - context_bytes) / TIGHT_RATIO
    return np.where(implementation_reserves_share > 0, implementation_reserves_share * gpu_memory_bytes - context_bytes, plain)


def fits(memory_high_bytes, allocated_peak_bytes, limit_bytes, gpu_memory_bytes):
    """yes: the whole range is within the card; tight: not, but allocated peak, context and five per cent are; no: not
    even that; empty without a card."""
    inside = allocated_peak_bytes <= limit_bytes
    verdict = np.select([inside & (memory_high_bytes <= gpu_memory_bytes), inside], ["yes", "tight"], "no").astype(object)
    return np.where(np.isnan(gpu_memory_bytes), "", verdict)


OVERHEAD = (slack_ratio, spread_ratio, context_bytes, overhead_bytes, memory_bytes, memory_low_bytes, memory_high_bytes)
VERDICT = (headroom_bytes, limit_bytes, fits)
