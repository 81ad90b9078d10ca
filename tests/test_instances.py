"""Instance types for the job and the page of them: what a dollar rents, each order, every region of one type, ticked into the plan."""

import pytest
from pages import address, opened, page_text, run, title, turned

from calc.cost.offers import offers
from calc.search import instances
from calc.search.options import options
from views.catalog import instances_panels as panel


@pytest.fixture(scope="module")
def rows(catalogs):
    return options({"model": "llama-3.1-8b", "train_tokens": 1.5e8}, catalogs).board


@pytest.fixture(scope="module")
def board(rows):
    """The first row of each instance type."""
    return rows.drop_duplicates("instance")


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
    assert listed(app)["usd"].dropna().is_monotonic_increasing
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
    turned(app, "pay")
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


def test_every_instance_of_the_board_stands_once_with_the_boards_figures(rows, board, catalogs):
    table = instances.for_job(rows, catalogs)
    assert sorted(table["instance"]) == sorted(board["instance"])
    for row in table.to_dict("records"):
        entry = rows.iloc[row["board_row"]]
        assert (row["instance"], row["instances_needed"], row["job_gpus"]) == (entry["instance"], entry["instances_needed"], entry["gpus"])
        assert row["usd"] == pytest.approx(entry["usd"], nan_ok=True)
        assert entry["usd_per_hour_on_demand"] == pytest.approx(row["instances_needed"] * row["on_demand_usd_per_hour"], nan_ok=True)


def test_memory_per_dollar_is_all_the_memory_over_the_price_and_families_and_memory_choose(catalogs):
    row = offers(catalogs, ["us-east-1"]).set_index("instance").loc["p5.48xlarge"]
    assert row["gib_per_usd"] * row["on_demand_usd_per_hour"] == pytest.approx(8 * catalogs.gpus["memory_bytes"][row["gpu"]] / 2**30)
    table = offers(catalogs, ["us-east-1"])
    assert set(instances.chosen(table, ["p5"])["family"]) == {"p5"}
    assert (instances.chosen(table, least_gib=300)["gpu_gib"] >= 300).all()
    assert len(instances.chosen(table)) == len(table) == len(catalogs.instances)


@pytest.mark.parametrize("by", instances.SORTS)
def test_each_order_puts_the_best_first_and_the_unknown_last(by, catalogs):
    column, smaller = instances.SORTS[by]
    table = offers(catalogs, ["eu-central-1"]).assign(usd=range(69))
    values = instances.in_order(table, by)[column]
    priced = values[values.notna()]
    assert priced.is_monotonic_increasing if smaller else priced.is_monotonic_decreasing
    assert values.iloc[len(priced) :].isna().all()


def test_the_regions_of_one_type_are_those_with_a_price(catalogs):
    table = instances.by_region("p5.48xlarge", "us-east-1", catalogs)
    prices = catalogs.prices[(catalogs.prices["instance"] == "p5.48xlarge")]
    assert set(table["region"]) == set(prices["region"])
    assert table.set_index("region")["against_here_ratio"]["us-east-1"] == 0
    assert table["on_demand_usd_per_hour"].dropna().is_monotonic_increasing
    assert instances.by_region("g6f.large", "mars", catalogs)["against_here_ratio"].isna().all()
