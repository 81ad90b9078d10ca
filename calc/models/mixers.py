"""Mixers, which keep a state instead of a cache: widths, weights and states by kind.

Each function gives the sizes of one kind; block_parameters.py has the formulas for all kinds.
Counts, not bytes.
"""

from dataclasses import dataclass

from calc.mappings import Cells as Sizes


@dataclass(frozen=True)
class MixerSizes:
    """The sizes of a mixer; a size that a kind lacks is 0.

    `mixer_in_width`: outputs of its input projections. `mixer_width`: inputs of its output
    projection. `mixer_inner_*`: the matrices between the two. `mixer_vectors`: further parameters.
    `convolution_channels`: channels of its short convolution. `recurrent_state_elements`: elements
    per sequence.
    """

    mixer_in_width: int = 0
    mixer_width: int = 0
    convolution_channels: int = 0
    mixer_inner_linear: int = 0
    mixer_inner_in_width: int = 0
    mixer_inner_out_width: int = 0
    mixer_vectors: int = 0
    recurrent_state_elements: int = 0
    mixer_heads: int = 0
    state_group_width: int = 0
    state_key_width: int = 0


def delta(sizes: Sizes) -> MixerSizes:
    """Gated DeltaNet: queries, keys, values and a gate; decay and learning rate per head.

    Source: Yang et al. 2024, arXiv 2412.06464.
    """
    heads = sizes["state_heads"]
    key = sizes["state_groups"] * sizes["state_size"]
    value = sizes["state_heads"] * sizes["state_head_dim"]
    return MixerSizes(
        mixer_in_width=2 * key + 2 * value + 2 * heads,
        mixer_width=value,
        convolution_channels=2 * key + value,
        mixer_vectors=2 * heads + sizes["state_head_dim"],
        mixer_heads=heads,
        state_group_width=key,
        state_key_width=heads * sizes["state_size"],
        recurrent_state_elements=heads * sizes["state_size"] * sizes["state_head_dim"],
    )


def kimi_delta(sizes: Sizes) -> MixerSizes:
    """Kimi Delta Attention: a decay per channel and a gate, both through a head's width.

    Source: Kimi Linear, 2025, arXiv 2510.26692.
    """
    heads = sizes["state_heads"]
    width = sizes["state_heads"] * sizes["state_head_dim"]
    rank = sizes["state_head_dim"]
    return MixerSizes(
        mixer_in_width=3 * width + heads + 2 * rank,
        mixer_width=width,
        convolution_channels=3 * width,
        mixer_inner_linear=2 * rank * width,
        mixer_inner_in_width=2 * rank,
        mixer_inner_out_width=2 * width,
        mixer_vectors=width + heads + rank,
        recurrent_state_elements=heads * rank**2,
    )


def ling_delta(sizes: Sizes) -> MixerSizes:
    """Kimi Delta Attention in Ling 3, whose decay and gate have full-rank matrices."""
    heads, width = sizes["state_heads"], sizes["state_heads"] * sizes["state_head_dim"]
    return MixerSizes(
        mixer_in_width=5 * width + heads,
        mixer_width=width,
        convolution_channels=3 * width,
        mixer_vectors=width + heads + sizes["state_head_dim"],
        recurrent_state_elements=width * sizes["state_head_dim"],
    )


def lightning(sizes: Sizes) -> MixerSizes:
    """Lightning attention: queries, keys, values and a gate, without a convolution.

    Source: MiniMax-01, 2025, arXiv 2501.08313.
    """
    width = sizes["state_heads"] * sizes["state_head_dim"]
    return MixerSizes(
        mixer_in_width=4 * width,
        mixer_width=width,
        mixer_vectors=width,
        recurrent_state_elements=width * sizes["state_head_dim"],
    )


def mamba2(sizes: Sizes) -> MixerSizes:
    """Mamba-2: a gate, inputs, two projections of the state per group, and a step per head.

    Source: Dao and Gu 2024, arXiv 2405.21060.
    """
    heads, width = sizes["state_heads"], sizes["state_heads"] * sizes["state_head_dim"]
    channels = width + 2 * sizes["state_groups"] * sizes["state_size"]
    return MixerSizes(
        mixer_in_width=width + channels + heads,
        mixer_width=width,
        convolution_channels=channels,
        mixer_vectors=3 * heads + sizes["mixer_norm"] * width,
        mixer_heads=heads,
        state_group_width=sizes["state_groups"] * sizes["state_size"],
        recurrent_state_elements=width * sizes["state_size"],
    )


def mamba(sizes: Sizes) -> MixerSizes:
    """Mamba: the inputs give the step, through its rank, and both projections of the state.

    Source: Gu and Dao 2023, arXiv 2312.00752.
    """
    width = sizes["state_heads"] * sizes["state_head_dim"]
    state = sizes["state_size"]
    rank = sizes["time_rank"]
    return MixerSizes(
        mixer_in_width=2 * width,
        mixer_width=width,
        convolution_channels=width,
        mixer_inner_linear=width * (2 * rank + 2 * state),
        mixer_inner_in_width=width + rank,
        mixer_inner_out_width=rank + 2 * state + width,
        mixer_vectors=width * (state + 2) + sizes["mixer_norm"] * (rank + 2 * state),
        recurrent_state_elements=width * state,
    )


def convolution(sizes: Sizes) -> MixerSizes:
    """LFM2's short convolution between two gates; its only state is the convolution's.

    Source: LFM2 technical report, 2025, arXiv 2511.23404.
    """
    return MixerSizes(
        mixer_in_width=3 * sizes["hidden"],
        mixer_width=sizes["hidden"],
        convolution_channels=sizes["hidden"],
    )


def mlstm(sizes: Sizes) -> MixerSizes:
    """xLSTM's matrix memory: queries, keys, values, a gate, and two gates per head.

    Its state is the memory, its normalizer, and one number per head that keeps both in range.
    Source: Beck et al. 2024, arXiv 2405.04517.
    """
    heads, key, value = sizes["state_heads"], sizes["state_size"], sizes["state_head_dim"]
    return MixerSizes(
        mixer_in_width=2 * heads * (key + value + 1),
        mixer_width=heads * value,
        mixer_vectors=heads * (2 + value),
        recurrent_state_elements=heads * (key * value + key + 1),
    )
