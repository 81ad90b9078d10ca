"""What stands in a layer in place of attention, or beside it, and keeps a state instead of a cache: widths, weights, state.

A mixer is a row of the same widths whatever its kind: columns that its input projections make, channels of its short
convolution, the width that its output projection takes, what it learns between the two, and a state per sequence. MIXERS
says what they are for each kind; the formulas below it hold for all. Counts of numbers, not bytes.
"""

from collections.abc import Callable, Mapping
from typing import Any

Sizes = Mapping[str, Any]
NONE = dict.fromkeys(
    [
        *("mixer_in_width", "mixer_width", "convolution_channels", "mixer_inner_linear", "mixer_inner_in_width"),
        *("mixer_inner_out_width", "mixer_vectors", "recurrent_state_elements"),
        *("mixer_heads", "state_group_width", "state_key_width"),
    ],
    0,
)


def delta(sizes: Sizes) -> dict[str, Any]:
    """Gated DeltaNet (Yang et al. 2024, arXiv 2412.06464): queries, keys, values and gate, decay and learning rate per head."""
    heads, key, value = sizes["state_heads"], sizes["state_groups"] * sizes["state_size"], sizes["state_heads"] * sizes["state_head_dim"]
    return {
        "mixer_in_width": 2 * key + 2 * value + 2 * heads,
        "mixer_width": value,
        "convolution_channels": 2 * key + value,
        "mixer_vectors": 2 * heads + sizes["state_head_dim"],
        "mixer_heads": heads,
        "state_group_width": key,
        "state_key_width": heads * sizes["state_size"],
        "recurrent_state_elements": heads * sizes["state_size"] * sizes["state_head_dim"],
    }


def kimi_delta(sizes: Sizes) -> dict[str, Any]:
    """Kimi Delta Attention (Kimi Linear, 2025, arXiv 2510.26692): a decay per channel and a gate, both by way of one head's width."""
    heads, width, rank = sizes["state_heads"], sizes["state_heads"] * sizes["state_head_dim"], sizes["state_head_dim"]
    return {
        "mixer_in_width": 3 * width + heads + 2 * rank,
        "mixer_width": width,
        "convolution_channels": 3 * width,
        "mixer_inner_linear": 2 * rank * width,
        "mixer_inner_in_width": 2 * rank,
        "mixer_inner_out_width": 2 * width,
        "mixer_vectors": width + heads + rank,
        "recurrent_state_elements": heads * rank**2,
    }


def ling_delta(sizes: Sizes) -> dict[str, Any]:
    """Kimi Delta Attention in Ling 3, whose decay and gate are made without a rank between."""
    heads, width = sizes["state_heads"], sizes["state_heads"] * sizes["state_head_dim"]
    return {
        "mixer_in_width": 5 * width + heads,
        "mixer_width": width,
        "convolution_channels": 3 * width,
        "mixer_vectors": width + heads + sizes["state_head_dim"],
        "recurrent_state_elements": width * sizes["state_head_dim"],
    }


def lightning(sizes: Sizes) -> dict[str, Any]:
    """Lightning attention (MiniMax-01, 2025, arXiv 2501.08313): queries, keys, values and a gate; no convolution."""
    width = sizes["state_heads"] * sizes["state_head_dim"]
    return {
        "mixer_in_width": 4 * width,
        "mixer_width": width,
        "mixer_vectors": width,
        "recurrent_state_elements": width * sizes["state_head_dim"],
    }


def mamba2(sizes: Sizes) -> dict[str, Any]:
    """Mamba-2 (Dao and Gu 2024, arXiv 2405.21060): gate, inputs, two projections of the state per group, a step per head."""
    heads, width = sizes["state_heads"], sizes["state_heads"] * sizes["state_head_dim"]
    channels = width + 2 * sizes["state_groups"] * sizes["state_size"]
    return {
        "mixer_in_width": width + channels + heads,
        "mixer_width": width,
        "convolution_channels": channels,
        "mixer_vectors": 3 * heads + sizes["mixer_norm"] * width,
        "mixer_heads": heads,
        "state_group_width": sizes["state_groups"] * sizes["state_size"],
        "recurrent_state_elements": width * sizes["state_size"],
    }


def mamba(sizes: Sizes) -> dict[str, Any]:
    """Mamba (Gu and Dao 2023, arXiv 2312.00752): the step, by way of its rank, and both projections are made of the inputs."""
    width, state, rank = sizes["state_heads"] * sizes["state_head_dim"], sizes["state_size"], sizes["time_rank"]
    return {
        "mixer_in_width": 2 * width,
        "mixer_width": width,
        "convolution_channels": width,
        "mixer_inner_linear": width * (2 * rank + 2 * state),
        "mixer_inner_in_width": width + rank,
        "mixer_inner_out_width": rank + 2 * state + width,
        "mixer_vectors": width * (state + 2) + sizes["mixer_norm"] * (rank + 2 * state),
        "recurrent_state_elements": width * state,
    }


def convolution(sizes: Sizes) -> dict[str, Any]:
    """LFM2's short convolution between two gates (LFM2 technical report, 2025, arXiv 2511.23404); its state is the convolution's."""
    return {"mixer_in_width": 3 * sizes["hidden"], "mixer_width": sizes["hidden"], "convolution_channels": sizes["hidden"]}


def mlstm(sizes: Sizes) -> dict[str, Any]:
    """xLSTM's matrix memory (Beck et al. 2024, arXiv 2405.04517): queries, keys, values, a gate, and two gates per head.

    Its state is the memory, what normalises it, and a number per head that keeps both in range.
    """
    heads, key, value = sizes["state_heads"], sizes["state_size"], sizes["state_head_dim"]
    return {
        "mixer_in_width": 2 * heads * (key + value + 1),
        "mixer_width": heads * value,
        "mixer_vectors": heads * (2 + value),
        "recurrent_state_elements": heads * (key * value + key + 1),
    }


MIXERS: dict[str, Callable[[Sizes], dict[str, Any]]] = {
    "delta": delta,
    "kimi_delta": kimi_delta,
    "ling_delta": ling_delta,
    "lightning": lightning,
    "mamba2": mamba2,
    "mamba": mamba,
    "convolution": convolution,
    "mlstm": mlstm,
}


def mixer_sizes(sizes: Sizes) -> dict[str, Any]:
    """The widths of a layer's mixer; none where it has none."""
    return NONE | (MIXERS[sizes["mixer"]](sizes) if sizes["mixer"] else {})


def mixer_linear_parameters(hidden, mixer_in_width, mixer_width, mixer_inner_linear):
    """Weight matrices of the mixer: its input and output projections and those between them. [parameters]"""
    return hidden * (mixer_in_width + mixer_width) + mixer_inner_linear


def mixer_parameters(
    mixer_linear_parameters, convolution_channels, convolution_kernel, convolution_bias, mixer_bias, mixer_in_width, mixer_width, hidden,
    mixer_vectors,
):  # fmt: skip
    """Everything that the mixer learns: matrices, a convolution of its own for each channel, decays, norms, biases. [parameters]"""
    convolved = convolution_channels * (convolution_kernel + convolution_bias)
    biases = mixer_bias * (mixer_in_width + hidden) if mixer_width else 0
    return mixer_linear_parameters + convolved + mixer_vectors + biases


def convolution_state_elements(convolution_channels, convolution_kernel):
    """Inputs that the short convolution keeps per sequence, its own length of them. [elements]

    transformers 5.23, cache_utils.py, LinearAttentionLayer.
    """
    return convolution_channels * convolution_kernel


FORMULAS = (mixer_linear_parameters, mixer_parameters, convolution_state_elements)
