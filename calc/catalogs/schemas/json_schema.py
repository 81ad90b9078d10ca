"""The JSON Schema of a catalog's classes: files are checked against it, and editors use it."""

import sys
from functools import cache
from importlib import import_module
from typing import Any

import msgspec

from calc.catalogs.schemas.kinds import Entry
from calc.mappings import Json

DRAFT = "https://json-schema.org/draft/2020-12/schema"
NULL = {"type": "null"}
NO_DEFAULT = ("default", None)  # of a field that may be left out


def file_class(name: str) -> type[Entry]:
    """Return the class of a catalog's whole file."""
    return import_module(f"calc.catalogs.schemas.{name}").File


@cache
def json_schema_of(name: str) -> Json:
    """Return the JSON Schema of a catalog."""
    return json_schema(file_class(name))


def json_schema(file: type[Entry]) -> Json:
    """Return the JSON Schema of a file's class, with the classes that it uses under `$defs`.

    A field that may be left out is None in Python, but null is no value in a file. The docstring
    of a class becomes its title, because a description is what an error says to write.
    """
    classes = _classes_of(file.__module__)
    definitions = {
        name: _definition(schema, classes[name])
        for name, schema in msgspec.json.schema(file)["$defs"].items()
    }
    return {"$schema": DRAFT, **definitions.pop(file.__name__), "$defs": definitions}


def _classes_of(module: str) -> dict[str, type[Entry]]:
    """The classes of a module and of the modules that it takes classes from, by name."""
    own = {
        name: value
        for name, value in vars(sys.modules[module]).items()
        if isinstance(value, type) and issubclass(value, Entry)
    }
    classes: dict[str, type[Entry]] = {}
    for other in {entry.__module__ for entry in own.values()} - {module}:
        classes |= _classes_of(other)
    return classes | own


def _definition(schema: Json, entry: type[Entry]) -> Json:
    """The schema of one class, with the rules that hold between its fields."""
    fields = {key: value for key, value in schema.items() if key not in ("title", "description")}
    title = (entry.__doc__ or "").partition("\n")[0].rstrip(".")
    return {"title": title, **_without_null(fields), **entry.schema_rules}


def _without_null(schema: Any) -> Any:
    """A schema without null, and without the default of a field that may be left out."""
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: _without_null(value) for key, value in schema.items() if (key, value) != NO_DEFAULT
    }
    if "anyOf" not in plain:
        return plain
    kinds = [kind for kind in plain.pop("anyOf") if kind != NULL]
    return {**_one_of_several(kinds), **plain}


def _one_of_several(kinds: list[Json]) -> Json:
    """The schema of a value of one of several kinds.

    A list of types beside the bounds of each, which JSON Schema applies to the type they are for,
    gives better errors than `anyOf`, which only says that no kind matches.
    """
    if len(kinds) == 1:
        return kinds[0]
    if any("type" not in kind or "enum" in kind for kind in kinds):
        return {"anyOf": kinds}
    bounds = {key: value for kind in kinds for key, value in kind.items() if key != "type"}
    types = [kind["type"] for kind in kinds]
    if "number" in types:
        types = [name for name in types if name != "integer"]  # which is a number too
    return {"type": types, **bounds}
