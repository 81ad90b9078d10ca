"""The bill of a row: its lines sum to it, its ends are those of the time, every market is counted as it bills."""

import pytest
from examples import billed_row as bill
from examples import table

from calc import estimate
from calc.cost.markets import BY_USE
from calc.cost.markets import COMMITTED as COMMITMENTS
from calc.files.csv import tables as csv_tables
from calc.files.csv.earlier import earlier
from calc.plan.bill import as_rows, lines, on_markets
from calc.scenarios.inputs import inputs_by_name
from calc.search.advice import advise
from calc.search.options import options


def ways(row, catalogs):
    return on_markets(row, catalogs).set_index("market")


RUN = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096}
MONTH = {"work": "inference", "model": "llama-3.1-8b", "instance": "g6e.xlarge", "implementation": "vllm", "batch": 8}


@pytest.mark.parametrize("market", ["on-demand", "spot", "capacity-block"])
@pytest.mark.parametrize("tokens", [1.5e8, 5e9, 3e11])
def test_the_lines_of_a_run_sum_to_its_bill(market, tokens, catalogs):
    row = bill(catalogs, market, **RUN, train_tokens=tokens)
    found = lines(row)
    assert found["usd"].sum() == pytest.approx(row["usd"])
    assert (found["hours"] > 0).all()
    named = {"on-demand": [], "spot": ["checkpoint", "lost_work", "restart"], "capacity-block": ["unused"]}
    assert list(found["line"]) == ["work", "start", *named[market]]
    uncounted = lines(bill(catalogs, market, **RUN, train_tokens=tokens, start_seconds=0))
    assert list(uncounted["line"]) == ["work", *named[market]]


def test_a_month_is_one_line_and_has_one_end(catalogs):
    row = bill(catalogs, "on-demand", **MONTH, hours_per_month=200)
    assert lines(row)[["line", "hours", "usd"]].to_numpy().tolist() == [["work", 200, pytest.approx(row["usd_per_month_on_demand"])]]
    known = on_markets(row, catalogs).dropna(subset="usd")
    assert known["low_usd"].tolist() == known["high_usd"].tolist() == known["usd"].tolist()


def test_every_market_is_counted_as_it_bills(catalogs):
    row = bill(catalogs, "on-demand", **RUN, train_tokens=1.5e8)
    found = ways(row, catalogs)
    assert list(found.index) == [name for name in BY_USE if name != "sagemaker-hosting"]  # no commitment of a p5 has a price
    assert found["usd"]["sagemaker-training"] == pytest.approx(1.15 * found["usd"]["on-demand"])
    assert found["basis"]["sagemaker-training"] == "derived"
    usd = {"on-demand": row["run_usd_on_demand"], "spot": row["run_usd_spot"]}
    assert found["usd"][list(usd)].to_dict() == pytest.approx(usd)
    assert found["billed_hours"]["capacity-block"] == 24
    ends = [row[f"run_{end}_hours"] * row["usd_per_hour"] for end in ("low", "high")]
    assert found.loc["on-demand", ["low_usd", "high_usd"]].tolist() == pytest.approx(ends)
    priced = found["usd"].notna()
    assert priced.equals(found["basis"] != "")
    assert priced.equals(found["as_of"] != "")


def test_a_card_alone_has_no_price(catalogs):
    found = on_markets(bill(catalogs, "on-demand", model="llama-3.2-1b", gpu="h100-80gb-sxm", train_tokens=1e8), catalogs)
    assert found["usd"].isna().all()
    assert set(found["basis"]) == {""}


COMMITTED = "reserved-1y-no-upfront"


def test_a_commitment_says_what_is_signed_and_from_which_use_on_it_pays(catalogs):
    """g6e.xlarge in us-east-1: 1.861 on demand, 1.17243 reserved for a year; all of it worked by hand."""
    row = bill(catalogs, "on-demand", **MONTH, hours_per_month=200)
    found = ways(row, catalogs).loc[COMMITTED]
    hourly = catalogs.prices.set_index(["instance", "region"]).loc[("g6e.xlarge", "us-east-1"), "reserved_1y_no_upfront_usd_per_hour"]
    assert found["usd"] == pytest.approx(730 * hourly)  # every hour of the month, though 200 are used
    assert (found["billed_hours"], found["committed_hours"]) == (730, 8760)
    assert found["committed_usd"] == pytest.approx(8760 * hourly)
    assert found["break_even_hours_per_month"] == pytest.approx(730 * hourly / 1.861)
    assert (found["as_of"], found["basis"]) == ("2026-01-21", "published")
    at_break_even = bill(catalogs, "on-demand", **MONTH, hours_per_month=found["break_even_hours_per_month"])
    assert at_break_even["usd"] == pytest.approx(found["usd"])


def test_a_run_on_a_commitment_pays_the_whole_term_and_on_a_block_its_days(catalogs):
    row = bill(catalogs, COMMITTED, model="gpt2", instance="g6e.xlarge", train_tokens=1e8)
    assert row["hours"] < 24
    assert lines(row)["line"].tolist() == ["work", "start", "unused"]
    assert [row["usd"], lines(row)["usd"].sum()] == pytest.approx([8760 * row["usd_per_hour"]] * 2)
    found = ways(bill(catalogs, "on-demand", **RUN, train_tokens=1.5e8), catalogs).loc["capacity-block"]
    assert (found["committed_hours"], found["committed_usd"]) == (24, found["usd"])
    assert on_markets(bill(catalogs, "spot", **RUN, train_tokens=1.5e8), catalogs)["committed_usd"].notna().sum() == 1


PRICES = {"private_prices": "p5.48xlarge=40; g6e.xlarge=1.5"}


def test_a_private_price_stands_for_on_demand_of_its_instance_alone(catalogs):
    row = bill(catalogs, "on-demand", **MONTH, **PRICES)
    assert row["usd_per_hour_on_demand"] == 1.5
    found = ways(row, catalogs)
    assert (found["usd"]["on-demand"], found["basis"]["on-demand"]) == (730 * 1.5, "private")
    listed = ways(bill(catalogs, "on-demand", **MONTH), catalogs)
    assert found["usd"].drop("on-demand").tolist() == pytest.approx(listed["usd"].drop("on-demand").tolist(), nan_ok=True)
    other = bill(catalogs, "on-demand", **{**MONTH, "instance": "g6e.2xlarge"}, **PRICES)
    assert other["usd_per_hour_on_demand"] == 2.24208
    assert found["break_even_hours_per_month"][COMMITTED] > listed["break_even_hours_per_month"][COMMITTED]


@pytest.mark.parametrize("market", ["on-demand", "spot", "capacity-block"])
@pytest.mark.parametrize("paid", [0.88, 1.19])
def test_one_percentage_acts_on_every_price_and_is_a_line_of_the_bill(catalogs, market, paid):
    listed, own = (bill(catalogs, market, **RUN, train_tokens=5e9, **more) for more in ({}, {"paid_ratio": paid}))
    assert own["usd"] == pytest.approx(paid * listed["usd"])
    table = lines(own).set_index("line")["usd"]
    assert table["ratio"] == pytest.approx((paid - 1) * listed["usd"])
    assert table.drop("ratio").tolist() == pytest.approx(lines(listed)["usd"].tolist())
    assert table.sum() == pytest.approx(own["usd"])


def test_answers_are_ranked_by_what_is_paid(catalogs):
    job = {"work": "inference", "model": "llama-3.1-8b", "users": 8}
    plain, less = (options(job | more, catalogs).answers.iloc[0] for more in ({}, {"paid_ratio": 0.5}))
    assert (less["instance"], less["usd"]) == (plain["instance"], pytest.approx(0.5 * plain["usd"]))
    own = options(job | {"private_prices": "g6.12xlarge=0.1"}, catalogs)
    first = own.answers.iloc[0]
    assert (first["instance"], first["usd_per_hour_on_demand"]) == ("g6.12xlarge", 0.1)
    assert first["usd"] == pytest.approx(730 * 0.1 * first["instances_needed"])
    again = estimate({name: first[name] for name in inputs_by_name() if first[name] == first[name]}, catalogs, solve=False)
    assert again["usd_per_month_on_demand"] == pytest.approx(first["usd"])


@pytest.mark.parametrize("text", ["p5.49xlarge=4", "p5.48xlarge=", "p5.48xlarge=-1", "40"])
def test_a_private_price_that_cannot_be_read_is_one_sentence(catalogs, text):
    rows = table([{**MONTH, "private_prices": text}, MONTH])
    assert rows["problem"][0].startswith("private_prices ")
    assert rows["problem"][1] == ""
    assert options({"model": "gpt2", "private_prices": text}, catalogs).problem == rows["problem"][0]


def test_the_cheapest_commitment_of_a_term_is_one_of_them_and_every_way_to_pay_is_read_again(catalogs):
    row = bill(catalogs, "commit-1y", **MONTH)
    found = ways(row, catalogs)
    assert found["usd"]["commit-1y"] == found["usd"][COMMITTED] == row["usd"]
    assert found["source"]["commit-1y"] == found["source"][COMMITTED]
    row = bill(catalogs, "on-demand", **MONTH)
    again = earlier(csv_tables.read_csv(csv_tables.to_csv(as_rows(row, on_markets(row, catalogs)))), "ways.csv", catalogs, solve=False)
    assert (again.complaints, again.unread) == ([], [])
    assert again.rows["usd"].tolist() == pytest.approx(ways(row, catalogs)["usd"].tolist(), nan_ok=True)


def test_sagemaker_is_sold_for_its_own_work(catalogs):
    job = {"model": "llama-3.1-8b", "work": "inference", "instance": "g6.12xlarge"}
    hosted = options(job | {"markets": "sagemaker-hosting"}, catalogs).answers.iloc[0]
    rented = options(job | {"gpus": int(hosted["gpus"])}, catalogs).answers.iloc[0]
    assert hosted["usd"] / hosted["instances_needed"] == pytest.approx(1.25 * rented["usd"] / rented["instances_needed"])
    assert options(job | {"markets": "sagemaker-training"}, catalogs).problem.startswith("SageMaker training is not sold for a service")
    with_both = options(job | {"markets": "on-demand+sagemaker-training+sagemaker-hosting"}, catalogs)
    assert set(with_both.board["market"]) == {"on-demand", "sagemaker-hosting"}


def test_a_commitment_is_ranked_only_where_the_job_names_it_and_advice_moves_none_and_no_private_price(catalogs):
    job = {"work": "inference", "model": "llama-3.1-8b", "users": 8}
    assert set(options(job, catalogs).board["market"]) == {"on-demand"}
    first = options(job | {"markets": f"on-demand+{COMMITTED}"}, catalogs).answers.iloc[0].to_dict()
    assert first["market"] == COMMITTED
    assert not {change.get("market") for change in advise(first, catalogs)["set"]} & {*COMMITMENTS}
    changes = advise(bill(catalogs, "on-demand", **MONTH, private_prices="g6e.xlarge=0.01"), catalogs)
    assert changes[changes["kind"] == "instance"]["usd_per_hour"].min() > 0.1 or not (changes["kind"] == "instance").any()
