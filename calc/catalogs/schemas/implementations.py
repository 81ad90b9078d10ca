"""The classes of implementations.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    BytesEach,
    CatalogFile,
    Entry,
    FilledMap,
    Flag,
    Key,
    NotNegative,
    Text,
    WholeNumber,
    hint,
)


class Implementation(Entry, kw_only=True):
    """A software that trains or serves."""

    name: Annotated[Text, hint("the name on screen")]
    trains: Annotated[bool, hint("true where it trains")]
    serves: Annotated[bool, hint("true where it serves")]
    default_loss: Annotated[
        Literal["full", "kernel", "fused", "chunked"],
        hint("the loss taken when the scenario names none"),
    ]
    fuses_norms: Annotated[Flag, hint("1: no fp32 copy in a norm")]
    masks_window: Annotated[Flag, hint("1: a sliding window builds a mask")]
    unties_head: Annotated[Flag, hint("1: embedding and head are never shared")]
    gradient_bytes_each: Annotated[BytesEach, hint("bytes per gradient; 0: as the precision says")]
    fsdp: Annotated[Flag, hint("1: sharding gathers block by block")]
    groups_ends: Annotated[Flag, hint("1: embedding and head are FSDP groups of their own")]
    groups_experts: Annotated[
        Flag, hint("1: routed experts are an FSDP group of their own under expert parallel")
    ]
    parallel_simulated: Annotated[
        Flag,
        hint(
            "1: its parallel layouts beside one another were followed storage by storage, or "
            "divide as torchtitan's do"
        ),
    ]
    bucket_elements: Annotated[
        WholeNumber, hint("elements of the reduce bucket; 0 if there is none")
    ]
    live_elements: Annotated[
        WholeNumber,
        hint("elements of gathered weights that stay on the GPU (ZeRO 3); 0 if none do"),
    ]
    splits_sequence: Annotated[Flag, hint("1: tensor parallel divides norms and residual stream")]
    regathers_norms: Annotated[
        Flag,
        hint("1: divided norms keep no gathered output and gather it again in the backward pass"),
    ]
    splits_vocabulary: Annotated[
        Flag, hint("1: tensor parallel divides embedding, head and logits")
    ]
    adapter_bytes_each: Annotated[
        BytesEach, hint("bytes per adapter weight; 0: as adapter_precision says")
    ]
    autocasts_shards: Annotated[Flag, hint("1: autocast stays on over sharded weights")]
    accumulates_unsharded: Annotated[
        Flag, hint("1: FSDP keeps whole gradients between micro-batches")
    ]
    embedding_state_in_fp32: Annotated[
        Flag, hint("1: 8-bit optimizers keep the state of embeddings in fp32")
    ]
    pages_tokens: Annotated[
        WholeNumber, hint("tokens per cache block; 0: the cache grows token by token")
    ]
    reserves_share: Annotated[
        Flag, hint("1: a serving engine, which takes the share of serving_engines.yaml")
    ]
    sentence: Annotated[Text, hint("one sentence for the screen")]
    decoders_only: Annotated[Flag, hint("1: encoders are neither served nor trained")]
    block: Annotated[
        str,
        hint(
            "an id of software_blocks.yaml: its one block for all decoders; empty: the class of "
            "each family"
        ),
    ]
    divided_as: Annotated[
        str,
        hint(
            "an id of this file: whose blocks and speed it has under tensor or pipeline parallel; "
            "empty: its own"
        ),
    ] = ""
    compiled_loss: Annotated[
        Literal["full", "kernel", "fused", "chunked", "compiled"],
        hint("the loss taken with compile when the scenario names none"),
    ]
    holds_outputs: Annotated[Flag, hint("1: outputs are turned to fp32 and held by the loop")]
    accumulates: Annotated[Flag, hint("1: its recipes keep gradients into the next forward pass")]
    fuses_adapters: Annotated[
        Flag,
        hint("1: one adapter for queries, keys and values, with dropout on each adapter's input"),
    ]
    wide_quantized_head: Annotated[
        Flag, hint("1: beside 4-bit matrices the output head stands in 4 bytes per element")
    ]
    widens_gradients: Annotated[Flag, hint("1: an fp32 copy of the own gradient shard at the step")]
    adds_in_place: Annotated[Flag, hint("1: products add into the gradients' own buffer")]
    in_place_bytes_each: Annotated[
        float, Meta(ge=0, le=16), hint("bytes per logit of a loss in one kernel")
    ]
    masters_eight_bit: Annotated[
        Flag, hint("1: fp8 products stand on 16-bit weights with an fp32 master copy")
    ]
    eager: Annotated[Flag, hint("1: attention computes all scores")]
    fuses_at_load: Annotated[Flag, hint("1: queries, keys and values are fused while loading")]
    simulated: Annotated[Flag, hint("1: followed storage by storage")]
    measured: Annotated[Flag, hint("1: published runs of it stand beside the estimate")]
    torch_pipeline: Annotated[
        Flag,
        hint(
            "1: pipelines of torch.distributed.pipelining, with a receive buffer for every "
            "micro-batch; 0: the software's own, which frees what it has sent"
        ),
    ]
    widens_shards: Annotated[Flag, hint("1: FSDP turns trained weights to fp32 shards")]
    releases: Annotated[Text, hint("the releases that its rules are known from")]
    compiles_blocks: Annotated[
        Flag,
        hint(
            "1: a setting of its own compiles the blocks, which answers try where all batches "
            "have one length"
        ),
    ]
    advised: Annotated[
        Flag, hint("1: advice on training in other software says what this one saves")
    ]
    divides_experts: Annotated[
        Flag,
        hint("1: a setting of its own divides experts over GPUs in training, which answers try"),
    ]
    usual_tensor_parallel: Annotated[
        Flag,
        hint(
            "1: its recipes train with tensor parallel, so answers try it unasked; 0: only where "
            "a job sets it"
        ),
    ]
    context_parallel: Annotated[Flag, hint("1: it can divide a sequence over GPUs")]
    divides_states: Annotated[
        Flag, hint("1: context parallel divides sequences of layers that keep a state")
    ]
    stacks_experts: Annotated[
        Flag, hint("1: experts are one tensor that bitsandbytes leaves in 16 bits")
    ]
    flattens_shards: Annotated[Flag, hint("1: FSDP1 reserves flat gradients of its own")]
    held_output_bytes_each: Annotated[
        NotNegative, hint("bytes per logit of fp32 outputs that the loop holds")
    ]


class File(CatalogFile, kw_only=True):
    """Implementations: the software around the model, as numbers."""

    implementations: Annotated[FilledMap[Key, Implementation], hint("id -> entry, sorted by id")]
