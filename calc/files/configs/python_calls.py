"""Values of calls in a script that need their arguments alone: max, dict, OmegaConf.merge."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from calc.mappings import Json

CLASS = "class"  # the key under which a call keeps the name of what it calls
UNKNOWN = object()  # the value of a call that is none of these
CONVERTS = ("str", "int", "float", "list", "Path")
WHOLE = re.compile(r"-?\d{1,18}")
DECIMAL = re.compile(r"-?\d{1,18}(?:\.\d{0,18})?(?:[eE][+-]?\d{1,2})?")
# Calls that make a mapping of their arguments by name, and those that hand on, or merge, mappings.
BUILDS_MAPPING = (
    *("dict", "OrderedDict", "Namespace", "SimpleNamespace", "DictConfig", "ConfigDict", "Box"),
    *("Munch", "edict", "EasyDict", "AttrDict", "DotDict", "dotdict"),
)
MERGES = ("create", "merge", "to_container", "deepcopy", "copy", "vars", "asdict")
NUMBERS: dict[str, Callable[..., Any]] = {
    "max": lambda *several: max(several),
    "min": lambda *several: min(several),
    "round": lambda number, places=0: round(number, int(places)),
    **dict.fromkeys(("math.ceil", "ceil"), lambda number: math.ceil(number)),
    **dict.fromkeys(("math.floor", "floor"), lambda number: math.floor(number)),
}


def value_of_call(name: str, placed: list, named: Json) -> Any:
    """The value of a call of these by its arguments; UNKNOWN for any other call."""
    last, first = name.rpartition(".")[2], placed[0] if placed else None
    if name in NUMBERS and placed and all(isinstance(one, int | float) for one in placed):
        return NUMBERS[name](*placed)
    if name == "len" and len(placed) == 1 and isinstance(first, list):
        return len(first)
    if last.startswith("Parameter") and "default_value" in named:
        return named["default_value"]  # of a pipeline of SageMaker's
    if last in BUILDS_MAPPING and all(map(is_plain, placed)):
        return merged_all([*placed, named])
    if last in MERGES and placed and all(map(is_plain, placed)):
        return merged_all(placed)
    if name in CONVERTS and len(placed) == 1:
        return _converted(name, first)
    if name == "getattr" and len(placed) > 1 and "${" not in str(placed[1]):
        return str(placed[1])  # getattr(torch, "bfloat16")
    if name == "json.dumps" and isinstance(first, str | int | float):
        return str(first)
    return UNKNOWN


def _converted(name: str, value: Any) -> Any:
    """A value as str or int make it; others, and what is no number yet, as they are."""
    is_digits = isinstance(value, str) and WHOLE.fullmatch(value)
    if name == "int" and (isinstance(value, int | float) or is_digits):
        return int(value)
    if name == "float" and isinstance(value, str) and DECIMAL.fullmatch(value):
        return float(value)
    return str(value) if name == "str" else value


def merged(below: Json, above: Json) -> Json:
    """A mapping with the values of another over its own, at any depth."""
    values = dict(below)
    for key, value in above.items():
        both = is_plain(values.get(key)) and is_plain(value)
        values[key] = merged(values[key], value) if both else value
    return values


def merged_all(several: Sequence[Json]) -> Json:
    """Several mappings as one, the later ones over the earlier ones."""
    values: Json = {}
    for one in several:
        values = merged(values, one)
    return values


def is_plain(value: Any) -> bool:
    """Return whether a value is a mapping that the script writes out, and no call."""
    return isinstance(value, dict) and CLASS not in value
