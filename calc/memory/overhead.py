"""Memory in nvidia-smi beyond the allocated peak, and the range around it. Bytes.

Constants and their sources: catalogs/calibrated/overheads.yaml. PyTorch sees about half a GiB less
than the driver's total on an H100.
"""

import numpy as np

from calc.evaluate import variant
from calc.memory.memory_basis import DERIVED

SURE_ODDS = 0.95 / 0.05  # odds of fitting from which a run counts as certain to fit: 95 %
SCALE = np.sqrt(3) / np.pi  # of a logistic distribution, over its standard deviation


def batch_share(batch):
    """Position between one sequence and 64 at once, in doublings: 0 to 1. [share]

    By definition of the entries of catalogs/calibrated/overheads.yaml.
    """
    return np.minimum(np.log2(np.maximum(batch, 1)) / 6, 1)


def works_together(shard_gpus, tensor_parallel):
    """1 if GPUs exchange shards or partial sums. [0 or 1]"""
    return (shard_gpus * tensor_parallel > 1) * 1.0


LARGEST_GRAPH_SEQUENCES = 512
DEFAULT_GRAPH_SIZES = 51  # batch sizes that are captured up to the largest graph


def captured_sizes_ratio(max_sequences):
    """Batch sizes that an engine captures as CUDA graphs, over those of its defaults. [share]

    They go up to twice the sequences that the engine admits: 1, 2, 4, then every 8th up to 256
    and every 16th beyond. Source: vLLM, vllm/config/vllm.py, _set_cudagraph_sizes.
    """
    admitted = np.where(np.isnan(max_sequences), np.inf, max_sequences)
    largest = np.minimum(2 * admitted, LARGEST_GRAPH_SEQUENCES)
    up_to_four = np.log2(np.clip(largest, 1, 4)) + 1
    every_eighth = np.floor(np.minimum(largest, 256) / 8)
    every_sixteenth = np.floor(np.maximum(largest - 256, 0) / 16)
    return np.minimum((up_to_four + every_eighth + every_sixteenth) / DEFAULT_GRAPH_SIZES, 1)


def graphs_bytes(
    is_engine, weights_bytes, serving_graphs_bytes, serving_graphs_ratio, captured_sizes_ratio
):
    """CUDA graphs of an engine. [B]"""
    default_bytes = serving_graphs_bytes + serving_graphs_ratio * weights_bytes
    return is_engine * default_bytes * captured_sizes_ratio


def work_slack_ratio(
    trains,
    works_together,
    batch_share,
    sharded_slack_ratio,
    training_slack_ratio,
    serving_slack_ratio,
    serving_batch_slack_ratio,
):
    """The slack ratio of the kind of work (catalogs/calibrated/overheads.yaml). [share]"""
    serving = serving_slack_ratio + serving_batch_slack_ratio * batch_share
    return np.where(
        trains > 0, np.where(works_together > 0, sharded_slack_ratio, training_slack_ratio), serving
    )


work_spread_ratio = variant(
    work_slack_ratio,
    rename={"slack": "spread"},
    doc="Half width of the stated range of a simulated figure, by the kind of work. [share]",
)
work_error_ratio = variant(
    work_slack_ratio,
    rename={"slack": "error"},
    doc="Standard deviation of measured peaks around estimates, by the kind of work. [share]",
)


def slack_ratio(trains, is_engine, work_slack_ratio):
    """Reserved beyond allocated, as a share of allocated. [share]

    Rules of thumb for PyTorch's caching allocator; expandable segments make it less. An engine
    reserves its share at once.
    """
    return np.where((trains == 0) & (is_engine > 0), 0, work_slack_ratio)


def spread_ratio(work_spread_ratio, widening_ratio):
    """Half width of the stated range, as a share of the allocated peak. [share]"""
    return work_spread_ratio * widening_ratio


def error_ratio(
    work_error_ratio,
    memory_ground,
    beyond_axis,
    derived_error_ratio,
    is_engine,
    memory_run_width_ratio,
):
    """Standard deviation of the measured peak around its estimate. [share]

    It depends on the kind of work. It is at least that of figures derived from source if the
    estimate is one of these, and doubled if it is extrapolated. Most of what a serving engine
    needs is weights and cache, whose sizes are exact in every layout. Your own runs narrow it.

    Source: catalogs/calibrated/overheads.yaml, *_error_ratio, from the published runs named there.
    """
    is_derived = (memory_ground >= DERIVED) & (is_engine == 0)
    by_ground = np.where(
        is_derived, np.maximum(work_error_ratio, derived_error_ratio), work_error_ratio
    )
    return by_ground * np.where(beyond_axis > 0, 2, 1) * memory_run_width_ratio


def need_scale_ratio(error_ratio, lost_spread_ratio, is_engine):
    """Scale of the logistic distribution of the memory that a run needs. [share]

    It joins the error of the estimated peak and the spread of what the allocator loses to
    fragmentation. A serving engine reserves its share at once and loses nothing.
    """
    return SCALE * np.hypot(error_ratio, lost_spread_ratio * (1 - is_engine))


def sure_ratio(need_scale_ratio):
    """Memory that suffices with 95 % probability, over the estimated need. [ratio]

    By definition of a logistic distribution.
    """
    return SURE_ODDS**need_scale_ratio


def engine_own_bytes(
    tensor_parallel,
    expert_parallel,
    links_without_multicast,
    serving_own_bytes,
    serving_parallel_own_bytes,
    serving_plain_parallel_own_bytes,
):
    """Memory of an engine beside the CUDA context: NCCL's multicast buffers most of all. [B]

    GPUs that share experts exchange as those that share matrices do. Source:
    catalogs/edited/serving_engines.yaml.
    """
    parallel = np.where(
        links_without_multicast > 0, serving_plain_parallel_own_bytes, serving_parallel_own_bytes
    )
    exchanges = np.maximum(tensor_parallel, expert_parallel) > 1
    return np.where(exchanges, parallel, serving_own_bytes)


def context_bytes(
    trains,
    training_gpus,
    replica_gpus,
    is_engine,
    engine_own_bytes,
    context_held_bytes,
    collective_held_bytes,
):
    """Memory of driver, libraries and an engine. [B]

    Serving replicas exchange nothing, so the collectives' part only counts inside a replica.
    Source: catalogs/calibrated/overheads.yaml.
    """
    engine = engine_own_bytes + context_held_bytes
    joined_gpus = np.where(trains > 0, training_gpus, replica_gpus)
    return np.where(
        is_engine > 0, engine, context_held_bytes + collective_held_bytes * (joined_gpus > 1)
    )


def reduction_pool_bytes(
    fsdp_active,
    trains,
    step_gradients_bytes,
    reduce_bytes_each,
    stack_trained_here,
    earlier_gradients_bytes,
    gradients_bytes,
    accumulates_unsharded,
    implementation_flattens_shards,
):
    """Memory that FSDP's reductions have reserved and that is not alive at the peak. [B]

    Reductions are allocated on a stream of their own, and no stream reuses what another has
    reserved (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py;
    c10/cuda/CUDACachingAllocator.cpp, BlockPool). Beside the gradients of earlier micro-batches,
    FSDP1 reserves its flat gradients anew, and so does any FSDP that reduces only after the last
    micro-batch. Otherwise FSDP2 adds to the existing shards and reserves one block's reduction
    (_fsdp_param_group.py, post_backward; prime-rl's max_memory_reserved with two micro-batches).
    """
    reducing = reduce_bytes_each * np.max(stack_trained_here, axis=0)
    alive = np.where(
        earlier_gradients_bytes > 0, 0, gradients_bytes + reducing * (gradients_bytes > 0)
    )
    pool = np.maximum(step_gradients_bytes + reducing - alive, 0)
    whole = np.maximum(implementation_flattens_shards, accumulates_unsharded)
    adds = (earlier_gradients_bytes > 0) & (whole == 0)
    return np.where(fsdp_active * trains > 0, np.where(adds, reducing, pool), 0.0)


def logged_peak_bytes(allocated_peak_bytes, matrix_waste_bytes):
    """Peak in torch.cuda.max_memory_allocated, which counts unsplit blocks whole. [B]"""
    return allocated_peak_bytes + matrix_waste_bytes


def overhead_bytes(
    allocated_peak_bytes,
    slack_ratio,
    context_bytes,
    graphs_bytes,
    matrix_waste_bytes,
    reduction_pool_bytes,
    trains,
    least_cached_bytes,
    memory_run_ratio,
):
    """CUDA context, libraries, CUDA graphs, and the allocator's reserve beyond the peak. [B]

    A training run on a card with room to spare caches blocks of every size that it once used: at
    least least_cached_bytes. Your own runs correct the whole memory by memory_run_ratio, and this
    component takes the correction. It never falls below the CUDA context.
    """
    cached_bytes = np.maximum(slack_ratio * allocated_peak_bytes, least_cached_bytes * trains)
    overhead = (
        context_bytes + cached_bytes + reduction_pool_bytes + graphs_bytes + matrix_waste_bytes
    )
    correction = (allocated_peak_bytes + overhead) * (memory_run_ratio - 1)
    return np.maximum(overhead + correction, np.minimum(context_bytes, overhead))


def memory_bytes(allocated_peak_bytes, overhead_bytes):
    """Memory in nvidia-smi on a card with room to spare. [B]"""
    return allocated_peak_bytes + overhead_bytes


def counted_states_bytes(weights_bytes, gradients_bytes, optimizer_bytes):
    """Memory that grows with the parameters alone. [B]"""
    return weights_bytes + gradients_bytes + optimizer_bytes


def most_parameters_ratio(sized, expert_share_ratio, sized_high_ratio, sized_expert_ratio):
    """Most parameters that a model may have over those estimated. [ratio]

    It is 1 if the parameters are counted and not estimated from the sizes. A config states the
    number and width of its experts, so most of what is not known lies outside of them. Source:
    catalogs/calibrated/overheads.yaml, sized_*_ratio.
    """
    of_experts = expert_share_ratio * (1 + sized_expert_ratio)
    most = of_experts + (1 - expert_share_ratio) * sized_high_ratio
    return np.where(sized > 1, most, 1.0)


def fewest_parameters_ratio(sized, expert_share_ratio, sized_low_ratio, sized_expert_ratio):
    """Fewest parameters that a model may have, over those estimated. [ratio]

    As for the most parameters. Source: catalogs/calibrated/overheads.yaml, sized_*_ratio.
    """
    of_experts = expert_share_ratio * (1 - sized_expert_ratio)
    fewest = of_experts + (1 - expert_share_ratio) * sized_low_ratio
    return np.where(sized > 1, fewest, 1.0)


def memory_low_bytes(
    memory_bytes,
    allocated_peak_bytes,
    spread_ratio,
    least_spread_bytes,
    memory_run_width_ratio,
    fewest_parameters_ratio,
    counted_states_bytes,
):
    """Lower end of the stated range. [B]

    Half of the least spread counts on this side. If the parameters of a model are estimated from
    its sizes, it may have the fewest that such a model can have.
    """
    spread = (spread_ratio * allocated_peak_bytes + least_spread_bytes / 2) * memory_run_width_ratio
    fewer_bytes = (1 - fewest_parameters_ratio) * counted_states_bytes
    return np.maximum(memory_bytes - spread - fewer_bytes, 0)


def parts_left_out_bytes(
    leaves_parts_out,
    left_out_parameters,
    parameters,
    uncounted_parts_ratio,
    sized,
    sized_high_ratio,
    most_parameters_ratio,
    counted_states_bytes,
):
    """Memory that uncounted parts, such as towers, would take with their states. [B]

    If the parameters of a model are estimated from its sizes, it may have the most that such a
    model can have.
    """
    of_parts = left_out_parameters / parameters * np.where(sized > 0, sized_high_ratio, 1)
    ratio = leaves_parts_out * np.where(left_out_parameters > 0, of_parts, uncounted_parts_ratio)
    return (ratio + most_parameters_ratio - 1) * counted_states_bytes


def memory_high_bytes(
    memory_bytes,
    allocated_peak_bytes,
    spread_ratio,
    least_spread_bytes,
    memory_run_width_ratio,
    parts_left_out_bytes,
):
    """Upper end of the stated range. [B]"""
    spread = (spread_ratio * allocated_peak_bytes + least_spread_bytes) * memory_run_width_ratio
    return memory_bytes + spread + parts_left_out_bytes
