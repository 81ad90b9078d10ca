"""References between catalogs: every name that one writes is an entry of another."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from calc.catalogs.rooms import label_of
from calc.catalogs.schema_check import check_reference


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


def _check(catalog: str, field: str, pairs: Iterable[tuple[Any, Any]], known: Any, kind: str = "") -> None:
    """The value that each entry of a catalog writes in a field is one of the known ones."""
    for entry, value in pairs:
        check_reference(value, known, label_of(catalog), (catalog, str(entry), *([field] if field else [])), kind or field)


def _check_alike(catalog: str, entries: Any, known: Any, kind: str) -> None:
    """A catalog has an entry for everything that needs one, and no other."""
    _check(catalog, "", ((name, name) for name in known), entries, f"entry of {catalog} for")
    _check(catalog, "", ((name, name) for name in entries), known, kind)


def check_blocks(stacks: pd.DataFrame, blocks: dict[str, Any]) -> None:
    """Every block that a model names was read off."""
    _check("models", "block", ((model, block) for model, block in zip(stacks["model"], stacks["block"], strict=True) if block), blocks)
