"""What a memory figure rests on, and how much wider its range is for it: numbers into the words of the column memory_basis.

The last of GROUNDS that fits is told; so is the last axis on which the scenario lies beyond all that was simulated or
published (the known_ entries of catalogs/overheads.yaml), which doubles the range.
"""

import numpy as np

SIMULATED, MEASURED = "simulated", "measured nearby"
GROUNDS = (
    f"{SIMULATED}: storage by storage",
    f"{MEASURED}: published runs of this software",
    f"{MEASURED}: published runs of quantised weights",
    "derived from source: this software",
    "derived from source: compiled blocks",
    "derived from source: 8-bit products",
    "derived from source: a divided master copy",
    "derived from source: trained experts",
    "derived from source: this kind of layer",
    "derived from source: tensor parallel beside sharding",
    "derived from source: context parallel",
    "derived from source: expert parallel",
    "derived from source: pipeline stages",
    "derived from source: CPU offload",
    "derived from source: a vision tower",
)
DERIVED = GROUNDS.index("derived from source: this software")
AXES = ("", "its tokens per sequence", "its sequences at once", "its GPUs", "its tensor parallel degree", "its pipeline stages")
BASES = np.array(
    [ground + (f"; extrapolated in {axis}, the range doubled" if axis else "") for ground in GROUNDS for axis in AXES], dtype=object
)


def memory_ground(
    trains,
    implementation_simulated,
    implementation_measured,
    dequantized_bytes_each,
    is_engine,
    implementation_head_apart,
    compiles,
    compute_bytes_each,
    partitions_master,
    adapts_experts,
    stack_adapter_experts_in,
    stack_block_unknown,
    stack_block_derived,
    stack_state_bytes,
    stack_layers,
    shards_gradients,
    shard_gpus,
    tensor_parallel,
    context_parallel,
    expert_parallel,
    pipeline_parallel,
    offloads_optimizer,
    offloads_weights,
    offloads_activations,
    implementation_torch_pipeline,
    tower_tokens,
):
    """What the figure rests on, as a number into GROUNDS: the weakest part of it.

    Simulated: transformers and torchtitan on one GPU, under FSDP2 (hybrid, and with its shards in CPU memory), DDP and
    tensor parallel, torchtitan under both, with pipelines, context and expert parallel (validation/data); not adapters on
    experts (peft, tuners/lora/layer.py).
    """
    own_pipeline = implementation_torch_pipeline * implementation_head_apart * trains > 0
    beside_shards = (shards_gradients > 0) & (shard_gpus > 1) & (implementation_head_apart == 0)
    adapted = np.max(adapts_experts * stack_adapter_experts_in, axis=0) > 0
    software = np.where(implementation_simulated > 0, 0, np.where(implementation_measured > 0, 1, DERIVED))
    in_engine = (stack_state_bytes > 0) & (is_engine > 0)
    unlike = np.any((stack_layers > 0) & (stack_block_unknown | stack_block_derived | in_engine), axis=0)
    conditions = (  # in the order of GROUNDS from the third on
        (trains == 0) & (dequantized_bytes_each > 0) & (software < DERIVED),
        None,
        trains * compiles > 0,
        trains * (compute_bytes_each == 1) > 0,
        trains * partitions_master > 0,
        (trains > 0) & adapted,
        unlike,
        (tensor_parallel > 1) & (is_engine == 0) & ((trains == 0) | beside_shards),
        (context_parallel > 1) & (implementation_head_apart == 0),
        (expert_parallel > 1) & ((trains == 0) | (implementation_head_apart == 0)),
        (pipeline_parallel > 1) & ~own_pipeline,
        trains * (offloads_activations + offloads_optimizer * (1 - offloads_weights)) > 0,
        tower_tokens > 0,
    )
    return _last_that_holds(conditions, software, first=2)


def _last_that_holds(conditions, otherwise, first):
    """The number of the last condition that holds, counted from `first`; columns of one value stay so."""
    found = otherwise
    for number, condition in enumerate(conditions, start=first):
        if condition is not None and np.any(condition):
            found = np.where(condition, number, found)
    return found


def beyond_axis(
    trains,
    sequence_tokens,
    context_parallel,
    batch,
    gpus,
    tensor_parallel,
    pipeline_parallel,
    known_training_tokens,
    known_serving_tokens,
    known_sequences,
    known_gpus,
    known_tensor_parallel,
    known_pipeline_stages,
    is_engine,
):
    """The last axis on which nothing known reaches so far, as a number into AXES; 0 where all do."""
    tokens = np.where(trains > 0, known_training_tokens, known_serving_tokens)
    conditions = (
        (sequence_tokens / context_parallel > tokens) & (is_engine == 0),
        (batch > known_sequences) & (is_engine == 0),
        gpus > known_gpus,
        tensor_parallel > known_tensor_parallel,
        pipeline_parallel > known_pipeline_stages,
    )
    return _last_that_holds(conditions, np.zeros(1, dtype=int), first=1)


def memory_basis(memory_ground, beyond_axis):
    """What the figure rests on and where it is extrapolated, as a number into BASES."""
    return memory_ground * len(AXES) + beyond_axis


def widening_ratio(memory_ground, beyond_axis, derived_spread_ratio):
    """How much wider the range is than that of a simulated or measured figure inside the known box. [ratio]"""
    return np.where(memory_ground >= DERIVED, derived_spread_ratio, 1.0) * np.where(beyond_axis > 0, 2.0, 1.0)


BASIS = (memory_ground, beyond_axis, memory_basis, widening_ratio)
