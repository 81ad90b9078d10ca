"""The models that this session has added, by id."""

from typing import Any

import streamlit as st

import calc
from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.models.huggingface.config import ConfigError


def own_models() -> dict[str, Any]:
    """The models that this session has added, by id."""
    return st.session_state.get("custom_models") or {}


def add_model(model: str, entry: Row) -> None:
    """Add a model of one's own."""
    st.session_state["custom_models"] = {**own_models(), model: entry}


def take_models(entries: dict[str, dict[str, Any]], catalogs: Catalogs) -> list[str]:
    """Add the models of a link that can be counted; a sentence for each that cannot."""
    refused = []
    for model, entry in entries.items():
        try:
            counted = calc.add_models(catalogs, {model: {"name": model, **entry}}).models.loc[model]
            sizes = ["parameters"] if counted["total_parameters"] > 0 else ["parameters", "hidden", "outputs"]
            if not (counted[sizes].astype(float) > 0).all():
                raise ValueError
            add_model(model, {"name": model, **entry})
        except (calc.CatalogError, ConfigError, ArithmeticError, LookupError, TypeError, ValueError):
            refused.append(f"The link's model '{model}' is not complete or its sizes contradict each other; it was left aside.")
    return refused
