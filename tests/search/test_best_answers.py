"""The answers that are named: lowest cost with its ties, the knee, the easiest; against the plain
definition; how hard types are to get.
"""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from examples import catalogs as all_catalogs
from examples import recorded

from calc import estimate
from calc.answers.full_answer import full_answer as options
from calc.cost.obtainability import CLASSES, obtainability
from calc.job.resolve import resolve
from calc.say.answer import BY_AGREEMENT
from calc.search.best_answers import _easiest, answers, knee, least_money
from calc.search.candidates import Candidates
from calc.search.ranking import QUALIFIES, Ranking, usual_batch

JUDGED = resolve({"model": "llama-3.2-1b"}, all_catalogs()).judged
SPOT = {
    "model": "llama-3.2-1b",
    "method": "lora",
    "train_tokens": 1e8,
    "instances_most": 1,
    "markets": "on-demand+spot",
}


def ranked(usd, seconds, hard=None, idle=None, work="training"):
    """A ranking in which every candidate qualifies."""
    count = len(usd)
    hard = (
        np.zeros(count, dtype=int)
        if hard is None
        else np.array([CLASSES.index(word) for word in hard])
    )
    figures = dict.fromkeys((field.name for field in fields(Candidates)), np.zeros(count, int))
    figures |= {
        "usd": np.array(usd, float),
        "seconds": np.array(seconds, float),
        "gpus": np.where(np.zeros(count) if idle is None else idle, 1, 2),
        "place_number": np.arange(count),
        "obtainability_rank": hard,
        "headroom_bytes": np.ones(count),
    }
    job = SimpleNamespace(
        work=work,
        trains=work == "training",
        judged=JUDGED,
        answers=[],
        have="",
        usd_most=None,
        usd_per_hour_most=None,
    )
    grid = SimpleNamespace(places=[SimpleNamespace(gpus=2)] * count)
    candidates = Candidates(**figures)
    return Ranking(job, grid, candidates, [], np.full(count, QUALIFIES), [np.arange(count)])


def knee_by_hand(usd, seconds):
    """The definition in words: distance to the line between the ends of what is within 25 %, by
    geometry on log axes.
    """
    points = [
        np.log([money, time])
        for money, time in zip(usd, seconds, strict=True)
        if money <= 1.25 * usd[0]
    ]
    chord = points[-1] - points[0]
    below = {}
    for place, point in enumerate(points):
        if seconds[place] * 1.5 <= seconds[0]:
            off = point - points[0]
            # Twice the area of the triangle, above 0 below the line.
            below[place] = chord[1] * off[0] - chord[0] * off[1]
    return (
        max(below, key=below.get)
        if below
        else next((place for place, time in enumerate(seconds) if time * 1.1 <= seconds[0]), 0)
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_knee_is_that_of_its_definition(seed):
    chance = np.random.default_rng(seed)
    count = chance.integers(1, 9)
    usd = 100 * np.exp(np.append(0, np.cumsum(chance.uniform(0.01, 0.12, count))))
    seconds = 1000 * np.exp(-np.append(0, np.cumsum(chance.uniform(0.02, 0.6, count))))
    assert knee(usd, seconds, JUDGED) == knee_by_hand(usd, seconds)


@pytest.mark.parametrize(("usd", "point"), [(399.0, 1), (401.0, 0)])
def test_the_next_faster_plan_costs_at_most_four_times_the_cheapest(usd, point):
    assert knee(np.array([100.0, usd]), np.array([1000.0, 800.0]), JUDGED) == point


def test_ties_within_half_a_hundredth_go_to_the_easier_then_the_shorter_then_the_plainer():
    three = ["wait-or-quota", "usually", "usually"]
    assert least_money(ranked([100, 100.4, 100.2], [9, 5, 7], three), np.arange(3)) == 1
    assert least_money(ranked([100, 100.6, 100.7], [9, 5, 7], three), np.arange(3)) == 0
    assert least_money(ranked([100, 100, 100], [9, 8.99, 9], ["usually"] * 3), np.arange(3)) == 0
    served = ranked([100, 100, 100], [3, 4, 5], idle=[True, False, False], work="inference")
    assert least_money(served, np.arange(3)) == 1


def test_an_encoder_takes_the_usual_batch_where_many_cost_the_same():
    job = {"model": "qwen3-embedding-8b", "goal": "serve", "prompt_tokens": 512}
    job |= {"tokens_total": 1e9, "hours_most": 12, "instance": "g6e.xlarge", "gpus": 3}
    rows = [options(job | batch, all_catalogs()).rows[0] for batch in ({}, {"batch": 1})]
    assert [row["batch"] for row in rows] == [32, 1]
    assert rows[0]["usd"] == pytest.approx(rows[1]["usd"])
    # Text Embeddings Inference takes 16,384 tokens at once, and a longer text alone.
    usual = {256: 32, 512: 32, 4096: 4, 32768: 1}
    for tokens, batch in usual.items():
        assert usual_batch(resolve(job | {"prompt_tokens": tokens}, all_catalogs())) == batch
    longer = options(job | {"prompt_tokens": 4096}, all_catalogs()).rows[0]
    assert longer["batch"] == 4


@pytest.mark.parametrize(("hard", "usd", "easiest"), recorded("cases/named.json")["easiest"])
def test_the_easiest_is_the_least_money_in_an_easier_class(hard, usd, easiest):
    assert _easiest(ranked(usd, [9, 9, 9], hard), 0) == easiest


def test_answers_that_coincide_share_a_row_and_fastest_waits_to_be_asked():
    alone = ranked([100, 200], [10, 10])
    assert answers(alone) == {"least-money": 0, "easiest": 0}
    alone.job.answers = ["fastest", "roomiest"]
    assert answers(alone) == {"least-money": 0, "easiest": 0, "fastest": 0, "roomiest": 0}


def test_spot_that_was_seen_long_ago_is_shown_and_never_ranked(catalogs):
    """Spot of P families of April is no answer, not even where spot alone is allowed; of a G family
    it stays one.
    """
    several = options(SPOT | {"instance": ["p4d.24xlarge", "g6e.xlarge"]}, catalogs)
    old = several.board[
        (several.board["market"] == "spot") & (several.board["instance"] == "p4d.24xlarge")
    ].iloc[0]
    assert "has a Spot price" in old["misses"]
    assert "p4d.24xlarge" not in set(several.edge[several.edge["market"] == "spot"]["instance"])
    alone = options(SPOT | {"instance": "p4d.24xlarge", "markets": "spot"}, catalogs)
    assert "refresh its prices" in alone.problem
    assert not alone.possible
    assert options(
        SPOT | {"instance": "p4d.24xlarge", "markets": "spot", "scarce_spot_seconds": 1e9}, catalogs
    ).possible


def test_the_hardest_class_allowed_is_a_limit(catalogs):
    job = {
        "work": "inference",
        "model": "qwen2.5-32b",
        "users": 20,
        "fewest_bits": 16,
        "token_seconds": 0.05,
        "confidence": "50",
    }
    assert options(job, catalogs).rows[0]["obtainable"] == "wait-or-quota"
    for allowed in ("at-once", "usually"):
        result = options(job | {"obtainable": allowed}, catalogs)
        harder = CLASSES[CLASSES.index(allowed) + 1 :]
        assert not result.possible or not {row["obtainable"] for row in result.rows} & {*harder}
    assert "p6e" not in "".join(row["instance"] for row in options(job, catalogs).rows)


@pytest.mark.long
def test_a_run_on_so_many_machines_of_p_that_they_come_by_agreement_yields_to_one_on_fewer(
    catalogs,
):
    job = {
        "model": "mixtral-8x7b",
        "implementation": "megatron",
        "train_tokens": 3e11,
        "instance": "p5.48xlarge",
        "hours_most": 2000,
    }
    job |= {
        "sequence_tokens": 4096,
        "step_tokens": 4194304,
        "instances_most": 64,
        "markets": "on-demand",
        "tensor_parallel": 8,
    }
    few, agreed = options(job, catalogs), options(job | {"obtainable": "by-agreement"}, catalogs)
    assert (
        max(row["instances_needed"] for row in few.rows) < 8 <= agreed.rows[0]["instances_needed"]
    )
    assert agreed.rows[0]["usd"] <= few.rows[0]["usd"]
    haste = options(job | {"hours_most": 200}, catalogs).rows[0]  # nothing on fewer keeps it
    assert (haste["obtainable"], haste["problem"]) == ("by-agreement", "")
    assert BY_AGREEMENT in haste["why"]
    assert BY_AGREEMENT not in few.rows[0]["why"] + agreed.rows[0]["why"]
    block = options(
        job | {"hours_most": 200, "markets": "on-demand+capacity-block"}, catalogs
    ).rows[0]
    assert (block["market"], block["obtainable"]) == ("capacity-block", "wait-or-quota")
    again = estimate(pd.DataFrame([haste, block]), catalogs)
    assert again["obtainable"].tolist() == ["by-agreement", "wait-or-quota"]


# Of each instance: on demand, on spot, as a capacity block.
SEEN = recorded("cases/obtainability.json")["classes"]


def test_an_instance_takes_the_longest_entry_that_its_family_begins_with(catalogs):
    markets = [
        obtainability(catalogs, market) for market in ("on-demand", "spot", "capacity-block")
    ]
    rows = {
        name: [market.words[catalogs.instances.index.get_loc(name)] for market in markets]
        for name in SEEN
    }
    assert rows == SEEN
    assert set(markets[0].words) <= {*CLASSES, ""}
    results = estimate(
        pd.DataFrame(
            [
                {"model": "llama-3.2-1b", "instance": name}
                for name in ("p5.48xlarge", "g4dn.xlarge", "")
            ]
        ),
        catalogs,
    )
    assert results["obtainable"].tolist() == ["wait-or-quota", "at-once", ""]


def test_a_type_of_the_board_serves_in_its_fastest_way_for_the_same_money(catalogs):
    """8-bit weights where they are allowed: larger machines with the same card are no slower."""
    board = options({"model": "llama-3.1-8b", "work": "inference"}, catalogs).board.set_index(
        "instance"
    )
    assert (board.loc[["g6.xlarge", "g6.2xlarge", "g6.4xlarge"], "precision"] == "fp8").all()
