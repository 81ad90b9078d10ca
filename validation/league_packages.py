"""Other authors' estimators of memory, each asked through its own functions.

Each function takes a row, its model and whether the peak is what was allocated, and returns bytes.
It raises Refused where its package has no word for the row."""

import numpy as np
from ftuneai import Estimator
from gpu_estimator import GPUEstimator
from iaexplore_llm_profiler import (
    calculate_vram_kv,
    calculate_vram_overhead,
    calculate_vram_weights,
)
from llm_analysis import analysis as llm_analysis
from llm_analysis.config import DtypeConfig, GPUConfig, ModelConfig, ParallelismConfig
from llm_sizer.catalog import ModelSpec
from llm_sizer.sizing import estimate_vram
from modelinfo.calculator import calculate_footprint
from vramcalc.arch import SUPPORTED_MODEL_TYPES, Arch
from vramcalc.estimate import EstimateParams, estimate_from_params
from vramscout.memory import breakdown_for_context
from vramscout.types import ModelSpec as ScoutModel

GIB = 2**30
ONE_GPU = {
    "gpus": 1,
    "sharding": "none",
    "offload": "none",
    **dict.fromkeys(("tensor_parallel", "pipeline_parallel"), 1),
}
PLAIN = ONE_GPU | {
    "context_parallel": 1,
    "expert_parallel": 1,
    "kv_precision": "",
    "objective": "sft",
}
WIDTHS = {"fp32": 4.0, "bf16": 2.0, "fp16": 2.0, "int8": 1.0, "int4": 0.5}


class Refused(ValueError):
    """The estimator cannot answer what the row asks."""


def only(row, **allowed):
    """Refuse a row with a choice that an estimator does not know."""
    for name, values in {**{name: (value,) for name, value in PLAIN.items()}, **allowed}.items():
        if values is not None and row.get(name, values[0]) not in values:
            raise Refused(f"{name} {row[name]}")


def by_vramcalc(row, model, is_allocated):
    """Weights, states, activations and workspace of a few families. [B]"""
    trains = row["work"] == "training"
    only(
        row,
        recompute=("none", "full"),
        optimizer=("adamw", "sgd"),
        tuning=("full", "lora"),
        lora_targets=("all-linear",),
    )
    precision = {"bf16-mixed": "bf16", "fp16-mixed": "fp16"}.get(row["precision"], row["precision"])
    if model["model_type"] not in SUPPORTED_MODEL_TYPES or precision not in (
        "fp32",
        "bf16",
        "fp16",
    ):
        raise Refused(f"{model['model_type']} in {row['precision']}")
    sizes = {
        "hidden_size": "hidden",
        "num_layers": "layers",
        "num_heads": "heads",
        "num_kv_heads": "kv_heads",
        "head_dim": "head_dim",
    }
    arch = Arch(
        **{name: int(model[ours]) for name, ours in sizes.items()},
        intermediate_size=int(row["ffn"]),
        vocab_size=int(model["vocab"]),
        tie_word_embeddings=bool(model["tied"]),
        attention_bias=model["model_type"] == "qwen2",
        norms_per_layer=4 if model["model_type"] == "gemma2" else 2,
    )
    lora = trains and row["tuning"] == "lora"
    params = EstimateParams(
        arch=arch,
        mode="train" if trains else "inference",
        dtype=precision,
        batch=int(row["batch"]),
        seq_len=int(row["sequence_tokens"]),
        lora_rank=int(row["lora_rank"]) if lora else None,
        grad_checkpoint=row["recompute"] == "full",
        optimizer=row["optimizer"],
        precision="amp" if row["precision"].endswith("-mixed") else "pure",
        attn_impl=row["attention"],
        overhead_gb=0.75,
    )
    result = estimate_from_params(params)
    return result.total + (0 if is_allocated else result.overhead)


def by_ftuneai(row, model, is_allocated):
    """Fine-tuning of the models in its own list. [B]"""
    only(
        row,
        work=("training",),
        recompute=("none", "full"),
        sharding=("none", "zero2", "zero3"),
        gpus=None,
    )
    method = (
        "full"
        if row["tuning"] == "full"
        else "qlora"
        if row["precision"].startswith("nf4")
        else "lora"
    )
    optimizers = {"adamw": "adamw", "adamw-8bit": "adam_8bit", "sgd": "sgd"}
    if row["optimizer"] not in optimizers or row["lora_targets"] not in ("all-linear", "attention"):
        raise Refused(f"{row['optimizer']}, {row['lora_targets']}")
    sharding = {"zero2": "zero_2", "zero3": "zero_3"}.get(row["sharding"], "none")
    predicted = Estimator(
        model["hf_repo"].replace("Meta-Llama-3.1", "Llama-3.1"),
        method=method,
        quantization="4bit" if method == "qlora" else "none",
        batch_size=int(row["batch"]),
        seq_length=int(row["sequence_tokens"]),
        gradient_checkpointing=row["recompute"] == "full",
        optimizer=optimizers[row["optimizer"]],
        lora_rank=int(row["lora_rank"]),
        lora_target=row["lora_targets"].replace("-", "_"),
        flash_attention=row["attention"] == "flash",
        sharding=sharding,
        num_gpus=int(row["gpus"]),
    ).estimate_memory()
    return (predicted.total_gb - predicted.overhead_gb * is_allocated) * GIB


def by_gpu_estimator(row, model, is_allocated):
    """Full training by the number of parameters. [B]"""
    only(
        row,
        work=("training",),
        tuning=("full",),
        recompute=("none", "full"),
        optimizer=("adamw", "sgd"),
    )
    precision = row["precision"].partition("-")[0]
    if precision not in ("fp32", "bf16", "fp16"):
        raise Refused(row["precision"])
    result = GPUEstimator().estimate(
        model["parameters"],
        batch_size=int(row["batch"]),
        sequence_length=int(row["sequence_tokens"]),
        precision=precision,
        optimizer="adam" if row["optimizer"] == "adamw" else "sgd",
        gpu_memory_gb=1e6,
        gradient_checkpointing=row["recompute"] == "full",
    )
    return result.total_memory_gb / (1.2 if is_allocated else 1) * GIB


def by_llm_sizer(row, model, _):
    """Weights and KV cache of serving, without grouped heads. [B]"""
    only(row, work=("inference",))
    if row["precision"] not in WIDTHS:
        raise Refused(row["precision"])
    spec = ModelSpec(model["name"], model["parameters"], int(model["layers"]), int(model["hidden"]))
    return estimate_vram(
        spec, WIDTHS[row["precision"]], int(row["sequence_tokens"]), int(row["batch"])
    ).total_bytes


def by_llm_analysis(row, model, _):
    """Weights, gradients, states and activations by Megatron's formulas. [B]

    For serving: weights and KV cache.
    """
    trains = row["work"] == "training"
    sharding = {
        "none": "NONE",
        "zero1": "STAGE_1",
        "zero2": "STAGE_2",
        "zero3": "STAGE_3",
        "fsdp": "STAGE_3",
    }
    only(
        row,
        tuning=("full",),
        optimizer=("adamw",),
        recompute=("none", "full"),
        sharding=tuple(sharding),
        gpus=None,
    )
    precision = row["precision"].partition("-")[0]
    if precision not in ("bf16", "fp16") or model["active_parameters"] < model["parameters"]:
        raise Refused(f"{model['name']} in {row['precision']}")
    config = ModelConfig(
        name=model["name"],
        num_layers=int(model["layers"]),
        n_head=int(model["heads"]),
        hidden_dim=int(model["hidden"]),
        vocab_size=int(model["vocab"]),
        max_seq_len=max(int(model["max_position"]), int(row["sequence_tokens"])),
        num_key_value_heads=int(model["kv_heads"]),
        expansion_ratio=row["ffn"] / model["hidden"],
        model_type=model["model_type"],
    )
    card = GPUConfig("any", 1e6, 1e6, 1e6, 1e6, 1e6)
    analysis = llm_analysis.LLMAnalysis(
        config,
        card,
        DtypeConfig(),
        ParallelismConfig(dp_size=int(row["gpus"])),
        flops_efficiency=0.5,
    )
    if not trains:
        kept = analysis.inference(int(row["batch"]), max(int(row["sequence_tokens"]) - 1, 1), 1)
        return (
            kept["weight_memory_per_gpu"]
            + kept["kv_cache_memory_per_gpu"]
            + kept["prefill_activation_memory_per_gpu"]
        )
    recompute = "FULL" if row["recompute"] == "full" else "NONE"
    return analysis.training(
        batch_size_per_gpu=int(row["batch"]),
        gradient_accumulation_steps=1,
        seq_len=int(row["sequence_tokens"]),
        activation_recomputation=llm_analysis.ActivationRecomputation[recompute],
        ds_zero=llm_analysis.DSZeRO[sharding[row["sharding"]]],
        flash_attn=row["attention"] == "flash",
    )["(weight+op_state+grad+act)_memory_per_gpu"]


def by_profiler(row, model, is_allocated):
    """Weights, KV cache and a fixed overhead of serving. [B]"""
    only(row, work=("inference",))
    bits = 8 * WIDTHS.get(row["precision"], np.nan)
    cache = calculate_vram_kv(
        *(int(model[name]) for name in ("layers", "kv_heads", "head_dim")),
        int(row["sequence_tokens"]),
        int(row["batch"]),
    )
    return (
        calculate_vram_weights(model["parameters"] / 1e9, bits)
        + cache
        + calculate_vram_overhead() * (not is_allocated)
    ) * GIB


def by_modelinfo(row, model, is_allocated):
    """16-bit weights and KV cache of serving, from a model's config. [B]"""
    only(row, work=("inference",), precision=("bf16", "fp16"))
    config = {
        "num_hidden_layers": "layers",
        "num_attention_heads": "heads",
        "num_key_value_heads": "kv_heads",
        "hidden_size": "hidden",
    }
    weights = {"__metadata__": {"lazy_fetch": True, "total_size": 2 * model["parameters"]}}
    sizes = {name: int(model[ours]) for name, ours in config.items()}
    footprint = calculate_footprint(weights, int(row["sequence_tokens"]), int(row["batch"]), sizes)
    return footprint["total_memory_bytes"] - footprint["overhead_bytes"] * is_allocated


def by_vramscout(row, model, is_allocated):
    """Weights, KV cache, prefill and runtime of serving. [B]"""
    only(row, work=("inference",))
    if row["precision"] not in WIDTHS:
        raise Refused(row["precision"])
    numbers = {
        "num_params": "parameters",
        "num_layers": "layers",
        "hidden_size": "hidden",
        "num_attention_heads": "heads",
    }
    numbers |= {
        "num_kv_heads": "kv_heads",
        "head_dim": "head_dim",
        "max_context": "max_position",
        "vocab_size": "vocab",
    }
    spec = ScoutModel(
        model["name"],
        model["model_type"],
        **{name: int(model[ours]) for name, ours in numbers.items()},
    )
    batch, tokens = int(row["batch"]), int(row["sequence_tokens"])
    kept = breakdown_for_context(
        None, spec, tokens, batch, row["precision"], "fp16", safety_reserve_gib=0.0
    )
    runtime_gib = 0.0 if is_allocated else kept.runtime_fixed_gib
    return (
        kept.weights_gib
        + kept.kv_cache_gib
        + kept.recurrent_state_gib
        + kept.prefill_scratch_gib
        + runtime_gib
    ) * GIB


PACKAGES = {
    "vramcalc": by_vramcalc,
    "ftuneai": by_ftuneai,
    "gpu-estimator": by_gpu_estimator,
    "llm-sizer": by_llm_sizer,
}
PACKAGES |= {"llm-analysis": by_llm_analysis, "iaexplore-llm-profiler": by_profiler}
PACKAGES |= {"modelinfo-cli": by_modelinfo, "vramscout": by_vramscout}
