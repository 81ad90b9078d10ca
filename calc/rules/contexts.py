"""Contexts beyond what a model takes: the limit, what extends it, what a training needs."""

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.lookups import row_numbers
from calc.scenarios.stacks import kind_numbers
from calc.table import Words


def is_beyond_model(generates, max_position, sequence_tokens):
    """Whether a sequence of a decoder is longer than its config allows."""
    return (generates > 0) & (max_position > 0) & (sequence_tokens > max_position)


def extension(max_position, extended_tokens, extended_by):
    """What extends a context, and how far: YaRN by 4 extends it to 131,072; else empty."""
    return f"{extended_by} in its config.json extends it to {extended_tokens:,.0f}" if extended_tokens > max_position else ""


def refused_context(model: str, sequence_tokens: float, software: str, catalogs: Catalogs) -> str:
    """Why a serving engine refuses a context, and what extends it; empty where it takes it."""
    entry = catalogs.models.loc[model]
    generates = kind_numbers(catalogs, "generates")[row_numbers(catalogs, "models")[model]]
    if not (
        catalogs.implementations["reserves_share"][software] > 0 and is_beyond_model(generates, entry["max_position"], sequence_tokens)
    ):
        return ""
    longer = extension(entry["max_position"], entry["extended_tokens"], entry["extended_by"])
    cure = f"{f'{longer}: bring that config, or ' if longer else ''}take at most {entry['max_position']:,.0f} tokens"
    return f"{model} takes {entry['max_position']:,.0f} tokens, and {sequence_tokens:,.0f} are asked for, which {software} refuses; {cure}."


def context_notes(table: Columns) -> Words:
    """For each training beyond its model's context the sentence of what that needs; else empty."""
    beyond = is_beyond_model(table["generates"], table["max_position"], table["sequence_tokens"]) & (table["trains"] > 0)
    codes, rows = pd.factorize(np.where(np.broadcast_to(beyond, table["rows"]), table["model_row"], -1))
    names = ("max_position", "extended_tokens", "model_row")
    sizes, longest, models = (np.broadcast_to(table[name], table["rows"]) for name in names)
    sentences = []
    for row in rows:
        at = int(np.argmax(models == row))
        by = extension(sizes[at], longest[at], table["extended_by"].in_row(at)) if row >= 0 else ""
        more = (
            f"{by}; longer ones are learned by training"
            if by
            else "longer positions are learned by training, with another base of its positions"
        )
        sentences.append("" if row < 0 else f"The model was made for {sizes[at]:,.0f} tokens: {more}.")
    return Words(codes, np.array(sentences, dtype=object))
