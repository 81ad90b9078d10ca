"""The checked values of a config under our names; a fault is a ConfigError."""

import json
import math
from collections.abc import Mapping
from typing import Any

from calc.mappings import Cells
from calc.models.huggingface.type_rules import ModelType

LARGEST = 10**8  # far beyond any size of a model: a larger number is a mistake
MOST_LAYERS = 10**4
FLAGS = {
    "tied",
    "qkv_bias",
    "output_bias",
    "mlp_bias",
    "head_norm",
    "convolution_bias",
    "mixer_bias",
    "head_bias",
}
FLAGS |= {"router_bias", "learned_positions", "embedding_norms", "head_gate"}
FLAGS |= {"masked_head_bias", "pool_head", "mask_tokens", "stem_bias"}
WORDS = {"activation"}
# Fields that count as on if the config sets them above zero.
SWITCHES = {
    "hidden_dropout",
    "attention_dropout",
    "softcap",
}
MAY_BE_ZERO = {
    "registers",
    "token_types",
    "shared_ffn",
    "shared_experts",
    "per_layer_width",
    "low_rank",
}
MAY_BE_NULL = {
    "kv_heads",
    "head_dim",
    "ffn",
    "query_latent_rank",
    "embedding_width",
    "experts_per_token",
}
MAY_BE_NULL |= {"expert_latent", "state_heads", "state_groups", "state_size", "state_head_dim"}
EXPERTS = {"experts", "experts_per_token", "expert_ffn"}
NEEDED = (
    "layers",
    "encoder_layers",
    "decoder_layers",
    "hidden",
    "heads",
    "encoder_heads",
    "ffn",
    "encoder_ffn",
    "vocab",
    "experts",
    "experts_per_token",
    "expert_ffn",
)
# Sizes that a config must state itself: no default of its class replaces them.
OWN_SIZES = {*NEEDED} - EXPERTS
OWN_FIELDS = {"intermediate_size"}  # whatever our name for it


class ConfigError(Exception):
    """One sentence: the field, the problem, the fix.

    read_config prefixes the name of the model.
    """


def short_value(text: object) -> str:
    """A value of a config as a sentence quotes it: one line, escaped, at most 40 characters."""
    words = json.dumps(str(text)[:80])[1:-1]
    return words if len(words) <= 40 else words[:37] + "..."


def whole_number(value: Any, least: int, field: str, most: int = LARGEST) -> int:
    """The value as a whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"{field} is {json.dumps(value)[:40]}; it must be a whole number.")
    if value != int(value) or not least <= value <= most:
        raise ConfigError(
            f"{field} is {value:.12g}; it must be a whole number from {least} to {most}."
        )
    return int(value)


def must_divide(total: int, part: int, words: tuple[str, str]) -> None:
    """Refuse a total that is not a multiple of its part; `words` names both."""
    if total % part:
        raise ConfigError(
            f"{words[0]} ({total}) is not a multiple of {words[1]} ({part}); correct one of them."
        )


def labels_of(config: Cells) -> int:
    """Number of classes of a classifier; two if its config names none."""
    return whole_number(
        config.get("num_labels") or len(config.get("id2label") or ()) or 2, 1, "num_labels"
    )


class UnknownLayer(Exception):
    """Layers of a kind that is not covered; the message names them."""


def word_of(kind: Any, names: Mapping[str, str]) -> str:
    """Our name for a kind of layer that a config names."""
    if kind not in names:
        raise UnknownLayer(f"layers of the kind {short_value(kind)}")
    return names[kind]


def values_of(
    config: Cells,
    model_type: ModelType,
    class_defaults: Cells,
    all_defaults: bool = False,
) -> dict[str, int]:
    """Our fields with their values: from the config, else the default of its class.

    With `all_defaults` this includes its sizes: the parts of a config leave out the usual ones.
    """
    values = defaults_of(model_type, class_defaults, all_defaults)
    for ours, theirs in model_type.fields.items():
        fields = [name for name in theirs.split() if name in config]
        if not fields:
            continue
        filled_fields = [name for name in fields if config[name] is not None]
        if (
            ours in EXPERTS
            and model_type.optional_experts
            and not any(config[name] for name in fields)
        ):
            continue
        if not filled_fields and ours in MAY_BE_NULL:
            values.pop(ours, None)
        elif filled_fields or ours in SWITCHES:
            name = (filled_fields or fields)[0]
            values[ours] = _value(ours, config[name], name)
    return values


def defaults_of(
    model_type: ModelType, class_defaults: Cells, all_defaults: bool = False
) -> dict[str, int]:
    """Our fields as the class fills them in; all flags except `tied` are traits of the family."""
    values: dict[str, int] = {}
    for ours, theirs in model_type.fields.items():
        required = not all_defaults and (ours in OWN_SIZES or theirs in OWN_FIELDS)
        of_family = ours in (FLAGS | SWITCHES | WORDS) - {"tied"}
        if not of_family and (not required or ours in model_type.may_be_left_out):
            defaults = [class_defaults[name] for name in theirs.split() if name in class_defaults]
            if defaults:
                values[ours] = int(defaults[0])
    return {**values, **model_type.usual}


def check_covered(config: Cells, model_type: ModelType, class_defaults: Cells) -> None:
    """Refuse a config that sets a field to a value which is not covered in its model_type."""
    for field, values in model_type.covered.items():
        value = config.get(field, class_defaults.get(field))
        if value is not None and value not in values:
            raise ConfigError(
                f"{model_type.name} with {field} {json.dumps(value)[:40]} is not covered; "
                f"choose another model."
            )


def need_sizes(values: Mapping[str, int], model_type: ModelType) -> None:
    """Refuse a config without a size that nothing else determines."""
    for ours in NEEDED:
        if ours in model_type.fields and ours not in values:
            name = model_type.fields[ours].split()[0]
            raise ConfigError(
                f"{name} is missing; a config of model_type {model_type.name} needs it."
            )


def _value(ours, value, name):
    """The value of one of our sizes from a field of a config, checked."""
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
