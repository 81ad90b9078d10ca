"""Break-even lines and what stands beside the bill, by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from examples import billed_row as bill
from examples import recorded

from calc.plan.bill import answers_of_aws, endpoint_facts, on_markets, small_lines
from calc.plan.break_even import OWN_INSTANCES, PER_TOKEN, over_load, over_use
from views.wording import beside_the_bill as words
from views.wording import ways

RUN = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096, "train_tokens": 1.5e8}
MONTH = {"work": "inference", "model": "llama-3.1-8b", "instance": "g6e.xlarge", "implementation": "vllm", "batch": 32}
MONTH |= {"sequence_tokens": 1536, "prompt_tokens": 1024}


def test_a_block_is_a_stair_of_whole_days_beside_on_demand(catalogs):
    """p5.48xlarge: 55.04 on demand, blocks at 41.528: 6 hours cost a day, 15 days three weeks, half a year has no block.

    A block is booked to the slow end and ends half an hour early: 24 hours are no day.
    """
    row = bill(catalogs, **RUN)
    found = over_use(row, on_markets(row, catalogs)).set_index(["line", "hours"])["usd"]
    weeks = -(-336.5 * row["run_high_hours"] / row["run_hours"] // 168)
    expected = {("on demand", 6): 6 * 55.04, ("capacity block", 6): 24 * 41.528, ("capacity block", 24): 48 * 41.528}
    expected |= {("capacity block", 336): weeks * 168 * 41.528, ("capacity block", 4380): np.nan}
    assert found[list(expected)].to_dict() == pytest.approx(expected, nan_ok=True)


def test_a_plan_is_paid_whole_and_crosses_on_demand_at_its_break_even(catalogs):
    row = bill(catalogs, **MONTH, hours_per_month=200)
    markets = on_markets(row, catalogs)
    found = over_use(row, markets)
    plan = found[found["line"] == "reserved instance, standard, 1 year, no upfront"].set_index("hours")["usd"]
    on_demand = found[found["line"] == "on demand"].set_index("hours")["usd"]
    even = markets.set_index("market")["break_even_hours_per_month"]["reserved-1y-no-upfront"]
    assert plan.nunique() == 1
    assert ((plan < on_demand) == (on_demand.index > even)).all()
    assert found["now"].sum() == 1
    assert found.loc[found["now"], ["hours", "usd"]].iloc[0].tolist() == pytest.approx([200, row["usd"]])


def test_own_instances_cross_the_endpoint_where_they_pay_off(catalogs):
    row = bill(catalogs, **MONTH, endpoint_usd_per_million_input_tokens=0.2, endpoint_usd_per_million_output_tokens=2.0)
    found = over_load(row).pivot(index="tokens", columns="line", values="usd")
    even = row["endpoint_break_even_tokens"]
    can = row["tokens_per_second"] * 3600 * 730 * 12 / 365
    assert even < can
    inside = found[found.index <= can * 1.0000001]
    assert ((inside[OWN_INSTANCES] < inside[PER_TOKEN] - 1e-6) == (inside.index > even * 1.0000001)).all()
    assert found[OWN_INSTANCES].iloc[-1] == pytest.approx(5 * row["usd_per_month_on_demand"])  # five times what one can
    assert not len(over_load(bill(catalogs, **MONTH, region="eu-central-1")))


def test_small_lines_are_priced_each_by_itself(catalogs):
    """Llama 3.1 8B: a checkpoint of 89.7 GiB, three kept, 269.2 GiB; S3 0.023, gp3 0.08, FSx 1,228.8 GiB at least at 0.145."""
    found = small_lines(bill(catalogs, **RUN), catalogs).set_index("kind")
    stored = 3 * 8030261248 * 12 / 2**30
    assert found["gib"]["s3-standard"] == pytest.approx(stored)
    usd_per_gib = {"ebs-gp3": 0.08, "s3-standard": 0.023, "traffic-internet": 0.09, "traffic-zones": 0.01}
    usd = {kind: stored * price for kind, price in usd_per_gib.items()} | {"fsx-lustre-125": 1228.8 * 0.145}
    assert found["usd"].to_dict() == pytest.approx(usd)
    there = small_lines(bill(catalogs, **RUN, region="ap-south-1"), catalogs).set_index("kind")
    assert there["usd"].isna().to_dict()["traffic-internet"]
    said = {line["What"]: line["USD"] for line in words.small_lines(there.reset_index())}
    assert said["Out to the internet, once"] == "not known here"
    assert said["S3 Standard, a month"].startswith("$6")


def test_whose_price_of_a_token_it_is_is_said(catalogs):
    listed = bill(catalogs, **MONTH)
    assert endpoint_facts(listed, catalogs)["sold_as"] == "meta.llama3-1-8b-instruct-v1:0"
    assert "As Amazon Bedrock lists meta.llama3-1-8b-instruct-v1:0 in us-east-1 (2026-09-17)" in words.per_token(
        listed, endpoint_facts(listed, catalogs)
    )
    own = bill(catalogs, **MONTH, endpoint_usd_per_million_output_tokens=2.0)
    assert endpoint_facts(own, catalogs) == {}
    assert words.per_token(own, {}).startswith("At $2.00 for a million generated tokens")
    none = bill(catalogs, **MONTH, region="eu-central-1")
    assert "`make prices` reads its list" in words.per_token(none, endpoint_facts(none, catalogs))


def test_what_aws_answered_the_account_is_said_as_it_was(catalogs):
    row = bill(catalogs, **RUN)
    quota = ways.quota_of(row, catalogs)
    assert quota.code == "L-417A185B"
    assert ways.answered(answers_of_aws(row, quota.code, catalogs), quota) == [ways.NOT_ASKED]
    asked = replace(catalogs, capacity=pd.DataFrame(recorded("cases/capacity.json")["answers"], columns=list(catalogs.capacity)))
    assert ways.answered(answers_of_aws(row, quota.code, asked), quota) == [
        "Quota L-417A185B of the account: 192 vCPUs, 1 instance of this type (2026-11-21).",
        "Capacity block of one p5.48xlarge for 7 days: asked, none offered (2026-11-21).",
        "Capacity block of one p5.48xlarge, 1 day from 2026-11-24 in us-east-1a: $43.50 an hour (2026-11-21).",
        "Spot placement score of p4d.24xlarge+p5.48xlarge: AWS refused the question (AccessDenied), which is not a no (2026-11-21).",
    ]


def test_a_missing_savings_plan_is_said_where_other_commitments_are_known(catalogs):
    assert "`make prices` reads them" in ways.no_commitments(on_markets(bill(catalogs, **MONTH), catalogs))
    assert "No price of a commitment" in ways.no_commitments(on_markets(bill(catalogs, **RUN), catalogs))
