"""GPU memory of a model in training or serving, and what AWS charges for it."""

from calc.answers.answer_table import answer
from calc.catalogs.load import CatalogError, add_models, load_catalogs
from calc.engine.one_scenario import phases_table
from calc.engine.pipeline import estimate, estimate_distinct
from calc.files.words.read import read_words as read_request

__all__ = [
    "CatalogError",
    "add_models",
    "answer",
    "estimate",
    "estimate_distinct",
    "load_catalogs",
    "phases_table",
    "read_request",
]
