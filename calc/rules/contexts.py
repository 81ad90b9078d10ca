"""Contexts longer than the model's: what extends them, and what training then needs."""

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.table import Words


def extension(max_position, extended_tokens, extended_by):
    """The method and reach of an extension (YaRN by 4 extends it to 131,072); else empty."""
    if extended_tokens > max_position:
        return f"{extended_by} in its config.json extends it to {extended_tokens:,.0f}"
    return ""


def context_notes(table: Columns, catalogs: Catalogs) -> Words:
    """The limit of the model in rows beyond it that run, and what goes beyond; else empty."""
    beyond = (
        (table["is_decoder"] > 0)
        & (table["max_position"] > 0)
        & (table["sequence_tokens"] > table["max_position"])
    )
    sentences = _sentences(catalogs)
    models = len(sentences) // 2
    trains = table["trains"] > 0
    return Words(
        np.where(beyond, table["model_row"] + models * ~trains, len(sentences) - 1), sentences
    )


@cached_per_catalogs("models")
def _sentences(catalogs: Catalogs) -> np.ndarray:
    """The sentence for each model in training, then in serving, and an empty one."""
    training, serving = [], []
    for size, longest, by in catalogs.models[
        ["max_position", "extended_tokens", "extended_by"]
    ].itertuples(index=False):
        longer = extension(size, longest, by)
        made = f"The model was made for {size:,.0f} tokens: "
        learned = "learned by training" + ("" if longer else ", with another base of its positions")
        training.append(
            made
            + (
                f"{longer}; longer ones are {learned}."
                if longer
                else f"longer positions are {learned}."
            )
        )
        serving.append(
            made
            + (f"{longer}; without it, " if longer else "")
            + "its answers to longer texts are poor."
        )
    return np.array([*training, *serving, ""], dtype=object)
