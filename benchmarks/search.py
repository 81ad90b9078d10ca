"""The wide search over a million ways and more against a floor: ten arithmetic operations of NumPy
over as many rows.

    python -m benchmarks.search

Prints both times, the best of five each, and their ratio, for training and for serving, in one
region and anywhere.
"""

from time import perf_counter

from benchmarks.floor import floor
from calc import load_catalogs
from calc.search.wide import wide_search
from calc.search.widened import widened

TIMES = 5
TRAINED = {
    "work": "training",
    "method": "full",
    "model": "llama-3.1-8b",
    "sequence_tokens": 4096,
    "train_tokens": 1e9,
}
SERVED = {
    "work": "inference",
    "model": "qwen2.5-32b",
    "sequence_tokens": 8192,
    "prompt_tokens": 6000,
    "users": 20,
}
BOTH = {"tensor_parallel": [1, 2, 4, 8], "market": ["on-demand", "spot"]}
TRAINING_SETS = BOTH | {
    "precision": ["bf16-mixed"],
    "gpus": [1, 2, 4, 8, 16, 32],
    "pipeline_parallel": [1, 2],
    "context_parallel": [1],
    "optimizer": ["adamw", "adamw-8bit"],
    "recompute": ["none", "selective-ops", "full"],
    "loss": ["", "fused"],
    "sharding": ["none", "zero2", "zero3"],
    "batch": [1, 2, 4, 8],
    "accumulation_steps": [1, 8],
}
SEQUENCES = [1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256]
SERVING_SETS = BOTH | {
    "precision": ["bf16", "fp8", "int8", "awq-4bit"],
    "gpus": [1, 2, 4, 8, 16],
    "pipeline_parallel": [1, 2, 4],
    "batch": SEQUENCES,
    "kv_precision": ["", "fp8"],
    "implementation": ["vllm"],
}


def fastest(run):
    """The shortest of several runs. [s]"""
    seconds = []
    for _ in range(TIMES):
        started = perf_counter()
        run()
        seconds.append(perf_counter() - started)
    return min(seconds)


def cases(catalogs):
    """Name and job of each case."""
    here = {"region": ["us-east-1"]}
    limits = {"instances": 16, "surely": 1}
    steps = limits | {"step_tokens": 2048, "highest_step_tokens": 8192}
    yield "training, any step", widened(TRAINED, TRAINING_SETS | here, limits, catalogs)
    yield "training, one region", widened(TRAINED, TRAINING_SETS | here, steps, catalogs)
    yield "training, anywhere", widened(TRAINED, TRAINING_SETS, steps, catalogs)
    yield (
        "serving, one region",
        widened(SERVED, SERVING_SETS | here, limits | {"users": 20}, catalogs),
    )
    yield "serving, anywhere", widened(SERVED, SERVING_SETS, limits | {"users": 20}, catalogs)


def main():
    """Print a line per case."""
    catalogs = load_catalogs()
    print(
        "case                        ways    search s     floor s   ratio   million ways a second"
    )
    for name, job in cases(catalogs):
        ways = wide_search(job, catalogs).tried
        seconds = fastest(lambda job=job: wide_search(job, catalogs))
        least = fastest(floor(ways))
        print(
            f"{name:20} {ways:>12,} {seconds:11.3f} {least:11.4f} {seconds / least:7.1f} "
            f"{ways / seconds / 1e6:9.1f}"
        )


if __name__ == "__main__":
    main()
