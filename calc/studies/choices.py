"""Compares choices: the best plan for each value of a choice.

A comparison has one or two axes. Each cell is the plan's job with the values of its row and column
fixed and everything else as free as before, so its cost is what you would pay after choosing it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.cells import listed
from calc.job.software import divides_matrices, generates
from calc.layout import replicas
from calc.mappings import Cells
from calc.search.first_rows import first_rows
from calc.search.options import NEAREST, Options, options
from calc.table import is_missing

TRAINING_PRECISIONS = ("fp8-mixed", "bf16-mixed", "bf16", "fp32")
PURE = ("bf16", "fp16")  # formats without fp32 weights beside them
FROZEN_PRECISIONS = ("bf16", "int8", "nf4-dq")
OPTIMIZERS = ("adamw", "adamw-8bit", "lion", "muon", "adafactor", "sgd-momentum", "sgd")
SERVED_PRECISIONS = ("bf16", "fp8", "awq-4bit", "nvfp4")
CACHE_PRECISIONS = ("bf16", "fp8")
DEFAULT_CACHE_PRECISION = "bf16"  # an empty kv_precision is 16 bits
ENGINES = ("vllm", "sglang", "tensorrt-llm", "transformers")
SHARDINGS = ("none", "zero1", "zero2", "zero3")
TENSOR_DEGREES = (1, 2, 4, 8)
REPLICAS = (1, 2, 4, 8)
BATCHES = (1, 2, 4, 8, 16, 32)  # sequences on a GPU
GPU_COUNTS = (1, 2, 4, 8, 16, 32, 64)
METHODS = ("full", "lora", "qlora")
MULTIPLES = (0.25, 0.5, 1, 2, 4)  # of the job's context or load
TIE_RATIO = 0.01  # plans whose cost differs by less cost the same
WIDTH_LIMIT = "fewest_bits"  # bounds the formats that a job may choose; a cell names its own


@dataclass(frozen=True)
class Choice:
    """A value of an axis: its id, and the job columns that it fixes.

    `is_pure` marks a 16-bit format in which weights, gradients and optimizer state are all kept.
    """

    id: str
    sets: tuple[tuple[str, str | float], ...] = ()
    is_pure: bool = False


@dataclass(frozen=True)
class Comparison:
    """A table of choices. A comparison with a single axis has one column that fixes nothing."""

    id: str
    rows: tuple[Choice, ...]
    columns: tuple[Choice, ...] = (Choice(""),)

    @property
    def pairs(self) -> list[tuple[Choice, Choice]]:
        """The cells, row by row."""
        return [(row, column) for row in self.rows for column in self.columns]


@dataclass(frozen=True)
class Cell:
    """The best plan of a row and a column; if none qualifies, the options that say why.

    Then `plan` is the nearest one, which exceeds a limit; None if the choice cannot run at all. A
    cell that is not computed yet has neither.
    """

    row: Choice
    column: Choice
    job: Row
    plan: Row | None
    refused: Options | None = None

    @property
    def qualifies(self) -> bool:
        """Return whether the cell has a plan that meets every limit and is certain to run."""
        return self.plan is not None and self.plan["answer"] != NEAREST


def comparisons(job: Cells, plan: Cells, catalogs: Catalogs) -> tuple[Comparison, ...]:
    """Return the comparisons that suit a resolved job and the plan that answers it.

    The first one is shown first. Values of the plan that a list lacks are added to it.
    """
    if plan["work"] == "training":
        return _of_training(job, plan, catalogs)
    return _of_serving(job, plan, catalogs)


def cells_for(job: Cells, pairs: Sequence[tuple[Choice, Choice]], catalogs: Catalogs) -> list[Cell]:
    """Return the best plan of the job with the values of each row and column fixed."""
    jobs = [job_with(job, row, column) for row, column in pairs]
    plans = first_rows(jobs, catalogs)
    return [
        Cell(row, column, cell_job, plan)
        if plan
        else _cell_without_answer(row, column, cell_job, catalogs)
        for (row, column), cell_job, plan in zip(pairs, jobs, plans, strict=True)
    ]


def _cell_without_answer(row: Choice, column: Choice, job: Row, catalogs: Catalogs) -> Cell:
    """Return the cell of a job without an answer, with its nearest row if that exceeds a limit."""
    answer = options(job, catalogs)
    exceeds = answer.obstacle is not None and answer.obstacle.code == "limit-exceeded"
    return Cell(row, column, job, answer.rows[0] if exceeds else None, answer)


def fixed_by(*choices: Choice) -> Row:
    """Return the job columns that choices fix; replicas become GPUs of their tensor degree."""
    fixed = {name: value for choice in choices for name, value in choice.sets}
    if "replicas" in fixed:
        fixed["gpus"] = int(fixed.pop("replicas")) * int(fixed["tensor_parallel"])
    return fixed


def freed_by(fixed: Row, job: Cells) -> set[str]:
    """Return the columns of a job that contradict what choices fix."""
    limits = {WIDTH_LIMIT} if fixed.keys() & {"precision", "optimizer"} else set()
    limits |= {"tuning"} if "method" in fixed else set()
    limits |= {"precision"} if fixed.get("method") not in (None, job.get("method")) else set()
    limits |= {"people"} if "users" in fixed else set()
    limits |= {"context_tokens", "sequence_tokens"} if "prompt_tokens" in fixed else set()
    return limits


def job_with(job: Cells, *choices: Choice) -> Row:
    """Return the job with these choices fixed, and without what contradicts them."""
    fixed = fixed_by(*choices)
    free_limits = freed_by(fixed, job)
    return {name: value for name, value in job.items() if name not in free_limits} | fixed


def is_plan(choice: Choice, job: Cells, plan: Cells) -> bool:
    """Return whether the plan already has the values of a choice."""
    return all(_present(name, job, plan) == value for name, value in choice.sets)


def costs_alike(plan: Cells, cell: Cell) -> bool:
    """True if a plan costs no more than the plan of a cell, but for a tie."""
    return cell.plan is not None and bool(plan["usd"] <= (1 + TIE_RATIO) * cell.plan["usd"])


def cheapest_cell(cells: Sequence[Cell]) -> Cell | None:
    """Return the cheapest cell that qualifies; if none does, the cheapest of all."""
    return least_cell(cells, lambda plan: plan["usd"])


def least_cell(cells: Sequence[Cell], value_of: Callable[[Cells], float]) -> Cell | None:
    """Return the cell whose plan has the least value of those that qualify, or else of all.

    Of tied cells it is the one in the first column: columns are listed from the most to the least
    common choice.
    """
    values = [(value_of(one.plan), one) for one in cells if one.plan]
    cells_with_value = [(value, one) for value, one in values if not is_missing(value)]
    if not cells_with_value:
        return None
    cells_with_value = [pair for pair in cells_with_value if pair[1].qualifies] or cells_with_value
    bound = (1 + TIE_RATIO) * min(value for value, _ in cells_with_value)
    columns = list(dict.fromkeys(one.column for one in cells))
    tied = [one for value, one in cells_with_value if value <= bound]
    return min(tied, key=lambda one: columns.index(one.column))


def _of_training(job: Cells, plan: Cells, catalogs: Catalogs) -> tuple[Comparison, ...]:
    """The comparisons of a training run."""
    degrees = TENSOR_DEGREES if divides_matrices(plan["implementation"], catalogs) else ()
    several = [
        *_formats(plan),
        Comparison("gpus", _counts("gpus", GPU_COUNTS, plan)),
        Comparison("method", tuple(Choice(name, (("method", name),)) for name in METHODS)),
        Comparison(
            "layout",
            _axis("sharding", SHARDINGS, plan),
            _counts("tensor_parallel", degrees, plan),  # where the plan itself may divide matrices
        ),
        Comparison("context", _multiples("sequence_tokens", job, plan)),
        Comparison("batch", _counts("batch", BATCHES, plan)),
    ]
    adapts = job.get("objective", "sft") == "sft" and job.get("method")
    return tuple(one for one in several if one.id != "method" or adapts)


def _of_serving(job: Cells, plan: Cells, catalogs: Catalogs) -> tuple[Comparison, ...]:
    """The comparisons of a service."""
    answers = generates(job["model"], catalogs)
    serving = catalogs.implementations.index[catalogs.implementations["serves"].astype(bool)]
    engines = tuple(name for name in ENGINES if name in serving)
    columns = _axis("kv_precision", CACHE_PRECISIONS, plan) if answers else (Choice(""),)
    weights = "weights-cache" if answers else "weights"
    several = [
        Comparison(weights, _axis("precision", SERVED_PRECISIONS, plan), columns),
        Comparison("engine", _axis("implementation", engines, plan)),
        Comparison("gpus", _counts("gpus", GPU_COUNTS, plan)),
        Comparison(
            "replicas",
            _counts("tensor_parallel", TENSOR_DEGREES, plan),
            _counts("replicas", REPLICAS, {"replicas": replicas(plan)}),
        ),
    ]
    load = "requests_per_second" if job.get("requests_per_second") else "users"  # a rate goes first
    if job.get(load):
        several.append(Comparison("load", _multiples(load, job, plan)))
    if answers and job.get("prompt_tokens"):
        several.append(Comparison("context", _multiples("prompt_tokens", job, plan)))
    return tuple(several)


def _formats(plan: Cells) -> tuple[Comparison, ...]:
    """Return number formats and optimizers, as one matrix if all weights are trained.

    An adapter is so small that its optimizer hardly changes the cost: all columns would be equal.
    """
    optimizers = _axis("optimizer", OPTIMIZERS, plan)
    if plan["tuning"] != "full":
        frozen = _axis("precision", FROZEN_PRECISIONS, plan)
        return Comparison("precision", frozen), Comparison("optimizer", optimizers)
    of_training = tuple(
        replace(one, is_pure=one.id in PURE)
        for one in _axis("precision", TRAINING_PRECISIONS, plan)
    )
    return (Comparison("precision-optimizer", of_training, optimizers),)


def _axis(name: str, values: tuple[str, ...], plan: Cells) -> tuple[Choice, ...]:
    """An axis over the ids of a catalog, with the plan's own value if the list lacks it."""
    present = str(_present(name, {}, plan) or "")
    own_value = () if not present or present in values else (present,)
    return tuple(Choice(value, ((name, value),)) for value in (*own_value, *values))


def _counts(name: str, values: tuple[int, ...], plan: Cells) -> tuple[Choice, ...]:
    """An axis over whole numbers in their order."""
    several = sorted({*values, int(plan.get(name) or 1)})
    return tuple(Choice(str(value), ((name, value),)) for value in several)


def _multiples(name: str, job: Cells, plan: Cells) -> tuple[Choice, ...]:
    """An axis over parts and multiples of a number that the job or the plan has."""
    present = float(_present(name, job, plan))
    values = [present * multiple for multiple in MULTIPLES]
    is_rate = name == "requests_per_second"
    exact = [value if is_rate else float(max(round(value), 1)) for value in values]
    return tuple(Choice(f"{value:g}", ((name, value),)) for value in dict.fromkeys(exact))


def _present(name: str, job: Cells, plan: Cells) -> Any:
    """The value that the plan has: its own column, else the job's."""
    if name == "kv_precision":
        return plan.get(name) or DEFAULT_CACHE_PRECISION
    if name == "replicas":
        return replicas(plan)
    if name in plan and name not in ("users", "prompt_tokens"):
        return plan[name]
    values = listed(job.get(name))
    return values[0] if values else plan.get(name)
