"""Rules that the catalog of model types names: what only code can derive from a config."""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

from calc.evaluate import formulas_of
from calc.models.huggingface.rules import (
    dense_layers,
    layer_kinds,
    layer_sizes,
    mixed_layers,
    projectors,
    sizes_of_decoders,
    sizes_of_encoders,
    sizes_of_hybrids,
    sizes_of_two_sided,
    towers,
    windowed_layers,
)

MODULES: dict[str, tuple[ModuleType, ...]] = {
    "windowed_layers": (windowed_layers,),
    "dense_layers": (dense_layers,),
    "mixed_layers": (mixed_layers,),
    "layer_kinds": (layer_kinds,),
    "layer_sizes": (layer_sizes,),
    "derive": (sizes_of_decoders, sizes_of_encoders, sizes_of_hybrids, sizes_of_two_sided),
    "projector": (projectors,),
    "count": (towers,),
}
RULES: dict[str, dict[str, Callable]] = {
    key: {rule.__name__: rule for module in modules for rule in formulas_of(module)} for key, modules in MODULES.items()
}
BY_POSITION: dict[str, Callable] = {
    "windowed_layers": windowed_layers.windowed_by_position,
    "dense_layers": dense_layers.dense_by_position,
    "mixed_layers": mixed_layers.linear_by_position,
}


def rule_of(key: str, value: Any) -> Callable | None:
    """The rule that a key of a model_type names, or the one by position with its parameters."""
    if isinstance(value, dict):
        return partial(BY_POSITION[key], **value)
    return RULES[key][value] if value else None
