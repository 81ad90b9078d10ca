"""Configs and launch commands of one run, read as a scenario with its estimate."""

import json
import re
from pathlib import PurePath
from typing import NamedTuple

from calc.catalogs.load import Catalogs, add_models, catalog_ids
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.calibration.run_logs import runs
from calc.files.configs.field_report import Line
from calc.files.configs.run_summary import RunSummary, replicas_of, summary_of
from calc.files.door import one_sentence
from calc.files.oom.explain import tells, text_of
from calc.files.runs_of_files import runs_of_files
from calc.files.simulated_models import model_entry
from calc.mappings import Json
from calc.memory.fit import HOLDS
from calc.models.foreign import free_id
from calc.scenarios.inputs import BY_NAME

UNSURE = 0.5  # the probability of a fit that an uncounted field may undo
MAY_FIT = "It may fit all the same: a field of your file that lowers the memory is not counted."
NOT_SURE = "Whether it fits is not sure: a field of your file that changes memory is not counted."
Documents = list[tuple[str, bytes]]
# A config.json has at least one of these.
MODEL_KEYS = {
    "architectures",
    "hidden_size",
    "d_model",
    "n_embd",
    "num_hidden_layers",
    "vocab_size",
}
MOST_JSON = 10  # documents of one text that are looked at
BLANKS = re.compile(r"\s*")


class OtherRun(NamedTuple):
    """Another run of the same files: its row, and the replicas that they ask for."""

    row: dict[str, str]
    replicas: int


class ImportedRun(NamedTuple):
    """One run: the columns that its files settle, its estimate, the lines, added models."""

    scenario: Json
    row: Row
    lines: list[Line]
    source_tool: str
    models: dict[str, Json]
    catalogs: Catalogs  # with the added models
    summary: RunSummary = RunSummary((), (), ())
    others: tuple[OtherRun, ...] = ()  # of the same files
    problems: tuple[tuple[str, str], ...] = ()  # sentences, each with the column that it is of

    @property
    def lacks_model(self) -> bool:
        """Return whether the files name no model that the catalog has."""
        return self.row["model"] not in self.catalogs.models.index


@one_sentence
def import_run(
    documents: Documents,
    catalogs: Catalogs,
    model: str = "",
    said: Json | None = None,
) -> ImportedRun:
    """The first run of the documents (name, bytes); raises ConfigProblem or ConfigError.

    `said` has columns that are given beside the documents, which are then not assumed. If a run
    names no model, or one that the catalog lacks, the model is that of a Hugging Face config.json
    among the documents, else `model`.
    """
    models = model_entries(documents, catalogs)
    extended = add_models(catalogs, models) if models else catalogs
    run, *others = runs_of_files(
        [document for document in documents if not is_model(document[1])],
        extended,
        next(iter(models), model),
        str((said or {}).get("objective") or ""),
    )
    choices = {name: run.row[name] for name in BY_NAME if run.row[name]}
    row = estimate({"model": "", **choices}, extended, solve=False)
    row |= {
        "problem": run.row["problem"] or row["problem"],
        "note": f"{run.row['note']} {row['note']}".strip(),
    }
    summary = summary_of(run.row, run.lines, row, said or {})
    row = cautious(row, summary)
    return ImportedRun(
        {name: row[name] for name in choices if name != "scenario"},
        row,
        run.lines,
        run.row["source_tool"],
        models,
        extended,
        summary,
        tuple(OtherRun(other.row, replicas_of(other.lines)) for other in others),
        tuple(run.problems.items()),
    )


def cautious(row: Row, summary: RunSummary) -> Row:
    """A row whose verdict is not sure where its files change memory in an uncounted way.

    A field that raises it may undo a fit; one that lowers it may make what does not fit fit.
    """
    if summary.lacks_memory and row["fits"] == HOLDS[0]:
        why, probability = NOT_SURE, min(row["fit_probability"], UNSURE)
    elif summary.overstates and row["fits"] == "no":
        why, probability = MAY_FIT, UNSURE
    else:
        return row
    return {
        **row,
        "fits": HOLDS[1],
        "fit_probability": probability,
        "note": f"{why} {row['note']}".strip(),
    }


def model_entries(documents: Documents, catalogs: Catalogs) -> dict[str, Json]:
    """The entries of the Hugging Face configs among the documents, by id."""
    ids = {
        free_id(model_name(name), catalog_ids(catalogs)): content.decode("utf-8-sig")
        for name, content in documents
        if is_model(content)
    }
    return {model: model_entry(text, model, catalogs) for model, text in ids.items()}


@one_sentence
def sorted_documents(documents: Documents) -> tuple[Documents, Documents]:
    """The documents as configs and launchers, and as errors, logs and benchmarks."""
    logs = [document for document in documents if _is_log(*document)]
    return [document for document in documents if document not in logs], logs


def _is_log(name: str, content: bytes) -> bool:
    """Return whether a document is an error, a log or a benchmark.

    A notebook may hold one that it printed, and is none.
    """
    if name.lower().endswith(".ipynb"):
        return False
    return bool(tells(content) or runs(text_of(content)))


def is_model(content: bytes) -> bool:
    """Return whether the content is a config.json of a model, its index beside it or not."""
    text = content.decode("utf-8-sig", "replace").strip()
    decoder = json.JSONDecoder()
    place = 0
    for _ in range(MOST_JSON if text.startswith("{") else 0):
        try:
            config, place = decoder.raw_decode(text, BLANKS.match(text, place).end())  # type: ignore[union-attr]
        except (ValueError, RecursionError):
            return False
        if isinstance(config, dict) and "model_type" in config and config.keys() & MODEL_KEYS:
            return True
    return False


def model_name(name: str) -> str:
    """The id of a model by the name of its file: my-model for config.json."""
    stem = PurePath(name).stem.lower()
    return "my-model" if stem in ("", "config", "pasted") else stem
