"""The Models and Prices tabs: models by name, family and size, prices with their age, cards with
who rents them.
"""

from pages import opened, page_text, run, title

from calc.charts import catalog_tables
from views.shared import sources, tables


def test_models_are_found_by_words_family_and_size_and_the_sizes_leave_none_out(catalogs):
    matches = catalog_tables.models(catalogs, "llama 70b")
    assert {"llama-3.1-70b", "llama-3.3-70b"} <= set(matches["id"])
    assert len(catalog_tables.models(catalogs)) == len(catalogs.models)
    assert set(catalog_tables.models(catalogs, families=["bert"])["family"]) == {"bert"}
    small = catalog_tables.models(catalogs, sizes=["under 1 billion", "1 to 9 billion"])
    assert small["billions"].between(0, 9, inclusive="left").all()
    assert "llama-3.1-8b" in set(small["id"])
    counted = catalogs.models["parameters"].notna().sum()
    assert (
        sum(len(catalog_tables.models(catalogs, sizes=[size])) for size in catalog_tables.SIZES)
        == counted
    )


def test_a_model_is_searched_ticked_and_used(monkeypatch):
    app = opened("models")
    everything = len(app.dataframe[0].value)
    app.text_input(key="model_search").set_value("mixtral").run()
    assert set(app.dataframe[0].value["family"]) == {"mistral"}
    assert len(app.dataframe[0].value) < everything
    app.text_input(key="model_search").set_value("no such thing").run()
    assert not app.dataframe
    assert "No model of the catalog" in app.info[0].value
    monkeypatch.setattr(tables, "chosen_in", lambda _: [0])
    app = opened("models")
    app.text_input(key="model_search").set_value("mixtral 8x7b").run()
    assert app.button(key="use_model").label == "Use Mixtral 8x7B v0.1 in plan"
    app.button(key="use_model").click().run()
    assert not app.exception
    assert app.query_params["model"] in ("mixtral-8x7b", ["mixtral-8x7b"])


def test_prices_say_how_many_are_old_and_cards_that_aws_rents_come_first(catalogs):
    app = opened("prices")
    shown = app.dataframe[0].value
    assert (
        f"{shown['on_demand_usd_per_hour'].notna().sum()} of {len(shown)} types have an "
        f"On-Demand price"
    ) in title(app)
    assert f"{shown['on_demand_old'].sum()} of the On-Demand prices are older" in page_text(app)
    table = catalog_tables.card_table(catalogs)
    rented = table["instances"] != ""
    assert rented.iloc[: rented.sum()].all()
    assert len(table) == len(catalogs.gpus)
    app.session_state["cards"] = True
    run(app)
    assert len(app.dataframe[1].value) == len(catalogs.gpus)


def test_a_figure_of_a_model_opens_its_source(monkeypatch):
    monkeypatch.setattr(
        sources, "chosen_in", lambda _, kind="rows": [(0, "weights_gib")] if kind == "cells" else []
    )
    app = opened("models")
    app.text_input(key="model_search").set_value("llama 3.1 8b").run()
    assert "Lightning-AI/litgpt" in page_text(app)
    assert "catalogs/edited/models.yaml, llama-3.1-8b" in page_text(app)
