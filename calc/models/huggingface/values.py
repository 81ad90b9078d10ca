"""The values of a config under our names, each checked; what is wrong is a ConfigError."""

import json
import math
from collections.abc import Mapping
from typing import Any

from calc.models.huggingface.model_types import ModelType

LARGEST = 10**8  # no size of a model comes near it; beyond it a slip is meant
MOST_LAYERS = 10**4
FLAGS = {"tied", "qkv_bias", "output_bias", "mlp_bias", "head_norm", "convolution_bias", "mixer_bias", "head_bias"}
FLAGS |= {"router_bias", "learned_positions", "embedding_norms", "head_gate"}
FLAGS |= {"masked_head_bias", "pool_head", "mask_tokens", "stem_bias"}
WORDS = {"activation"}
SWITCHES = {"hidden_dropout", "attention_dropout", "softcap"}  # on where the config has them above zero
MAY_BE_ZERO = {"registers", "token_types", "shared_ffn", "shared_experts", "per_layer_width", "low_rank"}
MAY_BE_NULL = {"kv_heads", "head_dim", "ffn", "query_latent_rank", "embedding_width", "experts_per_token"}
MAY_BE_NULL |= {"expert_latent", "state_heads", "state_groups", "state_size", "state_head_dim"}
EXPERTS = {"experts", "experts_per_token", "expert_ffn"}
NEEDED = (
    *("layers", "encoder_layers", "decoder_layers", "hidden", "heads", "encoder_heads", "ffn", "encoder_ffn", "vocab"),
    *("experts", "experts_per_token", "expert_ffn"),
)
# Sizes that make a model what it is: a config says them itself, or it is refused; no class default stands for them.
OWN_SIZES = {"layers", "encoder_layers", "decoder_layers", "hidden", "heads", "encoder_heads", "ffn", "encoder_ffn", "vocab"}
OWN_FIELDS = {"intermediate_size"}  # by whichever of our names it goes


class ConfigError(Exception):
    """One sentence: which field, what is wrong, what to do.

    read_config puts the model's name before it.
    """


def short_value(text: object) -> str:
    """A word of a config as a sentence shows it: one line, escaped, at most 40 characters."""
    escaped = json.dumps(str(text)[:80])[1:-1]
    return escaped if len(escaped) <= 40 else escaped[:37] + "..."


def whole_number(value: Any, least: int, field: str) -> int:
    """The value as a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"{field} is {json.dumps(value)[:40]}; it must be a whole number.")
    if value != int(value) or not least <= value <= LARGEST:
        raise ConfigError(f"{field} is {value:.12g}; it must be a whole number from {least} to {LARGEST}.")
    return int(value)


def must_divide(total: int, part: int, words: tuple[str, str]) -> None:
    """Refuse a whole that its parts do not share evenly; `words` names both."""
    if total % part:
        raise ConfigError(f"{words[0]} ({total}) is not a multiple of {words[1]} ({part}); mend one.")


def size_of(config: Mapping[str, Any], name: str) -> int:
    """A field of the config that its class fills in where it is left out."""
    return whole_number(config[name], 1, name)


class UnknownLayer(Exception):
    """Layers of a kind that is not covered, in words."""


def word_of(kind: Any, names: Mapping[str, str]) -> str:
    """The word for a kind of layer that a config names."""
    if kind not in names:
        raise UnknownLayer(f"layers of the kind {short_value(kind)}")
    return names[kind]


def values_of(
    config: Mapping[str, Any], model_type: ModelType, class_defaults: Mapping[str, Any], all_defaults: bool = False
) -> dict[str, int]:
    """Our fields with their values: of the config, else the default of its class.

    With `all_defaults` that stands for its sizes too, as in the parts of a config, which leave out what is usual.
    """
    values = defaults_of(model_type, class_defaults, all_defaults)
    for ours, theirs in model_type.fields.items():
        named = [name for name in theirs.split() if name in config]
        if not named:
            continue
        filled = [name for name in named if config[name] is not None]
        if ours in EXPERTS and model_type.optional_experts and not any(config[name] for name in named):
            continue
        if not filled and ours in MAY_BE_NULL:
            values.pop(ours, None)
        elif filled or ours in SWITCHES:
            name = (filled or named)[0]
            values[ours] = _value(ours, config[name], name)
    return values


def defaults_of(model_type: ModelType, class_defaults: Mapping[str, Any], all_defaults: bool = False) -> dict[str, int]:
    """Our fields as the class fills them in; all flags but `tied` are traits of the family."""
    values: dict[str, int] = {}
    for ours, theirs in model_type.fields.items():
        required = not all_defaults and (ours in OWN_SIZES or theirs in OWN_FIELDS)
        of_family = ours in (FLAGS | SWITCHES | WORDS) - {"tied"}
        if not of_family and (not required or ours in model_type.may_be_left_out):
            filled = [class_defaults[name] for name in theirs.split() if name in class_defaults]
            values |= {ours: int(filled[0])} if filled else {}
    return {**values, **model_type.usual}


def check_covered(config: Mapping[str, Any], model_type: ModelType, class_defaults: Mapping[str, Any]) -> None:
    """Refuse a config that sets a field to a value which is not covered in its model_type."""
    for field, values in model_type.covered.items():
        value = config.get(field, class_defaults.get(field))
        if value is not None and value not in values:
            raise ConfigError(f"{model_type.name} with {field} {json.dumps(value)[:40]} is not covered; choose another model.")


def need_sizes(values: Mapping[str, int], model_type: ModelType) -> None:
    """Refuse a config that leaves out a size which nothing else settles."""
    for ours in NEEDED:
        if ours in model_type.fields and ours not in values:
            name = model_type.fields[ours].split()[0]
            raise ConfigError(f"{name} is missing; a config of model_type {model_type.name} needs it.")


def _value(ours, value, name):
    if ours in WORDS:
        return str(value).lower()
    if ours in SWITCHES:
        return int(bool(value))
    if ours in FLAGS:
        if not isinstance(value, bool):
            raise ConfigError(f"{name} is {json.dumps(value)[:40]}; it must be true or false.")
        return int(value)
    if isinstance(value, list) and value and ours in ("image", "patch"):
        value = value[0]
    value = whole_number(value, 0 if ours in MAY_BE_ZERO else 1, name)
    if ours in ("layers", "encoder_layers", "decoder_layers") and value > MOST_LAYERS:
        raise ConfigError(f"{name} is {value}; it must be at most {MOST_LAYERS}.")
    return value
