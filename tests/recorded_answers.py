"""Recorded answers: drawn jobs of every kind of work with the numbers and ids of their answers.

Record an intended change in its own commit:

    PYTHONPATH=. .venv/bin/python tests/recorded_answers.py --record
"""

import argparse
import json
from pathlib import Path

import grid
import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "recorded"
JOBS_FILE, FILE = FOLDER / "cases" / "answer_jobs.jsonl", FOLDER / "answers.parquet"
SEED, JOBS = 20_261_128, 290
TEXTS = (  # wording may change, so no text is recorded
    *("job", "why", "problem", "note", "misses", "limits_cost"),
    *("memory_basis", "time_basis", "time_reason"),
)
NUMBER = "job_number"

TUNED = (
    *(
        "llama-3.1-8b",
        "qwen3-8b",
        "mistral-7b-v0.3",
        "gemma-3-27b",
        "llama-3.1-70b",
        "mixtral-8x7b",
    ),
    *("gpt2", "qwen3-30b-a3b"),
)
SERVED = (*TUNED, "deepseek-r1", "gpt-oss-120b", "llama-3.1-405b")
ENCODERS = ("bert-base-uncased", "vit-large-patch16", "whisper-large-v3")
WHERE = {
    "regions": (*(["us-east-1"] * 4), "eu-north-1", "us-east-1+us-west-2", "anywhere"),
    "markets": ("", "", "", "on-demand", "spot", "on-demand+capacity-block", "commit-1y"),
    "usd_most": ("", "", "", "", 20, 2000),
    "instances_most": ("", "", "", 1, 4),
    "confidence": ("", "", "50", "95"),
    "obtainable": ("", "", "", "usually", "by-agreement"),
    "admits": ("", "", "tight+unverified"),
    "answers": ("", "", "fastest+roomiest"),
    "have": (*([""] * 8), "8 x h100-80gb-sxm", "2 x g6e.xlarge"),
}
TRAINING = {
    "train_tokens": ("", 1e7, 1e9, 2e10),
    "sequence_tokens": ("", 1024, 8192, 32768),
    "step_tokens": ("", "", 524288),
    "hours_most": ("", 4, 24, 500),
    "sharding": ("", "", "", "zero2", "zero3+none"),
    "recompute": ("", "", "", "full"),
    "batch": ("", "", "", 1, "1+4"),
    "attempts": ("", "", 2),
}
SERVING = {
    "context_tokens": ("", "", 2048, 16384),
    "first_token_seconds": ("", "", 0.5, 2),
    "token_seconds": ("", "", 0.02, 0.05),
    "first_token_percentile": ("", "", "", "90", "99"),
    "token_percentile": ("", "", "", "90"),
    "fewest_bits": ("", "", "16", "8", "4"),
    "spare": ("", "", "", 1),
    "scales": ("", "", "", "hourly"),
    "kv_precision": ("", "", "", "fp8"),
    "tensor_parallel": ("", "", "", "", "1+2+4"),
}
LOADS = ({"users": 4}, {"users": 64}, {"people": 500}, {"requests_per_second": 2})
ENDS = ({"tokens_total": 1e9}, {"tokens_total": 1e11, "hours_most": 48})


# Cells of the job itself, which an answer repeats as they were written.
JOB_CELLS = {
    *("goal", "method", "regions", "markets", "usd_most", "hours_most", "instances_most"),
    *("confidence", "obtainable", "admits", "answers", "have", "step_tokens", "users", "people"),
    *("requests_per_second", "context_tokens", "first_token_seconds", "token_seconds"),
    *("first_token_percentile", "token_percentile", "fewest_bits"),
}


def drawn_jobs():
    """Jobs of every kind of work, the same in every run."""
    draw = np.random.default_rng(SEED)

    def one_of(values):
        return values[draw.integers(len(values))]

    def cells(columns):
        return {name: one_of(values) for name, values in columns.items()}

    def job():
        kind = draw.integers(8)
        if kind == 0:
            of_kind = {"goal": "train", "model": one_of(TUNED), **cells(TRAINING)}
        elif kind in (1, 2):
            method = one_of(("full", "lora", "qlora"))
            of_kind = {"goal": "tune", "model": one_of(TUNED), "method": method, **cells(TRAINING)}
        elif kind == 3:
            objective = one_of(("dpo", "grpo"))
            of_kind = {"goal": "tune", "model": one_of(TUNED[:3]), "objective": objective}
            of_kind |= {"method": one_of(("full", "lora"))}
        elif kind in (4, 5):
            of_kind = {"goal": "serve", "model": one_of(SERVED), **cells(SERVING), **one_of(LOADS)}
        elif kind == 6:
            of_kind = {"goal": "serve", "model": one_of(SERVED[:6]), **one_of(ENDS)}
        else:
            load = one_of((LOADS[0], LOADS[3], ENDS[0]))
            of_kind = {"goal": "serve", "model": one_of(ENCODERS), **load}
        columns = cells(WHERE) | of_kind
        return {name: value for name, value in columns.items() if value != ""}

    return [job() for _ in range(JOBS)]


def recorded_jobs():
    """The recorded jobs, in order."""
    return [json.loads(line) for line in JOBS_FILE.read_text("utf-8").splitlines()]


def answers(jobs, catalogs):
    """Numbers and ids of the answers of numbered jobs; a problem counts as its presence."""
    from calc import answer

    parts = []
    for number, job in jobs:
        rows = answer(job, catalogs)
        rows = rows.assign(has_problem=(rows["problem"] != "").astype(float))
        parts.append(rows.drop(columns=[name for name in TEXTS if name in rows]))
        parts[-1].insert(0, NUMBER, float(number))
        parts[-1] = parts[-1].drop(columns=[name for name in job if name in JOB_CELLS])
    table = pd.concat(parts, ignore_index=True)
    words = [name for name in table if table[name].dtype.kind not in "fi"]
    return table.assign(
        **{name: table[name].astype(object).fillna("").astype(str) for name in words}
    )


def moved(before, after):
    """The results that differ, by tests/grid.py."""
    groups = {name: before[name] for name in ("work", "tuning", "implementation")}
    return grid.moved(before.assign(**groups), after.reindex(columns=before.columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="write today's results as the record")
    parser.add_argument("--new-jobs", action="store_true", help="draw the jobs anew first")
    options = parser.parse_args()
    from calc import load_catalogs

    if options.new_jobs:
        lines = [json.dumps(job) for job in drawn_jobs()]
        JOBS_FILE.write_text("\n".join(lines) + "\n", "utf-8")
    results = answers(list(enumerate(recorded_jobs())), load_catalogs())
    if FILE.exists() and not options.new_jobs:
        before = pd.read_parquet(FILE)
        if len(before) == len(results):
            print(grid.summary(moved(before, results), len(results)))
        else:
            print(f"{len(before):,} answers were recorded; today there are {len(results):,}.")
    if options.record:
        results.to_parquet(FILE, compression="zstd", index=False)
        size = FILE.stat().st_size / 1e6
        print(f"Recorded {len(results):,} answers in {FILE.name}, {size:.1f} MB.")


if __name__ == "__main__":
    main()
