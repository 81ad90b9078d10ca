"""Notes on sequences that are longer than the context for which a model was made."""

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.table import Words


def extension(max_position, extended_tokens, extended_by):
    """Say how a model's context can be extended; "" if nothing extends it.

    Example: YaRN by 4 in its config.json extends it to 131,072.
    """
    if extended_tokens > max_position:
        return f"{extended_by} in its config.json extends it to {extended_tokens:,.0f}"
    return ""


def context_notes(table: Columns, catalogs: Catalogs) -> Words:
    """Return the note of each row whose sequence exceeds the context of its decoder; else ""."""
    exceeds = (
        (table["is_decoder"] > 0)
        & (table["max_position"] > 0)
        & (table["sequence_tokens"] > table["max_position"])
    )
    sentences = _sentences(catalogs)
    serves = table["trains"] == 0
    sentence = table["model_row"] + len(catalogs.models) * serves
    return Words(np.where(exceeds, sentence, len(sentences) - 1), sentences)


@cached_per_catalogs("models")
def _sentences(catalogs: Catalogs) -> np.ndarray:
    """Return the sentence for each model in training, then for each in serving, then ""."""
    columns = ("max_position", "extended_tokens", "extended_by")
    training, serving = [], []
    for max_position, extended_tokens, extended_by in zip(
        *(catalogs.models[name] for name in columns), strict=True
    ):
        extends = extension(max_position, extended_tokens, extended_by)
        limit = f"The model was made for {max_position:,.0f} tokens"
        if extends:
            training.append(f"{limit}: {extends}; longer ones are learned by training.")
            serving.append(f"{limit}: {extends}; without it, its answers to longer texts are poor.")
        else:
            training.append(
                f"{limit}: longer positions are learned by training, with another base of its "
                f"positions."
            )
            serving.append(f"{limit}: its answers to longer texts are poor.")
    return np.array([*training, *serving, ""], dtype=object)
