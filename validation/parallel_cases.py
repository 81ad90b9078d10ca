"""Rows of truth on several GPUs, and of the parts of a training step that were simulated with four blocks, as cases."""

from validation.case_words import OPTIMIZERS, PRECISIONS, case, model_id, read, size

RULE = "a rule was read off it"
KEPT = {"none": "none", "full": "full", "op": "selective-ops", "op (mm every 2nd + sdpa)": "selective-ops"}


def sharded_steps(row):
    """One step of FSDP2 on one of `world` GPUs, in `replicas` groups where it is hybrid."""
    stored, computed, reduced = row["master"], row["param"], row["reduce"]
    computed = stored if computed == "none" else computed
    reduced = computed if reduced == "none" else reduced
    optimizer, kernel = OPTIMIZERS[row["opt"]]
    titan, replicas = row["wrap"] == "titan", int(row.get("replicas") or 1)
    whole = "zero3" if row["raf"] == "1" else "zero2"
    left_out = {
        "explicit prefetch depth": row["fwd_prefetch"] != "0" or row["bwd_prefetch"] != "0",
        "torchtitan's wrapping of a transformers model": titan and row["ac"] == "none",
        "a loss inside the model, which torchtitan has outside": titan and row["fwd_peak"] == row["step_peak"],
    }
    scenario = {
        "work": "training",
        "model": model_id(row["model"]),
        "precision": {"fp32bf16": "bf16-mixed", "fp32fp32": "fp32", "bf16bf16": "bf16"}[stored + computed],
        "reduce_precision": reduced,
        "optimizer": optimizer,
        "optimizer_kernel": kernel,
        "recompute": "none" if row["ac"] == "none" else "full",
        "sharding": f"hsdp-{int(row['world']) // replicas}" if replicas > 1 else whole,
        "gpus": int(row["world"]),
        "accumulation_steps": int(row["accum"] or 0) + 1,
        "implementation": "torchtitan" if titan else "transformers",
        **size(row),
    }
    return case("HSDP" if replicas > 1 else "FSDP", row, scenario, "allocated_peak_bytes", row["step_peak"], left_out)


def offloaded_steps(row):
    """One step of FSDP2 whose shards live in CPU memory (CPUOffloadPolicy)."""
    made = sharded_steps(row) | {"offload": "states", "group": "CPU offload"}
    return made | ({"left_out": RULE} if row["rule_from_it"] == "1" else {})


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
    left_out = {
        "gradients as views of the buckets": row["gradient_as_bucket_view"] == "1",
        "gradients set to zero instead of none": row["after_zero_grad_grad"] not in ("", "0"),
    }
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


def sharded_tensor_parallel_steps(row):
    """One step of torchtitan's Llama under FSDP2 with tensor parallel, on one of a grid of GPUs."""
    scenario = {
        "work": "training",
        "model": model_id(row["model"]),
        "precision": "bf16-mixed",
        "reduce_precision": row["reduce"],
        "optimizer": "adamw",
        "optimizer_kernel": "fused",
        "recompute": KEPT[row["ac"]],
        "tie_embeddings": "no",
        "implementation": "torchtitan",
        "sharding": "zero3",
        "gpus": int(row["data_parallel"]) * int(row["tensor_parallel"]),
        "tensor_parallel": int(row["tensor_parallel"]),
        **size(row),
    }
    return case("FSDP with tensor parallel", row, scenario, "allocated_peak_bytes", row["step_peak"])


def _of_titan(row):
    """What steps of torchtitan's Llama have in common: FSDP2 beside the layout where `data` x `context` is more than one."""
    shares = int(row["data"]) * int(row.get("context") or 1) > 1
    return {
        "work": "training",
        "model": model_id(row["model"]),
        "precision": "bf16-mixed" if shares else "bf16",
        "reduce_precision": row["reduce"],
        "recompute": KEPT[row["ac"]],
        "sharding": "zero3" if shares else "none",
        "implementation": "torchtitan",
        "tie_embeddings": "no",
        **size(row),
    }


def pipeline_steps(row):
    """One step of a pipeline of torchtitan's Llama under torch's own schedules; the fuller of the first and the last stage."""
    scenario = _of_titan(row) | {
        "gpus": int(row["pipeline"]) * int(row["data"]),
        "pipeline_parallel": int(row["pipeline"]),
        "pipeline_chunks": int(row["chunks"]),
        "accumulation_steps": int(row["micro_batches"]),
    }
    truth = max(int(row["first_peak"]), int(row["last_peak"]))
    left_out = {RULE: row["rule_from_it"] == "1"}
    return case("pipeline parallel", row, scenario, "allocated_peak_bytes", truth, left_out)


def context_parallel_steps(row):
    """One step of torchtitan's Llama under FSDP2 and torch's own ring of context parallel."""
    scenario = _of_titan(row) | {"gpus": int(row["data"]) * int(row["context"]), "context_parallel": int(row["context"])}
    return case("context parallel", row, scenario, "allocated_peak_bytes", row["step_peak"], {RULE: row["rule_from_it"] == "1"})


def expert_parallel_steps(row):
    """One step of torchtitan's blocks with routed experts under FSDP2, its expert parallel inside."""
    scenario = _of_titan(row) | {"gpus": int(row["data"]), "expert_parallel": int(row["expert"])}
    return case("expert parallel", row, scenario, "allocated_peak_bytes", row["step_peak"], {RULE: row["rule_from_it"] == "1"})


def quantised_lora_steps(row):
    """Forward and backward of four blocks with LoRA over an NF4 or int8 base; no optimizer ran."""
    left_out = {"reentrant checkpointing": row["ckpt"] == "2"}
    scenario = {
        "work": "training",
        "model": model_id(row["model"]),
        "precision": {"nf4": "nf4-dq", "int8": "int8"}[row["quant"]] + "-prepared" * int(row["prepared_and_autocast"]),
        "tuning": "lora",
        "lora_rank": int(row["r"]),
        "optimizer": "sgd",
        "recompute": "full" if row["ckpt"] == "1" else "none",
        "tie_embeddings": "no",
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
