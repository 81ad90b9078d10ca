"""The classes of kernels.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from calc.catalogs.schemas.kinds import (
    AtLeastOne,
    CatalogFile,
    Entry,
    FilledMap,
    NotNegative,
    PathKey,
    Share,
    Text,
    WholeNumber,
    hint,
)


class Kernel(Entry, kw_only=True):
    """Cost of one format of quantized matrices."""

    dequantize_bytes_each: Annotated[NotNegative, hint("bytes moved per weight and pass")]
    decode_bytes_each: Annotated[
        NotNegative, hint("bytes moved per weight and decode step of several sequences")
    ]
    decode_widens_from: Annotated[AtLeastOne, hint("sequences from which a decode step widens")]
    buffer_bytes_each: Annotated[
        NotNegative, hint("bytes per weight of the largest matrix, kept as a buffer")
    ]
    host_ratio: Annotated[AtLeastOne, hint("factor on the launch time, at least 1")]
    read_ratio: Annotated[
        Share | None, hint("share of other reads' bandwidth in a serving engine")
    ] = None
    plain_read_ratio: Annotated[
        Share | None, hint("share of other reads' bandwidth, without Marlin")
    ] = None
    replayed_prompt_tokens: Annotated[
        WholeNumber | None, hint("tokens up to which its models ask an engine to replay a pass")
    ] = None
    basis: Annotated[Literal["calibrated", "assumed", "published"], hint("calibrated or assumed")]
    source: Annotated[Text, hint("who published it")]


class File(CatalogFile, kw_only=True):
    """The cost of multiplying with quantized matrices, without the product itself."""

    kernels: FilledMap[PathKey, Kernel]
