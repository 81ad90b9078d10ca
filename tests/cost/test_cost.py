"""The bill: whole instances, missing prices, the cost of a run and of tokens, where a job may
stand, the comparison.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from examples import recorded
from hypothesis import given
from hypothesis import strategies as st

from calc import estimate
from calc.catalogs.figures import usd_per_gpu_hour
from calc.cost.machines import gpus_paid, idle_gpus, instances_needed
from calc.cost.offers import is_old, offers
from calc.cost.prices import load_deployments, prices_as_of
from calc.cost.quotas import quota_for
from calc.plan.run_length import over_concurrency
from calc.say.aws_commands import commands
from calc.table import Words

RUN = {"model": "llama-3.1-8b", "sharding": "zero3", "recompute": "full", "train_tokens": 1e9}
SERVE = {"work": "inference", "model": "llama-3.1-8b", "implementation": "vllm", "batch": 16}
SERVE |= {"sequence_tokens": 3072, "prompt_tokens": 2048}


def billed(catalogs, *scenarios):
    return estimate(pd.DataFrame(list(scenarios)), catalogs, solve=False)


@given(st.integers(1, 4096), st.sampled_from([1, 2, 4, 8]))
def test_instances_are_whole(gpus, sold):
    paid = gpus_paid(instances_needed(gpus, sold), sold)
    assert gpus <= paid < gpus + sold
    assert idle_gpus(paid, gpus) == paid - gpus


def test_prices_of_july_2026_in_us_east_1(catalogs):
    """Karpenter's price table of 2026-07-20: p5.48xlarge 55.04, p4de.24xlarge 27.44705,
    g6e.12xlarge 10.49264.
    """
    rows = (("p5.48xlarge", 8), ("p4de.24xlarge", 12), ("g6e.12xlarge", 4))
    table = billed(
        catalogs, *({**RUN, "instance": instance, "gpus": gpus} for instance, gpus in rows)
    )
    assert table["usd_per_hour_on_demand"].tolist() == pytest.approx(
        [55.04, 2 * 27.44705, 10.49264]
    )
    per = {"gpu": 6.88, "gib": 55.04 / (8 * 79.647), "pflop": 6.88 / 0.9894}
    assert [table.loc[0, f"usd_per_{unit}_hour_on_demand"] for unit in per] == pytest.approx(
        [*per.values()], rel=1e-4
    )
    assert [*table["idle_gpus"], table["vcpus_needed"][0]] == [0, 4, 0, 192]


def test_a_run_costs_its_hours(catalogs):
    table = billed(catalogs, {**RUN, "instance": "p5.48xlarge", "gpus": 8})
    failures = 1 + 8 * 1000 / (50_694 * 3600)  # of Llama 3: one in so many GPU-hours, 1,000 s each
    work = 1e9 / table["tokens_per_second"][0] / 3600
    hours = work * failures + table["start_hours"][0]
    run = {
        "run_hours": hours,
        "run_usd_on_demand": hours * 55.04,
        "usd_per_million_trained_tokens": work * 55.04 / 1000,
    }
    assert table.loc[0, list(run)].to_dict() == pytest.approx(run)
    assert table["run_low_hours"][0] < hours < table["run_high_hours"][0]


def test_a_request_costs_its_input_and_output(catalogs):
    table = billed(catalogs, {**SERVE, "instance": "g6e.xlarge"})
    first, token = table["burst_first_token_seconds"][0], 16 / table["decode_tokens_per_second"][0]
    in_turn = table["usd_per_hour_on_demand"][0] / 3600 * (first + 1024 * token) / 16
    price = table["usd_per_hour_on_demand"][0] / 3600 * 1024 / table["tokens_per_second"][0]
    made = (
        2048 * table["usd_per_million_input_tokens"][0]
        + 1024 * table["usd_per_million_output_tokens"][0]
    )
    assert made / 1e6 == pytest.approx(price)
    # A pass with a prompt in it reads the weights once for both.
    assert 0.9 * in_turn < price < in_turn


def test_input_and_output_add_up_to_the_machine_time_of_a_request(catalogs):
    """Also where the engine and the CPU take most of it: a tiny model."""
    models = [
        {"model": name} for name in ("smollm2-135m", "qwen3-0.6b", "llama-3.1-8b", "mixtral-8x7b")
    ]
    loads = (
        {"batch": 1},
        {"batch": 64},
        {"batch": 8, "prompt_tokens": 3071},
        {"batch": 8, "prompt_tokens": 8},
    )
    software = [{"implementation": name} for name in ("transformers", "vllm")]
    rows = billed(
        catalogs,
        *(
            SERVE | {"instance": "p5.48xlarge"} | a | b | c
            for a, b, c in product(models, loads, software)
        ),
    )
    generated = rows["sequence_tokens"] - rows["prompt_tokens"]
    usd = rows["usd_per_hour_on_demand"] / 3600 * generated / rows["tokens_per_second"]
    made = (
        rows["prompt_tokens"] * rows["usd_per_million_input_tokens"]
        + generated * rows["usd_per_million_output_tokens"]
    )
    assert (made / 1e6).to_numpy() == pytest.approx(usd.to_numpy(), rel=1e-9)
    assert (rows["usd_per_million_input_tokens"] > 0).all()


def test_a_missing_price_is_missing(catalogs):
    table = billed(
        catalogs,
        {**RUN, "instance": "p5e.48xlarge", "gpus": 8, "region": "us-east-2"},
        {**RUN, "gpu": "l4"},
    )
    assert table[["usd_per_hour_on_demand", "run_usd_on_demand"]].isna().all(axis=None)
    assert table["usd_per_hour_spot"][0] > 0
    assert list(table["prices_as_of"]) == [table["spot_as_of"][0], ""]


def test_a_row_without_a_price_says_so(catalogs):
    """In its note, for instances that are sold nowhere and for regions that do not sell them; not
    where any price is known.
    """
    sold = set(zip(catalogs.prices["instance"], catalogs.prices["region"], strict=True))
    pairs = [
        (instance, region)
        for instance in catalogs.instances.index
        for region in ("us-east-1", "eu-west-3")
    ]
    scenarios = pd.DataFrame(
        [{**RUN, "instance": instance, "region": region} for instance, region in pairs]
        + [{**RUN, "gpu": "l4"}]
    )
    rows = estimate(scenarios, catalogs, solve=False)
    says = np.array(
        [
            f"{row['instance']} has no price in {row['region']}, so" in row["note"]
            for _, row in rows.iterrows()
        ]
    )
    unsold, sound = (
        np.array([*(pair not in sold for pair in pairs), False]),
        rows["problem"].eq("").to_numpy(),
    )
    assert (says == unsold)[sound].all()
    assert says.any()
    assert not (says & rows["usd_per_hour_on_demand"].notna()).any()


def test_the_older_date_counts():
    def dates(*days):
        return Words(np.arange(len(days)), np.array(days, dtype=object))

    older = prices_as_of(
        dates("2026-07-20", "2026-07-20", "", ""), dates("2026-04-15", "", "2026-04-15", "")
    )
    assert older.by_row(4).tolist() == ["2026-04-15", "2026-07-20", "2026-04-15", ""]


def test_a_load_takes_whole_deployments(catalogs):
    assert load_deployments(0, 1000, 300) == 4
    assert np.isnan(load_deployments(0, 0, 300))
    table = billed(catalogs, {**SERVE, "instance": "g6e.xlarge", "served_tokens_per_second": 5000})
    assert table["load_instances"][0] == np.ceil(5000 / table["tokens_per_second"][0])
    assert (
        table["load_usd_per_month_on_demand"][0]
        == table["load_instances"][0] * table["usd_per_month_on_demand"][0]
    )


@pytest.mark.parametrize(("scenario", "sentence"), recorded("cases/places.json")["places"])
def test_where_a_job_may_stand(catalogs, scenario, sentence):
    text = billed(catalogs, scenario)["problem"][0]
    assert (sentence in text, bool(sentence)) == (True, bool(text))


def test_the_comparison_has_every_instance_once_per_region_and_scales_fractions_of_a_card(
    catalogs,
):
    table = offers(catalogs, ["us-east-1", "eu-west-1"])
    assert len(table) == 2 * len(catalogs.instances)
    assert not table.duplicated(["instance", "region"]).any()
    table["usd"] = usd_per_gpu_hour(table["on_demand_usd_per_hour"], table["whole_gpus"])
    table = table.set_index(["instance", "region"])
    assert table.loc[("p5.48xlarge", "us-east-1"), "usd"] == pytest.approx(6.88)
    eighth = table.loc["g6f.large", "us-east-1"]
    assert eighth["usd"] == pytest.approx(8 * eighth["on_demand_usd_per_hour"])
    assert np.isnan(table.loc[("p5.48xlarge", "eu-west-1"), "on_demand_usd_per_hour"])
    priced = table[table["on_demand_usd_per_hour"].notna()]
    assert is_old(priced["on_demand_as_of"], "2026-11-21").all()
    assert not is_old(priced.xs("us-east-1", level="region")["on_demand_as_of"], "2026-07-21").any()


def test_what_must_be_asked_for_has_its_code(catalogs):
    """AWS's own codes; of p6 on spot none is known, so it is to be found by name."""
    quotas = (("p5en", 0, 0), ("p4d", 0, 0), ("p5", 1, 0), ("p5", 0, 24), ("p6-b200", 0, 24))
    codes = ["L-417A185B", "L-417A185B", "L-C4BD4855", "L-DA6814F2", ""]
    assert [
        quota_for(family, catalogs, interrupted, hours).code
        for family, interrupted, hours in quotas
    ] == codes
    row = {"instance": "p5.48xlarge", "region": "us-west-2", "instances": 2.0}
    quota, offerings = commands(row, quota_for("p5", catalogs, 0, 24), 0, 24, 168)
    assert quota.endswith("--quota-code L-DA6814F2 --region us-west-2")
    assert "--instance-count 2 --capacity-duration-hours 168" in offerings
    assert "QuotaName, 'Spot'" in commands(row, quota_for("p6-b200", catalogs, 1, 0), 1, 0, 0)[0]
    assert quota_for("g6e", catalogs).name == "Running On-Demand G and VT instances"
    assert quota_for("g6e", catalogs, interrupted=1).name == "All G and VT Spot Instance Requests"
    assert quota_for("gr6", catalogs) == quota_for("g5g", catalogs)
    assert quota_for("p4de", catalogs, block_hours=24).name == "the Capacity Block quota of p4de"


ENDPOINT = {
    "endpoint_usd_per_million_input_tokens": 0.2,
    "endpoint_usd_per_million_output_tokens": 0.8,
}
SERVED = {
    "model": "llama-3.1-8b",
    "work": "inference",
    "implementation": "vllm",
    "instance": "g6e.xlarge",
    "batch": 64,
}
SERVED |= {"sequence_tokens": 1536, "prompt_tokens": 1024}


def test_own_instances_pay_off_against_an_endpoint_by_hand(catalogs):
    """1,024 + 512 tokens: each generated one brings two of the prompt, 0.8 + 2 x 0.2 = $1.20 a
    million; g6e.xlarge is $1,358.53 a month.
    """
    row = estimate(SERVED | ENDPOINT, catalogs, solve=False)
    assert row["endpoint_usd_per_million_tokens"] == pytest.approx(1.20)
    assert row["endpoint_break_even_tokens"] == pytest.approx(1.861 * 730 * 12 / 365 / 1.20e-6)
    day = row["tokens_per_second"] * 3600 * 24
    assert row["endpoint_break_even_ratio"] == pytest.approx(
        row["endpoint_break_even_tokens"] / day
    )
    prompt_alone, trained = (
        SERVED | ENDPOINT | {"prompt_tokens": 1536},
        {"model": "gpt2", "instance": "g6e.xlarge", **ENDPOINT},
    )
    for other in (SERVED | {"model": "qwen2.5-7b"}, prompt_alone, trained):
        assert np.isnan(estimate(other, catalogs, solve=False)["endpoint_break_even_tokens"]), other


def test_the_endpoint_is_the_line_to_beat(catalogs):
    table = over_concurrency(SERVED | ENDPOINT, "on-demand", catalogs)
    lines = {name: rows for name, rows in table.groupby("line")}
    assert set(lines["paid per token"]["usd"].round(9)) == {0.8}
    assert list(lines["paid per token"]["sequences"]) == list(lines["on demand"]["sequences"])
    assert set(
        over_concurrency(SERVED | {"region": "eu-central-1"}, "on-demand", catalogs)["line"]
    ) == {"on demand"}


def test_where_no_price_is_set_the_list_of_bedrock_is_the_line_to_beat(catalogs):
    """Llama 3.1 8B in us-west-2: 0.22 a million either way; two prompt tokens to a generated one
    make $0.66.
    """
    scenarios = (
        {"region": "us-west-2"},
        {"region": "us-west-2", **ENDPOINT},
        {"region": "eu-central-1"},
    )
    usd = [
        estimate(SERVED | more, catalogs, solve=False)["endpoint_usd_per_million_tokens"]
        for more in scenarios
    ]
    assert usd == pytest.approx([0.66, 1.20, np.nan], nan_ok=True)


def test_storage_is_priced_by_region_or_as_set(catalogs):
    run = {"model": "gpt2", "instance": "g5.xlarge", "train_tokens": 1e8}
    for more, usd in (
        ({"region": "us-east-1"}, 0.023),
        ({"region": "me-central-1"}, 0.025),
        ({"storage_usd_per_gib_month": 0.1}, 0.1),
    ):
        row = estimate(run | more, catalogs, solve=False)
        assert row["storage_usd_per_month"] == pytest.approx(row["stored_bytes"] / 2**30 * usd)
