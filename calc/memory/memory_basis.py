"""The basis of a memory figure, and how much wider it makes the range.

The last of GROUNDS whose condition holds is named, and so is the last of AXES on which the scenario
lies beyond all that was simulated or published (the known_ entries of
catalogs/calibrated/overheads.yaml), which doubles the range.
"""

from collections.abc import Callable, Iterable

import numpy as np

from calc.evaluate import Columns, evaluate, reading


def _simulated_here(simulated_here, implementation_simulated):
    return simulated_here * implementation_simulated > 0


def _measured_software(implementation_simulated, implementation_measured):
    return (implementation_simulated == 0) & (implementation_measured > 0)


def _derived_software(implementation_simulated, implementation_measured):
    return (implementation_simulated == 0) & (implementation_measured == 0)


def _quantized_serving(trains, dequantized_bytes_each):
    return (trains == 0) & (dequantized_bytes_each > 0)


def _tensor_parallel_beside_sharding(tensor_parallel, is_engine, trains, shards_beside_tensors):
    return (tensor_parallel > 1) & (is_engine == 0) & ((trains == 0) | shards_beside_tensors)


def _context_parallel_not_simulated(context_parallel, implementation_parallel_simulated):
    return (context_parallel > 1) & (implementation_parallel_simulated == 0)


def _expert_parallel_not_simulated(expert_parallel, trains, implementation_parallel_simulated):
    return (expert_parallel > 1) & ((trains == 0) | (implementation_parallel_simulated == 0))


def _offloads(trains, offloads_activations, offloads_optimizer, offloads_weights):
    return trains * (offloads_activations + offloads_optimizer * (1 - offloads_weights)) > 0


# Simulated: transformers and torchtitan on one GPU, under FSDP2 (hybrid, and with its shards in CPU
# memory), DDP and tensor parallel; torchtitan under both, with pipelines, context and expert
# parallel (validation/data); not adapters on experts (peft, tuners/lora/layer.py).
GROUNDS: dict[str, Callable] = {
    "simulated": lambda implementation_simulated: implementation_simulated > 0,
    "simulated-here": _simulated_here,
    "measured-software": _measured_software,
    "measured-quantized-weights": _quantized_serving,
    "derived-software": _derived_software,
    "derived-compiled-blocks": lambda trains, compiles: trains * compiles > 0,
    "derived-8-bit-products": lambda trains, compute_bytes_each: (
        trains * (compute_bytes_each == 1) > 0
    ),
    "derived-divided-master-copy": lambda trains, partitions_master: trains * partitions_master > 0,
    "derived-trained-experts": lambda trains, stack_adapts_experts: (
        (trains > 0) & np.any(stack_adapts_experts, axis=0)
    ),
    "derived-kind-of-layer": lambda stack_layers, stack_block_unlike: np.any(
        (stack_layers > 0) & stack_block_unlike, axis=0
    ),
    "derived-tensor-beside-shards": _tensor_parallel_beside_sharding,
    "derived-context-parallel": _context_parallel_not_simulated,
    "derived-expert-parallel": _expert_parallel_not_simulated,
    "derived-pipeline-stages": lambda pipeline_parallel, trains, simulates_pipeline: (
        (pipeline_parallel > 1) & ~(trains * simulates_pipeline > 0)
    ),
    "derived-offload": _offloads,
    "derived-modules-trained-whole": lambda saved_parameters: saved_parameters > 0,
    "derived-vision-tower": lambda tower_tokens: tower_tokens > 0,
    "extrapolated-blocks": lambda blocks_unknown: blocks_unknown > 0,
    "extrapolated-type": lambda sized: sized > 1,
    "lower-bound": lambda leaves_parts_out: leaves_parts_out > 0,
}
AXES: dict[str, Callable] = {
    "": lambda trains: trains >= 0,
    "sequence-tokens": lambda sequence_tokens, context_parallel, known_tokens, is_engine: (
        (sequence_tokens / context_parallel > known_tokens) & (is_engine == 0)
    ),
    "concurrent-sequences": lambda batch, known_sequences, is_engine: (
        (batch > known_sequences) & (is_engine == 0)
    ),
    "gpus": lambda training_gpus, known_gpus: training_gpus > known_gpus,
    "tensor-parallel": lambda tensor_parallel, known_tensor_parallel: (
        tensor_parallel > known_tensor_parallel
    ),
    "pipeline-stages": lambda pipeline_parallel, known_pipeline_stages: (
        pipeline_parallel > known_pipeline_stages
    ),
}
DERIVED = list(GROUNDS).index("derived-software")


def _last_that_holds(conditions: Iterable[Callable], columns: Columns) -> np.ndarray:
    """The number of the last condition that holds; columns of one value stay so."""
    last = np.zeros(1, dtype=int)
    for number, condition in enumerate(conditions):
        holds = evaluate(condition, columns)
        if number and np.any(holds):
            last = np.where(holds, number, last)
    return last


def shards_beside_tensors(shards_gradients, shard_gpus, implementation_parallel_simulated):
    """1 if software shards beside tensor parallel and this was not simulated. [0 or 1]"""
    return (shards_gradients > 0) & (shard_gpus > 1) & (implementation_parallel_simulated == 0)


def simulates_pipeline(implementation_torch_pipeline, implementation_parallel_simulated):
    """1 for software whose pipelines were simulated. [0 or 1]"""
    return implementation_torch_pipeline * implementation_parallel_simulated


def stack_block_unlike(stack_block_unknown, stack_block_derived, stack_state_bytes, is_engine):
    """1 for blocks unlike any that was simulated. [0 or 1]"""
    return stack_block_unknown | stack_block_derived | ((stack_state_bytes > 0) & (is_engine > 0))


def known_tokens(trains, known_training_tokens, known_serving_tokens):
    """The longest sequence that was simulated or published. [tokens]"""
    return np.where(trains > 0, known_training_tokens, known_serving_tokens)


@reading(GROUNDS.values())
def memory_ground(**columns):
    """Weakest basis of the memory figure, as a number into GROUNDS."""
    return _last_that_holds(GROUNDS.values(), columns)


@reading(AXES.values())
def beyond_axis(**columns):
    """Last axis that lies outside everything known, as a number into AXES."""
    return _last_that_holds(AXES.values(), columns)


def memory_basis(memory_ground, beyond_axis):
    """Basis of the memory figure and its extrapolated axis: ground · axes + axis."""
    return memory_ground * len(AXES) + beyond_axis


def widening_ratio(memory_ground, beyond_axis, derived_spread_ratio):
    """Width of the range over that of a simulated figure inside the known box. [ratio]"""
    return np.where(memory_ground >= DERIVED, derived_spread_ratio, 1.0) * np.where(
        beyond_axis > 0, 2.0, 1.0
    )
