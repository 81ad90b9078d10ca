"""Tensors that adapters of LoRA save beside those of a block (peft 0.21). Bytes per token.

An fp32 adapter saves an fp32 copy of its input, one per adapted matrix, and under autocast also a
16-bit one. A 16-bit adapter shares its input with neighboring adapters; the output projection's
adapter shares it with attention. Each adapter saves its product of width `rank`. Source: peft 0.21,
tuners/lora/layer.py; read off simulated steps (validation/data/post_training.csv,
validation/data/parallel/qlora.csv).
"""

import numpy as np

from calc.scenarios.stack_numbers import ADAPTED

IN_BLOCK = ADAPTED[
    : ADAPTED.index("router")
]  # matrices whose inputs a block saves; those of experts are merged with their adapters
READ_TOGETHER = (
    ("q", "k", "v"),
    ("gate", "up"),
    ("down",),
    ("mixer",),
    ("beside",),
)  # matrices that read the same input
# Whether each matrix is divided by its input under tensor parallel. Shape: (matrices,).
ROW_PARALLEL = np.isin(ADAPTED, ("o", "down"))


def runs_autocast(autocast_bytes_each, widens_outputs, matrix_bytes_each):
    """1 if adapters multiply under autocast, over wide weights or over 16-bit ones. [0 or 1]"""
    return ((autocast_bytes_each > 0) | ((widens_outputs > 0) & (matrix_bytes_each == 2))) * 1.0


def copies_input_bytes_each(
    adapter_bytes_each, runs_autocast, compute_bytes_each, matrix_bytes_each
):
    """Width of the copy that each adapted matrix saves of its input; 0 if they share one. [B]

    It has 16 bits under autocast. Beside a quantized matrix, whose own product saves a copy too, it
    counts twice. Source: validation/data/parallel/qlora.csv, validation/data/post_training.csv.
    """
    wide = (runs_autocast == 0) & (compute_bytes_each < 4)
    autocast = np.where(matrix_bytes_each < 2, 4.0, 2.0)
    return (adapter_bytes_each == 4) * np.where(
        runs_autocast > 0, autocast, np.where(wide, 4.0, 0.0)
    )


def shared_input_bytes_each(adapter_bytes_each, copies_input_bytes_each):
    """Width of the one input that neighboring adapters share; 0 if each keeps its own. [B]"""
    return np.where(copies_input_bytes_each > 0, 0.0, adapter_bytes_each)


def rank_product_bytes_each(adapter_bytes_each, runs_autocast):
    """Width of the product between an adapter's two matrices. [B]"""
    return np.where((adapter_bytes_each == 4) & (runs_autocast > 0), 2.0, adapter_bytes_each)


def stack_adapter_inputs(adapts_matrices, stack_adapter_in_width):
    """Width of each adapted matrix's input, 0 if it is not adapted. [elements]

    Shape: (matrices, stacks, rows).
    """
    return adapts_matrices * stack_adapter_in_width


def stack_adapts_experts(stack_adapter_inputs):
    """1 if LoRA adapts a block's routed experts. [0 or 1]"""
    experts = stack_adapter_inputs[ADAPTED.index("experts")]
    return experts > 0


def stack_held_inputs(stack_adapter_inputs, tensor_parallel):
    """Inputs of adapted matrices on one GPU. [elements]

    Those of row-parallel matrices are divided; those of others are gathered whole. Shape:
    (matrices, stacks, rows). Source: Megatron-Bridge 067f987, src/megatron/bridge/peft/utils.py,
    ParallelLinearAdapter (input_is_parallel).
    """
    return stack_adapter_inputs / np.where(ROW_PARALLEL[:, None, None], tensor_parallel, 1.0)


def stack_copied_elements(stack_held_inputs):
    """Inputs of all adapted matrices, one for each. [elements]"""
    return np.sum(stack_held_inputs[: len(IN_BLOCK)], axis=0)


def stack_shared_elements(stack_held_inputs):
    """Inputs of all adapted matrices, one for those that read the same. [elements]"""
    alike = (_inputs(stack_held_inputs, *together) for together in READ_TOGETHER)
    return sum(
        np.select(list(inputs > 0), list(inputs)) for inputs in alike
    )  # of each group the first that is adapted


def _inputs(stack_adapter_inputs, *matrices):
    """The inputs of some matrices. Shape (matrices, stacks, rows)."""
    return stack_adapter_inputs[[ADAPTED.index(matrix) for matrix in matrices]]


def stack_adapters(stack_adapter_inputs):
    """Adapted matrices of a block. [matrices]"""
    inputs = stack_adapter_inputs[: len(IN_BLOCK)]
    return np.sum(inputs > 0, axis=0)


def stack_rank_products(stack_adapters, stack_adapter_inputs, stack_mixer_inputs):
    """Products of rank width that a block saves: one per adapter, more at a mixer. [products]"""
    mixer, parallel_network = _inputs(stack_adapter_inputs, "mixer", "beside")
    return stack_adapters + (mixer > 0) * stack_mixer_inputs + (parallel_network > 0)


def stack_padded_elements(adapts_matrices, stack_query_width, stack_key_width, stack_value_width):
    """Update of a joint adapter, with zeros for projections that it does not adapt. [elements]

    Source: litgpt/lora.py, LoRAQKVLinear.
    """
    query, key, value = _inputs(adapts_matrices, "q", "k", "v")
    width = query * stack_query_width + key * stack_key_width + value * stack_value_width
    return width * (1 - query * key * value)


def stack_fused_adapter_bytes_per_token(
    stack_adapter_inputs,
    stack_copied_elements,
    stack_adapters,
    stack_padded_elements,
    adapter_bytes_each,
    lora_rank,
):
    """Bytes that litgpt's adapters save: products, padding, dropped input, mask. [B]

    Queries, keys and values have one adapter and therefore one input. Source: litgpt/lora.py.
    """
    joint = _inputs(stack_adapter_inputs, "q", "k", "v")
    inputs = stack_copied_elements - np.sum(joint, axis=0) + np.max(joint, axis=0)
    return (adapter_bytes_each + 1) * inputs + adapter_bytes_each * (
        stack_adapters * lora_rank + stack_padded_elements
    )


def stack_adapter_saved_bytes_per_token(
    copies_input_bytes_each,
    stack_copied_elements,
    shared_input_bytes_each,
    stack_shared_elements,
    rank_product_bytes_each,
    stack_rank_products,
    lora_rank,
    implementation_fuses_adapters,
    stack_fused_adapter_bytes_per_token,
):
    """Bytes that a block's adapters save: copies of inputs, products of rank width. [B]"""
    inputs = (
        copies_input_bytes_each * stack_copied_elements
        + shared_input_bytes_each * stack_shared_elements
    )
    apart = inputs + rank_product_bytes_each * (stack_rank_products * lora_rank)
    return np.where(implementation_fuses_adapters > 0, stack_fused_adapter_bytes_per_token, apart)
