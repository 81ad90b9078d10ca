"""The plain way to answer a job, for tests: every arrangement written out by loops and estimated row by row."""

from itertools import product

import numpy as np
import pandas as pd

from calc import estimate
from calc.cost.job import job_of_rows
from calc.cost.offers import age_days

STEP_TOKENS, TIE = 131_072, 1.005
USUAL = {"full": ("bf16-mixed", "fp16-mixed"), "lora": ("bf16", "fp16"), "qlora": ("nf4-dq", "nf4-dq")}
NARROW = {16: [], 8: ["fp8", "int8"], 4: ["fp8", "int8", "awq-4bit", "gptq-4bit"]}


def counts_of(instance, catalogs, most):
    """GPU counts of a training on an instance type: powers of two inside one, whole instances beyond where EFA joins them."""
    sold = int(catalogs.instances["gpus"][instance])
    fast = catalogs.instances["network_bytes_per_second"][instance] >= 12.5e9 and catalogs.instances["efa_interfaces"][instance] > 0
    whole = [sold * number for number in range(1, (most if fast else 1) + 1)]
    return sorted({count for count in (1, 2, 4, 8) if count <= sold} | set(whole))


def accumulations(batch, replicas, tokens):
    """All accumulations of a micro-batch that keep the step within a factor of 2: the nearest and both ends."""
    able = [steps for steps in range(1, 2049) if STEP_TOKENS / 2 <= batch * steps * replicas * tokens <= STEP_TOKENS * 2]
    nearest = min(able, key=lambda steps: abs(steps - STEP_TOKENS / (batch * replicas * tokens)), default=0)
    return sorted({able[0], nearest, able[-1]}) if able else []


def training_rows(job, catalogs):
    """Scenarios of every arrangement of a training job that names its instances."""
    tokens = job["sequence_tokens"]
    fixed = {name: [value] for name, value in job.items() if name in ("sharding", "recompute", "batch", "tensor_parallel")}
    for instance in job["instance"]:
        native = bool(catalogs.gpus["supports_bf16"][catalogs.instances["gpu"][instance]])
        precision = USUAL[job.get("method", "full")][0 if native else 1]
        precisions = [precision, *(["fp8-mixed"] if job.get("fewest_bits") == 8 and native and "method" not in job else [])]
        sold = int(catalogs.instances["gpus"][instance])
        for gpus in counts_of(instance, catalogs, job["instances_most"]):
            for tensor in fixed.get("tensor_parallel", (1,)):  # transformers trains with FSDP
                replicas = gpus // tensor
                if gpus % tensor or tensor > sold:
                    continue
                shardings = fixed.get("sharding", ["none", "zero1", "zero2", "zero3"] if replicas > 1 else ["none"])
                batches = {2**power for power in range(9)} | {int(number) for number in range(1, 65)}
                sequences = round(STEP_TOKENS / tokens / replicas)
                batches = [each for each in batches if not each & (each - 1) or (sequences and sequences % each == 0)]
                for batch in fixed.get("batch", batches):
                    steps = accumulations(batch, replicas, tokens)
                    recomputes = fixed.get("recompute", ["none", "selective", "selective-ops", "full"])
                    for step, sharding, recompute, used in product(steps, shardings, recomputes, precisions):
                        yield {
                            "model": job["model"],
                            "tuning": "full" if job.get("method", "full") == "full" else "lora",
                            "train_tokens": 150_000_000,
                            "sequence_tokens": tokens,
                            "instance": instance,
                            "gpus": gpus,
                            "tensor_parallel": tensor,
                            "sharding": sharding,
                            "recompute": recompute,
                            "batch": batch,
                            "accumulation_steps": step,
                            "precision": used,
                            "optimizer": "adamw",
                        }


def serving_rows(job, catalogs):
    """Scenarios of every arrangement of a serving job that names its instances and its users."""
    bits = job.get("fewest_bits", 16)
    for instance in job["instance"]:
        native = bool(catalogs.gpus["supports_bf16"][catalogs.instances["gpu"][instance]])
        sold = int(catalogs.instances["gpus"][instance])
        for tensor in (each for each in (1, 2, 4, 8) if each <= sold):
            for replicas in range(1, min(job["users"], sold * job["instances_most"] // tensor) + 1):
                formats = product(["bf16" if native else "fp16", *NARROW[bits]], ["", "fp8"] if bits <= 8 else [""])
                for precision, cache in formats:
                    yield {
                        "work": "inference",
                        "model": job["model"],
                        "implementation": "vllm",
                        "prompt_tokens": 1024,
                        "sequence_tokens": 1536,
                        "instance": instance,
                        "gpus": tensor * replicas,
                        "tensor_parallel": tensor,
                        "batch": -(-job["users"] // replicas),
                        "precision": precision,
                        "kv_precision": cache,
                    }


def plain(job, catalogs):
    """Every arrangement that runs, fits and keeps the limits, in every region and on every market, with its money."""
    serves = job.get("work") == "inference"
    rows = pd.DataFrame(list(serving_rows(job, catalogs) if serves else training_rows(job, catalogs)))
    parts = []
    for region in job.get("regions", "us-east-1").split("+"):
        result = estimate(rows.assign(region=region), catalogs, solve=False)
        for market in job.get("markets", "on-demand" if serves else "on-demand+capacity-block").split("+"):
            done = job_of_rows(result, np.full(len(result), market, dtype=object), 0, catalogs)
            parts.append(result.assign(market=market, **done._asdict()))
    found = pd.concat(parts, ignore_index=True)
    good = (found["problem"] == "") & (found["fits"] == "yes") & (found["runs"] == "yes") & found["usd"].notna()
    good &= (found["instances"] <= job["instances_most"]) & (found["usd"] <= job.get("usd_most", np.inf))
    good &= found["usd_per_hour"] <= job.get("usd_per_hour_most", np.inf)
    scarce = found["instance"].str.startswith("p") & (found["market"] == "spot")  # an old price of theirs does not count
    good &= ~(scarce & (age_days(found["spot_as_of"].astype(str), catalogs.read_on) > 30))
    if serves:
        good &= (found["time_to_first_token_seconds"] <= job.get("first_token_seconds", 2.0)) & (found["seconds"] <= 0.05)
    else:
        good &= found["hours"] <= job.get("hours_most", 168)
        brief = found["hours"] < 2 * found["start_hours"]  # works for less time than it takes to start
        good &= ~brief | ~(good & ~brief).any()
    return found[good]
