"""The charts: every specification is whole without data, reads only columns that its table has, and names its units."""

import json

import altair as alt
import pandas as pd
import pytest

from calc import estimate, phases_table
from calc.charts import tables as chart_tables
from calc.memory.moments import components_of
from calc.scenarios.read import cross
from calc.search.standing import rank, scenario_of
from views import theme
from views.charts import bars, lines, price_history
from views.charts import memory as memory_charts
from views.charts.against_time import cost_against_time

INK = theme.INKS["light"]
CHOICES = {
    "work": "training",
    "model": "llama-3.1-8b",
    "precision": ["bf16-mixed"],
    "optimizer": ["adamw", "adamw-8bit"],
    "gpus": [8],
    "instance": ["g6e.48xlarge", "p4d.24xlarge", "p5.48xlarge"],
    "sharding": "zero3",
    "sequence_tokens": 4096,
}
TRAINING = components_of("training")
BAR_SPECS = {
    "bars": bars.memory(INK, TRAINING, "Memory per GPU by precision"),
    "phases": memory_charts.phases(INK, TRAINING),
    "lines": lines.over(INK, "Memory per GPU", ("GPUs", "d"), ("GiB per GPU", ",.3~r")),
    "price history": price_history.price_history(INK),
    "against time": cost_against_time(INK, "hours of the run", "USD for the run"),
}


@pytest.fixture(scope="module")
def ranked(catalogs):
    return rank(estimate(cross(CHOICES), catalogs, solve=False))


def encodings(spec):
    return [layer["encoding"] for layer in spec["layer"] if "encoding" in layer]


def fields(spec, dataset="rows"):
    """The columns that the layers of a dataset read."""
    found = set()
    for layer in spec["layer"]:
        if layer.get("data", {}).get("name", "rows") == dataset:
            for channel in layer["encoding"].values():
                parts = channel if isinstance(channel, list) else [channel]
                found |= {part["field"] for part in parts if "field" in part}
    return found


@pytest.mark.parametrize("name", BAR_SPECS)
def test_a_specification_holds_no_data_and_survives_json(name):
    spec = BAR_SPECS[name]
    assert not {"data", "datasets"} & set(spec)
    assert json.loads(json.dumps(spec)) == spec


@pytest.mark.parametrize("name", BAR_SPECS)
def test_a_specification_is_valid(name):
    alt.LayerChart.from_dict({**BAR_SPECS[name], "data": {"name": "rows"}})


@pytest.mark.parametrize("name", BAR_SPECS)
def test_every_quantitative_axis_names_its_quantity(name):
    axes = [
        encoding[axis]["axis"]["title"]
        for encoding in encodings(BAR_SPECS[name])
        for axis in ("x", "y")
        if "axis" in encoding.get(axis, {}) and encoding[axis].get("type") == "quantitative"
    ]
    assert axes
    assert all(any(unit in title for unit in ("GiB", "USD", "GPUs", "hours")) for title in axes)


def test_a_specification_is_built_once_per_theme():
    assert memory_charts.phases(theme.INKS["dark"], TRAINING) is memory_charts.phases(theme.INKS["dark"], TRAINING)
    assert memory_charts.phases(theme.INKS["dark"], TRAINING) is not memory_charts.phases(INK, TRAINING)


def test_a_component_has_one_colour_everywhere():
    scales = [
        e[c]["scale"]
        for name in ("bars", "phases")
        for e in encodings(BAR_SPECS[name])
        for c in ("color", "fill", "stroke")
        if "scale" in e.get(c, {})
    ]
    for scale in scales:
        colours = dict(zip(scale["domain"], scale["range"], strict=True))
        assert colours == {chart_tables.COMPONENT_LABELS[name]: theme.COMPONENT_COLOURS[name] for name in TRAINING}


def test_colours_are_distinct_and_every_component_has_one():
    from calc.columns import COMPONENTS

    assert tuple(theme.COMPONENT_COLOURS) == COMPONENTS == tuple(chart_tables.COMPONENT_LABELS)
    assert len(set(theme.COMPONENT_COLOURS.values())) == len(COMPONENTS)


def test_stacked_bars_read_what_the_table_has(ranked, catalogs):
    table = chart_tables.by_component(ranked, chart_tables.labels(ranked, catalogs), TRAINING)
    assert fields(BAR_SPECS["bars"]) <= {*table.columns, "value_text"}
    assert fields(BAR_SPECS["phases"], "cards") <= set(chart_tables.card_rules(ranked, catalogs).columns)
    totals = table.groupby("label")["gib"].sum()
    said = table[table["last"]].set_index("label")["total_gib"]
    pd.testing.assert_series_equal(totals, said.loc[totals.index], check_names=False, check_index_type=False)


def test_phases_read_what_the_table_has(ranked, catalogs):
    scenario = scenario_of(ranked.iloc[0])
    allocated = tuple(name for name in TRAINING if name != "overhead_bytes")
    table = chart_tables.by_phase(phases_table(scenario, catalogs), allocated)
    assert fields(BAR_SPECS["phases"]) <= {*table.columns, "phase_text"}
    largest = table.groupby("phase")["gib"].sum().max() * 2**30
    assert largest == pytest.approx(ranked.iloc[0]["allocated_peak_bytes"])


def test_words_may_be_categories(ranked, catalogs):
    """Nothing on the way from results to charts asks for a dtype of words."""
    words = [name for name in ranked if ranked[name].dtype.kind not in "fib"]
    coded = ranked.astype(dict.fromkeys(words, "category")).copy()
    again = rank(coded)
    assert [again[name].to_list() for name in words] == [ranked[name].to_list() for name in words]
    names = chart_tables.labels(ranked, catalogs)
    assert chart_tables.labels(again, catalogs) == names
    for made in (lambda rows: chart_tables.by_component(rows, names, TRAINING), lambda rows: chart_tables.card_rules(rows, catalogs)):
        pd.testing.assert_frame_equal(made(again).reset_index(drop=True), made(ranked).reset_index(drop=True))
