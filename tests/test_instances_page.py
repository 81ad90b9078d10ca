"""The Instances page: what runs the job first, in a visible order; ticked types side by side and in the plan."""

import pytest
from pages import address, opened, page_text, run, title

from calc.search.options import options
from views.panels import instances as panel


@pytest.fixture(scope="module")
def board(catalogs):
    return options({"model": "llama-3.1-8b", "train_tokens": 1.5e8}, catalogs).board.drop_duplicates("instance")


@pytest.fixture
def ticking(monkeypatch):
    """A function that ticks rows of the list by place: AppTest cannot click into a table."""
    ticked = []
    monkeypatch.setattr(panel, "chosen_in", lambda key: ticked if key == panel.KEY else [])
    return ticked.extend


def listed(app):
    return app.dataframe[0].value


def test_it_opens_on_what_runs_the_job_most_memory_per_dollar_first(board):
    app = opened("instances")
    assert title(app).startswith(f"{(board['fits'] == 'yes').sum()} instance types fit this job")
    assert sorted(listed(app)["instance"]) == sorted(board["instance"])
    assert listed(app)["gib_per_usd"].is_monotonic_decreasing
    assert f"**{listed(app)['instance'].iloc[0]}**" in page_text(app)


def test_the_order_and_the_list_are_switched():
    app = opened("instances")
    run(app.segmented_control(key="order_for_job").set_value("job"))
    known = listed(app)["usd"].dropna()
    assert known.is_monotonic_increasing
    run(app.segmented_control(key="whole_catalog").set_value(True))
    assert "instance types with GPUs" in title(app)
    assert "usd" not in listed(app)
    run(app.multiselect(key="families").set_value(["p5"]))
    assert set(listed(app)["instance"].str.split(".").str[0]) == {"p5"}


def test_a_ticked_type_goes_into_the_plan(ticking):
    ticking([1])
    app = opened("instances")
    name = listed(app)["instance"].iloc[1]
    run(app.button(key="use").click())
    assert f"× {name}." in page_text(app)
    app.switch_page("views/pages/bill.py").run()
    assert name in str(app.table[0].value.iloc[0, 0])


def test_several_ticked_types_are_side_by_side_and_the_only_ones_of_the_plan(ticking):
    ticking([0, 2])
    app = opened("instances")
    names = listed(app)["instance"].iloc[[0, 2]].tolist()
    assert list(app.table[0].value.columns[1:]) == names
    run(app.button(key="keep_ticked").click())
    assert len(address(app)["kept"]) == 2
    run(app.button(key="use").click())
    assert sorted(address(app)["instance"]) == sorted(names)
    assert sorted(listed(app)["instance"]) == sorted(names)


def test_one_type_by_region_goes_into_the_plan_there(monkeypatch):
    monkeypatch.setattr(panel, "chosen_in", lambda key: [1] if key.startswith("regions_") else [])
    app = opened("instances")
    run(app.selectbox(key="instance_of_regions").set_value("p5.48xlarge"))
    region = app.dataframe[1].value["region"].iloc[1]
    assert app.button(key="use_region").label == f"Use in plan in {region}"
    run(app.button(key="use_region").click())
    assert address(app)["regions"] == [region]
    assert address(app)["instance"] == ["p5.48xlarge"]


def test_a_region_without_prices_and_a_model_that_cannot_serve_leave_the_catalog():
    app = opened("instances", goal="serve", model="bert-base-uncased", implementation="vllm")
    assert "instance types with GPUs" in title(app)
    assert len(listed(app)) > 60
    assert app.button(key="keep_ticked").disabled


def test_a_family_that_is_not_there_says_so():
    app = opened("instances")
    run(app.number_input(key="least_gib").set_value(100_000))
    assert "No instance type is left" in page_text(app)
