"""The classes of trainers.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from calc.catalogs.schemas.kinds import (
    AtLeastOne,
    CatalogFile,
    Count,
    DottedKey,
    Entry,
    Filled,
    FilledMap,
    Flag,
    NotNegative,
    Release,
    Share,
    Text,
    hint,
)


class Trainer(Entry, kw_only=True):
    """Defaults of one software of preference and reward training."""

    software: Annotated[Filled[Text], hint("implementations that it holds for")]
    since: Annotated[Release, hint("the first release; 0: from the first one on")]
    kl_coefficient: Annotated[
        NotNegative,
        hint(
            "weight of the divergence from the reference in GRPO, where none is named; 0: no "
            "reference is loaded"
        ),
    ]
    rollout_share: Annotated[Share, hint("share of the card that a colocated engine takes")]
    sleeps: Annotated[Flag, hint("1: a colocated engine lets go of its memory outside the rollout")]
    leaves_weights: Annotated[
        Flag, hint("1: the policy's weights leave the card while a colocated engine generates")
    ]
    offloads_reference: Annotated[
        Flag, hint("1: FSDP keeps a reference in CPU memory and gathers it block by block")
    ]
    leaves_states: Annotated[Flag, hint("1: so do the optimizer's states")]
    rollout_tensor_parallel: Annotated[Count, hint("GPUs of one copy of the engine")]
    removes_padding: Annotated[
        Flag, hint("1: sequences of a micro-batch are joined without padding")
    ]
    source: Annotated[Text, hint("where the figures come from")]
    refit_bytes_per_second: Annotated[NotNegative, hint("bytes per second")]
    apart_refit_bytes_per_second: Annotated[NotNegative, hint("bytes per second")]
    wake_seconds: Annotated[NotNegative, hint("seconds")]
    loop_ratio: Annotated[AtLeastOne, hint("a step over its phases, dense")]
    loop_experts_ratio: Annotated[AtLeastOne, hint("a step over its phases, with experts")]
    reduces_each: Annotated[Flag, hint("1: gradients are reduced after each micro-batch")]


class File(CatalogFile, kw_only=True):
    """Trainers: the defaults of software of preference and reward training."""

    trainers: Annotated[FilledMap[DottedKey, Trainer], hint("id -> entry, sorted by id")]
