"""Recipes of SageMaker HyperPod with the settings of the files that their defaults name."""

from typing import Any

from calc.files.configs.fields import field_catalog
from calc.mappings import Json, put_at_path

FOLDER = "/hydra_config/"
SETTINGS = "training_config"


def with_bases(tree: Any) -> Any:
    """Return a recipe whose settings stand over those of its defaults, any other tree as it is."""
    named = tree.get("defaults") if isinstance(tree, dict) else None
    if not isinstance(named, list) or not isinstance(tree.get(SETTINGS, {}), dict):
        return tree
    bases = field_catalog().bases
    names = [str(name).removeprefix(FOLDER) for name in named]
    known = [bases[name] for name in names if name in bases]
    if not known:
        return tree
    settings: Json = {}
    for base in known:
        for name, value in base.items():
            put_at_path(settings, name.split("."), value)
    launcher, trainer = tree.get("trainer"), settings.get("trainer", {})
    if isinstance(launcher, dict) and "nnodes" in trainer:  # as many as the recipe is started on
        trainer["nnodes"] = launcher.get("num_nodes", trainer["nnodes"])
    return {**tree, SETTINGS: _over(settings, tree.get(SETTINGS) or {})}


def _over(below: Json, above: Json) -> Json:
    """A tree with the values of another over its own."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(merged.get(key), dict) and isinstance(value, dict)
        merged[key] = _over(merged[key], value) if both else value
    return merged
