"""Inputs joined with the catalogs: every choice of a row becomes its numbers."""

from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.coded import Words, where
from calc.evaluate import Table
from calc.scenarios.inputs import ASSUMPTIONS, LIST_OF
from calc.scenarios.problems import Problems, quoted

FORMATS = ("bf16", "fp32", "amp")  # of activations, in the order of the coefficient tables
SIDES = ("tokens", "source", "fixed")
PROJECTIONS = ("q", "k", "v", "o", "gate", "up", "down")
ADAPTED = (*PROJECTIONS, "router", "experts")  # all that `all-linear` reaches
TARGETS = {"attention": ("q", "k", "v", "o"), "all-linear": ADAPTED}

TIED_COUNTS = ("parameters", "active_parameters", "head_parameters", "tied", "outside_parameters")  # joined as model_<name>
MODEL_COLUMNS = (
    "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "embedding_parameters", "outside_adapter_width", "outputs",
    "fixed_tokens", "hidden_dropout", "attention_dropout", "rms_norms", "longest_sequence_tokens",
)
STACK_COLUMNS = (
    "layers", "hidden", "query_width", "key_width", "value_width", "ffn_width", "heads", "kv_heads", "window_tokens", "experts",
    "experts_per_token", "expert_ffn_width", "shared_ffn_width", "latent_width", "query_latent_width", "cached_elements_per_token",
    "cross_cached_elements_per_token", "cross_attention", "block_parameters", "block_linear_parameters",
    "block_expert_parameters", "block_largest_matrix", *(f"adapter_{p}_{way}" for p in ADAPTED for way in ("in", "out")),
)
GPU_COLUMNS = (
    "bandwidth_bytes_per_second", "bf16_flops_per_second", "fp32_flops_per_second", "fp8_flops_per_second",
    "fp4_flops_per_second", "nvlink_bytes_per_second", "pcie_generation", "supports_bf16", "takes_small_engine_defaults",
)
INSTANCE_COLUMNS = (
    "gpus", "gpu_fraction", "vcpus", "memory_bytes", "nvlink_domain_gpus", "network_bytes_per_second", "efa_interfaces",
)
PRICE_COLUMNS = ("on_demand_usd_per_hour", "spot_usd_per_hour")
PRICE_WORDS = ("on_demand_as_of", "spot_as_of", "on_demand_basis", "spot_basis", "interruption_band")
CARD_COLUMNS = ("matmul_ratio", "narrow_matmul_ratio", "attention_ratio", "node_gpus", "node_network_bytes_per_second")
CLOSED = {  # input -> the columns that its closed list gives
    "attention": ("computes_all_scores",),
    "compile": ("compiles",),
    "logits": ("logits_of_all",),
    "offload": ("leaves_activations", "leaves_optimizer", "leaves_weights"),
    "optimizer_kernel": ("steps_fused", "steps_foreach", "steps_loop"),
}


def join(inputs: Table, catalogs: Catalogs, problems: Problems) -> Table:
    """The table that the formulas read: columns of shape (rows,), stack columns of shape (stacks, rows)."""
    table = dict(inputs)
    table["trains"] = table["work"].are("training").astype(float)
    table["adapts"] = table["trains"] * table["tuning"].are("lora")
    _join_model(table, catalogs, problems)
    _join_choices(table, catalogs, problems)
    _join_formats(table, catalogs)
    _join_targets(table, problems)
    join_hardware(table, catalogs, problems)
    _join_assumptions(table, catalogs)
    return table


@kept()
def numbers_of(catalogs: Catalogs, name: str, column: str) -> np.ndarray:
    """A column of numbers of one catalog, its last entry NaN for 'none', made once."""
    frame = getattr(catalogs, name)
    values = frame[column].to_numpy(dtype=float, na_value=np.nan) if column in frame else np.full(len(frame), np.nan)
    return np.append(values, np.nan)


@kept()
def words_of(catalogs: Catalogs, name: str, column: str) -> np.ndarray:
    """A column of words of one catalog, its last entry empty, made once."""
    return np.append(getattr(catalogs, name)[column].fillna("").astype(str).to_numpy(dtype=object), "")


@kept()
def numbers_in(catalogs: Catalogs, name: str) -> tuple[str, ...]:
    """The names of the columns of numbers and indicators of one catalog of choices."""
    frame = getattr(catalogs, name)
    return tuple(column for column in frame.columns if frame[column].dtype.kind in "ifb" and column not in ("trains", "serves", "adapts"))


def _find(catalogs: Catalogs, name: str, words: Words, problems: Problems, column: str) -> np.ndarray:
    """Row numbers of words in a catalog, -1 for empty ones; a word that the catalog lacks is a problem."""
    known = getattr(catalogs, name).index
    at = known.get_indexer(words.known)
    missing = (at < 0) & (words.known != "")
    problems.add(
        missing[words.codes],
        lambda row: (
            f"{column} '{quoted(words.at(row))}' is not in the catalog; choose one such as "
            f"{_nearest(words.at(row), known) or ', '.join(known[:6])}."
        ),
    )
    return at[words.codes]


def _nearest(word: str, known: Any) -> str:
    begun = str(word).lower()
    holding = sorted((one for one in known if begun in one), key=lambda one: (not one.startswith(begun), one))
    return ", ".join((holding or get_close_matches(str(word)[:60].lower(), list(known), n=3, cutoff=0.5))[:3])


def _take(catalogs: Catalogs, name: str, wanted: tuple[str, ...], at: np.ndarray, prefix: str = "") -> Table:
    """Columns of a catalog as float64 arrays, NaN where the row number is -1."""
    return {prefix + column: numbers_of(catalogs, name, column)[at] for column in wanted}


def _join_model(table: Table, catalogs: Catalogs, problems: Problems) -> None:
    found = _find(catalogs, "models", table["model"], problems, "model")
    at = np.maximum(found, 0)
    table["model_row"], table["unknown_model"] = at, found < 0
    table |= _take(catalogs, "models", MODEL_COLUMNS, at) | _take(catalogs, "models", TIED_COUNTS, at, "model_")
    table["model_kind"] = Words(at, words_of(catalogs, "models", "kind"))
    for name in ("is_decoder", "is_causal", "scores_each_token", "scores_once", "generates"):
        table[name] = kind_numbers(catalogs, name)[at]
    longest = table["longest_sequence_tokens"]
    table["longest_sequence_tokens"] = np.where((found < 0) | np.isnan(longest), np.inf, longest)
    refused = words_of(catalogs, "models", "refused")
    problems.add((refused != "")[at], lambda row: str(refused[at[row if len(at) > 1 else 0]]))
    first, depth, side, kind = stack_rows(catalogs)
    order = np.arange(max(int(depth[np.unique(at)].max(initial=0)), 1))[:, None]
    row = np.where(order < depth[at], first[at] + order, -1)
    for name in STACK_COLUMNS:
        table[f"stack_{name}"] = stack_numbers(catalogs, name)[row]
    table["stack_side"], table["stack_kind"] = side[row], kind[row]
    table["has_source"] = np.any((table["stack_side"] == 1) & (table["stack_layers"] > 0), axis=0).astype(float)


@kept("models", "model_kinds")
def kind_numbers(catalogs: Catalogs, name: str) -> np.ndarray:
    """A number of each model's kind; 0 for a model without one."""
    at = catalogs.model_kinds.index.get_indexer(catalogs.models["kind"])
    return np.nan_to_num(numbers_of(catalogs, "model_kinds", name)[at])


@kept("stacks")
def stack_numbers(catalogs: Catalogs, name: str) -> np.ndarray:
    """A column of the stacks, its last entry for a stack that a model lacks: 0."""
    return np.nan_to_num(numbers_of(catalogs, "stacks", name), nan=0.0, posinf=np.inf)


@kept("models", "stacks", "blocks")
def stack_rows(catalogs: Catalogs) -> tuple[np.ndarray, ...]:
    """Where each model's stacks begin in the stack table, how many there are; each stack's side and kind of block."""
    models, stacks = catalogs.models, catalogs.stacks
    owner = models.index.get_indexer(stacks["model"])
    depth = np.bincount(owner, minlength=len(models))
    first = np.full(len(models), -1)
    first[owner[::-1]] = np.arange(len(owner))[::-1]
    side = np.append([SIDES.index(word) for word in stacks["side"]], 0)
    numbers = {kind: number for number, kind in enumerate(catalogs.blocks)}
    return first, depth, side, np.append([numbers[kind] for kind in stacks["block"]], 0)


def _join_choices(table: Table, catalogs: Catalogs, problems: Problems) -> None:
    at = {}
    for column in ("precision", "optimizer", "sharding", "recompute", "implementation"):
        at[column] = np.maximum(_find(catalogs, f"{column}s", table[column], problems, column), 0)
        prefix = "implementation_" if column == "implementation" else ""
        table |= _take(catalogs, f"{column}s", numbers_in(catalogs, f"{column}s"), at[column], prefix)
    for column, names in CLOSED.items():
        table |= _take(catalogs, LIST_OF[column], names, _listed(catalogs, LIST_OF[column], table[column]))
    formats = np.array([FORMATS.index(word) for word in catalogs.precisions["format"]])
    table["precision_format"] = formats[at["precision"]]
    _check_able(table, at, catalogs, problems)
    software = at["implementation"]
    engine = _matched(catalogs, "implementations", "engines")[software]
    table |= _take(catalogs, "engines", numbers_in(catalogs, "engines"), engine, "engine_")
    serving = _matched(catalogs, "implementations", "serving_engines")[software]
    constants = _take(catalogs, "serving_engines", numbers_in(catalogs, "serving_engines"), serving, "serving_")
    table |= {name: np.nan_to_num(values) for name, values in constants.items()}
    kernel = _matched(catalogs, "precisions", "kernels")[at["precision"]]
    table["kernel_dequantize_bytes_each"] = np.nan_to_num(numbers_of(catalogs, "kernels", "dequantize_bytes_each"))[kernel]
    table["kernel_host_ratio"] = np.nan_to_num(numbers_of(catalogs, "kernels", "host_ratio"), nan=1.0)[kernel]
    usual = Words(software, words_of(catalogs, "implementations", "default_loss"))
    table["loss"] = where(table["asked_loss"].are(""), usual, table["asked_loss"])
    table |= _take(catalogs, "losses", ("fuses_loss", "loss_in_place"), _listed(catalogs, "losses", table["loss"]))


def _listed(catalogs: Catalogs, name: str, words: Words) -> np.ndarray:
    """Row numbers of words in a closed list; a word that it lacks was refused when it was read and stands as row 0."""
    return np.maximum(getattr(catalogs, name).index.get_indexer(words.known), 0)[words.codes]


@kept("implementations", "engines", "serving_engines", "precisions", "kernels")
def _matched(catalogs: Catalogs, name: str, other: str) -> np.ndarray:
    """For each entry of one catalog the row of the like-named entry in another, -1 where there is none."""
    return getattr(catalogs, other).index.get_indexer(getattr(catalogs, name).index)


def _check_able(table: Table, at: dict[str, np.ndarray], catalogs: Catalogs, problems: Problems) -> None:
    """A precision is a way to train, to adapt or to serve; software trains or serves."""
    trains, adapts = table["trains"] > 0, table["adapts"] > 0
    can = {name: catalogs.precisions[name].to_numpy()[at["precision"]] for name in ("adapts", "trains", "serves")}
    allowed = np.where(trains, np.where(adapts, can["adapts"], can["trains"]), can["serves"]).astype(bool)
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
        ~allowed & ~trains,
        lambda row: f"precision {precision.at(row)} is a way to train; serve in bf16, fp8, int8 or a 4-bit format.",
    )
    able = {name: catalogs.implementations[name].to_numpy()[at["implementation"]] for name in ("trains", "serves")}
    problems.add(
        ~np.where(trains, able["trains"], able["serves"]).astype(bool),
        lambda row: f"implementation {table['implementation'].at(row)} does not do {table['work'].at(row)}; choose transformers.",
    )


def _join_formats(table: Table, catalogs: Catalogs) -> None:
    """Bytes of the number formats that are named; the default where none is."""
    widths = catalogs.number_formats["bytes_each"]

    def width(column: str, default: float) -> np.ndarray:
        return table[column].numbers(lambda word: widths.get(word, 0.0) if word else default)

    table["reduce_bytes_each"] = width("reduce_precision", 4.0)
    table["asked_adapter_bytes_each"] = width("adapter_precision", 4.0)
    table["asked_gradient_bytes_each"] = width("gradient_precision", 0.0)
    table["kv_bytes_each"] = width("kv_precision", 2.0)
    table["tie_embeddings"] = table.pop("asked_tie_embeddings")
    ties = {"yes": 1.0, "no": 0.0}
    table["asks_ties"] = table["tie_embeddings"].numbers(lambda word: ties.get(word, np.nan))


def _join_targets(table: Table, problems: Problems) -> None:
    """Which projections LoRA adapts, as indicators."""
    targets = table["lora_targets"]

    def chosen(word: str) -> tuple[str, ...]:
        return TARGETS.get(word) or tuple(word.split("+"))

    def known(word: str) -> bool:
        return word in TARGETS or all(name in PROJECTIONS for name in chosen(word))

    problems.add(
        ~targets.are(known) & (table["adapts"] > 0),
        lambda row: (
            f"lora_targets '{quoted(targets.at(row))}' is not known; use attention, all-linear, or projections such as q+v."
        ),
    )
    for projection in ADAPTED:
        table[f"adapts_{projection}"] = targets.are(lambda word, p=projection: p in chosen(word)) * table["adapts"]


def join_hardware(table: Table, catalogs: Catalogs, problems: Problems) -> None:
    """Card, instance and price of each row, NaN where none is named."""
    at = _find(catalogs, "instances", table["instance"], problems, "instance")
    asked, own = table["asked_gpu"], Words(at, words_of(catalogs, "instances", "gpu"))
    own_gpu = where(at >= 0, own, asked)
    clash = ~asked.are("") & (at >= 0) & ~_same(asked, own)
    problems.add(
        clash,
        lambda row: (
            f"instance {table['instance'].at(row)} has the card {own_gpu.at(row)}, not {asked.at(row)}; leave gpu empty or "
            "name that one."
        ),
    )
    table["gpu"] = own_gpu
    card = _find(catalogs, "gpus", own_gpu, problems, "gpu")
    table |= _take(catalogs, "gpus", GPU_COLUMNS, card, "gpu_") | _take(catalogs, "instances", INSTANCE_COLUMNS, at, "instance_")
    share = numbers_of(catalogs, "instances", "gpu_memory_bytes")[at]
    table["gpu_memory_bytes"] = np.where(at >= 0, share, numbers_of(catalogs, "gpus", "memory_bytes")[card])
    table |= _take(catalogs, "utilization", CARD_COLUMNS, _card_class(catalogs)[card], "card_")
    keys, regions = price_keys(catalogs)
    region, instance = table["region"], table["instance"]
    problems.add(
        ~region.are(regions.__contains__),
        lambda row: (
            f"region '{quoted(region.at(row))}' has no GPU prices in the catalog; choose one such as "
            f"{_nearest(region.at(row), regions) or 'us-east-1'}."
        ),
    )
    pairs, found = pd.factorize(np.atleast_1d(instance.codes * len(region.known) + region.codes))
    named = [f"{instance.known[pair // len(region.known)]}|{region.known[pair % len(region.known)]}" for pair in found]
    price = keys.get_indexer(named)[pairs]
    table |= _take(catalogs, "prices", PRICE_COLUMNS, price)
    table |= {name: Words(price, words_of(catalogs, "prices", name)) for name in PRICE_WORDS}
    table["band_interruption_ratio"] = band_ratios(catalogs)[price]


def _same(first: Words, second: Words) -> np.ndarray:
    """Whether two columns have the same word in each row."""
    numbers = {word: number for number, word in enumerate({*first.known, *second.known})}
    one, other = (np.array([numbers[word] for word in words.known])[words.codes] for words in (first, second))
    return one == other


@kept("gpus", "utilization")
def _card_class(catalogs: Catalogs) -> np.ndarray:
    """For each card its row of utilization, and -1 for no card."""
    return np.append(catalogs.utilization.index.get_indexer(catalogs.gpus.index), -1)


@kept("prices", "interruption_bands")
def band_ratios(catalogs: Catalogs) -> np.ndarray:
    """For each price the middle of its interruption band, NaN where no band is known."""
    at = catalogs.interruption_bands.index.get_indexer(words_of(catalogs, "prices", "interruption_band"))
    return numbers_of(catalogs, "interruption_bands", "band_interruption_ratio")[at]


@kept("prices")
def price_keys(catalogs: Catalogs) -> tuple[pd.Index, frozenset]:
    """The key 'instance|region' of every price, and all regions."""
    prices = catalogs.prices
    keys = (prices["instance"].astype(str) + "|" + prices["region"].astype(str)).to_numpy(dtype=object)
    return pd.Index(keys), frozenset(prices["region"])


def _join_assumptions(table: Table, catalogs: Catalogs) -> None:
    """What a row sets of time and cost, else the catalog's; overheads are one number for all."""
    values = catalogs.assumptions["value"]
    for name in ASSUMPTIONS:
        own = table.pop(f"asked_{name}")
        table[name] = np.where(np.isnan(own), values[name], own)
    table["utilization"] = table.pop("asked_utilization")
    table |= {name: np.array([float(value)]) for name, value in catalogs.overheads["value"].items()}
