"""The columns of a request as a job or a scenario, and the values that it takes by default."""

from typing import Any

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.request import Request
from calc.job.cells import JobError, cell_value, listed
from calc.job.columns import EXAMPLE_TOKENS, EXAMPLES
from calc.job.fields import JOB, SEVERAL, job_fields_of, job_of
from calc.job.measure import counts_images, takes_images
from calc.job.resolve import resolve
from calc.job.rollouts import rolls_out
from calc.job.service_classes import with_class_defaults
from calc.mappings import Cells
from calc.say.place import region_name
from calc.scenarios.inputs import BY_NAME
from calc.scenarios.problems import TableError
from calc.units import DAY_HOURS, WEEK_HOURS

# A model's context may cut these if the request does not name them.
LENGTHS = (
    "sequence_tokens",
    "prompt_tokens",
    "answer_tokens",
)
SAID_OTHERWISE = ("work", "tuning", "region", "hours_most")  # on screen
DEFAULT_FIELDS = {
    name: str(field.default).split("+") if name in SEVERAL else field.default
    for name, field in JOB.items()
}
OF_EXAMPLES = ("example_tokens", "epochs")  # which count where examples are named
AMOUNT = ("model", "objective", *EXAMPLES, "train_tokens", "sequence_tokens")  # what a run learns
TELLING = {  # what a reader wants to know of a job that leaves it open
    "training": ("method", "train_tokens", *OF_EXAMPLES, "sequence_tokens", "regions"),
    "inference": ("users", "prompt_tokens", "answer_tokens", "regions"),
}
ASSUMED_WORDS = {
    "method": "method {0}",
    "train_tokens": "{0:,.0f} tokens of training",
    "example_tokens": "{0:,.0f} tokens an example",
    "epochs": "{0:g} epochs",
    "sequence_tokens": "a context of {0:,.0f} tokens",
    "users": "{0:.0f} requests in flight",
    "prompt_tokens": "prompts of {0:,.0f} tokens",
    "answer_tokens": "answers of {0:,.0f} tokens",
    "regions": "{0}",
}
INSTEAD = {  # what says the same otherwise
    "train_tokens": ("examples", "run_tokens"),
    "users": ("people", "requests_per_second", "tokens_total"),
    **dict.fromkeys(("prompt_tokens", "answer_tokens"), ("context_tokens", "sequence_tokens")),
    "regions": ("region", "have"),
}


def scenario_of_columns(columns: Cells) -> Row:
    """The scenario of a job's columns: its goal, method and lengths as a scenario has them."""
    scenario = {
        name: listed(value)[0]
        for name, value in columns.items()
        if name in BY_NAME and listed(value)
    }
    if "goal" in columns:
        scenario["work"] = "inference" if columns["goal"] == "serve" else "training"
    if "method" in columns:
        scenario["tuning"] = "full" if columns["method"] == "full" else "lora"
        if columns["method"] == "qlora" and "precision" not in columns:
            scenario["precision"] = "nf4"
    if "context_tokens" in columns or {"prompt_tokens", "answer_tokens"} <= columns.keys():
        lengths = (columns.get(name, 0) for name in ("prompt_tokens", "answer_tokens"))
        scenario["sequence_tokens"] = columns.get("context_tokens") or sum(map(float, lengths))
    if "users" in columns and "batch" not in columns:
        scenario["batch"] = columns["users"]
    regions = _cell("regions", columns.get("regions"))
    return scenario | ({"region": regions[0]} if regions else {})


UNSHARDED = "none"
DIVIDED = {"tensor_parallel", "pipeline_parallel"}  # FSDP or ZeRO alone divides no matrices
TIME_SET = {"hours_most", "days_most"}


def job_of_columns(columns: Cells, catalogs: Catalogs) -> Row:
    """The job of some columns, all else as on a first visit."""
    choices = job_choices(columns, catalogs)
    rest = {name: listed(value) for name, value in choices.items() if name not in JOB}
    job = job_of(
        DEFAULT_FIELDS | {name: value for name, value in choices.items() if name in JOB}, rest
    )
    job = {name: value for name, value in job.items() if name not in LENGTHS or name in choices}
    shards = columns.get("sharding", UNSHARDED) != UNSHARDED
    return job | ({"tensor_parallel": 1} if shards and not columns.keys() & DIVIDED else {})


def job_choices(columns: Cells, catalogs: Catalogs) -> Row:
    """Columns as the fields of a job and what is set by hand, as screen and link have them.

    Raise TableError if a field holds no value of its kind.
    """
    serves = columns.get("goal") == "serve" or columns.get("work") == "inference"
    columns = with_class_defaults(columns, "inference" if serves else "training")
    choices = {
        name: _cell(name, value) for name, value in columns.items() if name not in SAID_OTHERWISE
    }
    if "work" in columns:
        choices.setdefault("goal", "serve" if columns["work"] == "inference" else "tune")
    if "tuning" in columns:
        choices.setdefault("method", columns["tuning"])
    if "region" in columns:
        choices.setdefault("regions", _cell("regions", columns["region"]))
    if "hours_most" in columns:
        choices.setdefault("days_most", float(columns["hours_most"]) / DAY_HOURS)
    if serves:
        choices |= _load_and_lengths(choices)
        return choices | prompt_with_images(choices, catalogs)
    if rolls_out({"objective": listed(choices.get("objective"))}, catalogs):
        choices.setdefault("example_tokens", choices.get("prompt_tokens", EXAMPLE_TOKENS))
    return choices | _amount_of_run(choices, catalogs)


def _load_and_lengths(choices: Row) -> Row:
    """The fields of a service that names its load twice, or its context and one length of it.

    Of people and of requests in flight the share of them that is active follows; of a context and
    a prompt the answer, and of a context and an answer the prompt.
    """
    filled: Row = {}
    if choices.get("people") and choices.get("users"):
        filled["share_active"] = choices["users"] / choices["people"]
    context = choices.get("context_tokens")
    lengths = [choices.get("prompt_tokens"), choices.get("answer_tokens")]
    if context and lengths.count(None) == 1:
        other = context - sum(length for length in lengths if length)
        prompt, answer = (other if length is None else length for length in lengths)
        if other > 0:
            filled |= {"context_tokens": None, "prompt_tokens": prompt, "answer_tokens": answer}
    return filled


def prompt_with_images(choices: Row, catalogs: Catalogs) -> Row:
    """The prompt of a service that sees images, if the usual one is shorter than they are."""
    names = ("model", "images_per_sequence", "image_tokens", "tokens_total", "answer_tokens")
    fields = {name: choices[name] for name in names if choices.get(name)}
    sees_images = "images_per_sequence" in fields or counts_images(fields.get("tokens_total"))
    is_set = choices.get("prompt_tokens") or choices.get("context_tokens")
    if is_set or not sees_images or fields.get("model") not in catalogs.models.index:
        return {}
    if not takes_images(fields["model"], catalogs):
        return {}
    return {"prompt_tokens": resolve({"work": "inference", **fields}, catalogs).prompt_tokens}


def _amount_of_run(choices: Row, catalogs: Catalogs) -> Row:
    """The fields of a run's tokens, where its columns give them by examples or in one number.

    A run from scratch has them as one field. An example whose tokens nobody names has those of its
    image, or the usual ones as far as its context holds them.
    """
    fields = {name: choices[name] for name in AMOUNT if choices.get(name)}
    from_scratch = choices.get("goal") == "train"
    is_known = from_scratch or not fields.keys() & {"example_tokens", "objective"}
    named = fields.keys() & {"examples", "train_tokens"} and "run_tokens" not in choices
    if not (is_known and named and fields.get("model") in catalogs.models.index):
        return {}
    try:
        resolved = resolve({"work": "training", **fields}, catalogs)
    except JobError:
        return {}  # the answer says what is wrong
    if from_scratch:
        return {"run_tokens": resolved.train_tokens}
    return {"example_tokens": resolved.example_tokens} if resolved.example_tokens else {}


def columns_of_run(request: Request) -> Row:
    """The columns of a request with those that its files settle, as a job has them."""
    if request.run is None:
        return request.columns
    fields, by_hand = job_fields_of(request.run.scenario, request.catalogs)
    return fields | by_hand | request.columns


def assumption_sentence(job: Cells, request: Request) -> str:
    """Return what a reader wants to know of a job and did not say, with the values taken."""
    words = assumed_values(job, request)
    return f"Assumed: {', '.join(words)}." if words else ""


def assumed_values(job: Cells, request: Request) -> list[str]:
    """Return the values that a job takes where the text says nothing, each in words."""
    if job.get("model") not in request.catalogs.models.index:
        return []
    columns = request.columns
    values = resolve(job, request.catalogs)
    names = [
        name
        for name in TELLING[values.work]
        if not columns.keys() & {name, *INSTEAD.get(name, ())} and getattr(values, name)
    ]
    names = [name for name in names if name not in OF_EXAMPLES or "examples" in columns]
    names = [
        name
        for name in names
        if name not in LENGTHS
        or (getattr(values, name) > 1 and (values.generates or name != "answer_tokens"))
    ]
    regions = ", ".join(region_name(region, request.catalogs) for region in values.regions)
    words = [] if columns.keys() & {"goal", "work"} else ["fine-tuning, not serving"]
    hours_most = 0.0 if columns.keys() & TIME_SET else values.hours_most or 0.0
    if values.ends and hours_most > WEEK_HOURS:
        words.append(f"{hours_most / DAY_HOURS:.0f} days allowed, since no option ends in a week")
    return words + [
        ASSUMED_WORDS[name].format(regions if name == "regions" else getattr(values, name))
        for name in names
    ]


def _cell(name: str, value: Any) -> Any:
    """A field as screens hold it: regions and markets as lists, all regions as none."""
    if name in JOB and name not in SEVERAL and isinstance(value, str):
        try:
            return cell_value(JOB[name], value)
        except JobError as error:
            raise TableError(str(error)) from error
    if name not in SEVERAL:
        return value
    several = [one for text in listed(value) for one in str(text).split("+")]
    return [] if several == ["anywhere"] else several
