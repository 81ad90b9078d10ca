"""What configs of models say whose layers differ in their heads, their networks or their norms, by model_type.

The rules are those of the config and model classes in transformers 5.23; what the classes fill in
(catalogs/config_defaults.yaml) stands in the config already.
"""

from collections.abc import Callable
from typing import Any

from calc.models.huggingface.hybrids import NO_EXPERTS, Config, Kinds, known
from calc.models.huggingface.values import whole_number


def _gemma_ways(config: Config, layers: int, period: int) -> list[str]:
    types = config.get("layer_types") or ["full_attention" if (i + 1) % period == 0 else "sliding_attention" for i in range(layers)]
    return [known(kind, {"full_attention": "", "sliding_attention": "-windowed"}) for kind in types]


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


def _last_with_bias(_config: Config, values: Config) -> Kinds:
    """Attention's output has a bias in the last layer alone."""
    return [*[("dense", {})] * (values["layers"] - 1), ("dense", {"output_bias": 1})]


def _own_heads(config: Config, values: Config, kinds: list[str]) -> list[dict[str, int]]:
    """Each layer may have heads of its own number."""
    heads = config.get("num_attention_heads_per_layer") or [values["heads"]] * len(kinds)
    return [{"heads": count} if count != values["heads"] else {} for count in heads]


def _normed_experts(_config: Config, _values: Config, kinds: list[str]) -> list[dict[str, int]]:
    """What the experts give is normed."""
    return [{"block_norms": 3} if kind.startswith("moe") else {} for kind in kinds]


# Of layers whose kinds are told as everywhere (layer_kinds.py): the sizes that each has of its own.
LAYER_SIZES: dict[str, Callable[[Config, Config, list[str]], list[dict[str, int]]]] = {"axk1": _normed_experts, "laguna": _own_heads}
LAYER_KINDS: dict[str, Callable[[Config, Config], Kinds]] = {
    "gemma3n_text": _gemma3n,
    "gemma4_text": _gemma4,
    "gemma4_unified_text": _gemma4,
    "gpt_neox_japanese": _last_with_bias,
    "mimo_v2_flash": _mimo,
}


def _gemma3n_ffn(config: Config, _values: Config, model_id: str) -> dict[str, Any]:
    """The widest inner width, of layers that may each have their own."""
    widths = config.get("intermediate_size")
    each = widths if isinstance(widths, list) and widths else [widths]
    return {"ffn": max(whole_number(width, 1, "intermediate_size", model_id) for width in each)}


def _gemma4_experts(config: Config, _values: Config, _model_id: str) -> dict[str, Any]:
    return {} if config.get("enable_moe_block") else NO_EXPERTS


FORMS: dict[str, Callable[[Config, Config, str], dict[str, Any]]] = {"gemma3n_text": _gemma3n_ffn, "gemma4_text": _gemma4_experts}
