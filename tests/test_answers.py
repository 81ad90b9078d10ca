"""Answers against the plain way to find them, and the laws that any change of a job keeps."""

import numpy as np
import pandas as pd
import pytest
from examples import answered, recorded
from plain_answers import plain

from calc import answer, estimate
from calc.cost.job import job_of_rows
from calc.cost.markets import MARKETS
from calc.engine.pipeline import parts
from calc.engine.stages import MEMORY, fuller_end, walk
from calc.files.csv.tables import read_csv, to_csv
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.support import RUNS
from calc.search.combinations import FITS, combinations, least_memory_bytes
from calc.search.grid import grid
from calc.search.options import options
from calc.search.places import places_of
from calc.search.ranking import ranking
from calc.search.rows import plain_ranks, rows_of
from calc.search.settle import blank, settled
from calc.search.tokens import tokens_each

FEW = ["g6e.xlarge", "g5.12xlarge", "p4d.24xlarge", "p5.48xlarge"]
SMALL = {"model": "llama-3.2-1b", "instance": FEW, "instances_most": 2, "sequence_tokens": 2048}
SERVED = {"work": "inference", "model": "llama-3.1-8b", "instance": FEW, "instances_most": 2, "users": 12}
CASES = recorded("cases/answers.json")
JOBS, PLAIN, LOOSER, WRONG = (CASES[name] for name in ("jobs", "plain", "looser", "wrong"))
TIE = 1.005
COSTS = {"on-demand": "on_demand", "spot": "spot"}


@pytest.mark.parametrize("name", PLAIN)
def test_the_answers_are_those_of_estimating_every_arrangement(catalogs, name):
    job = PLAIN[name]
    found, rows = options(job, catalogs), plain(job, catalogs)
    answers = {name: row for _, row in found.answers.iterrows() for name in row["answer"].split("+")}
    assert answers["least-money"]["usd"] == found.edge["usd"].min()
    assert rows["usd"].min() * (1 - 1e-12) <= answers["least-money"]["usd"] <= rows["usd"].min() * TIE
    within = rows if "usd_per_hour_most" in job else rows[rows["usd"] <= 3 * answers["least-money"]["usd"]]
    assert rows["seconds"].min() <= answers["fastest"]["seconds"] <= within["seconds"].min() * TIE
    near = rows[rows["usd"] <= 1.5 * answers["least-money"]["usd"]]
    assert near["headroom_bytes"].max() / TIE <= answers["roomiest"]["headroom_bytes"] <= near["headroom_bytes"].max()
    board = found.board[(found.board["fits"] == "yes") & (found.board["runs"] == "yes") & (found.board["misses"] == "")]
    least = rows.groupby(["instance", "market"], observed=True)["usd"].min()
    mine = board.set_index(["instance", "market"])["usd"]
    assert set(mine.index) == set(least.index)
    assert ((mine / least - 1).between(-1e-12, TIE - 1 + 1e-12)).all()


@pytest.mark.parametrize("name", JOBS)
def test_an_answer_estimated_again_gives_its_own_figures(catalogs, name):
    rows = answer(JOBS[name], catalogs)
    assert (rows["problem"] == "").all()
    assert (rows["fits"] == "yes").all()
    assert (rows["runs"] == "yes").all()
    again = estimate(rows, catalogs)
    for column in again:
        if again[column].dtype.kind == "f":
            np.testing.assert_array_equal(again[column].to_numpy(float), rows[column].to_numpy(float), err_msg=column)
    for row in rows[rows["market"].isin(COSTS)].to_dict("records"):
        kind = "usd_per_month" if row["work"] == "inference" else "run_usd"
        assert row["usd"] == row[f"{kind}_{COSTS[row['market']]}"]
        assert row["usd_per_hour"] == row[f"usd_per_hour_{COSTS[row['market']]}"]


@pytest.mark.parametrize("name", JOBS)
def test_the_first_answer_is_the_first_row_of_the_board(catalogs, name):
    found = options(JOBS[name], catalogs)
    pd.testing.assert_series_equal(found.board.iloc[0], found.answers.iloc[0])
    qualifying = found.board[(found.board["fits"] == "yes") & (found.board["misses"] == "") & found.board["usd"].notna()]
    assert qualifying["usd"].iloc[1:].is_monotonic_increasing
    assert qualifying.index.tolist() == list(range(len(qualifying)))
    places = found.board[["instance", "market"]].apply(tuple, axis=1)
    assert places.is_unique
    assert found.answers["answer"].str.split("+").explode().tolist() == sorted(
        ["least-money", "fastest", "roomiest"], key=found.answers["answer"].str.cat(sep="+").split("+").index
    )


def test_the_three_are_least_in_money_in_time_and_in_memory(catalogs):
    found = options(SMALL, catalogs)
    rows = {name: row for _, row in found.answers.iterrows() for name in row["answer"].split("+")}
    least = rows["least-money"]["usd"]
    assert least <= found.edge["usd"].min() * TIE
    assert rows["fastest"]["usd"] <= 3 * least
    assert rows["fastest"]["seconds"] <= found.edge.loc[found.edge["usd"] <= 3 * least, "seconds"].min() * TIE
    assert rows["roomiest"]["usd"] <= 1.5 * least
    near = found.board[(found.board["fits"] == "yes") & (found.board["misses"] == "") & (found.board["usd"] <= 1.5 * least)]
    assert rows["roomiest"]["headroom_bytes"] * TIE >= near["headroom_bytes"].max()
    steps = found.answers.eval("batch * accumulation_steps * sequence_tokens * gpus / tensor_parallel")
    assert steps.between(131072 / 2, 131072 * 2).all()


@pytest.mark.parametrize("limit", LOOSER)
def test_loosening_a_limit_never_makes_the_least_money_more(catalogs, limit):
    job, values = LOOSER[limit]
    found = [options(job | {limit: value}, catalogs) for value in values]
    least = [each.answers["usd"][0] for each in found if each.possible]
    assert least == sorted(least, reverse=True)
    assert found[-1].possible


def test_another_instance_never_makes_it_more(catalogs):
    least = np.inf
    for count in range(1, len(FEW) + 1):
        found = options(SMALL | {"instance": FEW[:count]}, catalogs)
        assert found.answers["usd"][0] <= least
        least = found.answers["usd"][0]


def test_a_limit_in_the_way_is_named_with_the_nearest_plan(catalogs):
    row = answer(SMALL | {"hours_most": 0.05}, catalogs).iloc[0]
    assert row["answer"] == "nearest"
    assert row["problem"].startswith("Nothing keeps every limit: the nearest plan, 2 × p5.48xlarge, takes ")
    assert row["problem"].endswith("(3.0 min allowed); allow that time, more instances or other cards.")
    assert row["possible"] == 0
    assert row["hours"] > 0.05


@pytest.mark.parametrize(
    ("job", "limit", "column"), [(SMALL, "hours_most", "run_high_hours"), (SERVED, "token_seconds", "time_per_output_token_high_seconds")]
)
def test_a_time_can_be_held_with_the_slow_end_of_its_range(catalogs, job, limit, column):
    usual = answer(job, catalogs).iloc[0]
    allowed = (usual["hours"] if limit == "hours_most" else usual["seconds"]) * 1.1
    assert answer(job | {limit: allowed}, catalogs).iloc[0]["usd"] == usual["usd"]
    held = answer(job | {limit: allowed, "hold_slow_end": "yes"}, catalogs)
    assert (held[column] <= allowed).all()
    assert held["usd"].iloc[0] > usual["usd"]
    missed = answer(job | {limit: allowed / 1000, "hold_slow_end": "yes"}, catalogs).iloc[0]
    assert " at the slow end of the range, " in missed["problem"]


def test_more_instances_than_allowed_are_the_nearest(catalogs):
    row = answer({"model": "llama-3.1-70b", "instance": "p5.48xlarge", "instances_most": 1}, catalogs).iloc[0]
    assert row["answer"] == "nearest"
    assert "needs 3 instances" in row["problem"]


def test_nothing_near_leaves_the_problem_alone(catalogs):
    row = answer({"model": "llama-3.1-405b", "instance": "g5.xlarge"}, catalogs).iloc[0]
    assert row["answer"] == ""
    assert np.isnan(row["usd"])
    assert row["problem"].startswith("Nothing allowed is large enough: the smallest arrangement takes ")
    assert not [name for name in inputs_by_name() if not blank(row[name])]
    again = estimate(read_csv(to_csv(row.to_frame().T)), catalogs).iloc[0]
    assert (again["problem"], np.isnan(again["memory_bytes"])) == (row["problem"], True)


@pytest.mark.parametrize("fault", WRONG)
def test_a_bad_job_says_why_and_leaves_the_others_theirs(catalogs, fault):
    job, sentence = WRONG[fault]
    rows = answer([SMALL | job | {"job": "bad", "instance": job.get("instance", FEW)}, SMALL | {"job": "good"}], catalogs)
    bad, good = rows[rows["job"] == "bad"], rows[rows["job"] == "good"]
    assert bad["problem"].tolist()[0].startswith(sentence)
    assert len(bad) == 1
    assert bad["memory_bytes"].isna().all()
    assert good["answer"].iloc[0].startswith("least-money")


def test_requests_a_second_are_kept_up_with(catalogs):
    rows = answer(SERVED | {"requests_per_second": 3, "users": ""}, catalogs)
    request = rows["time_to_first_token_seconds"] + 512 * rows["time_per_output_token_seconds"]
    at_once = rows["batch"] * rows["gpus"] / rows["tensor_parallel"]
    assert (3 * request <= at_once).all()
    assert rows["why"].str.contains("3 requests a second keep ").all()


def test_what_is_refused_never_appears(catalogs):
    """vLLM has no bf16 on a T4 and loads on no Arm host with a T4G; fp8 products need compute capability 8.9."""
    sold = ["g4dn.12xlarge", "g5g.xlarge", "g5.xlarge"]
    found = options(SERVED | {"instance": sold}, catalogs)
    assert set(found.board["runs"]) == {"yes", "emulated"}
    assert found.board["instance"].tolist() == ["g5.xlarge", "g4dn.12xlarge"]
    trained = options(SMALL | {"precision": "fp8-mixed"}, catalogs)
    assert set(trained.board["instance"]) == {"g6e.xlarge", "p5.48xlarge"}
    refused = answer(SERVED | {"instance": "g4dn.12xlarge", "precision": "bf16"}, catalogs).iloc[0]
    assert refused["problem"].startswith("Nothing runs so on the instances allowed: vLLM stops at start: ")


def test_what_is_compared_has_a_row_for_each_value(catalogs):
    found = options(SMALL | {"optimizer": ["adamw", "adafactor"]}, catalogs)
    kinds = found.board[["instance", "optimizer"]].drop_duplicates()
    assert len(kinds) == len(found.board) == 2 * found.board["instance"].nunique()


@pytest.mark.parametrize("name", PLAIN)
def test_every_figure_of_a_combination_is_that_of_estimate(catalogs, name):
    job = settled(PLAIN[name], catalogs)
    places = places_of(job, catalogs)
    found = combinations(grid(job, places, tokens_each(job, catalogs)), places, job, catalogs)
    ranked = ranking(found.candidates, job, plain_ranks(found.grid, places, found.candidates))
    some = np.random.default_rng(7).choice(len(found.candidates["usd"]), 200)
    results, beside = rows_of(ranked, found, places, some, catalogs)
    rows = results.plain(**beside)
    same = {
        "step_tokens": "step_tokens",
        "token_seconds": "time_per_output_token_seconds",
        "first_token_seconds": "time_to_first_token_seconds",
    }
    for mine, column in (same | {"headroom_bytes": "headroom_bytes", "instances": "instances_needed"}).items():
        np.testing.assert_array_equal(found.candidates[mine][some], rows[column].to_numpy(float), err_msg=column)
    assert [FITS[fits] for fits in found.candidates["fits"][some]] == rows["fits"].tolist()
    assert [RUNS[runs] for runs in found.candidates["runs"][some]] == rows["runs"].tolist()
    again = estimate(rows, catalogs)
    done = job_of_rows(again, rows["market"], 0, catalogs)
    for column in ("usd", "hours", "usd_per_hour", "seconds"):
        np.testing.assert_array_equal(rows[column].to_numpy(float), getattr(done, column), err_msg=column)


def test_the_lower_bound_of_memory_is_one(catalogs):
    results = answered()
    part = next(parts(results[results["work"] == "training"].drop(columns=["instance", "gpu"]), catalogs))
    least = least_memory_bytes(walk(part.table | {}, MEMORY[:1]))
    peak = fuller_end(part.table | {})["allocated_peak_bytes"]
    assert (least <= peak).all()
    assert np.median(least / peak) > 0.2


def test_whole_days_of_a_block_are_paid(catalogs):
    row = answer(SMALL | {"markets": "capacity-block", "instance": "p5.48xlarge"}, catalogs).iloc[0]
    price = catalogs.prices.set_index(["instance", "region"]).loc[("p5.48xlarge", "us-east-1"), MARKETS["capacity-block"].price]
    assert row["usd"] == pytest.approx(24 * price * row["instances_needed"])
    assert row["gpus"] == row["gpus_paid"]


@pytest.mark.parametrize("model", ["bert-base-uncased", "vit-base-patch16"])
def test_an_encoder_is_served_by_transformers(model, catalogs):
    """vLLM's cache serves decoders; asked for by name it is refused, left open it is not taken."""
    job = {"work": "inference", "model": model, "users": 4, "prompt_tokens": 128}
    assert set(answer(job, catalogs)["implementation"]) == {"transformers"}
    assert "choose implementation transformers" in answer(job | {"implementation": "vllm"}, catalogs)["problem"].iloc[0]
