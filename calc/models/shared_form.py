"""Widths by which software with one block for all families tells blocks apart."""


def rms_norm_width(rms_norms, hidden):
    """Width of the hidden state, once for each RMSNorm of it in one block. [elements per token]"""
    return rms_norms * hidden


def layer_norm_width(block_norms, rms_norms, hidden):
    """Width of the hidden state, once for each LayerNorm in a block. [elements per token]"""
    return (block_norms - rms_norms) * hidden


def gated_ffn_width(gated, ffn_width):
    """Inner width of a network of three matrices, 0 where it has two. [elements per token]"""
    return gated * ffn_width


def norms_heads(head_norm, full_norm):
    """1 where queries and keys are normed. [0 or 1]"""
    return max(head_norm, full_norm)
