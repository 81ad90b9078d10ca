"""One scenario beside its alternatives: the same work in every row, the scenario itself among them, names that never touch."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calc import estimate
from calc.charts import tables as chart_tables
from calc.charts.against_time import against_time
from calc.charts.axes import at_share, log_share, log_ticks, spread_names
from calc.charts.lines import NAME_GAP, chart_lines
from calc.memory.moments import components_of
from calc.search import comparisons
from calc.search.neighbours import job_of_scenario
from calc.search.options import options
from calc.search.standing import scenario_of
from views import theme
from views.charts import against_time as time_charts
from views.charts import bars, lines

INK = theme.INKS["light"]
AMOUNTS = st.floats(1e-6, 1e9)
EIGHT_BILLION = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096}
EIGHT_BILLION |= {"train_tokens": 150e6, "accumulation_steps": 4, "recompute": "full"}
SERVED = {"model": "qwen2.5-32b", "work": "inference", "implementation": "vllm", "instance": "p5.48xlarge", "precision": "bf16"}
SERVED |= {"gpus": 4, "tensor_parallel": 4, "sequence_tokens": 8192, "prompt_tokens": 7168, "batch": 20}


@pytest.fixture(scope="module", params=[EIGHT_BILLION, SERVED], ids=["training", "serving"])
def scenario(request, catalogs):
    row = estimate(request.param, catalogs, solve=False)
    assert row["problem"] == ""
    return scenario_of(row)


@given(st.lists(AMOUNTS, min_size=1, max_size=20))
def test_ticks_are_1_2_5_and_hold_every_value(values):
    ticks = log_ticks(values)
    assert len(ticks) >= 2
    assert all(f"{tick:.0e}"[0] in "125" and math.isclose(float(f"{tick:.0e}"), tick) for tick in ticks)
    assert ticks[0] <= min(values) * (1 + 1e-9)
    assert ticks[-1] >= max(values) * (1 - 1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_names_never_touch_and_keep_their_order(places):
    gap = 0.075
    moved = spread_names(places, gap)
    order = np.argsort(places, kind="stable")
    assert (np.diff(moved[order]) >= min(gap, 1 / max(len(places) - 1, 1)) - 1e-9).all()
    assert moved.min() >= -1e-9
    assert moved.max() <= 1 + 1e-9


def test_names_with_room_stay_where_they_are():
    assert spread_names([0.5, 0.1, 0.9], 0.1) == pytest.approx([0.5, 0.1, 0.9])
    assert spread_names([0.5, 0.5], 0.1) == pytest.approx([0.45, 0.55])
    ticks = (0.1, 0.2, 0.5, 1.0)
    assert at_share(log_share([0.3, 0.7], ticks), ticks) == pytest.approx([0.3, 0.7])


@pytest.mark.parametrize("make", [comparisons.over_gpus, comparisons.over_batch])
def test_every_point_does_the_work_of_the_scenario_which_is_marked_with_its_own_figures(make, scenario, catalogs):
    rows = make(scenario, "on-demand", catalogs)
    assert len(rows) > 8
    assert (rows["instance"] == scenario["instance"]).all()
    at_once = comparisons.at_once(scenario)
    if scenario["work"] == "training":
        assert rows.apply(lambda row: comparisons.at_once(row.to_dict()), axis=1).between(at_once, 1.5 * at_once).all()
    elif make is comparisons.over_gpus:
        assert (rows["batch"] * rows.apply(lambda row: comparisons.replicas(row.to_dict()), axis=1) >= at_once).all()
    (now,) = rows[rows["now"]].to_dict("records")
    given = {name: value for name, value in scenario.items() if not pd.isna(value)}
    assert {name: now[name] for name in given} == given
    itself = estimate(scenario, catalogs, solve=False)
    assert now["memory_bytes"] == itself["memory_bytes"]
    assert now["usd"] == pytest.approx(itself["run_usd_on_demand" if scenario["work"] == "training" else "usd_per_month_on_demand"])


def over_formats(scenario, market, catalogs):
    return comparisons.over_values(scenario, market, catalogs, "precision", ["bf16", "bf16-mixed", "fp8", "int8"])


@pytest.mark.parametrize("make", [over_formats, comparisons.over_gpus, comparisons.over_batch])
def test_every_row_is_the_answer_of_the_job_that_it_fixes(make, scenario, catalogs):
    """Money and verdict of a value are those of the job with that value fixed."""
    rows = make(scenario, "on-demand", catalogs)
    rows = rows[rows["usd"].notna() & rows["fits"].isin(["yes", "tight"])]
    work = comparisons.at_once(scenario)
    able = rows[[comparisons.at_once(row) >= work for row in rows.to_dict("records")]]  # no copies of a deployment
    assert len(able) > 1
    for row in able.sample(min(len(able), 8), random_state=1).to_dict("records"):
        own = options(job_of_scenario(row, "on-demand", {"instances_most": 512}), catalogs).answers.iloc[0]
        assert (own["fits"], own["runs"]) == (row["fits"], row["runs"])
        assert (own["usd"], own["seconds"]) == pytest.approx((row["usd"], row["seconds"]), rel=1e-12)


def test_a_layout_of_its_own_is_a_line_of_its_own(catalogs):
    scenario = scenario_of(estimate({**EIGHT_BILLION, "tensor_parallel": 2}, catalogs, solve=False))
    rows = comparisons.over_gpus(scenario, "on-demand", catalogs)
    assert rows["line"][rows["now"]].to_list() == [comparisons.OWN_LAYOUT]
    assert (rows["tensor_parallel"][rows["line"] == comparisons.OWN_LAYOUT] == 2).all()
    alone = scenario_of(estimate({**EIGHT_BILLION, "gpus": 1, "sharding": "none"}, catalogs, solve=False))
    assert comparisons.over_gpus(alone, "on-demand", catalogs)["now"].sum() == 1


def test_spot_counts_its_interruptions(catalogs):
    scenario = scenario_of(estimate(EIGHT_BILLION, catalogs, solve=False))
    rows = comparisons.over_values(scenario, "spot", catalogs, "optimizer", ["adamw", "adamw-8bit"])
    assert rows["usd"].to_list() == pytest.approx(rows["run_usd_spot"].to_list())
    assert (rows["hours"] > rows["run_hours"]).all()


def fields(spec):
    """The columns that a specification reads."""
    channels = [channel for layer in spec["layer"] for channel in layer["encoding"].values()]
    return {part["field"] for channel in channels for part in (channel if isinstance(channel, list) else [channel]) if "field" in part}


@pytest.mark.parametrize("make", [comparisons.over_gpus, comparisons.over_batch])
def test_lines_are_named_once_at_their_end(make, scenario, catalogs):
    rows = make(scenario, "on-demand", catalogs)
    names = {line: f"the {line}" for line in rows["line"].unique()}
    made = chart_lines(rows, rows["gpus"], rows["memory_bytes"] / 2**30, names, [("card", rows["gpu_memory_bytes"].iloc[0] / 2**30)])
    named = made.table[made.table["name"] != ""]
    assert sorted(named["name"]) == sorted([*names.values(), "card"])
    gaps = np.diff(np.sort(log_share(named["name_y"], made.y_ticks)))
    assert (gaps >= NAME_GAP - 1e-9).all()
    spec = lines.over(INK, "Memory", ("GPUs", "d"), ("GiB per GPU", ",.3~r"))
    assert fields(spec) <= {*made.table.columns, "verdict"}
    assert not {"data", "datasets"} & set(spec)


def test_what_does_not_fit_is_hollow_in_lines_and_bars(scenario, catalogs):
    """A layer for rows that do not fit, whose marks are not filled, and one for the others, whose marks are."""
    components = components_of(scenario["work"])
    lines_spec = lines.over(INK, "Memory", ("GPUs", "d"), ("GiB", ",.3~r"))
    bars_spec = bars.memory(INK, components, "Memory")

    def marks(spec, test, name):
        steps = [(layer["mark"], str(layer.get("transform", []))) for layer in spec["layer"]]
        return [mark[name] for mark, step in steps if f"datum.fits {test} 'no'" in step]

    assert marks(lines_spec, "==", "filled") + marks(lines_spec, "!=", "filled") == [False, True]
    assert marks(bars_spec, "==", "fillOpacity") == [0.15]
    rows = comparisons.over_values(scenario, "on-demand", catalogs, "batch", [1.0, 4096.0])
    table = chart_tables.by_component(rows, ["one", "many"], components)
    assert set(table["fits"]) == {"yes", "no"}
    assert fields(bars_spec) <= {*table.columns, "value_text"}


def test_points_are_named_where_there_is_room():
    columns = ["seconds", "usd", "label", "kind"]
    points = [(3600.0, 100.0, "a"), (3700.0, 99.0, "b"), (36000.0, 20.0, "c"), (72000.0, 10.0, "d")]
    rows = pd.DataFrame([*((*point, "frontier") for point in points), (40000.0, 25.0, "e", "other")], columns=columns)
    made = against_time(rows, trains=True)
    assert made["name"].to_list() == ["a", "", "c", "d", ""]
    assert made["time"].to_list() == pytest.approx([1, 1.0277777, 10, 20, 11.111111])
    assert made["side"].to_list() == ["right", "right", "left", "left", "left"]
    spec = time_charts.cost_against_time(INK, "hours of the run", "USD for the run")
    assert fields(spec) <= set(made.columns)
    assert set(made["x_ticks"]) == {"1.0 2.0 5.0 10.0 20.0"}
    assert set(made["y_ticks"]) == {"10.0 20.0 50.0 100.0"}
