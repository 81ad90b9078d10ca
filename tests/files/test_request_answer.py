"""What a request is answered with where only limits that nobody set refuse it."""

from types import SimpleNamespace

import pytest
from examples import catalogs

from calc.files.request_answer import wider_defaults
from calc.files.request_job import job_of_columns
from calc.search.facts import Miss, Problem

ROW = {"step_tokens": 524_288}


def refused(*misses):
    """An answer whose nearest row exceeds limits."""
    several = tuple(Miss(name, value, 1, 2.0) for name, value in misses)
    return SimpleNamespace(obstacle=Problem("limit-exceeded", row=ROW, misses=several))


@pytest.mark.parametrize(
    ("columns", "misses", "wider"),
    [
        ({}, [("hours_most", 196.0)], {"hours_most": 216}),
        ({"hours_most": 72}, [("hours_most", 196.0)], {}),
        ({"days_most": 3}, [("hours_most", 196.0)], {}),
        ({}, [("step_tokens", 3.0)], {"step_tokens": 524_288}),
        ({"step_tokens": 4096}, [("step_tokens", 3.0)], {}),
        ({}, [("hours_most", 196.0), ("usd_most", 9.0)], {}),
        ({}, [("hours_most", 9000.0)], {}),
    ],
)
def test_a_week_and_the_usual_step_refuse_nothing(columns, misses, wider):
    assert wider_defaults(columns, refused(*misses)) == wider
    assert wider_defaults(columns, SimpleNamespace(obstacle=None)) == {}


@pytest.mark.parametrize(
    ("columns", "degree"),
    [
        ({"sharding": "zero3"}, 1),
        ({"sharding": "zero3", "tensor_parallel": 4}, 4),
        ({"sharding": "none"}, None),
        ({}, None),
    ],
)
def test_words_that_name_fsdp_alone_divide_no_matrices(columns, degree):
    job = job_of_columns({"goal": "tune", "model": "llama-3.1-8b", **columns}, catalogs())
    assert job.get("tensor_parallel") == degree
