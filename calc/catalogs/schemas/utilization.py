"""The classes of utilization.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Entry,
    FilledMap,
    FilledSet,
    PathKey,
    Positive,
    Share,
    Text,
    hint,
)


class CardClass(Entry, kw_only=True):
    """A class of cards and what it reaches."""

    gpus: Annotated[
        FilledSet[Annotated[Text, hint("an id of gpus.yaml")]], hint("ids of gpus.yaml, in a list")
    ]
    matmul_ratio: Annotated[
        Share, hint("share of the dense rate in 16-bit products, between 0 and 1")
    ]
    narrow_matmul_ratio: Annotated[
        Share, hint("share of the dense rate in 8- and 4-bit products, between 0 and 1")
    ]
    fp32_matmul_ratio: Annotated[
        Share, hint("share of the dense rate in 32-bit products, between 0 and 1")
    ]
    attention_ratio: Annotated[
        Share, hint("share of the dense 16-bit rate in flash attention, between 0 and 1")
    ]
    prefill_attention_ratio: Annotated[
        Share, hint("share of the dense 16-bit rate in forward flash attention, between 0 and 1")
    ]
    node_gpus: Annotated[Positive, hint("GPUs of a usual node")]
    node_network_bytes_per_second: Annotated[
        Positive, hint("bytes per second of a usual node's network")
    ]
    basis: Annotated[Literal["calibrated", "assumed"], hint("calibrated or assumed")]
    source: Annotated[Text, hint("who published it")]
    flash_2_ratio: Annotated[
        Share, hint("share of the dense 16-bit rate in FlashAttention 2, forward and backward")
    ]
    flash_3_ratio: Annotated[
        Share, hint("share of the dense 16-bit rate in FlashAttention 3, forward and backward")
    ]
    flash_4_ratio: Annotated[
        Share, hint("share of the dense 16-bit rate in FlashAttention 4, forward and backward")
    ]
    cudnn_ratio: Annotated[
        Share, hint("share of the dense 16-bit rate in cuDNN's kernel, forward and backward")
    ]


class File(CatalogFile, kw_only=True):
    """Utilization: the share of its data sheet that each class of card reaches."""

    utilization: FilledMap[PathKey, CardClass]
