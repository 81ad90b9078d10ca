"""A pasted text, files and columns as one request: what they are, the job, and its row.

The command line, the agent's tools and the field on the page take every text through here.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from calc.answers.full_answer import Answer, full_answer
from calc.catalogs.load import Catalogs, add_models, catalog_ids
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.brought import (
    Brought,
    Documents,
    brought,
    cautious,
    is_model,
    model_entries,
    sorted_documents,
)
from calc.files.configs.documents import readings_of
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.texts import format_of
from calc.files.data_of_run import amount_of_data, columns_of_data, data_sets
from calc.files.data_sets import DataSet
from calc.files.door import one_sentence
from calc.files.hub import model_of, read_repository
from calc.files.link import link
from calc.files.link.address import is_address, link_query
from calc.files.words.form import is_document
from calc.files.words.job import job_columns, read_phrases
from calc.files.words.read import read_words
from calc.files.words.understood import Question, Understood
from calc.job.cells import listed
from calc.job.fields import BY_HAND, JOB, SEVERAL, job_fields_of, job_of
from calc.job.resolve import resolve
from calc.models.foreign import free_id
from calc.models.huggingface.config import custom_entry
from calc.plan.bill import billed
from calc.plan.figures import records
from calc.say.place import region_name
from calc.scenarios.inputs import BY_NAME, inputs_by_name
from calc.scenarios.problems import TableError
from calc.units import DAY_HOURS

PASTED = "pasted"
KINDS = {  # what a text is, in words
    "words": "a job in words",
    "link": "a link of this planner",
    "model": "the config of a model",
    "run": "configs or launch commands of a run",
    "log": "an error, a log or a benchmark of a run",
    "data": "a data set",
}
LENGTHS = (
    "sequence_tokens",
    "prompt_tokens",
    "answer_tokens",
)  # which a model may cut where nobody names them
SAID_OTHERWISE = ("work", "tuning", "region", "hours_most")  # on screen
SIZES = ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab")
DEFAULT_FIELDS = {
    name: str(field.default).split("+") if name in SEVERAL else field.default
    for name, field in JOB.items()
}
OF_EXAMPLES = ("example_tokens", "epochs")  # which count where examples are named
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
    "answer_tokens": "answers of {0:,.0f}",
    "regions": "{0}",
}
INSTEAD = {  # what says the same otherwise
    "train_tokens": ("examples", "run_tokens"),
    "users": ("people", "requests_per_second", "tokens_total"),
    **dict.fromkeys(("prompt_tokens", "answer_tokens"), ("context_tokens", "sequence_tokens")),
    "regions": ("region", "have"),
}
LONGEST_PROSE = 5_000  # characters
REPOSITORY = re.compile(r"(?:huggingface\.co|hf\.co)/([\w.-]{1,96}/[\w.-]{1,96})", re.IGNORECASE)
TOO_LONG = (
    f"This text has more than {LONGEST_PROSE:,} characters and is no config, command or log that "
    "is read; describe the job in a few sentences, or give the config alone."
)
OTHER_ADDRESS = (
    "This address is no link of this planner and no model of the Hugging Face hub; paste the text "
    "that stands there instead."
)
WHICH_MODEL = "Which model shall be trained on this data? Name one of the catalog, as qwen3-8b."
NO_MODEL = (
    "No model is named; write one of the catalog such as qwen3-8b, its address on the Hugging "
    "Face hub, or its config.json."
)


class OpenQuestions(TableError):
    """Words that leave open what changes the answer."""

    def __init__(self, questions: tuple[Question, ...], problem: str = ""):
        super().__init__(
            " ".join(dict.fromkeys([*([problem] if problem else []), *(q.text for q in questions)]))
        )
        self.questions, self.problem = questions, problem


NOTHING_SAID = Understood({})


class Request(NamedTuple):
    """What a text or files are and set, what was left out, and the models that they add.

    `columns`: fields of a job and columns of a scenario; `run`: of configs; `logs`: texts of errors
    and benchmarks.
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
    understood: Understood = NOTHING_SAID
    data: tuple[DataSet, ...] = ()

    @property
    def questions(self) -> tuple[Question, ...]:
        """What the words leave open; what columns or files say is not asked."""
        known = self.columns.keys() | ({"goal", "model", "amount"} if self.run else set())
        return tuple(
            question
            for question in self.understood.questions
            if question.column not in known or question.column in self.understood.columns
        )


class Answered(NamedTuple):
    """The row of a request, billed; of a job that leaves choices open its options, else None."""

    row: Row
    job: dict[str, Any]
    options: Answer | None


@one_sentence
def request_of(
    documents: Documents,
    catalogs: Catalogs,
    columns: Mapping[str, Any] | None = None,
    model: str = "",
) -> Request:
    """What documents (name, bytes) and columns ask for; raises ConfigProblem, ConfigError.

    `columns` stand over those that the documents name; `model` over a run that names none.
    """
    data, documents = data_sets(documents)
    configs, logs = sorted_documents(documents)
    prose = [document for document in configs if _is_prose(*document)]
    text = " ".join(content.decode("utf-8", "replace") for _, content in prose)
    if len(text) > LONGEST_PROSE and not is_address(text):
        raise ConfigProblem(TOO_LONG)
    if query := link_query(text):
        choices, complaints = link.parse(query, catalogs)
        fields = {name: value for name, value in choices.items() if name in JOB or name in BY_HAND}
        return Request(
            ("link",),
            fields,
            {},
            link.in_short(complaints),
            "",
            choices.get("custom_models", {}),
            catalogs,
        )
    if is_address(text) and not REPOSITORY.search(text):
        raise ConfigProblem(OTHER_ADDRESS)
    worded = job_columns(read_words(text, catalogs), catalogs) if text.strip() else NOTHING_SAID
    named = columns_of_data(data) | worded.columns | dict(columns or {})
    sizes = {name: int(named.pop(name)) for name in SIZES if name in named}
    models = model_entries(configs, catalogs)
    if len(sizes) == len(SIZES):
        models["my-model"] = custom_entry(**sizes, name="my-model", catalogs=catalogs)
    elif "/" in str(named.get("model", "")) and named["model"] not in catalogs.models.index:
        repository = _named_repository(str(named["model"]), text, columns or {})
        own_id = free_id(model_of(repository), catalog_ids(catalogs))
        models[own_id] = read_repository(repository, catalogs)
        named["model"] = own_id
    catalogs = add_models(catalogs, models) if models else catalogs
    if models and named.get("model", "") not in catalogs.models.index:
        named["model"] = next(iter(models))
    settings = [
        document for document in configs if document not in prose and not is_model(document[1])
    ]
    run = (
        brought(
            [document for document in configs if document not in prose],
            catalogs,
            named.get("model", model),
            named | dict.fromkeys(("train_tokens",) if data else ()),
        )
        if settings
        else None
    )
    if data and run:
        named = amount_of_data(data, run, named)
    documents_of = {"words": prose, "model": models, "run": settings, "log": logs, "data": data}
    kinds = tuple(name for name, several in documents_of.items() if several)
    remark = _remark(worded) + (
        f" Of six sizes only {', '.join(sizes)} were named." if 0 < len(sizes) < len(SIZES) else ""
    )
    return Request(
        kinds,
        named,
        dict(read_phrases(worded)),
        remark.strip(),
        " ".join(question.text for question in worded.questions),
        models,
        catalogs,
        run,
        tuple(content for _, content in logs),
        worded,
        data,
    )


def _remark(worded: Understood) -> str:
    """What was read of the words with an assumption, and what is not counted."""
    parts = (("Read as", worded.assumed), ("Not counted", worded.not_counted))
    return " ".join(f"{title}: {', '.join(several)}." for title, several in parts if several)


def check_open(request: Request) -> None:
    """Raise OpenQuestions where the words leave open what changes the answer."""
    problem = (
        ""
        if request.run or {"model", "goal"} <= request.columns.keys()
        else request.understood.problem
    )
    if request.questions or (problem and "words" in request.kinds):
        raise OpenQuestions(request.questions, problem)


def answered(request: Request, assume: bool = False) -> Answered:
    """Return the row of a request: columns and configs as they stand, words by the ranked table.

    Raises OpenQuestions where the words leave open what changes the answer, unless `assume`.
    """
    if request.logs and not request.columns:
        raise TableError(
            "This is an error or a log: explain it beside its plan or its config, `python -m "
            "calc oom LOG PLAN`."
        )
    if request.run or (
        "words" not in request.kinds and request.columns.keys() <= inputs_by_name().keys()
    ):
        return Answered(row_of_request(request), {}, None)
    if request.data and not request.columns.get("model"):
        raise OpenQuestions((Question(WHICH_MODEL, "model"),))
    if not assume:
        check_open(request)
    ranked = full_answer(job_of_columns(with_model(request)), request.catalogs)
    return Answered(ranked.rows[0], ranked.job, ranked)


def row_of_request(request: Request) -> Row:
    """The scenario of a request as it stands, billed; what is open has its default."""
    scenario = _scenario(request.columns)
    if request.run and not scenario:
        row = request.run.row  # with what its files contradict
    else:
        scenario = (
            {**request.run.scenario, **scenario} if request.run else _scenario(with_model(request))
        )
        row = estimate(scenario, request.catalogs, solve=False)
        row = cautious(row, request.run.told) if request.run else row
    return billed_row(
        {**row, "market": (listed(request.columns.get("markets")) or ["on-demand"])[0]},
        request.catalogs,
    )


def billed_row(row: Row, catalogs: Catalogs) -> Row:
    """A row with its market's money."""
    return records(billed(pd.DataFrame([row]), catalogs))[0]


def with_model(request: Request) -> dict[str, Any]:
    """The columns of a request that names its model; raises TableError."""
    if not request.columns.get("model"):
        raise TableError(" ".join(filter(None, (request.question or NO_MODEL, request.remark))))
    return request.columns


def _scenario(columns: Mapping[str, Any]) -> dict[str, Any]:
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
        scenario |= (
            {"precision": "nf4"}
            if columns["method"] == "qlora" and "precision" not in columns
            else {}
        )
    if "context_tokens" in columns or {"prompt_tokens", "answer_tokens"} <= columns.keys():
        lengths = (columns.get(name, 0) for name in ("prompt_tokens", "answer_tokens"))
        scenario["sequence_tokens"] = columns.get("context_tokens") or sum(map(float, lengths))
    scenario |= {"batch": columns["users"]} if "users" in columns and "batch" not in columns else {}
    return scenario | (
        {"region": columns["regions"][0]}
        if columns.get("regions", ["anywhere"]) != ["anywhere"]
        else {}
    )


def job_of_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The job of some columns, all else as on a first visit."""
    choices = job_choices(columns)
    rest = {name: listed(value) for name, value in choices.items() if name not in JOB}
    job = job_of(
        DEFAULT_FIELDS | {name: value for name, value in choices.items() if name in JOB}, rest
    )
    return {name: value for name, value in job.items() if name not in LENGTHS or name in columns}


def job_choices(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns as the fields of a job and what is set by hand, as screen and link have them."""
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
    return choices


def columns_of_run(request: Request) -> dict[str, Any]:
    """The columns of a request with those that its files settle, as a job has them."""
    if request.run is None:
        return request.columns
    fields, by_hand = job_fields_of(request.run.scenario, request.catalogs)
    return fields | by_hand | request.columns


def assumed(job: Mapping[str, Any], request: Request) -> str:
    """Return what a reader wants to know of a job and did not say, with the values taken."""
    words = assumed_values(job, request)
    return f"Assumed: {', '.join(words)}." if words else ""


def assumed_values(job: Mapping[str, Any], request: Request) -> list[str]:
    """Return the values that a job takes where the text says nothing, each in words."""
    if job.get("model") not in request.catalogs.models.index:
        return []
    columns, values = request.columns, resolve(job, request.catalogs)
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
    return words + [
        ASSUMED_WORDS[name].format(regions if name == "regions" else getattr(values, name))
        for name in names
    ]


def _cell(name: str, value: Any) -> Any:
    """A field as screens hold it: regions and markets as lists, all regions as none."""
    if name not in SEVERAL:
        return value
    several = [one for text in listed(value) for one in str(text).split("+")]
    return [] if several == ["anywhere"] else several


def _named_repository(model: str, text: str, columns: Mapping[str, Any]) -> str:
    """The repository that a column or an address names; raises ConfigProblem for plain words.

    Words such as and/or are never sent to a hub.
    """
    if "model" in columns:
        return model
    for match in REPOSITORY.finditer(text):
        if match[1].lower() == model.lower():
            return match[1]
    raise ConfigProblem(
        f"'{model[:80]}' is no model of the catalog. To read it from the Hugging Face hub, write "
        f"its address, huggingface.co/{model[:80]}; or paste its config.json."
    )


def _is_prose(name: str, content: bytes) -> bool:
    """Whether a pasted text is words: no tool reads it, and it has no form of a config."""
    if name != PASTED or is_model(content):
        return False
    text = content.decode("utf-8", "replace")
    try:
        readings_of(text, PASTED)
    except ConfigProblem:
        is_line = not is_document(text.strip()) and len(text) <= LONGEST_PROSE
        return is_line or format_of(text, PASTED) == "command"
    return False
