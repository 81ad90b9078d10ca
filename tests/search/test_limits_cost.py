"""What the limits cost and which types cannot be told apart, each against a job that is asked so;
jobs with many instances, in parts.
"""

import re

import numpy as np
import pytest
from examples import least_usd, recorded
from pandas.testing import assert_frame_equal

from calc.answers.full_answer import full_answer as options
from calc.job.cells import JobRow
from calc.job.resolve import resolve
from calc.say.limits import step_words
from calc.say.numbers import about, duration
from calc.say.place import place
from calc.scenarios.published_weights import bits_of
from calc.search import search_results
from calc.search.best_answers import least_money
from calc.search.first_rows import first_row
from calc.search.grid import grid
from calc.search.layouts import layout_parts
from calc.search.options import options_of
from calc.search.places import places_of
from calc.search.rankings import _result_of, ranked_candidates, rankings_of
from calc.search.shapes import EVERY_COUNT
from calc.studies import alternatives, limits_cost
from calc.studies.near_ties import near_ties

FEW = ["g6e.xlarge", "g5.12xlarge", "p5.4xlarge", "p5.48xlarge", "g7e.2xlarge"]
JOBS = recorded("cases/limits_cost.json")["jobs"]


def first_of(name, relaxed):
    """Of the steps of one limit the smallest: the one that saves most per unit given up."""
    return min((limit for limit in relaxed if limit.name == name), key=lambda limit: limit.step)


def relaxed_limits(job, ranked, least, catalogs):
    """What each limit of a job costs, with the engine asked for every relaxation."""
    several = list(limits_cost.relaxations(ranked.job, catalogs))
    others = [
        limit
        for number, other in rankings_of([job | one.changes for one in several], catalogs)
        for limit in limits_cost.relaxed_by(several[number], other, ranked, least, catalogs)
    ]
    return limits_cost.relaxed_limits(job, ranked, least, others, catalogs)


def ways_of(row, job, cells, relaxed, catalogs):
    """Other ways to pay for an answer, with the engine asked in the regions near it."""
    near = "+".join(alternatives.near_regions(job, catalogs))
    there = first_row({**cells, "regions": near}, catalogs) if near else None
    return alternatives.alternatives(row, job, there, relaxed, catalogs)


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.long
def test_each_step_costs_what_the_job_costs_that_is_asked_so(catalogs, name):
    """Money with a limit at a step is the answer's with that step; no other step saves more per
    unit that is given up.
    """
    job = {"fewest_bits": 16, **JOBS[name]}
    ranked, _ = ranked_candidates(JobRow.of(job), catalogs)
    least = least_money(ranked, ranked.qualifying)
    relaxed = relaxed_limits(job, ranked, least, catalogs)
    assert relaxed
    assert ("just needs the second" in name) <= (
        "requests_per_second" in {limit.name for limit in relaxed}
    )
    assert {
        "all weights": "fewest_bits",
        "few instances": "instances_most",
        "with a spare": "spare",
    }.get(name, relaxed[0].name) in {limit.name for limit in relaxed}
    usd = [limit.usd for limit in relaxed]
    assert usd == sorted(usd)
    assert max(usd) * 1.01 <= ranked.candidates.usd[least]
    for limit in relaxed:
        bits = {
            key: {"fewest_bits": limit.step}
            for key in ("precision", "kv_precision", "precision+kv_precision")
        }
        limits = bits | {
            "instance": {"instance": "", "gpu": ""},
            "regions": {"regions": "anywhere"},
            "markets": {"markets": "spot"},
        }
        limits |= {"users": {"users": limit.step, "people": None}}
        if limit.name == "fewest_bits":  # of a run: narrow products are asked for by hand
            limits |= {"fewest_bits": {"fewest_bits": 8, "precision": "fp8-mixed"}}
        usd = least_usd(job | limits.get(limit.name, {limit.name: limit.step}), catalogs)
        assert limit.usd == pytest.approx(usd, rel=0.011)
        if limit.name in limits_cost.STEPS and limit is first_of(limit.name, relaxed):
            now = getattr(resolve(job, catalogs), limit.name)
            steps = [step for step in limits_cost.STEPS[limit.name] if step > now * (1 + 1e-9)]
            start = ranked.candidates.usd[least]
            rates = [
                (start - least_usd(job | {limit.name: step}, catalogs)) / (step - now)
                for step in steps
            ]
            assert (start - limit.usd) / (limit.step - now) == pytest.approx(max(rates), rel=0.05)


def test_what_limits_cost_stands_in_one_sentence_with_the_first_answer(catalogs):
    chosen = options(
        {
            "work": "inference",
            "model": "qwen2.5-32b",
            "users": 20,
            "fewest_bits": 16,
            "token_seconds": 0.05,
        },
        catalogs,
    )
    cost = chosen.answers["limits_cost"]
    assert cost.iloc[1:].eq("").all()
    assert re.fullmatch(
        r"[^·]+ −\$[\d,]+ a month( · [^·]+ −(\$[\d,.]+|\d+ %)( \(price of [^)]+\))?)*", cost[0]
    )
    assert "8-bit weights and cache −$" in cost[0]


@pytest.mark.bench
def test_the_bits_of_a_limit_are_those_of_the_answer_that_it_leads_to(catalogs):
    job = {"work": "inference", "model": "qwen3-32b", "requests_per_second": 2}
    job |= {"prompt_tokens": 12000, "answer_tokens": 400}
    relaxed = [limit for limit in options(job, catalogs).relaxed if limit.bits]
    assert [limit.step for limit in relaxed if "kv_precision" in limit.name]
    for limit in relaxed:
        row = first_row(job | {"fewest_bits": limit.step}, catalogs)
        cache = bits_of(catalogs, row["kv_precision"]) if row["kv_precision"] else 16
        assert limit.bits == (bits_of(catalogs, row["precision"]), cache)
        assert row["usd"] == pytest.approx(limit.usd)
        said = step_words(limit, row, catalogs)
        assert all(f"{bits}-bit" in said for bits in set(limit.bits) - {16})


@pytest.mark.long
def test_other_ways_to_pay_stand_beside_the_answer_where_they_cost_less(catalogs):
    job = {
        "work": "inference",
        "model": "llama-3.1-8b",
        "requests_per_second": 2,
        "regions": "eu-central-1",
        "fewest_bits": 16,
    }
    row, served = options(job, catalogs).rows[0], resolve(job, catalogs)
    ways = ways_of(row, served, job, [], catalogs)
    assert 0 < ways.commitment_usd < row["usd"]
    region = ways.region_row["region"]
    assert region.startswith("eu-")
    near = [name for name in catalogs.regions.index if name.startswith("eu-")]
    each = [options(job | {"regions": name}, catalogs).rows[0]["usd"] for name in near]
    assert ways.region_row["usd"] == pytest.approx(min(each), rel=0.01)
    assert f"({region}) the job costs" in row["why"]
    assert "For comparison, a commitment of one year costs $" in row["why"]
    dear = ways_of({**row, "usd": row["usd"] / 100}, served, job, [], catalogs)
    assert (dear.commitment_usd, dear.endpoint_usd, dear.region_row) == (None, None, None)
    named = [limits_cost.Relaxed("regions", region, 1.0)]
    assert ways_of(row, served, job, named, catalogs).region_row is None


@pytest.mark.long
def test_bedrock_is_named_with_the_money_of_the_same_tokens(catalogs):
    job = {
        "work": "inference",
        "model": "llama-3.1-8b",
        "requests_per_second": 2,
        "answer_tokens": 500,
    }
    row = options(job, catalogs).rows[0]
    ways = ways_of(row, resolve(job, catalogs), job, [], catalogs)
    assert ways.is_bedrock
    assert ways.endpoint_usd == pytest.approx(
        2 * 500 * 3600 * 730 * row["endpoint_usd_per_million_tokens"] / 1e6
    )
    priced = options(job | {"endpoint_usd_per_million_output_tokens": 0.1}, catalogs).rows[0]
    assert "Amazon Bedrock" in row["why"]
    assert "Amazon Bedrock" not in priced["why"]
    uneven = job | {"peak_to_mean": 2}
    half = ways_of(
        options(uneven, catalogs).rows[0], resolve(uneven, catalogs), uneven, [], catalogs
    )
    assert half.endpoint_usd == pytest.approx(ways.endpoint_usd / 2)
    people = {"work": "inference", "model": "llama-3.1-8b", "people": 50, "answer_tokens": 500}
    asked = options(people, catalogs).rows[0]
    ways = ways_of(asked, resolve(people, catalogs), people, [], catalogs)
    answers = 50 * 40 * 22  # of each person, on each working day
    assert ways.endpoint_usd is None or ways.endpoint_usd == pytest.approx(
        answers * 500 * asked["endpoint_usd_per_million_tokens"] / 1e6
    )
    assert "for an assumed 40 answers a person and working day" in asked["why"]


@pytest.mark.bench
def test_rivals_are_types_with_other_cards_whose_times_overlap(catalogs):
    row = options({"model": "llama-3.2-1b", "instance": FEW}, catalogs).rows[0]
    alone = {
        name: options({"model": "llama-3.2-1b", "instance": name}, catalogs).rows[0] for name in FEW
    }

    def doubt(name):
        return np.log(alone[name]["run_high_hours"] / alone[name]["run_hours"])

    apart = {
        name: np.log(alone[name]["usd"] / row["usd"])
        / np.hypot(doubt(name), doubt(row["instance"]))
        for name in FEW
    }
    cards = {name: catalogs.instances["gpu"][name] for name in FEW}
    near = {name for name in FEW if apart[name] <= 0.98 and cards[name] != row["gpu"]}
    far = {name for name in FEW if apart[name] > 1.02}
    listed = set(row["rivals"].split("+")) - {""}
    assert {cards[name] for name in near} == {cards[name] for name in listed}
    assert not listed & far
    close = {name for name in listed if alone[name]["usd"] <= 1.25 * row["usd"]}
    assert ("too close to rank" in row["why"]) == bool(close)
    assert not close or f"{len(close)} other type" in row["why"]


def test_a_rate_that_slower_machines_do_not_keep_up_with_takes_more_of_them(catalogs):
    """With no limit on time in the way, no rival is dearer than both ranges of time together, and a
    machine.
    """
    job = {
        "work": "inference",
        "model": "llama-3.1-8b",
        "requests_per_second": 300,
        "first_token_seconds": 1e4,
        "token_seconds": 1e3,
    }
    ranked, _ = ranked_candidates(JobRow.of(job), catalogs)
    least = least_money(ranked, ranked.qualifying)
    alike = alternatives.rivals(ranked, least, catalogs)
    assert alike
    assert max(alike.values()) <= ranked.candidates.slow_token_ratio.max() ** 2 * 1.1


TRAINED = {
    "model": "llama-3.2-1b",
    "instance": ["p5.48xlarge", "g6e.xlarge"],
    "sequence_tokens": 2048,
}


def tried_instances(catalogs, most):
    """Instances of 8 GPUs that a training is tried on."""
    job = resolve(TRAINED | {"instances_most": most}, catalogs)
    places = places_of(job, catalogs, 1)
    tried = grid(job, places, catalogs)
    of_eight = [number for number, place in enumerate(places) if place.instance == "p5.48xlarge"]
    gpus = np.broadcast_to(tried.layouts["gpus"], tried.layout_count)[
        tried.layout_of_pair[np.isin(tried.place_of_pair, of_eight)]
    ]
    return sorted({int(count) // 8 for count in gpus if count % 8 == 0})


@pytest.mark.parametrize("most", [1, 64, 100, 512])
def test_every_count_is_tried_up_to_64_and_the_most_always(catalogs, most):
    counts = tried_instances(catalogs, most)
    assert set(counts) >= {*range(1, min(most, EVERY_COUNT) + 1), most}
    assert max(counts) == most
    beyond = np.array(counts[EVERY_COUNT - 1 :], dtype=float)
    assert np.all(beyond[1:] / beyond[:-1] <= 1 + 1 / 16 + 1e-9)


def test_counts_are_coarser_where_every_one_makes_too_many_combinations(monkeypatch, catalogs):
    job = resolve(TRAINED | {"instances_most": 100}, catalogs)
    ways = max(part.size for part in layout_parts(job, places_of(job, catalogs, 1), catalogs))
    monkeypatch.setattr("calc.search.layouts.MOST_WAYS", ways * 3 // 5)
    counts = tried_instances(catalogs, 100)
    assert {1, 2, 4, 8, 100} < set(counts) < set(range(1, 101))
    assert len(counts) < EVERY_COUNT


def anew(catalogs):
    """Return the search results of a job without remembering them."""
    return lambda row, factor: _result_of(row, factor, catalogs)


@pytest.mark.bench
@pytest.mark.parametrize(
    "job",
    [
        TRAINED,
        {"work": "inference", "model": "llama-3.2-1b", "requests_per_second": 4, "fewest_bits": 8},
    ],
)
def test_a_job_in_parts_has_the_options_of_the_whole(monkeypatch, catalogs, job):
    row = JobRow.of(job)
    reference = options_of(row, catalogs)
    monkeypatch.setattr(search_results, "PAIRS_AT_ONCE", 997)
    monkeypatch.setattr("calc.search.rankings._recent_results", anew)
    parts = options_of(row, catalogs)
    assert parts.tried == reference.tried
    for name in ("answers", "board", "edge"):
        both = [getattr(one, name) for one in (parts, reference)]
        # A part compares recompute within itself, so a few more layouts are possible.
        assert_frame_equal(*(table.drop(columns="possible", errors="ignore") for table in both))


def test_a_service_as_shipped_says_what_tuned_flags_give(catalogs):
    job = {"work": "inference", "model": "deepseek-r1", "users": 64, "instance": "p6-b200.48xlarge"}
    assert options(job, catalogs).ways.tuned_row is None  # vLLM chooses its kernels by card
    job = job | {"inference_engine": "sglang"}
    shipped = options(job, catalogs)
    row, tuned = shipped.rows[0], shipped.ways.tuned_row
    assert row["engine_flags"] == "as-shipped"
    assert tuned["time_per_output_token_seconds"] < row["time_per_output_token_seconds"]
    token = duration(tuned["time_per_output_token_seconds"])
    assert f"with tuned engine flags a token takes {token} instead of" in row["why"]
    assert options(job | {"engine_flags": "tuned"}, catalogs).ways.tuned_row is None


def test_what_has_no_known_speed_has_a_sentence_of_its_own_and_no_rank(catalogs):
    answered = options({"work": "inference", "model": "bge-m3", "users": 20}, catalogs)
    row, board = answered.rows[0], answered.board
    unknown = board[board["seconds"].isna() & (board["usd"] < row["usd"])]
    least = unknown.sort_values("usd").iloc[0]
    said = f"Cheaper, speed not known: {place(least)}, {about(least['usd'])} a month."
    assert row["why"].endswith(said)
    assert all(one["seconds"] > 0 for one in near_ties(answered).rows)
