"""One scenario beside its alternatives, and the charts of them: the same work in every row,
specifications that read what there is.
"""

import json
import math

import altair as alt
import numpy as np
import pandas as pd
import pytest
from examples import recorded
from hypothesis import given
from hypothesis import strategies as st

from calc import estimate, phases_table
from calc.answers.full_answer import full_answer as options
from calc.charts import result_tables
from calc.charts.against_time import against_time
from calc.charts.axes import at_share, log_share, log_ticks, spread_names
from calc.charts.lines import NAME_GAP, chart_lines
from calc.columns import COMPONENTS
from calc.memory.moments import components_of
from calc.search.row_status import rank, scenario_of
from calc.studies import comparisons
from calc.studies.neighbors import job_of_scenario
from views.charts import lines, price_history
from views.charts import memory as memory_charts
from views.charts.against_time import cost_against_time
from views.shared import theme

AMOUNTS = st.floats(1e-6, 1e9)
EIGHT_BILLION = {
    "model": "llama-3.1-8b",
    "instance": "p5.48xlarge",
    "gpus": 8,
    "sharding": "zero3",
    "sequence_tokens": 4096,
}
EIGHT_BILLION |= {"train_tokens": 150e6, "accumulation_steps": 4, "recompute": "full"}
SERVED = {
    "model": "qwen2.5-32b",
    "work": "inference",
    "implementation": "vllm",
    "instance": "p5.48xlarge",
    "precision": "bf16",
}
SERVED |= {
    "gpus": 4,
    "tensor_parallel": 4,
    "sequence_tokens": 8192,
    "prompt_tokens": 7168,
    "batch": 20,
}


@pytest.fixture(scope="module", params=[EIGHT_BILLION, SERVED], ids=["training", "serving"])
def scenario(request, catalogs):
    row = estimate(request.param, catalogs, solve=False)
    assert row["problem"] == ""
    return scenario_of(row)


@given(st.lists(AMOUNTS, min_size=1, max_size=20))
def test_ticks_are_1_2_5_and_hold_every_value(values):
    ticks = log_ticks(values)
    assert len(ticks) >= 2
    assert all(
        f"{tick:.0e}"[0] in "125" and math.isclose(float(f"{tick:.0e}"), tick) for tick in ticks
    )
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


def test_every_point_does_the_work_of_the_scenario_which_is_marked_with_its_own_figures(
    scenario, catalogs
):
    rows = comparisons.over_gpus(scenario, "on-demand", catalogs)
    assert len(rows) > 8
    assert (rows["instance"] == scenario["instance"]).all()
    at_once = comparisons.at_once(scenario)
    if scenario["work"] == "training":
        assert (
            rows.apply(lambda row: comparisons.at_once(row.to_dict()), axis=1)
            .between(at_once, 1.5 * at_once)
            .all()
        )
    else:
        assert (
            rows["batch"] * rows.apply(lambda row: comparisons.replicas(row.to_dict()), axis=1)
            >= at_once
        ).all()
    (current,) = rows[rows["now"]].to_dict("records")
    choices = {name: value for name, value in scenario.items() if not pd.isna(value)}
    assert {name: current[name] for name in choices} == choices
    itself = estimate(scenario, catalogs, solve=False)
    assert current["memory_bytes"] == itself["memory_bytes"]
    assert current["usd"] == pytest.approx(
        itself["run_usd_on_demand" if scenario["work"] == "training" else "usd_per_month_on_demand"]
    )


def over_formats(scenario, market, catalogs):
    return comparisons.over_values(
        scenario, market, catalogs, "precision", ["bf16", "bf16-mixed", "fp8", "int8"]
    )


@pytest.mark.parametrize("make", [over_formats, comparisons.over_gpus])
@pytest.mark.long
def test_every_row_is_the_answer_of_the_job_that_it_fixes(make, scenario, catalogs):
    """Money and verdict of a value are those of the job with that value fixed."""
    rows = make(scenario, "on-demand", catalogs)
    rows = rows[rows["usd"].notna() & rows["fits"].isin(["yes", "tight"])]
    work = comparisons.at_once(scenario)
    # No copies of a deployment.
    able = rows[[comparisons.at_once(row) >= work for row in rows.to_dict("records")]]
    assert len(able) > 1
    for row in able.sample(min(len(able), 8), random_state=1).to_dict("records"):
        answer = options(
            job_of_scenario(row, "on-demand", {"instances_most": 512}), catalogs
        ).answers.iloc[0]
        assert (answer["fits"], answer["runs"]) == (row["fits"], row["runs"])
        assert (answer["usd"], answer["seconds"]) == pytest.approx(
            (row["usd"], row["seconds"]), rel=1e-9
        )


def test_a_layout_of_its_own_is_a_line_of_its_own(catalogs):
    scenario = scenario_of(estimate({**EIGHT_BILLION, "tensor_parallel": 2}, catalogs, solve=False))
    rows = comparisons.over_gpus(scenario, "on-demand", catalogs)
    assert rows["line"][rows["now"]].to_list() == [comparisons.OWN_LAYOUT]
    assert (rows["tensor_parallel"][rows["line"] == comparisons.OWN_LAYOUT] == 2).all()
    alone = scenario_of(
        estimate({**EIGHT_BILLION, "gpus": 1, "sharding": "none"}, catalogs, solve=False)
    )
    assert comparisons.over_gpus(alone, "on-demand", catalogs)["now"].sum() == 1


def test_spot_counts_its_interruptions(catalogs):
    scenario = scenario_of(estimate(EIGHT_BILLION, catalogs, solve=False))
    rows = comparisons.over_values(scenario, "spot", catalogs, "optimizer", ["adamw", "adamw-8bit"])
    assert rows["usd"].to_list() == pytest.approx(rows["run_usd_spot"].to_list())
    assert (rows["hours"] > rows["run_hours"]).all()


def test_lines_are_named_once_at_their_end(scenario, catalogs):
    rows = comparisons.over_gpus(scenario, "on-demand", catalogs)
    names = {line: f"the {line}" for line in rows["line"].unique()}
    made = chart_lines(
        rows,
        rows["gpus"],
        rows["memory_bytes"] / 2**30,
        names,
        [("card", rows["gpu_memory_bytes"].iloc[0] / 2**30)],
    )
    named = made[made["name"] != ""]
    assert sorted(named["name"]) == sorted([*names.values(), "card"])
    ticks = [float(tick) for tick in made["y_ticks"].iloc[0].split()]
    gaps = np.diff(np.sort(log_share(named["name_y"], ticks)))
    assert (gaps >= NAME_GAP - 1e-9).all()
    assert fields(BAR_SPECS["lines"]) <= {*made.columns, "verdict"}


def test_what_does_not_fit_is_hollow_in_lines_and_bars(scenario, catalogs):
    """A layer for rows that do not fit, whose marks are not filled, and one for the others, whose
    marks are.
    """
    components = components_of(scenario["work"])
    bars_spec = memory_charts.bars(INK, components, "Memory")

    def marks(spec, test, name):
        steps = [(layer["mark"], str(layer.get("transform", []))) for layer in spec["layer"]]
        return [mark[name] for mark, step in steps if f"datum.fits {test} 'no'" in step]

    assert marks(BAR_SPECS["lines"], "==", "filled") + marks(
        BAR_SPECS["lines"], "!=", "filled"
    ) == [False, True]
    assert marks(bars_spec, "==", "fillOpacity") == [0.15]
    rows = comparisons.over_values(scenario, "on-demand", catalogs, "batch", [1.0, 4096.0])
    table = result_tables.by_component(rows, ["one", "many"], components)
    assert set(table["fits"]) == {"yes", "no"}
    assert fields(bars_spec) <= {*table.columns, "value_text"}


def test_points_are_named_where_there_is_room():
    columns = ["seconds", "usd", "label", "kind"]
    points = [(3600.0, 100.0, "a"), (3700.0, 99.0, "b"), (36000.0, 20.0, "c"), (72000.0, 10.0, "d")]
    rows = pd.DataFrame(
        [*((*point, "frontier") for point in points), (40000.0, 25.0, "e", "other")],
        columns=columns,
    )
    made = against_time(rows, trains=True)
    assert made["name"].to_list() == ["a", "", "c", "d", ""]
    assert made["time"].to_list() == pytest.approx([1, 1.0277777, 10, 20, 11.111111])
    assert made["side"].to_list() == ["right", "right", "left", "left", "left"]
    assert fields(BAR_SPECS["against time"]) <= set(made.columns)
    assert set(made["x_ticks"]) == {"1.0 2.0 5.0 10.0 20.0"}
    assert set(made["y_ticks"]) == {"10.0 20.0 50.0 100.0"}


INK = theme.INKS["light"]
CHOICES = recorded("cases/charts.json")["choices"]
SCENARIOS = pd.MultiIndex.from_product(map(np.atleast_1d, CHOICES.values()), names=CHOICES)
SCENARIOS = SCENARIOS.to_frame(index=False)
TRAINING = components_of("training")
BAR_SPECS = {
    "bars": memory_charts.bars(INK, TRAINING, "Memory per GPU by precision"),
    "phases": memory_charts.phases(INK, TRAINING),
    "lines": lines.over(INK, "Memory per GPU", ("GPUs", "d"), ("GiB per GPU", ",.3~r")),
    "price history": price_history.price_history(INK),
    "against time": cost_against_time(INK, "hours of the run", "USD for the run"),
}


@pytest.fixture(scope="module")
def ranked(catalogs):
    return rank(estimate(SCENARIOS, catalogs, solve=False))


def encodings(spec):
    return [layer["encoding"] for layer in spec["layer"] if "encoding" in layer]


def fields(spec, dataset=""):
    """The columns that the layers of a dataset read, or all layers."""
    layers = [
        layer
        for layer in spec["layer"]
        if dataset in ("", layer.get("data", {}).get("name", "rows"))
    ]
    channels = [channel for layer in layers for channel in layer["encoding"].values()]
    return {
        part["field"]
        for channel in channels
        for part in (channel if isinstance(channel, list) else [channel])
        if "field" in part
    }


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", BAR_SPECS)
def test_a_specification_is_valid_holds_no_data_survives_json_and_names_its_quantities(name):
    spec = BAR_SPECS[name]
    assert not {"data", "datasets"} & set(spec)
    assert json.loads(json.dumps(spec)) == spec
    alt.LayerChart.from_dict({**spec, "data": {"name": "rows"}})
    axes = [
        encoding[axis]
        for encoding in encodings(spec)
        for axis in ("x", "y")
        if "axis" in encoding.get(axis, {})
    ]
    titles = [axis["axis"]["title"] for axis in axes if axis.get("type") == "quantitative"]
    assert titles
    assert all(any(unit in title for unit in ("GiB", "USD", "GPUs", "hours")) for title in titles)


def test_a_component_has_one_color_everywhere_and_a_specification_is_built_once_per_theme():
    parts = [part for name in ("bars", "phases") for part in encodings(BAR_SPECS[name])]
    for scale in (
        part[c]["scale"]
        for part in parts
        for c in ("color", "fill", "stroke")
        if "scale" in part.get(c, {})
    ):
        colors = dict(zip(scale["domain"], scale["range"], strict=True))
        assert colors == {
            result_tables.COMPONENT_LABELS[name]: theme.COMPONENT_COLORS[name] for name in TRAINING
        }
    assert sorted(theme.COMPONENT_COLORS) == sorted(COMPONENTS)
    assert tuple(result_tables.COMPONENT_LABELS) == COMPONENTS
    assert len(set(theme.COMPONENT_COLORS.values())) == len(COMPONENTS)
    dark = memory_charts.phases(theme.INKS["dark"], TRAINING)
    assert dark is memory_charts.phases(theme.INKS["dark"], TRAINING)
    assert dark is not memory_charts.phases(INK, TRAINING)


def test_stacked_bars_read_what_the_table_has(ranked, catalogs):
    table = result_tables.by_component(ranked, result_tables.labels(ranked, catalogs), TRAINING)
    assert fields(BAR_SPECS["bars"], "rows") <= {*table.columns, "value_text"}
    assert fields(BAR_SPECS["phases"], "cards") <= set(
        result_tables.card_rules(ranked, catalogs).columns
    )
    totals = table.groupby("label")["gib"].sum()
    stated = table[table["last"]].set_index("label")["total_gib"]
    pd.testing.assert_series_equal(
        totals, stated.loc[totals.index], check_names=False, check_index_type=False
    )


def test_phases_read_what_the_table_has(ranked, catalogs):
    scenario = scenario_of(ranked.iloc[0])
    allocated = tuple(name for name in TRAINING if name != "overhead_bytes")
    table = result_tables.by_phase(phases_table(scenario, catalogs), allocated)
    assert fields(BAR_SPECS["phases"], "rows") <= {*table.columns, "phase_text"}
    largest = table.groupby("phase")["gib"].sum().max() * 2**30
    assert largest == pytest.approx(ranked.iloc[0]["allocated_peak_bytes"])
