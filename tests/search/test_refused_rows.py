"""What is refused is offered nowhere: not by a search, an advice, a table of cards or instances,
nor as the row to name.
"""

from itertools import product

import pandas as pd
import pytest
from examples import recorded

from calc import estimate
from calc.answers.advice import advise
from calc.job.cells import JobRow
from calc.scenarios.inputs import DEFAULTS
from calc.search.ranking import EMULATED, NEEDS_AGREEMENT
from calc.search.rankings import ranking_of
from calc.search.row_status import STATUSES, is_offered, rank, status
from calc.search.rows import best_of_places, rows_of
from calc.studies.comparisons import over_values

SERVE = DEFAULTS | {
    "work": "inference",
    "model": "llama-3.2-1b",
    "precision": "bf16",
    "implementation": "vllm",
    "sequence_tokens": 2048,
}
TRAIN = DEFAULTS | {
    "work": "training",
    "model": "gpt2",
    "precision": "bf16-mixed",
    "train_tokens": 1e9,
    "sequence_tokens": 1024,
}
OLD = recorded("cases/offered.json")["old"]
FORMATS = {
    "precision": ["bf16", "fp16", "fp8", "int8", "awq-4bit", "nvfp4", "gguf-q4-0"],
    "kv_precision": ["", "fp8"],
}
WAYS = {
    "precision": ["bf16-mixed", "fp16-mixed", "fp8-mixed"],
    "attention": ["flash", "eager"],
    "compile": ["no", "yes"],
}


def all_of(workload, sets, admits, catalogs):
    """What the engine admits, its best rows estimated; and every combination, estimated."""
    job = {name: value for name, value in workload.items() if name not in sets and value != ""} | {
        "hours_most": 1e6,
        "instance": OLD,
    }
    job["markets"] = "on-demand"
    job |= {
        "gpus": [1],
        "batch": [1],
        "accumulation_steps": [1],
        "users": 1,
        "token_seconds": 1e6,
        "first_token_seconds": 1e6,
    }
    job |= {
        "step_tokens": 1024,
        "sharding": ["none"],
        "tensor_parallel": [1],
        "admits": admits,
    } | sets
    choices = [
        dict(zip([*sets, "instance"], values, strict=True))
        for values in product(*sets.values(), OLD)
    ]
    table = pd.DataFrame([workload | choice | {"gpu": ""} for choice in choices], dtype=object)
    ranked = ranking_of(JobRow.of(job), catalogs)
    best = best_of_places(ranked)
    results, figures = rows_of(ranked, best[ranked.classes[best] <= NEEDS_AGREEMENT], catalogs)
    return ranked, results.plain(**figures), estimate(table, catalogs, solve=False)


@pytest.mark.parametrize(
    ("workload", "sets"), [(SERVE, FORMATS), (TRAIN, WAYS)], ids=["serve", "train"]
)
def test_a_search_finds_what_runs_and_counts_what_does_not(catalogs, workload, sets):
    ranked, named, every = all_of(workload, sets, "tight", catalogs)
    assert set(every["runs"]) >= {"yes", "no", "emulated"}
    assert set(named["runs"]) == {"yes"}
    sold = every[
        every["fits"].isin(["yes", "tight"])
        & (every["problem"] == "")
        & every["usd_per_hour_on_demand"].notna()
    ]
    assert (ranked.classes <= NEEDS_AGREEMENT).sum() == (sold["runs"] == "yes").sum()
    assert (ranked.classes == EMULATED).sum() == (sold["runs"] == "emulated").sum()
    assert set(named["instance"]) == set(sold.loc[sold["runs"] == "yes", "instance"])


@pytest.mark.parametrize(
    ("workload", "sets"), [(SERVE, FORMATS), (TRAIN, WAYS)], ids=["serve", "train"]
)
def test_what_is_not_verified_is_found_only_when_it_is_asked_for_and_its_speed_is_known(
    catalogs, workload, sets
):
    _, named, every = all_of(workload, sets, "tight+unverified", catalogs)
    assert "no" not in set(named["runs"])
    able = every[
        every["fits"].isin(["yes", "tight"])
        & (every["problem"] == "")
        & every["usd_per_hour_on_demand"].notna()
    ]
    able = able[(able["runs"] != "no") & able["tokens_per_second"].notna()]
    assert set(named["instance"]) == set(able["instance"])
    assert named["tokens_per_second"].notna().all()
    if workload is TRAIN:
        assert "emulated" in set(named["runs"])


def test_rows_stand_as_they_fit_and_run_and_what_runs_is_ranked_first(catalogs):
    rows = [
        ("yes", "yes"),
        ("tight", "yes"),
        ("yes", "emulated"),
        ("tight", "unknown"),
        ("no", "yes"),
        ("no", "unknown"),
        ("", ""),
    ]
    rows += [("yes", "no"), ("no", "no")]
    table = pd.DataFrame(rows, columns=["fits", "runs"]).assign(problem="")
    expected = [
        "yes",
        "yes",
        "emulated",
        "unknown",
        "no-fit",
        "no-fit",
        "no-card",
        "refused",
        "refused",
    ]
    assert [STATUSES[place] for place in status(table)] == expected
    assert is_offered(table).tolist() == [True] * 4 + [False] * 5
    assert STATUSES[status(table.iloc[0].to_dict() | {"problem": "no"})[0]] == "problem"
    # A T4 is cheaper and refuses; a dearer card that runs comes first.
    places = pd.DataFrame(
        [SERVE | {"instance": name} for name in ("g4dn.xlarge", "g6e.xlarge", "g5g.xlarge")],
        dtype=object,
    )
    ranked = rank(estimate(places, catalogs, solve=False))
    assert ranked["instance"].iloc[0] == "g6e.xlarge"
    emulated = rank(estimate(places.assign(precision="fp16").drop(index=1), catalogs, solve=False))
    assert (emulated["instance"].iloc[0], emulated["runs"].iloc[0]) == ("g4dn.xlarge", "emulated")


def test_a_refused_value_is_compared_by_its_memory_alone(catalogs):
    """fp8 beside bf16 on an A100 in transformers: its bytes are there, no hour and no dollar."""
    scenario = SERVE | {"implementation": "transformers", "instance": "p4d.24xlarge"}
    rows = over_values(scenario, "on-demand", catalogs, "precision", ["bf16", "fp8"]).set_index(
        "precision"
    )
    assert rows["runs"].to_dict() == {"bf16": "yes", "fp8": "no"}
    assert (rows["memory_bytes"] > 0).all()
    assert rows.loc["bf16", ["usd", "hours", "seconds"]].notna().all()
    assert rows.loc["fp8", ["usd", "hours", "seconds"]].isna().all()


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "place",
    [{"instance": "g4dn.xlarge"}, {"instance": "p4d.24xlarge"}, {"instance": "g6e.xlarge"}],
    ids=str,
)
@pytest.mark.parametrize(
    "scenario", [SERVE, SERVE | {"model": "llama-3.1-8b"}, TRAIN], ids=["serve", "8B", "train"]
)
def test_no_advice_is_refused(catalogs, scenario, place):
    tried = advise(scenario | place, catalogs)
    rows = [
        estimate(
            scenario | place | {k: v for k, v in to.items() if k != "market"}, catalogs, solve=False
        )
        for to in tried["set"]
    ]
    assert len(rows)
    assert {row["runs"] for row in rows} <= {"yes", "emulated"}
    # On the card at hand, at a known speed, where today's is refused.
    emulated = [row for row in rows if row["runs"] == "emulated"]
    assert all(
        row["instance"] == place["instance"] and row["tokens_per_second"] > 0 for row in emulated
    )
    assert not emulated or estimate(scenario | place, catalogs, solve=False)["runs"] == "no"
    assert tried["change"].str.contains("(emulated)", regex=False).sum() == len(emulated)
