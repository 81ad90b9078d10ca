"""The Models and prices page: models by name, family and size, prices with their age, cards with who rents them."""

from pages import opened, run

from calc.charts import catalog_tables
from views.shared import tables


def on_tab(tab):
    app = opened("models")
    app.session_state["catalog_tab"] = tab
    return run(app)


def test_models_are_found_by_words_family_and_size_and_the_sizes_leave_none_out(catalogs):
    matches = catalog_tables.models(catalogs, "llama 70b")
    assert {"llama-3.1-70b", "llama-3.3-70b"} <= set(matches["id"])
    assert len(catalog_tables.models(catalogs)) == len(catalogs.models)
    assert set(catalog_tables.models(catalogs, families=["bert"])["family"]) == {"bert"}
    small = catalog_tables.models(catalogs, sizes=["under 1 billion", "1 to 9 billion"])
    assert small["billions"].between(0, 9, inclusive="left").all()
    assert "llama-3.1-8b" in set(small["id"])
    counted = catalogs.models["parameters"].notna().sum()
    assert sum(len(catalog_tables.models(catalogs, sizes=[size])) for size in catalog_tables.SIZES) == counted


def test_a_model_is_searched_ticked_and_used_unless_it_is_refused(monkeypatch, catalogs):
    app = on_tab("Models")
    everything = len(app.dataframe[0].value)
    app.text_input(key="model_search").set_value("mixtral").run()
    assert set(app.dataframe[0].value["family"]) == {"mistral"}
    assert len(app.dataframe[0].value) < everything
    app.text_input(key="model_search").set_value("no such thing").run()
    assert not app.dataframe
    assert "No model of the catalog" in app.info[0].value
    monkeypatch.setattr(tables, "chosen_in", lambda _: [0])
    app = on_tab("Models")
    app.text_input(key="model_search").set_value("mixtral 8x7b").run()
    assert app.button(key="use_model").label == "Use Mixtral 8x7B v0.1 in plan"
    app.button(key="use_model").click().run()
    assert not app.exception
    assert app.query_params["model"] in ("mixtral-8x7b", ["mixtral-8x7b"])
    monkeypatch.setattr(tables, "chosen_in", lambda _: [0])
    app = on_tab("Models")
    refused = catalogs.models.index[catalogs.models["refused"] != ""][0]
    app.text_input(key="model_search").set_value(refused).run()
    assert app.button(key="use_model").disabled


def test_prices_say_how_many_are_old_and_cards_that_aws_rents_come_first(catalogs):
    app = on_tab("Prices")
    shown = app.dataframe[0].value
    text = " ".join(element.value for element in app.markdown)
    assert f"{shown['on_demand_usd_per_hour'].notna().sum()} of {len(shown)} instance types" in text
    assert f"{shown['old'].sum()} of these prices" in text
    table = catalog_tables.card_table(catalogs)
    rented = table["instances"] != ""
    assert rented.iloc[: rented.sum()].all()
    assert len(table) == len(catalogs.gpus)
    assert not on_tab("Cards").exception
