"""Private prices and a percentage on every price, in the bill and in the ranking."""

import pytest
from examples import bill_row as bill
from examples import table
from test_bill import COMMITTED, MONTH, RUN, by_market

from calc import estimate
from calc.answers.full_answer import full_answer as options
from calc.plan.bill import lines
from calc.scenarios.inputs import inputs_by_name

PRICES = {"private_prices": "p5.48xlarge=40; g6e.xlarge=1.5"}


def test_a_private_price_stands_for_on_demand_of_its_instance_alone(catalogs):
    row = bill(catalogs, "on-demand", **MONTH, **PRICES)
    assert row["usd_per_hour_on_demand"] == 1.5
    markets = by_market(row, catalogs)
    assert (markets["usd"]["on-demand"], markets["basis"]["on-demand"]) == (730 * 1.5, "private")
    listed = by_market(bill(catalogs, "on-demand", **MONTH), catalogs)
    assert markets["usd"].drop("on-demand").tolist() == pytest.approx(
        listed["usd"].drop("on-demand").tolist(), nan_ok=True
    )
    other = bill(catalogs, "on-demand", **{**MONTH, "instance": "g6e.2xlarge"}, **PRICES)
    assert other["usd_per_hour_on_demand"] == 2.24208
    assert (
        markets["break_even_hours_per_month"][COMMITTED]
        > listed["break_even_hours_per_month"][COMMITTED]
    )


@pytest.mark.parametrize("market", ["on-demand", "spot", "capacity-block"])
@pytest.mark.parametrize("paid", [0.88, 1.19])
def test_one_percentage_acts_on_every_price_and_is_a_line_of_the_bill(catalogs, market, paid):
    listed, paid_less = (
        bill(catalogs, market, **RUN, train_tokens=5e9, **more)
        for more in ({}, {"paid_ratio": paid})
    )
    assert paid_less["usd"] == pytest.approx(paid * listed["usd"])
    table = lines(paid_less).set_index("line")["usd"]
    assert table["ratio"] == pytest.approx((paid - 1) * listed["usd"])
    assert table.drop("ratio").tolist() == pytest.approx(lines(listed)["usd"].tolist())
    assert table.sum() == pytest.approx(paid_less["usd"])


def test_answers_are_ranked_by_what_is_paid(catalogs):
    job = {"work": "inference", "model": "llama-3.1-8b", "users": 8}
    plain, less = (
        options(job | more, catalogs).answers.iloc[0] for more in ({}, {"paid_ratio": 0.5})
    )
    assert (less["instance"], less["usd"]) == (plain["instance"], pytest.approx(0.5 * plain["usd"]))
    first = options(job | {"private_prices": "g6.12xlarge=0.1"}, catalogs).answers.iloc[0]
    assert (first["instance"], first["usd_per_hour_on_demand"]) == ("g6.12xlarge", 0.1)
    assert first["usd"] == pytest.approx(730 * 0.1 * first["instances_needed"])
    again = estimate(
        {name: first[name] for name in inputs_by_name() if first[name] == first[name]},
        catalogs,
        solve=False,
    )
    assert again["usd_per_month_on_demand"] == pytest.approx(first["usd"])


@pytest.mark.parametrize("text", ["p5.49xlarge=4", "p5.48xlarge=", "p5.48xlarge=-1", "40"])
def test_a_private_price_that_cannot_be_read_is_one_sentence(catalogs, text):
    rows = table([{**MONTH, "private_prices": text}, MONTH])
    assert rows["problem"][0].startswith("private_prices ")
    assert rows["problem"][1] == ""
    assert (
        options({"model": "gpt2", "private_prices": text}, catalogs).problem == rows["problem"][0]
    )
