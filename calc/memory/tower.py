"""A vision tower beside the text part, where sequences hold images: what it keeps for the backward pass and needs. Bytes on one GPU.

Its tokens are patches, all those of a micro-batch at once. What it makes of them, the images' tokens, is part of the sequence
and counted with it. Layers that attend to a whole image, and those that attend to windows of it (Qwen2.5-VL, Bai et al. 2025,
arXiv 2502.13923), have a row each: (2, rows).
"""

import numpy as np

from calc.memory.block_forms import CASES, SIZES, LinearForms
from calc.scenarios.join import FORMATS


def tower_layers_share(tower_layers, tower_full_layers):
    """Share of the tower's layers that attend to a whole image, and of those that attend to windows. Shape (2, rows). [ratio]"""
    whole = np.where(tower_full_layers > 0, tower_full_layers / np.maximum(tower_layers, 1), 1)
    return np.stack([whole, 1 - whole])


def tower_forms(
    block_coefficients,
    tower_kind,
    activation_format,
    computes_all_scores,
    tower_hidden,
    tower_heads,
    tower_ffn,
    tower_window_tokens,
    image_patches_tokens,
    tower_tokens,
    tensor_parallel,
):
    """The linear forms of a layer of the tower (catalogs/blocks.yaml); 0 where there are no images, or its block was not read off."""
    case = np.where(computes_all_scores > 0, CASES.index("eager"), CASES.index("sdpa"))
    form = (np.maximum(tower_kind, 0) * len(FORMATS) + activation_format) * len(CASES) + case
    scored = np.stack([image_patches_tokens, np.minimum(tower_window_tokens, image_patches_tokens)])
    own = {"hidden": tower_hidden, "query": tower_hidden, "key": tower_hidden, "value": tower_hidden, "ffn": tower_ffn}
    own |= {"heads": tower_heads, "kv_heads": tower_heads, "scores": tower_heads * scored, "mask": scored, "one": np.ones(1)}
    whole = {"whole_most": np.inf * np.ones(1), "tensor_parallel": tensor_parallel}
    return LinearForms(block_coefficients, form, (tower_tokens > 0) & (tower_kind >= 0), dict.fromkeys(SIZES, np.zeros(1)) | own | whole)


def tower_copies_bytes(tower_tokens, tower_linear_parameters, autocast_active, autocast_bytes_each, keeps_input, tensor_parallel):
    """The 16-bit copies of its matrices that autocast makes and a trained tower saves; a layer run again drops them. [B]

    torch/amp/autocast_mode.py, cache_enabled.
    """
    copied = autocast_active * autocast_bytes_each * (1 - keeps_input)
    return (tower_tokens > 0) * tower_linear_parameters * copied / tensor_parallel


def tower_kept_bytes(
    tower_forms,
    tower_layers_share,
    trains,
    adapts,
    keeps_input,
    tower_layers,
    tower_tokens,
    batch,
    offloads_activations,
    tower_copies_bytes,
):
    """Kept by a trained tower for the backward pass, its layers' inputs alone under full recompute; a frozen one keeps nothing. [B]

    Layers · bytes per patch · patches, as of the blocks (Korthikanti et al. 2022, arXiv 2205.05198); offloaded, two layers' worth.
    """
    layers = np.where(offloads_activations > 0, np.minimum(tower_layers, 2), tower_layers)
    each = np.where(keeps_input > 0, tower_forms("checkpoint", trains), tower_forms("saved", trains))
    each = np.sum(tower_layers_share * each, axis=0)
    return trains * (1 - adapts) * (layers * each * tower_tokens * batch + tower_copies_bytes)


def tower_forward_bytes(tower_forms, trains, tower_tokens, batch):
    """Working set of a layer of the tower without gradients, in serving, over the images of all sequences at once. [B]"""
    return np.max(tower_forms.worst("forward", trains == 0), axis=0) * tower_tokens * batch


TOWER = (tower_layers_share, tower_forms, tower_copies_bytes, tower_kept_bytes, tower_forward_bytes)
