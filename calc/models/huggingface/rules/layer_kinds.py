"""The kind of each layer and its own sizes, in model types with special rules.

calc/models/stacks.py names the kinds. The rules are those of the config and model classes in
transformers 5.23; the config already holds the defaults of its class.
"""

from calc.mappings import Cells, Json
from calc.models.huggingface.values import whole_number, word_of

Kinds = list[tuple[str, dict[str, int]]]  # of each layer: its kind and its own sizes
PATTERN = {"M": "none-linear", "E": "moe-alone", "*": "none", "-": "dense-alone"}
PATTERN |= {
    "linear_attention": "none-linear",
    "mamba": "none-linear",
    "moe": "moe-alone",
    "mlp": "dense-alone",
}
PATTERN |= {"full_attention": "none", "attention": "none"}


def nemotron_layers(config: Cells, _values: Cells) -> Kinds:
    """Each layer is one of four: attention, a mixer, experts, or a dense network."""
    return [(word_of(kind, PATTERN), {}) for kind in nemotron_pattern(config)]


def nemotron_pattern(config: Cells) -> list[str]:
    """The kinds of Nemotron-H's layers as a config writes them: a list, or a letter per layer."""
    named = (
        config.get("layers_block_type")
        or config.get("layer_types")
        or config.get("hybrid_override_pattern")
    )
    return list(named) if named else ["M", "E", "*", "-"]


def zamba_pattern(config: Cells) -> list[str]:
    """The kinds of Zamba's layers: mixers, and hybrid ones with shared attention before them."""
    return [
        "hybrid" if kind == "hybrid" else "mamba" for kind in config.get("layers_block_type") or ()
    ]


def zamba_layers(config: Cells, values: Cells) -> Kinds:
    """A mixer in each layer; before a hybrid one, attention whose weights all hybrids share.

    Attention reads the hidden states beside the embeddings, twice the width. Each hybrid has a
    matrix of its own after it, in Zamba2 also adapters of the shared matrices. Source:
    transformers 5.23, zamba/modeling_zamba.py and zamba2/modeling_zamba2.py.
    """
    pattern = zamba_pattern(config)
    hidden = values["hidden"]
    groups = config.get("num_mem_blocks") or 1
    heads = values["heads"] + 2 * values["kv_heads"]
    shared = hidden * heads * values["head_dim"] + hidden  # the second half of what it reads
    rank = config.get("adapter_rank") or 0
    own = hidden**2 + rank * (hidden + 2 * values["ffn"])
    own += 3 * 2 * rank * 2 * hidden * bool(config.get("use_shared_attention_adapter"))
    further = round(shared + own * pattern.count("hybrid") / groups)
    attention = ("dense", {"layer_groups": groups, "further_parameters": further})
    mixer = ("none-linear", {"block_norms": 1})
    return [
        layer for kind in pattern for layer in ([attention, mixer] if kind == "hybrid" else [mixer])
    ]


def _gemma_ways(config: Cells, layers: int, period: int) -> list[str]:
    """The ending of each layer's kind: windowed or not."""
    types = config.get("layer_types") or [
        "full_attention" if (i + 1) % period == 0 else "sliding_attention" for i in range(layers)
    ]
    return [
        word_of(kind, {"full_attention": "", "sliding_attention": "-windowed"}) for kind in types
    ]


def _shared_blocks(config: Cells, layers: int) -> list[bool]:
    unshared = layers - whole_number(
        config.get("num_kv_shared_layers") or 0, 0, "num_kv_shared_layers"
    )
    return [index >= unshared for index in range(layers)]


def gemma4_layers(config: Cells, values: Cells) -> Kinds:
    """Full layers have different heads; the last layers share keys and values."""
    layers = values["layers"]
    network = "both" if values.get("experts") else "dense"
    full: Json = {
        "head_dim": config.get("global_head_dim") or 512,
        "num_key_value_heads": config.get("num_global_key_value_heads"),
    }
    # The form of transformers 5, which leaves out what equals the windowed layers.
    if "per_layer_config" in config:
        full = {
            "head_dim": values["head_dim"],
            **next(iter((config["per_layer_config"] or {}).values()), {}),
        }
    of_full = {"head_dim": full["head_dim"]}
    if config.get("attention_k_eq_v"):
        of_full |= {
            "keys_are_values": 1,
            "kv_heads": full.get("num_key_value_heads") or values["kv_heads"],
        }
    wide = {"ffn": 2 * values["ffn"]} if config.get("use_double_wide_mlp") else {}
    norms = {"block_norms": 7} if network == "both" else {}
    ways = _gemma_ways(config, layers, 6)
    ways[-1] = ""  # the last layer attends to all tokens whatever the config says
    kinds = []
    for way, shares in zip(ways, _shared_blocks(config, layers), strict=True):
        sizes = norms | ({} if way else of_full) | (wide if shares else {})
        kinds.append((network + way + "-shared" * shares, sizes))
    return kinds


def gemma3n_layers(config: Cells, values: Cells) -> Kinds:
    """The last layers share keys and values, the first are sparse; inner widths may differ."""
    layers, widths = values["layers"], config["intermediate_size"]
    inner_widths = widths if isinstance(widths, list) else [widths] * layers
    sparse = config.get("activation_sparsity_pattern") or [
        layers > 10 and index < 10 for index in range(layers)
    ]
    rows = zip(
        _gemma_ways(config, layers, 5),
        _shared_blocks(config, layers),
        sparse,
        inner_widths,
        strict=True,
    )
    return [
        (
            "dense" + way + "-shared" * shares + "-sparse" * bool(cut),
            {"ffn": ffn} if ffn != values["ffn"] else {},
        )
        for way, shares, cut, ffn in rows
    ]


def mimo_layers(config: Cells, values: Cells) -> Kinds:
    """Windowed layers have twice the heads of keys and values, and sinks; the first is dense."""
    layers = values["layers"]
    windowed = (
        config.get("hybrid_layer_pattern")
        or [kind == "sliding_attention" for kind in config.get("layer_types") or ()]
        or [index > 0 and (index + 1) % 6 != 0 for index in range(layers)]
    )
    routed = (
        config.get("moe_layer_freq")
        or [kind == "sparse" for kind in config.get("mlp_layer_types") or ()]
        or [index > 0 for index in range(layers)]
    )
    windowed_sizes = {
        "kv_heads": config.get("swa_num_key_value_heads") or 2 * values["kv_heads"],
        "sinks": 1,
    }
    kinds: Kinds = []
    for is_windowed, is_routed in zip(windowed, routed, strict=True):
        network = "moe" if is_routed else "dense"
        if is_windowed:
            kinds.append((f"{network}-windowed", windowed_sizes))
        else:
            kinds.append((network, {}))
    return kinds


# Sizes that differ in the windowed layers of dots3-note: our size, the field, its default.
DOTS3 = (
    ("heads", "num_attention_heads", 64),
    ("query_latent_rank", "q_lora_rank", 1024),
    ("kv_latent_rank", "kv_lora_rank", 1024),
    ("head_dim", "head_dim", 256),
    ("plain_head_dim", "qk_nope_head_dim", 192),
    ("value_head_dim", "v_head_dim", 128),
)


def dots3_layers(config: Cells, values: Cells) -> Kinds:
    """The first two layers and every fourth attend by an indexer, the others to a window."""
    layers = values["layers"]
    listed = config.get("per_layer_config")
    types = config.get("layer_types") or [
        "sliding_attention" if i > 1 and i % 4 != 1 else "indexed_attention" for i in range(layers)
    ]
    dense = [kind == "dense" for kind in config.get("mlp_layer_types") or ()]
    dense = dense or [index < config.get("first_k_dense_replace", 1) for index in range(layers)]
    sizes = {ours: config.get(f"swa_{theirs}", usual) for ours, theirs, usual in DOTS3}
    if listed:
        windowed: Cells = next(
            (layer for layer in listed.values() if "qk_nope_head_dim" in layer), {}
        )
        sizes = {ours: windowed.get(theirs, config[theirs]) for ours, theirs, _ in DOTS3}
    sizes |= {
        "rope_head_dim": sizes["head_dim"] - sizes.pop("plain_head_dim"),
        "kv_heads": sizes["heads"],
        "index_ratio": 0,
    }
    # Without the field, the list names the layers without an indexer.
    chosen = config.get("use_dsa", None if listed else True)
    kinds = []
    for flat, kind in zip(dense, types, strict=True):
        network = "dense" if flat else "moe"
        plain = chosen is False or (chosen is None and kind == "full_attention")
        full = (network, {"index_ratio": 0} if plain else {})
        kinds.append((f"{network}-windowed", sizes) if kind == "sliding_attention" else full)
    return kinds
