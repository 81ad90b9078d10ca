"""The projectors that join a tower to the text part. Counts of numbers, not bytes.

Source: transformers 5.23.
"""

from calc.models.huggingface.rules.shapes import Config, linear


def no_projector(_outer: Config, _tower: Config, _hidden: int) -> int:
    """No projector: the tower ends in the width of the text part."""
    return 0


def llava_projector(outer: Config, tower: Config, hidden: int) -> int:
    """LLaVA's two matrices, on one or several layers of the tower. [parameters]

    Source: Liu et al. 2023, arXiv 2310.03744.
    """
    layers, bias = outer.get("vision_feature_layer"), outer.get("multimodal_projector_bias", True)
    width = tower["hidden_size"] * (len(layers) if isinstance(layers, list) else 1)
    return linear(width, hidden, bias) + linear(hidden, hidden, bias)


def llava_next_projector(outer: Config, tower: Config, hidden: int) -> int:
    """LLaVA's projector and a vector that ends each row of patches. [parameters]"""
    return llava_projector(outer, tower, hidden) + hidden


def gemma3_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix and a norm. [parameters]"""
    return tower["hidden_size"] * (hidden + 1)


def paligemma_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix with a bias. [parameters]"""
    return linear(tower["hidden_size"], tower.get("projection_dim") or hidden)


def llama4_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix. [parameters]"""
    return tower["vision_output_dim"] * hidden


def mistral3_projector(outer: Config, tower: Config, hidden: int) -> int:
    """A norm, a merger of patches, and two matrices. [parameters]"""
    width, bias = tower["hidden_size"], outer.get("multimodal_projector_bias", False)
    merger = (width * outer.get("spatial_merge_size", 2)) ** 2
    return width + merger + linear(width, hidden, bias) + linear(hidden, hidden, bias)


def idefics3_projector(outer: Config, tower: Config, hidden: int) -> int:
    """One matrix on patches that are shuffled together. [parameters]"""
    return tower["hidden_size"] * outer.get("scale_factor", 2) ** 2 * hidden


def qwen2_audio_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix with a bias. [parameters]"""
    return linear(tower["d_model"], hidden)


def audio_flamingo_projector(outer: Config, tower: Config, hidden: int) -> int:
    """Two matrices (Goel et al. 2025, arXiv 2507.08128). [parameters]"""
    bias = outer.get("projector_bias", True)
    return linear(tower["hidden_size"], hidden, bias) + linear(hidden, hidden, bias)


def voxtral_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """Two matrices on four frames at a time. [parameters]"""
    return tower["intermediate_size"] * hidden + hidden**2


def internvl_projector(outer: Config, tower: Config, hidden: int) -> int:
    """A norm and two matrices on patches that are shuffled together (InternVL). [parameters]"""
    width = tower["hidden_size"] * round(1 / outer.get("downsample_ratio", 0.5)) ** 2
    return 2 * width + linear(width, hidden) + linear(hidden, hidden)


def kimi_k25_projector(outer: Config, tower: Config, hidden: int) -> int:
    """A norm and two matrices, the first as wide as the merged patches. [parameters]"""
    width = tower.get("vt_hidden_size", tower["hidden_size"])
    rows, columns = tower["merge_kernel_size"]
    normed = tower.get("mm_hidden_size", outer.get("projection_hidden_size", width))
    return 2 * normed + linear(rows * columns * width, rows * columns * width) + linear(rows * columns * width, hidden)


def gemma4_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix on the tower's output. [parameters]"""
    return tower.get("output_proj_dims", tower["hidden_size"]) * hidden
