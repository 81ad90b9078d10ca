"""The bill of a row: its lines sum to it, every market is counted as it bills; break-even lines,
and what stands beside it, by hand.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from examples import bill_row as bill
from examples import recorded

from calc.answers.advice import advise
from calc.answers.full_answer import full_answer as options
from calc.cost.markets import BY_USE
from calc.cost.markets import COMMITTED as COMMITMENTS
from calc.files.csv import tables as csv_tables
from calc.files.csv.earlier import earlier
from calc.plan.bill import (
    answers_of_aws,
    endpoint_facts,
    lines,
    on_markets,
    provisioned_gib,
    row_per_market,
    small_lines,
)
from calc.plan.break_even import OWN_INSTANCES, PER_TOKEN, over_load, over_use
from views.compare_and_bill import prices, quota, usage


def by_market(row, catalogs):
    return on_markets(row, catalogs).set_index("market")


RUN = {
    "model": "llama-3.1-8b",
    "instance": "p5.48xlarge",
    "gpus": 8,
    "sharding": "zero3",
    "sequence_tokens": 4096,
}
MONTH = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "instance": "g6e.xlarge",
    "implementation": "vllm",
    "batch": 8,
}


@pytest.mark.parametrize("market", ["on-demand", "spot", "capacity-block"])
@pytest.mark.parametrize("tokens", [1.5e8, 5e9, 3e11])
def test_the_lines_of_a_run_sum_to_its_bill(market, tokens, catalogs):
    row = bill(catalogs, market, **RUN, train_tokens=tokens)
    parts = lines(row)
    assert parts["usd"].sum() == pytest.approx(row["usd"])
    assert parts["gpu_hours"].sum() == pytest.approx(row["billed_gpu_hours"])
    assert (parts["hours"] > 0).all()
    named = {
        "on-demand": [],
        "spot": ["checkpoint", "lost_work", "restart"],
        "capacity-block": ["unused"],
    }
    assert list(parts["line"]) == ["work", "start", *named[market]]
    uncounted = lines(bill(catalogs, market, **RUN, train_tokens=tokens, start_seconds=0))
    assert list(uncounted["line"]) == ["work", *named[market]]


def test_a_month_is_one_line_and_has_one_end(catalogs):
    row = bill(catalogs, "on-demand", **MONTH, hours_per_month=200)
    assert lines(row)[["line", "hours", "usd"]].to_numpy().tolist() == [
        ["work", 200, pytest.approx(row["usd_per_month_on_demand"])]
    ]
    priced = on_markets(row, catalogs).dropna(subset="usd")
    assert priced["low_usd"].tolist() == priced["high_usd"].tolist() == priced["usd"].tolist()


def test_every_market_is_counted_as_it_bills(catalogs):
    row = bill(catalogs, "on-demand", **RUN, train_tokens=1.5e8)
    markets = by_market(row, catalogs)
    # No commitment of a p5 has a price.
    assert list(markets.index) == [name for name in BY_USE if name != "sagemaker-hosting"]
    assert markets["usd"]["sagemaker-training"] == pytest.approx(1.15 * markets["usd"]["on-demand"])
    assert markets["basis"]["sagemaker-training"] == "derived"
    usd = {"on-demand": row["run_usd_on_demand"], "spot": row["run_usd_spot"]}
    assert markets["usd"][list(usd)].to_dict() == pytest.approx(usd)
    assert markets["billed_hours"]["capacity-block"] == 24
    ends = [row[f"run_{end}_hours"] * row["usd_per_hour"] for end in ("low", "high")]
    assert markets.loc["on-demand", ["low_usd", "high_usd"]].tolist() == pytest.approx(ends)
    priced = markets["usd"].notna()
    assert priced.equals(markets["basis"] != "")
    assert priced.equals(markets["as_of"] != "")


def test_a_card_alone_has_no_price(catalogs):
    markets = on_markets(
        bill(catalogs, "on-demand", model="llama-3.2-1b", gpu="h100-80gb-sxm", train_tokens=1e8),
        catalogs,
    )
    assert markets["usd"].isna().all()
    assert set(markets["basis"]) == {""}


COMMITTED = "reserved-1y-no-upfront"


def test_a_commitment_says_what_is_signed_and_from_which_use_on_it_pays(catalogs):
    """g6e.xlarge in us-east-1: 1.861 on demand, 1.17243 reserved for a year; all of it worked by
    hand.
    """
    row = bill(catalogs, "on-demand", **MONTH, hours_per_month=200)
    markets = by_market(row, catalogs).loc[COMMITTED]
    hourly = catalogs.prices.set_index(["instance", "region"]).loc[
        ("g6e.xlarge", "us-east-1"), "reserved_1y_no_upfront_usd_per_hour"
    ]
    # Every hour of the month, though 200 are used.
    assert markets["usd"] == pytest.approx(730 * hourly)
    assert (markets["billed_hours"], markets["committed_hours"]) == (730, 8760)
    assert markets["committed_usd"] == pytest.approx(8760 * hourly)
    assert markets["break_even_hours_per_month"] == pytest.approx(730 * hourly / 1.861)
    assert (markets["as_of"], markets["basis"]) == ("2026-01-21", "published")
    at_break_even = bill(
        catalogs, "on-demand", **MONTH, hours_per_month=markets["break_even_hours_per_month"]
    )
    assert at_break_even["usd"] == pytest.approx(markets["usd"])


def test_a_run_on_a_commitment_pays_the_whole_term_and_on_a_block_its_days(catalogs):
    row = bill(catalogs, COMMITTED, model="gpt2", instance="g6e.xlarge", train_tokens=1e8)
    assert row["hours"] < 24
    assert lines(row)["line"].tolist() == ["work", "start", "unused"]
    assert [row["usd"], lines(row)["usd"].sum()] == pytest.approx([8760 * row["usd_per_hour"]] * 2)
    markets = by_market(bill(catalogs, "on-demand", **RUN, train_tokens=1.5e8), catalogs).loc[
        "capacity-block"
    ]
    assert (markets["committed_hours"], markets["committed_usd"]) == (24, markets["usd"])
    assert (
        on_markets(bill(catalogs, "spot", **RUN, train_tokens=1.5e8), catalogs)["committed_usd"]
        .notna()
        .sum()
        == 1
    )


def test_the_cheapest_commitment_of_a_term_is_one_of_them_and_every_way_to_pay_is_read_again(
    catalogs,
):
    row = bill(catalogs, "commit-1y", **MONTH)
    markets = by_market(row, catalogs)
    assert markets["usd"]["commit-1y"] == markets["usd"][COMMITTED] == row["usd"]
    assert markets["source"]["commit-1y"] == markets["source"][COMMITTED]
    row = bill(catalogs, "on-demand", **MONTH)
    again = earlier(
        csv_tables.read_csv(csv_tables.to_csv(row_per_market(row, on_markets(row, catalogs)))),
        "ways.csv",
        catalogs,
        solve=False,
    )
    assert (again.complaints, again.unread) == ([], [])
    assert again.rows["usd"].tolist() == pytest.approx(
        by_market(row, catalogs)["usd"].tolist(), nan_ok=True
    )


def test_sagemaker_is_sold_for_its_own_work_and_a_block_for_no_service(catalogs):
    job = {"model": "llama-3.1-8b", "work": "inference", "instance": "g6.12xlarge"}
    hosted = options(job | {"markets": "sagemaker-hosting"}, catalogs).answers.iloc[0]
    rented = options(job | {"gpus": int(hosted["gpus"])}, catalogs).answers.iloc[0]
    assert hosted["usd"] / hosted["instances_needed"] == pytest.approx(
        1.25 * rented["usd"] / rented["instances_needed"]
    )
    assert options(job | {"markets": "sagemaker-training"}, catalogs).problem.startswith(
        "SageMaker training is not sold for a service"
    )
    assert options(job | {"markets": "capacity-block"}, catalogs).problem.startswith(
        "Capacity block is not sold for a service"
    )
    with_both = options(
        job | {"markets": "on-demand+sagemaker-training+sagemaker-hosting"}, catalogs
    )
    assert set(with_both.board["market"]) == {"on-demand", "sagemaker-hosting"}


def test_a_commitment_is_ranked_only_if_the_job_names_it_and_advice_keeps_private_prices(
    catalogs,
):
    job = {"work": "inference", "model": "llama-3.1-8b", "users": 8}
    assert set(options(job, catalogs).board["market"]) == {"on-demand"}
    first = options(job | {"markets": f"on-demand+{COMMITTED}"}, catalogs).answers.iloc[0].to_dict()
    assert first["market"] == COMMITTED
    assert not {change.get("market") for change in advise(first, catalogs)["set"]} & {*COMMITMENTS}
    changes = advise(
        bill(catalogs, "on-demand", **MONTH, private_prices="g6e.xlarge=0.01"), catalogs
    )
    assert (
        changes[changes["kind"] == "instance"]["usd_per_hour"].min() > 0.1
        or not (changes["kind"] == "instance").any()
    )


SHORT_RUN = RUN | {"train_tokens": 1.5e8}
LOADED = MONTH | {"batch": 32, "sequence_tokens": 1536, "prompt_tokens": 1024}


def test_a_block_is_a_stair_of_whole_days_beside_on_demand(catalogs):
    """p5.48xlarge: 55.04 on demand, blocks at 41.528: 6 hours cost a day, 15 days three weeks, half
    a year has no block.

    A block is booked to the slow end and ends half an hour early: 24 hours are no day.
    """
    row = bill(catalogs, **SHORT_RUN)
    lines_over_use = over_use(row, on_markets(row, catalogs)).set_index(["line", "hours"])["usd"]
    weeks = -(-336.5 * row["run_high_hours"] / row["run_hours"] // 168)
    expected = {
        ("on demand", 6): 6 * 55.04,
        ("capacity block", 6): 24 * 41.528,
        ("capacity block", 24): 48 * 41.528,
    }
    expected |= {("capacity block", 336): weeks * 168 * 41.528, ("capacity block", 4380): np.nan}
    assert lines_over_use[list(expected)].to_dict() == pytest.approx(expected, nan_ok=True)


def test_a_plan_is_paid_whole_and_crosses_on_demand_at_its_break_even(catalogs):
    row = bill(catalogs, **LOADED, hours_per_month=200)
    markets = on_markets(row, catalogs)
    lines_over_use = over_use(row, markets)
    plan = lines_over_use[
        lines_over_use["line"] == "reserved instance, standard, 1 year, no upfront"
    ].set_index("hours")["usd"]
    on_demand = lines_over_use[lines_over_use["line"] == "on demand"].set_index("hours")["usd"]
    even = markets.set_index("market")["break_even_hours_per_month"]["reserved-1y-no-upfront"]
    assert plan.nunique() == 1
    assert ((plan < on_demand) == (on_demand.index > even)).all()
    assert lines_over_use["now"].sum() == 1
    assert lines_over_use.loc[lines_over_use["now"], ["hours", "usd"]].iloc[
        0
    ].tolist() == pytest.approx([200, row["usd"]])


def test_own_instances_cross_the_endpoint_where_they_pay_off(catalogs):
    row = bill(
        catalogs,
        **LOADED,
        endpoint_usd_per_million_input_tokens=0.2,
        endpoint_usd_per_million_output_tokens=2.0,
    )
    costs = over_load(row).pivot(index="tokens", columns="line", values="usd")
    even = row["endpoint_break_even_tokens"]
    can = row["tokens_per_second"] * 3600 * 730 * 12 / 365
    assert even < can
    inside = costs[costs.index <= can * 1.0000001]
    assert (
        (inside[OWN_INSTANCES] < inside[PER_TOKEN] - 1e-6) == (inside.index > even * 1.0000001)
    ).all()
    # Five times what one can.
    assert costs[OWN_INSTANCES].iloc[-1] == pytest.approx(5 * row["usd_per_month_on_demand"])
    assert not len(over_load(bill(catalogs, **LOADED, region="eu-central-1")))


def test_small_lines_are_priced_each_by_itself(catalogs):
    """Llama 3.1 8B: a checkpoint of 89.7 GiB, three kept, 269.2 GiB; S3 0.023, gp3 0.08, FSx 1,200
    GiB at least at 0.145.
    """
    stored_lines = small_lines(bill(catalogs, **SHORT_RUN), catalogs).set_index("kind")
    stored = 3 * 8030261248 * 12 / 2**30
    assert stored_lines["gib"]["s3-standard"] == pytest.approx(stored)
    usd_per_gib = {
        "ebs-gp3": 0.08,
        "s3-standard": 0.023,
        "traffic-internet": 0.09,
        "traffic-zones": 0.01,
    }
    usd = {kind: stored * price for kind, price in usd_per_gib.items()} | {
        "fsx-lustre-125": 1200 * 0.145
    }
    assert stored_lines["usd"].to_dict() == pytest.approx(usd)
    there = small_lines(bill(catalogs, **SHORT_RUN, region="ap-south-1"), catalogs).set_index(
        "kind"
    )
    assert there["usd"].isna().to_dict()["traffic-internet"]
    written = {line["What"]: line["USD"] for line in prices.small_lines(there.reset_index())}
    assert (written["Out to the internet, once"], written["S3 Standard, a month"][:2]) == (
        "not known here",
        "$6",
    )


def test_storage_is_paid_in_the_sizes_that_it_is_sold_in():
    """FSx API Reference, CreateFileSystem: 1200 GiB, 2400 GiB, and increments of 2400 GiB; others
    in any size.
    """
    least, step = pd.Series([1200.0, 0.0]), pd.Series([2400.0, 0.0])
    sizes = {
        stored: provisioned_gib(stored, least, step).tolist()
        for stored in (10.0, 1200.0, 1201.0, 2400.0, 2401.0, 9600.5)
    }
    assert [lustre for lustre, _ in sizes.values()] == [1200, 1200, 2400, 2400, 4800, 12000]
    assert [s3 for _, s3 in sizes.values()] == list(sizes)


def test_whose_price_of_a_token_it_is_is_said(catalogs):
    listed = bill(catalogs, **LOADED)
    assert endpoint_facts(listed, catalogs)["sold_as"] == "meta.llama3-1-8b-instruct-v1:0"
    sentence = usage.per_token(listed, endpoint_facts(listed, catalogs), catalogs)
    assert (
        "As Amazon Bedrock lists meta.llama3-1-8b-instruct-v1:0 in N. Virginia (2026-09-17)"
        in sentence
    )
    private = bill(catalogs, **LOADED, endpoint_usd_per_million_output_tokens=2.0)
    assert endpoint_facts(private, catalogs) == {}
    assert usage.per_token(private, {}, catalogs).startswith(
        "At $2.00 for a million generated tokens"
    )
    none = bill(catalogs, **LOADED, region="eu-central-1")
    assert "The command make prices reads its list" in usage.per_token(
        none, endpoint_facts(none, catalogs), catalogs
    )


def test_what_aws_answered_the_account_is_said_as_it_was(catalogs):
    row = bill(catalogs, **SHORT_RUN)
    needed = quota.quota_of(row, catalogs)
    assert needed.code == "L-417A185B"
    assert quota.answer_sentences(answers_of_aws(row, needed.code, catalogs), needed) == [
        quota.TEXTS["not_asked"]
    ]
    answered = replace(
        catalogs,
        capacity=pd.DataFrame(
            recorded("cases/capacity.json")["answers"], columns=list(catalogs.capacity)
        ),
    )
    assert (
        quota.answer_sentences(answers_of_aws(row, needed.code, answered), needed)
        == recorded("cases/capacity.json")["sentences"]
    )


def test_a_missing_savings_plan_is_said_where_other_commitments_are_known(catalogs):
    assert "`make prices` reads them" in prices.no_commitments(
        on_markets(bill(catalogs, **LOADED), catalogs)
    )
    assert "No price of a commitment" in prices.no_commitments(
        on_markets(bill(catalogs, **SHORT_RUN), catalogs)
    )
