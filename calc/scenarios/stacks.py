"""Numbers of models and of their stacks of blocks, kept with their catalogs."""

import numpy as np
import pandas as pd

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.scenarios.lookups import numbers_of

SIDES = ("tokens", "source", "fixed")
FIXED_SIDE = SIDES.index("fixed")  # of images and sound
PROJECTIONS = ("q", "k", "v", "o", "gate", "up", "down")
ADAPTED = (*PROJECTIONS, "mixer", "beside", "router", "experts")  # the matrices that all-linear adapts


@kept("models", "model_kinds")
def kind_numbers(catalogs: Catalogs, name: str) -> np.ndarray:
    """A column of each model's kind; 0 for a model without a kind."""
    kinds = catalogs.model_kinds.index.get_indexer(catalogs.models["kind"])
    return np.nan_to_num(numbers_of(catalogs, "model_kinds", name)[kinds])


@kept("models", "stacks", "implementations", "blocks")
def block_rows(catalogs: Catalogs, table: str, column: str) -> np.ndarray:
    """The number of the kind of block that each entry of a catalog names, -1 for none."""
    return np.asarray(pd.Index([*catalogs.blocks]).get_indexer(getattr(catalogs, table)[column]))


@kept("stacks")
def stack_numbers(catalogs: Catalogs, name: str) -> np.ndarray:
    """A column of the stacks; its last entry is 0, for a stack that a model lacks."""
    return np.nan_to_num(numbers_of(catalogs, "stacks", name), nan=0.0, posinf=np.inf)


@kept("stacks")
def adapter_widths(catalogs: Catalogs, way: str) -> np.ndarray:
    """The width in or out of each matrix that LoRA adapts. Shape (matrices, stacks). [elements]"""
    return np.stack([stack_numbers(catalogs, f"adapter_{matrix}_{way}") for matrix in ADAPTED])


@kept("blocks")
def derived_blocks(catalogs: Catalogs) -> np.ndarray:
    """Whether the sizes of each kind of block are derived from the source of its kernels."""
    return np.array([block["source"].startswith("derived from source") for block in catalogs.blocks.values()])


@kept("models", "stacks", "blocks")
def stack_rows(catalogs: Catalogs) -> tuple[np.ndarray, ...]:
    """Each model's first stack and number of stacks; each stack's side and block, -1 for none."""
    models, stacks = catalogs.models, catalogs.stacks
    owner = models.index.get_indexer(stacks["model"])
    depth = np.bincount(owner, minlength=len(models))
    first = np.full(len(models), -1)
    first[owner[::-1]] = np.arange(len(owner))[::-1]
    side = np.append([SIDES.index(word) for word in stacks["side"]], 0)
    return first, depth, side, np.append(block_rows(catalogs, "stacks", "block"), 0)
