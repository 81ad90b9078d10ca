"""Families of transformers with their traits; a family that a catalog names must be there."""

from collections.abc import Mapping
from typing import Any

from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_reference

FILE = label_of("families")
BLOCKS = (
    *("block", "moe_block", "both_block", "alone_block", "linear_block", "linear_moe_block", "shared_block"),
    *("sparse_block", "encoder_block", "stem_block"),
)


def families_of(entries: dict[str, Any], traits: dict[str, Any], blocks: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Family -> trait -> value, defaults filled in; names of traits and blocks are checked."""
    usual = {name: trait["default"] for name, trait in traits.items()}
    for family, entry in entries.items():
        for name, value in entry.items():
            check_reference(name, traits, FILE, ("families", family, name), "trait")
            if name in BLOCKS and value:
                check_reference(value, blocks, FILE, ("families", family, name), "block")
    return {family: usual | entry for family, entry in entries.items()}


def check_families(models: Mapping[str, dict[str, Any]], heads: dict[str, Any], families: dict[str, Any]) -> None:
    """Every model that is estimated has a family, and every head names families that exist."""
    for model, entry in models.items():
        if not {"refused", "total_parameters"} & set(entry):
            check_reference(entry.get("model_type"), families, label_of("models"), ("models", model, "model_type"), "family")
    for head, entry in heads.items():
        for family in entry["families"]:
            check_reference(family, families, label_of("heads"), ("heads", head, "families"), "family")
