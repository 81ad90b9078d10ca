"""A pasted text, files and columns as one request: what they are, the job, and its row.

The command line, the agent's tools and the field on the page take every text through here.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pandas as pd

from calc.catalogs.load import Catalogs, add_models
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.brought import Brought, Documents, brought, is_model, model_name, sorted_documents
from calc.files.configs.documents import readings_of
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.texts import format_of
from calc.files.hub import model_of, read_repository
from calc.files.link import link
from calc.files.words.read import read_words
from calc.models.huggingface.config import custom_entry, read_config_text
from calc.plan.bill import billed
from calc.plan.figures import records
from calc.say.place import region_name
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.problems import TableError
from calc.search.job_fields import BY_HAND, JOB, SEVERAL, job_of
from calc.search.job_row import listed
from calc.search.options import Options, options

PASTED = "pasted"
KINDS = {  # what a text is, in words
    "words": "a job in words",
    "link": "a link of this planner",
    "model": "the config of a model",
    "run": "configs or launch commands of a run",
    "log": "an error, a log or a benchmark of a run",
}
SIZES = ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab")
DEFAULT_FIELDS = {name: str(field.default).split("+") if name in SEVERAL else field.default for name, field in JOB.items()}
TELLING = {  # what a reader wants to know of a job that leaves it open
    "training": ("method", "train_tokens", "sequence_tokens", "regions"),
    "inference": ("users", "prompt_tokens", "answer_tokens", "regions"),
}
ASSUMED_WORDS = {
    "method": "method {0}",
    "train_tokens": "{0:,.0f} tokens of training",
    "sequence_tokens": "a context of {0:,.0f} tokens",
    "users": "{0:.0f} requests at once",
    "prompt_tokens": "prompts of {0:,.0f} tokens",
    "answer_tokens": "answers of {0:,.0f}",
    "regions": "{0}",
}
INSTEAD = {  # what says the same otherwise
    "train_tokens": ("examples", "run_tokens"),
    "users": ("people", "requests_per_second", "tokens_total"),
    **dict.fromkeys(("prompt_tokens", "answer_tokens"), ("context_tokens", "sequence_tokens")),
    "regions": ("region", "have"),
}
NO_MODEL = "No model is named; write one of the catalog such as qwen3-8b, its address on the Hugging Face hub, or its config.json."


class Request(NamedTuple):
    """What a text or files are and set, what was left out, and the models that they add.

    `columns`: fields of a job and columns of a scenario; `run`: of configs; `logs`: texts of errors and benchmarks.
    """

    kinds: tuple[str, ...]
    columns: dict[str, Any]
    read: dict[str, str]
    remark: str  # what was not understood
    question: str  # which model is meant
    models: dict[str, dict[str, Any]]
    catalogs: Catalogs
    run: Brought | None = None
    logs: tuple[bytes, ...] = ()


class Answered(NamedTuple):
    """The row of a request, billed; of a job that leaves choices open its options, else None."""

    row: Row
    job: dict[str, Any]
    options: Options | None


def request_of(documents: Documents, catalogs: Catalogs, columns: Mapping[str, Any] | None = None, model: str = "") -> Request:
    """What documents (name, bytes) and columns ask for; raises ConfigProblem, ConfigError.

    `columns` stand over those that the documents name; `model` over a run that names none.
    """
    configs, logs = sorted_documents(documents)
    prose = [document for document in configs if _is_prose(*document)]
    text = " ".join(content.decode("utf-8", "replace") for _, content in prose)
    if query := _query(text):
        choices, complaints = link.parse(query, catalogs)
        fields = {name: value for name, value in choices.items() if name in JOB or name in BY_HAND}
        return Request(("link",), fields, {}, " ".join(complaints), "", choices.get("custom_models", {}), catalogs)
    worded = read_words(text, catalogs)
    named = worded.columns | dict(columns or {})
    sizes = {name: int(named.pop(name)) for name in SIZES if name in named}
    models = {model_name(name): read_config_text(content.decode("utf-8-sig"), model_name(name), catalogs)
              for name, content in configs if is_model(content)}  # fmt: skip
    if len(sizes) == len(SIZES):
        models["my-model"] = custom_entry(**sizes, name="my-model", catalogs=catalogs)
    elif "/" in str(named.get("model", "")) and named["model"] not in catalogs.models.index:
        models[model_of(named["model"])] = read_repository(named["model"], catalogs)
        named["model"] = model_of(named["model"])
    catalogs = add_models(catalogs, models) if models else catalogs
    if models and named.get("model", "") not in catalogs.models.index:
        named["model"] = next(iter(models))
    settings = [document for document in configs if document not in prose and not is_model(document[1])]
    run = brought([document for document in configs if document not in prose], catalogs, named.get("model", model)) if settings else None
    held = {"words": prose, "model": models, "run": settings, "log": logs}
    kinds = tuple(name for name, several in held.items() if several)
    remark = worded.remark + (f" Of six sizes only {', '.join(sizes)} were named." if 0 < len(sizes) < len(SIZES) else "")
    return Request(kinds, named, worded.read, remark.strip(), worded.question, models, catalogs, run, tuple(content for _, content in logs))


def answered(request: Request) -> Answered:
    """The row of a request: columns and configs as they stand, words by the ranked table."""
    columns, catalogs = request.columns, request.catalogs
    if request.logs and not columns:
        raise TableError("This is an error or a log: explain it beside its plan or its config, `python -m calc oom LOG PLAN`.")
    if request.run:
        scenario = {**request.run.scenario, **_scenario(columns)}
        row = request.run.row if scenario == request.run.scenario else estimate(scenario, catalogs, solve=False)
        return Answered(_billed(row, catalogs), {}, None)
    if not columns.get("model"):
        raise TableError(" ".join(filter(None, (request.question or NO_MODEL, request.remark))))
    if "words" not in request.kinds and columns.keys() <= inputs_by_name().keys():
        return Answered(_billed(estimate(columns, catalogs, solve=False), catalogs), {}, None)
    ranked = options(job_of_columns(columns), catalogs)
    return Answered(ranked.rows[0], ranked.job, ranked)


def _scenario(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a scenario among those of a job."""
    return {name: listed(value)[0] for name, value in columns.items() if name in inputs_by_name() and listed(value)}


def job_of_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The job of some columns, all else as on a first visit."""
    fields = {name: _cell(name, columns[name]) if name in columns else usual for name, usual in DEFAULT_FIELDS.items()}
    if "goal" not in columns and columns.get("work") == "inference":
        fields["goal"] = "serve"
    rest = {name: listed(value) for name, value in columns.items() if name not in JOB and name not in ("work", "region")}
    return job_of(fields, rest) | ({"regions": columns["region"]} if "region" in columns else {})


def assumed(result: Answered, request: Request) -> str:
    """What a reader wants to know of a job and did not say, with the values taken."""
    job, columns = result.job, request.columns
    if not job or not result.row["model"]:
        return ""
    names = [name for name in TELLING[job["work"]] if not columns.keys() & {name, *INSTEAD.get(name, ())} and job.get(name)]
    values = {**job, "regions": region_name(job["regions"], request.catalogs)}
    words = [] if columns.keys() & {"goal", "work"} else ["fine-tuning, not serving"]
    words += [ASSUMED_WORDS[name].format(values[name]) for name in names]
    return f"Assumed: {', '.join(words)}." if words else ""


def _cell(name: str, value: Any) -> Any:
    """A field as screens hold it: regions and markets as lists, all regions as none."""
    if name not in SEVERAL:
        return value
    several = [one for text in listed(value) for one in str(text).split("+")]
    return [] if several == ["anywhere"] else several


def _billed(row: Row, catalogs: Catalogs) -> Row:
    market = row.get("market") or "on-demand"
    return records(billed(pd.DataFrame([{**row, "market": market}]), catalogs))[0]


def _query(text: str) -> dict[str, list[str]]:
    """The choices of a link of this planner; empty for any other text."""
    text = text.strip()
    if not text.startswith(("http://", "https://")) or len(text.split()) != 1:
        return {}
    query = parse_qs(urlsplit(text).query)
    return query if query.keys() & JOB.keys() else {}


def _is_prose(name: str, content: bytes) -> bool:
    """Whether a pasted text is words: no tool reads it, and it has no form of a config."""
    if name != PASTED or is_model(content):
        return False
    text = content.decode("utf-8", "replace")
    try:
        readings_of(text, PASTED)
    except ConfigProblem:
        return format_of(text, PASTED) == "command" or "\n" not in text.strip()
    return False
