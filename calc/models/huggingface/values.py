"""The values of a Hugging Face config under our names, each checked; what is wrong is a ConfigError of one sentence."""

import json
import math

from calc.models.huggingface.field_names import DEFAULTS, FIELDS

LARGEST = 10**8  # no size of a model comes near it; beyond it a slip is meant
MOST_LAYERS = 10**4
FLAGS = {"tied", "qkv_bias", "output_bias", "mlp_bias", "head_norm"}
SWITCHES = {"hidden_dropout", "attention_dropout", "softcap"}  # on where the config has them above zero
MAY_BE_ZERO = {"token_types", "shared_ffn", "shared_experts"}
MAY_BE_NULL = {"kv_heads", "head_dim", "ffn", "query_latent_rank", "embedding_width", "experts_per_token"}
NEEDED = (
    *("layers", "encoder_layers", "decoder_layers", "hidden", "heads", "encoder_heads", "ffn", "encoder_ffn", "vocab"),
    *("experts", "experts_per_token", "expert_ffn"),
)


class ConfigError(Exception):
    """One sentence: which config, which field, what is wrong and what to do."""


def whole_number(value, least, field, model_id):
    """The value as a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"{model_id}: {field} is {json.dumps(value)[:40]}; it must be a whole number.")
    if value != int(value) or not least <= value <= LARGEST:
        raise ConfigError(f"{model_id}: {field} is {value:.12g}; it must be a whole number from {least} to {LARGEST}.")
    return int(value)


def must_divide(whole, part, words, model_id):
    """Refuse a whole that its parts do not share evenly; `words` names both."""
    if whole % part:
        raise ConfigError(f"{model_id}: {words[0]} ({whole}) is not a multiple of {words[1]} ({part}); mend one.")


def values_of(config, model_type, model_id):
    """Our fields with their values: of the config, else the default of its class."""
    values = {name: int(value) for name, value in DEFAULTS[model_type].items()}
    for ours, theirs in FIELDS[model_type].items():
        named = [name for name in theirs.split() if name in config]
        if not named:
            continue
        name = next((name for name in named if config[name] is not None), None)
        if name is None and ours in MAY_BE_NULL:
            values.pop(ours, None)
        elif name is not None or ours in SWITCHES:
            values[ours] = _value(ours, config.get(name), name, model_id)
    return values


def need_sizes(values, model_type, model_id):
    """Refuse a config that leaves out a size which nothing else settles."""
    fields = FIELDS[model_type]
    for ours in NEEDED:
        if ours in fields and ours not in values:
            name = fields[ours].split()[0]
            raise ConfigError(f"{model_id}: {name} is missing; a config of model_type {model_type} needs it.")


def _value(ours, value, name, model_id):
    if ours in SWITCHES:
        return int(bool(value))
    if ours in FLAGS:
        if not isinstance(value, bool):
            raise ConfigError(f"{model_id}: {name} is {json.dumps(value)[:40]}; it must be true or false.")
        return int(value)
    if isinstance(value, list) and value and ours in ("image", "patch"):
        value = value[0]
    value = whole_number(value, 0 if ours in MAY_BE_ZERO else 1, name, model_id)
    if ours in ("layers", "encoder_layers", "decoder_layers") and value > MOST_LAYERS:
        raise ConfigError(f"{model_id}: {name} is {value}; it must be at most {MOST_LAYERS}.")
    return value
