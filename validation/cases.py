"""Rows of truth -> cases: a scenario of the product, the result column it is held against, and the true bytes.

A row whose set-up the scenario columns cannot express is left out, with the reason.
"""

import pandas as pd

from validation.case_words import ATTENTION, LORA_TARGETS, OPTIMIZERS, PRECISIONS, case, model_id, read, size
from validation.parallel_cases import (
    context_parallel_steps,
    expert_parallel_steps,
    offloaded_steps,
    pipeline_steps,
    quantised_lora_steps,
    recomputing_steps,
    replicated_steps,
    sharded_steps,
    sharded_tensor_parallel_steps,
    tensor_parallel_steps,
)


def training_steps(row):
    """One training step on one GPU, of one micro-batch or of several."""
    left_out = {
        "the loop keeps the model's output": row.get("keep_out") == "1",
        "the model fills a KV cache while it trains": row.get("use_cache") == "1",
        "the model's own dropout is overridden": row.get("dropout_override", "") != "",
        "a rule was read off it": row.get("rule_from_it") == "1",
    }
    optimizer, kernel = OPTIMIZERS[row["optimizer"]]
    rank, _, where = row["lora"].partition(":")
    scenario = {
        "work": "training",
        "model": model_id(row["model"]),
        "precision": PRECISIONS[row["mode"]],
        "tuning": "lora" if row["lora"] else "full",
        "lora_rank": int(rank[1:]) if rank else 16,
        "lora_targets": LORA_TARGETS.get(where, "all-linear"),
        "optimizer": optimizer,
        "optimizer_kernel": kernel,
        "recompute": "full" if row["ckpt"] == "1" else "none",
        "attention": ATTENTION[row["attn"]],
        "accumulation_steps": int(row.get("accum") or 1),
        **size(row),
    }
    several = "gradient accumulation" if scenario["accumulation_steps"] > 1 else ""
    yield case(several or ("LoRA" if row["lora"] else "training"), row, scenario, "allocated_peak_bytes", row["step_peak"], left_out)
    if not several:
        yield case("saved activations", row, scenario, "saved_activations_bytes", row["end_fwd_act"], left_out)


def inference_passes(row):
    """A prefill of the whole sequence and one more token."""
    scenario = {
        "work": "inference",
        "model": model_id(row["model"]),
        "precision": PRECISIONS[row["dtype"]],
        "kv_precision": "fp32" if row["dtype"] == "fp32" else "",
        "attention": ATTENTION[row["attn"]],
        "logits": "all" if row["logits_to_keep"] == "all" else "last",
        **size(row),
    }
    truth = max(int(row["prefill_peak"]), int(row["decode_peak"]))
    return case("inference", row, scenario, "allocated_peak_bytes", truth)


def caches(row):
    """The KV cache after one forward pass at six lengths; a sliding window is still a view of all tokens then."""
    for column, truth in row.items():
        if column.startswith("cache_bytes_b1_s") and truth:
            tokens = int(column.removeprefix("cache_bytes_b1_s"))
            scenario = {"work": "inference", "model": model_id(row["model"]), "batch": 1, "sequence_tokens": tokens}
            yield case("KV cache", {**row, "seq": tokens, "batch": 1}, scenario, "kv_cache_bytes", truth)


OTHER_MODELS = {"Mixtral-8x22B": "the vocabulary of v0.3, 32768; the catalog has v0.1, 32000"}


def counts(row):
    """Parameters of a model."""
    scenario = {"work": "inference", "model": model_id(row["model"])}
    left_out = {OTHER_MODELS.get(row["model"], ""): row["model"] in OTHER_MODELS}
    return case("parameters", {**row, "layers": ""}, scenario, "parameters", row["total_params"], left_out)


def measurements(row):
    """A case that a real GPU ran: what PyTorch allocated at most, and what the driver counted at most."""
    words = ("work", "model", "precision", "tuning", "lora_targets", "optimizer", "optimizer_kernel", "recompute")
    numbers = ("lora_rank", "batch", "sequence_tokens")
    scenario = {name: row[name] for name in (*words, "attention", "logits") if row[name]}
    scenario |= {name: int(row[name]) for name in numbers if row[name]}
    scenario |= {"kv_precision": "fp32"} if row["precision"] == "fp32" and row["work"] == "inference" else {}
    left_out = {f"{row['status']} on {row['card']}": row["status"] != "ok"}
    for quantity, truth in (("logged_peak_bytes", "peak_allocated_bytes"), ("memory_bytes", "peak_driver_bytes")):
        yield case(f"measured {row['work']}", row, scenario, quantity, row[truth] or "nan", left_out)


NOT_OF_A_PUBLISHED_RUN = {"source", "note", "confidence", "outcome", "quantity", "gigabytes", "left_out", "gpu"}


def published_scenario(row):
    """The scenario of a published run."""
    said = {name: value for name, value in row.items() if name not in NOT_OF_A_PUBLISHED_RUN and value}
    return {name: int(value) if value.isdigit() else value for name, value in said.items()}


def published_peaks(row):
    """What people published of a run: its allocated peak, or what the allocator had reserved; nothing where it only ran."""
    if not row["gigabytes"]:
        return []
    reserved = row["quantity"] == "reserved_bytes"
    quantity = {"reserved_bytes": "memory_bytes", "allocated_peak_bytes": "logged_peak_bytes"}.get(row["quantity"], row["quantity"])
    truth = 1e9 * float(row["gigabytes"])
    group = f"published {row['work']}, {row['confidence']} confidence"
    made = case(group, {**row, "layers": ""}, published_scenario(row), quantity, truth, {row["left_out"]: row["left_out"] != ""})
    return [made | {"published_by": row["source"], "lacks_context": float(reserved)}]


SOURCES = (
    ("params.csv", counts),
    ("kv.csv", caches),
    ("train_peaks.csv", training_steps),
    ("held_out_train.csv", training_steps),
    ("held_out_2_train.csv", training_steps),
    ("infer_peaks.csv", inference_passes),
    ("held_out_infer.csv", inference_passes),
    ("held_out_2_infer.csv", inference_passes),
    ("parallel/fsdp_peaks.csv", sharded_steps),
    ("held_out_fsdp.csv", sharded_steps),
    ("held_out_2_fsdp.csv", sharded_steps),
    ("parallel/hsdp.csv", sharded_steps),
    ("accumulation.csv", training_steps),
    ("parallel/pipeline.csv", pipeline_steps),
    ("parallel/context.csv", context_parallel_steps),
    ("parallel/experts.csv", expert_parallel_steps),
    ("parallel/offload.csv", offloaded_steps),
    ("parallel/ddp_peaks.csv", replicated_steps),
    ("parallel/tp.csv", tensor_parallel_steps),
    ("parallel/fsdp_tp.csv", sharded_tensor_parallel_steps),
    ("parallel/qlora.csv", quantised_lora_steps),
    ("parallel/sac.csv", recomputing_steps),
    ("published_memory.csv", published_peaks),
    ("measured.csv", measurements),
)


def all_cases():
    """Every case as a table: scenario columns, group, source, quantity, truth, left_out."""
    rows = []
    for source, reader in SOURCES:
        for number, row in enumerate(read(source), start=1):
            made = reader(row)
            for one in [made] if isinstance(made, dict) else made:
                rows.append({"case": f"{source.removesuffix('.csv')} {number}", "source": source, **one})
    return pd.DataFrame(rows).fillna({"published_by": "", "lacks_context": 0.0})
