"""The job of a team: every column with its value, and what follows from them."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from calc.evaluate import Row
from calc.job.columns import USUAL_GPUS, USUAL_INSTANCES

# Fields that follow from others and are no columns of a job.
DERIVED = (
    "ends",
    "fixed",
    "assumed",
    "judged",
    "implementation",
    "published_precision",
    "formats",
    "narrow_formats",
    "generates",
    "divides_matrices",
    "divides_sequences",
    "compiles_blocks",
    "rolls_out",
    "divides_experts",
    "answer_tokens_each",
)
JOINED = ("regions", "markets", "admits", "answers")  # lists that a cell joins with +


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """A job with every default filled in, checked against the catalogs.

    Limits are None if the job sets none. `fixed`: scenario column -> the values to try.
    `assumed`: assumptions of time and cost that the job sets. `judged`: assumptions of the ranking.
    `formats`: the original and what a default answer may serve; `narrow_formats`: those of 8 and of
    4 bits that anybody publishes. `answer_tokens_each`: of training that generates its answers, a
    prompt with one, on average.
    """

    job: str
    service_class: str
    goal: str
    examples: float | None
    example_tokens: float | None
    epochs: float | None
    method: str
    step_tokens: float
    step_factor: float
    users: int | None
    people: int | None
    requests_per_second: float | None
    context_tokens: int | None
    answer_tokens: int | None
    first_token_seconds: float | None
    token_seconds: float | None
    first_token_percentile: str
    token_percentile: str
    regions: list[str]
    markets: list[str]
    hours_most: float | None
    usd_most: float | None
    usd_per_hour_most: float | None
    gpu_hours_most: float | None
    instances_most: int | None
    fewest_bits: str | int
    quantize_own: str
    confidence: str
    admits: list[str]
    obtainable: str
    answers: list[str]
    have: dict[str, int]
    work: str
    model: str
    train_tokens: float
    sequence_tokens: int
    prompt_tokens: int | None
    hours_per_month: float
    tokens_total: float | None
    ends: bool
    fixed: dict[str, list]
    assumed: dict[str, float]
    judged: dict[str, float]
    implementation: str
    published_precision: str
    formats: tuple[str, ...]
    narrow_formats: dict[int, tuple[str, ...]]
    generates: bool
    divides_matrices: bool
    divides_sequences: bool
    compiles_blocks: bool
    divides_experts: bool
    rolls_out: bool
    answer_tokens_each: (
        float  # of training that generates its answers: a prompt with one, on average
    )

    @property
    def trains(self) -> bool:
        """Return whether the job is a training run."""
        return self.work == "training"

    @property
    def sets_prompts(self) -> bool:
        """Return whether the job fixes the number of prompts per step, for all micro-batches."""
        return self.rolls_out and "prompts_per_step" in self.fixed

    @property
    def least_bits(self) -> int:
        """The fewest bits of weights that the job allows without anybody's publishing them."""
        return 16 if isinstance(self.fewest_bits, str) else self.fewest_bits

    def most_instances(self, instance_gpus: Any) -> Any:
        """Instances that a job may rent of a type with this number of GPUs. [instances]"""
        default = np.maximum(USUAL_INSTANCES, USUAL_GPUS // np.maximum(instance_gpus, 1))
        return default if self.instances_most is None else 0 * default + self.instances_most

    @property
    def cells(self) -> Row:
        """The job as a row of a table: its own columns, and scenario columns that it fixes."""
        row = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in DERIVED
        }
        if self.have:
            row["have"] = " + ".join(f"{count} x {name}" for name, count in self.have.items())
        row |= {name: "+".join(getattr(self, name)) for name in JOINED}
        fixed = {
            name: values[0] if len(values) == 1 else values for name, values in self.fixed.items()
        }
        return row | self.assumed | fixed

    def limit(self, name: str) -> Any:
        """The value of a limit: of the job's own column, else an assumption of the ranking."""
        return self.judged.get(name) or getattr(self, name)
