"""The classes of serving_engines.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Entry,
    FilledMap,
    Flag,
    Key,
    NotNegative,
    Ratio,
    Text,
    WholeNumber,
    hint,
)


class ServingEngine(Entry, kw_only=True):
    """A serving engine: its share of a card, its defaults and its start-up profile."""

    share: Annotated[
        Ratio, hint("share that it takes unless the scenario says another; 0: it computes its own")
    ]
    share_of: Annotated[Text, hint("what it is a share of, as a sentence says it")]
    leaves_context: Annotated[Flag, hint("1: the share is of what is free beside the context")]
    leaves_model: Annotated[
        Flag, hint("1: the share is of what is free beside weights and profile too")
    ]
    window_pool_ratio: Annotated[
        NotNegative,
        hint("tokens in a pool of layers of a window, over the other layers'; 0: one pool for all"),
    ]
    state_pool_ratio: Annotated[
        NotNegative,
        hint("memory of a pool of recurrent states, over the tokens' pool; 0: one pool for both"),
    ]
    states_each: Annotated[
        float, Meta(ge=1, le=64), hint("states in that pool for each request that runs")
    ]
    profile_beside: Annotated[
        Flag, hint("1: activations and CUDA graphs have the rest of the card, not of the share")
    ]
    reserve_mib: Annotated[NotNegative, hint("MiB that an own share leaves free")]
    reserve_per_token_mib: Annotated[NotNegative, hint("MiB more for each token of a forward pass")]
    reserve_per_graph_sequence_mib: Annotated[
        NotNegative, hint("MiB more for each sequence of the largest CUDA graph")
    ]
    reserve_per_gpu_mib: Annotated[NotNegative, hint("MiB more for each GPU of a model")]
    least_reserve_mib: Annotated[NotNegative, hint("MiB that it leaves free at least")]
    small_graph_sequences: Annotated[
        NotNegative, hint("sequences of the largest CUDA graph on a smaller card")
    ]
    large_graph_sequences: Annotated[NotNegative, hint("the same on a large card")]
    small_parallel_graph_sequences: Annotated[
        NotNegative, hint("on a smaller card with tensor parallel of 4 and more")
    ]
    large_parallel_graph_sequences: Annotated[NotNegative, hint("the same on a large card")]
    marked_cards_small: Annotated[
        Flag, hint("1: cards marked in gpus.yaml get the smaller defaults whatever their memory")
    ]
    large_card_gib: Annotated[
        NotNegative,
        hint("cards from here on get the larger defaults"),
    ]
    small_sequences: Annotated[NotNegative, hint("max_num_seqs on a smaller card")]
    large_sequences: Annotated[NotNegative, hint("max_num_seqs on a large card")]
    small_batched_tokens: Annotated[NotNegative, hint("max_num_batched_tokens on a smaller card")]
    large_batched_tokens: Annotated[NotNegative, hint("max_num_batched_tokens on a large card")]
    sampler_bytes_each: Annotated[
        NotNegative, hint("bytes per logit that the sampler holds beside the logits")
    ]
    sorted_bytes_each: Annotated[
        NotNegative, hint("bytes per logit that sorting them holds besides")
    ]
    graphs_gib: Annotated[NotNegative, hint("GiB of CUDA graphs")]
    graphs_ratio: Annotated[NotNegative, hint("more of them, as a share of the weights")]
    own_gib: Annotated[NotNegative, hint("GiB of its own beside the CUDA context")]
    parallel_own_gib: Annotated[NotNegative, hint("the same with tensor parallel")]
    plain_parallel_own_gib: Annotated[
        NotNegative, hint("the same on cards whose links do not multicast")
    ]
    marlin_expert_tile: Annotated[
        WholeNumber,
        hint(
            "inner width that the fp8 kernel of cards without fp8 divides an expert's evenly by, "
            "0 without a bound"
        ),
    ]
    source: Annotated[Text, hint("where it comes from")]
    huge_card_gib: Annotated[
        float, Meta(ge=0, le=1024), hint("memory from which a card is huge, GiB")
    ]
    huge_batched_tokens: Annotated[
        float, Meta(ge=1, le=1048576), hint("tokens of one forward pass on a huge card")
    ]
    counts_graphs: Annotated[Flag, hint("1: CUDA graphs are inside the share of the card")]


class File(CatalogFile, kw_only=True):
    """Serving engines: what their start-up profile takes."""

    serving_engines: FilledMap[Key, ServingEngine]
