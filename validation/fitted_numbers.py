"""The numbers of catalogs/calibrated that published times respond to, and how to move them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

FIELDS = {
    "engines": (
        "matmul_ratio",
        "narrow_matmul_ratio",
        "hopper_matmul_ratio",
        "expert_matmul_ratio",
        "expert_pass_seconds",
        "attention_ratio",
        "context_attention_ratio",
        "element_passes",
        "adapter_element_passes",
        "cast_bytes_each",
        "host_seconds_per_block",
        "host_seconds_per_expert",
        "host_seconds_per_routed_block",
        "device_seconds_per_block",
        "bandwidth_ratio",
        "request_seconds",
        "cache_copies",
        "cache_passes",
    ),
    "utilization": (
        "matmul_ratio",
        "narrow_matmul_ratio",
        "attention_ratio",
        "flash_2_ratio",
        "flash_3_ratio",
        "flash_4_ratio",
        "cudnn_ratio",
        "prefill_attention_ratio",
    ),
    "serving_steps": (
        "step_seconds",
        "block_seconds",
        "latent_block_seconds",
        "expert_block_seconds",
        "expert_cast_seconds",
        "shipped_expert_seconds",
        "shipped_launch_seconds",
        "sequence_seconds",
        "sequence_block_seconds",
        "all_reduce_seconds",
        "all_reduce_ratio",
    ),
    "kernels": ("dequantize_bytes_each", "decode_bytes_each", "host_ratio", "read_ratio"),
    "earlier_releases": (
        "tiled_read_ratio",
        "expert_matmul_ratio",
        "block_ratio",
        "piece_seconds",
        "latent_seconds",
        "sequence_seconds",
        "request_seconds",
        "expert_read_ratio",
    ),
    "time_constants": ("value",),
    "inference_engines": (
        "expert_launch_seconds",
        "block_launch_seconds",
        "further_request_seconds",
        "fused_gap_ratio",
        "widened_expert_seconds",
    ),
}
SINGLE = (  # entries of time_constants.yaml that were fitted to times
    "adapter_launch_ratio",
    "answer_seconds_each",
    "compile_launch_ratio",
    "encoder_element_ratio",
    "expert_popularity_shape",
    "scheduled_ahead_steps",
    "tokenize_seconds_each",
)
SHARE_NUMBERS = {  # software -> what it is built on, whose numbers it has
    **dict.fromkeys(
        ("axolotl", "llama-factory", "ms-swift", "trl", "unsloth", "verl"), "transformers"
    ),
    "nemo-rl": "megatron",
    "openrlhf": "deepspeed",
}
LIKE = {  # software or class of card -> the one whose numbers it would have if nobody had measured
    "autoawq": "transformers",
    "automodel": "megatron",
    "deepspeed": "transformers",
    "llm-foundry": "torchtitan",
    "megatron": "torchtitan",
    "prime-rl": "torchtitan",
    "torchtitan": "llm-foundry",
    "ampere-server": "hopper-server",
    "blackwell-graphics": "blackwell-server",
    "blackwell-nvl72": "hopper-server",
    "blackwell-server": "hopper-server",
    "blackwell-ultra": "hopper-server",
    "blackwell-ultra-nvl72": "hopper-server",
    "hopper-server": "ampere-server",
}
PUBLISHED = {"tiled_read_ratio": 0.74}  # by the kernel's own authors, as earlier_releases.yaml says
UNMEASURED = "litgpt"  # software of which nobody has published a time


class Constant(NamedTuple):
    """Entries of one field of a table that hold one number, and what they hold without a source."""

    table: str
    field: str
    entries: tuple[str, ...]
    value: float
    unmeasured: float

    def __str__(self):
        name = next((name for name in self.entries if name in LIKE), self.entries[0])
        more = f" and {len(self.entries) - 1} alike" if len(self.entries) > 1 else ""
        return f"{self.field} of {name}{more} ({self.table})"


def constants(catalogs):
    """Return the numbers that may move in a fit.

    Entries of a table that hold the same number move together. For software, this is so only if one
    is built on the other.
    """
    found = []
    for table, fields in FIELDS.items():
        entries = getattr(catalogs, table)
        entries = entries.loc[[*SINGLE]] if table == "time_constants" else entries
        for field in fields:
            values = entries[field].dropna()
            values = values[values > 0]
            keys = values
            if table == "engines":
                keys = [
                    f"{SHARE_NUMBERS.get(name, name)} {value}" for name, value in values.items()
                ]
            for _, group in values.groupby(keys, sort=False):
                names = tuple(group.index)
                unmeasured = _unmeasured(catalogs, table, field, names)
                found.append(Constant(table, field, names, group.iloc[0], unmeasured))
    return found


def _unmeasured(catalogs, table, field, names):
    """Value of a number that nobody has measured: that of a similar entry, or no effect."""
    entries = getattr(catalogs, table)
    if table == "earlier_releases":
        return PUBLISHED.get(field, np.nan)  # or as the newest release
    if table in ("engines", "serving_steps", "utilization"):
        keys = entries["card_class"] if table == "utilization" else pd.Series(entries.index)
        of_keys = dict(zip(keys, entries[field], strict=True))
        named = keys[entries.index.isin(names)]
        return next((of_keys[LIKE[key]] for key in named if key in LIKE), of_keys[named.iloc[0]])
    unit = entries["unit"][names[0]] if table == "time_constants" else field
    return 1.0 if unit.endswith("ratio") else 0.0


def with_values(catalogs, values):
    """Return the catalogs with other values for some constants."""
    tables = {}
    for constant, value in values.items():
        table = tables.setdefault(constant.table, getattr(catalogs, constant.table).copy())
        table.loc[[*constant.entries], constant.field] = value
    return replace(catalogs, **tables)


def mark_assumed(catalogs, entries):
    """Return the catalogs with entries marked as assumed, which have wider ranges."""
    tables = {}
    for table, name in entries:
        if table in ("engines", "utilization", "serving_steps", "kernels"):
            changed = tables.setdefault(table, getattr(catalogs, table).copy())
            changed.loc[name, "basis"] = "assumed"
            if table == "engines":
                for end in ("time_low_ratio", "time_high_ratio"):
                    changed.loc[name, end] = changed.loc[UNMEASURED, end]
    return replace(catalogs, **tables)
