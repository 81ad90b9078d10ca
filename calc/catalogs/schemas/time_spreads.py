"""The classes of time_spreads.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from msgspec import field

from calc.catalogs.schemas.kinds import (
    AtLeastOne,
    CatalogFile,
    Confidence,
    Entry,
    Share,
    Text,
    WholeNumber,
    hint,
)


class Spread(Entry, kw_only=True):
    """A factor on each end of the range of a time."""

    low_ratio: Annotated[Share, hint("factor on the fast end, between 0 and 1")]
    high_ratio: Annotated[AtLeastOne, hint("factor on the slow end, at least 1")]
    runs: Annotated[WholeNumber, hint("a count of published figures")]
    meaning: Annotated[Text, hint("when a row lies in the corner")]
    basis: Confidence
    source: Annotated[Text, hint("who published it")]


class Corners(Entry, kw_only=True):
    """The corners, each with its spread."""

    as_shipped: Spread = field(name="as-shipped")
    assumed_card: Spread = field(name="assumed-card")
    assumed_kernel: Spread = field(name="assumed-kernel")
    assumed_software: Spread = field(name="assumed-software")
    cast_to_8_bits: Spread = field(name="cast-to-8-bits")
    context_parallel: Spread = field(name="context-parallel")
    encoding: Spread
    experts_8_bit: Spread = field(name="experts-8-bit")
    experts_adapters: Spread = field(name="experts-adapters")
    experts_earlier: Spread = field(name="experts-earlier")
    experts_serving: Spread = field(name="experts-serving")
    experts_training: Spread = field(name="experts-training")
    few_tokens: Spread = field(name="few-tokens")
    first_token: Spread = field(name="first-token")
    full_cache: Spread = field(name="full-cache")
    latent_prompt: Spread = field(name="latent-prompt")
    long_cache: Spread = field(name="long-cache")
    many_gpus: Spread = field(name="many-gpus")
    many_sequences: Spread = field(name="many-sequences")
    offload: Spread
    older_release: Spread = field(name="older-release")
    one_source: Spread = field(name="one-source")
    other_kind: Spread = field(name="other-kind")
    plain_serving: Spread = field(name="plain-serving")
    served_adapters: Spread = field(name="served-adapters")
    shared_experts: Spread = field(name="shared-experts")
    short_prompt: Spread = field(name="short-prompt")
    speculation: Spread
    state_prompt: Spread = field(name="state-prompt")
    state_training: Spread = field(name="state-training")
    unknown_kernel: Spread = field(name="unknown-kernel")


class File(CatalogFile, kw_only=True):
    """Factors that widen the range of a time in corners that few runs show."""

    time_spreads: Corners
