"""What a team says of its job, as screen and link hold it; the job row that it stands for; and a scenario read back as a job."""

from typing import Any

from calc.catalogs.load import Catalogs
from calc.layout import data_parallel
from calc.scenarios.inputs import ASSUMED, BY_NAME, DEFAULTS, HUGE, Input
from calc.search.inputs import ANYWHERE, JOB_BY_NAME, JOB_MARKETS, SEQUENCE_TOKENS, USUAL
from calc.units import DAY_HOURS

USUAL_ANSWER_TOKENS = int(str(JOB_BY_NAME["answer_tokens"].default))
# The defaults are the first visit: a job that people know, answered before anything is clicked.
JOB_FIELDS = (
    Input("goal", "choice", "tune", ("train", "tune", "serve")),
    JOB_BY_NAME["method"],
    Input("model", "text", "llama-3.1-8b", catalog="models"),
    Input("examples", "count", 50_000),
    Input("example_tokens", "count", 1_000),
    Input("epochs", "number", 3),
    Input("run_tokens", "number", 1e9),
    Input("sequence_tokens", "count", SEQUENCE_TOKENS),
    Input("step_tokens", "count", None),
    *(JOB_BY_NAME[name] for name in ("people", "users", "requests_per_second")),
    Input("prompt_tokens", "count", USUAL["inference"]["prompt_tokens"]),
    JOB_BY_NAME["answer_tokens"],
    Input("regions", "text", JOB_BY_NAME["regions"].default, catalog="regions"),
    Input("markets", "choice", JOB_BY_NAME["markets"].default, JOB_MARKETS),
    Input("days_most", "number", 7),
    *(JOB_BY_NAME[name] for name in ("usd_most", "usd_per_hour_most", "instances_most", "first_token_seconds", "token_seconds")),
    *(JOB_BY_NAME[name] for name in ("fewest_bits", "confidence")),
)
JOB = {field.name: field for field in JOB_FIELDS}
NO_LIMIT = HUGE  # in a job row, where an empty cell asks for the usual limit
BUDGETS = ("usd_most", "usd_per_hour_most")  # whose usual limit is none: an answer then keeps the fastest within sight of the least money
SEVERAL = ("regions", "markets")
LIMITS = ("days_most", "usd_most", "usd_per_hour_most", "instances_most", "first_token_seconds", "token_seconds")
MAY_BE_EMPTY = (*LIMITS, "step_tokens", "people", "requests_per_second")
OF_TRAINING = ("examples", "example_tokens", "epochs", "run_tokens", "sequence_tokens", "step_tokens", "method", "days_most")
OF_SERVING = ("people", "users", "requests_per_second", "prompt_tokens", "answer_tokens", "first_token_seconds", "token_seconds")

SETTLED = ("scenario", "work", "model", "tuning", "sequence_tokens", "prompt_tokens", "region")  # by the job itself
BY_HAND = {name: column for name, column in BY_NAME.items() if name not in SETTLED}
# What an answer chooses where it is not set by hand; of these several values may be compared.
CHOSEN = (
    *("precision", "optimizer", "batch", "accumulation_steps", "gpus", "instance", "sharding", "tensor_parallel"),
    *("pipeline_parallel", "context_parallel", "recompute", "implementation", "kv_precision"),
)
COMPARED = tuple(name for name in CHOSEN if name not in ("pipeline_parallel", "context_parallel"))
DEGREES = ("tensor_parallel", "pipeline_parallel", "context_parallel")
ONLY_TRAINING = (
    *("optimizer", "optimizer_kernel", "gradient_precision", "recompute", "loss", "reduce_precision", "accumulation_steps"),
    *("sharding", "offload", "train_tokens", "lora_rank", "lora_targets", "adapter_precision"),
)
ONLY_SERVING = ("logits", "kv_precision", "max_sequences", "max_batched_tokens", "memory_utilization")
ONLY_LORA = ("lora_rank", "lora_targets", "adapter_precision")


def work_of(asked: dict[str, Any]) -> str:
    """The kind of work of a goal: training or inference."""
    return "inference" if asked["goal"] == "serve" else "training"


def method_of(asked: dict[str, Any]) -> str:
    """The method of a job: from scratch all weights are trained."""
    return asked["method"] if asked["goal"] == "tune" else "full"


def is_read(name: str, asked: dict[str, Any]) -> bool:
    """Whether a job of this goal and method reads a column or field."""
    if asked["goal"] == "serve":
        return name not in (*ONLY_TRAINING, *OF_TRAINING)
    if name in ("examples", "example_tokens", "epochs", "train_tokens", "method"):
        return asked["goal"] == "tune"
    if name == "run_tokens":
        return asked["goal"] == "train"
    return name not in (*ONLY_SERVING, *OF_SERVING) and (name not in ONLY_LORA or method_of(asked) != "full")


def tokens_of_run(asked: dict[str, Any]) -> float:
    """Tokens of the whole run: those named, or of all examples over all epochs."""
    return asked["run_tokens"] if asked["goal"] == "train" else asked["examples"] * asked["example_tokens"] * asked["epochs"]


def step_by_hand(asked: dict[str, Any], by_hand: dict[str, list]) -> int | None:
    """Tokens of the optimizer step that micro-batch, accumulation and GPUs make where all three are set by hand; else None."""
    if not all(by_hand.get(name) for name in ("batch", "accumulation_steps", "gpus")):
        return None
    batch, steps, gpus = (by_hand[name][0] for name in ("batch", "accumulation_steps", "gpus"))
    replicas = data_parallel(gpus, *(by_hand.get(name, [1])[0] for name in DEGREES))
    return int(batch * steps * replicas * asked["sequence_tokens"])


def job_of(asked: dict[str, Any], by_hand: dict[str, list]) -> dict[str, Any]:
    """The job row; a column set by hand is one value, or a list to be compared."""
    limits = {name: min(NO_LIMIT, JOB[name].most) if asked[name] is None and name not in BUDGETS else asked[name] for name in LIMITS}
    job = {"model": asked["model"], "work": work_of(asked), **{name: asked[name] for name in ("fewest_bits", "confidence")}}
    if job["work"] == "training":
        job |= {"method": method_of(asked), "train_tokens": tokens_of_run(asked)}
        job |= {"sequence_tokens": asked["sequence_tokens"], "step_tokens": asked["step_tokens"] or step_by_hand(asked, by_hand)}
        job["hours_most"] = min(limits["days_most"] * DAY_HOURS, NO_LIMIT)
    else:
        job |= {name: asked[name] for name in OF_SERVING} | ({"users": None} if asked["requests_per_second"] or asked["people"] else {})
    job |= {name: value for name, value in limits.items() if name != "days_most" and is_read(name, asked)}
    job |= {"regions": "+".join(asked["regions"]) or ANYWHERE, "markets": "+".join(asked["markets"])}
    fixed = {name: values[0] if len(values) == 1 else list(values) for name, values in by_hand.items()}
    return job | {name: value for name, value in fixed.items() if is_read(name, asked) or name in ASSUMED}


def asked_of(scenario: dict[str, Any], catalogs: Catalogs, goal: str = "tune") -> tuple[dict[str, Any], dict[str, list]]:
    """The job fields that a scenario answers, and what of it counts as set by hand; its columns may hold lists.

    A column that an answer would choose is set by hand, any other one where it is not the default.
    """
    given = {name: _listed(value) for name, value in scenario.items()}
    if given.get("decoder_tokens") == given.get("sequence_tokens"):
        given.pop("decoder_tokens", None)  # it follows the sequence by itself
    if given.get("instance"):
        given.pop("gpu", None)  # which the instance settles
    first = {name: values[0] for name, values in given.items() if values}
    asked: dict[str, Any] = {"goal": "serve" if first.get("work") == "inference" else goal}
    asked |= {"model": first["model"]} if "model" in first else {}
    asked |= {"regions": given["region"]} if given.get("region") else {}
    asked |= _served(given, first) if asked["goal"] == "serve" else _trained(given, first, catalogs, goal)
    by_hand = {name: given[name] for name in BY_HAND if given.get(name) and (name in CHOSEN or given[name] != [DEFAULTS[name]])}
    if asked["goal"] != "serve" and "train_tokens" in first:
        asked["run_tokens"] = first["train_tokens"]
    known = {"method": "full", **asked}
    return asked, {name: values for name, values in by_hand.items() if is_read(name, known)}


def _trained(given, first, catalogs, goal):
    """Goal, method and context of a training scenario: only formats that cannot be trained make LoRA QLoRA."""
    asked = {"sequence_tokens": int(first["sequence_tokens"])} if "sequence_tokens" in first else {}
    if first.get("tuning") == "lora":
        trains = catalogs.precisions["trains"].astype(bool)
        quantised = [not trains.get(each, True) for each in given.get("precision", [])]
        return asked | {"goal": "tune", "method": "qlora" if quantised and all(quantised) else "lora"}
    return asked | {"goal": goal if goal == "train" else "tune", "method": "full"}


def _served(given, first):
    """Prompt, answer and users at once of a serving scenario; an answer of the usual length where none is named."""
    asked: dict[str, Any] = {}
    if "sequence_tokens" in first:
        whole = int(first["sequence_tokens"])
        prompt = int(first.get("prompt_tokens", whole))
        prompt = prompt if prompt < whole else max(1, whole - min(USUAL_ANSWER_TOKENS, whole // 2))
        asked |= {"prompt_tokens": prompt, "answer_tokens": max(1, whole - prompt)}
    if "batch" in first and all(len(given.get(name, [1])) == 1 for name in ("gpus", *DEGREES, "batch")):
        asked["users"] = int(first["batch"] * data_parallel(*(int(first.get(name, 1)) for name in ("gpus", *DEGREES))))
    return asked


def _listed(value):
    """The values that are named, as a list: neither None nor the empty text nor NaN."""
    values = value if isinstance(value, list | tuple) else [value]
    return [each for each in values if each is not None and each != "" and each == each]
