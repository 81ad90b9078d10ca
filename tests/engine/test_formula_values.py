"""Single formulas against numbers of papers and sums done by hand (published/formulas.yaml)."""

import inspect
from pathlib import Path

import numpy as np
import pytest
import yaml

from calc.engine.stages import FORMULAS
from calc.evaluate import parameters_of

FILE = Path(__file__).parents[1] / "published" / "formulas.yaml"
CASES = yaml.safe_load(FILE.read_text("utf-8"))["cases"]
FEWEST_FORMULAS = 80


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["formula"])
def test_a_formula_gives_the_value_of_its_source(case):
    formula = FORMULAS[case["formula"]]
    assert set(case["inputs"]) == set(parameters_of(formula))
    inputs = {name: columns(name, value) for name, value in case["inputs"].items()}
    value = np.asarray(formula(**inputs), dtype=float)
    expected = np.broadcast_to(np.asarray(case["value"], dtype=float), value.shape)
    assert value == pytest.approx(expected, rel=case.get("rel", 1e-9))


def columns(name, value):
    """A column as the formula reads it: (rows,), (stacks, rows), or of moments a tuple of them."""
    if name.startswith("moment_"):
        return tuple(np.array([float(part)]) for part in value)
    kind = np.int64 if name == "peak_moment" else float
    return np.atleast_1d(np.asarray(value, dtype=kind))


def test_the_table_reaches_formulas_of_many_rooms():
    """Each case says where its number comes from."""
    assert len({case["formula"] for case in CASES}) >= FEWEST_FORMULAS
    assert [case["formula"] for case in CASES if not case["source"]] == []
    modules = {inspect.getmodule(FORMULAS[case["formula"]]).__name__ for case in CASES}
    assert len(modules) >= 15
