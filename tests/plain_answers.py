"""The plain way to answer a job, for tests: every arrangement written out by loops and estimated
row by row.
"""

from itertools import product

import numpy as np
import pandas as pd

from calc import estimate
from calc.cost.job import job_of_rows
from calc.cost.offers import age_days
from calc.scenarios.published_weights import usual_formats

STEP_TOKENS, TIE = 131_072, 1.005
USUAL = {
    "full": ("bf16-mixed", "fp16-mixed"),
    "lora": ("bf16", "fp16"),
    "qlora": ("nf4-dq", "nf4-dq"),
}
ENGINES = [{"rollout": "colocated", "rollout_share": share} for share in (0.2, 0.3, 0.5, 0.7, 0.9)]
ENGINES += [{"rollout": "own gpus", "rollout_share": 0.9}]  # whose cards have nothing else on them
NARROW = {16: [], 8: ["fp8", "int8"], 4: ["fp8", "int8", "awq-4bit", "gptq-4bit"]}


def counts_of(instance, catalogs, most):
    """GPU counts of a training on an instance type: powers of two inside one, whole instances
    beyond where EFA joins them.
    """
    sold = int(catalogs.instances["gpus"][instance])
    fast = (
        catalogs.instances["network_bytes_per_second"][instance] >= 12.5e9
        and catalogs.instances["efa_interfaces"][instance] > 0
    )
    multiples = [sold * number for number in range(1, (most if fast else 1) + 1)]
    return sorted({count for count in (1, 2, 4, 8) if count <= sold} | set(multiples))


def accumulations(batch, replicas, tokens):
    """All accumulations of a micro-batch that keep the step within a factor of 2: the nearest and
    both ends.
    """
    able = [
        steps
        for steps in range(1, 2049)
        if STEP_TOKENS / 2 <= batch * steps * replicas * tokens <= STEP_TOKENS * 2
    ]
    nearest = min(
        able, key=lambda steps: abs(steps - STEP_TOKENS / (batch * replicas * tokens)), default=0
    )
    return sorted({able[0], nearest, able[-1]}) if able else []


def training_rows(job, catalogs):
    """Scenarios of every arrangement of a training job that names its instances."""
    tokens, method = job["sequence_tokens"], job.get("method", "full")
    fixed = {
        name: [value]
        for name, value in job.items()
        if name in ("sharding", "recompute", "batch", "tensor_parallel")
    }
    run = {
        "model": job["model"],
        "tuning": "full" if method == "full" else "lora",
        "train_tokens": 150_000_000,
        "sequence_tokens": tokens,
    }
    run |= {name: job[name] for name in ("objective", "implementation") if name in job}
    engines = ENGINES if job.get("objective") == "grpo" else [{}]
    example_tokens = tokens * (2 if job.get("objective") == "dpo" else 1)  # of a pair
    for instance in job["instance"]:
        native = bool(catalogs.gpus["supports_bf16"][catalogs.instances["gpu"][instance]])
        eight_bit = (
            ["fp8-mixed"] if job.get("fewest_bits") == 8 and native and "method" not in job else []
        )
        precisions = [USUAL[method][0 if native else 1], *eight_bit]
        sold = int(catalogs.instances["gpus"][instance])
        for gpus, tensor in product(
            counts_of(instance, catalogs, job["instances_most"]), fixed.get("tensor_parallel", (1,))
        ):
            replicas = gpus // tensor  # transformers trains with FSDP
            if gpus % tensor or tensor > sold:
                continue
            shardings = fixed.get(
                "sharding", ["none", "zero1", "zero2", "zero3"] if replicas > 1 else ["none"]
            )
            sequences = round(STEP_TOKENS / example_tokens / replicas)
            batches = (
                {2**power for power in range(9)}
                | {*range(1, 7)}
                | {batch for batch in range(1, 65) if sequences and sequences % batch == 0}
            )
            recomputes = fixed.get("recompute", ["none", "selective", "selective-ops", "full"])
            layout = {
                "instance": instance,
                "gpus": gpus,
                "tensor_parallel": tensor,
                "optimizer": "adamw",
                "attention": "flash" if native else "sdpa",
            }
            for batch in fixed.get("batch", batches):
                choices = product(
                    [batch],
                    accumulations(batch, replicas, example_tokens),
                    shardings,
                    recomputes,
                    precisions,
                )
                names = ("batch", "accumulation_steps", "sharding", "recompute", "precision")
                rolled = product(choices, engines)
                yield from (
                    {**run, **layout, **dict(zip(names, values, strict=True)), **engine}
                    for values, engine in rolled
                )


def serving_rows(job, catalogs):
    """Scenarios of every arrangement of a serving job that names its instances and its users."""
    bits = job.get("fewest_bits", 16)
    narrow = dict.fromkeys(
        [
            *NARROW[bits],
            *(
                usual_formats(catalogs, job["model"])[1:]
                if bits == 8 or "fewest_bits" not in job
                else ()
            ),
        ]
    )
    service = {
        "work": "inference",
        "model": job["model"],
        "implementation": "vllm",
        "prompt_tokens": 1024,
        "sequence_tokens": 1536,
    }
    service |= {name: job[name] for name in ("spare", "peak_to_mean", "scales") if name in job}
    for instance in job["instance"]:
        native = bool(catalogs.gpus["supports_bf16"][catalogs.instances["gpu"][instance]])
        sold = int(catalogs.instances["gpus"][instance])
        formats = list(
            product(["bf16" if native else "fp16", *narrow], ["", "fp8"] if bits <= 8 else [""])
        )
        for tensor in (degree for degree in (1, 2, 4, 8) if degree <= sold):
            for replicas in range(1, min(job["users"], sold * job["instances_most"] // tensor) + 1):
                layout = {
                    "instance": instance,
                    "gpus": tensor * replicas,
                    "tensor_parallel": tensor,
                    "batch": -(-job["users"] // replicas),
                }
                yield from (
                    {**service, **layout, "precision": weights, "kv_precision": cache}
                    for weights, cache in formats
                )


def sold(rows, regions, markets, catalogs):
    """Scenarios estimated in every region, with their money on every market."""
    parts = []
    for region in regions:
        result = estimate(rows.assign(region=region), catalogs, solve=False)
        for market in markets:
            done = job_of_rows(result, np.full(len(result), market, dtype=object), 0, catalogs)
            parts.append(result.assign(market=market, **done._asdict()))
    return pd.concat(parts, ignore_index=True)


def offered(table, catalogs, fits=("yes",), runs=("yes",)):
    """Whether a row fits and runs so, and is sold; spot of a P type at a price of more than a month
    is not.
    """
    good = (
        (table["problem"] == "")
        & table["fits"].isin(fits)
        & table["runs"].isin(runs)
        & table["usd"].notna()
    )
    scarce = table["instance"].str.startswith("p") & (table["market"] == "spot")
    return good & ~(scarce & (age_days(table["spot_as_of"].astype(str), catalogs.read_on) > 30))


def plain(job, catalogs):
    """Every arrangement that runs, fits and keeps the limits, in every region and on every market,
    with its money.
    """
    serves = job.get("work") == "inference"
    rows = pd.DataFrame(
        list(serving_rows(job, catalogs) if serves else training_rows(job, catalogs))
    )
    markets = job.get("markets", "on-demand" if serves else "on-demand+capacity-block")
    table = sold(rows, job.get("regions", "us-east-1").split("+"), markets.split("+"), catalogs)
    good = (
        offered(table, catalogs)
        & (table["instances"] <= job["instances_most"])
        & (table["usd"] <= job.get("usd_most", np.inf))
    )
    good &= table["usd_per_hour"] <= job.get("usd_per_hour_most", np.inf)
    if serves:
        good &= (table["time_to_first_token_seconds"] <= job.get("first_token_seconds", 2.0)) & (
            table["seconds"] <= 0.05
        )
    else:
        good &= table["hours"] <= job.get("hours_most", 168)
    return table[good]
