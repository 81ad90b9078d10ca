"""Writes a launch kit for each tool and way to run it, for validation/launch_parsers.py: `python -m validation.launch_files FOLDER`."""

import sys
from pathlib import Path

from calc import estimate, load_catalogs
from calc.files.launch.kit import kits
from calc.files.launch_files import files_of, write_folder

RUN = {"model": "llama-3.1-8b", "sequence_tokens": 4096, "recompute": "full", "train_tokens": 150e6}
FULL = {**RUN, "gpus": 8, "instance": "p5.48xlarge", "sharding": "zero3"}
ONE = {**RUN, "gpus": 1, "instance": "p5.4xlarge"}
SERVED = {"work": "inference", "implementation": "vllm", "instance": "g6e.12xlarge", "sequence_tokens": 8192}
SCENARIOS = {
    "fsdp": {**FULL, "precision": "bf16-mixed"},
    "zero2": {**FULL, "precision": "bf16-mixed", "sharding": "zero2", "optimizer": "adamw-8bit", "optimizer_kernel": "loop"},
    "one": {**ONE, "precision": "bf16-autocast", "loss": "fused", "compile": "yes"},
    "qlora": {**ONE, "precision": "nf4-dq", "tuning": "lora"},
    "offload": {**FULL, "implementation": "deepspeed", "precision": "bf16-master", "offload": "optimizer"},
    "stage1": {**FULL, "implementation": "deepspeed", "precision": "bf16-master", "sharding": "zero1"},
    "trl": {**FULL, "implementation": "trl", "precision": "bf16-mixed", "loss": "fused"},
    "trl-qlora": {**ONE, "implementation": "trl", "precision": "nf4-dq", "tuning": "lora", "loss": "fused"},
    "tune": {**FULL, "implementation": "torchtune", "precision": "bf16"},
    "titan": {**FULL, "implementation": "torchtitan", "precision": "bf16-mixed", "tensor_parallel": 2},
    "hybrid": {**FULL, "gpus": 16, "precision": "bf16-mixed", "sharding": "hsdp-8"},
    "lora-deepspeed": {**FULL, "implementation": "deepspeed", "precision": "bf16", "tuning": "lora", "loss": "fused"},
    "megatron": {**FULL, "implementation": "megatron", "precision": "bf16-master", "sharding": "zero1", "tensor_parallel": 2},
    "serve": {**SERVED, "model": "qwen2.5-32b", "gpus": 4, "tensor_parallel": 4, "precision": "bf16", "kv_precision": "fp8"},
    "serve-experts": {**SERVED, "model": "mixtral-8x7b", "gpus": 4, "tensor_parallel": 4, "expert_parallel": 4, "precision": "fp8"},
}


def main(folder: str) -> None:
    """A folder for each scenario and tool."""
    catalogs = load_catalogs()
    for name, scenario in SCENARIOS.items():
        row = estimate(scenario, catalogs, solve=False)
        for kit in kits(row, catalogs, "spot"):
            write_folder(files_of(kit, row, "spot"), str(Path(folder) / f"{name}-{kit.id}"))


if __name__ == "__main__":
    main(*sys.argv[1:])
