"""Which layers of a Hugging Face config see only a window, and which have a dense feed-forward network, by model_type.

The rules are those of the config and model classes in transformers 5.23. Each gives one truth value per layer. What the
classes fill in (catalogs/config_defaults.yaml) stands in the config already.
"""

from collections.abc import Mapping
from typing import Any

from calc.models.huggingface.hybrids import LAYER_KINDS as HYBRID_KINDS
from calc.models.huggingface.hybrids import LAYER_WAYS
from calc.models.huggingface.uneven_layers import LAYER_KINDS as UNEVEN_KINDS
from calc.models.huggingface.uneven_layers import LAYER_SIZES

LAYER_KINDS = HYBRID_KINDS | UNEVEN_KINDS


def _every_layer(_config, layers):
    return [True] * layers


def _no_layer(_config, layers):
    return [False] * layers


def _even_layers(_config, layers):
    return [index % 2 == 0 for index in range(layers)]


def _last_layers(config, layers):
    return [index >= config["max_window_layers"] for index in range(layers)]


def _even_first_layers(config, layers):
    return [index % 2 == 0 and index < config["max_window_layers"] for index in range(layers)]


def _all_but_each(usual, field="sliding_window_pattern"):
    """All layers but the last of each so many."""

    def windowed(config, layers):
        pattern = config.get(field) or usual
        return [(index + 1) % pattern != 0 for index in range(layers)]

    return windowed


_five_of_six_layers, _three_of_four_layers = _all_but_each(6), _all_but_each(4)


def _but_each_sixth_and_last(config, layers):
    return [near and index + 1 < layers for index, near in enumerate(_five_of_six_layers(config, layers))]


def _flint_windows(_config, layers):
    return [1 < index < layers - 1 and index % 4 != 1 for index in range(layers)]


def _cohere2_moe_windows(config, layers):
    """Dense layers come first and have a pattern of their own."""
    first = min(config.get("first_k_dense_replace") or 0, layers)
    every = config["prefix_dense_sliding_window_pattern"]
    return [(index + 1) % every != 0 for index in range(first)] + _three_of_four_layers(config, layers - first)


def _all_but_first_of_four(_config, layers):
    return [index % 4 != 0 for index in range(layers)]


def _all_but_first_of_each(config, layers):
    every = config.get("global_attn_every_n_layers", 3)
    return [index % every != 0 for index in range(layers)]


def _rotated_layers(config, layers):
    interval = config["no_rope_layer_interval"]
    rotated = config.get("no_rope_layers") or [(index + 1) % interval != 0 for index in range(layers)]
    return [bool(one) for one in rotated]


def _unrotated_layers(config, layers):
    return [not rotated for rotated in _rotated_layers(config, layers)]


# model_type: the field of the window, the field that switches it on (or none), the layers it holds for.
WINDOWS = {
    "mistral": ("sliding_window", None, _every_layer),
    "ministral": ("sliding_window", None, _every_layer),
    "ministral3": ("sliding_window", None, _every_layer),
    "mixtral": ("sliding_window", None, _every_layer),
    "phi3": ("sliding_window", None, _every_layer),
    "qwen2": ("sliding_window", "use_sliding_window", _last_layers),
    "qwen3": ("sliding_window", "use_sliding_window", _last_layers),
    "qwen2_vl_text": ("sliding_window", "use_sliding_window", _last_layers),
    "qwen2_5_vl_text": ("sliding_window", "use_sliding_window", _last_layers),
    "qwen2_5_omni_text": ("sliding_window", "use_sliding_window", _last_layers),
    "qwen2_moe": ("sliding_window", "use_sliding_window", _even_first_layers),
    "qwen3_moe": ("sliding_window", "use_sliding_window", _every_layer),
    "smollm3": ("sliding_window", "use_sliding_window", _unrotated_layers),
    "cohere2": ("sliding_window", None, _three_of_four_layers),
    "cwm": ("sliding_window", None, _all_but_first_of_four),
    "exaone4": ("sliding_window", None, _three_of_four_layers),
    "mellum": ("sliding_window", None, _no_layer),
    "olmo3": ("sliding_window", None, _three_of_four_layers),
    "starcoder2": ("sliding_window", None, _every_layer),
    "gemma2": ("sliding_window", None, _even_layers),
    "vaultgemma": ("sliding_window", None, _even_layers),
    "gemma3_text": ("sliding_window", None, _five_of_six_layers),
    "dots1": ("sliding_window", None, _last_layers),
    "exaone_moe": ("sliding_window", None, _three_of_four_layers),
    "phimoe": ("sliding_window", None, _every_layer),
    "gemma3n_text": ("sliding_window", None, _every_layer),
    "gemma4_text": ("sliding_window", None, _every_layer),
    "gpt_oss": ("sliding_window", None, _even_layers),
    "llama4_text": ("attention_chunk_size", None, _rotated_layers),
    "granite_swa": ("sliding_window", None, _all_but_first_of_four),
    "granitemoe_swa": ("sliding_window", None, _all_but_first_of_four),
    "mimo_v2_flash": ("sliding_window", None, _every_layer),
    "modernbert": ("local_attention", None, _all_but_first_of_each),
    "modernbert-decoder": ("local_attention", None, _all_but_first_of_each),
    "afmoe": ("sliding_window", None, _all_but_each(4, "global_attn_every_n_layers")),
    "beam": ("sliding_window", None, _but_each_sixth_and_last),
    "cohere2_moe": ("sliding_window", None, _cohere2_moe_windows),
    "flint": ("sliding_window", None, _flint_windows),
    "gemma4_unified_text": ("sliding_window", None, _every_layer),
    "kolibri1": ("sliding_window", None, _all_but_each(5)),
    "laguna": ("sliding_window", None, _no_layer),
    "dots3_note_text": ("sliding_window", None, _every_layer),
    "lfm3": ("sliding_window", None, _every_layer),
    "moshi": ("sliding_window", None, _every_layer),
    "xlnet": ("mem_len", None, _every_layer),
}

# Of the window half lies on either side, where the config says so.
SEEN_BOTH_WAYS = {"gemma3_text", "gemma4_text", "gemma4_unified_text"}
# Classes that read layer_types where a config has it; the others give every layer the same attention.
READS_LAYER_TYPES = {"ministral", "qwen2", "qwen3", "qwen2_moe", "smollm3"}
READS_LAYER_TYPES |= {"dots1", "exaone_moe", "granite_swa", "granitemoe_swa"}
READS_LAYER_TYPES |= {"qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text"}
READS_LAYER_TYPES |= {"cohere2", "cwm", "exaone4", "mellum", "olmo3", "vaultgemma"}
READS_LAYER_TYPES |= {"afmoe", "beam", "cohere2_moe", "flint", "kolibri1", "laguna"}
READS_LAYER_TYPES |= {"modernbert", "modernbert-decoder", "gemma2", "gemma3_text", "gpt_oss", "llama4_text"}
# Classes whose rule for the kinds of their layers reads it.
RULE_READS_LAYER_TYPES = {"gemma3n_text", "gemma4_text", "gemma4_unified_text", "mimo_v2_flash", "dots3_note_text", "minimax_m3_vl_text"}
RULE_READS_LAYER_TYPES |= {"bailing_hybrid", "minimax", "granitemoehybrid", "kimi_linear", "lfm2", "lfm2_moe", "lfm3", "nemotron_h"}
RULE_READS_LAYER_TYPES |= {"olmo_hybrid", "qwen3_5_moe_text", "qwen3_5_text", "qwen3_next"}
LAYER_TYPES = {"full_attention": False, "sliding_attention": True, "chunked_attention": True}


def window_tokens(config: Mapping[str, Any], model_type: str) -> Any:
    """The window of windowed layers, None where there is none. [tokens]"""
    name, switch, _ = WINDOWS.get(model_type, ("", None, None))
    tokens = config.get(name) if not switch or config[switch] else None
    if model_type == "mimo_v2_flash" and config.get("sliding_window_size"):
        tokens = config["sliding_window_size"] + 1  # its own files count the tokens before the one at work
    if tokens and model_type == "modernbert-decoder":
        return tokens // 2  # the half of ModernBERT's window that lies behind
    if tokens and (model_type == "modernbert" or encodes(config, model_type)):
        return tokens // 2 * 2 + 1  # half on either side of the token at work
    return tokens // 2 + 1 if tokens and _both_ways(config, model_type) else tokens


def _both_ways(config, model_type):
    return config.get("use_bidirectional_attention") in (True, "all") and model_type in SEEN_BOTH_WAYS


def encodes(config: Mapping[str, Any], model_type: str) -> bool:
    """Whether a decoder's config makes it an encoder: every token sees those after it too, as EmbeddingGemma's do."""
    return model_type == "gemma3_text" and _both_ways(config, model_type)


def windowed_layers(config: Mapping[str, Any], model_type: str, layers: int) -> list[bool]:
    """Whether a layer sees a window only, for each layer."""
    if window_tokens(config, model_type) is None:
        return [False] * layers
    types = config.get("layer_types") if model_type in READS_LAYER_TYPES else None
    return [LAYER_TYPES[one] for one in types] if types else WINDOWS[model_type][2](config, layers)


def _sparse_steps(config, layers):
    dense, step = config.get("mlp_only_layers") or [], config["decoder_sparse_step"]
    return [index in dense or (index + 1) % step != 0 for index in range(layers)]


def _first_or_listed_layers(config, layers):
    kinds = config.get("mlp_layer_types")
    return [kind == "dense" for kind in kinds] if kinds else _first_layers(config, layers)


def _listed_layers(config, layers):
    return _first_or_listed_layers({**config, "first_k_dense_replace": 0}, layers)


def _first_or_listed_layer(config, layers):
    return _first_or_listed_layers({**config, "first_k_dense_replace": 1}, layers)


def _first_three_or_listed(config, layers):
    return _first_or_listed_layers({**config, "first_k_dense_replace": 3}, layers)


def _listed_or_first(config, layers):
    return _first_or_listed_layers({"first_k_dense_replace": 0, **config}, layers)


def _sparse_but_first_two(config, layers):
    dense = config.get("mlp_only_layers")
    return _sparse_steps({**config, "mlp_only_layers": [0, 1] if dense is None else dense}, layers)


def _first_layers(config, layers):
    return [index < config["first_k_dense_replace"] for index in range(layers)]


def _not_in_list(config, layers):
    step = config["interleave_moe_layer_step"]
    sparse = config.get("moe_layers")
    sparse = range(step - 1, layers, step) if sparse is None else sparse
    return [index not in sparse for index in range(layers)]


def _outside_of_range(config, layers):
    start, end, step = (config[f"moe_layer_{name}"] for name in ("start_index", "end_index", "interval"))
    last = layers - 1 if end == -1 else end
    return [(index + 1) % step != 0 or not start <= index <= last for index in range(layers)]


def _first_or_listed_of_one(config, layers):
    return _first_or_listed_layers({"first_k_dense_replace": 1, **config}, layers)


def _not_at_period(config, layers):
    period, offset = config["expert_layer_period"], config["expert_layer_offset"]
    return [index % period != offset for index in range(layers)]


def _first_dense(config, layers):
    return [index < config["num_dense_layers"] for index in range(layers)]


def _flagged_or_listed(config, layers):
    flags = config.get("moe_layer_freq")
    return [not routed for routed in flags] if isinstance(flags, list) else _listed_layers(config, layers)


DENSE = {
    "bailing_hybrid": _listed_or_first,
    "hy_v4": _first_or_listed_layer,
    "minimax_m3_vl_text": _flagged_or_listed,
    "afmoe": _first_dense,
    "axk1": _first_or_listed_of_one,
    "beam": _first_three_or_listed,
    "cohere2_moe": _listed_or_first,
    "flint": _sparse_but_first_two,
    "laguna": _first_or_listed_layer,
    "dots1": _first_layers,
    "exaone_moe": _first_or_listed_layers,
    "jamba": _not_at_period,
    "kimi_linear": _first_or_listed_of_one,
    "lfm2_moe": _first_dense,
    "qwen3_next": _sparse_steps,
    "ernie4_5_moe": _outside_of_range,
    "qwen2_moe": _sparse_steps,
    "qwen3_moe": _sparse_steps,
    "qwen3_vl_moe_text": _sparse_steps,
    "qwen3_omni_moe_text": _sparse_steps,
    "deepseek_v2": _first_layers,
    "deepseek_v3": _first_layers,
    "deepseek_v32": _first_or_listed_layers,
    "glm4_moe": _first_layers,
    "glm4_moe_lite": _first_or_listed_layer,
    "glm4v_moe_text": _first_layers,
    "glm_moe_dsa": _first_or_listed_layers,
    "llama4_text": _not_in_list,
    "mellum": _listed_layers,
    "hy_v3": _first_or_listed_layer,
    "mistral4": _first_layers,
}


def layer_kinds(config: Mapping[str, Any], model_type: str, values: Mapping[str, Any]) -> list[tuple[str, dict[str, int]]]:
    """The kind of each layer by the words of calc/models/stacks.py, and sizes of its own where it has any."""
    if model_type in LAYER_KINDS:
        return LAYER_KINDS[model_type](config, values)
    layers = values["layers"]
    if model_type in LAYER_WAYS:
        ways = LAYER_WAYS[model_type](config, layers)
    else:
        ways = ["windowed" if windowed else "" for windowed in windowed_layers(config, model_type, layers)]
    networks = ["moe" if values.get("experts") and not dense else "dense" for dense in dense_layers(config, model_type, layers)]
    kinds = ["-".join(filter(None, words)) for words in zip(networks, ways, strict=True)]
    own = LAYER_SIZES[model_type](config, values, kinds) if model_type in LAYER_SIZES else [{}] * layers
    return list(zip(kinds, own, strict=True))


def dense_layers(config: Mapping[str, Any], model_type: str, layers: int) -> list[bool]:
    """Whether a layer of a model with experts has a dense feed-forward network, for each layer."""
    return DENSE[model_type](config, layers) if model_type in DENSE else [False] * layers
