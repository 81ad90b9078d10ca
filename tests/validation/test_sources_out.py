"""Refitting the numbers of the catalogs without a source (validation/sources_out.py)."""

import numpy as np
import pytest
from examples import catalogs

from validation.fitted_numbers import constants, with_values
from validation.sources_out import least_error


def test_numbers_that_explain_all_errors_are_found_beside_an_outlier():
    """Times that respond to two numbers in their own ways, and one row that nothing explains."""
    response = np.array([[1, 0], [1, 0], [0, 0.5], [0, 0.5], [1, 0], [0, 1]])
    errors = -response @ np.array([0.2, -0.3])
    errors[4] += 0.6
    moved = least_error(errors, response, np.ones(6), np.zeros(2))
    assert moved == pytest.approx([0.2, -0.3])


def test_software_moves_with_what_it_is_built_on_and_alone_it_is_that_of_the_likest():
    found = {
        number.entries: number
        for number in constants(catalogs())
        if (number.table, number.field) == ("engines", "matmul_ratio")
    }
    shared = next(number for names, number in found.items() if "transformers" in names)
    assert "trl" in shared.entries
    assert "torchtitan" not in shared.entries
    alone = found[("llm-foundry",)]
    assert alone.unmeasured == catalogs().engines["matmul_ratio"]["torchtitan"]
    moved = with_values(catalogs(), {shared: 0.5}).engines["matmul_ratio"]
    assert [moved[name] for name in ("trl", "llm-foundry")] == [0.5, alone.value]
