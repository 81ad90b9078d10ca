"""Laws of answers over jobs drawn at random: more work never costs less, blocks come in sizes that
AWS sells, hours, price and money multiply, and texts name no amount that no column has.
"""

import re

import numpy as np
import pytest
from examples import TIMES

from calc.answers.full_answer import full_answer
from calc.cost.block_sizes import rented_instances, sizes_sold
from calc.plan.bill import billed
from calc.say.numbers import about, usd
from calc.search.first_rows import first_row
from calc.search.options import options

TIE_RATIO = 1.01  # within which the easier or faster option is named
MODELS = {
    "tune": ("llama-3.2-1b", "qwen3-4b", "llama-3.1-8b", "qwen3-30b-a3b", "llama-3.1-70b"),
    "serve": ("llama-3.2-1b", "qwen3-8b", "gpt-oss-20b", "llama-3.3-70b", "kimi-k2.6"),
}
LOADS = ("users", "requests_per_second", "tokens_total")


def drawn_job(draw):
    """A job at random, and the column of its work."""
    goal = ("tune", "serve")[int(draw.integers(2))]
    job = {"goal": goal, "model": str(draw.choice(MODELS[goal]))}
    if goal == "tune":
        job |= {"method": str(draw.choice(["full", "lora", "qlora"]))}
        job |= {"train_tokens": float(np.exp(draw.uniform(*np.log([1e6, 2e10]))))}
        job |= {"sequence_tokens": int(draw.choice([1024, 4096, 16384]))}
        job |= {"hours_most": float(draw.choice([8, 48, 168, 1000]))}
        work = "train_tokens"
    else:
        work = str(draw.choice(LOADS))
        amount = {"users": (1, 300), "requests_per_second": (0.05, 30), "tokens_total": (1e6, 1e11)}
        value = float(np.exp(draw.uniform(*np.log(amount[work]))))
        job |= {work: max(round(value), 1) if work == "users" else value}
        job |= {"prompt_tokens": int(draw.choice([256, 2048, 12000]))}
        job |= {"answer_tokens": int(draw.choice([64, 512]))}
    markets = ("on-demand", "spot", "on-demand+spot", "on-demand+capacity-block")
    allowed = markets if goal == "tune" else markets[:3]
    return job | {"markets": str(draw.choice(allowed))}, work


def pairs(count, seed):
    """Pairs of a job and the same job with more of its work."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        job, work = drawn_job(draw)
        more = job[work] * float(np.exp(draw.uniform(0.02, 1.2)))
        yield job, job | {work: int(np.ceil(more)) if work == "users" else more}


def cheaper_with_more_work(count, seed, catalogs):
    """The pairs of which the one with more work has the lower cost, or alone has an answer."""
    found = []
    for job, more in pairs(count, seed):
        first, second = first_row(job, catalogs), first_row(more, catalogs)
        if second is not None and (first is None or second["usd"] * TIE_RATIO < first["usd"]):
            found.append((job, more, first and first["usd"], second["usd"]))
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_more_work_never_costs_less(catalogs, seed):
    assert cheaper_with_more_work(8 * TIMES, seed, catalogs) == []


def test_a_few_pairs_with_more_work_cost_more(catalogs):
    assert cheaper_with_more_work(4, 11, catalogs) == []


@pytest.mark.parametrize("machines", [1, 3, 7, 12, 33, 64, 65, 100, 130])
def test_capacity_blocks_are_rented_in_the_sizes_that_aws_sells(catalogs, machines):
    sizes = sizes_sold("capacity-block", catalogs)
    assert sizes.tolist() == [1, 2, 4, 8, 16, 32, 64]
    rented = float(rented_instances(np.array(float(machines)), sizes))
    rest = rented % 64
    assert rented >= machines
    assert rest in (0, *sizes[:-1])
    assert rented / machines < 2  # never the size above the next larger
    assert rented_instances(np.array([float(machines)]), sizes_sold("spot", catalogs)) == [machines]


@pytest.mark.parametrize(
    "work", [{"train_tokens": 4e10}, {"train_tokens": 2e11, "hours_most": 400}]
)
def test_every_block_of_a_board_has_a_size_that_is_sold_and_its_bill_multiplies(catalogs, work):
    job = {"model": "llama-3.1-8b", "goal": "train", "markets": "capacity-block", **work}
    board = options(job, catalogs).board
    assert len(board) > 2
    assert set(board["instances"]) <= {1, 2, 4, 8, 16, 32, 64}
    assert (board["instances"] >= board["instances_needed"]).all()
    assert np.allclose(board["usd"], board["usd_per_hour"] * board["billed_hours"])
    paid_gpus = board["instances"] * board["gpus_paid"] / board["instances_needed"]
    assert np.allclose(board["billed_gpu_hours"], paid_gpus * board["billed_hours"])


def said_dollars(answered):
    """The amounts of money that the texts of an answer may name: those of its columns."""
    row, ways, board = answered.rows[0], answered.ways, answered.board
    amounts = [*answered.answers["usd"], *board["usd"], *answered.answers["usd_per_hour"]]
    for one in answered.rows:
        amounts += [one["start_hours"] * one["usd_per_hour"], one["usd"] / one["attempts"]]
    amounts += [abs(row["usd"] - limit.usd) for limit in answered.relaxed]
    amounts += [ways.commitment_usd, ways.endpoint_usd]
    amounts += [ways.region_row["usd"]] if ways.region_row else []
    known = [float(amount) for amount in amounts if amount is not None and amount == amount]
    return {say(amount) for amount in known for say in (usd, about)}


@pytest.mark.parametrize("seed", range(3))
def test_every_amount_of_money_in_the_texts_of_an_answer_is_a_column(catalogs, seed):
    draw, read = np.random.default_rng(seed), 0
    for _ in range(4):
        job, _ = drawn_job(draw)
        answered = full_answer(job, catalogs)
        if answered.obstacle:
            continue
        known = said_dollars(answered)
        texts = [*answered.answers["why"], answered.answers["limits_cost"].iloc[0]]
        said = {amount for text in texts for amount in re.findall(r"\$\d[\d,.]*\d|\$\d", text)}
        assert said <= known, (job, said - known)
        read += len(said)
    assert read


def test_from_scratch_compiled_blocks_belong_into_the_ranking(catalogs):
    job = {"goal": "train", "model": "llama-3.2-1b", "train_tokens": 3e10, "hours_most": 336}
    free, plain = (full_answer(job | asked, catalogs) for asked in ({}, {"compile": "no"}))
    row = free.rows[0]
    assert row["compile"] == "yes"
    assert row["usd"] < plain.rows[0]["usd"]
    assert "compiled blocks" in row["why"]
    assert "not-compiled" not in row["why_codes"]
    by_megatron = full_answer(job | {"implementation": "megatron"}, catalogs).rows[0]
    assert (by_megatron["compile"], "not-compiled" in by_megatron["why_codes"]) == ("no", False)
    tuned = full_answer(job | {"goal": "tune"}, catalogs).rows[0]
    assert (tuned["compile"], "not-compiled" in tuned["why_codes"]) == ("no", True)


def test_an_answer_is_as_hard_to_get_in_its_bill_as_in_its_ranking(catalogs):
    draw = np.random.default_rng(7)
    for _ in range(4):
        job, _ = drawn_job(draw)
        board = options(job, catalogs).board
        board = board[board["market"] != ""]
        assert billed(board, catalogs)["obtainable"].tolist() == board["obtainable"].tolist()
