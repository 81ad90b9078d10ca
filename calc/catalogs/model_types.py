"""Model types, each with what it inherits from layouts and from the type that it is like."""

from collections.abc import Sequence
from typing import Any

from calc.catalogs.faults import TYPES, short_text
from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_order, check_reference
from calc.catalogs.strict_yaml import CatalogError, place_of_fault
from calc.mappings import Json
from calc.models.expressions import formula_of
from calc.models.huggingface.rules import RULES
from calc.models.huggingface.type_rules import ModelType, ModelTypes, Parts, Tower

FILE = label_of("model_types")
# Keys that a type and its layouts share.
LAYOUT = ("like", "layout", "without", "fields", "traits", "unread")
# Expressions of a layer's index.
BY_LAYER = ("windowed_layers", "dense_layers", "mixed_layers", "layer_sizes")
SECTIONS = (
    "aliases",
    "pairs",
    "not_covered",
    "not_covered_begins",
    "nearest",
    "sketches",
    "harmless_fields",
    "rule_fields",
    "tower_fields",
)


def families_of(entries: Json, traits: Json, blocks: Json) -> dict[str, Json]:
    """Family -> trait -> value, with defaults filled in; traits and blocks are checked."""
    file = label_of("families")
    defaults = {name: trait["default"] for name, trait in traits.items()}
    for family, entry in entries.items():
        for name, value in entry.items():
            path = ("families", family, name)
            check_reference(name, traits, file, path, "trait")
            _check_kind(value, defaults[name], file, path)
            if name.endswith("block") and value:
                check_reference(value, blocks, file, path, "block")
    return {family: defaults | entry for family, entry in entries.items()}


def _check_kind(value: Any, default: Any, file: str, path: Sequence[str]) -> None:
    """Raise CatalogError if a trait is text and its default a number, or the reverse."""
    if isinstance(value, str) != isinstance(default, str):
        kind = TYPES["string" if isinstance(default, str) else "integer"]
        raise CatalogError(
            f"{place_of_fault(file, path)}: {short_text(value)} is not {kind}; write {kind}, for "
            f"example {short_text(default)}."
        )


def families_with_types(families: Json, entries: Json) -> Json:
    """The families, and one more for each model_type with traits of its own."""

    def traits_of(name: str) -> Json:
        if name in families:
            return families[name]
        like = entries[name].get("like")
        return (traits_of(like) if like else {}) | entries[name].get("traits", {})

    return families | {
        name: traits_of(name) for name, entry in entries.items() if "traits" in entry
    }


def model_types_of(document: Json, families: Json) -> ModelTypes:
    """The whole catalog, with its names checked."""
    for section in ("layouts", "parts", "towers"):
        check_order(document[section], FILE)
    entries = document["model_types"]
    types = {name: _model_type(name, entries, document["layouts"], families) for name in entries}
    formulas = {
        key: _with_rules(document[section], (section,), dict.fromkeys(document[section]))
        for key, section in (("count", "counts"), ("projector", "projectors"))
    }
    of_tower = {**formulas, "sizes": None}
    towers = {
        name: Tower(**_with_rules(entry, ("towers", name), of_tower))
        for name, entry in document["towers"].items()
    }
    parts = {
        name: Parts(**_with_rules(entry, ("parts", name), formulas))
        for name, entry in document["parts"].items()
    }
    for name, part in parts.items():
        for field, tower in (("tower", part.tower), ("audio_tower", part.audio_tower)):
            if tower:
                check_reference(tower, towers, FILE, ("parts", name, field), "tower")
    sizes = _with_rules(
        document["tower_sizes"], ("tower_sizes",), dict.fromkeys(document["tower_sizes"])
    )
    beside = document["beside_sketches"]
    beside = _with_rules(beside, ("beside_sketches",), dict.fromkeys(beside))
    sections = {section: document[section] for section in SECTIONS}
    return ModelTypes(
        types=types,
        parts=parts,
        towers=towers,
        tower_sizes=sizes,
        beside_sketches=beside,
        **sections,
    )


def defaults_with_types(defaults: Json, entries: Json) -> Json:
    """The defaults of the config classes; a type without any has those of the type it is like."""

    def defaults_of(name: str) -> Json:
        like = entries[name].get("like")
        if name in defaults:
            return defaults[name]
        if like:
            return defaults_of(like)
        return {}

    return {name: defaults_of(name) for name in entries} | defaults


def _model_type(name, entries, layouts, families):
    """One type: its entry, merged over those of the types that it is like."""
    line = [name]
    while like := entries[line[0]].get("like"):
        check_reference(
            like, entries.keys() - {*line}, FILE, ("model_types", line[0], "like"), "other type"
        )
        line.insert(0, like)
    merged: Json = {}
    fields: dict[str, str] = {}
    unread: tuple[str, ...] = ()
    for step in line:
        fields = _fields(entries[step], fields, layouts, ("model_types", step))
        unread += _unread(entries[step], layouts)
        merged |= {key: value for key, value in entries[step].items() if key not in LAYOUT}
    traits = _with_rules(merged, ("model_types", name), RULES | dict.fromkeys(BY_LAYER))
    return ModelType(
        **{
            **traits,
            "name": name,
            "family": _family(name, entries, families),
            "fields": fields,
            "unread": unread,
        }
    )


def _unread(entry, layouts):
    """Fields that change nothing, from the layouts and the entry itself."""
    layout_fields = entry.get("layout", ())
    of_layouts = [
        _unread(layouts[layout], layouts)
        for layout in ([layout_fields] if isinstance(layout_fields, str) else layout_fields)
    ]
    return (*sum(of_layouts, ()), *entry.get("unread", ()))


def _fields(entry, inherited, layouts, path):
    """Our fields with their names in configs: inherited, from layouts, and from the entry."""
    layout_fields = entry.get("layout", [])
    fields = dict(inherited)
    for layout in [layout_fields] if isinstance(layout_fields, str) else layout_fields:
        check_reference(layout, layouts, FILE, (*path, "layout"), "layout")
        fields |= _fields(layouts[layout], {}, layouts, ("layouts", layout))
    for name in entry.get("without", ()):
        check_reference(name, fields, FILE, (*path, "without"), "field")
    return {
        name: names for name, names in fields.items() if name not in entry.get("without", ())
    } | entry.get("fields", {})


def _family(name, entries, families):
    """The family that a type names, else the one of its name, else that of the type it is like."""
    entry = entries[name]
    if "family" not in entry and name not in families and "like" in entry:
        return _family(entry["like"], entries, families)
    family = entry.get("family", name)
    check_reference(family, families, FILE, ("model_types", name, "family"), "family")
    return family


def _with_rules(entry, path, rules):
    """The entry with the names of its rules replaced by functions, and its expressions read."""
    with_rules = {}
    for key in rules.keys() & entry.keys():
        if isinstance(entry[key], str) and rules[key] is not None:
            check_reference(entry[key], rules[key], FILE, (*path, key), "rule")
            with_rules[key] = rules[key][entry[key]]
        else:
            try:
                with_rules[key] = formula_of(entry[key])
            except ValueError as error:
                raise CatalogError(
                    f"{place_of_fault(FILE, (*path, key))}: {error}; correct it as the top "
                    f"of the file says."
                ) from None
    return {**entry, **with_rules}
