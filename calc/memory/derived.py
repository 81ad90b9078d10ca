"""Columns that are choices turned into numbers: widths, shares and indicators that the memory formulas read."""

import numpy as np

from calc.memory.saved_activations import adapter_saved_bytes_per_token
from calc.scenarios.join import ADAPTED, PROJECTIONS

KERNELS = ("fused", "foreach", "loop")


def derive_before_blocks(table):
    """Adapter and offload columns, before blocks are looked up."""
    table["stack_adapter_parameters"] = table["lora_rank"] * sum(
        table[f"adapts_{p}"] * (table[f"stack_adapter_{p}_in"] + table[f"stack_adapter_{p}_out"]) for p in ADAPTED)
    table["stack_adapter_saved_bytes_per_token"] = adapter_saved_bytes_per_token(table, PROJECTIONS)
    offload = table["offload"]
    table["offloads_optimizer"] = np.isin(offload.astype(str), ["optimizer", "all"]).astype(float) * table["trains"]
    table["offloads_activations"] = np.isin(offload.astype(str), ["activations", "all"]).astype(float) * table["trains"]
    table["stack_largest_linear"] = table["stack_hidden"] * np.maximum.reduce([
        table["stack_ffn_width"], table["stack_query_width"], table["stack_expert_ffn_width"], table["stack_shared_ffn_width"]])


def derive_widths(table):
    """Widths of gathered weights and the step's temporaries, once the layout and the stage are known."""
    stored, computed = table["matrix_bytes_each"], np.maximum(table["compute_bytes_each"], 2.0)
    table["gathered_bytes_each"] = np.where(stored < 2, stored, computed)
    table["head_elements_here"] = table["head_matrix_parameters"] / table["vocabulary_split"]
    trained_blocks = np.maximum(table["blocks_parameters_here"], 1)
    table["trained_ratio"] = np.where(table["adapts"] > 0, table["adapter_parameters_here"] / trained_blocks, 1.0)
    kernel = [table["optimizer_kernel"] == name for name in KERNELS]
    narrow = table["state_bytes_each"] < 4
    fused = np.where(narrow, table["fused_largest_16bit_bytes_each"], table["fused_largest_32bit_bytes_each"])
    trained_width = np.where(table["adapts"] > 0, table["adapter_bytes_each"], table["matrix_bytes_each"])
    table["step_copies"] = np.select(kernel, [table["fused_copies"], table["foreach_copies"], 0 * fused])
    table["step_largest_bytes_each"] = np.select(kernel, [fused, 0 * fused, table["loop_largest_copies"] * trained_width])
