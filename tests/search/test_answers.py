"""Answers against the plain way to find them, and the laws that any change of a job keeps."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from examples import answered, recorded
from plain_answers import plain

from calc import answer, estimate
from calc.answers.full_answer import full_answer as options
from calc.cost.capacity_block_sizes import rented_instances, sizes_sold
from calc.cost.job import job_of_rows
from calc.engine.pipeline import parts
from calc.engine.stages import MEMORY, fullest_place, walk
from calc.job.resolve import resolve
from calc.rules.support import RUNS
from calc.search.best_answers import MOST_NEXT_USD_RATIO
from calc.search.grid import grid
from calc.search.pairs import FITS, least_memory_bytes
from calc.search.places import places_of
from calc.search.ranking import ranking
from calc.search.rows import rows_of
from calc.search.search_results import search

FEW = ["g6e.xlarge", "g5.12xlarge", "p4d.24xlarge", "p5.48xlarge"]
SMALL = {"model": "llama-3.2-1b", "instance": FEW, "instances_most": 2, "sequence_tokens": 2048}
SERVED = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "instance": FEW,
    "instances_most": 2,
    "users": 12,
}
CASES = recorded("cases/answers.json")
JOBS, PLAIN, LOOSER, WRONG = (CASES[name] for name in ("jobs", "plain", "looser", "wrong"))
CENTERS = {
    "run_high_hours": "run_hours",
    "time_per_output_token_high_seconds": "time_per_output_token_seconds",
}
TIE = 1.005
COSTS = {"on-demand": "on_demand", "spot": "spot"}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.long
def test_the_answers_are_those_of_estimating_every_arrangement(catalogs, name):
    job = PLAIN[name]
    answered, rows = options(job | {"answers": "fastest+roomiest"}, catalogs), plain(job, catalogs)
    answers = {
        name: row for _, row in answered.answers.iterrows() for name in row["answer"].split("+")
    }
    assert answered.edge["usd"].min() == pytest.approx(rows["usd"].min(), rel=TIE - 1)
    assert (
        rows["usd"].min() * (1 - 1e-12) <= answers["least-money"]["usd"] <= rows["usd"].min() * 1.01
    )
    affordable = rows[rows["usd"] <= MOST_NEXT_USD_RATIO * answers["least-money"]["usd"]]
    is_faster = affordable["seconds"] * 1.01 < answers["least-money"]["seconds"]
    assert ("knee" in answers) == is_faster.any()
    assert (
        answers["fastest"]["usd"] <= 3 * answers["least-money"]["usd"] or "usd_per_hour_most" in job
    )
    assert answers["roomiest"]["usd"] <= 1.5 * answers["least-money"]["usd"]
    within = (
        rows
        if "usd_per_hour_most" in job
        else rows[rows["usd"] <= 3 * answers["least-money"]["usd"]]
    )
    assert rows["seconds"].min() <= answers["fastest"]["seconds"] <= within["seconds"].min() * TIE
    near = rows[rows["usd"] <= 1.5 * answers["least-money"]["usd"]]
    assert (
        near["headroom_bytes"].max() / TIE
        <= answers["roomiest"]["headroom_bytes"]
        <= near["headroom_bytes"].max()
    )
    board = answered.board.query("fits == 'yes' and runs == 'yes' and misses == ''")
    least = rows.groupby(["instance", "market"], observed=True)["usd"].min()
    shown = board.set_index(["instance", "market"])["usd"]
    assert set(shown.index) == set(least.index)
    assert (
        (shown / least - 1).between(-1e-12, 0.01 + 1e-12)
    ).all()  # the first row is the answer, of those within a hundredth


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", JOBS)
def test_an_answer_gives_its_own_figures_again_and_stands_on_the_board(catalogs, name):
    answered, rows = options(JOBS[name], catalogs), answer(JOBS[name], catalogs)
    assert rows[["problem", "fits", "runs"]].drop_duplicates().to_numpy().tolist() == [
        ["", "yes", "yes"]
    ]
    again = estimate(rows, catalogs).select_dtypes("float")
    np.testing.assert_array_equal(again, rows[list(again)].astype(float))
    for row in rows[rows["market"].isin(COSTS)].to_dict("records"):
        kind, market = (
            "usd_per_month" if row["work"] == "inference" else "run_usd",
            COSTS[row["market"]],
        )
        assert (row["usd"], row["usd_per_hour"]) == (
            row[f"{kind}_{market}"],
            row[f"usd_per_hour_{market}"],
        )
    board = answered.board
    pd.testing.assert_series_equal(board.iloc[0], answered.answers.iloc[0])
    qualifying = board[(board["fits"] == "yes") & (board["misses"] == "") & board["usd"].notna()]
    assert qualifying["usd"].iloc[1:].is_monotonic_increasing
    assert qualifying.index.tolist() == list(range(len(qualifying)))
    assert not board.duplicated(["instance", "market"]).any()
    names = answered.answers["answer"].str.cat(sep="+").split("+")
    assert names[0] == "least-money"
    assert set(names) <= {"least-money", "knee", "easiest"}


@pytest.mark.parametrize("limit", LOOSER)
@pytest.mark.long
def test_loosening_a_limit_never_makes_the_least_money_more(catalogs, limit):
    job, values = LOOSER[limit]
    answered = [options(job | {limit: value}, catalogs) for value in values]
    least = [one.answers["usd"][0] for one in answered if one.possible]
    # Within a tie the easier or the faster is named.
    assert all(after <= before * 1.01 for before, after in pairwise(least))
    assert answered[-1].possible


def test_what_is_in_the_way_is_named_with_the_nearest_plan(catalogs):
    jobs = [
        SMALL | {"hours_most": 0.05},
        {"model": "llama-3.1-70b", "instance": "p5.48xlarge", "instances_most": 1},
    ]
    late, many, none = (
        answer(job, catalogs).iloc[0]
        for job in (*jobs, {"model": "llama-3.1-405b", "instance": "g5.xlarge"})
    )
    assert [late["answer"], many["answer"], none["answer"], late["possible"]] == [
        "nearest",
        "nearest",
        "",
        0,
    ]
    assert late["problem"].startswith(
        "No option meets every limit: the nearest, 2 × p5.48xlarge, takes "
    )
    blocked = "(3.0 min allowed); allow more time, more instances or other cards. Instead: "
    assert blocked in late["problem"]
    assert re.search(r"Instead: .* for \$[\d.,]+", many["problem"])
    assert re.search(r"[^·]+ \$[\d.,]+", late["limits_cost"])
    assert late["hours"] > 0.05
    assert "needs 3 instances" in many["problem"]
    assert np.isnan(none["usd"])
    assert none["problem"].startswith("No allowed GPU is large enough: the smallest layout needs ")
    assert " × p" in none["problem"].partition("Instead: ")[2]  # on other instances


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("job", "limit", "column"),
    [
        (SMALL, "hours_most", "run_high_hours"),
        (SERVED, "token_seconds", "time_per_output_token_high_seconds"),
    ],
)
def test_a_time_can_be_held_with_the_slow_end_of_its_range(catalogs, job, limit, column):
    usual = answer(job, catalogs).iloc[0]
    allowed = (usual["hours"] if limit == "hours_most" else usual["seconds"]) * 1.1
    assert answer(job | {limit: allowed, "confidence": 50}, catalogs).iloc[0]["usd"] == usual["usd"]
    surely = answer(job | {limit: allowed, "confidence": 95}, catalogs)
    assert (surely[column] <= allowed).all()
    assert surely["usd"].iloc[0] > usual["usd"]
    center = CENTERS[column]
    between = answer(job | {limit: allowed}, catalogs)
    assert (
        between[center] * (between[column] / between[center]) ** (0.6745 / 1.6449)
        <= allowed * (1 + 1e-9)
    ).all()
    missed = answer(job | {limit: allowed / 1000, "confidence": 95}, catalogs).iloc[0]
    assert " at 95 % confidence, " in missed["problem"]


def test_people_and_a_context_are_requests_and_lengths(catalogs):
    small = {"work": "inference", "model": "llama-3.2-1b", "instance": "g6.xlarge"}
    lengths = ("users", "prompt_tokens", "answer_tokens", "sequence_tokens")
    for more, meant in CASES["people"]:
        job = resolve(small | more, catalogs)
        assert [getattr(job, name) for name in lengths] == meant, more
    for more, problem in CASES["contexts"]:
        assert answer(small | more, catalogs)["problem"].iloc[0].startswith(problem)
    pair = (
        resolve({"work": "inference", "model": "clip-vit-large-patch14"}, catalogs),
        resolve({"model": "siglip2-base-patch16-224"}, catalogs),
    )
    # Their learned positions.
    assert (pair[0].prompt_tokens, pair[1].sequence_tokens) == (
        77,
        64,
    )
    encoder = resolve(
        {"work": "inference", "model": "bert-base-uncased", "context_tokens": 256}, catalogs
    )
    assert (encoder.prompt_tokens, encoder.sequence_tokens) == (256, 256)


@pytest.mark.sample(2)
@pytest.mark.parametrize("fault", WRONG)
def test_a_bad_job_says_why_and_leaves_the_others_theirs(catalogs, fault):
    job, sentence = WRONG[fault]
    rows = answer(
        [
            SMALL | job | {"job": "bad", "instance": job.get("instance", FEW)},
            SMALL | {"job": "good"},
        ],
        catalogs,
    )
    bad, good = rows[rows["job"] == "bad"], rows[rows["job"] == "good"]
    assert bad["memory_bytes"].isna().tolist() == [True]
    assert bad["problem"].iloc[0].startswith(sentence)
    assert good["answer"].iloc[0].startswith("least-money")


def test_requests_a_second_are_kept_up_with(catalogs):
    rows = answer(SERVED | {"requests_per_second": 3, "users": ""}, catalogs)
    request = rows["time_to_first_token_seconds"] + 512 * rows["time_per_output_token_seconds"]
    at_once = rows["batch"] * rows["gpus"] / rows["tensor_parallel"]
    assert (3 * request <= at_once).all()
    assert rows["why"].str.contains("3 requests a second keep ").all()


def test_what_is_refused_never_appears(catalogs):
    """vLLM has no bf16 on a T4 and loads on no Arm host with a T4G; fp8 products need compute
    capability 8.9.
    """
    sold = ["g4dn.12xlarge", "g5g.xlarge", "g5.xlarge"]
    board = options(SERVED | {"instance": sold}, catalogs).board
    assert set(board["runs"]) == {"yes", "emulated"}
    assert board["instance"].tolist() == ["g5.xlarge", "g4dn.12xlarge"]
    trained = options(SMALL | {"precision": "fp8-mixed"}, catalogs)
    assert set(trained.board["instance"]) == {"g6e.xlarge", "p5.48xlarge"}
    refused = answer(SERVED | {"instance": "g4dn.12xlarge", "precision": "bf16"}, catalogs).iloc[0]
    assert refused["problem"].startswith(
        "No allowed instance runs this configuration: vLLM stops at start: "
    )


def test_a_card_without_a_flash_kernel_is_tried_with_the_attention_that_runs_there(catalogs):
    """A T4 beside an L4: BERT is trained and served there by PyTorch's own attention, unless the
    job sets another.
    """
    sold = {"instance": ["g4dn.xlarge", "g6.xlarge"], "model": "bert-base-uncased"}
    train = sold | {"train_tokens": 5e7, "sequence_tokens": 512}
    read = sold | {"work": "inference", "prompt_tokens": 512, "tokens_total": 1e9}
    for job in (train, read):
        board = options(job, catalogs).board.set_index("instance")
        assert board["attention"].to_dict() == {"g4dn.xlarge": "sdpa", "g6.xlarge": "flash"}
        assert (board["runs"] == "yes").all()
    emulated = answer(train | {"instance": "g4dn.xlarge", "attention": "flash"}, catalogs).iloc[0]
    assert emulated["runs"] == "emulated"


def test_what_is_compared_has_a_row_for_each_value(catalogs):
    board = options(SMALL | {"optimizer": ["adamw", "adafactor"]}, catalogs).board
    assert (
        len(board[["instance", "optimizer"]].drop_duplicates()) == 2 * board["instance"].nunique()
    )
    assert not board.duplicated(["instance", "market", "optimizer"]).any()


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", PLAIN)
def test_every_figure_of_a_combination_is_that_of_estimate(catalogs, name):
    job = resolve(PLAIN[name], catalogs)
    (result,) = search([grid(job, places_of(job, catalogs), catalogs)], [job], catalogs)
    some = np.random.default_rng(7).choice(result.size, 200)
    results, figures = rows_of(ranking(result.candidates, result.grid, job), some, catalogs)
    rows = results.plain(**figures)
    in_block = (rows["market"] == "capacity-block").to_numpy()
    working = (rows["instances_needed"] + rows["standby_instances"]).to_numpy(float)
    sizes = sizes_sold("capacity-block", catalogs)
    rows["instances"] = np.where(in_block, rented_instances(working, sizes), working)
    same = {
        "token_seconds": "time_per_output_token_seconds",
        "first_token_seconds": "time_to_first_token_seconds",
    }
    same |= {
        "step_tokens": "step_tokens",
        "headroom_bytes": "headroom_bytes",
        "instances": "instances",
    }
    for key, column in same.items():
        np.testing.assert_array_equal(
            getattr(result.candidates, key)[some], rows[column].to_numpy(float), err_msg=column
        )
    assert [FITS[fits] for fits in result.candidates.fits[some]] == rows["fits"].tolist()
    assert [RUNS[runs] for runs in result.candidates.runs[some]] == rows["runs"].tolist()
    again = estimate(rows, catalogs)
    done = job_of_rows(again, rows["market"], 0, catalogs)
    for column in ("usd", "hours", "usd_per_hour", "seconds"):
        np.testing.assert_array_equal(
            rows[column].to_numpy(float), getattr(done, column), err_msg=column
        )


def test_the_lower_bound_of_memory_is_one(catalogs):
    results = answered()
    part = next(
        parts(results[results["work"] == "training"].drop(columns=["instance", "gpu"]), catalogs)
    )
    least = least_memory_bytes(walk(part.table | {}, MEMORY[:1]))
    peak = fullest_place(part.table | {})["allocated_peak_bytes"]
    assert (least <= peak).all()
    assert np.median(least / peak) > 0.2


@pytest.mark.parametrize("model", ["bert-base-uncased", "vit-base-patch16"])
def test_an_encoder_is_served_by_transformers(model, catalogs):
    """vLLM's cache serves decoders; asked for by name it is refused, left open it is not taken."""
    job = {"work": "inference", "model": model, "users": 4, "prompt_tokens": 128}
    assert set(answer(job, catalogs)["implementation"]) == {"transformers"}
    assert (
        "choose implementation transformers"
        in answer(job | {"implementation": "vllm"}, catalogs)["problem"].iloc[0]
    )


def test_a_decoder_without_a_head_answers_no_token(catalogs):
    """An embedding model reads its prompt, whatever its blocks; an engine may read it too."""
    job = {"work": "inference", "model": "qwen3-embedding-0.6b", "users": 4, "context_tokens": 1024}
    assert resolve(job, catalogs).sequence_tokens == resolve(job, catalogs).prompt_tokens == 1024
    rows = answer(job | {"implementation": "vllm"}, catalogs)
    assert rows["fits"].eq("yes").all()
    assert rows["time_per_output_token_seconds"].isna().all()


def test_a_context_beyond_the_model_is_refused_with_what_extends_it(catalogs):
    refused = answer(
        {"model": "qwen3-8b", "work": "inference", "context_tokens": 65_536}, catalogs
    )["problem"].iloc[0]
    assert refused.startswith(
        "qwen3-8b takes 40,960 tokens, and 65,536 are asked for, which vllm refuses; YaRN by 4 "
    )
    served = {
        "model": "qwen3-8b",
        "work": "inference",
        "implementation": "vllm",
        "sequence_tokens": 65_536,
        "gpu": "h200-sxm",
    }
    assert estimate(served, catalogs)["problem"] == refused
    by_transformers = estimate(served | {"implementation": "transformers"}, catalogs, False)
    assert by_transformers["problem"] == ""
    assert "without it, its answers to longer texts are poor" in by_transformers["note"]
    row = {"model": "qwen3-8b", "sequence_tokens": 65_536, "gpu": "h200-sxm"}
    trained = estimate(row, catalogs, False)
    assert trained["problem"] == ""
    assert (
        "made for 40,960 tokens: YaRN by 4 in its config.json extends it to 131,072"
        in trained["note"]
    )
    assert "made for" not in estimate(row | {"sequence_tokens": 4096}, catalogs, False)["note"]


def test_an_engine_takes_every_decoder_up_to_its_context_and_no_longer(catalogs):
    models = catalogs.models[
        (catalogs.models["kind"] == "decoder") & (catalogs.models["refused"] == "")
    ]
    longest = models["max_position"].to_numpy(dtype=float)
    rows = pd.DataFrame(
        {"model": models.index, "work": "inference", "implementation": "vllm", "gpu": "h200-sxm"}
    )
    at_limit, beyond = (
        estimate(rows.assign(sequence_tokens=longest + more), catalogs) for more in (0, 1)
    )
    refused = (
        beyond["problem"]
        .astype(str)
        .str.contains(r"tokens, and [\d,]+ are asked for|learned positions for")
    )
    assert not at_limit["problem"].astype(str).str.contains("are asked for").any()
    assert refused[longest > 0].all()
    assert (at_limit["max_sequence_tokens"].fillna(0) <= longest).all()
