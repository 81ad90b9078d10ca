"""Sentences for violations of a schema: file, entry and field, the problem, and the cure."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from calc.catalogs.strict_yaml import place_of_fault
from calc.mappings import Json

TYPES = {
    "number": "a number",
    "integer": "a whole number",
    "string": "text",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
}
BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}


@dataclass(frozen=True)
class Fault:
    """A problem and its cure, in the field of this name if the value is not itself at fault."""

    problem: str
    cure: str
    field: str = ""


def fault_sentence(error: Any, file: str) -> str:
    """Return a jsonschema error as one sentence that names the file, the entry and the field."""
    fault = FAULTS.get(error.validator, _other)(error)
    path = [str(step) for step in error.absolute_path] + ([fault.field] if fault.field else [])
    return f"{place_of_fault(file, path)}: {fault.problem}; {fault.cure}."


def short_text(value: Any) -> str:
    """A value as a sentence quotes it, at most 60 characters long."""
    text = f"'{value}'" if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _unknown_field(error: Any) -> Fault:
    """Name a field that the schema lacks, and the one that is meant."""
    fields = error.schema.get("properties", {})
    unknown = next(name for name in error.instance if name not in fields)
    close = get_close_matches(unknown, fields, n=1)
    cure = f"write {close[0]} or remove it" if close else "remove it"
    return Fault("this field is unknown", cure, unknown)


def _missing_field(error: Any) -> Fault:
    """A required field that is missing, or whose name is misspelled."""
    fields = error.schema.get("properties", {})
    missing = next(name for name in error.validator_value if name not in error.instance)
    unknown = [name for name in error.instance if name not in fields]
    similar = get_close_matches(missing, unknown, n=1)
    if similar:
        return Fault("this field is unknown", f"write {missing}", similar[0])
    return Fault("this field is missing", _addition(fields.get(missing, {})), missing)


def _missing_beside(error: Any) -> Fault:
    """Return the fault of a field that is missing although another field requires it."""
    field, missing = next(
        (field, required)
        for field, all_needed in error.validator_value.items()
        for required in all_needed
        if field in error.instance and required not in error.instance
    )
    cure = _addition(error.schema["properties"][missing])
    return Fault(f"this field is missing beside {field}", cure, missing)


def _addition(field: Json) -> str:
    hint = field.get("description")
    return f"add it: {hint}" if hint else "add it"


def _wrong_type(error: Any) -> Fault:
    types = error.validator_value
    names = [TYPES[name] for name in ([types] if isinstance(types, str) else types)]
    kinds = " or ".join(names)
    return Fault(f"{short_text(error.instance)} is not {kinds}", f"write {_hint(error) or kinds}")


def _wrong_choice(error: Any) -> Fault:
    choices = [str(choice) for choice in error.validator_value]
    close = get_close_matches(str(error.instance), choices, n=1)
    cure = f"write {close[0]}" if close else f"write one of {', '.join(choices)}"
    return Fault(f"{short_text(error.instance)} is not allowed", cure)


def _wrong_constant(error: Any) -> Fault:
    cure = f"write {_hint(error) or json.dumps(error.validator_value)}"
    return Fault(f"{short_text(error.instance)} is not allowed", cure)


def _not_one_of(error: Any) -> Fault:
    """Return the fault of a mapping with none or several of fields that exclude each other."""
    choices = [" and ".join(choice["required"]) for choice in error.validator_value]
    return Fault("one choice is needed", f"write exactly one of {', '.join(choices)}")


def _wrong_form(error: Any) -> Fault:
    cure = f"write {_hint(error) or error.validator_value}"
    return Fault(f"{short_text(error.instance)} has the wrong form", cure)


def _out_of_range(error: Any) -> Fault:
    cure = f"write a number {BOUNDS[error.validator]} {error.validator_value}"
    return Fault(f"{short_text(error.instance)} is out of range", cure)


def _empty(_error: Any) -> Fault:
    return Fault("this is empty", "fill it or leave it out")


def _other(error: Any) -> Fault:
    """Say any other fault in the words of the schema checker."""
    value = error.instance
    hint = _hint(error)
    problem = error.message.replace(repr(value), short_text(value))
    return Fault(problem, f"write {hint}" if hint else "correct it as the schema says")


def _hint(error: Any) -> str:
    """Return the schema's hint on what to write; empty if it has none."""
    return error.schema.get("description", "") if isinstance(error.schema, dict) else ""


FAULTS: dict[str, Callable[[Any], Fault]] = {  # keyword of JSON Schema -> what its violation means
    "additionalProperties": _unknown_field,
    "required": _missing_field,
    "dependentRequired": _missing_beside,
    "type": _wrong_type,
    "enum": _wrong_choice,
    "const": _wrong_constant,
    "oneOf": _not_one_of,
    "pattern": _wrong_form,
    **dict.fromkeys(BOUNDS, _out_of_range),
    **dict.fromkeys(("minProperties", "minItems", "minLength"), _empty),
}
