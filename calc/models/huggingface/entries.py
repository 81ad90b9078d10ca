"""The checked sizes of one config: of a model, or of both sides of an image-text pair."""

from collections import Counter
from collections.abc import Collection
from typing import Any

from calc.mappings import Json
from calc.models.expressions import compute
from calc.models.huggingface.layers import (
    check_layer_types,
    check_unread_layer_types,
    encodes,
    layer_kinds,
    window_tokens,
)
from calc.models.huggingface.read_fields import ReadFields
from calc.models.huggingface.remarks import OF_VISION_SIDE, class_name
from calc.models.huggingface.type_rules import ModelType
from calc.models.huggingface.values import (
    LARGEST,
    ConfigError,
    UnknownLayer,
    check_covered,
    must_divide,
    need_sizes,
    values_of,
    whole_number,
)

TEXT_SIDE = "bert"  # the model_type with the fields of a pair's text side
OF_PAIR = (
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_dim",
    "ffn",
    "image",
    "patch",
    "patches",
    "channels",
    "pool_head",
)
OF_RULES = ("plain_head_dim", "shared_experts")  # sizes that only rules read
# These run in one kernel, which saves only its input; other activation functions are several
# operations that each save something.
ONE_KERNEL = {"gelu", "gelu_pytorch_tanh", "silu", "swish", "mish", "sigmoid", "tanh"}
# The substitute where no block was simulated with it.
LIKE = {
    "relu": "gelu",
    "gelu_fast": "gelu_new",
    "gelu_new": "gelu",
}


def config_entry(
    config: ReadFields, model_type: ModelType, catalogs: Any, all_defaults: bool = False
) -> Json:
    """Return the sizes of a model, and how it differs from its family.

    With `all_defaults`, the defaults of its class also fill in sizes that the config lacks.
    """
    class_defaults = catalogs.config_defaults[model_type.name]
    of_rules = [name for name in catalogs.model_types.rule_fields if name in class_defaults]
    config = config.over({name: class_defaults[name] for name in of_rules})
    values = _sizes(config, model_type, class_defaults, all_defaults)
    entry: Json = {"model_type": model_type.family, "kv_heads": values["heads"], **values}
    must_divide(
        entry["heads"], entry["kv_heads"], ("the number of heads", "that of key and value heads")
    )
    entry |= _head_sizes(entry)
    if "layers" in entry:
        entry |= _layer_sizes(config, model_type, entry)
    if encodes(config, model_type):
        entry["kind"] = "encoder"
    family = catalogs.families.get(entry["model_type"])
    if family is None:
        raise ConfigError(
            f"catalogs/edited/families.yaml has no family {entry['model_type']}; add it."
        )
    if "activation" in entry:
        entry["activation"] = _activation_of(
            entry["activation"], family["block"], family["activation"], catalogs.blocks
        )
    return {name: value for name, value in entry.items() if name not in OF_RULES}


def _sizes(
    config: ReadFields, model_type: ModelType, class_defaults: Json, all_defaults: bool
) -> Json:
    """Return the sizes that the fields, the defaults and the rules of the type give; check them."""
    values = values_of(config, model_type, class_defaults, all_defaults)
    check_covered(config, model_type, class_defaults)
    has_heads = "heads" in values or "heads" not in model_type.fields
    if model_type.derive and "hidden" in values and has_heads:
        values |= _derived_sizes(model_type.derive, config, values)
    values |= model_type.sets
    need_sizes(values, model_type)
    return values


def _derived_sizes(rule, config, values):
    """Return the sizes that a rule gives: a function, or a formula for each size.

    A formula reads the sizes in `values` and the fields of the config. If it gives None, the size
    stays as it was.
    """
    if callable(rule):
        return rule(config, values)
    values_by_name = {"config": config, **values}
    sizes = compute(
        rule, lambda name: values_by_name[name] if name in values_by_name else config.get(name)
    )
    return {name: _whole_size(name, size) for name, size in sizes.items() if size is not None}


def _whole_size(name, size):
    """Return a size as an integer and a word as it is. Raise ConfigError for other numbers."""
    if not isinstance(size, int | float):
        return size
    is_negative = size < 0 and not name.startswith("further_")
    if size != int(size) or size > LARGEST**2 or is_negative:
        raise ConfigError(
            f"its {name} would be {size:.12g}; correct the sizes that it follows from, "
            f"so that it is a whole number."
        )
    return int(size)


def _head_sizes(entry):
    """Return the widths of a head and of all shared experts if the config has other fields."""
    sizes = {}
    if "plain_head_dim" in entry:
        sizes["head_dim"] = entry["rope_head_dim"] + entry["plain_head_dim"]
    elif "head_dim" not in entry:
        must_divide(entry["hidden"], entry["heads"], ("the hidden size", "the number of heads"))
        sizes["head_dim"] = entry["hidden"] // entry["heads"]
    if "encoder_heads" in entry:
        must_divide(
            entry["hidden"],
            entry["encoder_heads"],
            ("the hidden size", "the number of the encoder's heads"),
        )
    if "shared_experts" in entry:
        sizes["shared_ffn"] = entry["shared_experts"] * entry["expert_ffn"]
    return sizes


def _layer_sizes(config, model_type, entry):
    """Return the number of layers of each kind if layers differ, and a window if any has one.

    Raise ConfigError if the fields that describe the layers contradict each other.
    """
    types = config.get("layer_types")
    check_layer_types(types, model_type, entry["layers"])
    layers = _layers(config, model_type, entry)
    check_unread_layer_types(types, model_type, [kind for kind, _ in layers])
    for name, value in (size for _, own_sizes in layers for size in own_sizes):
        # A count of weights, or a size.
        most = LARGEST**2 if name.startswith("further_") else LARGEST
        whole_number(value, 0, f"the {name} of some of its layers", most)
    if entry.get("experts") and entry["experts_per_token"] > entry["experts"]:
        raise ConfigError(
            f"{entry['experts_per_token']} experts per token exceed its {entry['experts']} "
            f"experts; correct one of them."
        )
    sizes: Json = {}
    counts = Counter(layers)
    if set(counts) != {("moe" if entry.get("experts") else "dense", ())}:
        sizes["layer_kinds"] = [
            {"kind": kind, "layers": counts[kind, own_sizes], **dict(own_sizes)}
            for kind, own_sizes in sorted(counts)
        ]
    if any("windowed" in kind for kind, _ in counts):
        sizes["window_tokens"] = whole_number(
            window_tokens(config, model_type), 1, "its attention window"
        )
    return sizes


def _layers(config, model_type, entry):
    """Return (kind, its own sizes) of each layer. Raise ConfigError if there are not as many."""
    try:
        layers = [
            (kind, tuple(sorted((name, int(size)) for name, size in own_sizes.items())))
            for kind, own_sizes in layer_kinds(config, model_type, entry)
        ]
    except UnknownLayer as error:
        raise ConfigError(f"it has {error}, which are not covered; choose another model.") from None
    except (TypeError, ValueError, ArithmeticError, LookupError):
        layers = []
    if len(layers) != entry["layers"]:
        raise ConfigError("the fields that describe its layers contradict num_hidden_layers.")
    return layers


def vision_side(config: ReadFields, catalogs: Any) -> ReadFields:
    """Return the vision side of a pair if the config names that side's class; else the config."""
    if config.get("model_type") not in [*catalogs.model_types.pairs] or not class_name(
        config
    ).endswith(OF_VISION_SIDE):
        return config
    of_class = {
        name: config[name]
        for name in ("architectures", "num_labels", "id2label", "quantization_config")
        if name in config
    }
    side = f"{config['model_type']}_vision_model"
    return ReadFields(
        {
            **catalogs.config_defaults.get(side, {}),
            **_side(config, "vision_config"),
            **of_class,
            "model_type": side,
        }
    )


def _side(config: Json, name: str) -> ReadFields:
    """Return one side of a pair's config, which early files hold under a second name."""
    sides = {field: config.get(field) or {} for field in (name, f"{name}_dict")}
    for field, side in sides.items():
        if not isinstance(side, dict):
            raise ConfigError(f"{field} must be an object of its own.")
    return ReadFields({**sides[name], **sides[f"{name}_dict"]})


def pair_entry(config: ReadFields, pair: str, catalogs: Any) -> tuple[Json, list[ReadFields]]:
    """Return the entry of CLIP or SigLIP from both sides, and the configs that were read."""
    defaults, types = catalogs.config_defaults, catalogs.model_types.types
    vision_config = _side(config, "vision_config")
    text_config = _side(config, "text_config")
    of_vision = f"{pair}_vision_model"
    of_text = f"{pair}_text_model"
    text_config = text_config.over(defaults[of_text])
    vision = config_entry(vision_config.over(defaults[of_vision]), types[of_vision], catalogs)
    text = config_entry(text_config, types[TEXT_SIDE], catalogs)
    shared = (
        config.over(defaults.get(pair, {})).get("projection_dim")
        or text_config.get("projection_size")
        or text["hidden"]
    )
    entry = {
        "model_type": catalogs.model_types.pairs[pair],
        **{name: vision[name] for name in OF_PAIR if name in vision},
        **{f"text_{name}": text[name] for name in ("layers", "hidden", "heads", "ffn")},
        "vocab": text["vocab"],
        "max_position": text["max_position"],
        "projection": whole_number(shared, 1, "projection_dim"),
    }
    return entry, [config, vision_config, text_config]


def _activation_of(name: str, block: str, default: str, blocks: Collection[str]) -> str:
    """Return the simulated activation function that stands for the one of a config."""
    if name in ONE_KERNEL:
        substitute = "gelu"
    elif name in LIKE:
        substitute = name
    else:
        substitute = "gelu_new"
    while substitute != default and f"{block}-{substitute}" not in blocks:
        if substitute not in LIKE:
            return default
        substitute = LIKE[substitute]
    return substitute
