"""The kinds of layers that a config describes: attention, network and sizes.

The rules are those of the config and model classes in transformers 5.23. The config already holds
the defaults of its class (catalogs/read_off/config_defaults.yaml).
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from calc.mappings import Cells, Json
from calc.models.expressions import Expression, compute
from calc.models.huggingface.type_rules import ModelType
from calc.models.huggingface.values import ConfigError, short_value, word_of

LAYER_TYPES = {
    "full_attention": False,
    "sliding_attention": True,
    "chunked_attention": True,
}  # whether a layer sees only a window
# What a layer attends to, by its name in layer_types of current and earlier files.
MIXERS = {
    "full_attention": "",
    "attention": "",
    "linear_attention": "linear",
    "mamba": "linear",
    "conv": "linear",
    "hybrid": "parallel",
    "sliding_attention": "windowed",
}
UNREAD_MIXERS = {  # the same for classes that do not read the list
    **MIXERS,
    "chunked_attention": "windowed",
    "deepseek_sparse_attention": "",
    "indexed_attention": "",
}


def window_tokens(config: Cells, model_type: ModelType) -> Any:
    """The window of windowed layers; None without a window. [tokens]"""
    is_off = model_type.window_switch and not config[model_type.window_switch]
    tokens = None if is_off else config.get(model_type.window)
    if model_type.window_before and config.get(model_type.window_before):
        tokens = config[model_type.window_before] + 1
    if not tokens:
        return tokens
    if model_type.window_covers == "half_behind":
        return tokens // 2
    if model_type.window_covers == "both_sides" or encodes(config, model_type):
        return tokens // 2 * 2 + 1  # half on either side of the current token
    if _sees_both_ways(config, model_type):
        return tokens // 2 + 1
    return tokens


def _sees_both_ways(config, model_type):
    return model_type.two_way_window and config.get("use_bidirectional_attention") in (True, "all")


def encodes(config: Cells, model_type: ModelType) -> bool:
    """Return whether the config turns a decoder into an encoder, as EmbeddingGemma's does."""
    return model_type.two_way_window == "encoder" and _sees_both_ways(config, model_type)


def windowed_layers(config: Cells, model_type: ModelType, layers: int) -> list[bool]:
    """Return for each layer whether it attends to a window only."""
    if window_tokens(config, model_type) is None:
        return [False] * layers
    types = config.get("layer_types") if model_type.layer_types == "read" else None
    if types:
        return [LAYER_TYPES[name] for name in types]
    if model_type.windowed_layers:
        return _by_layer(model_type.windowed_layers, config, layers)
    return [True] * layers


def _by_layer(
    formula: Any,
    config: Cells,
    layers: int,
    values: Cells = MappingProxyType({}),
    kinds: Sequence[str] = (),
) -> list[Any]:
    """Evaluate a formula for each layer.

    It may read the layer's index and kind, the sizes in `values`, and the config's fields.
    """

    def value_of(index: int) -> Any:
        values_by_name = {**values, "index": index, "layers": layers}
        if kinds:
            values_by_name["kind"] = kinds[index]
        return compute(
            formula,
            lambda name: values_by_name[name] if name in values_by_name else config.get(name),
        )

    return [value_of(index) for index in range(layers)]


def _mixers(config: Cells, model_type: ModelType, formula: Expression, layers: int) -> list[str]:
    """Return what each layer attends to, a value of MIXERS, from the config's list or a formula.

    The formula gives this word itself, or whether the layer has attention; without, it is linear.
    """
    if model_type.layer_types == "by_rule":
        layer_types = config.get("layer_types") or config.get("layers_block_type")
        if layer_types is not None:
            return [word_of(name, MIXERS) for name in layer_types]
    mixers = []
    for value in _by_layer(formula, config, layers):
        if isinstance(value, str):
            mixers.append(value)
        else:
            mixers.append("" if value else "linear")
    return mixers


def _dense_layers(config: Cells, model_type: ModelType, layers: int) -> list[bool]:
    """Return for each layer of a model with experts whether it has none."""
    if model_type.dense_listed and config.get("mlp_layer_types"):
        return [kind == "dense" for kind in config["mlp_layer_types"]]
    if model_type.dense_layers:
        return _by_layer(model_type.dense_layers, config, layers)
    return [False] * layers


def layer_kinds(
    config: Cells, model_type: ModelType, values: Json
) -> list[tuple[str, dict[str, int]]]:
    """Return each layer's kind, as calc/models/stacks.py names it, and the sizes of its own."""
    layers = values["layers"]
    if callable(model_type.layer_kinds):
        return model_type.layer_kinds(config, values)
    if model_type.layer_kinds:
        rows = _by_layer(model_type.layer_kinds, config, layers, values)
        return [(row.pop("kind"), _own_sizes(row)) for row in rows]
    if model_type.mixed_layers:
        mixers = _mixers(config, model_type, model_type.mixed_layers, layers)
    else:
        mixers = [
            "windowed" if is_windowed else ""
            for is_windowed in windowed_layers(config, model_type, layers)
        ]
    networks = [
        "moe" if values.get("experts") and not is_dense else "dense"
        for is_dense in _dense_layers(config, model_type, layers)
    ]
    kinds = ["-".join(filter(None, words)) for words in zip(networks, mixers, strict=True)]
    sizes = (
        _by_layer(model_type.layer_sizes, config, layers, values, kinds)
        if model_type.layer_sizes
        else [{}] * layers
    )
    return list(zip(kinds, map(_own_sizes, sizes), strict=True))


def _own_sizes(row: Json) -> Json:
    """The sizes that a formula gives a layer, without those that are None."""
    return {name: size for name, size in row.items() if size is not None}


def check_layer_types(types: Any, model_type: ModelType, layers: int) -> None:
    """Refuse layer_types that do not name one covered kind per layer."""
    if types is None or model_type.layer_types == "by_rule":
        return
    if not isinstance(types, list) or len(types) != layers:
        raise ConfigError(f"layer_types must name one kind for each of the {layers} layers.")
    for kind in types:
        if kind not in LAYER_TYPES and model_type.layer_types == "read":
            raise ConfigError(
                f"layer_types holds {kind}, which is not covered; covered are "
                f"{', '.join(LAYER_TYPES)}."
            )


def check_unread_layer_types(types: Any, model_type: ModelType, kinds: list[str]) -> None:
    """Refuse layer_types that contradict the layers of a class that ignores the list."""
    if model_type.layer_types:
        return
    for name, kind in zip(types or (), kinds, strict=False):
        if UNREAD_MIXERS.get(str(name)) != kind.partition("-")[2]:
            raise ConfigError(
                f"layer_types names {short_value(name)} for a layer that {model_type.name} builds "
                f"otherwise, since its class does not read the list; remove layer_types, or give "
                f"the model_type of a class that reads it."
            )
