"""Configs and launch commands of one run, read as a scenario with its estimate."""

import json
from pathlib import PurePath
from typing import Any, NamedTuple

from calc.catalogs.load import Catalogs, add_models
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.configs.lines import Line
from calc.files.configs.run import read_run
from calc.files.oom.explain import tells
from calc.models.huggingface.config import read_config_text
from calc.scenarios.inputs import BY_NAME

Documents = list[tuple[str, bytes]]
MODEL_KEYS = {"model_type", "architectures"}  # a config.json has both


class Brought(NamedTuple):
    """The columns that the files settle, the estimate, the files line by line, added models."""

    scenario: dict[str, Any]
    row: Row
    lines: list[Line]
    source_tool: str
    models: dict[str, dict[str, Any]]
    catalogs: Catalogs  # with the added models


def brought(documents: Documents, catalogs: Catalogs) -> Brought:
    """The run of the documents (name, bytes); raises ConfigProblem or ConfigError.

    A Hugging Face config.json among them is the model of a run that names none, or one that the catalog lacks.
    """
    configs = [(name, content) for name, content in documents if _is_model(content)]
    models = {_id(name): read_config_text(content.decode("utf-8-sig"), _id(name), catalogs) for name, content in configs}
    extended = add_models(catalogs, models) if models else catalogs
    run = read_run([document for document in documents if document not in configs], extended)
    choices = {name: run.row[name] for name in BY_NAME if run.row[name]}
    problem = run.row["problem"]
    if models and choices.get("model") not in extended.models.index:
        choices["model"], problem = next(iter(models)), ""
    row = estimate({"model": "", **choices}, extended, solve=False)
    row["problem"] = problem or row["problem"]
    return Brought({name: row[name] for name in choices if name != "scenario"}, row, run.lines, run.row["source_tool"], models, extended)


def sorted_documents(documents: Documents) -> tuple[Documents, Documents]:
    """The documents as configs and launchers, and as out-of-memory messages and logs."""
    logs = [document for document in documents if tells(document[1])]
    return [document for document in documents if document not in logs], logs


def _is_model(content: bytes) -> bool:
    try:
        config = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(config, dict) and config.keys() >= MODEL_KEYS


def _id(name: str) -> str:
    stem = PurePath(name).stem.lower()
    return "my-model" if stem in ("", "config") else stem
