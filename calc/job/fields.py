"""The fields of a job as screen and link hold them, and the job row that they make."""

from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.markets import USUAL_MARKETS, sold_for
from calc.evaluate import Row, parameters_of
from calc.job import columns as inputs
from calc.job.cells import PERCENTILES, listed
from calc.job.columns import (
    ANYWHERE,
    EXAMPLE_TOKENS,
    EXAMPLES,
    JOB_BY_NAME,
    JOB_MARKETS,
    SEQUENCE_TOKENS,
    USUAL,
)
from calc.layout import at_once, data_parallel
from calc.scenarios.inputs import (
    ASSUMED,
    BY_NAME,
    DEFAULTS,
    HUGE,
    INFERENCE_ONLY,
    LORA_ONLY,
    TRAINING_ONLY,
    Input,
)
from calc.units import DAY_HOURS

USUAL_ANSWER_TOKENS = int(str(JOB_BY_NAME["answer_tokens"].default))
# The defaults are the first visit: a job that people know, answered before anything is clicked.
JOB_FIELDS = (
    JOB_BY_NAME["goal"],
    JOB_BY_NAME["service_class"],
    JOB_BY_NAME["method"],
    Input("model", "text", "llama-3.1-8b", catalog="models"),
    Input("examples", "count", 50_000),
    Input("example_tokens", "count", EXAMPLE_TOKENS),
    Input("epochs", "number", 3),
    Input("run_tokens", "number", 1e9),
    Input("sequence_tokens", "count", SEQUENCE_TOKENS),
    Input("step_tokens", "count", None),
    *(JOB_BY_NAME[name] for name in ("people", "users", "requests_per_second", "context_tokens")),
    Input("tokens_total", "text", ""),
    Input("prompt_tokens", "count", USUAL["inference"]["prompt_tokens"]),
    JOB_BY_NAME["answer_tokens"],
    Input("regions", "text", JOB_BY_NAME["regions"].default, catalog="regions"),
    Input("markets", "choice", JOB_BY_NAME["markets"].default, JOB_MARKETS),
    JOB_BY_NAME["obtainable"],
    Input("days_most", "number", 7),
    *(JOB_BY_NAME[name] for name in (*inputs.LIMITS[1:], "fewest_bits", "confidence", "have")),
    *(JOB_BY_NAME[name] for name in PERCENTILES),
)
JOB = {field.name: field for field in JOB_FIELDS}
NO_LIMIT = HUGE  # in a job row, where an empty cell asks for the usual limit
# Whose usual limit is none: an answer then keeps the fastest within sight of the lowest cost.
BUDGETS = ("usd_most", "usd_per_hour_most", "gpu_hours_most")
USUAL_WHERE_EMPTY = ("first_token_seconds", "instances_most")  # the job's own default then holds
SEVERAL = ("regions", "markets")
LIMITS = ("days_most", *inputs.LIMITS[1:])
MAY_BE_EMPTY = (
    *LIMITS,
    "step_tokens",
    "people",
    "requests_per_second",
    "context_tokens",
    "tokens_total",
    "have",
)
OF_TRAINING = (*EXAMPLES, "run_tokens", "sequence_tokens", "step_tokens", "method", "days_most")
OF_ALL = ("fewest_bits", "confidence", "obtainable", "have", "service_class")
LENGTHS = ("prompt_tokens", "answer_tokens")
OF_SERVING = (
    "people",
    "users",
    "requests_per_second",
    "context_tokens",
    *LENGTHS,
    "first_token_seconds",
    "token_seconds",
    *PERCENTILES,
    "tokens_total",
)

# Columns that fields of the job set, so that nobody sets them by hand.
SET_BY_FIELDS = (
    "scenario",
    "work",
    "model",
    "tuning",
    "sequence_tokens",
    "prompt_tokens",
    "tokens_total",
    "region",
)
# Columns that can be set by hand and have no field on the page.
UNSHOWN = {
    name: column for name, column in JOB_BY_NAME.items() if name not in (*JOB, "job", "hours_most")
}
BY_HAND = {
    name: column for name, column in (BY_NAME | UNSHOWN).items() if name not in SET_BY_FIELDS
}
# What an answer chooses where it is not set by hand; several values of it may be compared.
COMPARED = (
    "precision",
    "optimizer",
    "batch",
    "accumulation_steps",
    "gpus",
    "instance",
    "sharding",
    "tensor_parallel",
    "recompute",
    "implementation",
    "kv_precision",
)
CHOSEN = (*COMPARED, "pipeline_parallel", "context_parallel")
# Set by hand for a run and the service of its result.
ALIKE = ("private_prices", "hours_per_month", "lora_rank", "lora_targets")
DEGREES = parameters_of(data_parallel)[1:]


def work_of(fields: Row) -> str:
    """The kind of work of a goal: training or inference."""
    return "inference" if fields["goal"] == "serve" else "training"


def method_of(fields: Row) -> str:
    """The method of a job: from scratch all weights are trained."""
    return fields["method"] if fields["goal"] == "tune" else "full"


def is_offline(fields: Row) -> bool:
    """Return whether a service has work that ends: an amount of tokens, images or hours."""
    return fields["goal"] == "serve" and bool(fields.get("tokens_total"))


def is_read(name: str, fields: Row) -> bool:
    """Return whether a job of this goal and method reads a column or field."""
    if fields["goal"] == "serve":
        if name == "days_most":
            return is_offline(fields)
        return name not in (*TRAINING_ONLY, *OF_TRAINING, "step_factor")
    if name in (*EXAMPLES, "train_tokens", "method", "objective"):
        return fields["goal"] == "tune"
    if name == "run_tokens":
        return fields["goal"] == "train"
    if name in LORA_ONLY:
        return method_of(fields) != "full"
    return name not in (*INFERENCE_ONLY, *OF_SERVING)


def tokens_of_run(fields: Row) -> float:
    """Tokens of the run: as set, or of all examples over all epochs. [tokens]"""
    if fields["goal"] == "train":
        return fields["run_tokens"]
    return fields["examples"] * fields["example_tokens"] * fields["epochs"]


def _step_by_hand(fields: Row, by_hand: dict[str, list]) -> int | None:
    """Tokens of the step where micro-batch, accumulation and GPUs are all set by hand. [tokens]"""
    row = {name: by_hand.get(name, [None])[0] for name in ("batch", "accumulation_steps", "gpus")}
    if not all(row.values()):
        return None
    row |= {name: by_hand.get(name, [1])[0] for name in DEGREES}
    return int(at_once(row | {"work": "training"}) * fields["sequence_tokens"])


def job_of(fields: Row, by_hand: dict[str, list]) -> Row:
    """Return the job row of some fields; a column set by hand is one value or a list to compare."""
    job = {
        "goal": fields["goal"],
        "model": fields["model"],
        "work": work_of(fields),
        **{name: fields[name] for name in OF_ALL},
    }
    if job["work"] == "training":
        job |= {"method": method_of(fields), "train_tokens": tokens_of_run(fields)}
        if fields["goal"] == "tune" and "train_tokens" not in by_hand:
            job |= {name: fields[name] for name in EXAMPLES}
        job["sequence_tokens"] = fields["sequence_tokens"]
        job["step_tokens"] = fields["step_tokens"] or _step_by_hand(fields, by_hand)
    else:
        job |= {name: fields[name] for name in OF_SERVING}
        if fields["requests_per_second"] or fields["people"]:
            job["users"] = None
        if fields["context_tokens"]:
            job |= dict.fromkeys(LENGTHS)
    limits = {name: _limit(name, fields[name]) for name in LIMITS if is_read(name, fields)}
    if "days_most" in limits:
        job["hours_most"] = min(limits.pop("days_most") * DAY_HOURS, NO_LIMIT)
    job |= limits
    job["regions"] = "+".join(fields["regions"]) or ANYWHERE
    job["markets"] = "+".join(fields["markets"])
    for name, values in by_hand.items():
        if is_read(name, fields) or name in ASSUMED:
            job[name] = values[0] if len(values) == 1 else list(values)
    return job


def _limit(name: str, value: Any) -> Any:
    """The value of a limit; without one no limit, unless an empty cell has a meaning of its own."""
    if value is None and name not in (*BUDGETS, *USUAL_WHERE_EMPTY):
        return min(NO_LIMIT, JOB[name].most)
    return value


def job_for(goal: str, fields: Row, by_hand: dict[str, list]) -> Row:
    """The job row of the same fields for another goal.

    The budget, the markets that sell no such work and what is set by hand for the present goal stay
    with it; a service has no end.
    """
    others = {
        name: values
        for name, values in by_hand.items()
        if name in (*ASSUMED, *ALIKE) or not is_read(name, fields)
    }
    work = work_of({"goal": goal})
    markets = [name for name in fields["markets"] if sold_for(name, work)] or USUAL_MARKETS[:1]
    return job_of(
        {**fields, "goal": goal, "tokens_total": "", "markets": markets, **dict.fromkeys(BUDGETS)},
        others,
    )


def job_fields_of(
    scenario: Row, catalogs: Catalogs, goal: str = "tune"
) -> tuple[Row, dict[str, list]]:
    """The job fields that a scenario fills, and its columns that count as set by hand.

    A column of the scenario may hold a list of values.
    """
    columns = {name: listed(value) for name, value in scenario.items()}
    if columns.get("decoder_tokens") == columns.get("sequence_tokens"):
        columns.pop("decoder_tokens", None)  # it follows the sequence by itself
    if columns.get("instance"):
        columns.pop("gpu", None)  # which the instance settles
    first = {name: values[0] for name, values in columns.items() if values}
    # A scenario that names no work is a training.
    goal = goal if goal == "train" else "tune"
    fields: Row = {"goal": "serve" if first.get("work") == "inference" else goal}
    if "model" in first:
        fields["model"] = first["model"]
    if columns.get("region"):
        fields["regions"] = columns["region"]
    fields |= (
        _serving_fields(columns, first)
        if fields["goal"] == "serve"
        else _training_fields(columns, first, catalogs, goal)
    )
    if fields["goal"] != "serve" and "train_tokens" in first:
        fields["run_tokens"] = first["train_tokens"]
    return fields, _columns_by_hand(columns, fields)


def _columns_by_hand(columns: dict[str, list], fields: Row) -> dict[str, list]:
    """Return the columns that count as set by hand, and that a job with these fields reads.

    They are those that an answer would choose, and of the others those that are not the default.
    """
    job = {"method": "full", **fields}
    return {
        name: columns[name]
        for name in BY_HAND
        if name in DEFAULTS
        and columns.get(name)
        and (name in CHOSEN or columns[name] != [DEFAULTS[name]])
        and is_read(name, job)
    }


def _training_fields(columns, first, catalogs, goal):
    """Goal, method and context of a training; frozen formats make LoRA QLoRA."""
    fields = {}
    if "sequence_tokens" in first:
        fields = {"sequence_tokens": int(first["sequence_tokens"])}
    if first.get("tuning") != "lora":
        return fields | {"goal": goal, "method": "full"}
    trains = catalogs.precisions["trains"].astype(bool)
    are_quantized = [not trains.get(precision, True) for precision in columns.get("precision", [])]
    return fields | {
        "goal": "tune",
        "method": "qlora" if are_quantized and all(are_quantized) else "lora",
    }


def _serving_fields(columns, first):
    """Prompt, answer and requests in flight of a service; without an answer the usual one."""
    fields: Row = {}
    if "tokens_total" in columns:
        fields["tokens_total"] = f"{first['tokens_total']:.15g}" if "tokens_total" in first else ""
    if "sequence_tokens" in first:
        context = int(first["sequence_tokens"])
        prompt = int(first.get("prompt_tokens", context))
        prompt = (
            prompt if prompt < context else max(1, context - min(USUAL_ANSWER_TOKENS, context // 2))
        )
        fields |= {
            "context_tokens": None,
            "prompt_tokens": prompt,
            "answer_tokens": max(1, context - prompt),
        }
    if "batch" in first and all(
        len(columns.get(name, [1])) == 1 for name in ("gpus", *DEGREES, "batch")
    ):
        fields["users"] = int(
            at_once(
                dict.fromkeys(("gpus", "accumulation_steps", *DEGREES), 1)
                | first
                | {"work": "inference"}
            )
        )
    return fields
