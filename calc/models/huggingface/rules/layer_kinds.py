"""The kind of each layer and its own sizes, for model types with special rules.

calc/models/stacks.py names the kinds. The rules are those of the config and model classes in
transformers 5.23; the config already holds the defaults of its class.
"""

from calc.mappings import Cells, Json
from calc.models.huggingface.values import whole_number, word_of

Kinds = list[tuple[str, dict[str, int]]]  # each layer's kind and the sizes of its own
PATTERN = {  # Nemotron-H's letters, and the names in its lists
    "M": "none-linear",
    "E": "moe-alone",
    "*": "none",
    "-": "dense-alone",
    "linear_attention": "none-linear",
    "mamba": "none-linear",
    "moe": "moe-alone",
    "mlp": "dense-alone",
    "full_attention": "none",
    "attention": "none",
}


def nemotron_layers(config: Cells, _values: Cells) -> Kinds:
    """Nemotron-H: each layer is one of four, attention, a mixer, experts, or a dense network."""
    return [(word_of(kind, PATTERN), {}) for kind in nemotron_pattern(config)]


def nemotron_pattern(config: Cells) -> list[str]:
    """Return Nemotron-H's layers as a config writes them: a list of names, or letters."""
    pattern = (
        config.get("layers_block_type")
        or config.get("layer_types")
        or config.get("hybrid_override_pattern")
    )
    return list(pattern or "ME*-")


def zamba_pattern(config: Cells) -> list[str]:
    """Return Zamba's layers: mixers, and hybrid ones with shared attention before the mixer."""
    return [
        "hybrid" if kind == "hybrid" else "mamba" for kind in config.get("layers_block_type") or ()
    ]


def zamba_layers(config: Cells, values: Cells) -> Kinds:
    """Zamba: a mixer in each layer; before a hybrid one, attention with weights that all share.

    Attention reads the hidden states beside the embeddings, twice the width. Each hybrid has a
    matrix of its own after it, in Zamba2 also adapters of the shared matrices. Source:
    transformers 5.23, zamba/modeling_zamba.py and zamba2/modeling_zamba2.py.
    """
    pattern = zamba_pattern(config)
    hidden = values["hidden"]
    groups = config.get("num_mem_blocks") or 1
    heads = values["heads"] + 2 * values["kv_heads"]
    # Of the second half of what attention reads: its projections and its norm.
    shared_parameters = hidden * heads * values["head_dim"] + hidden
    rank = config.get("adapter_rank") or 0
    own_parameters = hidden**2 + rank * (hidden + 2 * values["ffn"])
    if config.get("use_shared_attention_adapter"):
        own_parameters += 3 * 2 * rank * 2 * hidden  # two matrices each for query, key and value
    further = round(shared_parameters + own_parameters * pattern.count("hybrid") / groups)
    attention = ("dense", {"layer_groups": groups, "further_parameters": further})
    mixer = ("none-linear", {"block_norms": 1})
    kinds: Kinds = []
    for kind in pattern:
        kinds += [attention, mixer] if kind == "hybrid" else [mixer]
    return kinds


def _gemma_endings(config: Cells, layers: int, period: int) -> list[str]:
    """Return the ending of each layer's kind: "-windowed", or empty for full attention."""
    types = config.get("layer_types") or [
        "full_attention" if (i + 1) % period == 0 else "sliding_attention" for i in range(layers)
    ]
    return [
        word_of(kind, {"full_attention": "", "sliding_attention": "-windowed"}) for kind in types
    ]


def _shares_cache(config: Cells, layers: int) -> list[bool]:
    """Return for each layer whether it shares keys and values with an earlier one."""
    own_layers = layers - whole_number(
        config.get("num_kv_shared_layers") or 0, 0, "num_kv_shared_layers"
    )
    return [index >= own_layers for index in range(layers)]


def gemma4_layers(config: Cells, values: Cells) -> Kinds:
    """Gemma 4: layers with full attention have other heads, and the last layers share a cache."""
    layers = values["layers"]
    network = "both" if values.get("experts") else "dense"
    heads: Json = {
        "head_dim": config.get("global_head_dim") or 512,
        "num_key_value_heads": config.get("num_global_key_value_heads"),
    }
    # The form of transformers 5, which leaves out what equals the windowed layers.
    if "per_layer_config" in config:
        heads = {
            "head_dim": values["head_dim"],
            **next(iter((config["per_layer_config"] or {}).values()), {}),
        }
    full_sizes = {"head_dim": heads["head_dim"]}
    if config.get("attention_k_eq_v"):
        full_sizes |= {
            "keys_are_values": 1,
            "kv_heads": heads.get("num_key_value_heads") or values["kv_heads"],
        }
    shared_sizes = {"ffn": 2 * values["ffn"]} if config.get("use_double_wide_mlp") else {}
    norms = {"block_norms": 7} if network == "both" else {}
    endings = _gemma_endings(config, layers, 6)
    endings[-1] = ""  # the last layer attends to all tokens whatever the config says
    kinds: Kinds = []
    for ending, shares in zip(endings, _shares_cache(config, layers), strict=True):
        sizes = norms | ({} if ending else full_sizes) | (shared_sizes if shares else {})
        kinds.append((network + ending + ("-shared" if shares else ""), sizes))
    return kinds


def gemma3n_layers(config: Cells, values: Cells) -> Kinds:
    """Gemma 3n: the last layers share a cache, the first are sparse, inner widths may differ.

    A kind is named after the traits of its layer: dense-windowed-shared-sparse.
    """
    layers, widths = values["layers"], config["intermediate_size"]
    inner_widths = widths if isinstance(widths, list) else [widths] * layers
    sparse = config.get("activation_sparsity_pattern") or [
        layers > 10 and index < 10 for index in range(layers)
    ]
    endings, shared = _gemma_endings(config, layers, 5), _shares_cache(config, layers)
    kinds: Kinds = []
    for ending, shares, is_sparse, ffn in zip(endings, shared, sparse, inner_widths, strict=True):
        kind = "dense" + ending + ("-shared" if shares else "") + ("-sparse" if is_sparse else "")
        kinds.append((kind, {"ffn": ffn} if ffn != values["ffn"] else {}))
    return kinds


def mimo_layers(config: Cells, values: Cells) -> Kinds:
    """MiMo: windowed layers have sinks and twice the key and value heads. The first is dense."""
    layers = values["layers"]
    has_window = (
        config.get("hybrid_layer_pattern")
        or [kind == "sliding_attention" for kind in config.get("layer_types") or ()]
        or [index > 0 and (index + 1) % 6 != 0 for index in range(layers)]
    )
    has_experts = (
        config.get("moe_layer_freq")
        or [kind == "sparse" for kind in config.get("mlp_layer_types") or ()]
        or [index > 0 for index in range(layers)]
    )
    windowed_sizes = {
        "kv_heads": config.get("swa_num_key_value_heads") or 2 * values["kv_heads"],
        "sinks": 1,
    }
    kinds: Kinds = []
    for is_windowed, is_routed in zip(has_window, has_experts, strict=True):
        network = "moe" if is_routed else "dense"
        if is_windowed:
            kinds.append((f"{network}-windowed", windowed_sizes))
        else:
            kinds.append((network, {}))
    return kinds


# Sizes that differ in the windowed layers of dots3-note: the size, its field, its default.
DOTS3_SIZES = (
    ("heads", "num_attention_heads", 64),
    ("query_latent_rank", "q_lora_rank", 1024),
    ("kv_latent_rank", "kv_lora_rank", 1024),
    ("head_dim", "head_dim", 256),
    ("plain_head_dim", "qk_nope_head_dim", 192),
    ("value_head_dim", "v_head_dim", 128),
)


def dots3_layers(config: Cells, values: Cells) -> Kinds:
    """dots3: the first two layers and every fourth attend by an indexer, the others to a window."""
    layers = values["layers"]
    layer_configs = config.get("per_layer_config")
    types = config.get("layer_types") or [
        "sliding_attention" if i > 1 and i % 4 != 1 else "indexed_attention" for i in range(layers)
    ]
    dense = [kind == "dense" for kind in config.get("mlp_layer_types") or ()]
    dense = dense or [index < config.get("first_k_dense_replace", 1) for index in range(layers)]
    sizes = {size: config.get(f"swa_{field}", default) for size, field, default in DOTS3_SIZES}
    if layer_configs:
        windowed: Cells = next(
            (layer for layer in layer_configs.values() if "qk_nope_head_dim" in layer), {}
        )
        sizes = {size: windowed.get(field, config[field]) for size, field, _ in DOTS3_SIZES}
    sizes |= {
        "rope_head_dim": sizes["head_dim"] - sizes.pop("plain_head_dim"),
        "kv_heads": sizes["heads"],
        "index_ratio": 0,
    }
    # Without the field, layers of full attention in a list of layer configs have no indexer.
    uses_indexer = config.get("use_dsa", None if layer_configs else True)
    kinds: Kinds = []
    for is_dense, kind in zip(dense, types, strict=True):
        network = "dense" if is_dense else "moe"
        if kind == "sliding_attention":
            kinds.append((f"{network}-windowed", sizes))
        elif uses_indexer is False or (uses_indexer is None and kind == "full_attention"):
            kinds.append((network, {"index_ratio": 0}))
        else:
            kinds.append((network, {}))
    return kinds
