"""The classes of precisions.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from calc.catalogs.schemas.kinds import (
    BytesEach,
    CatalogFile,
    Entry,
    FilledMap,
    FilledSet,
    Flag,
    Key,
    Text,
    WholeNumber,
    hint,
)


class Defaults(Entry, kw_only=True):
    """The precisions of scenarios that name none."""

    full_training: Annotated[Key, hint("an id of this file, taken for training all weights")]
    adapters: Annotated[Key, hint("an id of this file, taken for weights under adapters")]
    inference: Annotated[Key, hint("an id of this file, taken for inference")]


class Precision(Entry, kw_only=True):
    """A precision: how weights, gradients and states are stored."""

    name: Annotated[Text, hint("the name on screen")]
    trains: Annotated[bool, hint("true where full training is offered")]
    adapts: Annotated[bool, hint("true where it may be the frozen base of LoRA")]
    serves: Annotated[bool, hint("true where inference is offered")]
    format: Annotated[
        Literal["bf16", "fp32", "amp"],
        hint("which activation coefficients of blocks.yaml apply: bf16, fp32, amp"),
    ]
    matrix_bytes_each: Annotated[
        BytesEach, hint("bytes per weight of linear layers and experts, scales included")
    ]
    outer_bytes_each: Annotated[
        BytesEach, hint("bytes per weight of embedding, head, norms and biases")
    ]
    gradient_bytes_each: Annotated[BytesEach, hint("bytes per gradient")]
    state_bytes_each: Annotated[BytesEach, hint("bytes per element of one optimizer state")]
    master_bytes_each: Annotated[
        BytesEach, hint("bytes per element of the fp32 copy that the optimizer keeps; 0 if none")
    ]
    compute_bytes_each: Annotated[BytesEach, hint("bytes per element in which products are taken")]
    autocast_bytes_each: Annotated[
        BytesEach,
        hint("bytes per element of the copy that autocast or a cast to fp8 keeps; 0 if none"),
    ]
    widens_outputs: Annotated[Flag, hint("1: a training gets logits in fp32")]
    dequantized_bytes_each: Annotated[
        BytesEach, hint("bytes per element to which one matrix at a time is widened; 0 if none")
    ]
    kept_input_bytes_each: Annotated[
        BytesEach, hint("bytes per input element held beside what autograd saves; 0 if none")
    ]
    quality_note: Annotated[Text, hint("what the choice costs in quality, in words")]
    serving_quality_note: Annotated[Text, hint("what it costs where it only serves, if less")] = ""
    quality_source: Annotated[
        Text | None, hint("who measured it, for example Dettmers et al. 2023, arXiv 2305.14314")
    ] = None
    meaning: Annotated[Text, hint("one sentence for the screen")]
    experts_only: Annotated[
        Flag, hint("1: of a model with experts, their matrices alone are in this format")
    ]
    leaves_stacked_experts: Annotated[Flag, hint("1: experts that are one tensor stay in 16 bits")]
    group_elements: Annotated[
        WholeNumber, hint("inputs of a matrix that share a scale, 0 without a bound")
    ]
    tiles_experts: Annotated[
        Flag, hint("1 where engines pad the matrices of experts to whole tiles")
    ]
    computes_bf16: Annotated[Flag, hint("1: products are taken in bf16")]
    stores_head: Annotated[Flag, hint("1: checkpoints hold the head apart even where it is tied")]
    master_form: Annotated[
        str | None,
        hint("an id of this catalog: what these products stand on in software with a master copy"),
    ] = None
    sharded_form: Annotated[
        str | None, hint("the precision that it stands on in shards widened to fp32; empty: itself")
    ] = None
    stored_as: Annotated[
        FilledSet[Text] | None,
        hint(
            "how a config's quantization_config says that weights are stored so: method, kind, "
            "bits, group"
        ),
    ] = None
    without_bf16: Annotated[Key | None, hint("the id of as many bits for cards without bf16")] = (
        None
    )
    tried_for: Annotated[
        FilledSet[
            Literal[
                "full",
                "full in 8 bits",
                "lora",
                "qlora",
                "serving in 16 bits",
                "serving in 8 bits",
                "serving in 4 bits",
            ]
        ]
        | None,
        hint("the work for which the search tries it without being asked"),
    ] = None


class File(CatalogFile, kw_only=True):
    """Precisions: how numbers are stored, in bytes per element."""

    defaults: Annotated[Defaults, hint("the ids taken when a scenario names none")]
    precisions: Annotated[FilledMap[Key, Precision], hint("id -> entry, sorted by id")]
