"""Bytes that a pass of a micro-batch moves beside its products, for one model replica.

A pass is the forward of training, or the prefill of inference. Stack columns have the shape
(stacks, rows).
"""

import numpy as np


def stack_met_ffn_width(
    stack_ffn_width, stack_shared_ffn_width, stack_experts_per_token, stack_expert_ffn_width
):
    """Inner width of the networks that a token meets: dense, shared, k experts. [elements]

    By definition.
    """
    return (
        stack_ffn_width + stack_shared_ffn_width + stack_experts_per_token * stack_expert_ffn_width
    )


def stack_output_width(
    stack_hidden,
    stack_expert_hidden,
    stack_query_width,
    stack_key_width,
    stack_mixer_in_width,
    stack_experts_per_token,
    stack_met_ffn_width,
):
    """Elements that a block writes per token, routing and experts included. [elements]

    4 h for residual and norms, 2 (q + k) for projections or a mixer's, 3 f for the networks, 4
    times the width of the experts' inputs for each of k experts. Source: the operations of
    transformers' LlamaDecoderLayer and MixtralSparseMoeBlock, counted; calibrated by element_passes
    of catalogs/calibrated/engines.yaml.
    """
    mixed = 2 * (stack_query_width + stack_key_width) + stack_mixer_in_width
    routed = stack_experts_per_token * stack_expert_hidden
    return 4 * (stack_hidden + routed) + mixed + 3 * stack_met_ffn_width


def element_bytes(
    batch_sequences, stack_layers, stack_pass_tokens, stack_output_width, compute_bytes_each
):
    """Outputs of a forward pass in 16 bits, or 32: norms, activations, residuals, routing. [B]

    By definition.
    """
    elements = np.sum(stack_layers * stack_pass_tokens * stack_output_width, axis=0)
    return np.maximum(compute_bytes_each, 2) * batch_sequences * elements


def cast_bytes_each(compute_bytes_each, compiles, engine_cast_bytes_each, compiled_cast_bytes_each):
    """Bytes moved to cast one element to 8 bits; 0 where products are wider. [B]

    Reads and writes of absolute value, maximum, scaling, clamping and cast, of which torch.compile
    leaves the maximum's read and one read and write, and a copy in the other layout. Source:
    torchao/float8/float8_ops.py, preprocess_addmm.
    """
    compiled = np.minimum(engine_cast_bytes_each, compiled_cast_bytes_each)
    return (compute_bytes_each < 2) * np.where(compiles > 0, compiled, engine_cast_bytes_each)


def stack_cast_width(
    stack_hidden,
    stack_expert_hidden,
    stack_query_width,
    stack_key_width,
    stack_experts_per_token,
    stack_met_ffn_width,
):
    """Elements cast per token: inputs h, q, h, f, gradients q + 2k, h, 2f, h. [elements]

    Source: torchao/float8/float8_linear.py.
    """
    routed = 2 * stack_experts_per_token * stack_expert_hidden
    return (
        4 * stack_hidden
        + 2 * stack_query_width
        + 2 * stack_key_width
        + 3 * stack_met_ffn_width
        + routed
    )


def cast_bytes(
    trains,
    cast_bytes_each,
    batch_sequences,
    stack_layers,
    stack_pass_tokens,
    stack_cast_width,
    stack_block_linear_parameters,
):
    """Bytes that casts to 8 bits move: activations, gradients, weights twice. [B]

    Source: as cast_bytes_each.
    """
    elements = np.sum(
        stack_layers
        * (
            batch_sequences * stack_pass_tokens * stack_cast_width
            + 2 * stack_block_linear_parameters
        ),
        axis=0,
    )
    return trains * cast_bytes_each * elements


def score_bytes(
    batch_sequences,
    stack_layers,
    stack_heads,
    stack_pass_tokens,
    computes_all_scores,
    compute_bytes_each,
):
    """Scores of an eager attention kernel, once, in 16 bits or 32. [B]

    A flash kernel writes none. Source: Dao et al. 2022, arXiv 2205.14135.
    """
    scores = batch_sequences * np.sum(stack_layers * stack_heads * stack_pass_tokens**2, axis=0)
    return computes_all_scores * np.maximum(compute_bytes_each, 2) * scores


def logit_bytes(batch_sequences, head_tokens, outputs):
    """Logits of a micro-batch, once, in fp32. [B]

    By definition.
    """
    return 4 * batch_sequences * head_tokens * outputs


def dequantize_bytes(linear_parameters, kernel_dequantize_bytes_each):
    """Traffic of widening all quantized matrices once, to multiply with them. [B]

    Source: catalogs/calibrated/kernels.yaml, dequantize_bytes_each.
    """
    return kernel_dequantize_bytes_each * linear_parameters
