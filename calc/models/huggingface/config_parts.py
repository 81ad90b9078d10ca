"""Hugging Face configs with several parts: the text part, and the parameters of the towers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from calc.mappings import Cells
from calc.models.expressions import parameters_by
from calc.models.huggingface.read_fields import ReadFields
from calc.models.huggingface.type_rules import ModelTypes, Parts
from calc.models.huggingface.values import ConfigError
from calc.remarks import Remark, remark

# Names of the text part in a config, outermost first; a thinker has a text part of its own.
TEXT_PARTS = ("thinker_config", "text_config", "llm_config", "language_config")
PARTS = {"vision_config": "vision", "audio_config": "audio"}
# Fields of which a part of a model has some.
LAYERED = {
    "num_hidden_layers",
    "num_layers",
    "n_layers",
    "layers",
    "depth",
    "depths",
    "encoder_layers",
    "model_type",
}


class TextPart(NamedTuple):
    """A text part, its model_type, and the config around it, if any."""

    config: ReadFields
    model_type: str
    outer: ReadFields | None


def text_part(
    config: ReadFields, model_types: ModelTypes, defaults: Mapping[str, Cells]
) -> TextPart:
    """The text part of a config, or the config itself.

    Early Qwen2-VL files hold the sizes of the text part next to the other parts.
    """
    model_type = model_type_of(config)
    parts = model_types.parts.get(model_type, Parts())
    name = next((name for name in TEXT_PARTS if isinstance(config.get(name), dict)), None)
    if model_type in model_types.pairs or (name is None and not parts.text):
        return TextPart(config, model_type, None)
    inner = (
        dict(config[name])
        if name
        else {
            key: value for key, value in config.items() if key not in ("architectures", "auto_map")
        }
    )
    if not name:
        inner["model_type"] = parts.text
    if not inner.get("model_type"):
        inner["model_type"] = parts.text or f"{model_type}_text"
    if name == "thinker_config":
        thinker = text_part(ReadFields(inner), model_types, defaults)
        return thinker._replace(
            outer=ReadFields({**parts_beside(config, defaults), **thinker.outer})
            if thinker.outer
            else config
        )
    tied = _ties_head(config, inner, parts.ties, defaults.get(model_type, {}))
    if tied is not None:
        inner["tie_word_embeddings"] = tied
    return TextPart(ReadFields(inner), model_type_of(inner), config)


def _ties_head(outer: Cells, inner: Cells, ties: str, defaults: Cells) -> bool | None:
    """Return whether head and embedding are tied; None if the text part's class decides."""
    of_text = inner.get("tie_word_embeddings")
    of_outer = outer.get("tie_word_embeddings")
    if ties == "text_part":
        return of_text
    if ties == "never":
        return False
    if ties == "either":
        return of_text if of_outer in (None, False) else of_outer
    if of_outer is None and ties == "own_head":
        return bool(of_text)
    return defaults.get("tie_word_embeddings", of_text) if of_outer is None else of_outer


def model_type_of(config: Cells) -> str:
    """The model_type that a config names. Raises ConfigError if it names none."""
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or not model_type:
        _refuse_other_file(config)
    return model_type


def _refuse_other_file(config: Cells) -> NoReturn:
    """Raise ConfigError for a file that is no config of a model; it says what to give instead."""
    if "peft_type" in config or "base_model_name_or_path" in config:
        raise ConfigError(
            "model_type is missing; this is the config of an adapter, give that of the model it "
            "adapts."
        )
    if "_class_name" in config or "_diffusers_version" in config:
        raise ConfigError(
            "model_type is missing; this is a config of diffusers, whose models are not covered."
        )
    if "dim" in config and "n_layers" in config:
        raise ConfigError(
            "model_type is missing; this is a params.json, give the config.json in the form of "
            "transformers."
        )
    raise ConfigError("model_type is missing; give the config.json of a model.")


def parts_beside(outer: Cells, defaults: Mapping[str, Cells]) -> dict[str, Cells]:
    """Return the parts of a config besides its text: those that it has, and those of its class."""
    default_parts = defaults.get(str(outer.get("model_type")), {}).get("sub_configs", ())
    part_names = [
        *PARTS,
        *default_parts,
        *(
            name
            for name, value in outer.items()
            if isinstance(value, dict) and LAYERED & value.keys()
        ),
    ]
    configs = {
        name: outer.get(name)
        for name in dict.fromkeys(part_names)
        if name not in (*TEXT_PARTS, "quantization_config")
    }
    return {
        name: config or {}
        for name, config in configs.items()
        if name in default_parts or isinstance(config, dict)
    }


def left_out(
    outer: Cells, hidden: int, model_types: ModelTypes, defaults: Mapping[str, Cells]
) -> tuple[Remark | None, int]:
    """Return a remark on a config's other parts, and their count; 0 if unknown. [parameters]"""
    parts = model_types.parts.get(str(outer.get("model_type")), Parts())
    siblings = parts_beside(outer, defaults)
    part_names, outer = [*siblings], {**outer, **siblings}
    if not part_names:
        return (remark("a-tower-left-out") if parts.projector else None), 0
    labels = part_labels(part_names)
    several = len(part_names) > 1
    towers = [
        parts.audio_tower if several and name == "audio_config" else parts.tower
        for name in part_names
    ]
    if (
        parts.projector is None
        or not {*part_names} <= PARTS.keys()
        or (several and not parts.audio_tower)
    ):
        return remark("parts-left-out", parts=labels), 0
    counts = [
        _tower_parameters(outer, name, tower, hidden, model_types, defaults)
        for name, tower in zip(part_names, towers, strict=True)
    ]
    return remark("towers-left-out", parts=labels), sum(counts) if all(counts) else 0


def part_labels(names: Sequence[str]) -> tuple[str, ...]:
    """Return parts of a config as a note names them: vision for vision_config."""
    return tuple(
        PARTS.get(name) or name.removesuffix("_config").replace("_", " ") for name in names
    )


def tower_of(
    outer: Cells,
    name: str,
    default_kind: str,
    model_types: ModelTypes,
    defaults: Mapping[str, Cells],
) -> tuple[str, Cells]:
    """The kind of a tower (the usual one if it names none), and its fields with defaults."""
    fields = outer[name]
    kind = str(
        fields.get("model_type") if fields.get("model_type") in model_types.towers else default_kind
    )
    return kind, {
        **defaults.get(kind, {}),
        **{field: value for field, value in fields.items() if value is not None},
    }


def _tower_parameters(outer, name, default_kind, hidden, model_types, defaults):
    """Parameters of one tower and its projector; 0 if its config is faulty. [parameters]"""
    kind, tower = tower_of(outer, name, default_kind, model_types, defaults)
    around = {**outer, "hidden": hidden, "tower": tower}
    try:
        projector = parameters_by(model_types.parts[outer["model_type"]].projector, around.get)
        return max(int(parameters_by(model_types.towers[kind].count, tower.get) + projector), 0)
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return 0
