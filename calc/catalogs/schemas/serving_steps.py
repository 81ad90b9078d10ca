"""The classes of serving_steps.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Entry,
    FilledMap,
    Flag,
    NotNegative,
    PathKey,
    Share,
    Text,
    WholeNumber,
    hint,
)


class ServingStep(Entry, kw_only=True):
    """Fixed times of a decode step on one class of card."""

    step_seconds: Annotated[NotNegative, hint("seconds")]
    block_seconds: Annotated[NotNegative, hint("seconds")]
    latent_block_seconds: Annotated[NotNegative, hint("seconds")]
    expert_block_seconds: Annotated[NotNegative, hint("seconds")]
    expert_cast_seconds: Annotated[NotNegative, hint("seconds")]
    sequence_seconds: Annotated[NotNegative, hint("seconds")]
    sequence_block_seconds: Annotated[NotNegative, hint("seconds")]
    all_reduce_seconds: Annotated[NotNegative, hint("seconds")]
    all_reduce_ratio: Annotated[Share, hint("share of the usual rate")]
    expert_tile: Annotated[
        int, Meta(ge=1, le=4096), hint("elements to which the MXFP4 kernel pads experts")
    ]
    casts_mxfp4: Annotated[Flag, hint("1: MXFP4 is multiplied with inputs of 8 bits")]
    tiles_experts: Annotated[Flag, hint("1: grouped 8-bit products in whole tiles run there")]
    release: Annotated[Text, hint("the software that the figures are known from")]
    of_older_release: Annotated[Flag, hint("1: known from a release of 2024 or before")]
    sources: Annotated[WholeNumber, hint("a count of independent sources, 0 where assumed")]
    basis: Annotated[Literal["calibrated", "assumed"], hint("calibrated or assumed")]
    source: Annotated[Text, hint("who published it")]
    shipped_expert_seconds: Annotated[NotNegative, hint("seconds")]
    shipped_launch_seconds: Annotated[NotNegative, hint("seconds")]


class File(CatalogFile, kw_only=True):
    """Time of a replayed decode step without traffic and products, by class of card."""

    serving_steps: FilledMap[PathKey, ServingStep]
