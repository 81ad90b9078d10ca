"""The search over many candidates, against ten NumPy operations on as many rows.

    python -m benchmarks.search

Print both times, the best of five each, and their ratio, for training and for serving, in one
region and anywhere.
"""

from time import perf_counter

from benchmarks.floor import floor
from calc import load_catalogs
from calc.job.cells import JobRow
from calc.search.options import options_of
from calc.search.rankings import _recent_results

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
BOTH = {"tensor_parallel": [1, 2, 4, 8], "markets": "on-demand+spot", "admits": ""}
TRAINING_SETS = BOTH | {
    "precision": ["bf16-mixed"],
    "gpus": [1, 2, 4, 8, 16],
    "pipeline_parallel": [1, 2],
    "context_parallel": [1],
    "optimizer": ["adamw", "adamw-8bit"],
    "recompute": ["none", "selective-ops", "full"],
    "loss": ["fused"],
    "sharding": ["none", "zero2", "zero3"],
    "batch": [1, 2, 4, 8],
}
SEQUENCES = [1, 4, 8, 16, 24, 40, 64, 96, 160, 256]
SERVING_SETS = BOTH | {
    "precision": ["bf16", "fp8", "int8", "awq-4bit"],
    "gpus": [1, 2, 4, 8, 16],
    "pipeline_parallel": [1, 2, 4],
    "batch": SEQUENCES,
    "kv_precision": ["", "fp8"],
    "implementation": ["vllm"],
}


def fastest(run):
    """The shortest time of several runs. [s]"""
    seconds = []
    for _ in range(TIMES):
        started = perf_counter()
        run()
        seconds.append(perf_counter() - started)
    return min(seconds)


def cases():
    """The name and job of each case."""
    here, anywhere = {"regions": "us-east-1"}, {"regions": "anywhere"}
    yield "training, one region", TRAINED | TRAINING_SETS | here
    yield "training, anywhere", TRAINED | TRAINING_SETS | anywhere
    yield "serving, one region", SERVED | SERVING_SETS | here
    yield "serving, anywhere", SERVED | SERVING_SETS | anywhere


def main():
    """Print a line per case."""
    catalogs = load_catalogs()
    print(f"{'case':20} {'rows':>12} {'search s':>11} {'floor s':>11} {'ratio':>7} {'Mrows/s':>9}")
    for name, job in cases():
        row = JobRow.of(job)
        candidates = options_of(row, catalogs).tried

        def search(row=row):
            # A second search of the same job would find its candidates.
            _recent_results(catalogs).cache_clear()
            options_of(row, catalogs)

        seconds, least = fastest(search), fastest(floor(candidates))
        print(
            f"{name:20} {candidates:>12,} {seconds:11.3f} {least:11.4f} {seconds / least:7.1f} "
            f"{candidates / seconds / 1e6:9.1f}"
        )


if __name__ == "__main__":
    main()
