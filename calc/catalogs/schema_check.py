"""Checks a catalog against its classes; a fault becomes one sentence that names the fix."""

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from calc.catalogs.schemas.json_schema import json_schema_of
from calc.catalogs.strict_yaml import CatalogError, place_of_fault

WORDS = {
    "number": "a number",
    "integer": "a whole number",
    "string": "text",
    "boolean": "true or false",
}
WORDS |= {"object": "a mapping", "array": "a list"}


def check_schema(document: Any, name: str, file: str) -> None:
    """Raise CatalogError for the most relevant violation of the schema of the catalog `name`."""
    # Only a file that has changed is checked; nothing else has to wait for this import.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(json_schema_of(name)).iter_errors(document))
    if error is not None:
        raise CatalogError(sentence(error, file))


def check_order(ids: Iterable[str], file: str) -> None:
    """Raise CatalogError where entries are not sorted by id."""
    for before, after in pairwise(ids):
        if before == after:
            raise CatalogError(
                f"{file}, entry {after}, field id: it appears twice; keep one of the two."
            )
        if before > after:
            raise CatalogError(
                f"{file}, entry {after}, field id: entries are sorted by id; move it above "
                f"{before}."
            )


def check_reference(value: Any, names: Any, file: str, path: Sequence[str], kind: str) -> None:
    """Raise CatalogError where a value is not one of the names."""
    if value not in names:
        close = get_close_matches(str(value), [str(name) for name in names], n=1)
        cure = (
            f"write {close[0]}"
            if close
            else f"write one of {', '.join(sorted(map(str, names))[:8])}"
        )
        raise CatalogError(
            f"{place_of_fault(file, path)}: there is no {kind} {value}; {cure} or add it."
        )


def check_ranges(entries: Mapping[str, dict[str, Any]], file: str) -> None:
    """Raise CatalogError where a value is not between `least` and `most` of its entry."""
    for name, entry in entries.items():
        if not entry["least"] <= entry["value"] <= entry["most"]:
            cure = f"write a number from {entry['least']:.10g} to {entry['most']:.10g}"
            raise CatalogError(
                f"{file}, entry {name}, field value: {short_text(entry['value'])} is out of "
                f"range; {cure}."
            )


def sentence(error: Any, file: str) -> str:
    """A jsonschema error as one sentence: file, entry, field: the problem; the fix."""
    path = [str(step) for step in error.absolute_path]
    value, rule, kind = error.instance, error.validator_value, error.validator
    hint = error.schema.get("description") if isinstance(error.schema, dict) else None
    problem, cure = (
        error.message.replace(repr(value), short_text(value)),
        f"write {hint}" if hint else "correct it as the schema says",
    )
    if kind == "additionalProperties":
        unknown = next(name for name in value if name not in error.schema.get("properties", {}))
        path.append(unknown)
        close = get_close_matches(unknown, error.schema.get("properties", {}), n=1)
        problem, cure = (
            "this field is unknown",
            f"write {close[0]} or remove it" if close else "remove it",
        )
    elif kind == "required":
        missing = next(name for name in rule if name not in value)
        path.append(missing)
        problem = "this field is missing"
        hint = error.schema.get("properties", {}).get(missing, {}).get("description")
        cure = f"add it: {hint}" if hint else "add it"
    elif kind == "dependentRequired":
        needing, missing = next(
            (field, other)
            for field, others in rule.items()
            for other in others
            if field in value and other not in value
        )
        path.append(missing)
        problem = f"this field is missing beside {needing}"
        hint = error.schema["properties"][missing].get("description")
        cure = f"add it: {hint}" if hint else "add it"
    elif kind == "type":
        names = [WORDS.get(name, name) for name in ([rule] if isinstance(rule, str) else rule)]
        problem = f"{short_text(value)} is not {' or '.join(names)}"
        cure = f"write {hint or ' or '.join(names)}"
    elif kind == "enum":
        close = get_close_matches(str(value), map(str, rule), n=1)
        problem, cure = (
            f"{short_text(value)} is not allowed",
            f"write {close[0]}" if close else f"write one of {', '.join(map(str, rule))}",
        )
    elif kind == "oneOf":
        names = [" and ".join(choice["required"]) for choice in rule]
        problem, cure = "one choice is needed", f"write exactly one of {', '.join(names)}"
    elif kind == "const":
        problem = f"{short_text(value)} is not allowed"
        cure = f"write {hint or json.dumps(rule)}"
    elif kind == "pattern":
        problem, cure = f"{short_text(value)} has the wrong form", f"write {hint or rule}"
    elif kind in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
        words = {
            "minimum": "at least",
            "exclusiveMinimum": "more than",
            "maximum": "at most",
            "exclusiveMaximum": "less than",
        }
        problem, cure = (
            f"{short_text(value)} is out of range",
            f"write a number {words[kind]} {rule}",
        )
    elif kind in ("minProperties", "minItems", "minLength"):
        problem, cure = "this is empty", "fill it or leave it out"
    return f"{place_of_fault(file, path)}: {problem}; {cure}."


def short_text(value: Any) -> str:
    """A value as a sentence quotes it, at most 60 characters long."""
    text = f"'{value}'" if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
