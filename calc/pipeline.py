"""Runs the formulas over a table of scenarios: one row and a million take the same way."""

import numpy as np
import pandas as pd

from calc import layout
from calc.cost.bill import bill_columns
from calc.evaluate import evaluate, evaluate_all
from calc.memory import components as memory
from calc.memory import outside_blocks, overhead, phases, saved_activations, serving_engine
from calc.memory.derived import derive_before_blocks, derive_widths
from calc.scenarios.join import PRICE_WORDS, join
from calc.scenarios.layout_rules import check_layout
from calc.scenarios.read import BY_NAME, Problems, as_frame, fit_positions, inputs_by_name, read_inputs

CHUNK_ROWS = 50_000
STAGES = ((1.0, 0.0), (0.0, 1.0))  # the first and the last stage of a pipeline: embedding, head
# What a block's bytes per token depend on; in a large table few combinations differ.
BLOCK_KEYS = (
    "model_row", "activation_format", "attention", "sequence_tokens", "decoder_tokens", "tensor_parallel", "recompute", "implementation",
    "compile", "adapts", "lora_rank", "lora_targets", "adapter_bytes_each", "precision", "batch",
)
COUNTS = ("parameters", "active_parameters", "trained_parameters")


def estimate(table, catalogs, solve=True):
    """Scenarios (a DataFrame, or one dict) with defaults filled in, followed by the results; same order, every row present.

    Without `solve` the largest batch and sequence stay empty.
    """
    frame = as_frame(table)
    rows = frame if len(frame) else pd.DataFrame({"model": [""]})  # a table without rows takes its columns from one
    parts = [_estimate_chunk(rows.iloc[start:start + CHUNK_ROWS], catalogs, solve) for start in range(0, len(rows), CHUNK_ROWS)]
    results = parts[0].iloc[:len(frame)] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    extra = [name for name in frame.columns if name not in results.columns]
    if extra:
        results = pd.concat([frame[extra].reset_index(drop=True), results], axis=1)
    return results.iloc[0].to_dict() if isinstance(table, dict) else results


def _estimate_chunk(frame, catalogs, solve):
    columns, _ = scenario_results(frame, catalogs, solve)
    return pd.DataFrame(columns)


def prepare(frame, catalogs):
    """Inputs read and joined with the catalogs, and what is wrong with them."""
    problems = Problems(len(frame))
    inputs = read_inputs(frame, problems)
    table = join(inputs, catalogs, problems)
    fit_positions(table, problems)
    check_layout(table, problems)
    table["rows"] = len(frame)
    return inputs, table, problems


def scenario_results(frame, catalogs, solve=True):
    """Input and result columns of a table of scenarios as a dict, and the joined table that they came from."""
    from calc.largest import SOLVED, solve_columns

    _, table, problems = prepare(frame, catalogs)
    results = memory_columns(table, catalogs)
    table.update(results)
    uncovered = np.isnan(results["allocated_peak_bytes"])
    problems.add(uncovered, lambda row: _not_covered(table, row, catalogs))
    bad, unknown = problems.text != "", table["unknown_model"]
    evaluate_all(overhead.VERDICT, table)
    bill = bill_columns(table, catalogs)
    misplaced = bill.pop("placement_problem")
    problems.add(misplaced != "", lambda row: misplaced[row])
    table["fits"] = np.where(problems.text != "", "", table["fits"])
    results |= {name: table[name] for name in ("gpu_memory_bytes", "headroom_bytes", "fits")}
    results |= solve_columns(table, catalogs) if solve else {name: np.full(table["rows"], np.nan) for name in SOLVED}
    results |= {name: np.where(misplaced != "", "" if values.dtype == object else np.nan, values) for name, values in bill.items()}
    results |= {name: table[name] for name in PRICE_WORDS}
    for name, values in results.items():
        empty = unknown if name in COUNTS else bad
        results[name] = np.where(empty, "" if values.dtype == object else np.nan, values)
    shown = {name: table[name] for name in BY_NAME}
    assumed = {name: np.broadcast_to(table[name], table["rows"]) for name in inputs_by_name() if name not in shown}
    return {**shown, **results, **assumed, "problem": problems.text}, table


def phases_table(scenario, catalogs):
    """The components at the largest moment of every phase of one scenario: rows (phase, component, bytes)."""
    frame = as_frame(scenario if isinstance(scenario, dict) else scenario.to_dict())
    _, table, _ = prepare(frame, catalogs)
    training = bool(table["trains"][0] > 0)
    unstaged = memory_before_stages(table, catalogs)
    pairs = None
    for embedding, head in STAGES if table["pipeline_parallel"][0] > 1 else ((1.0, 1.0),):
        found = phases.moments(table_here(unstaged, training, embedding, head), training)
        totals = [float(np.sum(np.broadcast_to(sum(parts.values()), 1))) for _, parts in found]
        if pairs is None or max(totals) > max(pairs[1]):
            pairs = found, totals
    rows = []
    for phase in phases.PHASES:
        ranked = [(total, parts) for (name, parts), total in zip(*pairs, strict=True) if name == phase]
        if ranked:
            largest = max(ranked, key=lambda pair: pair[0])[1]
            parts = {name: float(np.broadcast_to(largest.get(name, 0.0), 1)[0]) for name in phases.PARTS}
            rows += [{"phase": phase, "component": name, "bytes": value} for name, value in parts.items()]
    return pd.DataFrame(rows)


def _not_covered(table, row, catalogs):
    kinds = [*catalogs.blocks, "an unknown kind"]
    kind = kinds[int(table["stack_kind"][0, row])]
    how = " with LoRA" if table["adapts"][row] else ""
    chosen = ", ".join(f"{name} {table[name][row]}" for name in ("precision", "attention", "recompute"))
    return f"Blocks of kind {kind} were not measured with {chosen}{how}; choose another precision, attention or recompute."


def memory_columns(table, catalogs):
    """Memory results of every row: training rows and serving rows each by their own phases, and the fuller end of a
    pipeline."""
    rows = table["rows"]
    out = {}
    for training in (True, False):
        chosen = np.flatnonzero((table["trains"] > 0) == training)
        if not len(chosen):
            continue
        part = take(table, chosen) if len(chosen) < rows else table
        found = _memory_of_kind(part, catalogs, training)
        for name, values in found.items():
            if name not in out:
                out[name] = np.full(rows, "" if values.dtype == object else np.nan, dtype=values.dtype)
            out[name][chosen] = values
    return out


def take(table, chosen):
    """The chosen rows of a table of columns and stack columns."""
    rows = table["rows"]
    def per_row(values):
        return isinstance(values, np.ndarray) and values.ndim and values.shape[-1] == rows

    picked = {name: values[..., chosen] if per_row(values) else values for name, values in table.items()}
    return picked | {"rows": len(chosen)}


def distinct(table, names):
    """The first row of each distinct combination of columns, and for every row which combination it is."""
    code = np.zeros(table["rows"], dtype=np.int64)
    for name in names:
        codes, found = pd.factorize(table[name])
        code, _ = pd.factorize(code * (len(found) + 1) + codes)
    first = np.zeros(code.max() + 1, dtype=np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]
    return first, code


def _memory_of_kind(table, catalogs, training):
    best = None
    staged = table["pipeline_parallel"].max() > 1
    unstaged = memory_before_stages(table, catalogs)
    for embedding, head in (STAGES if staged else ((1.0, 1.0),)):
        here = memory_here(unstaged, training, embedding, head)
        if best is None:
            best = here
        else:
            fuller = here["allocated_peak_bytes"] > best["allocated_peak_bytes"]
            best = {name: np.where(fuller, here[name], best[name]) for name in best}
    return best


def memory_before_stages(table, catalogs):
    """All that does not depend on the pipeline stage."""
    table = dict(table)
    table["offloads_weights"] = (table["offload"] == "all") * table["trains"]
    evaluate_all(layout.LAYOUT, table)
    derive_before_blocks(table)
    table["stack_attention_case"] = evaluate(saved_activations.attention_case, table)
    first, copies = distinct(table, BLOCK_KEYS)
    once = take(table, first) if len(first) < table["rows"] / 2 else table
    once["stack_sizes"] = evaluate(saved_activations.block_sizes, once)
    for name, values in saved_activations.block_columns(once, catalogs).items():
        values = np.where(once["stack_layers"] > 0, values, 0.0)
        table[name] = values[:, copies] if once is not table else values
    outside_blocks.head_columns(table, catalogs)
    evaluate_all(memory.BEFORE_BLOCKS, table)
    return table


def memory_here(unstaged, training, holds_embedding, holds_head):
    """Memory at one end of the pipeline; both ends where there is none."""
    table = table_here(unstaged, training, holds_embedding, holds_head)
    breakdown, phase, _ = phases.peak(phases.moments(table, training), table["rows"])
    evaluate_all((trained_parameters, memory.offloaded_bytes), table)
    result = {name: np.broadcast_to(table[name], table["rows"]).astype(float) for name in COUNTS} | breakdown
    result["allocated_peak_bytes"] = sum(breakdown.values())
    saved = table["saved_activations_bytes"] if training else np.nan
    result["saved_activations_bytes"] = np.broadcast_to(saved, table["rows"]).astype(float)
    table["allocated_peak_bytes"] = result["allocated_peak_bytes"]
    evaluate_all(overhead.OVERHEAD, table)
    for name in ("overhead_bytes", "memory_bytes", "memory_low_bytes", "memory_high_bytes", "context_bytes", "offloaded_bytes"):
        result[name] = table[name]
    return result | {"peak_phase": phase}


def table_here(unstaged, training, holds_embedding, holds_head):
    """Every column that the phases read, at one end of the pipeline."""
    table = dict(unstaged)
    alone = table["pipeline_parallel"] == 1
    table["holds_embedding"] = np.where(alone, 1.0, holds_embedding)
    table["holds_head"] = np.where(alone, 1.0, holds_head)
    table["microbatches_in_flight"] = np.where(alone | (holds_head > 0), 1.0, table["pipeline_parallel"])
    evaluate_all(layout.HELD, table)
    derive_widths(table)
    evaluate_all(memory.RESIDENT, table)
    if training:
        evaluate_all(memory.TRAINING, table)
        evaluate_all((memory.dequantized_bytes,), table)
        evaluate_all(phases.BUFFERS, table)
        table["graphs_bytes"] = np.zeros_like(table["weights_bytes"])
    else:
        evaluate_all(memory.INFERENCE, table)
        evaluate_all(serving_engine.ENGINE, table)
        outside_blocks.inference_columns(table)
    return table


def trained_parameters(
    trains, adapts, parameters, stack_layers, stack_adapter_parameters, lora_rank, outside_adapter_width,
    adapts_experts,
):
    """Trained parameters of the whole model; all-linear also adapts linear layers outside the blocks."""
    outside = adapts_experts * lora_rank * outside_adapter_width
    return trains * np.where(adapts > 0, np.sum(stack_layers * stack_adapter_parameters, axis=0) + outside, parameters)
