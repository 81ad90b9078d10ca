"""The build of the software: today's, and the older one that old cards need."""

import pytest
from examples import catalogs

from calc.files.launch.kit import not_to_launch
from calc.search.options import options

OLD_CARDS = [
    ({"instance": "p3.2xlarge", "model": "llama-3.2-1b", "method": "lora"}, "yes"),
    ({"have": "8 x v100-16gb", "model": "llama-3.2-1b", "method": "lora"}, "yes"),
    ({"instance": "p3.2xlarge", "model": "llama-3.2-1b", "work": "inference"}, "unknown"),
    ({"instance": "g5g.xlarge", "model": "bge-m3", "work": "inference"}, "unknown"),
    ({"instance": "p3.2xlarge", "model": "llama-3.2-1b", "loading": "default"}, ""),
]


@pytest.mark.parametrize(("job", "runs"), OLD_CARDS)
def test_a_job_on_old_cards_alone_takes_the_older_build_that_they_need(job, runs):
    row = options(job, catalogs()).rows[0]
    assert (row["runs"], row["loading"]) == (runs, "pinned" if runs else "")
    if runs:
        assert row["seconds"] > 0
        assert not_to_launch(row)


def test_no_job_is_answered_with_an_older_build_that_its_machines_do_not_need():
    job = {"instance": "p3.2xlarge+g4dn.xlarge", "model": "llama-3.2-1b", "method": "lora"}
    board = options(job, catalogs()).board
    assert set(board["instance"]) == {"g4dn.xlarge"}
    assert set(board["loading"]) == {"default"}


def test_a_machine_that_needs_an_older_build_undercuts_no_free_answer():
    """T4G, which costs less than T4, is not known to run."""
    service = {"model": "qwen3-embedding-0.6b", "goal": "serve", "requests_per_second": 50}
    named = options(service | {"instance": "g5g.xlarge"}, catalogs())
    assert named.rows[0]["answer"] == "nearest"
