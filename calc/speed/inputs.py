"""Columns that time and cost read beside the joined table: by card, software and precision, assumptions, indicators."""

import numpy as np
import pandas as pd

CAUSAL_KINDS = ("decoder", "encoder-decoder", "audio")
CARD_COLUMNS = ("matmul_ratio", "narrow_matmul_ratio", "attention_ratio", "node_gpus", "node_network_bytes_per_second")
ENGINE_COLUMNS = (
    *("matmul_ratio", "attention_ratio", "element_passes", "adapter_element_passes", "host_seconds_per_block"),
    *("host_seconds_per_expert", "device_seconds_per_block", "seconds_per_sequence", "bandwidth_ratio"),
    *("request_seconds", "cache_copies", "cache_passes", "repeats_keys", "time_low_ratio", "time_high_ratio"),
)
ABSENT_KERNEL = {"dequantize_bytes_each": 0.0, "host_ratio": 1.0}


def add_speed_inputs(table, catalogs):
    """Add to a joined table what its ids and words mean in time and money; return it.

    An assumption that the table already holds as a column stays where it is set; `utilization` likewise.
    """
    _take(table, catalogs.utilization, table["gpu"], CARD_COLUMNS, "card_")
    _take(table, catalogs.engines, table["implementation"], ENGINE_COLUMNS, "engine_")
    _take(table, catalogs.kernels, table["precision"], tuple(ABSENT_KERNEL), "kernel_")
    for name, value in ABSENT_KERNEL.items():
        table[f"kernel_{name}"] = np.where(np.isnan(table[f"kernel_{name}"]), value, table[f"kernel_{name}"])
    absent = np.full(len(table["gpu"]), np.nan)
    for name, value in catalogs.assumptions["value"].items():
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
    def marks(name, wanted):
        codes, words = pd.factorize(table[name])
        return np.array([float(wanted(str(word))) for word in words])[codes]

    table["is_causal"] = marks("model_kind", CAUSAL_KINDS.__contains__)
    table["computes_all_scores"] = marks("attention", "eager".__eq__)
    table["logits_of_all"] = marks("logits", "all".__eq__)
    table["compiles"] = marks("compile", "yes".__eq__)
    table["offloads_optimizer"] = marks("offload", ("optimizer", "all").__contains__) * table["trains"]
    table["offloads_activations"] = marks("offload", ("activations", "all").__contains__) * table["trains"]
    table["computes_bf16"] = marks("precision", lambda name: name.startswith("bf16"))
