"""The catalogs, read once per process and again when a file changes; with the models that this session has added."""

import json
import os
from datetime import date

import streamlit as st

import calc
from calc.catalogs.load import FOLDER
from views.session.own_models import own_models


def catalogs():
    """The catalogs with this session's own models."""
    own = own_models()
    return _with_models(_stamp(), json.dumps(own, sort_keys=True)) if own else base_catalogs()


def base_catalogs():
    """The catalogs as the files hold them."""
    return _catalogs(_stamp())


def _stamp():
    """The day, and name, time and size of each catalog file in one text: another stamp, another reading."""
    files = (each for folder in (FOLDER, FOLDER / "history") for each in os.scandir(folder) if each.is_file())
    return repr((date.today(), sorted((each.name, each.stat().st_mtime_ns, each.stat().st_size) for each in files)))


@st.cache_resource(max_entries=2, show_spinner="Reading the catalogs")
def _catalogs(stamp):
    return calc.load_catalogs()


@st.cache_resource(max_entries=64, show_spinner=False)
def _with_models(stamp, own):
    return calc.add_models(_catalogs(stamp), json.loads(own))
