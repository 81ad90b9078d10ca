"""Contexts longer than the model's: the limit, its extension, and what training needs."""

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.lookups import row_numbers
from calc.scenarios.stacks import kind_numbers
from calc.table import Words


def is_beyond_model(generates, max_position, sequence_tokens):
    """Whether a sequence of a decoder is longer than its config allows."""
    return (generates > 0) & (max_position > 0) & (sequence_tokens > max_position)


def extension(max_position, extended_tokens, extended_by):
    """The method and reach of an extension (YaRN by 4 extends it to 131,072); else empty."""
    return f"{extended_by} in its config.json extends it to {extended_tokens:,.0f}" if extended_tokens > max_position else ""


def refused_context(model: str, sequence_tokens: float, software: str, catalogs: Catalogs) -> str:
    """The reason why a serving engine refuses a context, and the cure; empty if it does not."""
    entry = catalogs.models.loc[model]
    generates = kind_numbers(catalogs, "generates")[row_numbers(catalogs, "models")[model]]
    if not (
        catalogs.implementations["reserves_share"][software] > 0 and is_beyond_model(generates, entry["max_position"], sequence_tokens)
    ):
        return ""
    longer = extension(entry["max_position"], entry["extended_tokens"], entry["extended_by"])
    cure = f"{f'{longer}: bring that config, or ' if longer else ''}take at most {entry['max_position']:,.0f} tokens"
    return f"{model} takes {entry['max_position']:,.0f} tokens, and {sequence_tokens:,.0f} are asked for, which {software} refuses; {cure}."


def context_notes(table: Columns, catalogs: Catalogs) -> Words:
    """What a training needs whose sequences are longer than the model's context; else empty."""
    beyond = is_beyond_model(table["generates"], table["max_position"], table["sequence_tokens"]) & (table["trains"] > 0)
    sentences = _training_sentences(catalogs)
    return Words(np.where(beyond, table["model_row"], len(sentences) - 1), sentences)


@kept("models")
def _training_sentences(catalogs: Catalogs) -> np.ndarray:
    """The sentence for each model, and an empty one."""
    sentences = []
    for size, longest, by in catalogs.models[["max_position", "extended_tokens", "extended_by"]].itertuples(index=False):
        longer = extension(size, longest, by)
        then = f"{longer}; longer ones are" if longer else "longer positions are"
        rest = "learned by training" if longer else "learned by training, with another base of its positions"
        sentences.append(f"The model was made for {size:,.0f} tokens: {then} {rest}.")
    return np.array([*sentences, ""], dtype=object)
