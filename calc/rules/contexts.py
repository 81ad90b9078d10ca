"""Remarks on sequences that are longer than the context for which a model was made."""

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.remarks import remark
from calc.table import Words

CONTEXT = ("max_position", "extended_tokens", "extended_by")


def context_remarks(table: Columns, catalogs: Catalogs) -> Words:
    """Return the remark on each row whose sequence exceeds the context of its decoder."""
    exceeds = (
        (table["is_decoder"] > 0)
        & (table["max_position"] > 0)
        & (table["sequence_tokens"] > table["max_position"])
    )
    remarks = _remarks(catalogs)
    serves = table["trains"] == 0
    number = table["model_row"] + len(catalogs.models) * serves
    return Words(np.where(exceeds, number, len(remarks) - 1), remarks)


@cached_per_catalogs("models")
def _remarks(catalogs: Catalogs) -> np.ndarray:
    """Return the remark on each model in training, then on each in serving, then ""."""
    contexts = catalogs.models[list(CONTEXT)].to_dict("records")
    remarks = [
        remark("beyond-context", **context, trains=trains)
        for trains in (True, False)
        for context in contexts
    ]
    return np.array([*remarks, ""], dtype=object)
