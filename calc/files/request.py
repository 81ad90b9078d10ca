"""A pasted text, files and columns as one request: what they are, the job, and its row.

The command line, the agent's tools and the field on the page take every text through here.
"""

import re
from typing import NamedTuple

from calc.catalogs.load import Catalogs, add_models, catalog_ids
from calc.evaluate import Row
from calc.files.configs.documents import readings_of
from calc.files.configs.inside.programs import known_command
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.texts import format_of
from calc.files.data_of_run import amount_of_data, columns_of_data, data_sets
from calc.files.data_sets import DataSet
from calc.files.door import one_sentence
from calc.files.hub import model_of, read_repository
from calc.files.imported_run import (
    Documents,
    ImportedRun,
    import_run,
    is_model,
    model_entries,
    sorted_documents,
)
from calc.files.link import link
from calc.files.link.address import is_address, link_query
from calc.files.words.form import is_document
from calc.files.words.job import job_columns, read_phrases
from calc.files.words.owners import owners_of
from calc.files.words.read import read_words
from calc.files.words.request_reading import Question, RequestReading
from calc.job.fields import BY_HAND, JOB
from calc.mappings import Cells
from calc.models.foreign import free_id
from calc.models.huggingface.config import custom_entry
from calc.plan.ownership import OWNERSHIP

PASTED = "pasted"
KINDS = {  # what a text is, in words
    "words": "a job in words",
    "link": "a link of this planner",
    "model": "the config of a model",
    "run": "configs or launch commands of a run",
    "log": "an error, a log or a benchmark of a run",
    "data": "a data set",
}
SIZES = ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab")
LONGEST_PROSE = 5_000  # characters
SPOKEN = re.compile(
    r"^[^{}\[\]=:]*?\s(?:with|on|for|and|the|how|what|which|can|at|to)\s", re.IGNORECASE
)
REPOSITORY = re.compile(r"(?:huggingface\.co|hf\.co)/([\w.-]{1,96}/[\w.-]{1,96})", re.IGNORECASE)
TOO_LONG = (
    f"This text has more than {LONGEST_PROSE:,} characters and is no config, command or log that "
    "is read; describe the job in a few sentences, or give the config alone."
)
OTHER_ADDRESS = (
    "This address is no link of this planner and no model of the Hugging Face hub; paste the text "
    "that stands there instead."
)


NOTHING_SAID = RequestReading({})


class Request(NamedTuple):
    """A text or files as read: what they set, what was left out, and the models that they add.

    `columns`: fields of a job and columns of a scenario; `run`: of configs; `logs`: texts of errors
    and benchmarks.
    """

    kinds: tuple[str, ...]
    columns: Row
    read: dict[str, str]
    remark: str  # what was not understood
    models: dict[str, Row]
    catalogs: Catalogs
    run: ImportedRun | None = None
    logs: tuple[bytes, ...] = ()
    reading: RequestReading = NOTHING_SAID
    data: tuple[DataSet, ...] = ()
    owners: tuple[tuple[str, str], ...] = ()  # of team, owner and project those that are named

    @property
    def question(self) -> str:
        """Return what the words leave open, as one text."""
        return " ".join(question.text for question in self.reading.questions)

    @property
    def questions(self) -> tuple[Question, ...]:
        """Return the questions left open by the words; columns and files answer theirs."""
        known = self.columns.keys() | ({"goal", "model", "amount"} if self.run else set())
        return tuple(
            question
            for question in self.reading.questions
            if question.column not in known or question.column in self.reading.columns
        )


@one_sentence
def request_of(
    documents: Documents,
    catalogs: Catalogs,
    columns: Cells | None = None,
    model: str = "",
) -> Request:
    """Read documents (name, bytes) and columns as a request; raises ConfigProblem, ConfigError.

    `columns` stand over those that the documents name; `model` over a run that names none.
    """
    data, documents = data_sets(documents)
    configs, logs = sorted_documents(documents)
    prose = [document for document in configs if _is_prose(*document)]
    text = _text_of(prose)
    if query := link_query(text):
        return _request_of_link(query, catalogs)
    text, owners = owners_of(text)
    worded = job_columns(read_words(text, catalogs), catalogs) if text.strip() else NOTHING_SAID
    named = columns_of_data(data) | worded.columns | dict(columns or {})
    owners |= {name: str(named.pop(name)) for name in OWNERSHIP if name in named}
    sizes = {name: int(named.pop(name)) for name in SIZES if name in named}
    models = _new_models(configs, named, sizes, text, columns or {}, catalogs)
    catalogs = _with_models(models, named, catalogs)
    files = [document for document in configs if document not in prose]
    run = _run_of(files, named, catalogs, bool(data), model)
    named = amount_of_data(data, run, named) if data and run else named
    parts = {"words": prose, "model": models, "run": run, "log": logs, "data": data}
    return Request(
        kinds=tuple(name for name, part in parts.items() if part),
        columns=named,
        read=dict(read_phrases(worded, catalogs)) | owners,
        remark=_remark(worded, sizes),
        models=models,
        catalogs=catalogs,
        run=run,
        logs=tuple(content for _, content in logs),
        reading=worded,
        data=data,
        owners=tuple(owners.items()),
    )


def _new_models(
    configs: Documents,
    named: Row,
    sizes: dict[str, int],
    text: str,
    columns: Cells,
    catalogs: Catalogs,
) -> dict[str, Row]:
    """The models that configs, six sizes or an address add; `named` takes the id of the latter."""
    models = model_entries(configs, catalogs)
    model = str(named.get("model", ""))
    if len(sizes) == len(SIZES):
        models["my-model"] = custom_entry(**sizes, name="my-model", catalogs=catalogs)
    elif "/" in model and model not in catalogs.models.index:
        repository = _named_repository(model, text, columns)
        named["model"] = free_id(model_of(repository), catalog_ids(catalogs))
        models[named["model"]] = read_repository(repository, catalogs)
    return models


def _with_models(models: dict[str, Row], named: Row, catalogs: Catalogs) -> Catalogs:
    """The catalogs with models; `named` takes the first of them if it names no known model."""
    if not models:
        return catalogs
    catalogs = add_models(catalogs, models)
    if named.get("model", "") not in catalogs.models.index:
        named["model"] = next(iter(models))
    return catalogs


def _run_of(
    files: Documents, named: Row, catalogs: Catalogs, has_data: bool, model: str
) -> ImportedRun | None:
    """The run of configs and commands; `named` takes the market that they alone ask for."""
    if all(is_model(content) for _, content in files):
        return None
    known = named | {"train_tokens": None} if has_data else named
    run = import_run(files, catalogs, known.get("model", model), known)
    if run.summary.market and "markets" not in named:
        named["markets"] = run.summary.market
        run = run._replace(summary=run.summary.on_market())
    return run


def _text_of(prose: Documents) -> str:
    """Return the words as one text; raises ConfigProblem for one that is no request."""
    text = " ".join(content.decode("utf-8", "replace") for _, content in prose)
    if is_address(text):
        if not link_query(text) and not REPOSITORY.search(text):
            raise ConfigProblem(OTHER_ADDRESS)
    elif len(text) > LONGEST_PROSE:
        raise ConfigProblem(TOO_LONG)
    return text


def _request_of_link(query: dict[str, list[str]], catalogs: Catalogs) -> Request:
    """Return the job and the columns by hand that the query of a link of this planner sets."""
    choices, complaints = link.parse(query, catalogs)
    return Request(
        kinds=("link",),
        columns={name: value for name, value in choices.items() if name in JOB or name in BY_HAND},
        read={},
        remark=link.in_short(complaints),
        models=choices.get("custom_models", {}),
        catalogs=catalogs,
    )


def _remark(worded: RequestReading, sizes: Cells) -> str:
    """Return the assumptions in reading the words, and what is not counted."""
    parts = (("Read as", worded.assumed), ("Not counted", worded.not_counted))
    sentences = [f"{title}: {', '.join(several)}." for title, several in parts if several]
    if 0 < len(sizes) < len(SIZES):
        sentences.append(f"Of six sizes only {', '.join(sizes)} were named.")
    return " ".join(sentences)


def _named_repository(model: str, text: str, columns: Cells) -> str:
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
    """Return whether a pasted text is words: no tool reads it, and it has no form of a config."""
    if name != PASTED or is_model(content):
        return False
    text = content.decode("utf-8", "replace")
    if SPOKEN.search(text) and "\n" not in text.strip() and not known_command().search(text):
        return True  # a sentence with flags in it
    try:
        readings_of(text, PASTED)
    except ConfigProblem:
        is_line = not is_document(text.strip()) and len(text) <= LONGEST_PROSE
        return is_line or format_of(text, PASTED) == "command"
    return False
