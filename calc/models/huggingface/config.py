"""Turns a Hugging Face config.json into an entry like those of catalogs/edited/models.yaml.

A fault in it is a ConfigError. torch_dtype is not read: the scenario chooses 16 or 32 bits.
"""

from types import MappingProxyType
from typing import Any

from calc.mappings import Cells, Json
from calc.models.huggingface.config_parts import TextPart, left_out, text_part
from calc.models.huggingface.entries import config_entry, pair_entry, vision_side
from calc.models.huggingface.images import image_sizes
from calc.models.huggingface.not_covered import read_documents, total_entry, uncovered_type
from calc.models.huggingface.read_fields import ReadFields, unread_fields, unread_remark
from calc.models.huggingface.remarks import decoder_alone, named_class, own_code
from calc.models.huggingface.sketch import counted_parameters, largest_part, sized_parts
from calc.models.huggingface.stored_forms import stored_precision
from calc.models.huggingface.values import ConfigError, short_value
from calc.remarks import remark
from calc.say.model_entry import entry_text

__all__ = ["ConfigError", "custom_entry", "read_config", "read_config_text", "refused_entry"]


def read_config_text(text: str, model_id: str, catalogs: Any) -> Json:
    """The entry of a config in JSON text, which may also hold the index of its weights."""
    try:
        config, index = read_documents(text)
    except ConfigError as error:
        raise ConfigError(f"{model_id}: {error}") from None
    return read_config(config, model_id, catalogs, index)


def read_config(
    config: Any, model_id: str, catalogs: Any, index: Cells = MappingProxyType({})
) -> Json:
    """The entry of a config, by the model types and families of the catalogs.

    `index` is the index of its weights, which gives the parameter count of a type that is not
    covered.
    """
    try:
        return _read(config, model_id, catalogs, index)
    except ConfigError as error:
        raise ConfigError(f"{model_id}: {error}") from None


def _read(json: Any, model_id: str, catalogs: Any, index: Cells) -> Json:
    """The entry of an image-text pair, of one model, or of a model of a type not covered."""
    if not isinstance(json, dict):
        raise ConfigError("this is not a config; give a JSON object with a model_type.")
    model_types = catalogs.model_types
    config = ReadFields(json)
    part = text_part(vision_side(config, catalogs), model_types, catalogs.config_defaults)
    name = model_types.canonical(part.model_type)
    is_pair = name in model_types.pairs
    model_type = model_types.types.get(name)
    if not is_pair and not (model_type and _generates(part, catalogs.families, model_type)):
        return _plain_model(config, part, model_id, catalogs, index)
    _check_text_code(config, part, model_types)
    try:
        entry = _pair(part, name, catalogs) if is_pair else _single(config, part, name, catalogs)
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
        raise ConfigError(
            f"a field of this {short_value(name)} config is of a wrong kind ({short_value(error)})."
        ) from None
    return {**_about(config, part, name, model_id), **entry}


def _check_text_code(config: ReadFields, part: TextPart, model_types: Any) -> None:
    """Raise ConfigError for a text part whose own code transformers need not agree with."""
    if part.outer is None or not part.config.get("auto_map"):
        return
    parts = model_types.parts.get(config["model_type"])
    if not (parts and parts.text):
        raise ConfigError(
            f"model_type {short_value(config['model_type'])} is not covered: its "
            f"{part.model_type} brings code of its own, which may not be that of transformers; "
            f"choose another model."
        )


def _about(config, part, name, model_id):
    """Return the source of an entry, and a note if its config has parts besides the text."""
    about = {"name": str(model_id), "family": name, "hf_repo": "", "checked_on": ""}
    model_type = short_value(config.get("model_type", name))
    about["source"] = entry_text(remark("source-config", model_type=model_type))
    about["notes"] = entry_text(remark("text-part-alone") if part.outer else None)
    return about


def _plain_model(config, part, model_id, catalogs, index):
    """A type that is not covered: the plain model of its sizes, else its index's total."""
    refusal = uncovered_type(part.config, part.model_type, catalogs.model_types)
    entry = (
        None
        if refusal.meant
        else largest_part(part, catalogs, lambda inner: read_config(inner, "it", catalogs))
    )
    total = total_entry(config, part.model_type, index, model_id, catalogs.model_types.not_covered)
    if not entry:
        if total:
            return total
        raise refusal.error()
    if total:
        layers = entry.get("layers") or entry["encoder_layers"] + entry["decoder_layers"]
        entry |= {
            "further_parameters": (total["total_parameters"] - counted_parameters(entry, catalogs))
            / layers,
            "sized": 0,
        }
    not_covered = remark(
        "type-not-covered",
        model_type=short_value(refusal.model_type),
        why=refusal.why,
        plain=entry["model_type"],
        is_counted=bool(total),
    )
    sentences = (entry_text(not_covered), entry.get("remark"))
    about = _about(config, part, entry["model_type"], model_id)
    return {**entry, **about, "remark": " ".join(filter(None, sentences))}


def _generates(part: TextPart, families: Json, model_type: Any) -> bool:
    """Return whether the text part of a config generates text; a config of one part may not."""
    if part.outer is None:
        return True
    family = families.get(model_type.family, {"kind": "decoder"})
    return family["kind"] in ("decoder", "encoder-decoder")


def _pair(part: TextPart, name: str, catalogs: Any) -> Json:
    """The entry of an image-text pair, with a remark if its class does not hold both sides."""
    entry, sides = pair_entry(part.config, name, catalogs)
    _, unknown_class = named_class(part.config, name, "dual", None)
    defaults = {
        **catalogs.config_defaults[f"{name}_vision_model"],
        **catalogs.config_defaults[f"{name}_text_model"],
    }
    unread = unread_fields(sides, defaults, catalogs.model_types.harmless_fields)
    text = entry_text(unknown_class, unread_remark(unread))
    return entry | ({"remark": text} if text else {})


def _single(config: ReadFields, part: TextPart, name: str, catalogs: Any) -> Json:
    """The entry of one model, with remarks on everything in its config besides sizes.

    These are: parts that are left out, the class, custom code, how weights are stored, and fields
    that are not read.
    """
    model_types, model_type = catalogs.model_types, catalogs.model_types.types[name]
    entry = config_entry(part.config, model_type, catalogs, part.outer is not None)
    family = catalogs.families[entry["model_type"]]
    source = part.config if part.outer is None else config
    head, unknown_class = named_class(source, name, family["kind"], model_type)
    precision, unknown_form = stored_precision({**part.config, **source}, catalogs)
    head |= decoder_alone(source, entry, family)
    about: Json = {"stored_precision": precision}
    if part.outer is not None:
        about |= _parts_left_out(part.outer, entry["hidden"], catalogs)
    harmless = [*model_types.harmless_fields, *model_type.unread, *model_type.rule_fields()]
    unread = unread_fields([part.config, source], catalogs.config_defaults[name], harmless)
    about["remark"] = entry_text(
        unknown_class, own_code(source, part.model_type), unknown_form, unread_remark(unread)
    )
    return {**entry, **head, **{field: value for field, value in about.items() if value}}


def _parts_left_out(outer: ReadFields, hidden: int, catalogs: Any) -> Json:
    """Return the text and the parameters of the parts besides the text, and sizes of its images."""
    model_types, defaults = catalogs.model_types, catalogs.config_defaults
    parts, parameters = left_out(outer, hidden, model_types, defaults)
    about: Json = {"left_out": entry_text(parts), "left_out_parameters": parameters}
    if not parameters:
        about |= sized_parts(outer, catalogs, lambda inner: read_config(inner, "it", catalogs))
    if about["left_out_parameters"]:
        about |= image_sizes(outer, model_types, defaults)
    return about


def custom_entry(
    hidden: int,
    layers: int,
    heads: int,
    kv_heads: int,
    ffn: int,
    vocab: int,
    name: str,
    catalogs: Any,
) -> Json:
    """The entry of a Llama-like model of six sizes, whose head is not tied to its embedding."""
    sizes = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads}
    sizes |= {"num_key_value_heads": kv_heads, "intermediate_size": ffn, "vocab_size": vocab}
    return {
        **read_config({"model_type": "llama", **sizes}, name, catalogs),
        "source": entry_text(remark("source-sizes")),
    }


def refused_entry(model_id: str, why: str) -> Json:
    """The entry of a model whose config cannot be read; rows that name it give the reason."""
    return {"name": model_id, "family": "", "model_type": "", "kind": "decoder", "refused": why}
