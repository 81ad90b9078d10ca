"""Laws of answers over jobs drawn at random: more work never costs less, blocks come in sizes that
AWS sells, hours, price and money multiply, and texts name no amount that no column has.
"""

import re

import numpy as np
import pytest
from examples import TIMES

from calc.answers.full_answer import full_answer
from calc.cost.capacity_block_sizes import rented_instances, sizes_sold
from calc.cost.obtainability import CLASSES
from calc.plan.bill import bill_rows
from calc.say.numbers import about, usd
from calc.search.first_rows import first_row
from calc.search.options import options

TIE_RATIO = 1.006  # within which the easier or faster option is named
LENGTHS = {"prompt_tokens": (256, 2048, 12000), "answer_tokens": (64, 512)}
SERVED = ("llama-3.2-1b", "qwen3-8b", "gpt-oss-20b", "llama-3.3-70b", "kimi-k2.6")
SERVICE = {"goal": ("serve",), "model": SERVED, **LENGTHS}
TUNED = ("llama-3.2-1b", "qwen3-4b", "llama-3.1-8b", "qwen3-30b-a3b", "llama-3.1-70b")
# Each kind of work: the column of its amount, the range of that, and what is drawn beside it.
KINDS = {
    "run": (
        "train_tokens",
        (1e6, 2e10),
        {
            "goal": ("tune",),
            "model": TUNED,
            "method": ("full", "lora", "qlora"),
            "sequence_tokens": (1024, 4096, 16384),
            "hours_most": (8, 48, 168, 1000),
        },
    ),
    "examples": (
        "examples",
        (500, 1e6),
        {"model": ("qwen3-4b", "vit-large-patch16", "whisper-small"), "epochs": (1, 3)},
    ),
    "preferences": (
        "examples",
        (500, 1e5),
        {"model": ("llama-3.2-1b", "qwen2.5-7b"), "objective": ("dpo", "grpo")},
    ),
    "users": ("users", (1, 300), SERVICE),
    "people": ("people", (5, 3000), SERVICE),
    "rate": ("requests_per_second", (0.05, 30), SERVICE),
    "offline": ("tokens_total", (1e6, 1e11), SERVICE),
    "texts": (
        "requests_per_second",
        (1, 300),
        {
            "goal": ("serve",),
            "model": ("bge-m3", "qwen3-embedding-8b"),
            "prompt_tokens": (128, 512),
        },
    ),
    "media": (
        "tokens_total",
        (1e6, 1e11),
        {"goal": ("serve",), "model": ("whisper-large-v3", "siglip2-so400m-patch14-384")},
    ),
}
WHOLE = ("examples", "users", "people")  # amounts that are counted
# What allows more than a drawn job does.
FREER = (
    {"regions": "us-east-1+us-west-2"},
    {"markets": "on-demand+spot"},
    {"obtainable": "by-agreement"},
    {"confidence": "50"},
    {"hours_most": 5000},
    {"first_token_seconds": 100, "token_seconds": 2},
    {"quantize_own": "yes"},
)


def drawn_job(draw):
    """A job at random, and the column of its work."""
    work, ends, beside = KINDS[str(draw.choice([*KINDS]))]
    job = {name: values[draw.integers(len(values))] for name, values in beside.items()}
    value = float(np.exp(draw.uniform(*np.log(ends))))
    job[work] = round(value) if work in WHOLE else value
    markets = ("on-demand", "spot", "on-demand+spot", "on-demand+capacity-block")
    is_run = job.get("goal") != "serve"
    return job | {"markets": str(draw.choice(markets if is_run else markets[:3]))}, work


def pairs(count, seed):
    """Pairs of a job and the same job with more of its work."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        job, work = drawn_job(draw)
        more = job[work] * float(np.exp(draw.uniform(0.02, 1.2)))
        yield job, job | {work: int(np.ceil(more)) if work in WHOLE else more}


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


def dearer_with_more_freedom(count, seed, catalogs):
    """The jobs that cost more, or have no answer, where more is allowed."""
    draw, found = np.random.default_rng(seed), []
    for _ in range(count):
        job, _ = drawn_job(draw)
        freer = job | FREER[draw.integers(len(FREER))]
        first, second = first_row(job, catalogs), first_row(freer, catalogs)
        if first is None or (second is not None and is_easier(second, first)):
            continue  # what comes by agreement yields to what is easier to get
        if second is None or second["usd"] > first["usd"] * TIE_RATIO:
            found.append((job, freer, first["usd"], second and second["usd"]))
    return found


def is_easier(row, other):
    """Whether a row is easier to get than another."""
    return CLASSES.index(row["obtainable"]) < CLASSES.index(other["obtainable"])


@pytest.mark.long
def test_more_freedom_never_costs_more(catalogs):
    assert dearer_with_more_freedom(16 * TIMES, 3, catalogs) == []


def test_a_few_jobs_with_more_freedom_cost_no_more(catalogs):
    assert dearer_with_more_freedom(4, 12, catalogs) == []


def test_narrower_weights_that_may_not_fit_hide_no_pipeline(catalogs):
    job = {"goal": "serve", "model": "deepseek-v3", "prompt_tokens": 300, "answer_tokens": 1000}
    job |= {"users": 2, "instance": "g7e.24xlarge"}
    published, narrower = (first_row(job | bits, catalogs) for bits in ({}, {"fewest_bits": "4"}))
    assert published["pipeline_parallel"] == 2
    assert narrower["usd"] <= published["usd"]


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
    assert set(board["instances"] % 64) <= {0, 1, 2, 4, 8, 16, 32}  # beside full blocks of 64
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


@pytest.mark.long
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


@pytest.mark.long
def test_from_scratch_compiled_blocks_belong_into_the_ranking(catalogs):
    job = {"goal": "train", "model": "llama-3.2-1b", "train_tokens": 1e11, "hours_most": 336}
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
        assert bill_rows(board, catalogs)["obtainable"].tolist() == board["obtainable"].tolist()
