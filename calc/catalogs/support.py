"""Check that the rules of support.yaml name things that other catalogs have."""

from typing import Any

from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_reference
from calc.catalogs.strict_yaml import CatalogError

FILE = label_of("support")
LOADINGS = ("default", "pinned")


def capability_number(written: str) -> float:
    """A compute capability as a number that orders by both parts, 10.0 above 9.0; NaN if none."""
    major, _, minor = written.partition(".")
    return 1000.0 * int(major) + int(minor) if major.isdigit() and minor.isdigit() else float("nan")


def check_support(rules: dict[str, Any], families: Any, **known: Any) -> None:
    """Each rule names software, values and precisions that exist, and its range is not empty."""
    values = {"loading": LOADINGS, "host": families, "precision": known["precisions"].index}
    values |= {"kv_precision": known["number_formats"].index, "attention": known["attentions"].index, "compile": known["compiles"].index}
    for name, rule in rules.items():
        path = ("support", name)
        check_reference(rule["software"], ["any", *known["implementations"].index], FILE, (*path, "software"), "implementation")
        for value in rule["values"]:
            check_reference(value, values[rule["what"]], FILE, (*path, "values"), rule["what"])
        for value in rule.get("precisions", []):
            check_reference(value, known["precisions"].index, FILE, (*path, "precisions"), "precision")
        least, most = rule.get("min_compute_capability", ""), rule.get("max_compute_capability", "")
        if capability_number(least) > capability_number(most):
            raise CatalogError(
                f"{FILE}, entry {name}, field max_compute_capability: {most} is below {least}; write {least} or a higher one."
            )
