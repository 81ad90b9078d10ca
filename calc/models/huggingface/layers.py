"""The kinds of layers that a config describes: attention, network and sizes.

The rules are those of the config and model classes in transformers 5.23. The config already holds the defaults of its class
(catalogs/read_off/config_defaults.yaml).
"""

from collections.abc import Mapping
from typing import Any

from calc.models.huggingface.model_types import ModelType
from calc.models.huggingface.rules.mixed_layers import WAYS
from calc.models.huggingface.values import ConfigError, short_value

Config = Mapping[str, Any]
LAYER_TYPES = {"full_attention": False, "sliding_attention": True, "chunked_attention": True}  # whether a layer sees only a window
UNREAD_WAYS = {**WAYS, "chunked_attention": "windowed", "deepseek_sparse_attention": "", "indexed_attention": ""}


def window_tokens(config: Config, model_type: ModelType) -> Any:
    """The window of windowed layers; None without a window. [tokens]"""
    switched_off = model_type.window_switch and not config[model_type.window_switch]
    tokens = None if switched_off else config.get(model_type.window)
    if model_type.window_before and config.get(model_type.window_before):
        tokens = config[model_type.window_before] + 1
    if tokens and model_type.window_covers == "half_behind":
        return tokens // 2
    if tokens and (model_type.window_covers == "both_sides" or encodes(config, model_type)):
        return tokens // 2 * 2 + 1  # half on either side of the current token
    return tokens // 2 + 1 if tokens and _sees_both_ways(config, model_type) else tokens


def _sees_both_ways(config, model_type):
    return model_type.two_way_window and config.get("use_bidirectional_attention") in (True, "all")


def encodes(config: Config, model_type: ModelType) -> bool:
    """Whether the config turns a decoder into an encoder, as that of EmbeddingGemma does."""
    return model_type.two_way_window == "encoder" and _sees_both_ways(config, model_type)


def windowed_layers(config: Config, model_type: ModelType, layers: int) -> list[bool]:
    """For each layer, whether it sees only a window."""
    if window_tokens(config, model_type) is None:
        return [False] * layers
    types = config.get("layer_types") if model_type.layer_types == "read" else None
    if types:
        return [LAYER_TYPES[name] for name in types]
    return model_type.windowed_layers(config, layers) if model_type.windowed_layers else [True] * layers


def layer_kinds(config: Config, model_type: ModelType, values: Mapping[str, Any]) -> list[tuple[str, dict[str, int]]]:
    """The kind of each layer, as calc/models/stacks.py names it, and its own sizes."""
    if model_type.layer_kinds:
        return model_type.layer_kinds(config, values)
    layers = values["layers"]
    if model_type.mixed_layers:
        ways = model_type.mixed_layers(config, layers)
    else:
        ways = ["windowed" if windowed else "" for windowed in windowed_layers(config, model_type, layers)]
    dense = model_type.dense_layers(config, layers) if model_type.dense_layers else [False] * layers
    networks = ["moe" if values.get("experts") and not plain else "dense" for plain in dense]
    kinds = ["-".join(filter(None, words)) for words in zip(networks, ways, strict=True)]
    sizes = model_type.layer_sizes(config, values, kinds) if model_type.layer_sizes else [{}] * layers
    return list(zip(kinds, sizes, strict=True))


def check_layer_types(types: Any, model_type: ModelType, layers: int) -> None:
    """Refuse layer_types that do not name one covered kind per layer."""
    if types is None or model_type.layer_types == "by_rule":
        return
    if not isinstance(types, list) or len(types) != layers:
        raise ConfigError(f"layer_types must name one kind for each of the {layers} layers.")
    for kind in types:
        if kind not in LAYER_TYPES and model_type.layer_types == "read":
            raise ConfigError(f"layer_types holds {kind}, which is not covered; covered are {', '.join(LAYER_TYPES)}.")


def check_unread_layer_types(types: Any, model_type: ModelType, kinds: list[str]) -> None:
    """Refuse layer_types that contradict the layers of a class that ignores the list."""
    if model_type.layer_types:
        return
    for named, kind in zip(types or (), kinds, strict=False):
        if UNREAD_WAYS.get(str(named)) != kind.partition("-")[2]:
            builds = f"for a layer that {model_type.name} builds otherwise, since its class does not read the list"
            cure = "remove layer_types, or give the model_type of a class that reads it"
            raise ConfigError(f"layer_types names {short_value(named)} {builds}; {cure}.")
