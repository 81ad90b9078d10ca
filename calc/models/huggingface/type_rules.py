"""Rules for the config.json of each model_type (catalogs/edited/model_types.yaml)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calc.mappings import Json
from calc.models.expressions import Expression


@dataclass(frozen=True)
class ModelType:
    """One model_type; the top of the catalog explains each field."""

    name: str
    family: str
    fields: Mapping[str, str]
    usual: Mapping[str, int] = field(default_factory=dict)
    sets: Mapping[str, int] = field(default_factory=dict)
    may_be_left_out: Sequence[str] = ()
    optional_experts: bool = False
    window: str = ""
    window_switch: str = ""
    window_before: str = ""
    window_covers: str = ""
    two_way_window: str = ""
    layer_types: str = ""
    windowed_layers: Expression | None = None
    dense_layers: Expression | None = None
    dense_listed: bool = False
    mixed_layers: Expression | None = None
    layer_kinds: Any = None  # a rule, or formulas of the kind and the sizes of a layer
    layer_sizes: Any = None
    derive: Any = None  # a rule, or formulas by size
    covered: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    classifier_poolers: Sequence[int] = ()
    headless_pooler: bool = False
    classifier_keeps_head: bool = False
    unread: Sequence[str] = ()

    def rule_fields(self) -> set[str]:
        """Fields of a config that its window and its expressions by layer may read."""
        expressions = filter(None, (self.windowed_layers, self.dense_layers, self.mixed_layers))
        fields = {name for one in expressions for name in one.names}
        return fields | {"mlp_layer_types", self.window, self.window_switch, self.window_before} - {
            ""
        }


@dataclass(frozen=True)
class Parts:
    """A config with several parts: its text part, towers and projector."""

    text: str = ""
    ties: str = ""
    tower: str = ""
    audio_tower: str = ""
    projector: Any = None


@dataclass(frozen=True)
class Tower:
    """A vision or audio tower of a multimodal model."""

    count: Any
    block: str = ""
    fixed_image: bool = False
    gated: bool = False
    frames_per_token: int = 0
    sizes: Json = field(default_factory=dict)


@dataclass(frozen=True)
class ModelTypes:
    """The whole catalog."""

    types: Mapping[str, ModelType]
    aliases: Mapping[str, str]
    pairs: Mapping[str, str]
    parts: Mapping[str, Parts]
    towers: Mapping[str, Tower]
    tower_sizes: Json
    not_covered: Mapping[str, str]
    not_covered_begins: Mapping[str, str]
    nearest: Mapping[str, str]
    sketches: Json
    beside_sketches: Mapping[str, Json]  # type -> part -> its parameters
    harmless_fields: Sequence[str]
    rule_fields: Sequence[str]
    tower_fields: Sequence[str]

    def covered_types(self) -> set[str]:
        """Every model_type that is read."""
        names = {*self.types, *self.aliases, *self.pairs}
        return names | {name for name, parts in self.parts.items() if parts.text in names}

    def canonical(self, model_type: str) -> str:
        """The model_type under which a class with several names is read."""
        return self.aliases.get(model_type, model_type)
