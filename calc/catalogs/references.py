"""References between catalogs: every name in one catalog is an entry of another."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_reference
from calc.catalogs.strict_yaml import CatalogError, place_of_fault
from calc.catalogs.tables import capability_number
from calc.mappings import Json

LOADINGS = ("default", "pinned")
# What a layout may divide over GPUs, and how: a sequence of few tokens is short.
DIVIDED = ("experts", "stages", "sequence")
DIVISIONS = ("whole", "divided", "short")


def check_references(
    entries: Json, models: pd.DataFrame, stacks: pd.DataFrame, **tables: pd.DataFrame
) -> None:
    """Raise CatalogError for the first name that no catalog has."""
    check_blocks(stacks, entries["blocks"])
    _check_software(tables, entries["software_blocks"])
    sound = models.loc[models["refused"] == "", "kind"]
    _check("models", "kind", sound.items(), tables["model_kinds"].index, "kind of model")
    files = tables["checkpoints"]
    _check("checkpoints", "model", files["model"].items(), models.index)
    _check("checkpoints", "precision", files["precision"].items(), tables["precisions"].index)
    _check_alike("utilization", tables["utilization"].index, tables["gpus"].index, "GPU")
    _check_alike(
        "serving_steps",
        tables["serving_steps"].index,
        dict.fromkeys(tables["utilization"]["card_class"]),
        "class of card",
    )
    kernels = tables["kernels"].index
    _check(
        "kernels", "", zip(kernels, kernels, strict=True), tables["precisions"].index, "precision"
    )


def _check_software(tables: Mapping[str, pd.DataFrame], blocks: Json) -> None:
    """Raise CatalogError if software and what is known of it do not agree."""
    software = tables["implementations"]
    for field, names in (("block", blocks), ("divided_as", software.index)):
        values = software.loc[software[field] != "", field]
        _check("implementations", field, values.items(), names)
    releases = tables["earlier_releases"]["software"]
    _check("earlier_releases", "software", releases.items(), software.index, "implementation")
    _check_alike("engines", tables["engines"].index, software.index, "implementation")
    _check_alike(
        "serving_engines",
        tables["serving_engines"].index,
        tables["inference_engines"].index,
        "inference engine",
    )


def _check(
    catalog: str, field: str, pairs: Iterable[tuple[Any, Any]], names: Any, kind: str = ""
) -> None:
    """Raise CatalogError if a field of an entry holds none of the names."""
    for entry, value in pairs:
        check_reference(
            value,
            names,
            label_of(catalog),
            (catalog, str(entry), *([field] if field else [])),
            kind or field,
        )


def _check_alike(catalog: str, entries: Any, names: Any, kind: str) -> None:
    """Raise CatalogError if a catalog lacks an entry for a name, or has one for no name."""
    _check(catalog, "", ((name, name) for name in entries), names, kind)
    for name in names:
        if name not in entries:
            place = place_of_fault(label_of(catalog), (catalog, str(name)))
            raise CatalogError(f"{place}: the entry of this {kind} is missing; add it.")


def check_blocks(stacks: pd.DataFrame, blocks: Json) -> None:
    """Raise CatalogError if blocks.yaml lacks a block that a model names."""
    _check(
        "models",
        "block",
        (
            (model, block)
            for model, block in zip(stacks["model"], stacks["block"], strict=True)
            if block
        ),
        blocks,
    )


def check_families(models: Mapping[str, Json], heads: Json, families: Json) -> None:
    """Raise CatalogError if a model or a head names a family that does not exist."""
    for model, entry in models.items():
        if not {"refused", "total_parameters"} & set(entry):
            check_reference(
                entry.get("model_type"),
                families,
                label_of("models"),
                ("models", model, "model_type"),
                "family",
            )
    for head, entry in heads.items():
        for family in entry["families"]:
            check_reference(
                family, families, label_of("heads"), ("heads", head, "families"), "family"
            )


def check_support(rules: Json, instance_families: Any, **choices: Any) -> None:
    """Raise CatalogError if a rule of support.yaml names what no catalog has."""
    file = label_of("support")
    tables = {
        "precision": "precisions",
        "kv_precision": "number_formats",
        "attention": "attentions",
        "compile": "compiles",
    }
    values = {what: choices[table].index for what, table in tables.items()} | {
        "loading": LOADINGS,
        "host": instance_families,
        **dict.fromkeys(DIVIDED, DIVISIONS),
    }
    for name, rule in rules.items():
        path = ("support", name)
        check_reference(
            rule["software"],
            ["any", *choices["implementations"].index],
            file,
            (*path, "software"),
            "implementation",
        )
        for value in rule["values"]:
            check_reference(value, values[rule["what"]], file, (*path, "values"), rule["what"])
        for value in rule.get("precisions", []):
            check_reference(
                value, choices["precisions"].index, file, (*path, "precisions"), "precision"
            )
        least = rule.get("min_compute_capability", "")
        most = rule.get("max_compute_capability", "")
        if capability_number(least) > capability_number(most):
            raise CatalogError(
                f"{file}, entry {name}, field max_compute_capability: {most} is below "
                f"{least}; write {least} or a higher one."
            )
