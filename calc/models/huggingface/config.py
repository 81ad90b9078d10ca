"""A Hugging Face config.json becomes an entry like those of catalogs/models.yaml; what is wrong is a ConfigError.

torch_dtype is not read: 16 or 32 bits are the scenario's to choose.
"""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from calc.models.huggingface.activations import activation_of
from calc.models.huggingface.bridge import read_documents, total_entry
from calc.models.huggingface.derived_fields import FORMS
from calc.models.huggingface.field_names import FIELDS, PAIRS, SAME_FAMILY, TEXT_SIDE
from calc.models.huggingface.form_fields import LAYER_AND_FORM_FIELDS
from calc.models.huggingface.hybrids import WAYS, UnknownLayer
from calc.models.huggingface.images import image_sizes
from calc.models.huggingface.layer_kinds import LAYER_TYPES, READS_LAYER_TYPES, RULE_READS_LAYER_TYPES, encodes, layer_kinds, window_tokens
from calc.models.huggingface.not_covered import not_covered
from calc.models.huggingface.parts import WRAPPERS, text_part
from calc.models.huggingface.projectors import left_out
from calc.models.huggingface.remarks import OF_VISION_SIDE, class_name, decoder_alone, named_class, own_code, stored_precision
from calc.models.huggingface.values import ConfigError, must_divide, need_sizes, shown, values_of, whole_number

__all__ = ["ConfigError", "custom_entry", "read_config", "read_config_text", "refused_entry"]

# Names under which a class, or a copy of it, goes by in configs.
ALIASES = {"kimi_k2": "deepseek_v3", "mimo": "qwen2", "xlm-roberta": "roberta", "camembert": "roberta"}
ALIASES |= {"gemma3": "gemma3_text", "llama4": "llama4_text", "minimax_text_01": "minimax", "minimax_m1": "minimax"}
UNREAD_WAYS = {**WAYS, "chunked_attention": "windowed", "deepseek_sparse_attention": ""}


def read_config_text(text: str, model_id: str, catalogs: Any) -> dict[str, Any]:
    """The entry of a config given as JSON text, before or after which the index of its weights may stand."""
    config, index = read_documents(text, model_id)
    return read_config(config, model_id, catalogs, index)


def read_config(config: Any, model_id: str, catalogs: Any, index: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """The entry of a config given as a mapping; families and what classes fill in are those of the catalogs.

    `index`: that of its weights, which tells the total of a type that is not covered.
    """
    if not isinstance(config, dict):
        raise ConfigError(f"{model_id}: this is no config; give a JSON object with a model_type.")
    part = text_part(_vision_side(config, model_id, catalogs.config_defaults), model_id, catalogs.config_defaults)
    given, model_type = part.config, ALIASES.get(part.model_type, part.model_type)
    if model_type not in PAIRS and model_type not in {*FIELDS} & set(catalogs.config_defaults):
        total = total_entry(config, part.model_type, index, model_id)
        if total:
            return total
        raise ConfigError(f"{model_id}: {not_covered(given, part.model_type, _covered())}")
    if part.outer and config["model_type"] not in WRAPPERS and given.get("auto_map"):
        like = f"its {part.model_type} brings code of its own, which may not be that of transformers"
        raise ConfigError(f"{model_id}: model_type {shown(config['model_type'])} is not covered: {like}; choose another model.")
    try:
        plain = model_type in PAIRS
        entry = (
            _pair_entry(given, model_type, model_id, catalogs)
            if plain
            else _entry(given, model_type, model_id, catalogs, part.outer is not None)
        )
        entry |= _said_of_pair(config, model_id) if plain else _said(config, part, entry, model_id, catalogs)
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
        raise ConfigError(f"{model_id}: a field of this {shown(model_type)} config is of a wrong kind ({shown(error)}).") from None
    about = {"name": str(model_id), "family": model_type, "hf_repo": "", "checked_on": ""}
    about["source"] = f"its config.json, model_type {shown(config.get('model_type', model_type))}"
    about["notes"] = "The text part alone; the other parts of this config are not counted." if part.outer else ""
    return {**about, **entry}


def _covered():
    """Every model_type that is read."""
    own = {*FIELDS, *ALIASES, *PAIRS}
    return own | {wrapper for wrapper, inner in WRAPPERS.items() if inner in own}


def custom_entry(hidden: int, layers: int, heads: int, kv_heads: int, ffn: int, vocab: int, name: str, catalogs: Any) -> dict[str, Any]:
    """The entry of a Llama-like model of six sizes whose head is not tied to its embedding."""
    sizes = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads}
    sizes |= {"num_key_value_heads": kv_heads, "intermediate_size": ffn, "vocab_size": vocab}
    return {**read_config({"model_type": "llama", **sizes}, name, catalogs), "source": "six sizes given by hand"}


def refused_entry(model_id: str, why: str) -> dict[str, Any]:
    """The entry of a model whose config cannot be read: rows that name it say why."""
    return {"name": model_id, "family": "", "model_type": "", "kind": "decoder", "refused": why}


def _said(config, part, entry, model_id, catalogs):
    """What a config says beside its sizes: parts left out, the class it names, code of its own, how it is stored."""
    family = catalogs.families[entry["model_type"]]
    if part.outer is not None and family["kind"] not in ("decoder", "encoder-decoder"):
        raise ConfigError(
            f"{model_id}: the {shown(config['model_type'])} around its {part.model_type} is not covered; choose another model."
        )
    head, unknown_class = named_class(config, ALIASES.get(part.model_type, part.model_type), family["kind"], model_id)
    precision, unknown_form = stored_precision({**part.config, **config})
    sentences = (unknown_class, own_code(config, part.model_type), unknown_form)
    head |= decoder_alone(config, entry, family)
    found = {**head, "stored_precision": precision, "remark": " ".join(filter(None, sentences))}
    if part.outer is not None:
        found["left_out"], found["left_out_parameters"] = left_out(part.outer, entry["hidden"], catalogs.config_defaults)
        found |= image_sizes(part.outer, catalogs.config_defaults) if found["left_out_parameters"] else {}
    return {name: value for name, value in found.items() if name in head or value}


def _said_of_pair(config, model_id):
    """A sentence where the class named is not that of both sides."""
    _, unknown_class = named_class(config, config["model_type"], "dual", model_id)
    return {"remark": unknown_class} if unknown_class else {}


def _entry(config, model_type, model_id, catalogs, all_defaults=False):
    class_defaults = catalogs.config_defaults[model_type]
    config = {name: class_defaults[name] for name in LAYER_AND_FORM_FIELDS if name in class_defaults} | config
    values = values_of(config, model_type, model_id, class_defaults, all_defaults)
    derive = FORMS.get(model_type)
    if "hidden" in values and ("heads" in values or "heads" not in FIELDS[model_type]) and derive:
        values |= derive(config, values, model_id)
    need_sizes(values, model_type, model_id)
    entry = {"model_type": SAME_FAMILY.get(model_type, model_type), "kv_heads": values["heads"], **values}
    must_divide(entry["heads"], entry["kv_heads"], ("the number of heads", "that of key and value heads"), model_id)
    entry |= _head_sizes(entry, model_id)
    if "layers" in entry:
        entry |= _layer_kinds(config, model_type, entry, model_id)
    if encodes(config, model_type):
        entry["kind"] = "encoder"
    entry = {name: value for name, value in entry.items() if name != "plain_head_dim" and name != "shared_experts"}
    if entry["model_type"] not in catalogs.families:
        raise ConfigError(f"{model_id}: catalogs/edited/families.yaml has no family {entry['model_type']}; add it.")
    if "activation" in entry:
        traits = catalogs.families[entry["model_type"]]
        entry["activation"] = activation_of(entry["activation"], traits["block"], traits["activation"], catalogs.blocks)
    return entry


def _head_sizes(entry, model_id):
    """The widths of a head and of all shared experts where the config says them in other words."""
    sizes = {}
    if "plain_head_dim" in entry:
        sizes["head_dim"] = entry["rope_head_dim"] + entry["plain_head_dim"]
    elif "head_dim" not in entry:
        must_divide(entry["hidden"], entry["heads"], ("the hidden size", "the number of heads"), model_id)
        sizes["head_dim"] = entry["hidden"] // entry["heads"]
    if "encoder_heads" in entry:
        words = ("the hidden size", "the number of the encoder's heads")
        must_divide(entry["hidden"], entry["encoder_heads"], words, model_id)
    if "shared_experts" in entry:
        sizes["shared_ffn"] = entry["shared_experts"] * entry["expert_ffn"]
    return sizes


def _layer_kinds(config, model_type, entry, model_id):
    """The kinds of layers and how many there are of each, where not all are alike; and the window of those that have one."""
    layers, types = entry["layers"], config.get("layer_types")
    if types is not None and model_type in READS_LAYER_TYPES:
        if not isinstance(types, list) or len(types) != layers:
            raise ConfigError(f"{model_id}: layer_types must name one kind for each of the {layers} layers.")
        for kind in types:
            if kind not in LAYER_TYPES:
                known = ", ".join(LAYER_TYPES)
                raise ConfigError(f"{model_id}: layer_types holds {kind}, which is not covered; covered are {known}.")
    try:
        kinds = layer_kinds(config, model_type, entry)
        if model_type not in READS_LAYER_TYPES | RULE_READS_LAYER_TYPES:
            _check_unread_layer_types(types, [kind for kind, _ in kinds], model_type, model_id)
        counts = Counter((kind, tuple(sorted((name, int(size)) for name, size in own.items()))) for kind, own in kinds)
    except UnknownLayer as error:
        raise ConfigError(f"{model_id}: it has {error}, which are not covered; choose another model.") from None
    except (TypeError, ValueError, ArithmeticError, LookupError):
        counts = Counter()
    if sum(counts.values()) != layers:
        raise ConfigError(f"{model_id}: the fields that tell its layers apart contradict num_hidden_layers.")
    for name, value in (size for _, own in counts for size in own):
        whole_number(value, 0, f"the {name} of some of its layers", model_id)
    if entry.get("experts") and entry["experts_per_token"] > entry["experts"]:
        per_token, experts = entry["experts_per_token"], entry["experts"]
        raise ConfigError(f"{model_id}: {per_token} experts per token exceed its {experts} experts; mend one.")
    found: dict[str, Any] = {}
    if set(counts) != {("moe" if entry.get("experts") else "dense", ())}:
        found["layer_kinds"] = [{"kind": kind, "layers": counts[kind, own], **dict(own)} for kind, own in sorted(counts)]
    if any("windowed" in kind for kind, _ in counts):
        found["window_tokens"] = whole_number(window_tokens(config, model_type), 1, "its attention window", model_id)
    return found


def _check_unread_layer_types(types, kinds, model_type, model_id):
    """Refuse layer_types that contradict the layers of a class that does not read them."""
    if types is None:
        return
    if not isinstance(types, list) or len(types) != len(kinds):
        raise ConfigError(f"{model_id}: layer_types must name one kind for each of the {len(kinds)} layers.")
    for named, kind in zip(types, kinds, strict=True):
        if UNREAD_WAYS.get(str(named)) != kind.partition("-")[2]:
            what = (
                f"layer_types names {shown(named)} for a layer that {model_type} builds otherwise, since its class does not read the list"
            )
            raise ConfigError(f"{model_id}: {what}; remove layer_types, or give the model_type of a class that reads it.")


def _vision_side(config, model_id, defaults):
    """The vision side of a pair whose config names a class of that side alone, as a config of its own; any other as it is."""
    if config.get("model_type") not in [*PAIRS] or not class_name(config).endswith(OF_VISION_SIDE):
        return config
    beside = {name: config[name] for name in ("architectures", "num_labels", "id2label", "quantization_config") if name in config}
    side = f"{config['model_type']}_vision_model"
    return {**defaults.get(side, {}), **_part_of(config, "vision_config", model_id), **beside, "model_type": side}


def _part_of(config, name, model_id):
    """A part of a config, which early files hold under a second name."""
    parts = [config.get(each) or {} for each in (name, f"{name}_dict")]
    for each, part in zip((name, f"{name}_dict"), parts, strict=True):
        if not isinstance(part, dict):
            raise ConfigError(f"{model_id}: {each} must be an object of its own.")
    return parts[0] | parts[1]


def _pair_entry(config, model_type, model_id, catalogs):
    """CLIP, SigLIP: a vision side, a text side, and the width that they share."""
    defaults = catalogs.config_defaults
    of_vision, of_text = f"{model_type}_vision_model", f"{model_type}_text_model"
    vision = _entry(defaults[of_vision] | _part_of(config, "vision_config", model_id), of_vision, model_id, catalogs)
    given = defaults[of_text] | _part_of(config, "text_config", model_id)
    text = _entry(given, TEXT_SIDE, model_id, catalogs)
    sizes = ("layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "image", "patch", "patches", "channels", "pool_head")
    shared = (defaults.get(model_type, {}) | config).get("projection_dim") or given.get("projection_size") or text["hidden"]
    return {
        "model_type": PAIRS[model_type],
        **{name: vision[name] for name in sizes if name in vision},
        **{f"text_{name}": text[name] for name in ("layers", "hidden", "heads", "ffn")},
        "vocab": text["vocab"],
        "max_position": text["max_position"],
        "projection": whole_number(shared, 1, "projection_dim", model_id),
    }
