"""What tighter limits, a spare, more load and one's own machines give: each against the job that is
asked so.
"""

import re
from datetime import date

import numpy as np
import pytest

from calc.answers.full_answer import full_answer as options
from calc.say import limits as limit_words
from calc.say.answer import titles
from calc.say.cards import card_line, in_bits_line, layout_line, owned_cards
from calc.say.near_ties import TIED, how_sure
from calc.studies.alternatives import Alternatives
from calc.studies.limits_cost import Relaxed
from calc.studies.near_ties import NearTies, near_ties
from calc.studies.own_machines import own_machines
from calc.studies.stricter_limits import LoadLimit, load_limit, stricter_limits, stricter_speeds

SERVED = {"work": "inference", "model": "qwen3-32b", "people": 20, "context_tokens": 8192}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "job", [SERVED, {"work": "inference", "model": "llama-3.1-8b", "users": 8}]
)
def test_tighter_limits_and_a_spare_cost_what_the_job_costs_that_is_asked_so(catalogs, job):
    answered = options(job, catalogs)
    tighter = {
        "spare": {"spare": 1},
        "first_token_seconds+token_seconds": stricter_speeds(answered.job),
    }
    priced = stricter_limits(job, answered, catalogs)
    assert {easing.name for easing in priced} <= set(tighter)
    assert "spare" in {easing.name for easing in priced}
    for easing in priced:
        assert easing.usd == pytest.approx(
            options({**job, **tighter[easing.name]}, catalogs).rows[0]["usd"]
        )
        assert easing.usd > answered.rows[0]["usd"]
    assert (
        stricter_limits(
            {"model": "llama-3.1-8b"}, options({"model": "llama-3.1-8b"}, catalogs), catalogs
        )
        == []
    )
    no_faster = {
        "work": "inference",
        "model": "llama-3.1-8b",
        "users": 1,
        "fewest_bits": 16,
        "instance": "g6.xlarge",
    }
    assert {
        easing.name for easing in stricter_limits(no_faster, options(no_faster, catalogs), catalogs)
    } == {"spare"}


def test_times_that_the_answer_meets_on_average_are_named_with_the_confidence_they_cost(catalogs):
    row = {
        "usd": 100.0,
        "time_to_first_token_seconds": 10.1,
        "time_per_output_token_seconds": 0.0492,
    }
    name, job = "first_token_seconds+token_seconds", {"confidence": "75"}
    words = {
        seconds: limit_words.against(Relaxed(name, seconds, 200.0), row, job, catalogs)
        for seconds in ((20.0, 0.05), (20.0, 0.045))
    }
    assert [*words.values()] == [
        "20 s and 50 ms at 75 % confidence: +$100",
        "20 s and 45 ms: +$100",
    ]


def test_the_answer_of_a_service_holds_up_to_the_load_at_which_it_turns(catalogs):
    answered = options(SERVED, catalogs)
    least, last = answered.rows[0], load_limit(SERVED, answered, catalogs)
    for users, usd in ((last.users, least["usd"]), (last.users + 1, last.usd)):
        assert options({**SERVED, "people": None, "users": users}, catalogs).rows[0][
            "usd"
        ] == pytest.approx(usd)
    assert last.usd > least["usd"]
    types = NearTies([least], 1, None)
    assert (
        how_sure(types, LoadLimit(4, 2000.0), Alternatives(), catalogs)
        == "The answer takes up to 4 requests in flight; from the 5th on, $2,000."
    )
    # More were not tried.
    assert (
        how_sure(types, LoadLimit(6, np.nan), Alternatives(), catalogs)
        == "The answer also takes 6 requests in flight."
    )
    tied, dear = least | {"usd": least["usd"] / 1.004}, least | {"usd": least["usd"] / 1.2}
    assert near_ties(answered).tie_ratio == 1.005
    beside = NearTies([least, tied], 2, None, tie_ratio=1.005)
    assert TIED.format("0.5 %") in how_sure(beside, None, Alternatives(), catalogs)
    behind = how_sure(beside._replace(rows=[least, dear]), None, Alternatives(), catalogs)
    assert "costs less, but its price is older." in behind
    assert "tie" not in behind
    many = NearTies([least] * 6, 7, None)
    assert how_sure(many, None, Alternatives(), catalogs).startswith("Six of them are here.")
    assert (
        load_limit(
            {"model": "llama-3.1-8b"}, options({"model": "llama-3.1-8b"}, catalogs), catalogs
        )
        is None
    )


def test_limits_that_change_the_money_by_less_than_3_percent_cost_nothing(catalogs):
    answered = options({"model": "llama-3.1-8b"}, catalogs)
    row = answered.rows[0]
    eased = [
        Relaxed("markets", "spot", row["usd"] / 2),
        Relaxed("hours_most", 336.0, row["usd"] * 0.98),
    ]
    assert limit_words.telling_limits(eased, row) == eased[:1]
    assert (
        limit_words.free_limits(eased, row, answered.job, catalogs)
        == "N. Virginia and 7 days cost nothing."
    )
    dear = [*eased, Relaxed("regions", "eu-north-1", row["usd"] * 0.9)]
    assert limit_words.free_limits(dear, row, answered.job, catalogs) == "7 days costs nothing."
    assert limit_words.against(dear[2], row, answered.job, catalogs).startswith("Stockholm: −$")
    assert limit_words.against(
        Relaxed("spare", 1, 2 * row["usd"]), row, answered.job, catalogs
    ).startswith("A spare instance: +$")
    (spot,) = [easing for easing in answered.relaxed if easing.name == "markets"]
    assert row["on_demand_as_of"] > row["spot_as_of"]
    month = date.fromisoformat(row["spot_as_of"]).strftime("%B")
    assert re.fullmatch(
        rf"Spot: −\$\d+, price of {month}( 20\d\d)?",
        limit_words.against(spot, row, answered.job, catalogs),
    )


def test_a_card_says_its_layout_or_what_it_gives_for_its_money(catalogs):
    rows = options({"model": "llama-3.1-8b"}, catalogs).rows
    least, knee, easiest = (
        next(row for row in rows if name in row["answer"])
        for name in ("least-money", "knee", "easiest")
    )
    layout = "FSDP (ZeRO 3) on 8 A100 40GB, micro-batch 2, activations recomputed."
    assert card_line(least, least, catalogs) == f"bf16 mixed with AdamW, {layout}"
    pure = {**least, "precision": "bf16", "optimizer": "adafactor"}
    assert layout_line(pure, catalogs) == f"Pure bf16 with Adafactor, {layout}"
    adapters = {**pure, "precision": "nf4-dq", "tuning": "lora"}
    assert layout_line(adapters, catalogs).startswith("NF4 with Adafactor, ")
    ratio = least["seconds"] / knee["seconds"]
    assert card_line(knee, least, catalogs).startswith(
        f"{ratio:.1f} times as fast for {100 * (knee['usd'] / least['usd'] - 1):.0f} % more"
    )
    assert "for g6e instances" in card_line(easiest, least, catalogs)
    assert (titles(least), titles(knee)) == ("Lowest cost", "Faster for a little more")
    fast = options(SERVED, catalogs).rows
    assert titles(fast[1]) == "Faster"
    assert card_line(fast[1], fast[0], catalogs).endswith("nothing in between.")
    assert (
        titles({"answer": "least-money+easiest", "why_codes": ""})
        == "Lowest cost, and easiest to get"
    )
    wide = options({**SERVED, "fewest_bits": "16"}, catalogs).rows[0]
    assert (
        in_bits_line(wide, fast[0], catalogs)
        == f"{100 * (wide['usd'] / fast[0]['usd'] - 1):.0f} % more: the weights as trained."
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (
            {"model": "llama-3.1-8b", "have": "8 x h100-80gb-sxm"},
            ["As it is", "Largest batch", "Rented instead"],
        ),
        (
            {"work": "inference", "model": "llama-3.1-8b", "have": "1 x a100-80gb-sxm"},
            ["As it is", "Most requests", "Rented instead"],
        ),
        (
            {"model": "llama-3.1-8b", "have": "1 x a100-80gb-sxm"},
            ["What would make it fit", "Rented instead"],
        ),
        ({"model": "llama-3.1-70b", "method": "qlora", "have": "1 x l4"}, ["Rented instead"]),
    ],
)
def test_ones_own_machines_as_they_are_at_their_largest_or_what_would_fit(catalogs, job, expected):
    ways = owned_cards(own_machines(job, options(job, catalogs), catalogs), catalogs)
    assert [card.title for card in ways] == expected
    for card in ways:
        row = options({**job, **card.changes}, catalogs).rows[0]
        assert (row["memory_bytes"], row["seconds"]) == (
            card.row["memory_bytes"],
            card.row["seconds"],
        )
        assert card.line.endswith(".")
        assert np.isnan(card.row["usd"]) == (card.title != "Rented instead")
        if card.title in ("Largest batch", "Most requests"):
            (name,) = [name for name, value in card.changes.items() if value]
            one_more = options({**job, **card.changes, name: card.changes[name] + 1}, catalogs)
            assert one_more.problem or one_more.rows[0]["answer"] != "fastest"
