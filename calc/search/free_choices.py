"""The choices of a job apart from its shapes: its fixed ones, and values to try for others."""

from calc.catalogs.load import Catalogs
from calc.job.columns import FIXABLE, PUBLISHED, SHARDINGS
from calc.job.job import Job
from calc.job.resolve import fixed_at, tunings
from calc.scenarios.inputs import DEFAULTS
from calc.scenarios.lookups import cells_by_id
from calc.scenarios.precision_traits import tried_for, with_and_without_bf16
from calc.units import GIB

COUNTS = (
    "gpus",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "batch",
    "accumulation_steps",
)
EXPERT_DEGREES = (1, 8)  # of training experts: none, and over one machine
RECOMPUTES = ("none", "selective", "selective-ops", "full")
TRAINED_IN = {tuning: with_and_without_bf16(tuning) for tuning in ("full", "lora", "qlora")}
SERVED_IN_8, SERVED_IN_4 = (tried_for(f"serving in {bits} bits") for bits in (8, 4))
LAID_OUT = {*COUNTS, "instance", "gpu", "tuning"}
# Choices of the engine that generates the answers.
ROLLOUTS: dict[str, list] = {
    "rollout": ["colocated", "own gpus"],
    "rollout_share": [0.2, 0.3, 0.5, 0.7, 0.9],
}
# GPUs that share one copy of that engine. A degree is tried if half as many GPUs would each hold
# more than half a card of 24 GB of weights. NaN: as many as the trainer takes by default.
ENGINE_DEGREES = (2, 4, 8)
SMALL_ENGINE_BYTES = 12 * GIB


def engine_degrees(model: str, catalogs: Catalogs) -> list[float]:
    """Return the degrees of tensor parallel to try for an engine that generates answers."""
    weights_bytes = 2 * cells_by_id(catalogs, "models", "parameters")[model]
    return [
        float("nan"),
        *(degree for degree in ENGINE_DEGREES if 2 * weights_bytes / degree > SMALL_ENGINE_BYTES),
    ]


def free_choices(job: Job, native: bool, trains: bool, catalogs: Catalogs) -> dict[str, list]:
    """Return the values to try for each choice but the shape, on cards with bf16 or without."""
    bits = job.least_bits
    sixteen = with_and_without_bf16("serving in 16 bits")[0 if native else 1]
    if trains:
        defaults = dict.fromkeys(TRAINED_IN[method][0 if native else 1] for method in tunings(job))
        narrow = (
            [*tried_for("full in 8 bits")]
            if bits <= 8 and "full" in tunings(job) and native
            else []
        )
        free: dict[str, list] = {
            "sharding": [*SHARDINGS],
            "recompute": [*RECOMPUTES],
            "precision": [*defaults, *narrow],
        }
        if job.rolls_out:
            free |= ROLLOUTS | {"rollout_tensor_parallel": engine_degrees(job.model, catalogs)}
        if job.compiles_blocks:
            free["compile"] = ["no", "yes"]
        if job.divides_experts:
            free["expert_parallel"] = [*EXPERT_DEGREES]
        # Its width is a question of its own: 8 bits where the job names such an optimizer.
        free["optimizer"] = ["adamw"]
    elif job.fewest_bits == PUBLISHED:
        free = {"precision": [name or sixteen for name in job.formats], "kv_precision": [""]}
    else:
        free = {
            "precision": _served_formats(job, sixteen),
            "kv_precision": ["", "fp8"] if bits <= 8 else [""],
        }
    free["attention"] = [_attention_on(native, trains or not job.generates)]
    lists = {name: fixed_at(job, name, values) for name, values in free.items()}
    lists |= {"tuning": job.fixed["tuning"]} if len(tunings(job)) > 1 else {}
    return lists | {
        name: values
        for name, values in job.fixed.items()
        if name in FIXABLE and name not in {*LAID_OUT, *free}
    }


def _attention_on(native: bool, by_pytorch: bool) -> str:
    """Return the kernel of attention to try on cards with bf16 or without.

    Those without have no flash kernel either: PyTorch takes another, a serving engine has its own.
    """
    return "sdpa" if by_pytorch and not native else str(DEFAULTS["attention"])


def _served_formats(job: Job, sixteen: str) -> list[str]:
    """The formats that a service may take as far down as its fewest bits.

    What nobody publishes is an answer only if the job says that it quantizes its own weights.
    """
    made = {8: SERVED_IN_8, 4: SERVED_IN_4} if job.quantize_own == "yes" else {8: (), 4: ()}
    formats = [sixteen]
    for bits in (8, 4):
        if job.least_bits <= bits:
            formats += [*job.narrow_formats[bits], *made[bits]]
    return list(dict.fromkeys(formats))
