"""Allowed sets and limits in the link: out and in gives the same search, and what is not understood is named."""

import pytest

from calc.files.link import link
from calc.scenarios.inputs import DEFAULTS
from calc.search.limits import usual_limits
from calc.search.questions import lora_within_a_week, serving_users
from calc.search.space import usual

PLAN = DEFAULTS | {"model": "llama-3.1-8b", "precision": "bf16-mixed"}


def searches(catalogs):
    yield usual(PLAN), usual_limits(PLAN, catalogs)
    yield lora_within_a_week(PLAN, catalogs)[1:]
    yield serving_users(PLAN, catalogs, 20)[1:]
    yield ({"family": [], "region": [], "kv_precision": ["", "fp8"], "gpus": [8]}, {"usd_per_hour": 35.5, "surely": 1, "users": 20})


def test_a_search_comes_back_from_its_link(catalogs):
    for sets, limits in searches(catalogs):
        query = link.compose({"model": "llama-3.1-8b", "allowed": sets, "limits": limits})
        choices, complaints = link.parse(query, catalogs)
        assert complaints == []
        assert choices["allowed"] == sets
        assert choices["limits"] == limits


def test_a_link_without_a_search_asks_for_none(catalogs):
    choices, _ = link.parse(link.compose({"model": "llama-3.1-8b"}), catalogs)
    assert "allowed" not in choices
    assert "limits" not in choices


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"allow.colour": ["red"]}, "allow.colour , which a search does not know"),
        ({"allow.": ["red"]}, "allow. , which a search does not know"),
        ({"limit.pages": ["3"]}, "limit.pages , which a search does not know"),
        ({"limit.usd": ["nan"]}, "limit.usd=nan , which is not a number from 0"),
        ({"limit.usd": ["-1"]}, "limit.usd=-1 , which is not a number from 0"),
        ({"limit.hours": ["1e999"]}, "limit.hours=1e999 , which is not a number from 0"),
        ({"allow.family": ["g99"]}, "allow.family=g99 , which is not possible"),
        ({"allow.region": ["mars-1"]}, "allow.region=mars-1 , which is not possible"),
        ({"allow.market": ["barter"]}, "allow.market=barter , which is not possible"),
        ({"allow.gpus": ["0"]}, "allow.gpus=0 , which is not possible"),
        ({"allow.optimizer": ["adam-77"]}, "allow.optimizer=adam-77 , which is not possible"),
    ],
)
def test_what_is_not_understood_is_named(catalogs, query, said):
    choices, complaints = link.parse(query, catalogs)
    assert len(complaints) == 1
    assert said in complaints[0]
    assert not any(choices.get("allowed", {}).values())
    assert not choices.get("limits")
