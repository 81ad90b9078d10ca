"""Checks a catalog against its classes; a fault becomes one sentence that names the fix."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from calc.catalogs.faults import fault_sentence, short_text
from calc.catalogs.schemas.json_schema import json_schema_of
from calc.catalogs.strict_yaml import CatalogError, place_of_fault
from calc.mappings import Json


def check_schema(document: Any, name: str, file: str) -> None:
    """Raise CatalogError for the most relevant violation of the schema of the catalog `name`."""
    # Only a file that has changed is checked; nothing else has to wait for this import.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(json_schema_of(name)).iter_errors(document))
    if error is not None:
        raise CatalogError(fault_sentence(error, file))


def check_order(ids: Iterable[str], file: str) -> None:
    """Raise CatalogError if entries are not sorted by id."""
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
    """Raise CatalogError if a value is not one of the names."""
    if value not in names:
        close = get_close_matches(str(value), [str(name) for name in names], n=1)
        choice = close[0] if close else f"one of {', '.join(sorted(map(str, names))[:8])}"
        raise CatalogError(
            f"{place_of_fault(file, path)}: there is no {kind} {value}; write {choice} or add it."
        )


def check_ranges(entries: Mapping[str, Json], file: str) -> None:
    """Raise CatalogError if a value is not between `least` and `most` of its entry."""
    for name, entry in entries.items():
        if not entry["least"] <= entry["value"] <= entry["most"]:
            raise CatalogError(
                f"{file}, entry {name}, field value: {short_text(entry['value'])} is out of "
                f"range; write a number from {entry['least']:.10g} to {entry['most']:.10g}."
            )
