"""The classes of engines.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    AtLeastOne,
    CatalogFile,
    Entry,
    FilledMap,
    Flag,
    NotNegative,
    PathKey,
    Positive,
    Share,
    Text,
    WholeNumber,
    hint,
)


class Engine(Entry, kw_only=True):
    """Speed of one software."""

    matmul_ratio: Annotated[Share, hint("factor on the card's products, between 0 and 1")]
    narrow_matmul_ratio: Annotated[Share, hint("further factor in 8-bit products, between 0 and 1")]
    hopper_matmul_ratio: Annotated[
        float, Meta(gt=0, le=2), hint("further factor in 16-bit products on Hopper, up to 2")
    ]
    expert_matmul_ratio: Annotated[
        Share, hint("further factor on the products of routed experts, between 0 and 1")
    ]
    attention_ratio: Annotated[
        float, Meta(gt=0, le=2), hint("factor on the card's attention, between 0 and 2")
    ]
    context_attention_ratio: Annotated[
        Share, hint("share kept under context parallelism, between 0 and 1")
    ]
    element_passes: Annotated[Positive, hint("times an output moves through memory")]
    adapter_element_passes: Annotated[Positive, hint("the same with LoRA")]
    cast_bytes_each: Annotated[NotNegative, hint("bytes moved per element cast to 8 bits")]
    host_seconds_per_block: Annotated[NotNegative, hint("seconds")]
    host_seconds_per_expert: Annotated[NotNegative, hint("seconds")]
    host_seconds_per_routed_block: Annotated[NotNegative, hint("seconds")]
    expert_pass_seconds: Annotated[
        float,
        Meta(ge=0, le=0.01),
        hint("least time of one pass of one expert in 8 bits, in seconds"),
    ]
    device_seconds_per_block: Annotated[NotNegative, hint("seconds")]
    seconds_per_sequence: Annotated[NotNegative, hint("seconds")]
    bandwidth_ratio: Annotated[
        Share, hint("share of memory bandwidth in a decode step, between 0 and 1")
    ]
    request_seconds: Annotated[NotNegative, hint("seconds")]
    cache_copies: Annotated[NotNegative, hint("times the cache is copied in a decode step")]
    cache_passes: Annotated[Positive, hint("times the cache is read in a decode step")]
    repeats_keys: Annotated[Flag, hint("1: grouped heads are widened before attention")]
    replays_steps: Annotated[Flag, hint("1: a decode step is one CUDA graph")]
    loops_experts: Annotated[Flag, hint("1: every expert is launched in a decode step")]
    merges_experts: Annotated[Flag, hint("1: experts are merged with their adapters")]
    recompute_stops_early: Annotated[Flag, hint("1: recompute leaves out the last product")]
    sends_once_per_island: Annotated[Flag, hint("1: a token goes to each other node once")]
    gathers_ahead: Annotated[Flag, hint("1: the next forward pass hides a gather of weights")]
    interleaves_stages: Annotated[Flag, hint("1: pipeline stages are interleaved")]
    time_low_ratio: Annotated[Share, hint("fast end of the range, between 0 and 1")]
    time_high_ratio: Annotated[AtLeastOne, hint("slow end of the range, at least 1")]
    sources: Annotated[WholeNumber, hint("a count of independent sources, 0 where assumed")]
    release: Annotated[Text, hint("the releases that the figures are known from")]
    basis: Annotated[Literal["calibrated", "assumed"], hint("calibrated or assumed")]
    source: Annotated[Text, hint("who published it")]
    takes_flash_package: Annotated[Flag, hint("1: attention is the flash-attn package")]
    takes_cudnn: Annotated[Flag, hint("1: attention is cuDNN's where the card has its own")]
    fused_adapters: Annotated[Flag, hint("1: adapters run inside the kernels of their matrices")]


class File(CatalogFile, kw_only=True):
    """Speed of the software that trains or serves."""

    engines: FilledMap[PathKey, Engine]
