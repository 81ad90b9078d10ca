"""What the traits of a family, as catalogs/families.yaml has them, mean for a model as a whole."""

import math


def rms_norms(block_norms, norm_vectors, unbiased_norms):
    """Root-mean-square norms of the hidden width in one block; 0 where they are LayerNorms. [norms]"""
    return block_norms * (norm_vectors == 1) * (1 - unbiased_norms)


def longest_sequence_tokens(kind, learned_positions, max_position):
    """Positions of a model that learns them; infinity for all others and for images. [tokens]"""
    return max_position if learned_positions and kind not in ("vision", "dual") else math.inf


FORMULAS = (rms_norms, longest_sequence_tokens)
