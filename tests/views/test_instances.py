"""Instance types for the job, from its ranked table; each figure opens its source, every region of
one type, ticked into the plan.
"""

import pytest
from pages import address, opened, page_text, run, title, turned

from calc.answers.full_answer import full_answer as options
from calc.charts.catalog_tables import has_words
from calc.cost.offers import offers
from calc.search.board import qualifies
from calc.studies import instances
from views.catalog import instances as page
from views.shared import tables

JOB = {"model": "llama-3.1-8b", "train_tokens": 1.5e8}
SERVE = {"goal": "serve", "model": "qwen2.5-32b"}


@pytest.fixture(scope="module")
def rows(catalogs):
    return options(JOB, catalogs).board


@pytest.fixture(scope="module")
def board(rows):
    """The first row of each instance type."""
    return rows.drop_duplicates("instance")


@pytest.fixture
def chosen(monkeypatch):
    """A function that ticks rows and selects a cell of a table: AppTest cannot click into one."""

    def choose(key, *numbers, cell=None):
        selected = {"rows": list(numbers), "cells": [cell] if cell else []}
        for module in (tables, page.types_and_regions, page.source_table.__globals__):
            target = module if isinstance(module, dict) else vars(module)
            monkeypatch.setitem(
                target,
                "chosen_in",
                lambda table_key, kind="rows": selected[kind] if table_key == key else [],
            )

    return choose


def listed(app):
    return app.dataframe[0].value


def test_it_opens_on_what_runs_the_job_as_it_isranked_candidates(board):
    app = opened("instances")
    able = board[qualifies(board)]
    assert title(app).startswith(f"{len(able)} types run the job, from \\$")
    assert f"{(board['fits'] == 'tight').sum()} more are tight" in title(app)
    assert "For: fine-tune all weights of Llama 3.1 8B" in page_text(app)
    shown = listed(app)["instance"].str.split(" × ").str[1].str.split(" ").str[0].tolist()
    assert shown == board["instance"].tolist()
    assert listed(app)["usd"].iloc[: len(able)].tolist() == pytest.approx(able["usd"].tolist())
    assert listed(app)["verdict"].str.startswith("✓").tolist()[: len(able)] == [True] * len(able)
    # Of all instances that the row names.
    assert listed(app)["on_demand_usd_per_hour"].tolist() == pytest.approx(
        board["usd_per_hour_on_demand"].tolist(), nan_ok=True
    )


def test_search_prices_region_and_all_types(catalogs):
    app = opened("instances")
    run(app.selectbox(key="instance_which").set_value("all"))
    assert len(listed(app)) == len(catalogs.instances)
    run(app.text_input(key="instance_search").set_value("p5 h200"))
    assert listed(app)["instance"].str.contains("p5").all()
    run(app.selectbox(key="instance_market").set_value("spot"))
    row = offers(catalogs, ["us-east-1"]).set_index("instance").loc["p5en.48xlarge"]
    shown = listed(app)[listed(app)["instance"].str.contains("p5en.48xlarge")].iloc[0]
    assert shown["usd_per_gpu_hour"] == pytest.approx(row["spot_usd_per_hour"] / 8)
    run(app.text_input(key="instance_search").set_value("nothing such"))
    assert "No type has these words" in page_text(app)


@pytest.mark.bench
def test_another_region_is_another_job_and_says_so(catalogs):
    app = opened("instances")
    run(app.selectbox(key="instance_region").set_value("us-west-2"))
    assert "These are the answers of the same job in Oregon" in page_text(app)
    first = options({**JOB, "regions": "us-west-2"}, catalogs).rows[0]
    assert listed(app)["usd"].iloc[0] == pytest.approx(first["usd"])
    app.session_state["regions"] = ["us-west-2"]
    assert "the plan is elsewhere" not in page_text(run(app))


def test_a_service_is_said_by_the_month():
    app = opened("instances", **SERVE)
    assert " a month" in title(app)
    assert "pace_ms" in listed(app)
    assert "For: serve Qwen2.5 32B" in page_text(app)


def test_a_ticked_type_goes_into_the_plan(chosen):
    chosen(page.KEY, 1)
    app = opened("instances")
    name = listed(app)["instance"].iloc[1].split(" × ")[1]
    run(app.button(key="use").click())
    turned(app, "pay")
    assert f"× {name} in N. Virginia." in page_text(app)


@pytest.mark.bench
def test_several_ticked_types_stand_next_to_each_other_and_are_compared(chosen):
    chosen(page.KEY, 0, 2)
    app = opened("instances")
    names = [name.split(" × ")[1] for name in listed(app)["instance"].iloc[[0, 2]]]
    assert list(app.table[0].value.columns[1:]) == names
    assert app.table[0].value.iloc[0, 0] == "The job needs"
    run(app.button(key="use").click())
    assert sorted(address(app)["instance"]) == sorted(names)
    app = opened("instances")
    assert app.button(key="compare_ticked").label == "Compare ticked (2)"
    run(app.button(key="compare_ticked").click())
    assert len(address(app)["kept"]) == 2
    assert address(app)["view"] == ["compare"]


@pytest.mark.bench
def test_every_figure_opens_its_source_and_one_of_the_job_its_formulas(chosen, catalogs):
    app, price = (
        opened("instances"),
        offers(catalogs, ["us-east-1"]).set_index("instance").loc["p4d.24xlarge"],
    )
    for column, words in (
        ("on_demand_usd_per_hour", price["on_demand_source"].split(",")[0]),
        ("usd_per_gpu_hour", price["on_demand_source"].split(",")[0]),
        ("spot_usd_per_hour", "https://github.com/skypilot-org"),
        ("gpu_memory_gib", "catalogs/edited/gpus.yaml, a100-40gb-sxm"),
        ("vcpus", "catalogs/edited/instances.yaml, p4d.24xlarge"),
        ("obtainable", "catalogs/edited/obtainability.yaml, p4d"),
    ):
        chosen(page.KEY, cell=(0, column))
        text = page_text(run(app))
        assert words in text, column
        assert "**, 1 × p4d.24xlarge" in text, column
    chosen(page.KEY, cell=(1, "usd"))
    run(app)
    name = listed(app)["instance"].iloc[1]
    assert f"Computed for the job on {name}" in page_text(app)
    run(app.button(key="explain_type").click())
    assert address(app)["view"] == ["method"]


@pytest.mark.bench
def test_one_type_by_region_goes_into_the_plan_there(chosen):
    chosen("regions_of_p5.48xlarge", 1)
    app = opened("instances")
    app.session_state["type_by_region"] = True
    run(app)
    run(app.selectbox(key="instance_of_regions").set_value("p5.48xlarge"))
    name, region = app.dataframe[1].value[["name", "region"]].iloc[1]
    assert app.button(key="use_region").label == f"Use in plan in {name}"
    run(app.button(key="use_region").click())
    assert address(app)["regions"] == [region]
    assert address(app)["instance"] == ["p5.48xlarge"]


def test_a_job_that_cannot_be_answered_leaves_the_catalog(catalogs):
    app = opened("instances", goal="serve", model="bert-base-uncased", implementation="vllm")
    assert title(app) == f"{len(catalogs.instances)} instance types with GPUs"
    assert len(listed(app)) == len(catalogs.instances)
    assert app.button(key="compare_ticked").disabled


def test_every_instance_of_the_board_stands_once_with_the_boards_figures(rows, board, catalogs):
    table = instances.types_of_job(rows, catalogs)
    assert table["instance"].tolist() == board["instance"].tolist()
    for row in table.to_dict("records"):
        entry = rows.iloc[int(row["board_row"])]
        assert (row["instance"], row["obtainable"]) == (entry["instance"], entry["obtainable"])
        needed = entry["instances_needed"]
        assert entry["usd_per_hour_on_demand"] == pytest.approx(
            needed * row["on_demand_usd_per_hour"], nan_ok=True
        )
    every = instances.types_of_job(rows, catalogs, "spot", "us-east-1")
    assert every["instance"].tolist()[: len(table)] == table["instance"].tolist()
    assert sorted(every["instance"]) == sorted(catalogs.instances.index)
    rest = every["spot_usd_per_hour"][len(table) :].dropna()
    assert rest.is_monotonic_increasing


def test_memory_per_dollar_is_all_the_memory_over_the_price_and_words_choose(catalogs):
    table = offers(catalogs, ["us-east-1"])
    row = table.set_index("instance").loc["p5.48xlarge"]
    assert row["gib_per_usd"] * row["on_demand_usd_per_hour"] == pytest.approx(
        8 * catalogs.gpus["memory_bytes"][row["gpu"]] / 2**30
    )
    assert set(table[has_words(table, instances.SEARCHED, "P5 48xlarge h100")]["family"]) == {"p5"}
    assert has_words(table, instances.SEARCHED, "").all()


def test_the_regions_of_one_type_are_those_with_a_price(catalogs):
    table = instances.by_region("p5.48xlarge", "us-east-1", catalogs)
    prices = catalogs.prices[(catalogs.prices["instance"] == "p5.48xlarge")]
    assert set(table["region"]) == set(prices["region"])
    assert table.set_index("region")["against_here_ratio"]["us-east-1"] == 0
    assert table["on_demand_usd_per_hour"].dropna().is_monotonic_increasing
    assert instances.by_region("g6f.large", "mars", catalogs)["against_here_ratio"].isna().all()
