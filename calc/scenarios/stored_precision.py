"""The precision of a scenario that names none: of a model whose file is quantised that of the file."""

from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.lookups import words_of
from calc.table import Words, where


def usual_precision(table: Columns, catalogs: Catalogs) -> Words:
    """A model is served as its file is stored where a scenario names no precision."""
    stored, at = words_of(catalogs, "models", "stored_precision"), table["model_row"]
    taken = (stored != "")[at] & (table["trains"] == 0) & ~table["names_precision"]
    return where(taken, Words(at, stored), table["precision"]) if taken.any() else table["precision"]
