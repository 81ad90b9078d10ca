"""The vision tower of a multimodal model: what it saves and needs. Bytes on one GPU.

Its tokens are the patches of all images of a micro-batch. The image tokens that it makes of them
are part of the sequence and counted there. Layers that attend to a whole image and layers that
attend to windows of it have a row each: (2, rows). Source: Qwen2.5-VL, Bai et al. 2025, arXiv
2502.13923.
"""

import numpy as np

from calc.memory.block_forms import CASES, LinearForms
from calc.memory.size_expressions import SIZES
from calc.scenarios.join_choices import FORMATS


def tower_layers_share(tower_layers, tower_full_layers):
    """Share of the tower's layers that attend to images, and to windows of them. [ratio]"""
    share = np.where(tower_full_layers > 0, tower_full_layers / np.maximum(tower_layers, 1), 1)
    return np.stack([share, 1 - share])


def tower_scored_tokens(image_patches_tokens, tower_window_tokens):
    """Patches that are scored against one another: an image's, or a window's. [tokens]"""
    window_tokens = np.minimum(tower_window_tokens, image_patches_tokens)
    return np.stack(np.broadcast_arrays(image_patches_tokens, window_tokens))


def tower_form(tower_kind, activation_format, computes_all_scores):
    """The row of the coefficient tables for a layer of the tower."""
    case = np.where(computes_all_scores > 0, CASES.index("eager"), CASES.index("sdpa"))
    return (np.maximum(tower_kind, 0) * len(FORMATS) + activation_format) * len(CASES) + case


def tower_forms(
    block_coefficients,
    tower_form,
    tower_scored_tokens,
    tower_kind,
    tower_hidden,
    tower_heads,
    tower_ffn,
    tower_tokens,
    tensor_parallel,
):
    """The linear forms of a layer of the tower; 0 without images, or without a form.

    Source: catalogs/read_off/blocks.yaml.
    """
    sizes = dict.fromkeys(("hidden", "query", "key", "value"), tower_hidden) | {
        "ffn": tower_ffn,
        "mask": tower_scored_tokens,
    }
    sizes |= {
        "heads": tower_heads,
        "kv_heads": tower_heads,
        "scores": tower_heads * tower_scored_tokens,
        "one": np.ones(1),
    }
    columns = (
        dict.fromkeys(SIZES, np.zeros(1))
        | sizes
        | {"whole_most": np.inf * np.ones(1), "tensor_parallel": tensor_parallel}
    )
    return LinearForms(
        block_coefficients, tower_form, (tower_tokens > 0) & (tower_kind >= 0), columns
    )


def tower_copies_bytes(
    tower_tokens,
    tower_linear_parameters,
    autocast_active,
    autocast_bytes_each,
    keeps_input,
    tensor_parallel,
):
    """Autocast's 16-bit copies of the tower's matrices, unless checkpointing drops them. [B]

    Source: torch/amp/autocast_mode.py, cache_enabled.
    """
    copied_bytes = autocast_active * autocast_bytes_each * (1 - keeps_input)
    return (tower_tokens > 0) * tower_linear_parameters * copied_bytes / tensor_parallel


def tower_kept_bytes(
    tower_forms,
    tower_layers_share,
    trains_all,
    keeps_input,
    tower_layers,
    tower_tokens,
    batch_sequences,
    offloads_activations,
    tower_copies_bytes,
):
    """Activations of a trained tower: layers · bytes per patch · patches. [B]

    A frozen tower stores nothing. Full recompute stores only the layers' inputs, and offloading
    leaves two layers' worth. Source: Korthikanti et al. 2022, arXiv 2205.05198.
    """
    layers = np.where(offloads_activations > 0, np.minimum(tower_layers, 2), tower_layers)
    of_layer = np.where(
        keeps_input > 0, tower_forms("checkpoint", trains_all), tower_forms("saved", trains_all)
    )
    bytes_per_token = np.sum(tower_layers_share * of_layer, axis=0)
    return trains_all * (
        layers * bytes_per_token * tower_tokens * batch_sequences + tower_copies_bytes
    )


def tower_forward_bytes(tower_forms, trains, tower_tokens, batch_sequences):
    """Working set of one layer of the tower in serving, over all images at once. [B]"""
    return (
        np.max(tower_forms.worst("forward", trains == 0), axis=0) * tower_tokens * batch_sequences
    )
