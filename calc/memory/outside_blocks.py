"""Tensors that are saved outside the blocks, by kind of head. Bytes.

Read off simulated steps of transformers: catalogs/read_off/heads.yaml.
"""

import numpy as np

from calc.memory.block_forms import CASES
from calc.memory.size_expressions import SIZES

OUTSIDE_SIZES = (
    "hidden",
    "hidden_dropout",
    "source_hidden",
    "shared_scores",
    "layer_inputs",
    "one",
)
WINDOWED = [CASES.index(name) for name in CASES if name.startswith("sdpa-window")]


def outside_coefficients(head_coefficients, head_row, activation_format, adapts):
    """Bytes per token and element that a row saves outside the blocks, by size."""
    coefficients = head_coefficients["outside"][
        (adapts > 0).astype(int), head_row, activation_format
    ]
    return {name: coefficients[..., SIZES.index(name)] for name in OUTSIDE_SIZES}


def outside_tokens(batch_sequences, has_source, decoder_tokens, sequence_tokens, context_parallel):
    """Tokens that leave the last block on one GPU. [tokens]"""
    return (
        batch_sequences
        * np.where(has_source > 0, decoder_tokens, sequence_tokens)
        / context_parallel
    )


def outside_source_tokens(batch_sequences, has_source, sequence_tokens, fixed_tokens):
    """Tokens that leave the encoder. [tokens]"""
    return batch_sequences * np.where(has_source > 0, sequence_tokens, fixed_tokens)


def position_table_bytes(
    head_dim, sequence_tokens, context_parallel, longest_sequence_tokens, is_decoder
):
    """Sines and cosines of rotary positions, which all blocks share. [B]"""
    rotary = np.isinf(longest_sequence_tokens) & (is_decoder > 0)
    return 4 * head_dim * sequence_tokens / context_parallel * rotary


def mask_elements(batch_sequences, sequence_tokens, context_parallel):
    """Pairs of tokens in a micro-batch on one GPU: batch · tokens². [elements]"""
    return batch_sequences * sequence_tokens**2 / context_parallel


def mask_bytes(
    stack_attention_case,
    computes_all_scores,
    stack_layers,
    stack_window_tokens,
    activation_format,
    is_decoder,
    mask_elements,
):
    """A mask for the full blocks of a decoder and one for the sliding ones. [B]

    It is as wide as the hidden states with eager attention, and one byte if a sliding window is
    reached. Source: transformers, masking_utils.py.
    """
    present = stack_layers > 0
    scored = (computes_all_scores > 0) & present
    slides = np.isfinite(stack_window_tokens)
    eager = np.any(scored & slides, axis=0) * 1 + np.any(scored & ~slides, axis=0) * is_decoder
    windowed = np.any(np.isin(stack_attention_case, WINDOWED) & present, axis=0)
    width = np.where(eager > 0, eager * np.where(activation_format == 0, 2.0, 4.0), windowed * 1.0)
    return width * mask_elements


def shared_scores_bytes(outside_coefficients, heads, sequence_tokens, keeps_input):
    """Position scores that all blocks of a checkpointed model share. [B]"""
    return outside_coefficients["shared_scores"] * heads * sequence_tokens**2 * keeps_input


def relative_tables_bytes(
    outside_coefficients,
    heads,
    sequence_tokens,
    decoder_tokens,
    activation_format,
    keeps_input,
    adapts,
):
    """Tables of relative positions beside those of the blocks, without recompute. [B]

    The embedding of each side's buckets keeps their indices, 8 bytes a pair of tokens; cross
    attention has a table of zeros, which autocast does not keep. Source: transformers 5.23,
    T5Attention.forward and compute_bias; validation/data/held_out_train.csv, rows 44 to 47.
    """
    present = np.sign(outside_coefficients["shared_scores"]) * (1 - keeps_input)
    buckets = 8 * (sequence_tokens**2 + decoder_tokens**2) * (adapts == 0)
    width = np.select([activation_format == 0, activation_format == 1], [2.0, 4.0], 0.0)
    return present * (buckets + width * heads * sequence_tokens * decoder_tokens)


def scaled_outputs_bytes(outside_coefficients, outside_tokens, hidden, tied, activation_format):
    """Outputs of the decoder beside what the head reads of them, until the loss is there. [B]

    A tied head of T5 reads them scaled; the class returns them as they were. Autocast makes both in
    fp32 and a copy for the product. Source: transformers 5.23,
    T5ForConditionalGeneration.forward; validation/data/held_out_2_train.csv, row 35.
    """
    returns = np.sign(outside_coefficients["shared_scores"])
    width = np.where(activation_format == 0, 2.0, 4.0)
    copies = tied + (activation_format == 2)
    return returns * width * copies * hidden * outside_tokens


def outside_backward_bytes(
    outside_coefficients,
    outside_tokens,
    layer_inputs_width,
    shared_scores_bytes,
    relative_tables_bytes,
    position_table_bytes,
    mask_bytes,
    tower_kept_bytes,
):
    """Labels, positions, masks, scores and a tower, until the backward pass ends. [B]"""
    bytes_per_token = (
        outside_coefficients["one"] + outside_coefficients["layer_inputs"] * layer_inputs_width
    )
    return (
        position_table_bytes
        + mask_bytes
        + shared_scores_bytes
        + relative_tables_bytes
        + outside_tokens * bytes_per_token
        + tower_kept_bytes
    )


def outside_saved_bytes(
    outside_coefficients,
    outside_tokens,
    outside_source_tokens,
    hidden,
    hidden_dropout,
    sequence_split,
    outside_backward_bytes,
    activation_bytes_each,
    fuses_norms,
    implementation_regathers_norms,
):
    """The final norm's input and output, beside what the whole backward pass needs. [B]

    With sequence parallelism the norm's gathered output stays whole, unless the backward pass
    gathers it again; a norm in one kernel stores its input and output. Source: torchtitan,
    simulated (validation/data/parallel/tp.csv).
    """
    split = sequence_split > 1
    norm = np.where(fuses_norms > 0, 2 * activation_bytes_each, outside_coefficients["hidden"])
    of_norm = (norm + outside_coefficients["hidden_dropout"] * hidden_dropout) * outside_tokens
    wide = (
        hidden
        / sequence_split
        * (of_norm + outside_coefficients["source_hidden"] * outside_source_tokens)
    )
    gathered_bytes = np.where(
        split & (implementation_regathers_norms == 0),
        activation_bytes_each * hidden * outside_tokens,
        0,
    )
    return wide + gathered_bytes * (1 - 1 / sequence_split) + outside_backward_bytes
