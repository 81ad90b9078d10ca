"""Allowed sets and limits in the link: out and in gives the same search, and what is not understood is named."""

import pytest
from examples import recorded

from calc.files.link import link
from calc.search.options import options
from calc.search.widened import settled_sets, usual_limits, usual_sets, widened

JOB = {"model": "llama-3.1-8b", "markets": "on-demand+spot", "step_tokens": 5001}


def searches(catalogs):
    for job in (JOB, JOB | {"method": "lora", "batch": 3}, JOB | {"work": "inference", "users": 20, "regions": "anywhere"}):
        settled = options(job, catalogs).job
        yield usual_sets(settled, catalogs), usual_limits(settled)
    yield ({"family": [], "region": [], "kv_precision": ["", "fp8"], "gpus": [8]}, {"usd_per_hour": 35.5, "surely": 1, "users": 20})


def test_a_search_comes_back_from_its_link(catalogs):
    for sets, limits in searches(catalogs):
        query = link.compose({"model": "llama-3.1-8b", "allowed": sets, "limits": limits})
        choices, complaints = link.parse(query, catalogs)
        assert complaints == []
        assert choices["allowed"] == {name: values for name, values in sets.items() if values or name in ("family", "region")}
        assert choices["limits"] == limits


def test_an_old_link_of_a_search_asks_for_what_it_meant(catalogs):
    """Deployments of 2 GPUs, as many as 20 users need; a step of at least 16,384 tokens, no deadline; whatever fits."""
    query = {"allow.gpus": ["2"], "allow.batch": ["4"], "allow.kv_precision": ["", "fp8"], "allow.region": [""], "limit.users": ["20"]}
    choices, _ = link.parse({"v": ["2"], "model": ["llama-3.1-8b"], "goal": ["serve"], **query}, catalogs)
    job = options({"model": "llama-3.1-8b", "work": "inference"}, catalogs).job
    row = widened(job, settled_sets(choices["allowed"], job, catalogs), choices["limits"], catalogs).columns
    assert (row["gpus"][:3], row["batch"], row["users"], row["regions"]) == ([2, 6, 10], [4], 20, "anywhere")
    assert (row["kv_precision"], row["admits"], row["instances_most"]) == (["", "fp8"], "tight", 16)
    job = options(JOB, catalogs).job
    row = widened(job, {}, {"step_tokens": 16384}, catalogs).columns
    assert row["step_tokens"] / row["step_factor"] == pytest.approx(16384, rel=1e-3)
    assert row["step_tokens"] * row["step_factor"] >= job["train_tokens"]
    assert row["hours_most"] >= 1e15


def test_a_link_without_a_search_asks_for_none(catalogs):
    choices, _ = link.parse(link.compose({"model": "llama-3.1-8b"}), catalogs)
    assert "allowed" not in choices
    assert "limits" not in choices


@pytest.mark.parametrize(("query", "said"), recorded("cases/link_sets.json")["not_understood"])
def test_what_is_not_understood_is_named(catalogs, query, said):
    choices, complaints = link.parse(query, catalogs)
    assert len(complaints) == 1
    assert said in complaints[0]
    assert not any(choices.get("allowed", {}).values())
    assert not choices.get("limits")
