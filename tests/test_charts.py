"""The charts: every specification is whole without data, reads only columns that its table has, and names its units."""

import json

import altair as alt
import pandas as pd
import pytest

from calc import estimate, phases_table
from calc.charts import tables as chart_tables
from calc.columns import COMPONENTS
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
    layers = [layer for layer in spec["layer"] if layer.get("data", {}).get("name", "rows") == dataset]
    channels = [channel for layer in layers for channel in layer["encoding"].values()]
    return {part["field"] for channel in channels for part in (channel if isinstance(channel, list) else [channel]) if "field" in part}


@pytest.mark.parametrize("name", BAR_SPECS)
def test_a_specification_is_valid_holds_no_data_survives_json_and_names_its_quantities(name):
    spec = BAR_SPECS[name]
    assert not {"data", "datasets"} & set(spec)
    assert json.loads(json.dumps(spec)) == spec
    alt.LayerChart.from_dict({**spec, "data": {"name": "rows"}})
    axes = [encoding[axis] for encoding in encodings(spec) for axis in ("x", "y") if "axis" in encoding.get(axis, {})]
    titles = [axis["axis"]["title"] for axis in axes if axis.get("type") == "quantitative"]
    assert titles
    assert all(any(unit in title for unit in ("GiB", "USD", "GPUs", "hours")) for title in titles)


def test_a_component_has_one_colour_everywhere_and_a_specification_is_built_once_per_theme():
    parts = [part for name in ("bars", "phases") for part in encodings(BAR_SPECS[name])]
    for scale in (part[c]["scale"] for part in parts for c in ("color", "fill", "stroke") if "scale" in part.get(c, {})):
        colours = dict(zip(scale["domain"], scale["range"], strict=True))
        assert colours == {chart_tables.COMPONENT_LABELS[name]: theme.COMPONENT_COLOURS[name] for name in TRAINING}
    assert tuple(theme.COMPONENT_COLOURS) == COMPONENTS == tuple(chart_tables.COMPONENT_LABELS)
    assert len(set(theme.COMPONENT_COLOURS.values())) == len(COMPONENTS)
    dark = memory_charts.phases(theme.INKS["dark"], TRAINING)
    assert dark is memory_charts.phases(theme.INKS["dark"], TRAINING)
    assert dark is not memory_charts.phases(INK, TRAINING)


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
