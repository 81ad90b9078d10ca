"""A change that advice offers, said in one sentence."""

from datetime import date

import numpy as np
from examples import catalogs

from calc import load_catalogs
from calc.answers.advice import advise
from calc.answers.full_answer import full_answer as options
from calc.cost.offers import days_since, price_of
from calc.say.change import effect


def test_a_change_is_said_in_one_sentence_money_first_and_per_cent_only_of_the_bill():
    base = {
        "same_work": True,
        "same_machine": True,
        "saved_gib": 0.0,
        "saved_usd_per_hour": 0.0,
        "saved_work_ratio": 0.21,
        "slowdown_ratio": 0.6,
        "usd_per_hour": 55.0,
        "usd": 42.4,
        "hours": 0.77,
        "fits": "yes",
        "quality": "",
        "loses_quality": False,
        "source": "",
        "old_price_days": 0.0,
    }
    run, service = (
        {"work": work, "fits": "yes", "tokens_total": np.nan} for work in ("training", "inference")
    )
    for row, more, words in (
        (run, {}, "$42 in 46 min, 21 % less."),
        (
            run,
            {"saved_work_ratio": -0.004, "saved_gib": 14.6},
            "14.6 GiB less on each GPU; $42 in 46 min.",
        ),
        (run, {"usd": np.nan}, "$55.00 an hour."),
        (service, {"saved_work_ratio": 0.2}, "room for 25 % more requests, for the same bill."),
        (
            service,
            {"saved_work_ratio": 0.53},
            "room for 2.1 times the requests, for the same bill.",
        ),
        (service, {"saved_usd_per_hour": 20.0}, "$42 a month, 21 % less."),
        (
            run | {"fits": "no"},
            {"saved_gib": 129.0, "slowdown_ratio": 0.98},
            "129 GiB less, 2 % faster, fits.",
        ),
        (
            run | {"fits": "no"},
            {"saved_gib": 73.0, "fits": "tight"},
            "73.0 GiB less, 67 % faster, tight: it may run out of memory.",
        ),
        (
            run | {"fits": "no"},
            {"same_machine": False, "slowdown_ratio": 0.25},
            "$42 in 46 min, 21 % less, 4.0 times as fast, fits.",
        ),
        (
            run,
            {"same_work": False, "quality": "slower", "loses_quality": True, "source": "A 2020"},
            "$42 in 46 min, 21 % less. Other training: check the quality. Slower (A 2020).",
        ),
    ):
        assert effect(base | more, row, catalogs()) == words


def test_a_change_of_market_names_the_month_of_an_old_price():
    read = load_catalogs(today="2026-11-28")
    planned = options({"work": "inference", "model": "qwen3-32b", "users": 20}, read).rows[0]
    changes = advise(planned, read)
    spot = changes[[change.get("market") == "spot" for change in changes["set"]]].iloc[0].to_dict()
    price = price_of(read, planned["instance"], planned["region"])
    assert spot["old_price_days"] == days_since(price["spot_as_of"], date(2026, 11, 28)) > 7
    assert "; price of April" in effect(spot, planned, read)
