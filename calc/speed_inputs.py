"""Columns that time and cost read beside the joined table: by card, software and precision, assumptions, indicators."""

import numpy as np

from calc.speed_catalogs import speed_tables

CAUSAL_KINDS = ("decoder", "encoder-decoder", "audio")
CARD_COLUMNS = ("matmul_ratio", "narrow_matmul_ratio", "attention_ratio", "node_gpus", "node_network_bytes_per_second")
ENGINE_COLUMNS = (
    *("matmul_ratio", "attention_ratio", "element_passes", "adapter_element_passes", "host_seconds_per_block"),
    *("host_seconds_per_expert", "device_seconds_per_block", "seconds_per_sequence", "bandwidth_ratio"),
    *("request_seconds", "cache_copies", "cache_passes", "repeats_keys", "time_low_ratio", "time_high_ratio"),
)
ABSENT_KERNEL = {"dequantize_bytes_each": 0.0, "host_ratio": 1.0}


def add_speed_inputs(table):
    """Add to a joined table what its ids and words mean in time and money; return it.

    An assumption that the table already holds as a column stays where it is set; `utilization` likewise.
    """
    tables = speed_tables()
    _take(table, tables.utilization, table["gpu"], CARD_COLUMNS, "card_")
    _take(table, tables.engines, table["implementation"], ENGINE_COLUMNS, "engine_")
    _take(table, tables.kernels, table["precision"], tuple(ABSENT_KERNEL), "kernel_")
    for name, value in ABSENT_KERNEL.items():
        table[f"kernel_{name}"] = np.where(np.isnan(table[f"kernel_{name}"]), value, table[f"kernel_{name}"])
    absent = np.full(len(table["gpu"]), np.nan)
    for name, value in tables.assumptions["value"].items():
        own = table.get(name, absent)
        table[name] = np.where(np.isnan(own), value, own)
    table["utilization"] = table.get("utilization", absent)
    _add_indicators(table)
    return table


def _take(table, frame, ids, names, prefix):
    at = frame.index.get_indexer(ids)
    for name in names:
        table[prefix + name] = np.append(frame[name].to_numpy(dtype=float), np.nan)[at]


def _add_indicators(table):
    def is_one_of(name, *words):
        return np.isin(table[name].astype(str), words).astype(float)

    table["is_causal"] = is_one_of("model_kind", *CAUSAL_KINDS)
    table["computes_all_scores"] = is_one_of("attention", "eager")
    table["logits_of_all"] = is_one_of("logits", "all")
    table["compiles"] = is_one_of("compile", "yes")
    table["offloads_optimizer"] = is_one_of("offload", "optimizer", "all") * table["trains"]
    table["offloads_activations"] = is_one_of("offload", "activations", "all") * table["trains"]
    precisions, at = np.unique(table["precision"].astype(str), return_inverse=True)
    table["computes_bf16"] = np.array([float(name.startswith("bf16")) for name in precisions])[at]
