"""The four published systems against the figures that their own texts print (in what each calls
GB).
"""

import numpy as np
import pytest
from examples import recorded

from calc.explain.calculators import GB, RANGE, SYSTEMS, parts_by, slips
from calc.say.calculators import lack_text
from calc.units import GIB

MODELS = recorded("cases/origins.json")["models"]
LLAMA_7B, LLAMA_3_8B = MODELS["Llama 7B"], MODELS["Llama 3 8B"]
PLAIN = recorded("cases/origins.json")["plain"]


def by(letter, row):
    """What a system says of one scenario: the bytes of each component, under its name without the
    unit.
    """
    system = next(system for system in SYSTEMS if system.letter == letter)
    parts, _ = parts_by(system, {"trained_parameters": row["parameters"], **PLAIN, **row})
    return {name.removesuffix("_bytes"): value for name, value in parts.items() if name != RANGE}


# A prints two decimals of its own formula; the figures beside them in its table come from
# elsewhere.
@pytest.mark.parametrize(
    ("model", "changes", "printed_gb"), recorded("cases/origins.json")["printed"]
)
def test_a_prints_the_figures_of_its_tutorial(model, changes, printed_gb):
    a = by("a", MODELS[model] | changes)  # activations in GiB beside all else in GB, times 1.2
    states = a["weights"] + a["gradients"] + a["optimizer"]
    assert 1.2 * (states / GB + a["activations"] / GIB) == pytest.approx(printed_gb, abs=0.006)


@pytest.mark.parametrize(
    "case",
    recorded("cases/origins.json")["counted"],
    ids=lambda case: f"{case['parts'][0]} of {case['source']}",
)
def test_what_a_system_counts_is_what_its_text_prints(case):
    parts = by(case["letter"], MODELS[case["model"]] | case["of"])
    total = sum(
        parts.values() if case["parts"] == ["all"] else (parts[name] for name in case["parts"])
    )
    assert total == pytest.approx(case["is"], rel=case.get("rel", 1e-6))


def test_a_checkpoints_c_divides_by_zero_stage_and_d_has_a_range():
    assert (
        by("a", LLAMA_7B | {"recompute": "full"})["activations"]
        < 0.3 * by("a", LLAMA_7B)["activations"]
    )
    zero = {
        stage: by("c", {**LLAMA_3_8B, "sharding": f"zero{stage}", "gpus": 8}) for stage in (1, 2, 3)
    }
    for part, first_stage in (("optimizer", 1), ("gradients", 2), ("weights", 3)):
        undivided = by("c", LLAMA_3_8B)[part]
        for stage, c in zero.items():
            assert c[part] == pytest.approx(undivided / (8 if stage >= first_stage else 1))
    d = next(system for system in SYSTEMS if system.letter == "d")
    parts, _ = parts_by(d, {"trained_parameters": 8e9, **PLAIN, **LLAMA_3_8B})
    assert 2 * parts[RANGE] == 128e9 - 107e9


@pytest.mark.parametrize(
    ("row", "letters", "words"), recorded("cases/origins.json")["not_expressed"]
)
def test_what_a_system_cannot_express_is_said(row, letters, words):
    scenario = {**PLAIN, **LLAMA_3_8B, "trained_parameters": LLAMA_3_8B["parameters"], **row}
    for system in SYSTEMS:
        parts, lack = parts_by(system, scenario)
        text = lack_text({"system": system.letter, "lack": lack})
        assert (text == "") == (system.letter not in letters)
        assert words in text or text == ""
        assert np.isnan(sum(parts.values())) == (lack is not None and not lack.instead)


def test_what_lacks_only_the_layout_is_counted_on_one_gpu():
    scenario = {**PLAIN, **LLAMA_3_8B, "trained_parameters": LLAMA_3_8B["parameters"]}
    spread = {
        **scenario,
        "sharding": "zero2",
        "gpus": 8,
        "tensor_parallel": 2,
        "recompute": "selective-ops",
    }
    for system in SYSTEMS:
        parts, lack = parts_by(system, spread)
        text = lack_text({"system": system.letter, "lack": lack})
        assert parts == parts_by(system, scenario)[0]
        assert text.endswith("this is the same on one GPU, with every activation kept.")


def test_b_divides_a_pipeline_and_d_counts_int8_and_int4():
    scenario = {**LLAMA_3_8B, "trained_parameters": LLAMA_3_8B["parameters"]}
    b, staged = by("b", scenario), by("b", {**scenario, "pipeline_parallel": 4, "gpus": 4})
    assert all(staged[name] == pytest.approx(b[name] / 4) for name in b)
    served = {
        precision: by("d", {**scenario, "precision": precision, "trains": 0})["weights"]
        for precision in ("bf16", "int8", "int4")
    }
    assert served["bf16"] == 2 * served["int8"] == 4 * served["int4"]


def test_the_slips_of_the_texts_are_shown_with_what_they_should_be(catalogs):
    a, b = slips(catalogs).itertuples()
    assert (a.system, a.printed_bytes) == ("a", 42.7 * GB)
    assert a.least_bytes / GIB == pytest.approx(54, abs=0.1)
    assert (b.printed_bytes / GB, b.least_bytes / GB) == (52, pytest.approx(104, rel=0.002))
