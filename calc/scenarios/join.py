"""Inputs joined with the catalogs: every choice of a row becomes its numbers."""

from difflib import get_close_matches

import numpy as np
from pandas import Index

from calc.catalogs.kept import kept
from calc.memory.saved_activations import FORMATS, kind_numbers
from calc.scenarios.read import quoted

BYTES_OF_FORMAT = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0}
SIDES = ("tokens", "source", "fixed")
PROJECTIONS = ("q", "k", "v", "o", "gate", "up", "down")
ADAPTED = (*PROJECTIONS, "router", "experts")  # all that `all-linear` reaches
TARGETS = {"attention": ("q", "k", "v", "o"), "all-linear": ADAPTED}

MODEL_COLUMNS = (
    "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "parameters", "active_parameters", "embedding_parameters",
    "head_parameters", "tied", "outside_parameters", "outside_adapter_width", "outputs", "fixed_tokens",
    "hidden_dropout", "attention_dropout", "rms_norms", "longest_sequence_tokens",
)
STACK_COLUMNS = (
    "layers", "hidden", "query_width", "key_width", "value_width", "ffn_width", "heads", "kv_heads", "window_tokens", "experts",
    "experts_per_token", "expert_ffn_width", "shared_ffn_width", "latent_width", "query_latent_width", "cached_elements_per_token",
    "cross_cached_elements_per_token", "cross_attention", "block_parameters", "block_linear_parameters",
    "block_expert_parameters", "block_largest_matrix", *(f"adapter_{p}_{way}" for p in ADAPTED for way in ("in", "out")),
)
GPU_COLUMNS = (
    "memory_bytes", "bandwidth_bytes_per_second", "bf16_flops_per_second", "fp32_flops_per_second", "tf32_flops_per_second",
    "fp8_flops_per_second", "fp4_flops_per_second", "int8_flops_per_second", "nvlink_bytes_per_second", "pcie_generation",
    "supports_bf16",
)
INSTANCE_COLUMNS = (
    "gpus", "gpu_fraction", "vcpus", "memory_bytes", "nvlink_domain_gpus", "network_bytes_per_second", "efa_interfaces",
)
PRICE_COLUMNS = (
    "on_demand_usd_per_hour", "spot_usd_per_hour", "spot_low_usd_per_hour", "spot_high_usd_per_hour",
    "capacity_block_usd_per_hour", "commit_1y_usd_per_hour", "commit_3y_usd_per_hour",
)
PRICE_WORDS = ("on_demand_as_of", "spot_as_of", "on_demand_basis", "spot_basis", "interruption_band")


def join(inputs, catalogs, problems):
    """The table that the formulas read: columns of shape (rows,), stack columns of shape (stacks, rows)."""
    table = dict(inputs)
    _join_model(table, catalogs, problems)
    _join_choices(table, catalogs, problems)
    join_hardware(table, catalogs, problems)
    return table


@kept()
def columns_of(catalogs, name, wanted):
    """Columns of one catalog as a matrix of float64 (its last row NaN, for 'none'), made once."""
    frame = getattr(catalogs, name)
    columns = [
        frame[column].to_numpy(dtype=float, na_value=np.nan) if column in frame else np.full(len(frame), np.nan) for column in wanted
    ]
    return np.vstack([np.column_stack(columns), np.full(len(wanted), np.nan)])


@kept()
def words_of(catalogs, name, column):
    """A column of words of one catalog, its last entry empty, made once."""
    return np.append(getattr(catalogs, name)[column].fillna("").astype(str).to_numpy(dtype=object), "")


@kept()
def numbers_in(catalogs, name):
    """The names of the columns of numbers and indicators of one catalog of choices."""
    frame = getattr(catalogs, name)
    return tuple(column for column in frame.columns if frame[column].dtype.kind in "ifb" and column not in ("trains", "serves", "adapts"))


def _find(catalogs, name, ids, problems, column, optional=False):
    """Row numbers of ids in a catalog; the ids that it lacks are noted as problems and stand as row 0."""
    known = getattr(catalogs, name).index
    at = known.get_indexer(ids)
    missing = (at < 0) & (ids != "")
    offers = {word: _nearest(word, known) or ", ".join(known[:6]) for word in set(ids[missing])}
    problems.add(
        missing,
        lambda row: (
            f"{column} '{quoted(ids[row])}' is not in the catalog; choose one such as {offers[ids[row]]}."
        ),
    )
    return at if optional else np.maximum(at, 0)


def _nearest(word, known):
    begun = str(word).lower()
    holding = sorted((one for one in known if begun in one), key=lambda one: (not one.startswith(begun), one))
    return ", ".join((holding or get_close_matches(str(word)[:60].lower(), list(known), n=3, cutoff=0.5))[:3])


def _take(catalogs, name, wanted, at, prefix=""):
    """Columns of a catalog as float64 arrays, NaN where the row number is -1."""
    taken = np.moveaxis(columns_of(catalogs, name, tuple(wanted))[at], -1, 0)
    return {prefix + column: np.ascontiguousarray(values) for column, values in zip(wanted, taken, strict=True)}


def _join_model(table, catalogs, problems):
    at = _find(catalogs, "models", table["model"], problems, "model")
    table["model_row"] = at
    table.update(_take(catalogs, "models", MODEL_COLUMNS, at))
    table["model_kind"] = words_of(catalogs, "models", "kind")[at]
    table["unknown_model"] = catalogs.models.index.get_indexer(table["model"]) < 0
    table["longest_sequence_tokens"] = np.where(table["unknown_model"], np.inf, table["longest_sequence_tokens"])
    refused = words_of(catalogs, "models", "refused")[at]
    problems.add(refused != "", lambda row: str(refused[row]))
    first, depth, side, kind = stack_rows(catalogs)
    order = np.arange(max(int(depth[np.unique(at)].max(initial=0)), 1))[:, None]
    row = np.where(order < depth[at], first[at] + order, -1)
    stacks = _take(catalogs, "stacks", STACK_COLUMNS, row, "stack_")
    table.update({name: np.nan_to_num(values, nan=0.0, posinf=np.inf) for name, values in stacks.items()})
    table["stack_side"], table["stack_kind"] = side[row], kind[row]
    table["has_source"] = np.any((table["stack_side"] == 1) & (table["stack_layers"] > 0), axis=0).astype(float)
    table["has_cross"] = np.any(table["stack_cross_attention"] > 0, axis=0).astype(float)


@kept("models", "stacks", "blocks")
def stack_rows(catalogs):
    """Where each model's stacks begin in the stack table and how many there are; each stack's side and kind of
    block."""
    models, stacks = catalogs.models, catalogs.stacks
    owner = models.index.get_indexer(stacks["model"])
    depth = np.bincount(owner, minlength=len(models))
    first = np.full(len(models), -1)
    first[owner[::-1]] = np.arange(len(owner))[::-1]
    side = np.append([SIDES.index(word) for word in stacks["side"]], 0)
    return first, depth, side, np.append(kind_numbers(catalogs, stacks["block"]), 0)


def _join_choices(table, catalogs, problems):
    at = {}
    for column in ("precision", "optimizer", "sharding", "recompute", "implementation"):
        at[column] = _find(catalogs, f"{column}s", table[column], problems, column)
        prefix = "implementation_" if column == "implementation" else ""
        table.update(_take(catalogs, f"{column}s", numbers_in(catalogs, f"{column}s"), at[column], prefix))
    precisions, implementations = catalogs.precisions, catalogs.implementations
    trains, adapts = table["work"] == "training", table["tuning"] == "lora"
    table["trains"] = trains.astype(float)
    table["adapts"] = (trains & adapts).astype(float)
    table["precision_format"] = np.array([FORMATS.index(word) for word in precisions["format"]])[at["precision"]]
    can = {name: precisions[name].to_numpy()[at["precision"]] for name in ("adapts", "trains", "serves")}
    allowed = np.where(trains, np.where(adapts, can["adapts"], can["trains"]), can["serves"]).astype(bool)
    problems.add(
        ~allowed & trains & ~adapts,
        lambda row: (
            f"precision {table['precision'][row]} cannot train all weights; choose tuning lora, or train in "
            "bf16-mixed."
        ),
    )
    problems.add(
        ~allowed & trains & adapts,
        lambda row: (
            f"precision {table['precision'][row]} does not go with LoRA; use bf16, int8, nf4 or nf4-dq for the "
            "frozen base."
        ),
    )
    problems.add(
        ~allowed & ~trains,
        lambda row: (
            f"precision {table['precision'][row]} is a way to train; serve in bf16, fp8, int8 or a 4-bit format."
        ),
    )
    software = at["implementation"]
    able = np.where(trains, implementations["trains"].to_numpy()[software], implementations["serves"].to_numpy()[software]).astype(bool)
    problems.add(
        ~able,
        lambda row: (
            f"implementation {table['implementation'][row]} does not do {table['work'][row]}; choose transformers."
        ),
    )
    losses = implementations["default_loss"].to_numpy(dtype=object)[at["implementation"]]
    table["loss"] = np.where(table["loss"] == "", losses, table["loss"])
    _override_ties(table)
    table["reduce_bytes_each"] = widths(table["reduce_precision"], 4.0)
    fixed = table["implementation_adapter_bytes_each"]
    table["adapter_bytes_each"] = np.where(fixed > 0, fixed, widths(table["adapter_precision"], 4.0))
    asked = widths(table["gradient_precision"], 0.0)
    table["gradient_override_bytes_each"] = np.maximum(asked, table["implementation_gradient_bytes_each"])
    table["kv_bytes_each"] = widths(table["kv_precision"], 2.0)
    _join_adapters(table, problems)


def widths(words, default):
    """Bytes of named number formats; `default` where none is named."""
    codes, found = np.unique(words.astype(str), return_inverse=True)
    return np.where(words == "", default, np.array([BYTES_OF_FORMAT.get(word, 0.0) for word in codes])[found])


def _override_ties(table):
    """An override of tied embeddings adds or removes the head's own matrix."""
    tied = np.where(table["tie_embeddings"] == "", table["tied"], (table["tie_embeddings"] == "yes").astype(float))
    tied = np.where((table["implementation_unties_head"] > 0) & (table["model_kind"] == "decoder"), 0.0, tied)
    separate = np.where(table["head_parameters"] > 0, table["head_parameters"], table["embedding_parameters"])
    head = np.where(tied > 0, 0.0, np.where(table["tied"] > 0, separate, table["head_parameters"]))
    change = head - table["head_parameters"]
    for name in ("parameters", "active_parameters", "outside_parameters"):
        table[name] = table[name] + change
    table["head_parameters"], table["tied"] = head, tied


def _join_adapters(table, problems):
    words, found = np.unique(table["lora_targets"].astype(str), return_inverse=True)
    chosen = [TARGETS.get(word) or tuple(word.split("+")) for word in words]
    known = np.array([word in TARGETS or all(name in PROJECTIONS for name in names) for word, names in zip(words, chosen, strict=True)])
    problems.add(
        ~known[found] & (table["adapts"] > 0),
        lambda row: (
            f"lora_targets '{quoted(table['lora_targets'][row])}' is not known; use attention, all-linear, or "
            "projections such as q+v."
        ),
    )
    for projection in ADAPTED:
        table[f"adapts_{projection}"] = np.array([float(projection in names) for names in chosen])[found] * table["adapts"]


def join_hardware(table, catalogs, problems):
    at = _find(catalogs, "instances", table["instance"], problems, "instance", optional=True)
    own_gpu = words_of(catalogs, "instances", "gpu")[at]
    clash = (table["gpu"] != "") & (at >= 0) & (table["gpu"] != own_gpu)
    problems.add(
        clash,
        lambda row: (
            f"instance {table['instance'][row]} has the card {own_gpu[row]}, not {table['gpu'][row]}; leave gpu "
            "empty or name that one."
        ),
    )
    table["gpu"] = np.where(at >= 0, own_gpu, table["gpu"])
    card = _find(catalogs, "gpus", table["gpu"], problems, "gpu", optional=True)
    table.update(_take(catalogs, "gpus", GPU_COLUMNS, card, "gpu_"))
    table.update(_take(catalogs, "instances", INSTANCE_COLUMNS, at, "instance_"))
    share = _take(catalogs, "instances", ("gpu_memory_bytes",), at)["gpu_memory_bytes"]
    table["gpu_memory_bytes"] = np.where(at >= 0, share, table["gpu_memory_bytes"])
    keys, regions = price_keys(catalogs)
    unknown = np.array([region not in regions for region in table["region"]])
    offers = {word: _nearest(word, regions) or "us-east-1" for word in set(table["region"][unknown])}
    problems.add(
        unknown,
        lambda row: (
            f"region '{quoted(table['region'][row])}' has no GPU prices in the catalog; choose one such as "
            f"{offers[table['region'][row]]}."
        ),
    )
    price = keys.get_indexer(table["instance"] + "|" + table["region"])
    table.update(_take(catalogs, "prices", PRICE_COLUMNS, price))
    table.update({name: words_of(catalogs, "prices", name)[price] for name in PRICE_WORDS})


@kept("prices")
def price_keys(catalogs):
    """The key 'instance|region' of every price, and all regions."""
    prices = catalogs.prices
    return Index((prices["instance"].astype(str) + "|" + prices["region"].astype(str)).to_numpy(dtype=object)), frozenset(prices["region"])
