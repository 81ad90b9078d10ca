"""Sizes of a vision or audio tower: patches, layers, and tokens for the text part.

An image counts as one tile if a class cuts images into tiles, and as 1024 x 1024 pixels if a
class takes any size, unless the scenario sets the tokens per image. A sound is 30 seconds long, as
Whisper's encoder takes it, and its frames are the patches. Source: the classes of transformers
5.23.
"""

from collections.abc import Mapping

from calc.mappings import Cells, Json
from calc.models.expressions import compute
from calc.models.huggingface.config_parts import tower_of
from calc.models.huggingface.type_rules import ModelTypes, Parts


def image_sizes(outer: Cells, model_types: ModelTypes, defaults: Mapping[str, Cells]) -> Json:
    """Sizes of the tower and of an image or a sound; {} without a tower that can be read."""
    default_kind = model_types.parts.get(str(outer.get("model_type")), Parts()).tower
    part = (
        "audio_config"
        if default_kind and model_types.towers[default_kind].frames_per_token
        else "vision_config"
    )
    if not default_kind or not isinstance(outer.get(part), dict):
        return {}
    try:
        kind, fields = tower_of(outer, part, default_kind, model_types, defaults)
        tower = model_types.towers[kind]
        tower_fields = (
            {name.removeprefix("vt_"): value for name, value in fields.items()}
            | vars(tower)
            | {"around": outer}
        )
        sizes = {"tower_block": tower.block} | compute(
            {**model_types.tower_sizes, **tower.sizes}, tower_fields.get
        )
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return {}
    whole = {
        name: int(size) if isinstance(size, int | float) and size == int(size) else size
        for name, size in sizes.items()
    }
    return {} if None in sizes.values() else {name: size for name, size in whole.items() if size}
