"""The classes of earlier_releases.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from calc.catalogs.schemas.kinds import (
    AtLeastOne,
    CatalogFile,
    Entry,
    FilledMap,
    Flag,
    NotNegative,
    PathKey,
    Positive,
    Ratio,
    Release,
    Share,
    Text,
    WholeNumber,
    hint,
)


class EarlierRelease(Entry, kw_only=True):
    """A range of releases of one software."""

    software: Annotated[Text, hint("an implementation")]
    first: Annotated[Release, hint("the first release")]
    last: Annotated[Release, hint("the last release, its patches included")]
    captured_tokens: Annotated[
        AtLeastOne | None, hint("tokens of a sequence up to which a step is replayed")
    ] = None
    expert_tile_tokens: Annotated[
        AtLeastOne | None, hint("tokens of a tile of the experts' products")
    ] = None
    block_scaled_flops_per_second: Annotated[
        Positive | None, hint("most that 8-bit products with a scale per block reach")
    ] = None
    tiled_read_ratio: Annotated[Share | None, hint("share of other reads' bandwidth")] = None
    expert_matmul_ratio: Annotated[Share | None, hint("share of the rate of dense products")] = None
    host_seconds_per_expert: Annotated[NotNegative | None, hint("seconds to launch one expert")] = (
        None
    )
    plain_awq: Annotated[Literal[1] | None, hint("1: AWQ weights have no Marlin kernel")] = None
    repeats_keys: Annotated[
        Ratio | None, hint("share of a group's query heads that read the cache anew")
    ] = None
    expert_read_ratio: Annotated[Share | None, hint("share of other reads' bandwidth")] = None
    sources: Annotated[WholeNumber, hint("a count of independent sources")]
    basis: Annotated[Literal["calibrated", "assumed", "published"], hint("calibrated or assumed")]
    source: Annotated[Text, hint("who published it")]
    block_ratio: Annotated[Positive | None, hint("gaps of a block, of the newest release")] = None
    leaves_graphs_out: Annotated[
        Flag | None, hint("1: CUDA graphs lie beyond the engine's share of the card")
    ] = None
    profiles_whole_prompts: Annotated[
        Flag | None, hint("1: an engine's profile holds a prompt of the longest length at once")
    ] = None
    sorts_logits: Annotated[Flag | None, hint("1: an engine's sampler sorts all logits")] = None
    takes_cut_blocks: Annotated[Flag | None, hint("1: columns that are not whole blocks run")] = (
        None
    )
    sequence_seconds: Annotated[
        NotNegative | None, hint("seconds of a sequence in a decode step")
    ] = None
    request_seconds: Annotated[
        NotNegative | None, hint("seconds from a request's arrival to its first kernel and back")
    ] = None
    ahead_steps: Annotated[
        Positive | None, hint("decode steps before an arrival, half of the running one among them")
    ] = None
    replayed_prompt_tokens: Annotated[
        WholeNumber | None, hint("tokens up to which a pass with prompts in it is replayed")
    ] = None
    piece_seconds: Annotated[
        NotNegative | None, hint("seconds to launch the attention of one block")
    ] = None
    latent_seconds: Annotated[
        NotNegative | None, hint("seconds to launch the attention of one latent block")
    ] = None
    lists_experts: Annotated[Literal[1] | None, hint("1: experts are a list of linear layers")] = (
        None
    )


class File(CatalogFile, kw_only=True):
    """Earlier releases of software, and how they differ from the newest."""

    earlier_releases: FilledMap[PathKey, EarlierRelease]
