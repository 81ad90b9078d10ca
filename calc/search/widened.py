"""What a wide search frees of a job: sets of values to try, and limits."""

import math
from collections.abc import Mapping
from itertools import product
from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.cost.markets import PLAN_MARKETS
from calc.scenarios.inputs import HUGE
from calc.scenarios.published import usual_formats
from calc.search.arrangements import RECOMPUTES
from calc.search.inputs import ANYWHERE, JOB_BY_NAME, SHARDINGS
from calc.search.job_row import JobRow, listed
from calc.search.settle import usual_software

Sets = dict[str, list]
BOTH = ("precision", "gpus", "tensor_parallel", "pipeline_parallel", "batch")
TRAINING = (
    "tuning",
    "optimizer",
    "recompute",
    "loss",
    "sharding",
    "context_parallel",
    "accumulation_steps",
    "offload",
)
SERVING = ("kv_precision", "implementation")
PLACES = ("family", "region", "market")  # no family: every current one; no region: anywhere
SETS = (*BOTH, *TRAINING, *SERVING, *PLACES)
COUNTS = (1, 2, 4, 8, 16, 32)
DEGREES = (1, 2, 4, 8)
MOST_DEPLOYMENTS = 512
SERVED_FORMATS = ("bf16", "fp16", "fp8", "int8", "awq-4bit", "gptq-4bit")
TRIED: dict[str, dict[str, tuple]] = {  # beside what is set by hand
    "training": {
        "optimizer": ("adamw", "adamw-8bit"),
        "loss": ("", "fused"),
        "pipeline_parallel": (1, 2),
        "offload": ("none",),
    },
    "inference": {
        "precision": SERVED_FORMATS,
        "kv_precision": ("", "fp8"),
        "pipeline_parallel": (1, 2),
    },
}
BESIDE_ONE: dict[
    str, tuple
] = {  # tried where a value is set by hand; else the choice is left to the answers
    **dict.fromkeys(("gpus", "batch"), COUNTS),
    "tensor_parallel": DEGREES,
    "context_parallel": (1,),
    "accumulation_steps": (1, 8),
    "recompute": RECOMPUTES,
    "sharding": tuple(SHARDINGS),
}
OF_JOB = {  # limit of a search -> column of a job
    "instances": "instances_most",
    "usd_per_hour": "usd_per_hour_most",
    "usd": "usd_most",
    "hours": "hours_most",
    "users": "users",
    "first_token_seconds": "first_token_seconds",
    "output_token_seconds": "token_seconds",
}
STEPS = ("step_tokens", "highest_step_tokens")
SWITCHES = ("surely", "unverified", "slow_end")
LIMIT_NAMES = (*OF_JOB, *STEPS, *SWITCHES)


def names_for(work: str) -> tuple[str, ...]:
    """The choices that a search of this work varies."""
    return (*BOTH, *(TRAINING if work == "training" else SERVING))


def usual_sets(job: Mapping[str, Any], catalogs: Catalogs) -> Sets:
    """The sets that a search starts from; an empty one is left to the answers."""
    tried = TRIED[job["work"]]
    sets: Sets = {}
    for name in names_for(job["work"]):
        by_hand = listed(job.get(name))
        values = tried.get(name) or (BESIDE_ONE.get(name, ()) if by_hand else ())
        sets[name] = list(dict.fromkeys([*by_hand, *values]))
    if job["work"] == "training":
        sets["tuning"] = sets["tuning"] or ["full" if job["method"] == "full" else "lora"]
    else:
        published = (
            catalogs.models["stored_precision"].get(job["model"]),
            *usual_formats(catalogs, job["model"]),
        )
        sets["precision"] = list(dict.fromkeys([*filter(None, published), *sets["precision"]]))
        software = usual_software(job["work"], job["model"], catalogs)
        sets["implementation"] = list(dict.fromkeys([*sets["implementation"], software]))
    regions = job["regions"].split("+")
    return sets | {
        "family": [],
        "region": [] if len(regions) == len(catalogs.regions) else regions,
        "market": job["markets"].split("+"),
    }


def usual_limits(job: Mapping[str, Any]) -> dict[str, float]:
    """The limits that a search starts from: those of the job, and that memory surely fits."""
    left_out = (
        ["first_token_seconds", "output_token_seconds", "users"] if ends_of(job) else ["hours"]
    )
    left_out += ["users"] if job.get("requests_per_second") else []
    values = {name: job.get(column) for name, column in OF_JOB.items() if name not in left_out}
    limits = {
        name: float(value) for name, value in values.items() if value is not None and value < HUGE
    }
    if job["work"] == "training":
        factor = job["step_factor"]
        limits |= {
            "step_tokens": int(job["step_tokens"] / factor),
            "highest_step_tokens": int(job["step_tokens"] * factor),
        }
    admitted = job["admits"].split("+")
    switches = {
        "surely": "tight" not in admitted,
        "unverified": "unverified" in admitted,
        "slow_end": job["confidence"] == "95",
    }
    return limits | {name: 1 for name, is_on in switches.items() if is_on}


def widened(
    job: Mapping[str, Any], sets: Sets, limits: Mapping[str, float], catalogs: Catalogs
) -> JobRow:
    """The job with its settings freed to these sets, under these limits and no others."""
    freed = {*SETS, "instance", "gpu", "regions", "markets", *OF_JOB.values()}
    row = {name: value for name, value in job.items() if name not in freed}
    row |= {name: values for name in names_for(job["work"]) if (values := sets.get(name))}
    row |= {
        column: min(limits.get(name) or HUGE, JOB_BY_NAME[column].most)
        for name, column in OF_JOB.items()
    }
    row["instances_most"] = limits.get("instances") or JOB_BY_NAME["instances_most"].default
    row["users"] = limits.get("users") or (
        None if job.get("requests_per_second") else job.get("users")
    )
    row["requests_per_second"] = None if limits.get("users") else job.get("requests_per_second")
    if job["work"] == "training":
        row |= _steps(job, limits)
        row["method"] = (
            job["method"] if row.get("tuning") == ["lora"] and job["method"] != "full" else None
        )
    elif row.get("gpus") and not ends_of(
        job
    ):  # as many deployments of so many GPUs as the users need
        row["gpus"] = _gpus_of_deployments(row)
    families = sets.get("family") or ()
    row["instance"] = list(catalogs.instances.index[catalogs.instances["family"].isin(families)])
    row |= {
        "regions": "+".join(sets.get("region") or ()) or ANYWHERE,
        "markets": "+".join(sets.get("market") or PLAN_MARKETS),
    }
    if limits.get("slow_end") or job.get("confidence") == "95":
        row["confidence"] = "95" if limits.get("slow_end") else None
    admitted = {"tight": not limits.get("surely"), "unverified": limits.get("unverified")}
    return JobRow.of(
        row | {"admits": "+".join(name for name, is_admitted in admitted.items() if is_admitted)}
    )


def _gpus_of_deployments(row: Mapping[str, Any]) -> list[int]:
    """GPUs of a service: as many deployments as the users need. [GPUs]"""
    users = int(row["users"] or 1)
    splits = {
        int(tensor * stages)
        for tensor in row.get("tensor_parallel", DEGREES)
        for stages in row.get("pipeline_parallel", (1,))
    }
    totals = {int(gpus) for gpus in row["gpus"]}
    for gpus, split in product(sorted(totals), splits):
        if gpus % split == 0:
            shares = {int(batch) * gpus // split for batch in row.get("batch", ())}
            copies = (
                {math.ceil(users / share) for share in shares} if shares else range(1, users + 1)
            )
            totals |= {gpus * count for count in copies if count <= MOST_DEPLOYMENTS}
    return sorted(totals)


def _steps(job: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, float]:
    """The step between two bounds as their geometric mean and the factor to either."""
    low, high = (
        limits.get("step_tokens") or 1,
        limits.get("highest_step_tokens") or job["train_tokens"],
    )
    middle = max(round((low * max(high, low)) ** 0.5), 1)
    return {"step_tokens": middle, "step_factor": max(high / middle, middle / low, 1.0)}


def possible(name: str, work: str, catalogs: Catalogs) -> list[str]:
    """The number formats (`precision`) or the software (`implementation`) that can do this work."""
    table = getattr(catalogs, f"{name}s")
    able = (
        ["serves"]
        if work == "inference"
        else ["trains", "adapts"]
        if name == "precision"
        else ["trains"]
    )
    return list(table.index[table[able].any(axis=1)])


def settled_sets(sets: Sets, job: Mapping[str, Any], catalogs: Catalogs) -> Sets:
    """The values that a job of this work can use, or the usual set where none is left."""
    usual = usual_sets(job, catalogs)
    able = {name: possible(name, job["work"], catalogs) for name in ("precision", "implementation")}
    usable = {
        name: [value for value in values if value in able.get(name, values)]
        for name, values in sets.items()
        if name in usual
    }
    return usual | {
        name: values for name, values in usable.items() if values or name in ("family", "region")
    }
