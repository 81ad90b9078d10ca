"""Rows of truth -> cases: a scenario of the product, the result column it is held against, and the true bytes.

A row whose set-up the scenario columns cannot express is left out, with the reason.
"""

import csv
from pathlib import Path

import pandas as pd

DATA = Path(__file__).parent / "data"

MODELS = {  # names in the data that are not the catalog's id in capitals
    "BERT-base": "bert-base-uncased",
    "BERT-large": "bert-large-uncased",
    "GPT-2": "gpt2",
    "GPT-2-medium": "gpt2-medium",
    "GPT-2-large": "gpt2-large",
    "GPT-2-xl": "gpt2-xl",
    "Gemma-3-4B-text": "gemma-3-4b",
    "Gemma-3-12B-text": "gemma-3-12b",
    "Gemma-3-27B-text": "gemma-3-27b",
    "ViT-L/16": "vit-large-patch16",
}
PRECISIONS = {"bf16": "bf16", "fp32": "fp32", "fp16": "fp16", "amp": "bf16-mixed"}
OPTIMIZERS = {
    "adamw_foreach": ("adamw", "foreach"),
    "adamw_fused": ("adamw", "fused"),
    "adamw_forloop": ("adamw", "loop"),
    "sgd": ("sgd", "foreach"),
    "sgd_momentum": ("sgd-momentum", "foreach"),
    "sgd_momentum_forloop": ("sgd-momentum", "loop"),
    "adafactor_hf": ("adafactor", "fused"),
    "adafactor_torch": ("adafactor", "loop"),
    "adafactor_torch_foreach": ("adafactor", "foreach"),
}
ATTENTION = {"sdpa": "flash", "eager": "eager"}
LORA_TARGETS = {"attn": "attention", "all": "all-linear"}
KEPT = {"none": "none", "full": "full", "op": "selective-ops", "op (mm every 2nd + sdpa)": "selective-ops"}


def model_id(name):
    return MODELS.get(name, name.lower())


def read(name):
    """The rows of a data file as dicts of text; none where the file is not there yet."""
    path = DATA / name
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def size(row):
    return {"batch": int(row["batch"]), "sequence_tokens": int(row["seq"])}


def training_steps(row):
    """One training step on one GPU."""
    left_out = {
        "the loop keeps the model's output": row["keep_out"] == "1",
        "the model fills a KV cache while it trains": row["use_cache"] == "1",
        "the model's own dropout is overridden": row.get("dropout_override", "") != "",
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
        **size(row),
    }
    group = "LoRA" if row["lora"] else "training"
    yield case(group, row, scenario, "allocated_peak_bytes", row["step_peak"], left_out)
    yield case("saved activations", row, scenario, "saved_activations_bytes", row["end_fwd_act"], left_out)


def inference_passes(row):
    """A prefill of the whole sequence and one more token."""
    scenario = {
        "work": "inference",
        "model": model_id(row["model"]),
        "precision": PRECISIONS[row["dtype"]],
        "attention": ATTENTION[row["attn"]],
        "logits": "all" if row["logits_to_keep"] == "all" else "last",
        **size(row),
    }
    truth = max(int(row["prefill_peak"]), int(row["decode_peak"]))
    return case("inference", row, scenario, "allocated_peak_bytes", truth)


def sharded_steps(row):
    """One step of FSDP2 on one of `world` GPUs."""
    stored, computed, reduced = row["master"], row["param"], row["reduce"]
    computed = stored if computed == "none" else computed
    reduced = computed if reduced == "none" else reduced
    optimizer, kernel = OPTIMIZERS[row["opt"]]
    titan = row["wrap"] == "titan"
    left_out = {
        "explicit prefetch depth": row["fwd_prefetch"] != "0" or row["bwd_prefetch"] != "0",
        "torchtitan's wrapping of a transformers model": titan and row["ac"] == "none",
    }
    scenario = {
        "work": "training",
        "model": model_id(row["model"]),
        "precision": {"fp32bf16": "bf16-mixed", "fp32fp32": "fp32", "bf16bf16": "bf16"}[stored + computed],
        "reduce_precision": reduced,
        "optimizer": optimizer,
        "optimizer_kernel": kernel,
        "recompute": "none" if row["ac"] == "none" else "full",
        "sharding": "zero3" if row["raf"] == "1" else "zero2",
        "gpus": int(row["world"]),
        "accumulation_steps": int(row["accum"] or 0) + 1,
        "implementation": "torchtitan" if titan else "transformers",
        **size(row),
    }
    return case("FSDP", row, scenario, "allocated_peak_bytes", row["step_peak"], left_out)


def replicated_steps(row):
    """One step of DDP on one of `world` GPUs."""
    optimizer, kernel = OPTIMIZERS[row["opt"]]
    scenario = {
        "work": "training",
        "model": model_id(row["model"]),
        "precision": PRECISIONS[row["mode"]],
        "optimizer": optimizer,
        "optimizer_kernel": kernel,
        "recompute": "full" if row["ckpt"] == "1" else "none",
        "gpus": int(row["world"]),
        **size(row),
    }
    left_out = {"gradients as views of the buckets": row["gradient_as_bucket_view"] == "1"}
    return case("DDP", row, scenario, "allocated_peak_bytes", row["step_peak"], left_out)


def tensor_parallel_steps(row):
    """Forward and backward of four blocks of torchtitan's Llama under tensor parallel; no optimizer ran."""
    left_out = {
        "tensor parallel without sequence parallel": row["sequence_parallel"] == "0",
        "tensor parallel without loss parallel": row["loss_parallel"] == "0",
        "torchtitan with unfused norms": row["norm"] == "composite",
        "torchtitan with grouped heads in the kernel": row["enable_gqa"] == "1",
    }
    scenario = {
        "work": "training",
        "model": model_id(row["model"]),
        "precision": "bf16",
        "optimizer": "sgd",
        "recompute": KEPT[row["ac"]],
        "tie_embeddings": "no",
        "implementation": "torchtitan",
        "gpus": int(row["tp"]),
        "tensor_parallel": int(row["tp"]),
        **size(row),
    }
    truth = max(int(row["L4_fwd_peak"]), int(row["L4_bwd_peak"]))
    return case("tensor parallel", {**row, "layers": "4"}, scenario, "allocated_peak_bytes", truth, left_out)


def quantised_lora_steps(row):
    """Forward and backward of four blocks with LoRA over an NF4 or int8 base; no optimizer ran."""
    left_out = {
        "a base prepared in fp32 under autocast": row["prepared_and_autocast"] == "1",
        "reentrant checkpointing": row["ckpt"] == "2",
    }
    scenario = {
        "work": "training",
        "model": model_id(row["model"]),
        "precision": {"nf4": "nf4-dq", "int8": "int8"}[row["quant"]],
        "tuning": "lora",
        "lora_rank": int(row["r"]),
        "optimizer": "sgd",
        "recompute": "full" if row["ckpt"] == "1" else "none",
        **size(row),
    }
    truth = max(int(row["fwd_peak_4"]), int(row["bwd_peak_4"]))
    return case("QLoRA", {**row, "layers": "4"}, scenario, "allocated_peak_bytes", truth, left_out)


def recomputing_steps(row):
    """Forward and backward of four blocks under a recompute policy; no optimizer ran, parameters are not counted."""
    model = next(other for other in read("params.csv") if other["model"] == row["model"])
    parameters = int(model["params_outside_layers"]) + 4 * int(model["per_layer_params"])
    scenario = {
        "work": "training",
        "model": model_id(row["model"]),
        "precision": "bf16",
        "optimizer": "sgd",
        "recompute": KEPT.get(row["mode"], ""),
        **size(row),
    }
    left_out = {f"the recompute policy '{row['mode']}'": row["mode"] not in KEPT}
    truth = max(int(row["fwd_peak_minus_params_4"]), int(row["bwd_peak_minus_params_4"])) + 2 * parameters
    return case("recompute", {**row, "layers": "4"}, scenario, "allocated_peak_bytes", truth, left_out)


def caches(row):
    """The KV cache after one forward pass at six lengths."""
    for column, truth in row.items():
        if column.startswith("logical_bytes_b1_s") and truth:
            tokens = int(column.removeprefix("logical_bytes_b1_s"))
            scenario = {"work": "inference", "model": model_id(row["model"]), "batch": 1, "sequence_tokens": tokens}
            yield case("KV cache", {**row, "seq": tokens, "batch": 1}, scenario, "kv_cache_bytes", truth)


def counts(row):
    """Parameters of a model."""
    scenario = {"work": "inference", "model": model_id(row["model"])}
    return case("parameters", {**row, "layers": ""}, scenario, "parameters", row["total_params"])


def case(group, row, scenario, quantity, truth, left_out=()):
    """One case; `left_out` maps reasons to whether they hold."""
    reasons = [reason for reason, holds in dict(left_out).items() if holds]
    return {
        **scenario,
        "group": group,
        "layers": int(row.get("layers") or 0),
        "quantity": quantity,
        "truth": float(truth),
        "left_out": "; ".join(reasons),
    }


SOURCES = (
    ("params.csv", counts),
    ("kv.csv", caches),
    ("train_peaks.csv", training_steps),
    ("held_out_train.csv", training_steps),
    ("infer_peaks.csv", inference_passes),
    ("held_out_infer.csv", inference_passes),
    ("parallel/fsdp_peaks.csv", sharded_steps),
    ("held_out_fsdp.csv", sharded_steps),
    ("parallel/ddp_peaks.csv", replicated_steps),
    ("parallel/tp.csv", tensor_parallel_steps),
    ("parallel/qlora.csv", quantised_lora_steps),
    ("parallel/sac.csv", recomputing_steps),
)


def all_cases():
    """Every case as a table: scenario columns, group, source, quantity, truth, left_out."""
    rows = []
    for source, reader in SOURCES:
        for number, row in enumerate(read(source), start=1):
            made = reader(row)
            for one in [made] if isinstance(made, dict) else made:
                rows.append({"case": f"{source.removesuffix('.csv')} {number}", "source": source, **one})
    return pd.DataFrame(rows)
