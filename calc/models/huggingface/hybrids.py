"""What configs of models say whose layers keep a state instead of a cache, or differ in their heads, by model_type.

The rules are those of the config and model classes in transformers 5.23; what the classes fill in
(catalogs/config_defaults.yaml) stands in the config already.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from calc.models.huggingface.values import ConfigError, must_divide, shown, whole_number

Config = Mapping[str, Any]


class UnknownLayer(Exception):
    """Layers of a kind that is not covered, in words."""


Kinds = list[tuple[str, dict[str, int]]]  # of each layer: its kind (calc/models/stacks.py) and sizes of its own
# What a layer is called by layer_types, now and in earlier files: what it looks at.
WAYS = {"full_attention": "", "attention": "", "linear_attention": "linear", "mamba": "linear", "conv": "linear", "hybrid": "parallel"}
PATTERN = {"M": "none-linear", "E": "moe-alone", "*": "none", "-": "dense-alone"}
PATTERN |= {"linear_attention": "none-linear", "mamba": "none-linear", "moe": "moe-alone", "mlp": "dense-alone"}
PATTERN |= {"full_attention": "none", "attention": "none"}


def _listed(config: Config, layers: int, usual: Callable[[int], bool]) -> list[str]:
    """Ways of the layers by their list, else linear but where `usual` says that a layer of this number attends."""
    types = config.get("layer_types") or config.get("layers_block_type")
    if types is None:
        return ["" if usual(index) else "linear" for index in range(layers)]
    return [_known(kind, WAYS) for kind in types]


def _known(kind: Any, names: Mapping[str, str]) -> str:
    if kind not in names:
        raise UnknownLayer(f"layers of the kind {shown(kind)}")
    return names[kind]


def _each_fourth(config: Config, layers: int) -> list[str]:
    every = config.get("full_attention_interval", 4)
    return _listed(config, layers, lambda index: (index + 1) % every == 0)


def _olmo_hybrid(config: Config, layers: int) -> list[str]:
    return _listed(config, layers, lambda index: index % 4 == 3 or (layers < 4 and index == layers - 1))


def _kimi_linear(config: Config, layers: int) -> list[str]:
    own = config.get("linear_attn_config") or {}
    if config.get("layer_types") is None and "full_attn_layers" in own and "kda_layers" in own:
        return ["" if index + 1 in own["full_attn_layers"] else "linear" for index in range(layers)]
    return _listed(config, layers, lambda index: index > 0 and index % 4 == 0)


def _never(config: Config, layers: int) -> list[str]:
    return _listed(config, layers, lambda _index: False)


def _at_indices(config: Config, layers: int) -> list[str]:
    return ["" if index in (config.get("attn_layer_indices") or ()) else "linear" for index in range(layers)]


def _jamba(config: Config, layers: int) -> list[str]:
    period, offset = config["attn_layer_period"], config["attn_layer_offset"]
    return ["" if index % period == offset else "linear" for index in range(layers)]


def _lfm2(config: Config, layers: int) -> list[str]:
    full = config.get("full_attn_idxs")
    return _listed(config, layers, lambda index: full is None or index in full)


LAYER_WAYS: dict[str, Callable[[Config, int], list[str]]] = {
    "bamba": _at_indices,
    "falcon_h1": lambda _config, layers: ["parallel"] * layers,
    "granitemoehybrid": _never,
    "jamba": _jamba,
    "kimi_linear": _kimi_linear,
    "lfm2": _lfm2,
    "lfm2_moe": _lfm2,
    "olmo_hybrid": _olmo_hybrid,
    "qwen3_5_moe_text": _each_fourth,
    "qwen3_5_text": _each_fourth,
    "qwen3_next": _each_fourth,
}


def _nemotron_h(config: Config, _values: Config) -> Kinds:
    """Each layer is one of attention, a mixer, experts, and a dense network."""
    return [(_known(kind, PATTERN), {}) for kind in nemotron_layers(config)]


def nemotron_layers(config: Config) -> list[str]:
    """The kinds of Nemotron-H's layers as a config has them: a list, or a letter for each."""
    named = config.get("layers_block_type") or config.get("layer_types") or config.get("hybrid_override_pattern")
    return list(named) if named else ["M", "E", "*", "-"]


def _mixers_alone(_config: Config, values: Config) -> Kinds:
    return [("none-linear", {})] * values["layers"]


def _gemma_ways(config: Config, layers: int, period: int) -> list[str]:
    types = config.get("layer_types") or ["full_attention" if (i + 1) % period == 0 else "sliding_attention" for i in range(layers)]
    return [_known(kind, {"full_attention": "", "sliding_attention": "-windowed"}) for kind in types]


def _shared(config: Config, layers: int) -> list[bool]:
    own = layers - whole_number(config.get("num_kv_shared_layers") or 0, 0, "num_kv_shared_layers", "it")
    return [index >= own for index in range(layers)]


def _gemma4(config: Config, values: Config) -> Kinds:
    """Full layers have heads of their own width; the last layers read the keys and values of one below."""
    layers, network = values["layers"], "both" if values.get("experts") else "dense"
    of_full = {"head_dim": config.get("global_head_dim") or 512}
    same = bool(config.get("attention_k_eq_v"))
    if same:
        of_full |= {"keys_are_values": 1, "kv_heads": config.get("num_global_key_value_heads") or values["kv_heads"]}
    wide = {"ffn": 2 * values["ffn"]} if config.get("use_double_wide_mlp") else {}
    norms = {"block_norms": 7} if network == "both" else {}
    ways = _gemma_ways(config, layers, 6)
    ways[-1] = ""  # whatever a config says of the last layer, it attends to all
    kinds = []
    for way, shares in zip(ways, _shared(config, layers), strict=True):
        own = norms | ({} if way else of_full) | (wide if shares else {})
        kinds.append((network + way + "-shared" * shares, own))
    return kinds


def _gemma3n(config: Config, values: Config) -> Kinds:
    """The last layers read the keys and values of one below; each layer may have an inner width of its own."""
    layers, widths = values["layers"], config["intermediate_size"]
    each = widths if isinstance(widths, list) else [widths] * layers
    rows = zip(_gemma_ways(config, layers, 5), _shared(config, layers), each, strict=True)
    return [("dense" + way + "-shared" * shares, {"ffn": ffn} if ffn != values["ffn"] else {}) for way, shares, ffn in rows]


def _mimo(config: Config, values: Config) -> Kinds:
    """Windowed layers have twice the heads of keys and values, and attention sinks; the first layer alone is dense."""
    layers = values["layers"]
    windowed = config.get("hybrid_layer_pattern") or [kind == "sliding_attention" for kind in config.get("layer_types") or ()]
    windowed = windowed or [index > 0 and (index + 1) % 6 != 0 for index in range(layers)]
    routed = config.get("moe_layer_freq") or [kind == "sparse" for kind in config.get("mlp_layer_types") or ()]
    routed = routed or [index > 0 for index in range(layers)]
    own = {"kv_heads": config.get("swa_num_key_value_heads") or 2 * values["kv_heads"], "sinks": 1}
    rows = zip(routed, windowed, strict=True)
    return [("moe" if moe else "dense", {}) if not near else (("moe" if moe else "dense") + "-windowed", own) for moe, near in rows]


LAYER_KINDS: dict[str, Callable[[Config, Config], Kinds]] = {
    "falcon_mamba": _mixers_alone,
    "gemma3n_text": _gemma3n,
    "gemma4_text": _gemma4,
    "mamba": _mixers_alone,
    "mamba2": _mixers_alone,
    "mimo_v2_flash": _mimo,
    "nemotron_h": _nemotron_h,
}


NO_EXPERTS = dict.fromkeys(("experts", "experts_per_token", "expert_ffn", "shared_ffn"), 0)
NEVER_TIED = {"tied": 0}  # classes that have a head of their own whatever the config says


def _asked_width(config: Config) -> dict[str, int]:
    """Bytes of a state's element where a config asks for a format of its own."""
    asked = str(config.get("mamba_ssm_dtype") or config.get("mamba_ssm_cache_dtype") or "")
    return {"recurrent_bytes_each": 4} if asked == "float32" else {}


def _delta(config: Config, _values: Config, _model_id: str) -> dict[str, Any]:
    return _asked_width(config)


def _olmo_delta(config: Config, values: Config, _model_id: str) -> dict[str, Any]:
    heads = config.get("linear_num_key_heads") or values["heads"]
    key = config.get("linear_key_head_dim") or int(0.75 * values["hidden"] / heads)
    own = {"state_groups": heads, "state_heads": config.get("linear_num_value_heads") or values["heads"]}
    return own | {"state_size": key, "state_head_dim": config.get("linear_value_head_dim") or 2 * key}


def _kimi(config: Config, values: Config, _model_id: str) -> dict[str, Any]:
    own = config.get("linear_attn_config") or {}
    names = {"state_head_dim": "head_dim", "state_heads": "num_heads", "convolution_kernel": "short_conv_kernel_size"}
    return NEVER_TIED | {ours: own.get(theirs, values[ours]) for ours, theirs in names.items()}


def _nemotron(config: Config, values: Config, model_id: str) -> dict[str, Any]:
    if config.get("mlp_hidden_act", "relu2") != "relu2":
        raise ConfigError(f"{model_id}: a nemotron_h whose mlp_hidden_act is not relu2 is not covered; choose another model.")
    layers = nemotron_layers(config)
    none = {} if {"E", "moe"} & set(layers) else NO_EXPERTS
    latent = {"model_type": "nemotron_h_latent"} if values.get("expert_latent") else {}
    return {"layers": len(layers), **_asked_width({"mamba_ssm_cache_dtype": "float32"} | dict(config)), **none, **latent, **NEVER_TIED}


def _mamba2_heads(config: Config, values: Config, model_id: str) -> dict[str, Any]:
    """The width of a head of Mamba-2: as said, else the inner width over the heads."""
    inner = config.get("mamba_d_ssm") or config["mamba_expand"] * values["hidden"]
    must_divide(inner, values["state_heads"], ("the width of the mixer", "the number of its heads"), model_id)
    return {"state_head_dim": inner // values["state_heads"]}


def _falcon_h1(config: Config, values: Config, model_id: str) -> dict[str, Any]:
    if bool(config.get("projectors_bias")) != bool(config.get("mamba_proj_bias")):
        raise ConfigError(f"{model_id}: a falcon_h1 with one of projectors_bias and mamba_proj_bias is not covered; give both or none.")
    return _mamba2_heads(config, values, model_id) | {"mixer_norm": int(bool(config.get("mamba_rms_norm")))}


def _granite_hybrid(config: Config, values: Config, model_id: str) -> dict[str, Any]:
    """Without experts the network that all tokens pass is the only one."""
    own = _mamba2_heads(config, values, model_id)
    if config.get("num_local_experts"):
        return own
    return own | NO_EXPERTS | {"ffn": values["shared_ffn"]}


def _mamba(config: Config, values: Config, _model_id: str) -> dict[str, Any]:
    """One head as wide as the mixer, of a step by way of a rank."""
    expand = config.get("mamba_expand") or config.get("expand") or 2
    rank = config.get("mamba_dt_rank", config.get("time_step_rank", "auto"))
    width = int(expand * values["hidden"])
    return {"state_heads": 1, "state_head_dim": width, "time_rank": math.ceil(values["hidden"] / 16) if rank == "auto" else rank}


def _jamba_sizes(config: Config, values: Config, model_id: str) -> dict[str, Any]:
    return _mamba(config, values, model_id) | (NO_EXPERTS if values["experts"] <= 1 else {})


def _mamba_alone(config: Config, values: Config, model_id: str) -> dict[str, Any]:
    return _mamba(config, values, model_id) | {"heads": 1}


def _mamba2_alone(config: Config, values: Config, _model_id: str) -> dict[str, Any]:
    return {"heads": 1, "state_head_dim": int(config["expand"] * values["hidden"]) // values["state_heads"]}


def _lfm2_ffn(config: Config, values: Config, _model_id: str) -> dict[str, Any]:
    """The inner width, two thirds of what the config says in whole multiples where the class adjusts it."""
    ffn = config.get("block_ff_dim") or values["ffn"]
    if config.get("block_auto_adjust_ff_dim"):
        scaled = int((config.get("block_ffn_dim_multiplier") or 1) * int(2 * ffn / 3))
        multiple = config["block_multiple_of"]
        ffn = multiple * math.ceil(scaled / multiple)
    return {"ffn": ffn} | _lfm2_tied(config)


def _lfm2_tied(config: Config) -> dict[str, Any]:
    bias = int(bool(config.get("conv_bias")))
    tied = {"tied": int(bool(config["tie_embedding"]))} if "tie_embedding" in config else {}
    return {"convolution_bias": bias, "mixer_bias": bias, **tied}


def _lfm2_moe(config: Config, _values: Config, _model_id: str) -> dict[str, Any]:
    return _lfm2_tied(config)


def _gemma3n_ffn(config: Config, _values: Config, model_id: str) -> dict[str, Any]:
    """The widest inner width, of layers that may each have their own."""
    widths = config.get("intermediate_size")
    each = widths if isinstance(widths, list) and widths else [widths]
    return {"ffn": max(whole_number(width, 1, "intermediate_size", model_id) for width in each)}


def _gemma4_form(config: Config, values: Config, _model_id: str) -> dict[str, Any]:
    """Without experts unless they are asked for; layers with an input of their own are another family's."""
    own = {"model_type": "gemma4_per_layer"} if values.get("per_layer_width") else {}
    return own if config.get("enable_moe_block") else NO_EXPERTS | own


FORMS: dict[str, Callable[[Config, Config, str], dict[str, Any]]] = {
    "bamba": _mamba2_heads,
    "falcon_h1": _falcon_h1,
    "falcon_mamba": _mamba_alone,
    "gemma3n_text": _gemma3n_ffn,
    "gemma4_text": _gemma4_form,
    "granitemoehybrid": _granite_hybrid,
    "jamba": _jamba_sizes,
    "kimi_linear": _kimi,
    "lfm2": _lfm2_ffn,
    "lfm2_moe": _lfm2_moe,
    "mamba": _mamba_alone,
    "mamba2": _mamba2_alone,
    "nemotron_h": _nemotron,
    "olmo_hybrid": _olmo_delta,
    "qwen3_5_moe_text": _delta,
    "qwen3_5_text": _delta,
    "qwen3_next": _delta,
}
