"""The classes of recomputes.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from calc.catalogs.schemas.kinds import CatalogFile, Entry, FilledMap, Flag, Key, Ratio, Text, hint


class Recompute(Entry, kw_only=True):
    """A kind of activation checkpointing."""

    name: Annotated[Text, hint("the name on screen")]
    keeps_all: Annotated[Flag, hint("1: all that autograd saves is kept")]
    drops_attention: Annotated[Flag, hint("1: the core of attention is computed again")]
    keeps_products: Annotated[
        Flag, hint("1: attention outputs and every second matrix product are kept")
    ]
    keeps_input: Annotated[Flag, hint("1: only the input of each block is kept")]
    extra_forward_ratio: Annotated[Ratio, hint("share of the forward pass computed again, 0 to 1")]
    meaning: Annotated[Text, hint("one sentence for the screen")]


class File(CatalogFile, kw_only=True):
    """Recomputes: what each block keeps for the backward pass."""

    recomputes: Annotated[FilledMap[Key, Recompute], hint("id -> entry, sorted by id")]
