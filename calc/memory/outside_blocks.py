"""The two ends of a model: final norm, labels, positions and shared masks, by kind of head (catalogs/heads.yaml). Bytes."""

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.memory.block_forms import CASES, SIZES, vector
from calc.scenarios.join import FORMATS

OUTSIDE_SIZES = ("hidden", "hidden_dropout", "source_hidden", "shared_scores", "layer_inputs", "one")
WINDOWED = [CASES.index(name) for name in CASES if name.startswith("sdpa-window")]


@kept("models", "heads")
def head_rows(catalogs: Catalogs) -> np.ndarray:
    """Per model the number of its head."""
    entries = list(catalogs.heads.values())
    owner = {family: number for number, head in enumerate(entries) for family in head["families"]}
    default = next(number for number, head in enumerate(entries) if not head["families"])
    return np.array([owner.get(kind, default) for kind in catalogs.models["model_type"]])


@kept("heads")
def head_coefficients(catalogs: Catalogs) -> dict[str, np.ndarray]:
    """widths: bytes per logit (head, format, forward | saved | backward); outside: its vector (frozen, head, format, size)."""
    entries = list(catalogs.heads.values())
    widths = np.full((len(entries), len(FORMATS), 3), np.nan)
    outside = np.full((2, len(entries), len(FORMATS), len(SIZES)), np.nan)
    for number, head in enumerate(entries):
        for form in head["forms"]:
            f = FORMATS.index(form["format"])
            widths[number, f] = form["forward"], form["saved"], form["backward"]
            outside[:, number, f] = vector(form["outside"]), vector(form["frozen_outside"])
    return {"widths": widths, "outside": outside}


def outside_coefficients(head_coefficients, head_row, activation_format, adapts):
    """The outside vector of each row by size: bytes per token and element."""
    own = head_coefficients["outside"][(adapts > 0).astype(int), head_row, activation_format]
    return {name: own[..., SIZES.index(name)] for name in OUTSIDE_SIZES}


def outside_tokens(batch, has_source, decoder_tokens, sequence_tokens, context_parallel):
    """Tokens that leave the last block on one GPU. [tokens]"""
    return batch * np.where(has_source > 0, decoder_tokens, sequence_tokens) / context_parallel


def outside_source_tokens(batch, has_source, sequence_tokens, fixed_tokens):
    """Tokens that leave the encoder. [tokens]"""
    return batch * np.where(has_source > 0, sequence_tokens, fixed_tokens)


def position_table_bytes(head_dim, sequence_tokens, context_parallel, longest_sequence_tokens, is_decoder):
    """Sines and cosines of rotary positions, shared by all blocks. [B]"""
    rotary = np.isinf(longest_sequence_tokens) & (is_decoder > 0)
    return 4 * head_dim * sequence_tokens / context_parallel * rotary


def mask_bytes(
    stack_attention_case,
    computes_all_scores,
    stack_layers,
    stack_window_tokens,
    activation_format,
    is_decoder,
    batch,
    sequence_tokens,
    context_parallel,
):
    """One mask for all full blocks of a decoder and one for all sliding ones, of batch · tokens². [B]

    Of the hidden states' width with eager attention, a byte where a sliding window is reached (transformers,
    masking_utils.py).
    """
    present = stack_layers > 0
    scored = (computes_all_scores > 0) & present
    slides = np.isfinite(stack_window_tokens)
    eager = np.any(scored & slides, axis=0) * 1 + np.any(scored & ~slides, axis=0) * is_decoder
    windowed = np.any(np.isin(stack_attention_case, WINDOWED) & present, axis=0)
    width = np.where(eager > 0, eager * np.where(activation_format == 0, 2.0, 4.0), windowed * 1.0)
    return width * batch * sequence_tokens**2 / context_parallel


def outside_backward_bytes(
    outside_coefficients,
    outside_tokens,
    heads,
    sequence_tokens,
    keeps_input,
    layer_inputs_width,
    position_table_bytes,
    mask_bytes,
    tower_kept_bytes,
):
    """Saved outside the blocks until the backward pass ends: labels, positions, masks, shared scores, layers' own inputs, a tower. [B]"""
    scores = outside_coefficients["shared_scores"] * heads * sequence_tokens**2 * keeps_input
    each = outside_coefficients["one"] + outside_coefficients["layer_inputs"] * layer_inputs_width
    return position_table_bytes + mask_bytes + scores + outside_tokens * each + tower_kept_bytes


def outside_saved_bytes(
    outside_coefficients,
    outside_tokens,
    outside_source_tokens,
    hidden,
    hidden_dropout,
    sequence_split,
    outside_backward_bytes,
    activation_bytes_each,
    implementation_fuses_norms,
    implementation_regathers_norms,
):
    """Saved outside the blocks: the final norm's input and output beside what stays to the end. [B]

    With sequence parallelism the norm's gathered output stays whole, unless the backward pass gathers it again; a norm in
    one kernel keeps its input and output (torchtitan, simulated: validation/data/parallel/tp.csv).
    """
    split = sequence_split > 1
    norm = np.where(implementation_fuses_norms > 0, 2 * activation_bytes_each, outside_coefficients["hidden"])
    own = (norm + outside_coefficients["hidden_dropout"] * hidden_dropout) * outside_tokens
    wide = hidden / sequence_split * (own + outside_coefficients["source_hidden"] * outside_source_tokens)
    whole = np.where(split & (implementation_regathers_norms == 0), activation_bytes_each * hidden * outside_tokens, 0)
    return wide + whole * (1 - 1 / sequence_split) + outside_backward_bytes


OUTSIDE = (
    outside_coefficients,
    outside_tokens,
    outside_source_tokens,
    position_table_bytes,
    mask_bytes,
    outside_backward_bytes,
    outside_saved_bytes,
)
