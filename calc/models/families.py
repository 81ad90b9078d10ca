"""What the traits of a family (catalogs/edited/families.yaml) mean for a whole model."""

import math


def rms_norms(block_norms, norm_vectors, unbiased_norms):
    """RMSNorms of the hidden width in one block; 0 where they are LayerNorms. [norms]"""
    return block_norms * (norm_vectors == 1) * (1 - unbiased_norms)


def longest_sequence_tokens(kind, learned_positions, max_position):
    """Positions of a model that learns them; infinity for all others and for images. [tokens]"""
    return max_position if learned_positions and kind not in ("vision", "dual") else math.inf


def index_ratio(indexed_layers, layers, index_heads):
    """Share of the layers that have an indexer of their own (GLM-5 shares some). [0 to 1]"""
    return (indexed_layers or layers) / layers if index_heads and layers else 0
