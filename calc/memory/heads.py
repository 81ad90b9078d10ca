"""The heads of models, by family: bytes per logit, and what is saved outside the blocks."""

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.memory.block_forms import vector
from calc.memory.sizes import SIZES
from calc.scenarios.join_choices import FORMATS


@kept("models", "heads")
def head_rows(catalogs: Catalogs) -> np.ndarray:
    """The number of each model's head."""
    entries = list(catalogs.heads.values())
    owner = {family: number for number, head in enumerate(entries) for family in head["families"]}
    default = next(number for number, head in enumerate(entries) if not head["families"])
    return np.array([owner.get(kind, default) for kind in catalogs.models["model_type"]])


@kept("heads")
def head_coefficients(catalogs: Catalogs) -> dict[str, np.ndarray]:
    """Bytes per logit by head, format and moment; the outside vector by frozen, head, format."""
    entries = list(catalogs.heads.values())
    widths = np.full((len(entries), len(FORMATS), 3), np.nan)
    outside = np.full((2, len(entries), len(FORMATS), len(SIZES)), np.nan)
    for number, head in enumerate(entries):
        for form in head["forms"]:
            column = FORMATS.index(form["format"])
            widths[number, column] = form["forward"], form["saved"], form["backward"]
            outside[:, number, column] = vector(form["outside"]), vector(form["frozen_outside"])
    return {"widths": widths, "outside": outside}
