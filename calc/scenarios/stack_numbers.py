"""Numbers of models and of their stacks of blocks, kept with their catalogs."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.scenarios.lookups import numbers_of

SIDES = ("tokens", "source", "fixed")
FIXED_SIDE = SIDES.index("fixed")  # of images and sound
PROJECTIONS = ("q", "k", "v", "o", "gate", "up", "down")
TRAITS_OF_DECODERS = {  # the kind of block that each trait of a decoder's family names
    **dict.fromkeys(("block", "alone_block", "shared_block", "sparse_block"), "dense"),
    **dict.fromkeys(("moe_block", "both_block"), "experts"),
    **dict.fromkeys(("linear_block", "linear_moe_block"), "state"),
}
TRAITS_OF_OTHERS = {"block": "encoder", "encoder_block": "encoder"}
KINDS = (*dict.fromkeys(TRAITS_OF_DECODERS.values()), "crossed", "encoder")
# The matrices that all-linear adapts.
ADAPTED = (*PROJECTIONS, "mixer", "beside", "router", "experts")


class StackRows(NamedTuple):
    """The stacks of blocks of every model, and what each stack is.

    `first_stack` (-1 without stacks) and `stack_count` have the shape (models,); the stacks of a
    model follow each other. The others have one value per stack and a last one for no stack: `side`
    is a position in SIDES, and `block` a row of the blocks or -1.
    """

    first_stack: np.ndarray
    stack_count: np.ndarray
    side: np.ndarray
    block: np.ndarray
    kind: np.ndarray


@cached_per_catalogs("models", "model_kinds")
def kind_numbers(catalogs: Catalogs, name: str) -> np.ndarray:
    """A column of each model's kind, 0 without a kind; what has no head of words generates none."""
    models = catalogs.models
    kinds = catalogs.model_kinds.index.get_indexer(models["kind"])
    writes = (models["outputs"] >= models["vocab"]).to_numpy() if name == "generates" else 1
    return np.nan_to_num(numbers_of(catalogs, "model_kinds", name)[kinds]) * writes


@cached_per_catalogs("models", "stacks", "implementations", "blocks")
def block_rows(catalogs: Catalogs, table: str, column: str) -> np.ndarray:
    """The number of the kind of block that each entry of a catalog names, -1 for none."""
    return np.asarray(pd.Index([*catalogs.blocks]).get_indexer(getattr(catalogs, table)[column]))


@cached_per_catalogs("stacks")
def stack_numbers(catalogs: Catalogs, name: str) -> np.ndarray:
    """A column of the stacks; its last entry is 0, for a stack that a model lacks."""
    return np.nan_to_num(numbers_of(catalogs, "stacks", name), nan=0.0, posinf=np.inf)


@cached_per_catalogs("stacks")
def adapter_widths(catalogs: Catalogs, way: str) -> np.ndarray:
    """The width in or out of each matrix that LoRA adapts. Shape (matrices, stacks). [elements]"""
    return np.stack([stack_numbers(catalogs, f"adapter_{matrix}_{way}") for matrix in ADAPTED])


@cached_per_catalogs("blocks")
def derived_blocks(catalogs: Catalogs) -> np.ndarray:
    """Return for each kind of block whether its sizes are derived from its kernels' source."""
    return np.array(["derived" in block for block in catalogs.blocks.values()])


@cached_per_catalogs("families", "blocks")
def blocks_of_kinds(catalogs: Catalogs) -> list[list[str]]:
    """Return for each of KINDS the blocks of the catalog that its families name."""
    blocks: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for traits in catalogs.families.values():
        two_sided = {"block": "crossed"} if traits["kind"] in ("encoder-decoder", "audio") else {}
        kinds = TRAITS_OF_DECODERS if traits["kind"] == "decoder" else TRAITS_OF_OTHERS | two_sided
        for trait, kind in kinds.items():
            blocks[kind] |= {traits[trait]} & catalogs.blocks.keys()
    return [sorted(blocks[kind]) for kind in KINDS]


@cached_per_catalogs("models", "stacks", "blocks")
def kind_rows(catalogs: Catalogs) -> np.ndarray:
    """The number of each stack's kind among the coefficients, behind the catalog's blocks."""
    models, stacks = catalogs.models, catalogs.stacks
    has_cross_attention = stacks["cross_attention"] > 0
    encodes = (
        ~has_cross_attention & (models["kind"].reindex(stacks["model"]) != "decoder").to_numpy()
    )
    state = stacks["recurrent_state_elements"] + stacks["convolution_state_elements"] > 0
    holds = {
        "crossed": has_cross_attention,
        "encoder": encodes,
        "state": state,
        "experts": stacks["experts"] > 0,
    }
    return len(catalogs.blocks) + np.select(
        [*holds.values()], [KINDS.index(kind) for kind in holds]
    )


@cached_per_catalogs("models", "stacks", "blocks")
def stack_rows(catalogs: Catalogs) -> StackRows:
    """Return which stacks each model has, and the catalogs' rows that each stack names."""
    models, stacks = catalogs.models, catalogs.stacks
    model_of_stack = models.index.get_indexer(stacks["model"])
    first_stack = np.full(len(models), -1)
    # Of several assignments to one model the last counts, so the stacks go backward.
    first_stack[model_of_stack[::-1]] = np.arange(len(model_of_stack))[::-1]
    return StackRows(
        first_stack=first_stack,
        stack_count=np.bincount(model_of_stack, minlength=len(models)),
        side=np.append([SIDES.index(word) for word in stacks["side"]], 0),
        block=np.append(block_rows(catalogs, "stacks", "block"), 0),
        kind=np.append(kind_rows(catalogs), 0),
    )
