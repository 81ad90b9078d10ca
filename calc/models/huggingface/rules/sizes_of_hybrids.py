"""Sizes that models whose layers keep a state derive, as in transformers 5.23."""

import math

from calc.models.huggingface.rules.layer_kinds import nemotron_pattern
from calc.models.huggingface.values import ConfigError, must_divide

NO_EXPERTS = dict.fromkeys(("experts", "experts_per_token", "expert_ffn", "shared_ffn"), 0)
XLSTM_FACTORS = {"state_size": "qk_dim_factor", "state_head_dim": "v_dim_factor"}
NEVER_TIED = {"tied": 0}  # classes with a separate head whatever the config says


def state_format(config, _values, usual=""):
    """Bytes per element of the state where a config sets its format."""
    format_name = config.get("mamba_ssm_dtype") or config.get("mamba_ssm_cache_dtype", usual)
    return {"recurrent_bytes_each": 4} if format_name == "float32" else {}


def olmo_delta_sizes(config, values):
    """Heads as in attention; keys 3/4 of the hidden width, and values twice as wide."""
    heads = config.get("linear_num_key_heads") or values["heads"]
    key = config.get("linear_key_head_dim") or int(0.75 * values["hidden"] / heads)
    sizes = {"state_groups": heads, "state_heads": config.get("linear_num_value_heads") or values["heads"]}
    return sizes | {"state_size": key, "state_head_dim": config.get("linear_value_head_dim") or 2 * key}


def kimi_sizes(config, values):
    """A separate part of the config holds the sizes of the state."""
    linear = config.get("linear_attn_config") or {}
    names = {"state_head_dim": "head_dim", "state_heads": "num_heads", "convolution_kernel": "short_conv_kernel_size"}
    return NEVER_TIED | {ours: linear.get(theirs, values[ours]) for ours, theirs in names.items()}


def nemotron_sizes(config, values):
    """The pattern determines the number of layers."""
    layers = nemotron_pattern(config)
    none = {} if {"E", "moe"} & set(layers) else NO_EXPERTS
    latent = {"model_type": "nemotron_h_latent"} if values.get("expert_latent") else {}
    return {"layers": len(layers), **state_format(config, values, "float32"), **none, **latent, **NEVER_TIED}


def lightning_sizes(_config, values):
    """One state per query head."""
    return {"state_heads": values["heads"], "state_head_dim": values.get("head_dim") or values["hidden"] // values["heads"]}


def mamba2_head_width(config, values):
    """The width of a Mamba-2 head: from the config, else the inner width over the heads."""
    inner = config.get("mamba_d_ssm") or config["mamba_expand"] * values["hidden"]
    must_divide(inner, values["state_heads"], ("the width of the mixer", "the number of its heads"))
    return {"state_head_dim": inner // values["state_heads"]}


def falcon_h1_sizes(config, values):
    """Mamba-2 with or without a norm."""
    if bool(config.get("projectors_bias")) != bool(config.get("mamba_proj_bias")):
        raise ConfigError("a falcon_h1 with one of projectors_bias and mamba_proj_bias is not covered; give both or none.")
    return mamba2_head_width(config, values) | {"mixer_norm": int(bool(config.get("mamba_rms_norm")))}


def granite_hybrid_sizes(config, values):
    """Without experts, the shared network is the only one."""
    sizes = mamba2_head_width(config, values)
    if config.get("num_local_experts"):
        return sizes
    return sizes | NO_EXPERTS | {"ffn": values["shared_ffn"]}


def _mamba(config, values):
    """One head as wide as the mixer; its step passes through a low rank."""
    expand = config.get("mamba_expand") or config.get("expand") or 2
    rank = config.get("mamba_dt_rank", config.get("time_step_rank", "auto"))
    width = int(expand * values["hidden"])
    return {"state_heads": 1, "state_head_dim": width, "time_rank": math.ceil(values["hidden"] / 16) if rank == "auto" else rank}


def jamba_sizes(config, values):
    """Mamba layers, and experts where there is more than one."""
    return _mamba(config, values) | (NO_EXPERTS if values["experts"] <= 1 else {})


def mamba_alone_sizes(config, values):
    """Mamba without attention."""
    return _mamba(config, values) | {"heads": 1}


def xlstm_sizes(config, values):
    """Widths are shares of the hidden size, rounded up to multiples."""

    def scaled(factor, multiple):
        return multiple * math.ceil(values["hidden"] * config[factor] / multiple)

    sizes = {ours: scaled(factor, 64) // values["state_heads"] for ours, factor in XLSTM_FACTORS.items()}
    further = {"heads": 1, "ffn": scaled("ffn_proj_factor", config["ffn_round_up_to_multiple_of"])}
    return further | sizes | NEVER_TIED


def mamba2_alone_sizes(config, values):
    """Mamba-2 without attention."""
    return {"heads": 1, "state_head_dim": int(config["expand"] * values["hidden"]) // values["state_heads"]}


def lfm2_sizes(config, values):
    """The inner width, or two thirds of it where the class adjusts it."""
    ffn = config.get("block_ff_dim") or values["ffn"]
    if config.get("block_auto_adjust_ff_dim"):
        scaled = int((config.get("block_ffn_dim_multiplier") or 1) * int(2 * ffn / 3))
        multiple = config["block_multiple_of"]
        ffn = multiple * math.ceil(scaled / multiple)
    return {"ffn": ffn} | lfm2_moe_sizes(config, values)


def lfm2_moe_sizes(config, _values):
    """Biases of the convolutions; the files have a different name for tied embeddings."""
    bias = int(bool(config.get("conv_bias")))
    tied = {"tied": int(bool(config["tie_embedding"]))} if "tie_embedding" in config else {}
    return {"convolution_bias": bias, "mixer_bias": bias, **tied}


def lfm3_sizes(config, _values):
    """Norms before and after attention and network, or only before them."""
    return {"block_norms": 4 if config["use_sandwich_norm"] else 2}
