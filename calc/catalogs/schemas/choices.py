"""The classes of choices.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    AtLeastOne,
    CatalogFile,
    Count,
    Entry,
    FilledMap,
    Flag,
    NotNegative,
    Share,
    SnakeName,
    Text,
    WholeNumber,
    hint,
    one_of,
)


class Choice(Entry, kw_only=True):
    """A choice of a closed list."""

    meaning: Annotated[Text, hint("what it is, in words")]


class Attention(Choice, kw_only=True):
    """An attention kernel."""

    computes_all_scores: Annotated[Flag, hint("1: every score is computed and kept")]
    names_flash_2: Annotated[Flag, hint("1: it names FlashAttention 2")]
    names_flash_3: Annotated[Flag, hint("1: it names FlashAttention 3")]
    names_flash_4: Annotated[Flag, hint("1: it names FlashAttention 4")]
    names_cudnn: Annotated[Flag, hint("1: it names cuDNN's kernel")]
    names_sdpa: Annotated[Flag, hint("1: it names PyTorch's own choice")]


class BlockSize(Choice, kw_only=True):
    """A number of instances that a capacity block may have."""

    block_instances: Annotated[Count, hint("instances of one capacity block")]


class BlockKernels(Choice, kw_only=True):
    """The kernels of a block's norms and gates."""

    fuses_blocks: Annotated[
        Flag, hint("1: a norm and a gate are one kernel each; gradients take their inputs' place")
    ]


class Compile(Choice, kw_only=True):
    """Torch.compile, on or off."""

    compiles: Annotated[Flag, hint("1: torch.compile of the blocks")]


class InterruptionBand(Choice, kw_only=True):
    """A band of Spot interruption rates."""

    band_interruption_ratio: Annotated[
        NotNegative, hint("share taken back in a month, the middle of the band")
    ]


class InferenceEngine(Choice, kw_only=True):
    """An engine whose times differ from those of the software that a scenario names."""

    takes_shipped_kernels: Annotated[
        Flag, hint("1: as shipped it runs experts with kernels that were not chosen for the card")
    ]
    expert_launch_seconds: Annotated[
        NotNegative, hint("seconds of the CPU to launch a prompt's pass through experts of a block")
    ]
    block_launch_seconds: Annotated[
        NotNegative, hint("seconds of the CPU, beyond the software's own, to do so for any block")
    ]
    replayed_prompt_tokens: Annotated[
        WholeNumber, hint("tokens up to which a pass with prompts in it is replayed; 0: none is")
    ]
    further_request_seconds: Annotated[
        NotNegative, hint("seconds of a lone request beyond the software's own")
    ]
    fused_gap_ratio: Annotated[
        Share, hint("share of the card's gaps between the kernels of a block without a latent")
    ]
    widened_expert_seconds: Annotated[
        NotNegative, hint("seconds added to a block whose MXFP4 experts are widened to 16 bits")
    ]


class LoadPattern(Choice, kw_only=True):
    """Arrival of requests over the day."""

    in_step: Annotated[Flag, hint("1: all requests begin and end together")]
    shares_passes: Annotated[Flag, hint("1: prompts that follow one another share a pass")]
    in_waves: Annotated[Flag, hint("1: requests that end together are followed together")]


class Loss(Choice, kw_only=True):
    """Computation of the loss from the logits."""

    fuses_loss: Annotated[Flag, hint("1: head and loss together per chunk")]
    forward_bytes_each: Annotated[
        float, Meta(ge=0, le=16), hint("bytes per logit at the forward peak; 0: by kind of head")
    ]
    backward_bytes_each: Annotated[
        float,
        Meta(ge=0, le=16),
        hint("bytes per logit when the backward pass begins; 0: by kind of head"),
    ]
    compiled_bytes_each: Annotated[
        float, Meta(ge=0, le=16), hint("bytes per logit at both with torch.compile; 0: as without")
    ]
    head_gradients: Annotated[
        float, Meta(ge=0, le=4), hint("copies of the head's gradient at the end of the chunks")
    ]
    beside_gradients_bytes_each: Annotated[
        float, Meta(ge=0, le=16), hint("bytes per logit beside these copies")
    ]
    in_place: Annotated[
        Flag,
        hint(
            "1: one kernel on the stored logits, its gradient in their place, as wide as the "
            "software says"
        ),
    ]


class ModelKind(Choice, kw_only=True):
    """A kind of model."""

    is_decoder: Annotated[Flag, hint("1: a decoder alone")]
    is_causal: Annotated[Flag, hint("1: a token attends to earlier ones only")]
    scores_each_token: Annotated[Flag, hint("1: serving scores every token of the prompt")]
    scores_once: Annotated[Flag, hint("1: one set of scores for each image")]
    generates: Annotated[Flag, hint("1: makes tokens one after another")]


class NumberFormat(Choice, kw_only=True):
    """A number format of activations or of the cache."""

    bytes_each: Annotated[NotNegative, hint("bytes per element")]


class Offload(Choice, kw_only=True):
    """A choice of which states move to CPU memory."""

    leaves_activations: Annotated[Flag, hint("1: saved activations in CPU memory")]
    leaves_optimizer: Annotated[Flag, hint("1: optimizer state in CPU memory")]
    leaves_weights: Annotated[Flag, hint("1: weights in CPU memory")]


class OptimizerKernel(Choice, kw_only=True):
    """Launch of an optimizer step."""

    steps_foreach: Annotated[Flag, hint("1: foreach")]
    steps_fused: Annotated[Flag, hint("1: fused")]
    steps_loop: Annotated[Flag, hint("1: loop")]


class SavedModules(Choice, kw_only=True):
    """Modules that LoRA trains in full in addition to its adapters."""

    saves_embedding: Annotated[Flag, hint("1: a trained copy of the embedding")]
    saves_head: Annotated[Flag, hint("1: a trained copy of the head")]


class ScoredLogit(Choice, kw_only=True):
    """The tokens whose logits a prompt needs."""

    logits_of_all: Annotated[Flag, hint("1: of the whole prompt")]


class CompiledSize(Choice, kw_only=True):
    """A size of a compiled model."""

    compiled_bytes_each: Annotated[NotNegative, hint("bytes per token and element")]


class Objective(Choice, kw_only=True):
    """An objective of training."""

    sequences_each: Annotated[
        Literal[1, 2],
        hint("sequences of the forward pass per unit of batch: 2 where the batch counts pairs"),
    ]
    compares_reference: Annotated[
        Flag, hint("1: the loss compares the policy with a reference, always")
    ]
    penalizes_kl: Annotated[Flag, hint("1: it does so where kl_coefficient is above 0")]
    rolls_out: Annotated[Flag, hint("1: answers are generated in every step")]
    trains_value: Annotated[Flag, hint("1: a value model is trained beside the policy")]
    makes_logits: Annotated[Flag, hint("1: the head scores the vocabulary; 0: it gives one number")]
    usual_generations: Annotated[AtLeastOne, hint("answers per prompt where none are named")]
    usual_kl_coefficient: Annotated[
        NotNegative, hint("kl_coefficient where none is named and the library has none of its own")
    ]
    has_answers: Annotated[
        Flag, hint("1: a sequence is a prompt and an answer, half of it where neither is named")
    ]


class File(CatalogFile, kw_only=True):
    """Closed lists of choices, each as numbers."""

    attentions: FilledMap[
        Annotated[str, one_of("cudnn", "eager", "flash", "flash-2", "flash-3", "flash-4", "sdpa")],
        Attention,
    ]
    block_kernels: FilledMap[Annotated[str, one_of("liger", "own")], BlockKernels]
    block_sizes: FilledMap[Annotated[str, Meta(pattern=r"^\d\d$")], BlockSize]
    compiles: FilledMap[Annotated[str, one_of("no", "yes")], Compile]
    inference_engines: FilledMap[
        Annotated[str, one_of("sglang", "tensorrt-llm", "vllm")], InferenceEngine
    ]
    interruption_bands: FilledMap[
        Annotated[str, one_of("10-15%", "15-20%", "5-10%", "<5%", ">20%")], InterruptionBand
    ]
    load_patterns: FilledMap[
        Annotated[str, one_of("in-step", "staggered", "together", "waves")], LoadPattern
    ]
    losses: FilledMap[
        Annotated[str, one_of("chunked", "compiled", "full", "fused", "kernel")], Loss
    ]
    model_kinds: FilledMap[
        Annotated[
            str, one_of("audio", "decoder", "dual", "encoder", "encoder-decoder", "sound", "vision")
        ],
        ModelKind,
    ]
    number_formats: FilledMap[
        Annotated[str, one_of("bf16", "fp16", "fp32", "fp8", "int8")], NumberFormat
    ]
    offloads: FilledMap[
        Annotated[str, one_of("activations", "all", "none", "optimizer", "states")], Offload
    ]
    optimizer_kernels: FilledMap[
        Annotated[str, one_of("foreach", "fused", "loop")], OptimizerKernel
    ]
    saved_modules: FilledMap[
        Annotated[str, one_of("embed_tokens", "embed_tokens-and-lm_head", "lm_head", "none")],
        SavedModules,
    ]
    scored_logits: FilledMap[Annotated[str, one_of("all", "last")], ScoredLogit]
    compiled_sizes: FilledMap[SnakeName, CompiledSize]
    objectives: FilledMap[
        Annotated[
            str,
            one_of(
                "cpo", "dpo", "grpo", "kto", "online-dpo", "orpo", "ppo", "reward", "rloo", "sft"
            ),
        ],
        Objective,
    ]
