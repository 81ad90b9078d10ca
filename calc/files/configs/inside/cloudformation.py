"""CloudFormation templates with their parameters and mappings written out."""

from typing import Any

from calc.files.configs.inside.braces import filled_references
from calc.mappings import Json

LOOKS_UP, REFERS = "Fn::FindInMap", "Ref"


def filled_template(tree: Json) -> Json:
    """A template in which parameters stand for their defaults, and look-ups for what they find.

    Its mappings are left out then: they list what other instances would have.
    """
    if "Resources" not in tree:
        return tree
    parameters, mappings = tree.get("Parameters"), tree.get("Mappings")
    defaults = {
        name: str(one["Default"])
        for name, one in (parameters.items() if isinstance(parameters, dict) else ())
        if isinstance(one, dict) and isinstance(one.get("Default"), str | int | float)
    }
    rest = {key: value for key, value in tree.items() if key != "Mappings"}
    filled = filled_references(_short_references(rest), defaults)
    return {key: _found(value, mappings) for key, value in filled.items()}


def _short_references(value: Any) -> Any:
    """A value with references as JSON has them, {"Ref": NAME}, in the short form ${NAME}."""
    if isinstance(value, list):
        return [_short_references(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if list(value) == [REFERS] and isinstance(value[REFERS], str):
        return f"${{{value[REFERS]}}}"
    return {key: _short_references(inner) for key, inner in value.items()}


def _found(value: Any, mappings: Any) -> Any:
    """A value with each look-up in a mapping replaced by what stands there, if anything does."""
    if isinstance(value, list):
        return [_found(inner, mappings) for inner in value]
    if not isinstance(value, dict):
        return value
    if list(value) != [LOOKS_UP]:
        return {key: _found(inner, mappings) for key, inner in value.items()}
    found = mappings
    for step in _found(value[LOOKS_UP], mappings):
        found = found.get(step) if isinstance(found, dict) and isinstance(step, str) else None
    return found
