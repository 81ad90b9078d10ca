"""Adds a model: a config.json uploaded, pasted or fetched, or six sizes by hand."""

import re
from typing import Any

import streamlit as st

from calc.evaluate import Row
from calc.files.hub import model_of, read_repository
from calc.models.huggingface.config import ConfigError, custom_entry, read_config_text
from views.session import job_state
from views.session.catalogs import add_model, base_catalogs
from views.shared.elements import button, segments
from views.shared.markdown import plain

SIZES = {
    "layers": ("Layers", 32),
    "hidden": ("Hidden size", 4096),
    "heads": ("Attention heads", 32),
    "kv_heads": ("Key-value heads", 8),
    "ffn": ("Feed-forward width", 14336),
    "vocab": ("Vocabulary", 128256),
}
INDEX = "Type not covered? Paste its model.safetensors.index.json after it: the least memory that it needs is then shown."
WAYS = {"upload": "Upload", "paste": "Paste", "hub": "From the hub", "hand": "Sizes by hand"}


def add_a_model() -> None:
    """A group of the page; its fields exist only while it is open."""
    with st.expander("A model of your own: config.json, the Hugging Face hub, or six sizes", on_change="rerun", key="model_form") as form:
        if not form.open:
            return
        origin = segments("Where it comes from", WAYS, "model_way", default="upload")
        if origin == "hub":
            st.text_input("Repository on the Hugging Face hub", placeholder="org/name", key="repository", max_chars=200)
        else:
            st.text_input("Name of the model", value="my-model", key="new_model", max_chars=60)
        if origin == "upload":
            st.file_uploader("config.json of Hugging Face", type="json", key="config_file")
        elif origin == "paste":
            st.text_area("config.json of Hugging Face", key="config_text", height=160)
            st.caption(INDEX)
        elif origin == "hand":
            for name, (label, value) in SIZES.items():
                st.number_input(label, min_value=1, max_value=10**8, value=value, key=f"size_{name}")
        pressed = button("Use this model", _add, type="primary", key="add_model")
        if st.session_state.get("model_error"):
            st.error(plain(st.session_state["model_error"]))
        elif pressed:
            st.switch_page("views/plan/page.py")


def _add() -> None:
    """Add the model of the form to the session and choose it; the form shows a fault."""
    state = st.session_state
    state["model_error"] = ""
    try:
        model = _id(state)
        entry = _entry(state, model)
        add_model(model, entry)
        job_state.choose(model=model, **_as_stored(entry))
    except ConfigError as error:
        state["model_error"] = str(error)


def _as_stored(entry: Row) -> dict[str, str]:
    """The precision of a file whose weights are quantised, where the work can use it."""
    stored = entry.get("stored_precision", "")
    able = job_state.possible_precisions(base_catalogs())
    return {"precision": stored} if stored in able else {}


def _id(state: Any) -> str:
    if state["model_way"] == "hub":
        return model_of(state["repository"].strip())
    return re.sub(r"[^a-z0-9-]+", "-", state["new_model"].strip().lower()).strip("-") or "my-model"


def _entry(state: Any, model: str) -> dict[str, int | str]:
    if state["model_way"] == "hub":
        return read_repository(state["repository"].strip(), base_catalogs())
    if state["model_way"] == "hand":
        sizes = {name: int(state[f"size_{name}"]) for name in SIZES}
        return custom_entry(**sizes, name=state["new_model"] or model, catalogs=base_catalogs())
    if state["model_way"] == "paste":
        return read_config_text(state["config_text"], model, base_catalogs())
    if state["config_file"] is None:
        raise ConfigError("No file is chosen; upload the config.json of a model.")
    return read_config_text(state["config_file"].getvalue().decode("utf-8", errors="replace"), model, base_catalogs())
