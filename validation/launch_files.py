"""Writes a launch kit for each tool and way to run it, for validation/launch_parsers.py: `python -m validation.launch_files FOLDER`."""

import sys
from pathlib import Path

from calc import estimate, load_catalogs
from calc.files.launch.kit import kits
from calc.files.launch_files import files_of, write_folder

RUN = {"model": "llama-3.1-8b", "sequence_tokens": 4096, "recompute": "full", "train_tokens": 150e6}
FULL = {**RUN, "gpus": 8, "instance": "p5.48xlarge", "sharding": "zero3", "precision": "bf16-mixed"}
ONE = {**RUN, "gpus": 1, "instance": "p5.4xlarge", "precision": "bf16"}
SERVED = {"work": "inference", "implementation": "vllm", "instance": "g6e.12xlarge", "sequence_tokens": 8192}
BLOCK, SPOT = "capacity-block", "spot"
SCENARIOS = {  # name -> how it is paid for, and the scenario
    "fsdp": (SPOT, FULL),
    "zero2": (SPOT, {**FULL, "sharding": "zero2", "optimizer": "adamw-8bit", "optimizer_kernel": "loop"}),
    "one": (SPOT, {**ONE, "precision": "bf16-autocast", "loss": "fused", "compile": "yes"}),
    "qlora": (SPOT, {**ONE, "precision": "nf4-dq", "tuning": "lora"}),
    "hybrid": (BLOCK, {**FULL, "gpus": 16, "sharding": "hsdp-8"}),
    "offload": (SPOT, {**FULL, "gpus": 16, "implementation": "deepspeed", "precision": "bf16-master", "offload": "optimizer"}),
    "stage1": (SPOT, {**FULL, "implementation": "deepspeed", "precision": "bf16-master", "sharding": "zero1"}),
    "lora-deepspeed": (SPOT, {**FULL, "implementation": "deepspeed", "precision": "bf16", "tuning": "lora", "loss": "fused"}),
    "trl": (SPOT, {**FULL, "implementation": "trl", "offload": "activations"}),
    "trl-qlora": (SPOT, {**ONE, "implementation": "trl", "precision": "nf4-dq", "tuning": "lora"}),
    "dpo": (SPOT, {**FULL, "implementation": "trl", "objective": "dpo", "reference": "precomputed"}),
    "kto": (SPOT, {**ONE, "implementation": "trl", "objective": "kto", "batch": 2, "precision": "bf16-autocast", "tuning": "lora"}),
    "orpo": (SPOT, {**FULL, "implementation": "trl", "objective": "orpo"}),
    "grpo": (SPOT, {**FULL, "implementation": "trl", "objective": "grpo", "rollout": "colocated", "rollout_sleep": "yes"}),
    "grpo-server": (SPOT, {**FULL, "implementation": "trl", "objective": "grpo", "rollout": "own gpus", "rollout_gpus": 2}),
    "axolotl-kto": (SPOT, {**ONE, "implementation": "axolotl", "objective": "kto", "batch": 2, "tuning": "lora"}),
    "axolotl-grpo": (SPOT, {**FULL, "implementation": "axolotl", "objective": "grpo", "precision": "bf16"}),
    "factory-dpo": (SPOT, {**ONE, "implementation": "llama-factory", "objective": "dpo", "tuning": "lora"}),
    "factory-orpo": (SPOT, {**FULL, "implementation": "llama-factory", "objective": "orpo"}),
    "verl-grpo": (SPOT, {**FULL, "implementation": "verl", "objective": "grpo"}),
    "verl-ppo": (SPOT, {**FULL, "implementation": "verl", "objective": "ppo"}),
    "tune": (SPOT, {**FULL, "implementation": "torchtune", "precision": "bf16"}),
    "tune-lora": (SPOT, {**ONE, "model": "qwen2.5-7b", "implementation": "torchtune", "tuning": "lora", "adapter_precision": "bf16"}),
    "titan": (SPOT, {**FULL, "implementation": "torchtitan", "tensor_parallel": 2}),
    "megatron": (
        BLOCK,
        {**FULL, "gpus": 16, "implementation": "megatron", "precision": "bf16-master", "sharding": "zero1", "tensor_parallel": 2},
    ),
    "serve": (SPOT, {**SERVED, "model": "qwen2.5-32b", "gpus": 4, "tensor_parallel": 4, "precision": "bf16", "kv_precision": "fp8"}),
    "serve-experts": (SPOT, {**SERVED, "model": "mixtral-8x7b", "gpus": 4, "tensor_parallel": 4, "expert_parallel": 4, "precision": "fp8"}),
    "serve-nodes": (
        "on-demand",
        {**SERVED, "model": "llama-3.1-70b", "instance": "p5.48xlarge", "gpus": 16, "tensor_parallel": 8, "pipeline_parallel": 2},
    ),
}


def main(folder: str) -> None:
    """A folder for each scenario and tool."""
    catalogs = load_catalogs()
    for name, (market, scenario) in SCENARIOS.items():
        row = estimate(scenario, catalogs, solve=False)
        for kit in kits(row, catalogs, market):
            write_folder(files_of(kit, row, market), str(Path(folder) / f"{name}-{kit.id}"))


if __name__ == "__main__":
    main(*sys.argv[1:])
