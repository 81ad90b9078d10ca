"""The classes of shardings.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Entry,
    FilledMap,
    Flag,
    Key,
    Text,
    WholeNumber,
    hint,
)


class Sharding(Entry, kw_only=True):
    """A kind of sharding."""

    name: Annotated[Text, hint("the name on screen")]
    shards_optimizer: Annotated[
        Flag,
        hint(
            "1: the data-parallel GPUs divide optimizer state and master weights; 0: each holds "
            "them whole"
        ),
    ]
    shards_gradients: Annotated[
        Flag, hint("1: the data-parallel GPUs divide kept gradients; 0: each holds them whole")
    ]
    shards_weights: Annotated[
        Flag, hint("1: the data-parallel GPUs divide stored weights; 0: each holds them whole")
    ]
    group_gpus: Annotated[
        WholeNumber,
        hint(
            "data-parallel GPUs that divide among themselves, each group a replica of the "
            "others; 0: all of them"
        ),
    ]
    meaning: Annotated[Text, hint("one sentence for the screen")]


class File(CatalogFile, kw_only=True):
    """Shardings: what is divided over the data-parallel GPUs (1) or held whole (0)."""

    shardings: Annotated[FilledMap[Key, Sharding], hint("id -> entry, sorted by id")]
