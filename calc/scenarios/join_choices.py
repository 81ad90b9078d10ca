"""Steps of the join: each choice of a row becomes its numbers."""

from collections.abc import Callable

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns, reading, variant
from calc.scenarios.inputs import LIST_OF
from calc.scenarios.lookups import (
    assumed_entries,
    catalog_rows,
    columns_of,
    find,
    numbers_of,
    word_rows,
    words_of,
)
from calc.scenarios.problems import Problems
from calc.scenarios.stack_numbers import ADAPTED, PROJECTIONS, block_rows, derived_blocks
from calc.table import Words, where, word

FORMATS = ("bf16", "fp32", "amp")  # of activations, in the order of the coefficient tables
TARGETS = {"attention": ("q", "k", "v", "o"), "all-linear": ADAPTED}
# The widths of a precision's weights, gradients and states; software may store those of another
# precision.
OF_STORAGE = (
    "matrix_bytes_each",
    "outer_bytes_each",
    "gradient_bytes_each",
    "state_bytes_each",
    "master_bytes_each",
)


def _choice(column: str, without: tuple[str, ...] = ()) -> Callable:
    """The step that joins the numbers of the entry that a choice names."""

    @reading([column, "catalogs", "problems"])
    def step(catalogs: Catalogs, problems: Problems, **words: Words) -> Columns:
        find(catalogs, f"{column}s", words[column], problems, column)
        return columns_of(
            catalogs, f"{column}s", _row(catalogs, f"{column}s", words[column]), without=without
        )

    return step


def _listed_choice(column: str) -> Callable:
    """The step that joins the numbers of a choice's entry in a closed list."""

    @reading([column, "catalogs"])
    def step(catalogs: Catalogs, **words: Words) -> Columns:
        return _entry_numbers(catalogs, column, words[column])

    return step


precision_numbers = _choice("precision", without=(*OF_STORAGE, "widens_outputs"))
optimizer_numbers = _choice("optimizer")
sharding_numbers = _choice("sharding")
recompute_numbers = _choice("recompute")
compile_numbers = _listed_choice("compile")
block_kernels_numbers = _listed_choice("block_kernels")
inference_engine_numbers = _listed_choice("inference_engine")
load_pattern_numbers = _listed_choice("load_pattern")
logits_numbers = _listed_choice("logits")
modules_to_save_numbers = _listed_choice("modules_to_save")
offload_numbers = _listed_choice("offload")
optimizer_kernel_numbers = _listed_choice("optimizer_kernel")
speculation_numbers = _listed_choice("speculation")


def running_implementation(implementation, tensor_parallel, pipeline_parallel, catalogs, problems):
    """The software that runs the model: if it is divided, the one that divides for it."""
    find(catalogs, "implementations", implementation, problems, "implementation")
    software = _row(catalogs, "implementations", implementation)
    divider = Words(software, words_of(catalogs, "implementations", "divided_as"))
    divides = ((tensor_parallel > 1) | (pipeline_parallel > 1)) & ~divider.are("")
    return where(divides, divider, implementation)


def implementation_numbers(running_implementation, inference_engine, catalogs):
    """The numbers of the software: in training, in serving, and of the engine it runs."""
    software = _row(catalogs, "implementations", running_implementation)
    numbers = columns_of(catalogs, "implementations", software, "implementation_")
    engine = _row_of_same_name(catalogs, "implementations", "engines")[software]
    serving = np.where(
        numbers["implementation_reserves_share"] > 0,
        _row(catalogs, "serving_engines", inference_engine),
        -1,
    )
    numbers |= columns_of(catalogs, "engines", engine, "engine_")
    numbers |= columns_of(catalogs, "serving_engines", serving, "serving_", missing=0.0)
    return numbers | {"engine_is_assumed": assumed_entries(catalogs, "engines")[engine]}


def computes_all_scores(attention, implementation_eager, catalogs):
    """1 for eager attention, by choice or because the software has no other. [0 or 1]"""
    return np.maximum(
        _entry_numbers(catalogs, "attention", attention)["computes_all_scores"],
        implementation_eager,
    )


def named_kernel_numbers(attention, catalogs):
    """Indicators of the attention kernel that a row names; all 0 if the software chooses."""
    numbers = _entry_numbers(catalogs, "attention", attention)
    return {name: values for name, values in numbers.items() if name.startswith("names_")}


def stored_form(
    precision,
    implementation_masters_eight_bit,
    implementation_widens_shards,
    shards_gradients,
    training_gpus,
    adapts,
    catalogs,
):
    """The widths of what is stored: those of the precision, or of the form that replaces it.

    Software that keeps a master copy, or widens shards for training, stores another form; products
    keep the precision.
    """
    row = _row(catalogs, "precisions", precision)
    form = np.where(
        implementation_masters_eight_bit > 0, _forms_of(catalogs, "master_form")[row], row
    )
    widens = implementation_widens_shards * shards_gradients * (training_gpus > 1) * (1 - adapts)
    form = np.where(widens > 0, _forms_of(catalogs, "sharded_form")[row], form)
    return columns_of(catalogs, "precisions", form, names=OF_STORAGE) | {
        "precision_format": _precision_formats(catalogs)[form]
    }


def able(work, trains, adapts, precision, implementation, catalogs, problems):
    """Refuse a precision or software that cannot do the row's work; makes no column."""
    trains, adapts = trains > 0, adapts > 0
    can = columns_of(
        catalogs,
        "precisions",
        _row(catalogs, "precisions", precision),
        names=("adapts", "trains", "serves"),
    )
    is_allowed = np.where(trains, np.where(adapts, can["adapts"], can["trains"]), can["serves"]) > 0
    problems.add(~is_allowed & trains & ~adapts, "precision-not-for-full", precision=precision)
    problems.add(~is_allowed & trains & adapts, "precision-not-for-lora", precision=precision)
    problems.add(~is_allowed & ~trains, "precision-not-for-serving", precision=precision)
    does = columns_of(
        catalogs,
        "implementations",
        _row(catalogs, "implementations", implementation),
        names=("trains", "serves"),
    )
    problems.add(
        ~(trains & (does["trains"] > 0) | ~trains & (does["serves"] > 0)),
        "work-not-done",
        implementation=implementation,
        work=work,
    )
    return {}


def blocks_of_software(
    running_implementation,
    is_decoder,
    stack_family_kind,
    stack_kind_alone,
    stack_latent_width,
    stack_recurrent_state_elements,
    stack_convolution_state_elements,
    catalogs,
):
    """The block of each stack: the family's, the software's, or any of its kind."""
    block = block_rows(catalogs, "implementations", "block")[
        _row(catalogs, "implementations", running_implementation)
    ]
    shares = (block >= 0) & (is_decoder > 0) & (stack_latent_width == 0)
    keeps_state = stack_recurrent_state_elements + stack_convolution_state_elements > 0
    kind = np.where(shares & ~keeps_state, block, stack_family_kind)
    unknown = (kind < 0) | (shares & keeps_state)
    return {
        "stack_shares_form": shares,
        "stack_block_unknown": unknown,
        "stack_block_derived": ~unknown & derived_blocks(catalogs)[np.maximum(kind, 0)],
        "stack_kind": np.where(unknown, stack_kind_alone, kind),
    }


def block_quantile():
    """The quantile of a kind of blocks for one that was not read off: the median. [0 to 1]"""
    return {"block_quantile": np.full(1, 0.5)}


def kernel_numbers(precision, catalogs):
    """The numbers of a precision's kernel; without one, neutral numbers."""
    row = _row_of_same_name(catalogs, "precisions", "kernels")[
        _row(catalogs, "precisions", precision)
    ]
    neutral = ("decode_widens_from", "host_ratio")
    numbers = columns_of(catalogs, "kernels", row, "kernel_", without=neutral, missing=0.0)
    numbers |= columns_of(catalogs, "kernels", row, "kernel_", names=neutral, missing=1.0)
    return numbers | {"kernel_is_assumed": assumed_entries(catalogs, "kernels")[row]}


def loss(
    asked_loss, compiles, running_implementation, scores_by_release, scoring_fuses_head, catalogs
):
    """The loss of the scenario; by default that of the software or its release."""
    software = _row(catalogs, "implementations", running_implementation)
    plain = Words(software, words_of(catalogs, "implementations", "default_loss"))
    compiled_loss = Words(software, words_of(catalogs, "implementations", "compiled_loss"))
    default = where(compiles > 0, compiled_loss, plain)
    of_release = where(scoring_fuses_head > 0, word("fused"), word("full"))
    return where(asked_loss.are(""), where(scores_by_release > 0, of_release, default), asked_loss)


def loss_numbers(loss, catalogs):
    """The numbers of the loss: whether it is fused with the head, and bytes per logit."""
    numbers = _entry_numbers(catalogs, "loss", loss)
    return {
        name if name == "fuses_loss" else f"loss_{name}": values for name, values in numbers.items()
    }


def _width(column: str, name: str, default: float) -> Callable:
    """The step that joins the width of the number format in a column, or the default."""

    @reading([column, "catalogs"])
    def step(catalogs: Catalogs, **words: Words) -> Columns:
        widths = numbers_of(catalogs, "number_formats", "bytes_each")
        rows = word_rows(catalogs, "number_formats", words[column])
        return {
            name: np.where(rows >= 0, widths[rows], np.where(words[column].are(""), default, 0.0))
        }

    return step


reduce_bytes_each = _width("reduce_precision", "reduce_bytes_each", 4.0)
asked_adapter_bytes_each = _width("adapter_precision", "asked_adapter_bytes_each", 4.0)
# 0: that of the weights.
asked_gradient_bytes_each = _width("gradient_precision", "asked_gradient_bytes_each", 0.0)
kv_bytes_each = _width("kv_precision", "kv_bytes_each", 2.0)


def asks_ties(tie_embeddings):
    """1 to tie embedding and head, 0 not to; NaN: as the model does. [0 or 1]"""
    return tie_embeddings.mapped(lambda word: {"yes": 1.0, "no": 0.0}.get(word, np.nan))


asks_fused_adapters = variant(
    asks_ties,
    rename={"ties": "fused_adapters", "tie_embeddings": "fused_adapters"},
    doc="1 to run adapters in their matrices' kernels, 0 not to; NaN: as the software. [0 or 1]",
)


def is_tuned(engine_flags):
    """1 for an engine whose flags and kernels are chosen for the model and card. [0 or 1]"""
    return engine_flags.are("tuned") * 1.0


def is_extended(context_extension):
    """1 for an engine that stretches the positions of the model. [0 or 1]"""
    return context_extension.are("yarn") * 1.0


def runs_shipped_kernels(is_tuned, takes_shipped_kernels):
    """1 for an engine that runs experts with kernels that nobody chose for the card. [0 or 1]"""
    return (1 - is_tuned) * takes_shipped_kernels


def served_adapters(work, adapters):
    """LoRA adapters on a server, a slot for each on its GPUs. [adapters]"""
    return np.where(work.are("training"), 0.0, np.nan_to_num(adapters))


def adapts_matrices(lora_targets, adapts, served_adapters, problems):
    """The matrices that LoRA adapts, as indicators. Shape (matrices, 1, rows)."""
    problems.add(
        ~lora_targets.are(lambda word: word in TARGETS or set(_targets(word)) <= set(PROJECTIONS))
        & (adapts + served_adapters > 0),
        "lora-targets-unknown",
        lora_targets=lora_targets,
    )
    return np.stack(
        [lora_targets.are(lambda word, name=name: name in _targets(word)) for name in ADAPTED]
    )[:, None] * (adapts + served_adapters > 0)


def _targets(word: str) -> tuple[str, ...]:
    return TARGETS.get(word) or tuple(word.split("+"))


def _row(catalogs: Catalogs, name: str, words: Words) -> np.ndarray:
    """The row of each word in a catalog; an unknown word, which is a problem, has row 0."""
    return np.maximum(word_rows(catalogs, name, words), 0)


def _entry_numbers(catalogs: Catalogs, column: str, words: Words) -> Columns:
    """All numbers of the chosen entries of a closed list."""
    name = LIST_OF[column]
    return columns_of(catalogs, name, _row(catalogs, name, words))


@cached_per_catalogs("implementations", "engines", "serving_engines", "precisions", "kernels")
def _row_of_same_name(catalogs: Catalogs, name: str, other: str) -> np.ndarray:
    """The row of the entry of the same name in another catalog; -1 if there is none."""
    return catalog_rows(catalogs, other, getattr(catalogs, name).index)


@cached_per_catalogs("precisions")
def _forms_of(catalogs: Catalogs, name: str) -> np.ndarray:
    """The row of the precision that each entry names in a column; by default its own."""
    form_rows = catalog_rows(catalogs, "precisions", catalogs.precisions[name])
    return np.where(form_rows >= 0, form_rows, np.arange(len(form_rows)))


@cached_per_catalogs("precisions")
def _precision_formats(catalogs: Catalogs) -> np.ndarray:
    """The index of each precision's format of activations in FORMATS."""
    return np.array([*map(FORMATS.index, catalogs.precisions["format"])])
