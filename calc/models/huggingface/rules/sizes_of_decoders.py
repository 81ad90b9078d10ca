"""Sizes that decoders derive from special fields, as the classes of transformers 5.23 do.

A rule reads a config, which already holds the defaults of its class, and our sizes so far; it returns further sizes.
"""

from calc.models.huggingface.rules.sizes_of_hybrids import NO_EXPERTS
from calc.models.huggingface.values import ConfigError, must_divide, size_of, whole_number

STREAMS_READ = 4  # residual streams for which Gemma 3n's blocks were read off


def four_times_hidden(config, values):
    """The inner width where a config leaves it out: 4 x hidden, or MPT's expansion ratio."""
    return {"ffn": values.get("ffn", whole_number((config.get("expansion_ratio") or 4) * values["hidden"], 1, "expansion_ratio"))}


def gpt_bigcode_sizes(config, values):
    """One head of keys and values in all, or as many as query heads."""
    kv_heads = 1 if config["multi_query"] else values["heads"]
    return {**four_times_hidden(config, values), "kv_heads": kv_heads}


def falcon_sizes(config, values):
    """The newer architecture has grouped heads of keys and values, and two norms."""
    new = config["new_decoder_architecture"]
    kv_heads = (config.get("num_kv_heads") or values["heads"]) if new else values["heads"]
    kv_heads = 1 if not new and config["multi_query"] else kv_heads
    return {
        "model_type": "falcon_new" if new else "falcon",
        "ffn": values.get("ffn", 4 * values["hidden"]),
        "kv_heads": whole_number(kv_heads, 1, "num_kv_heads"),
        "block_norms": 2 if (config.get("num_ln_in_parallel_attn") or (2 if new else 1)) == 2 else 1,
    }


def opt_sizes(config, _values):
    """OPT-350m has no final norm."""
    final = config["do_layer_norm_before"] and not config["_remove_final_layer_norm"]
    return {"final_norms": int(final), "norm_vectors": 2 if config["layer_norm_elementwise_affine"] else 0}


def hyperclovax_sizes(config, _values):
    """Without norms after attention and network the model is a Granite."""
    return {} if config["use_post_norm"] else {"model_type": "granite"}


def cohere_sizes(config, _values):
    """Command R+ has norms on queries and keys."""
    return {"model_type": "cohere_normed"} if config["use_qk_norm"] else {}


def cohere2_sizes(config, values):
    """Without head_dim, the heads together are as wide as the hidden state."""
    return {} if config.get("head_dim") else {"head_dim": values["hidden"] // values["heads"]}


def cohere2_moe_sizes(config, values):
    """The first, dense layers are as wide as one expert unless the config says otherwise."""
    return cohere2_sizes(config, values) | {"ffn": values.get("ffn", values.get("expert_ffn"))}


def glm_moe_dsa_sizes(config, values):
    """Layers that reuse the tokens chosen by another layer's indexer have no indexer."""
    kinds, pattern = config.get("indexer_types"), config.get("index_topk_pattern")
    layers = values["layers"]
    if kinds is None and pattern is not None:
        kinds = list(pattern)
    if kinds is None:
        every = max(whole_number(config.get("index_topk_freq", 1), 0, "index_topk_freq"), 1)
        offset = whole_number(config.get("index_skip_topk_offset", 2), 0, "index_skip_topk_offset")
        kinds = ["F" if max(index - offset + 1, 0) % every == 0 else "S" for index in range(layers)]
    if not isinstance(kinds, list) or len(kinds) != layers:
        raise ConfigError(f"indexer_types must name one kind for each of the {layers} layers.")
    return {"indexed_layers": sum(kind in ("full", "F") for kind in kinds)}


def hy_v4_sizes(config, values):
    """Residual streams are mixed around attention and network, and at the end.

    Source: hyper-connections, Zhu et al. 2024, arXiv 2409.19606.
    """
    layers, streams, hidden = values["layers"], config["hc_mult"], values["hidden"]
    kinds = config.get("indexer_types") or ["full" if index == 0 or (index - 1) % 4 == 0 else "shared" for index in range(layers)]
    mixing = 2 * (2 * streams**2 * hidden + 2 * streams + 2)
    sizes = {"further_parameters": mixing, "further_outside_parameters": streams**2 * hidden + streams + 1}
    return sizes | {"indexed_layers": kinds.count("full")}


def minimax_m3_sizes(config, _values):
    """Only layers of sparse attention have an indexer."""
    flags = (config.get("sparse_attention_config") or {}).get("sparse_attention_freq")
    kinds = config.get("layer_types") or flags or []
    indexed = sum(kind in (1, "minimax_m3_sparse") for kind in kinds)
    return {"indexed_layers": indexed} if indexed else {"index_heads": 0}


def mllama_sizes(_config, values):
    """The table of embeddings has eight rows more than the vocabulary."""
    return {"further_outside_parameters": 8 * values["hidden"]}


def doge_sizes(config, values):
    """Both residuals are scaled; a matrix and a vector turn the values into a mask."""
    heads = values.get("kv_heads", values["heads"])
    width = heads * (values["hidden"] // values["heads"]) + 1 + int(bool(config.get("attention_bias")))
    return {"further_parameters": heads * width + 2 * values["hidden"]}


def stablelm_sizes(config, _values):
    """Attention and network side by side, or one after the other."""
    return {"model_type": "stablelm_parallel"} if config.get("use_parallel_residual") else {}


def minicpm3_sizes(_config, values):
    """Without their width, the value heads together are as wide as the hidden state."""
    return {} if values.get("value_head_dim") else {"value_head_dim": values["hidden"] // values["heads"]}


def ernie_moe_sizes(config, _values):
    """The head has a bias where the matrices have one."""
    return {"head_bias": int(bool(config.get("use_bias")))}


def laguna_sizes(config, _values):
    """A gate with one value per head, or as wide as attention's output."""
    per_head = config["gating"] in (True, "per-head")
    return {"head_gate": int(per_head), "output_gate": int(not per_head)}


def beam_sizes(_config, values):
    """One gate bias per head."""
    return {"further_parameters": values["heads"]}


def bitnet_sizes(_config, values):
    """Norms follow attention and the inner activations of the network."""
    return {"further_parameters": values["hidden"] + values["ffn"]}


def dbrx_sizes(config, _values):
    """Separate parts of the config hold the heads of keys and values and the experts."""
    attention, network = config.get("attn_config") or {}, config.get("ffn_config") or {}
    names = {"experts": ("moe_num_experts", 4), "experts_per_token": ("moe_top_k", 1), "expert_ffn": ("ffn_hidden_size", 3584)}
    sizes = {ours: whole_number(network.get(theirs, usual), 1, theirs) for ours, (theirs, usual) in names.items()}
    return sizes | {"kv_heads": whole_number(attention.get("kv_n_heads", 1), 1, "kv_n_heads")}


def diffllama_sizes(_config, values):
    """Four vectors as wide as a head weigh one half of the heads against the other half.

    Source: Ye et al. 2024, arXiv 2410.05258.
    """
    return {"further_parameters": 4 * (values.get("head_dim") or values["hidden"] // values["heads"])}


def gpt_neox_japanese_sizes(config, values):
    """The inner width in multiples of the hidden size."""
    return {"ffn": size_of(config, "intermediate_multiple_size") * values["hidden"]}


def openai_gpt_sizes(config, values):
    """The class keeps no cache: it passes the whole sequence for each token."""
    return {**four_times_hidden(config, values), "caches": 0}


def xglm_sizes(config, _values):
    """Cross attention where the config asks for it."""
    return {"cross_attention": int(bool(config.get("add_cross_attention")))}


def xlnet_sizes(_config, values):
    """Three biases and two segments for all heads, and one embedding for masked tokens.

    The cache holds the hidden state of a token, half as wide as its keys and values together.
    """
    must_divide(values["hidden"], values["heads"], ("the hidden size", "the number of heads"))
    further = {"further_parameters": 5 * values["hidden"], "further_outside_parameters": values["hidden"]}
    return {"position_projections": 1, "caches": 0.5, **further}


def cpmant_sizes(config, values):
    """Learned prompts and segments, and one table of position biases for all blocks."""
    sizes = ("prompt_types", "prompt_length", "segment_types", "position_bias_num_buckets")
    prompts, length, segments, buckets = (size_of(config, name) for name in sizes)
    biases = (buckets + segments**2) * values["heads"]
    return {"tied": 0, "further_outside_parameters": (prompts * length + segments) * values["hidden"] + biases}


def trocr_sizes(config, values):
    """Cross attention to an image encoder, which may have a different width."""
    width = config.get("cross_attention_hidden_size") or values["hidden"]
    wider = whole_number(width, 1, "cross_attention_hidden_size") - values["hidden"]
    return {"cross_attention": 1, "further_parameters": 2 * wider * values["hidden"]}


def moshi_sizes(_config, values):
    """A gated network whose width the config doubles, and one more row of input embeddings."""
    must_divide(values["ffn"], 2, ("ffn_dim", "its two halves"))
    return {"ffn": values["ffn"] // 2, "tied": 0, "further_outside_parameters": values["hidden"]}


def gemma3n_sizes(config, values):
    """The largest inner width of the layers; blocks were read off with four streams."""
    widths = config.get("intermediate_size")
    listed = widths if isinstance(widths, list) and widths else [widths]
    unread = {} if values.get("residual_streams") == STREAMS_READ else dict.fromkeys(("block", "sparse_block", "shared_block"), "")
    return {"ffn": max(whole_number(width, 1, "intermediate_size") for width in listed), **unread}


def gemma4_sizes(config, values):
    """No experts unless enabled; layers with per-layer inputs are another family."""
    sizes = {"model_type": "gemma4_per_layer"} if values.get("per_layer_width") else {}
    return sizes if config.get("enable_moe_block") else NO_EXPERTS | sizes
