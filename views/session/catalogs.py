"""The catalogs, read again when a file changes, with the session's own models and runs.

Files that cannot be read any more, half-written ones among them, change nothing: the last good
catalogs stay, and the page says so.
"""

import gc
import json
import logging
import os
from datetime import date
from itertools import chain
from typing import Any

import streamlit as st

import calc
from calc.catalogs.load import FOLDER, Catalogs, read_again, with_readings
from calc.catalogs.rooms import folders_of
from calc.evaluate import Row
from calc.files.simulated_models import own_folder, with_simulated
from calc.mappings import Json
from calc.models.huggingface.config import ConfigError

LOGGER = logging.getLogger(__name__)


def catalogs() -> Catalogs:
    """Return the catalogs with this session's own models and runs."""
    base = base_catalogs()
    models = own_models()
    entries = st.session_state.get("readings")
    catalogs_now = base
    if models:
        catalogs_now = _with_models(base.version, json.dumps(models, sort_keys=True), base)
    if entries is None:
        return catalogs_now
    return _with_readings(catalogs_now.version, json.dumps(entries, sort_keys=True), catalogs_now)


def look_at_files() -> None:
    """Once per run: check the files; the session goes by them until the next run."""
    st.session_state["catalog_files"] = _stamp()


def base_catalogs() -> Catalogs:
    """The catalogs of the files, or the last that were sound; else raises CatalogError."""
    return _read(_seen())[0]


def read_ahead() -> Catalogs:
    """Read the catalogs before there is a visitor; raises CatalogError."""
    return _read(_stamp())[0]


def problem() -> str:
    """Why the files as they are now are not used, as a sentence; empty where they are."""
    return _read(_seen())[1]


def _seen() -> str:
    return st.session_state.get("catalog_files") or _stamp()


def _stamp() -> str:
    """A text of the day and of each file's name, time and size, which tells a change."""
    try:
        folders = [*folders_of(FOLDER), *(folder for folder in (own_folder(),) if folder.is_dir())]
        every = chain(*(os.scandir(folder) for folder in folders))
        files = [file for file in every if file.name.endswith((".yaml", ".json", ".csv"))]
        return repr(
            (
                date.today(),
                sorted((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files),
            )
        )
    except OSError as error:  # a file or the folder went while it was looked at
        return repr(error)


@st.cache_resource(max_entries=2, show_spinner=False)
def _read(stamp: str) -> tuple[Catalogs, str]:
    """The catalogs to use for files of this stamp, and why they are not those files'."""
    last_good = _last_good()
    try:
        last_good[:] = [_load()]
        _set_apart()
    except calc.CatalogError as error:
        if not last_good:
            raise
        return last_good[0], str(error)
    except Exception as error:  # whatever is raised, the last good catalogs stay
        if not last_good:
            raise
        LOGGER.exception("The catalogs cannot be read")
        return last_good[0], f"Reading the catalogs failed ({type(error).__name__}); see the log."
    return last_good[0], ""


def _set_apart() -> None:
    """Exempt long-lived objects from garbage collection; earlier catalogs stay subject to it."""
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
    gc.freeze()


def _load() -> Catalogs:
    """All files anew, where every one of them can be read; raises CatalogError."""
    result = with_simulated(calc.load_catalogs(FOLDER))
    read_again(FOLDER)
    return result


@st.cache_resource(show_spinner=False)
def _last_good() -> list[Any]:
    """None or one, shared by every session: the catalogs that were read last."""
    return []


@st.cache_resource(max_entries=64, show_spinner=False)
def _with_models(version: str, models: str, _base: Catalogs) -> Catalogs:
    return calc.add_models(_base, json.loads(models))


@st.cache_resource(max_entries=64, show_spinner=False)
def _with_readings(version: str, entries: str, _base: Catalogs) -> Catalogs:
    return with_readings(_base, json.loads(entries))


def rest_on(entries: Json) -> None:
    """Callback: every figure of this session rests on these readings; none: on no run at all."""
    st.session_state["readings"] = entries


def readings(catalogs: Catalogs) -> Row:
    """The readings that the figures rest on now, by number."""
    return catalogs.readings.to_dict("index")


def own_models() -> Row:
    """The models that this session has added, by id."""
    return st.session_state.get("custom_models") or {}


def add_model(model: str, entry: Row) -> None:
    """Add a model of the visitor."""
    st.session_state["custom_models"] = {**own_models(), model: entry}


def take_models(entries: dict[str, Row], catalogs: Catalogs) -> list[str]:
    """Add the models of a link that can be counted; a sentence for each that cannot."""
    refusals = []
    for model, entry in entries.items():
        try:
            model_row = calc.add_models(catalogs, {model: {"name": model, **entry}}).models.loc[
                model
            ]
            sizes = (
                ["parameters"]
                if model_row["total_parameters"] > 0
                else ["parameters", "hidden", "outputs"]
            )
            if not (model_row[sizes].astype(float) > 0).all():
                raise ValueError
            add_model(model, {"name": model, **entry})
        except (
            calc.CatalogError,
            ConfigError,
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
        ):
            refusals.append(
                f"The link's model '{model}' is not complete or its sizes contradict each "
                f"other; it was ignored."
            )
    return refusals
