"""References between catalogs: every name that a catalog writes is an entry of another."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_reference
from calc.catalogs.strict_yaml import CatalogError
from calc.catalogs.tables import capability_number

LOADINGS = ("default", "pinned")


def check_references(entries: dict[str, Any], models: pd.DataFrame, stacks: pd.DataFrame, **tables: pd.DataFrame) -> None:
    """Raise CatalogError for the first name that leads nowhere."""
    software, engines = tables["implementations"], tables["serving_engines"]
    check_blocks(stacks, entries["blocks"])
    _check("implementations", "block", ((name, block) for name, block in software["block"].items() if block), entries["software_blocks"])
    sound = models.loc[models["refused"] == "", "kind"]
    _check("models", "kind", sound.items(), tables["model_kinds"].index, "kind of model")
    files = tables["checkpoints"]
    _check("checkpoints", "model", files["model"].items(), models.index)
    _check("checkpoints", "precision", files["precision"].items(), tables["precisions"].index)
    _check_alike("serving_engines", engines.index, software.index[software["reserves_share"] > 0], "implementation that reserves a share")
    _check_alike("utilization", tables["utilization"].index, tables["gpus"].index, "GPU")
    _check_alike("engines", tables["engines"].index, software.index, "implementation")
    _check_alike("serving_steps", tables["serving_steps"].index, dict.fromkeys(tables["utilization"]["card_class"]), "class of card")
    _check("serving_releases", "software", tables["serving_releases"]["software"].items(), software.index, "implementation")
    _check("kernels", "", ((name, name) for name in tables["kernels"].index), tables["precisions"].index, "precision")


def _check(catalog: str, field: str, pairs: Iterable[tuple[Any, Any]], names: Any, kind: str = "") -> None:
    """The value that each entry of a catalog writes in a field is one of the names."""
    for entry, value in pairs:
        check_reference(value, names, label_of(catalog), (catalog, str(entry), *([field] if field else [])), kind or field)


def _check_alike(catalog: str, entries: Any, names: Any, kind: str) -> None:
    """A catalog has an entry for everything that needs one, and no other."""
    _check(catalog, "", ((name, name) for name in names), entries, f"entry of {catalog} for")
    _check(catalog, "", ((name, name) for name in entries), names, kind)


def check_blocks(stacks: pd.DataFrame, blocks: dict[str, Any]) -> None:
    """Every block that a model names was read off."""
    _check("models", "block", ((model, block) for model, block in zip(stacks["model"], stacks["block"], strict=True) if block), blocks)


def check_families(models: Mapping[str, dict[str, Any]], heads: dict[str, Any], families: dict[str, Any]) -> None:
    """Every model that is estimated has a family, and every head names families that exist."""
    for model, entry in models.items():
        if not {"refused", "total_parameters"} & set(entry):
            check_reference(entry.get("model_type"), families, label_of("models"), ("models", model, "model_type"), "family")
    for head, entry in heads.items():
        for family in entry["families"]:
            check_reference(family, families, label_of("heads"), ("heads", head, "families"), "family")


def check_support(rules: dict[str, Any], instance_families: Any, **choices: Any) -> None:
    """Every rule of support.yaml names what exists, and its range is not empty."""
    file = label_of("support")
    tables = {"precision": "precisions", "kv_precision": "number_formats", "attention": "attentions", "compile": "compiles"}
    values = {what: choices[table].index for what, table in tables.items()} | {"loading": LOADINGS, "host": instance_families}
    for name, rule in rules.items():
        path = ("support", name)
        check_reference(rule["software"], ["any", *choices["implementations"].index], file, (*path, "software"), "implementation")
        for value in rule["values"]:
            check_reference(value, values[rule["what"]], file, (*path, "values"), rule["what"])
        for value in rule.get("precisions", []):
            check_reference(value, choices["precisions"].index, file, (*path, "precisions"), "precision")
        least, most = rule.get("min_compute_capability", ""), rule.get("max_compute_capability", "")
        if capability_number(least) > capability_number(most):
            raise CatalogError(
                f"{file}, entry {name}, field max_compute_capability: {most} is below {least}; write {least} or a higher one."
            )
