"""The bill of a row: its lines sum to it, its ends are those of the time, every market is counted as it bills."""

import pytest
from examples import table

from calc.cost.markets import MARKETS
from calc.plan.bill import lines, on_markets
from calc.plan.compare import billed

RUN = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096}
MONTH = {"work": "inference", "model": "llama-3.1-8b", "instance": "g6e.xlarge", "implementation": "vllm", "batch": 8}


def bill(catalogs, market, **scenario):
    row = billed(table([scenario]).assign(market=market), catalogs).iloc[0].to_dict()
    assert row["problem"] == ""
    return row


@pytest.mark.parametrize("market", ["on-demand", "spot", "capacity-block"])
@pytest.mark.parametrize("tokens", [1.5e8, 5e9, 3e11])
def test_the_lines_of_a_run_sum_to_its_bill(market, tokens, catalogs):
    row = bill(catalogs, market, **RUN, train_tokens=tokens)
    found = lines(row)
    assert found["usd"].sum() == pytest.approx(row["usd"])
    assert (found["hours"] > 0).all()
    named = {"on-demand": ["work"], "spot": ["work", "checkpoint", "lost_work", "restart"], "capacity-block": ["work", "unused"]}
    assert list(found["line"]) == named[market]


def test_a_month_is_one_line(catalogs):
    row = bill(catalogs, "on-demand", **MONTH, hours_per_month=200)
    assert lines(row)[["line", "hours"]].to_numpy().tolist() == [["work", 200]]
    assert lines(row)["usd"].tolist() == pytest.approx([row["usd_per_month_on_demand"]])


def test_every_market_is_counted_as_it_bills(catalogs):
    row = bill(catalogs, "on-demand", **RUN, train_tokens=1.5e8)
    found = on_markets(row, catalogs).set_index("market")
    assert list(found.index) == list(MARKETS)
    assert found["usd"]["on-demand"] == pytest.approx(row["run_usd_on_demand"])
    assert found["usd"]["spot"] == pytest.approx(row["run_usd_spot"])
    assert found["billed_hours"]["capacity-block"] == 24
    assert found["low_usd"]["on-demand"] == pytest.approx(row["run_low_hours"] * row["usd_per_hour"])
    assert found["high_usd"]["on-demand"] == pytest.approx(row["run_high_hours"] * row["usd_per_hour"])
    priced = found["usd"].notna()
    assert priced.equals(found["basis"] != "")
    assert priced.equals(found["as_of"] != "")


def test_a_month_has_one_end(catalogs):
    found = on_markets(bill(catalogs, "on-demand", **MONTH), catalogs)
    known = found[found["usd"].notna()]
    assert known["low_usd"].tolist() == known["high_usd"].tolist() == known["usd"].tolist()


def test_a_card_alone_has_no_price(catalogs):
    row = bill(catalogs, "on-demand", model="llama-3.2-1b", gpu="h100-80gb-sxm", train_tokens=1e8)
    found = on_markets(row, catalogs)
    assert found["usd"].isna().all()
    assert set(found["basis"]) == {""}
