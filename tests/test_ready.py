"""The server gets ready before the first visitor: the answer that the first visit shows is then there."""

import importlib

import streamlit as st
from pages import DASHBOARD, opened

from calc import CatalogError
from calc.search import options
from views import ready
from views.session import catalogs


def test_the_first_visit_finds_its_answer_made_and_a_broken_catalog_is_left_to_the_page(monkeypatch):
    ready.get_ready()
    made = []
    monkeypatch.setattr(options, "options_of", lambda job, _: made.append(job))
    assert opened().title[0].value.startswith("Fine-tuning")
    assert not made

    def unreadable():
        raise CatalogError("gpus.yaml is cut")

    monkeypatch.setattr(catalogs, "read_ahead", unreadable)
    ready.get_ready()


def test_the_server_imports_the_entry_as_its_application():
    app = importlib.import_module("dashboard").app
    assert isinstance(app, st.App)
    assert str(app.script_path) == DASHBOARD
