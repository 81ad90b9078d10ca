"""Inputs joined with the catalogs: every choice of a row becomes its numbers."""

import numpy as np

from calc.blocks import FORMATS, kind_numbers
from calc.families import COMMON, FAMILIES

BYTES_OF_FORMAT = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0}
SIDES = ("tokens", "source", "fixed")
PROJECTIONS = ("q", "k", "v", "o", "gate", "up", "down")
TARGETS = {"attention": ("q", "k", "v", "o"), "all-linear": PROJECTIONS}

MODEL_COLUMNS = (
    "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "parameters", "active_parameters", "embedding_parameters",
    "head_parameters", "tied", "outside_parameters", "outputs", "fixed_tokens", "hidden_dropout", "attention_dropout",
)
STACK_COLUMNS = (
    "layers", "hidden", "query_width", "key_width", "value_width", "ffn_width", "heads", "kv_heads", "window_tokens", "experts",
    "experts_per_token", "expert_ffn_width", "shared_ffn_width", "latent_width", "query_latent_width", "cached_elements_per_token",
    "cross_cached_elements_per_token", "cross_attention", "block_parameters", "block_linear_parameters",
    "block_expert_parameters", "block_largest_matrix", *(f"adapter_{p}_{way}" for p in PROJECTIONS for way in ("in", "out")),
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
    _join_hardware(table, catalogs, problems)
    return table


def _find(frame, ids, problems, column, optional=False):
    """Row numbers of ids in a catalog; the ids that it lacks are noted as problems and stand as row 0."""
    at = frame.index.get_indexer(ids)
    missing = (at < 0) & (ids != "")
    offer = ", ".join(list(frame.index[:6])) + (", ..." if len(frame) > 6 else "")
    problems.add(missing, lambda row: f"{column} '{ids[row]}' is not in the catalog; choose one such as {_nearest(ids[row], frame.index) or offer}.")
    return at if optional else np.maximum(at, 0)


def _nearest(word, known):
    from difflib import get_close_matches

    return ", ".join(get_close_matches(str(word), list(known), n=3, cutoff=0.5))


def _take(frame, names, at, prefix=""):
    """Columns of a catalog as float64 arrays, NaN where the row number is -1."""
    taken = {}
    for name in names:
        values = frame[name].to_numpy(dtype=float, na_value=np.nan) if name in frame else np.full(len(frame), np.nan)
        taken[prefix + name] = np.append(values, np.nan)[at]
    return taken


def _join_model(table, catalogs, problems):
    models, stacks = catalogs.models, catalogs.stacks
    at = _find(models, table["model"], problems, "model")
    table["model_row"] = at
    table.update(_take(models, MODEL_COLUMNS, at))
    table["model_kind"] = models["kind"].to_numpy(dtype=object)[at]
    traits = [COMMON | FAMILIES.get(kind, {}) for kind in models["model_type"]]
    norms = np.array([trait["block_norms"] * (trait["norm_vectors"] == 1) for trait in traits], dtype=float)
    table["rms_norms"] = norms[at]
    refused = models["refused"].fillna("").to_numpy(dtype=object)[at]
    problems.add(refused != "", lambda row: str(refused[row]))
    first, depth = stack_rows(models, stacks)
    depth_needed = int(depth[np.unique(at)].max()) if len(at) else 1
    order = np.arange(depth_needed)[:, None]
    row = np.where(order < depth[at], first[at] + order, -1)
    table.update(_take(stacks, STACK_COLUMNS, row, "stack_"))
    for name in STACK_COLUMNS:
        table[f"stack_{name}"] = np.nan_to_num(table[f"stack_{name}"], nan=0.0, posinf=np.inf)
    side = stacks["side"].to_numpy(dtype=object)
    table["stack_side"] = np.append([SIDES.index(word) for word in side], 0)[row]
    table["stack_kind"] = np.append(kind_numbers(catalogs, stacks["block"]), 0)[row]
    table["has_source"] = np.any((table["stack_side"] == 1) & (table["stack_layers"] > 0), axis=0).astype(float)
    table["has_cross"] = np.any(table["stack_cross_attention"] > 0, axis=0).astype(float)


def stack_rows(models, stacks):
    """Where each model's stacks begin in the stack table, and how many there are."""
    owner = models.index.get_indexer(stacks["model"])
    depth = np.bincount(owner, minlength=len(models))
    first = np.full(len(models), -1)
    first[owner[::-1]] = np.arange(len(owner))[::-1]
    return first, depth


def _join_choices(table, catalogs, problems):
    at = {}
    for column, frame in (("precision", catalogs.precisions), ("optimizer", catalogs.optimizers), ("sharding", catalogs.shardings),
                          ("recompute", catalogs.recomputes), ("implementation", catalogs.implementations)):
        at[column] = _find(frame, table[column], problems, column)
        names = [name for name in frame.columns if frame[name].dtype.kind in "ifb" and name not in ("trains", "serves", "adapts")]
        prefix = {"implementation": "implementation_"}.get(column, "")
        table.update(_take(frame, names, at[column], prefix))
    precisions, implementations = catalogs.precisions, catalogs.implementations
    trains, adapts = table["work"] == "training", table["tuning"] == "lora"
    table["trains"] = trains.astype(float)
    table["adapts"] = (trains & adapts).astype(float)
    table["precision_format"] = np.array([FORMATS.index(word) for word in precisions["format"]])[at["precision"]]
    allowed = np.where(trains, np.where(adapts, precisions["adapts"].to_numpy()[at["precision"]], precisions["trains"].to_numpy()[at["precision"]]),
                       precisions["serves"].to_numpy()[at["precision"]]).astype(bool)
    problems.add(~allowed & trains & ~adapts, lambda row: f"precision {table['precision'][row]} cannot train all weights; choose tuning lora, or train in bf16-mixed.")
    problems.add(~allowed & trains & adapts, lambda row: f"precision {table['precision'][row]} does not go with LoRA; use bf16, int8, nf4 or nf4-dq for the frozen base.")
    problems.add(~allowed & ~trains, lambda row: f"precision {table['precision'][row]} is a way to train; serve in bf16, fp8, int8 or a 4-bit format.")
    able = np.where(trains, implementations["trains"].to_numpy()[at["implementation"]], implementations["serves"].to_numpy()[at["implementation"]]).astype(bool)
    problems.add(~able, lambda row: f"implementation {table['implementation'][row]} does not do {table['work'][row]}; choose transformers.")
    losses = implementations["default_loss"].to_numpy(dtype=object)[at["implementation"]]
    table["loss"] = np.where(table["loss"] == "", losses, table["loss"])
    _override_ties(table)
    table["reduce_bytes_each"] = widths(table["reduce_precision"], 4.0)
    table["adapter_bytes_each"] = np.where(table["implementation_adapter_bytes_each"] > 0, table["implementation_adapter_bytes_each"], widths(table["adapter_precision"], 4.0))
    table["gradient_override_bytes_each"] = np.maximum(widths(table["gradient_precision"], 0.0), table["implementation_gradient_bytes_each"])
    table["kv_bytes_each"] = widths(table["kv_precision"], np.where(table["precision"] == "fp32", 4.0, 2.0))
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
    known = np.array([all(name in PROJECTIONS for name in names) for names in chosen])
    problems.add(~known[found] & (table["adapts"] > 0), lambda row: f"lora_targets '{table['lora_targets'][row]}' is not known; use attention, all-linear, or projections such as q+v.")
    for projection in PROJECTIONS:
        table[f"adapts_{projection}"] = np.array([float(projection in names) for names in chosen])[found] * table["adapts"]


def _join_hardware(table, catalogs, problems):
    gpus, instances, prices = catalogs.gpus, catalogs.instances, catalogs.prices
    at = _find(instances, table["instance"], problems, "instance", optional=True)
    own_gpu = np.append(instances["gpu"].to_numpy(dtype=object), "")[at]
    clash = (table["gpu"] != "") & (at >= 0) & (table["gpu"] != own_gpu)
    problems.add(clash, lambda row: f"instance {table['instance'][row]} has the card {own_gpu[row]}, not {table['gpu'][row]}; leave gpu empty or name that one.")
    table["gpu"] = np.where(at >= 0, own_gpu, table["gpu"])
    card = _find(gpus, table["gpu"], problems, "gpu", optional=True)
    table.update(_take(gpus, GPU_COLUMNS, card, "gpu_"))
    table.update(_take(instances, INSTANCE_COLUMNS, at, "instance_"))
    share = _take(instances, ("gpu_memory_bytes",), at)["gpu_memory_bytes"]
    table["gpu_memory_bytes"] = np.where(at >= 0, share, table["gpu_memory_bytes"])
    regions = set(prices["region"])
    problems.add(~np.isin(table["region"].astype(str), list(regions)), lambda row: f"region '{table['region'][row]}' has no GPU prices in the catalog; choose one such as {_nearest(table['region'][row], regions) or 'us-east-1'}.")
    keys = prices["instance"].astype(str) + "|" + prices["region"].astype(str)
    wanted = table["instance"].astype(str).astype(object) + "|" + table["region"].astype(str).astype(object)
    price = keys_at(keys, wanted)
    table.update(_take(prices, PRICE_COLUMNS, price))
    for name in PRICE_WORDS:
        table[name] = np.append(prices[name].fillna("").astype(str).to_numpy(dtype=object), "")[price]


def keys_at(keys, wanted):
    """Where each wanted key stands among the keys, -1 where it does not."""
    from pandas import Index

    return Index(keys.to_numpy(dtype=object)).get_indexer(wanted)
