"""The shapes that a training tries on a count of GPUs."""

import pytest

from calc.job.resolve import resolve
from calc.search.free_choices import COUNTS
from calc.search.shapes import training_shapes

JOB = {"goal": "train", "model": "llama-3.1-8b", "implementation": "megatron"}
DEGREES = [COUNTS.index(f"{kind}_parallel") for kind in ("tensor", "pipeline", "context")]


@pytest.mark.parametrize(
    ("change", "is_tried"),
    [
        ({}, True),
        ({"implementation": "transformers"}, False),  # divides no matrices
        ({"pipeline_parallel": 1}, False),
        ({"precision": ["bf16", "bf16-mixed", "fp16-mixed"]}, False),  # compares many already
    ],
)
def test_two_stages_are_tried_beside_divided_matrices(catalogs, change, is_tried):
    shapes = training_shapes(resolve(JOB | change, catalogs), [8], 1e9)
    degrees = {tuple(int(row[place]) for place in DEGREES) for row in shapes.counts}
    assert ((2, 2, 1) in degrees) is is_tried
    assert (4, 2, 1) not in degrees
