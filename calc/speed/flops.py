"""FLOP of one pass of a micro-batch, for one whole model replica.

A pass is the forward of training, or the prefill of inference. Stack columns have the shape
(stacks, rows).
"""

import numpy as np


def model_blocks(stack_layers):
    """Blocks of all stacks. [blocks]

    By definition.
    """
    return np.sum(stack_layers, axis=0)


def expert_blocks(stack_layers, stack_experts):
    """Blocks that have experts. [blocks]

    By definition.
    """
    return np.sum(stack_layers * (stack_experts > 0), axis=0)


def linear_parameters(stack_layers, stack_block_linear_parameters):
    """Elements of the matrices of all blocks. [parameters]

    By definition.
    """
    return np.sum(stack_layers * stack_block_linear_parameters, axis=0)


def expert_parameters(stack_layers, stack_block_expert_parameters):
    """Routed experts of the model: layers · parameters of a block's experts. [parameters]

    By definition.
    """
    return np.sum(stack_layers * stack_block_expert_parameters, axis=0)


def model_split(tensor_parallel, pipeline_parallel):
    """GPUs that divide the model itself. [GPUs]

    By definition.
    """
    return tensor_parallel * pipeline_parallel


def pass_tokens(trains, sequence_tokens, prompt_tokens):
    """Tokens of a sequence in one pass: all in training, the prompt in serving. [tokens]

    By definition.
    """
    return np.where(trains > 0, sequence_tokens, prompt_tokens)


def stack_pass_tokens(
    stack_side, pass_tokens, prefix_prompt_tokens, decoder_tokens, fixed_tokens, has_source
):
    """Tokens of a sequence that run through each stack; none from the prefix cache. [tokens]

    By definition.
    """
    computed = pass_tokens - prefix_prompt_tokens
    decoder = np.where(has_source > 0, np.minimum(decoder_tokens, computed), computed)
    return np.where(stack_side == 0, decoder, np.where(stack_side == 1, computed, fixed_tokens))


def batch_tokens(batch_sequences, stack_side, stack_layers, stack_pass_tokens):
    """Tokens of a micro-batch on one replica; the patches of an image. [tokens]

    By definition.
    """
    sides = [
        np.where((stack_side == side) & (stack_layers > 0), stack_pass_tokens, 0) for side in (0, 1)
    ]
    text = np.max(sides[0], axis=0) + np.max(sides[1], axis=0)
    fixed = np.max(np.where(stack_layers > 0, stack_pass_tokens, 0), axis=0)
    return batch_sequences * np.where(text > 0, text, fixed)


def step_tokens(
    trains,
    rolls_out,
    batch_tokens,
    accumulation_steps,
    data_parallel,
    step_sequences,
    prompt_tokens,
    mean_answer_tokens,
):
    """Tokens of one step over all GPUs; generated answers count their mean. [tokens]

    By definition.
    """
    tokens = np.where(
        rolls_out > 0,
        step_sequences * (prompt_tokens + mean_answer_tokens),
        batch_tokens * accumulation_steps * data_parallel,
    )
    return np.where(trains > 0, tokens, np.nan)


def stack_chosen_experts_ratio(stack_experts, stack_experts_per_token):
    """Share of the experts that a token meets: k / E. Shape (stacks, rows). [share]

    Source: top-k routing, Shazeer et al. 2017, arXiv 1701.06538.
    """
    return np.minimum(stack_experts_per_token / np.maximum(stack_experts, 1), 1)


def stack_idle_experts_ratio(stack_experts, stack_chosen_experts_ratio):
    """Share of the experts that a token does not meet: 1 − k / E. Shape (stacks, rows). [share]

    By definition.
    """
    return np.where(stack_experts > 0, 1 - stack_chosen_experts_ratio, 0)


def stack_active_parameters(
    stack_layers,
    stack_block_linear_parameters,
    stack_block_expert_parameters,
    stack_idle_experts_ratio,
    stack_waveform_active_parameters,
    stack_own_layers_ratio,
):
    """Weights that one token meets per stack: layers · (linear − idle experts). [parameters]

    Embeddings, biases and norms multiply no matrix; a frame's convolutions over the waveform do. A
    layer that reuses another's weights multiplies with all of them. Shape (stacks, rows). Source:
    Kaplan et al. 2020, arXiv 2001.08361, section 2.1, N without embeddings.
    """
    repeated = np.where(stack_own_layers_ratio > 0, stack_own_layers_ratio, 1)
    products = stack_block_linear_parameters / repeated + stack_waveform_active_parameters
    return stack_layers * (products - stack_block_expert_parameters * stack_idle_experts_ratio)


def head_tokens(trains, stack_side, stack_pass_tokens, stack_layers, logits_of_all):
    """Tokens of a sequence that reach the head: all in training, else the last or all. [tokens]

    By definition.
    """
    decoder = np.max(np.where((stack_side == 0) & (stack_layers > 0), stack_pass_tokens, 1), axis=0)
    return np.where((trains > 0) | (logits_of_all > 0), decoder, 1)


def _causal_pairs(tokens, stack_window_tokens):
    """Pairs of tokens in a sequence under a causal mask and a window w: s w − w² / 2."""
    window = np.minimum(stack_window_tokens, tokens)
    return tokens * window - window**2 / 2


def stack_context_tokens(
    stack_side,
    stack_pass_tokens,
    prefix_prompt_tokens,
    stack_window_tokens,
    is_causal,
    computes_all_scores,
):
    """Mean number of tokens that one computed token attends to in each stack. [tokens]

    Causal: half of the sequence; with a window w shorter than s tokens w − w² / 2s; those from the
    prefix cache are attended to, and attend to nothing. Eager kernels compute all scores. Source:
    windows as in Mistral, arXiv 2310.06825.
    """
    window = np.minimum(stack_window_tokens, stack_pass_tokens)
    pairs = _causal_pairs(stack_pass_tokens + prefix_prompt_tokens, stack_window_tokens)
    causal = (pairs - _causal_pairs(prefix_prompt_tokens, stack_window_tokens)) / np.maximum(
        stack_pass_tokens, 1
    )
    looks_back = (stack_side == 0) & (is_causal > 0)
    return np.where(
        computes_all_scores > 0, stack_pass_tokens, np.where(looks_back, causal, window)
    )


def matmul_flops(batch_sequences, stack_pass_tokens, stack_active_parameters):
    """Forward matrix products of all blocks: 2 · batch · tokens · active parameters. [FLOP]

    Source: Kaplan et al. 2020, arXiv 2001.08361, table 1: C = 2 N per token.
    """
    return 2 * batch_sequences * np.sum(stack_pass_tokens * stack_active_parameters, axis=0)


def expert_matmul_flops(
    batch_sequences,
    stack_pass_tokens,
    stack_layers,
    stack_block_expert_parameters,
    stack_chosen_experts_ratio,
):
    """Forward products of routed experts: 2 · batch · tokens · experts · k / E. [FLOP]

    Source: Shazeer et al. 2017, arXiv 1701.06538.
    """
    chosen_parameters = stack_block_expert_parameters * stack_chosen_experts_ratio
    return (
        2 * batch_sequences * np.sum(stack_pass_tokens * stack_layers * chosen_parameters, axis=0)
    )


def casts_experts(is_engine, experts_only, tiles_experts, card_casts_mxfp4):
    """1 if experts in MXFP4 are multiplied with inputs cast to 8 bits. [0 or 1]

    Source: vLLM 0.12, layers/quantization/mxfp4.py, get_mxfp4_backend: on Blackwell with
    VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8, which published runs of gpt-oss set; without it, and
    elsewhere, weights are widened to 16 bits.
    """
    return is_engine * experts_only * tiles_experts * np.nan_to_num(card_casts_mxfp4)


def filled_card_ratio(
    batch_sequences,
    stack_pass_tokens,
    stack_experts,
    stack_experts_per_token,
    stack_expert_ffn_width,
    expert_parallel,
    engine_loops_experts,
    filling_outputs,
):
    """Share of a card that one expert's product fills, where a loop takes them in turn. [share]

    Outputs, tokens of the expert · its width, over those of a card full of tiles; 0 where experts
    are sent to GPUs of their own, whose runs the ratio by software was read off. Source: NVIDIA,
    Matrix Multiplication Background User's Guide, section 4.2, tile and wave quantization.
    """
    tokens = stack_pass_tokens * stack_experts_per_token / np.maximum(stack_experts, 1)
    outputs = batch_sequences * np.max(tokens * stack_expert_ffn_width, axis=0)
    in_turn = (engine_loops_experts > 0) & (expert_parallel <= 1)
    return in_turn * np.minimum(outputs / filling_outputs, 1)


def expert_matmul_ratio(
    engine_expert_matmul_ratio,
    release_expert_matmul_ratio,
    filled_card_ratio,
    casts_experts,
    gpu_fp8_flops_per_second,
    gpu_bf16_flops_per_second,
    card_narrow_matmul_ratio,
    card_matmul_ratio,
    engine_narrow_matmul_ratio,
):
    """Share of the rate of dense products that experts reach in the release. [share]

    Those of narrow experts were read off; products that fill the card reach what dense ones do. If
    experts alone are multiplied in 8 bits, the dense products beside them are not. Source:
    catalogs/calibrated/engines.yaml and earlier_releases.yaml.
    """
    shared = np.where(
        np.isnan(release_expert_matmul_ratio),
        engine_expert_matmul_ratio,
        release_expert_matmul_ratio,
    )
    shared = np.maximum(shared, filled_card_ratio)
    narrow = gpu_fp8_flops_per_second * card_narrow_matmul_ratio * engine_narrow_matmul_ratio
    return shared * np.where(
        casts_experts > 0, narrow / (gpu_bf16_flops_per_second * card_matmul_ratio), 1
    )


def dense_equivalent_flops(matmul_flops, expert_matmul_flops, expert_matmul_ratio):
    """Dense products that take as long as the blocks' products, which reach less. [FLOP]

    By definition.
    """
    return matmul_flops + expert_matmul_flops * (1 / expert_matmul_ratio - 1)


def head_flops(batch_sequences, head_tokens, outputs, hidden):
    """Forward product with the output head: 2 · tokens · outputs · hidden. [FLOP]

    Source: Kaplan et al. 2020, arXiv 2001.08361, table 1, de-embedding.
    """
    return 2 * batch_sequences * head_tokens * outputs * hidden


def stack_attended_tokens(
    stack_context_tokens, stack_cross_attention, stack_side, stack_pass_tokens, stack_layers
):
    """Mean tokens that one token attends to, including an encoder's. [tokens]

    By definition.
    """
    source = np.max(np.where((stack_side > 0) & (stack_layers > 0), stack_pass_tokens, 0), axis=0)
    return stack_context_tokens + stack_cross_attention * source


def attention_flops(
    batch_sequences,
    stack_layers,
    stack_query_width,
    stack_recurrent_state_elements,
    stack_pass_tokens,
    stack_attended_tokens,
):
    """Forward attention: 4 · query width · tokens · context, and the products of states. [FLOP]

    Queries with keys and scores with values; a layer with a state takes three products of it per
    token instead, to read, to correct and to write. Source: Korthikanti et al. 2022, arXiv
    2205.05198, appendix A, the causal half left out; Yang et al. 2024, arXiv 2412.06464, equation
    10.
    """
    per_token = 4 * stack_query_width * stack_attended_tokens + 6 * stack_recurrent_state_elements
    return batch_sequences * np.sum(stack_layers * stack_pass_tokens * per_token, axis=0)


def tower_flops(
    batch_sequences,
    tower_tokens,
    tower_linear_parameters,
    image_patches_tokens,
    tower_layers,
    tower_full_layers,
    tower_hidden,
):
    """Forward pass of a vision tower: 2 · weights per patch, 4 · width per pair. [FLOP]

    Source: Kaplan et al. 2020, arXiv 2001.08361; Korthikanti et al. 2022, arXiv 2205.05198, without
    a causal half. Valid: layers that attend to windows of an image (Qwen2.5-VL, arXiv 2502.13923)
    are counted without their pairs; stem, merger and projector are left out.
    """
    full_layers = np.where(tower_full_layers > 0, tower_full_layers, tower_layers)
    pairs = 4 * full_layers * tower_hidden * image_patches_tokens
    return batch_sequences * tower_tokens * (2 * tower_linear_parameters + pairs)
