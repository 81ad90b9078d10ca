"""Steps of the join: every choice of a row becomes its numbers."""

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.inputs import LIST_OF
from calc.scenarios.lookups import catalog_rows, columns_of, find, numbers_in, numbers_of, words_of
from calc.scenarios.problems import Problems, quoted
from calc.scenarios.stacks import ADAPTED, PROJECTIONS, derived_blocks
from calc.table import Words, where

FORMATS = ("bf16", "fp32", "amp")  # of activations, in the order of the coefficient tables
TARGETS = {"attention": ("q", "k", "v", "o"), "all-linear": ADAPTED}
ASSUMED = "assumed"  # the basis of an entry that no published run was held against
# What a precision's weights, gradients and states are; software may hold them in another's form.
OF_STORAGE = ("matrix_bytes_each", "outer_bytes_each", "gradient_bytes_each", "state_bytes_each", "master_bytes_each")


def precision_numbers(precision, catalogs, problems):
    """The numbers of the precision, but for those of what is stored."""
    return _chosen(precision, "precision", catalogs, problems, without=OF_STORAGE)


def optimizer_numbers(optimizer, catalogs, problems):
    """The numbers of the optimizer."""
    return _chosen(optimizer, "optimizer", catalogs, problems)


def sharding_numbers(sharding, catalogs, problems):
    """The numbers of the sharding."""
    return _chosen(sharding, "sharding", catalogs, problems)


def recompute_numbers(recompute, catalogs, problems):
    """The numbers of what is computed again."""
    return _chosen(recompute, "recompute", catalogs, problems)


def implementation_numbers(implementation, catalogs, problems):
    """The numbers of the software: as it trains, as it serves, and as an engine with pages."""
    made = _chosen(implementation, "implementation", catalogs, problems, "implementation_")
    software = _row(catalogs, "implementations", implementation)
    engine, serving = (_matched(catalogs, "implementations", name)[software] for name in ("engines", "serving_engines"))
    made |= columns_of(catalogs, "engines", numbers_in(catalogs, "engines"), engine, "engine_")
    constants = columns_of(catalogs, "serving_engines", numbers_in(catalogs, "serving_engines"), serving, "serving_")
    made |= {name: np.nan_to_num(values) for name, values in constants.items()}
    return made | {"engine_is_assumed": (words_of(catalogs, "engines", "basis") == ASSUMED).astype(float)[engine]}


def computes_all_scores(attention, implementation_eager, catalogs):
    """1 for eager attention, chosen or the only one that the software has. [0 or 1]"""
    return np.maximum(_listed(catalogs, "attention", attention)["computes_all_scores"], implementation_eager)


def compiles(compile, catalogs):
    """1 where the blocks are compiled. [0 or 1]"""
    return _listed(catalogs, "compile", compile)["compiles"]


def logits_of_all(logits, catalogs):
    """1 where logits of the whole prompt are wanted. [0 or 1]"""
    return _listed(catalogs, "logits", logits)["logits_of_all"]


def offload_numbers(offload, catalogs):
    """What is left in CPU memory."""
    return _listed(catalogs, "offload", offload)


def optimizer_kernel_numbers(optimizer_kernel, catalogs):
    """How the optimizer steps."""
    return _listed(catalogs, "optimizer_kernel", optimizer_kernel)


def stored_form(
    precision, implementation_masters_eight_bit, implementation_widens_shards, shards_gradients, gpus, adapts, catalogs
):  # fmt: skip
    """Widths of what is stored: those of the precision, or of the form that it is stored in.

    Software with a master copy and shards widened for training store another form; products keep the precision.
    """
    row = _row(catalogs, "precisions", precision)
    form = np.where(implementation_masters_eight_bit > 0, _forms_of(catalogs, "master_form")[row], row)
    widened = implementation_widens_shards * shards_gradients * (gpus > 1) * (1 - adapts)
    form = np.where(widened > 0, _forms_of(catalogs, "sharded_form")[row], form)
    return columns_of(catalogs, "precisions", OF_STORAGE, form) | {"precision_format": _precision_formats(catalogs)[form]}


def able(work, trains, adapts, precision, implementation, catalogs, problems):
    """No column: a precision or software that cannot do the row's work is a problem."""
    trains, adapts = trains > 0, adapts > 0
    can = columns_of(catalogs, "precisions", ("adapts", "trains", "serves"), _row(catalogs, "precisions", precision))
    allowed = np.where(trains, np.where(adapts, can["adapts"], can["trains"]), can["serves"]) > 0
    problems.add(
        ~allowed & trains & ~adapts,
        lambda row: f"precision {precision.in_row(row)} cannot train all weights; choose tuning lora, or train in bf16-mixed.",
    )
    problems.add(
        ~allowed & trains & adapts,
        lambda row: f"precision {precision.in_row(row)} does not go with LoRA; use bf16, int8, nf4 or nf4-dq for the frozen base.",
    )
    problems.add(
        ~allowed & ~trains, lambda row: f"precision {precision.in_row(row)} is a way to train; serve in bf16, fp8, int8 or a 4-bit format."
    )
    does = columns_of(catalogs, "implementations", ("trains", "serves"), _row(catalogs, "implementations", implementation))
    problems.add(
        ~(trains & (does["trains"] > 0) | ~trains & (does["serves"] > 0)),
        lambda row: f"implementation {implementation.in_row(row)} does not do {work.in_row(row)}; choose transformers.",
    )
    return {}


def blocks_of_software(
    implementation,
    is_decoder,
    stack_family_kind,
    stack_latent_width,
    stack_recurrent_state_elements,
    stack_convolution_state_elements,
    catalogs,
):
    """The kind of block of each stack: its family's, or the software's for all decoders."""
    block = _software_blocks(catalogs)[_row(catalogs, "implementations", implementation)]
    shares = (block >= 0) & (is_decoder > 0) & (stack_latent_width == 0)
    keeps_state = stack_recurrent_state_elements + stack_convolution_state_elements > 0
    kind = np.where(shares & ~keeps_state, block, stack_family_kind)
    return {
        "stack_shares_form": shares,
        "stack_block_unknown": (kind < 0) | (shares & keeps_state),
        "stack_block_derived": (kind >= 0) & derived_blocks(catalogs)[np.maximum(kind, 0)],
        "stack_kind": np.maximum(kind, 0),
    }


def kernel_numbers(precision, catalogs):
    """The numbers of a precision's kernel; without one, numbers that change nothing."""
    row = _matched(catalogs, "precisions", "kernels")[_row(catalogs, "precisions", precision)]
    nothing = {"decode_widens_from": 1.0, "host_ratio": 1.0}
    made = {
        f"kernel_{name}": np.nan_to_num(numbers_of(catalogs, "kernels", name), nan=nothing.get(name, 0.0))[row]
        for name in numbers_in(catalogs, "kernels")
    }
    return made | {"kernel_is_assumed": (words_of(catalogs, "kernels", "basis") == ASSUMED).astype(float)[row]}


def loss(asked_loss, compiles, implementation, catalogs):
    """The loss that the scenario names, else that of the software."""
    software = _row(catalogs, "implementations", implementation)
    plain, compiled = (Words(software, words_of(catalogs, "implementations", name)) for name in ("default_loss", "compiled_loss"))
    return where(asked_loss.are(""), where(compiles > 0, compiled, plain), asked_loss)


def loss_numbers(loss, catalogs):
    """The numbers of the loss: whether it is one with the head, and bytes per logit."""
    made = _listed(catalogs, "loss", loss)
    return {name if name == "fuses_loss" else f"loss_{name}": values for name, values in made.items()}


def reduce_bytes_each(reduce_precision, catalogs):
    """Width of a sharded gradient reduction. [B]"""
    return _width(reduce_precision, 4.0, catalogs)


def asked_adapter_bytes_each(adapter_precision, catalogs):
    """Width of an adapter's parameter as the scenario has it. [B]"""
    return _width(adapter_precision, 4.0, catalogs)


def asked_gradient_bytes_each(gradient_precision, catalogs):
    """Width of kept gradients that the scenario sets; 0 for that of the weights. [B]"""
    return _width(gradient_precision, 0.0, catalogs)


def kv_bytes_each(kv_precision, catalogs):
    """Width of a cached element. [B]"""
    return _width(kv_precision, 2.0, catalogs)


def asks_ties(tie_embeddings):
    """1 to tie embedding and head, 0 not to; NaN as the model does. [0 or 1]"""
    ties = {"yes": 1.0, "no": 0.0}
    return tie_embeddings.numbers(lambda word: ties.get(word, np.nan))


def adapts_matrices(lora_targets, adapts, problems):
    """The matrices that LoRA adapts, as indicators. Shape (matrices, 1, rows)."""
    problems.add(
        ~lora_targets.are(lambda word: word in TARGETS or set(_targets(word)) <= set(PROJECTIONS)) & (adapts > 0),
        lambda row: (
            f"lora_targets '{quoted(lora_targets.in_row(row))}' is not known; use attention, all-linear, or projections such as q+v."
        ),
    )
    return np.stack([lora_targets.are(lambda word, name=name: name in _targets(word)) for name in ADAPTED])[:, None] * adapts


def _targets(word: str) -> tuple[str, ...]:
    return TARGETS.get(word) or tuple(word.split("+"))


def _row(catalogs: Catalogs, name: str, words: Words) -> np.ndarray:
    """Row numbers of words in a catalog; a word that it lacks is a problem and takes row 0."""
    return np.maximum(catalog_rows(catalogs, name, words.vocabulary), 0)[words.codes]


def _chosen(words: Words, column: str, catalogs: Catalogs, problems: Problems, prefix: str = "", without: tuple[str, ...] = ()) -> Columns:
    """All numbers of the chosen entries of a catalog."""
    find(catalogs, f"{column}s", words, problems, column)
    names = tuple(name for name in numbers_in(catalogs, f"{column}s") if name not in without)
    return columns_of(catalogs, f"{column}s", names, _row(catalogs, f"{column}s", words), prefix)


def _listed(catalogs: Catalogs, column: str, words: Words) -> Columns:
    """All numbers of the chosen entries of a closed list."""
    name = LIST_OF[column]
    return columns_of(catalogs, name, numbers_in(catalogs, name), _row(catalogs, name, words))


def _width(words: Words, default: float, catalogs: Catalogs) -> np.ndarray:
    """Bytes of the number formats that are named, the default where none is. [B]"""
    widths, rows = numbers_of(catalogs, "number_formats", "bytes_each"), catalog_rows(catalogs, "number_formats", words.vocabulary)
    unknown = np.where(words.vocabulary == "", default, 0.0)
    return np.where(rows >= 0, widths[rows], unknown)[words.codes]


@kept("implementations", "blocks")
def _software_blocks(catalogs: Catalogs) -> np.ndarray:
    """The block that each implementation has for all decoders, -1 where it has each family's."""
    numbers = {kind: number for number, kind in enumerate(catalogs.blocks)}
    return np.array([numbers.get(kind, -1) for kind in catalogs.implementations["block"]])


@kept("implementations", "engines", "serving_engines", "precisions", "kernels")
def _matched(catalogs: Catalogs, name: str, other: str) -> np.ndarray:
    """The row of each entry in another catalog by the same name, -1 where there is none."""
    return catalog_rows(catalogs, other, getattr(catalogs, name).index)


@kept("precisions")
def _forms_of(catalogs: Catalogs, name: str) -> np.ndarray:
    """The row of the form that each precision names in a column, else that of the precision."""
    named = catalog_rows(catalogs, "precisions", catalogs.precisions[name])
    return np.where(named >= 0, named, np.arange(len(named)))


@kept("precisions")
def _precision_formats(catalogs: Catalogs) -> np.ndarray:
    """The number of each precision's format of activations."""
    return np.array([FORMATS.index(word) for word in catalogs.precisions["format"]])
