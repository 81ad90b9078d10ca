"""Inputs joined with the catalogs: every choice of a row becomes its numbers."""

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.inputs import ASSUMPTIONS, LIST_OF
from calc.scenarios.join_places import ASSUMED, join_places
from calc.scenarios.join_rest_of_bill import join_rest_of_bill
from calc.scenarios.join_stacks import derived_blocks, kind_numbers, stack_numbers, stack_rows, tower_kinds
from calc.scenarios.lookups import columns_of, find, numbers_in, numbers_of, row_numbers, rows_of, words_of
from calc.scenarios.problems import Problems, quoted
from calc.scenarios.releases import join_release
from calc.scenarios.stored_precision import usual_precision
from calc.table import Words, where

FORMATS = ("bf16", "fp32", "amp")  # of activations, in the order of the coefficient tables
PROJECTIONS = ("q", "k", "v", "o", "gate", "up", "down")
ADAPTED = (*PROJECTIONS, "router", "mixer", "beside", "experts")  # all that `all-linear` reaches
TARGETS = {"attention": ("q", "k", "v", "o"), "all-linear": ADAPTED}

TIED_COUNTS = ("parameters", "active_parameters", "head_parameters", "tied", "always_tied", "outside_parameters")  # joined as model_<name>
MODEL_COLUMNS = (
    *("layers", "hidden", "heads", "kv_heads", "head_dim", "vocab"),
    "embedding_parameters",
    "outside_adapter_width",
    "layer_inputs_width",
    "outputs",
    "softcap",
    "fixed_tokens",
    "hidden_dropout",
    "attention_dropout",
    "rms_norms",
    "recurrent_bytes_each",
    "longest_sequence_tokens",
    *("left_out_parameters", "patches_per_image_token", "usual_image_tokens", "tower_linear_parameters", "total_parameters"),
    *("tower_layers", "tower_full_layers", "tower_window_tokens", "tower_hidden", "tower_heads", "tower_ffn"),
)
STACK_COLUMNS = (
    "layers",
    "hidden",
    "query_width",
    "key_width",
    "value_width",
    "ffn_width",
    "heads",
    "kv_heads",
    "window_tokens",
    "experts",
    "experts_per_token",
    "expert_ffn_width",
    "shared_ffn_width",
    "latent_width",
    "query_latent_width",
    "read_elements_per_token",
    "cached_elements_per_token",
    "recurrent_state_elements",
    "convolution_state_elements",
    "mixer_in_width",
    "mixer_inputs",
    "convolution_channels",
    "mixer_width",
    "mixer_heads",
    "state_group_width",
    "state_key_width",
    "per_layer_width",
    "expert_latent",
    "cross_cached_elements_per_token",
    "cross_attention",
    "block_parameters",
    "block_linear_parameters",
    "block_expert_parameters",
    "block_largest_matrix",
    "waveform_active_parameters",
    "own_layers_ratio",
    "rms_norm_width",
    "layer_norm_width",
    "gated_ffn_width",
    "norms_heads",
    "capped_scores",
    *(f"adapter_{p}_{way}" for p in ADAPTED for way in ("in", "out")),
)
STOOD_ON = ("matrix_bytes_each", "outer_bytes_each", "gradient_bytes_each", "state_bytes_each", "master_bytes_each")
LOSS_COLUMNS = (
    "forward_bytes_each",
    "backward_bytes_each",
    "compiled_bytes_each",
    "in_place",
    "head_gradients",
    "beside_gradients_bytes_each",
)
CLOSED = {  # input -> the columns that its closed list gives
    "attention": ("computes_all_scores",),
    "compile": ("compiles",),
    "logits": ("logits_of_all",),
    "offload": ("leaves_activations", "leaves_optimizer", "leaves_weights"),
    "optimizer_kernel": ("steps_fused", "steps_foreach", "steps_loop"),
}


def join(inputs: Columns, catalogs: Catalogs, problems: Problems) -> Columns:
    """The table that the formulas read: columns of shape (rows,), stack columns of shape (stacks, rows)."""
    table = dict(inputs)
    table["trains"] = table["work"].are("training").astype(float)
    table["adapts"] = table["trains"] * table["tuning"].are("lora")
    _join_model(table, catalogs, problems)
    _join_choices(table, catalogs, problems)
    _join_formats(table, catalogs)
    _join_targets(table, problems)
    join_places(table, catalogs, problems)
    join_rest_of_bill(table, catalogs)
    _join_assumptions(table, catalogs)
    return table


def _join_model(table: Columns, catalogs: Catalogs, problems: Problems) -> None:
    found = find(catalogs, "models", table["model"], problems, "model")
    at = np.maximum(found, 0)
    table["model_row"], table["unknown_model"] = at, found < 0
    table |= columns_of(catalogs, "models", MODEL_COLUMNS, at) | columns_of(catalogs, "models", TIED_COUNTS, at, "model_")
    table["model_kind"] = Words(at, words_of(catalogs, "models", "kind"))
    for name in ("is_decoder", "is_causal", "scores_each_token", "scores_once", "generates"):
        table[name] = kind_numbers(catalogs, name)[at]
    longest = table["longest_sequence_tokens"]
    table["longest_sequence_tokens"] = np.where((found < 0) | np.isnan(longest), np.inf, longest)
    table["precision"] = usual_precision(table, catalogs)
    refused = words_of(catalogs, "models", "refused")
    problems.add((refused != "")[at], lambda row: str(refused[at[row if len(at) > 1 else 0]]))
    table["tower_kind"] = tower_kinds(catalogs)[at]
    first, depth, side, kind = stack_rows(catalogs)
    order = np.arange(max(int(depth[np.unique(at)].max(initial=0)), 1))[:, None]
    row = np.where(order < depth[at], first[at] + order, -1)
    for name in STACK_COLUMNS:
        table[f"stack_{name}"] = stack_numbers(catalogs, name)[row]
    table["stack_side"], table["stack_kind"] = side[row], kind[row]
    table["has_source"] = np.any((table["stack_side"] == 1) & (table["stack_layers"] > 0), axis=0).astype(float)


@kept("implementations", "blocks")
def software_blocks(catalogs: Catalogs) -> np.ndarray:
    """For each implementation the number of its one block for all decoders, -1 where it has that of each family."""
    numbers = {kind: number for number, kind in enumerate(catalogs.blocks)}
    return np.array([numbers.get(kind, -1) for kind in catalogs.implementations["block"]])


def _join_choices(table: Columns, catalogs: Catalogs, problems: Problems) -> None:
    at = {}
    for column in ("precision", "optimizer", "sharding", "recompute", "implementation"):
        at[column] = np.maximum(find(catalogs, f"{column}s", table[column], problems, column), 0)
        prefix = "implementation_" if column == "implementation" else ""
        table |= columns_of(catalogs, f"{column}s", numbers_in(catalogs, f"{column}s"), at[column], prefix)
    for column, names in CLOSED.items():
        table |= columns_of(catalogs, LIST_OF[column], names, _listed(catalogs, LIST_OF[column], table[column]))
    table["computes_all_scores"] = np.maximum(table["computes_all_scores"], table["implementation_eager"])
    _join_master_form(table, at["precision"], catalogs)
    _check_able(table, at, catalogs, problems)
    software = at["implementation"]
    own = software_blocks(catalogs)[software]
    table["stack_shares_form"] = (own >= 0) & (table["is_decoder"] > 0) & (table["stack_latent_width"] == 0)
    keeps_state = table["stack_recurrent_state_elements"] + table["stack_convolution_state_elements"] > 0
    kind = np.where(table["stack_shares_form"] & ~keeps_state, own, table["stack_kind"])
    table["stack_block_unknown"] = (kind < 0) | (table["stack_shares_form"] & keeps_state)
    table["stack_block_derived"] = (kind >= 0) & derived_blocks(catalogs)[np.maximum(kind, 0)]
    table["stack_kind"] = np.maximum(kind, 0)
    engine = _matched(catalogs, "implementations", "engines")[software]
    table |= columns_of(catalogs, "engines", numbers_in(catalogs, "engines"), engine, "engine_")
    serving = _matched(catalogs, "implementations", "serving_engines")[software]
    constants = columns_of(catalogs, "serving_engines", numbers_in(catalogs, "serving_engines"), serving, "serving_")
    table |= {name: np.nan_to_num(values) for name, values in constants.items()}
    table |= join_release(table, catalogs)
    kernel = _matched(catalogs, "precisions", "kernels")[at["precision"]]
    table["kernel_dequantize_bytes_each"] = np.nan_to_num(numbers_of(catalogs, "kernels", "dequantize_bytes_each"))[kernel]
    for name, none in (("decode_bytes_each", 0.0), ("decode_widens_from", 1.0), ("buffer_bytes_each", 0.0)):
        table[f"kernel_{name}"] = np.nan_to_num(numbers_of(catalogs, "kernels", name), nan=none)[kernel]
    table["kernel_is_assumed"] = (words_of(catalogs, "kernels", "basis") == ASSUMED).astype(float)[kernel]
    table["engine_is_assumed"] = (words_of(catalogs, "engines", "basis") == ASSUMED).astype(float)[engine]
    table["kernel_host_ratio"] = np.nan_to_num(numbers_of(catalogs, "kernels", "host_ratio"), nan=1.0)[kernel]
    plain, compiled = (Words(software, words_of(catalogs, "implementations", name)) for name in ("default_loss", "compiled_loss"))
    usual = where(table["compiles"] > 0, compiled, plain)
    table["loss"] = where(table["asked_loss"].are(""), usual, table["asked_loss"])
    table |= columns_of(catalogs, "losses", ("fuses_loss",), _listed(catalogs, "losses", table["loss"]))
    table |= columns_of(catalogs, "losses", LOSS_COLUMNS, _listed(catalogs, "losses", table["loss"]), "loss_")


def _listed(catalogs: Catalogs, name: str, words: Words) -> np.ndarray:
    """Row numbers of words in a closed list; a word that it lacks was refused when it was read and stands as row 0."""
    return np.maximum(rows_of(catalogs, name, words.known), 0)[words.codes]


@kept("implementations", "engines", "serving_engines", "precisions", "kernels")
def _matched(catalogs: Catalogs, name: str, other: str) -> np.ndarray:
    """For each entry of one catalog the row of the like-named entry in another, -1 where there is none."""
    return rows_of(catalogs, other, getattr(catalogs, name).index)


def _join_master_form(table: Columns, own: np.ndarray, catalogs: Catalogs) -> None:
    """The form that a precision stands on: in software with a master copy, and in shards that are widened for training.

    Its weights, gradients and states are theirs; the products, and the copies of matrices made for them, stay the precision's.
    """
    stands_on = np.where(table["implementation_masters_eight_bit"] > 0, forms_of(catalogs, "master_form")[own], own)
    widened = table["implementation_widens_shards"] * table["shards_gradients"] * (table["gpus"] > 1) * (1 - table["adapts"])
    stands_on = np.where(widened > 0, forms_of(catalogs, "sharded_form")[own], stands_on)
    table |= columns_of(catalogs, "precisions", STOOD_ON, stands_on)
    table["precision_format"] = precision_formats(catalogs)[stands_on]


@kept("precisions")
def forms_of(catalogs: Catalogs, name: str) -> np.ndarray:
    """For each precision the row of the form that it names in a column, its own where it names none."""
    named = rows_of(catalogs, "precisions", catalogs.precisions[name])
    return np.where(named >= 0, named, np.arange(len(named)))


@kept("precisions")
def precision_formats(catalogs: Catalogs) -> np.ndarray:
    """The number of each precision's format of activations."""
    return np.array([FORMATS.index(word) for word in catalogs.precisions["format"]])


def _check_able(table: Columns, at: dict[str, np.ndarray], catalogs: Catalogs, problems: Problems) -> None:
    """A precision is a way to train, to adapt or to serve; software trains or serves."""
    trains, adapts = table["trains"] > 0, table["adapts"] > 0
    can = columns_of(catalogs, "precisions", ("adapts", "trains", "serves"), at["precision"])
    allowed = np.where(trains, np.where(adapts, can["adapts"], can["trains"]), can["serves"]) > 0
    precision = table["precision"]
    problems.add(
        ~allowed & trains & ~adapts,
        lambda row: f"precision {precision.at(row)} cannot train all weights; choose tuning lora, or train in bf16-mixed.",
    )
    problems.add(
        ~allowed & trains & adapts,
        lambda row: f"precision {precision.at(row)} does not go with LoRA; use bf16, int8, nf4 or nf4-dq for the frozen base.",
    )
    problems.add(
        ~allowed & ~trains, lambda row: f"precision {precision.at(row)} is a way to train; serve in bf16, fp8, int8 or a 4-bit format."
    )
    able = columns_of(catalogs, "implementations", ("trains", "serves"), at["implementation"])
    problems.add(
        ~(trains & (able["trains"] > 0) | ~trains & (able["serves"] > 0)),
        lambda row: f"implementation {table['implementation'].at(row)} does not do {table['work'].at(row)}; choose transformers.",
    )


def _join_formats(table: Columns, catalogs: Catalogs) -> None:
    """Bytes of the number formats that are named; the default where none is."""
    widths = numbers_of(catalogs, "number_formats", "bytes_each")
    rows = row_numbers(catalogs, "number_formats")

    def width(column: str, default: float) -> np.ndarray:
        return table[column].numbers(lambda word: widths[rows[word]] if word in rows else 0.0 if word else default)

    table["reduce_bytes_each"] = width("reduce_precision", 4.0)
    table["asked_adapter_bytes_each"] = width("adapter_precision", 4.0)
    table["asked_gradient_bytes_each"] = width("gradient_precision", 0.0)
    table["kv_bytes_each"] = width("kv_precision", 2.0)
    table["tie_embeddings"] = table.pop("asked_tie_embeddings")
    ties = {"yes": 1.0, "no": 0.0}
    table["asks_ties"] = table["tie_embeddings"].numbers(lambda word: ties.get(word, np.nan))


def _join_targets(table: Columns, problems: Problems) -> None:
    """Which projections LoRA adapts, as indicators."""
    targets = table["lora_targets"]

    def chosen(word: str) -> tuple[str, ...]:
        return TARGETS.get(word) or tuple(word.split("+"))

    def known(word: str) -> bool:
        return word in TARGETS or all(name in PROJECTIONS for name in chosen(word))

    problems.add(
        ~targets.are(known) & (table["adapts"] > 0),
        lambda row: f"lora_targets '{quoted(targets.at(row))}' is not known; use attention, all-linear, or projections such as q+v.",
    )
    for projection in ADAPTED:
        table[f"adapts_{projection}"] = targets.are(lambda word, p=projection: p in chosen(word)) * table["adapts"]


def _join_assumptions(table: Columns, catalogs: Catalogs) -> None:
    """What a row sets of time and cost, else the catalog's; overheads are one number for all."""
    values = constants(catalogs, "assumptions")
    for name in ASSUMPTIONS:
        own = table.pop(f"asked_{name}")
        table[name] = np.where(np.isnan(own), values[name], own)
    table["utilization"] = table.pop("asked_utilization")
    table |= constants(catalogs, "overheads") | constants(catalogs, "time_constants")
    for end in ("low", "high"):
        table[f"corner_{end}_ratio"] = numbers_of(catalogs, "time_spreads", f"{end}_ratio")[:-1, None]
        bounds = (numbers_of(catalogs, "time_boxes", f"{work}_{end}")[:-1, None] for work in ("training", "inference"))
        table[f"box_{end}"] = np.where(table["trains"] > 0, *bounds)


@kept()
def constants(catalogs: Catalogs, name: str) -> Columns:
    """The values of a catalog of single numbers, each one for all rows."""
    return {entry: np.array([float(value)]) for entry, value in getattr(catalogs, name)["value"].items()}
