"""What configs of models say whose layers keep a state instead of a cache, by model_type.

The rules are those of the config and model classes in transformers 5.23; what the classes fill in
(catalogs/config_defaults.yaml) stands in the config already.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from calc.models.huggingface.values import ConfigError, must_divide, shown

Config = Mapping[str, Any]


class UnknownLayer(Exception):
    """Layers of a kind that is not covered, in words."""


Kinds = list[tuple[str, dict[str, int]]]  # of each layer: its kind (calc/models/stacks.py) and sizes of its own
# What a layer is called by layer_types, now and in earlier files: what it looks at.
WAYS = {"full_attention": "", "attention": "", "linear_attention": "linear", "mamba": "linear", "conv": "linear", "hybrid": "parallel"}
WAYS |= {"sliding_attention": "windowed"}
PATTERN = {"M": "none-linear", "E": "moe-alone", "*": "none", "-": "dense-alone"}
PATTERN |= {"linear_attention": "none-linear", "mamba": "none-linear", "moe": "moe-alone", "mlp": "dense-alone"}
PATTERN |= {"full_attention": "none", "attention": "none"}


def _listed(config: Config, layers: int, usual: Callable[[int], bool]) -> list[str]:
    """Ways of the layers by their list, else linear but where `usual` says that a layer of this number attends."""
    types = config.get("layer_types") or config.get("layers_block_type")
    if types is None:
        return ["" if usual(index) else "linear" for index in range(layers)]
    return [known(kind, WAYS) for kind in types]


def known(kind: Any, names: Mapping[str, str]) -> str:
    if kind not in names:
        raise UnknownLayer(f"layers of the kind {shown(kind)}")
    return names[kind]


def _each_of_group(config: Config, layers: int) -> list[str]:
    every = config["layer_group_size"]
    return _listed(config, layers, lambda index: (index + 1) % every == 0)


def _minimax(config: Config, layers: int) -> list[str]:
    """Each second layer attends; the files of MiniMax-Text-01 say so by a flag for each layer."""
    flags = config.get("attn_type_list")
    if flags:
        return ["" if attends else "linear" for attends in flags]
    return _listed(config, layers, lambda index: index % 2 == 0)


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


def _lfm3(config: Config, layers: int) -> list[str]:
    ways = {0: "windowed", 2: ""}
    usual = ["linear" if index == 0 else ways.get(index % 4, "linear") for index in range(layers)]
    return _listed(config, layers, lambda _index: False) if config.get("layer_types") else usual


LAYER_WAYS: dict[str, Callable[[Config, int], list[str]]] = {
    "bailing_hybrid": _each_of_group,
    "minimax": _minimax,
    "bamba": _at_indices,
    "falcon_h1": lambda _config, layers: ["parallel"] * layers,
    "granitemoehybrid": _never,
    "jamba": _jamba,
    "kimi_linear": _kimi_linear,
    "lfm2": _lfm2,
    "lfm2_moe": _lfm2,
    "lfm3": _lfm3,
    "olmo_hybrid": _olmo_hybrid,
    "qwen3_5_moe_text": _each_fourth,
    "qwen3_5_text": _each_fourth,
    "qwen3_next": _each_fourth,
}


def _nemotron_h(config: Config, _values: Config) -> Kinds:
    """Each layer is one of attention, a mixer, experts, and a dense network."""
    return [(known(kind, PATTERN), {}) for kind in nemotron_layers(config)]


def nemotron_layers(config: Config) -> list[str]:
    """The kinds of Nemotron-H's layers as a config has them: a list, or a letter for each."""
    named = config.get("layers_block_type") or config.get("layer_types") or config.get("hybrid_override_pattern")
    return list(named) if named else ["M", "E", "*", "-"]


def _mixed_throughout(_config: Config, values: Config) -> Kinds:
    return [("dense-linear", {})] * values["layers"]


def _mixers_alone(_config: Config, values: Config) -> Kinds:
    return [("none-linear", {})] * values["layers"]


LAYER_KINDS: dict[str, Callable[[Config, Config], Kinds]] = {
    "falcon_mamba": _mixers_alone,
    "mamba": _mixers_alone,
    "mamba2": _mixers_alone,
    "nemotron_h": _nemotron_h,
    "xlstm": _mixed_throughout,
}


NO_EXPERTS = dict.fromkeys(("experts", "experts_per_token", "expert_ffn", "shared_ffn"), 0)
XLSTM_FACTORS = {"state_size": "qk_dim_factor", "state_head_dim": "v_dim_factor"}
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


def _own_head(_config: Config, _values: Config, _model_id: str) -> dict[str, Any]:
    return NEVER_TIED


def _nemotron(config: Config, values: Config, model_id: str) -> dict[str, Any]:
    if config.get("mlp_hidden_act", "relu2") != "relu2":
        raise ConfigError(f"{model_id}: a nemotron_h whose mlp_hidden_act is not relu2 is not covered; choose another model.")
    layers = nemotron_layers(config)
    none = {} if {"E", "moe"} & set(layers) else NO_EXPERTS
    latent = {"model_type": "nemotron_h_latent"} if values.get("expert_latent") else {}
    return {"layers": len(layers), **_asked_width({"mamba_ssm_cache_dtype": "float32"} | dict(config)), **none, **latent, **NEVER_TIED}


def _lightning(_config: Config, values: Config, _model_id: str) -> dict[str, Any]:
    """A state for each head of queries."""
    return {"state_heads": values["heads"], "state_head_dim": values.get("head_dim") or values["hidden"] // values["heads"]}


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


def _xlstm(config: Config, values: Config, model_id: str) -> dict[str, Any]:
    """Widths are shares of the hidden size, in whole multiples."""
    if config["use_bias"]:
        raise ConfigError(f"{model_id}: an xlstm with use_bias is not covered; choose another model.")

    def scaled(factor: str, multiple: int) -> int:
        return multiple * math.ceil(values["hidden"] * config[factor] / multiple)

    sizes = {ours: scaled(factor, 64) // values["state_heads"] for ours, factor in XLSTM_FACTORS.items()}
    own = {"heads": 1, "ffn": scaled("ffn_proj_factor", config["ffn_round_up_to_multiple_of"])}
    return own | sizes | NEVER_TIED


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


FORMS: dict[str, Callable[[Config, Config, str], dict[str, Any]]] = {
    "bailing_hybrid": _own_head,
    "bamba": _mamba2_heads,
    "falcon_h1": _falcon_h1,
    "falcon_mamba": _mamba_alone,
    "granitemoehybrid": _granite_hybrid,
    "jamba": _jamba_sizes,
    "kimi_linear": _kimi,
    "lfm2": _lfm2_ffn,
    "lfm2_moe": _lfm2_moe,
    "mamba": _mamba_alone,
    "minimax": _lightning,
    "mamba2": _mamba2_alone,
    "nemotron_h": _nemotron,
    "xlstm": _xlstm,
    "olmo_hybrid": _olmo_delta,
    "qwen3_5_moe_text": _delta,
    "qwen3_5_text": _delta,
    "qwen3_next": _delta,
}
