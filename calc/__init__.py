"""GPU memory of a model in training or serving, and what AWS charges for it."""

from calc.catalogs.load import CatalogError, add_models, load_catalogs
from calc.pipeline import estimate, phases_table

__all__ = ["CatalogError", "add_models", "estimate", "load_catalogs", "phases_table"]
