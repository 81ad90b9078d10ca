"""The explanation against the estimate: what is shown for a component is what is computed for
it.
"""

import re

import numpy as np
import pytest
from examples import recorded

from calc import estimate
from calc.columns import COMPONENTS
from calc.explain.calculators import SYSTEMS, compared_with_ours
from calc.explain.derivation import EXPLAINED, FORMULAS, NEEDED, NVIDIA_SMI_MEMORY, explain
from calc.explain.times import EXPLAINED as TIMES
from calc.explain.times import explain_times
from calc.explain.traced_columns import TracedColumn, columns_of_formula, live, plain_number, text

TRAIN = {"model": "llama-3.1-8b", "sequence_tokens": 4096}
SCENARIOS = recorded("cases/explained.json")["scenarios"]


@pytest.fixture(scope="module", params=SCENARIOS, ids=str)
def case(request, catalogs):
    scenario = SCENARIOS[request.param]
    return estimate(scenario, catalogs, solve=False), explain(scenario, catalogs)


@pytest.mark.sample(2)
def test_every_component_is_explained_by_its_own_value(case):
    row, explained = case
    assert row["problem"] == ""
    first = explained.formulas[explained.formulas["step"] == 0].set_index("component")
    assert [name for name in first.index if name != "layout"] == list(EXPLAINED)
    for name in EXPLAINED:
        assert float(first["value"][name][0]) == pytest.approx(row[name], rel=1e-9), name
    assert {*COMPONENTS, *NEEDED, *NVIDIA_SMI_MEMORY} == set(EXPLAINED)


def test_the_moment_shown_is_that_of_the_peak_and_the_blocks_are_of_the_catalog(case, catalogs):
    row, explained = case
    assert explained.phase == row["peak_phase"]
    assert explained.moments["bytes"].max() == pytest.approx(row["allocated_peak_bytes"], rel=1e-9)
    assert explained.moment in set(explained.moments["moment"])
    assert len(explained.blocks) > 0
    assert set(explained.blocks["block"]) <= set(catalogs.blocks)


@pytest.mark.sample(2)
def test_a_chain_ends_in_columns_with_a_source(case):
    """Each column read is explained in the same chain, is another component, or is a fact with its
    place.
    """
    _, explained = case
    facts = explained.facts.set_index("column")
    layout = explained.formulas.loc[explained.formulas["component"] == "layout", "formula"]
    assert (facts["from"] != "").all()
    assert facts["source"].notna().all()
    for component, chain in explained.formulas.groupby("component"):
        for read in {name for names in chain["reads"] for name in names}:
            columns = {*chain["formula"], *facts.index, *EXPLAINED, *layout}
            assert read in columns, (component, read)


@pytest.mark.parametrize(
    ("scenario", "vector"),
    [
        *(
            (name, "saved")
            for name in ("first visit", "one GPU", "small and tied", "DDP", "muon, accumulating")
        ),
        ("recompute", "checkpoint"),
    ],
)
def test_what_a_block_keeps_is_in_its_catalog(scenario, vector, catalogs):
    """The coefficients shown, times the sizes shown, are the bytes per token that the formulas
    read.
    """
    explained = explain(SCENARIOS[scenario], catalogs)
    shown = explained.blocks.groupby(["stack", "vector"])["bytes_per_token"].sum()[0, vector]
    read = explained.facts.set_index("column")["value"]["stack_kept_bytes_per_token"][0]
    assert shown == pytest.approx(read)


def test_an_equation_with_its_numbers_gives_its_value(case):
    """Read back as arithmetic, the numbers put in come to the value that stands beside them."""
    _, explained = case
    read_back = 0
    for row in explained.formulas.itertuples():
        arithmetic = row.numbers.replace("·", "*").replace("^", "**").replace(",", "")
        if set(arithmetic) <= set("0123456789.+-*/() e"):
            rounded_away = max(map(float, re.findall(r"[\d.]+(?:e\d+)?", arithmetic))) / 1000
            assert eval(arithmetic) == pytest.approx(
                float(np.sum(row.value)), rel=1e-2, abs=rounded_away
            ), row.formula
            read_back += 1
    assert read_back > 0.8 * len(explained.formulas)


@pytest.fixture(scope="module", params=SCENARIOS, ids=str)
def timed(request, catalogs):
    scenario = {"gpu": "h100-80gb-sxm"} | SCENARIOS[request.param]
    return estimate(scenario, catalogs, solve=False), explain_times(scenario, catalogs)


@pytest.mark.sample(2)
def test_every_time_is_explained_by_its_own_value(timed):
    row, explained = timed
    assert row["problem"] == ""
    tops = explained.formulas[explained.formulas["step"] == 0].set_index("component")["value"]
    assert list(tops.index) == [name for name in TIMES[row["work"]] if not np.isnan(row[name])]
    assert len(tops) > 0
    for name, value in tops.items():
        assert float(value[0]) == pytest.approx(row[name], rel=1e-9), name


@pytest.mark.sample(2)
def test_a_time_ends_in_columns_with_a_place(timed):
    """Each column read is explained above, or is a fact that names its place."""
    _, explained = timed
    assert (explained.facts["from"] != "").all()
    assert explained.facts["source"].notna().all()
    made = {*explained.formulas["formula"], *explained.facts["column"]}
    assert {name for names in explained.formulas["reads"] for name in names} <= made
    calibrated = explained.facts["column"].str.match("engine_|card_")
    places = explained.facts.loc[calibrated, "from"]
    assert len(places) > 0
    assert places.str.startswith("catalogs/calibrated/").all()


def test_without_a_card_no_time_is_explained(catalogs):
    assert explain_times(TRAIN | {"gpu": ""}, catalogs).formulas.empty


def test_numbers_are_written_as_asked_and_every_formula_has_its_words(catalogs):
    explained = explain(TRAIN, catalogs, write_number=lambda name, _value: f"<{name}>")
    assert "<matrix_bytes_each>" in explained.formulas["numbers"].str.cat()
    assert [name for name, formula in FORMULAS.items() if not (formula.__doc__ or "").strip()] == []


def test_a_traced_number_leaves_out_what_is_idle():
    values = {"a": 6.0, "b": 2.0, "one": 1.0, "zero": 0.0}
    a, b, one, zero = (TracedColumn(np.array([value]), name) for name, value in values.items())
    made = np.where(zero > 0, b, a * one) + zero * b - np.maximum(b, 1) / one
    assert made.value == [4.0]
    assert text(made) == "(b if zero > 0 else a · one) + zero · b - max(b, 1) / one"
    assert text(live(made)) == "a - b"
    assert text(live(made), plain_number) == "6 - 2"
    assert columns_of_formula(live(made)) == ["a", "b"]
    assert text(live((a + b) * b / (a - b)), plain_number) == "(6 + 2) · 2 / (6 - 2)"
    assert text(a - (b - a)) == "a - (b - a)"


def test_a_traced_stack_shows_each_of_its_blocks():
    layers = TracedColumn(np.array([[3.0], [4.0]]), "layers")
    assert text(live(np.sum(layers * 2, axis=0))) == "sum(layers · 2)"
    assert text(live(np.sum(layers * 2, axis=0)), plain_number) == "sum([3, 4] · 2)"
    assert text(live(np.sum(layers[:1] * 2, axis=0)), plain_number) == "3 · 2"


def test_the_four_systems_stand_beside_our_estimate(catalogs):
    """Each of them, or the sentence that says why it cannot express the scenario; ours is the
    estimate.
    """
    ours = estimate(SCENARIOS["LoRA"], catalogs, solve=False)
    table = compared_with_ours(ours, catalogs).set_index("system")
    assert list(table.index) == ["ours", *(system.letter for system in SYSTEMS)]
    assert table.loc["ours", "needed_bytes"] == ours["needed_bytes"]
    assert table.loc["ours", "lack"] is table.loc["d", "lack"] is None
    assert ("tuning", "lora") in table.loc["a", "lack"].choices
    assert table.loc["a", ["needed_bytes", *COMPONENTS]].isna().all()
    assert not any(table["warns"])
    experts = compared_with_ours(
        estimate({"model": "mixtral-8x7b"}, catalogs, solve=False), catalogs
    ).set_index("system")
    assert {letter for letter, warns in experts["warns"].items() if warns} == {"c"}
    assert table.loc["d", list(COMPONENTS)].sum() == pytest.approx(table.loc["d", "needed_bytes"])


def test_d_counts_activations_of_training_alone(catalogs):
    """Its sum for serving 8B with a cache of 8,192 tokens in all is 21.3 to 22.3 GB, counted with
    8 billion parameters, since it adds 1 to 2 GB of overhead and no activations.
    """
    scenario = {
        "model": "llama-3.1-8b",
        "work": "inference",
        "precision": "bf16",
        "sequence_tokens": 8192,
    }
    served = estimate(scenario, catalogs, solve=False)
    row = compared_with_ours(served, catalogs).set_index("system").loc["d"]
    more = 2 * (float(catalogs.models["parameters"]["llama-3.1-8b"]) - 8e9)
    low, high = ((row[f"needed_{end}_bytes"] - more) / 1e9 for end in ("low", "high"))
    assert (round(low, 1), round(high, 1)) == (21.3, 22.3)
    assert row["activations_bytes"] == 0


def test_c_trains_in_fp4_by_its_own_formula_and_it_is_said_that_we_do_not(catalogs):
    table = compared_with_ours(estimate(TRAIN, catalogs, solve=False), catalogs)
    in_16, in_4 = table[table["system"] == "c"].to_dict("records")
    assert {
        name: in_4[name] / in_16[name]
        for name in ("weights_bytes", "gradients_bytes", "optimizer_bytes")
    } == {
        "weights_bytes": 1 / 4,
        "gradients_bytes": 1 / 4,
        "optimizer_bytes": 1,
    }
    assert "does not estimate training in 4 bits" in in_4["leaves_out"]
