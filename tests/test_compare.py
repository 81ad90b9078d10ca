"""Rows side by side: the parts of a difference sum to it, the other way round they change sign, and the cause is the one made."""

import itertools

import pytest
from examples import recorded, table

from calc.columns import COMPONENTS
from calc.plan import bill
from calc.search import compare

RUN = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3", "sequence_tokens": 4096, "train_tokens": 1e9}
SERVE = {"work": "inference", "model": "qwen2.5-32b", "implementation": "vllm", "sequence_tokens": 8192, "prompt_tokens": 6000}
TRAINED, SERVED = recorded("cases/compare.json").values()


def beside(catalogs, rows, same, market="on-demand"):
    """Billed rows as dicts."""
    return billed(catalogs, rows, same, market).to_dict("records")


def billed(catalogs, rows, same, market="on-demand"):
    found = table(rows, **same)
    assert set(found["problem"]) == {""}
    return bill.billed(found.assign(market=market), catalogs)


@pytest.fixture(scope="module")
def rows(catalogs):
    trained = beside(catalogs, TRAINED, RUN) + beside(catalogs, TRAINED[:3], RUN, "spot")
    return trained + beside(catalogs, SERVED, SERVE) + beside(catalogs, SERVED[:1], SERVE, "sagemaker-hosting")


def test_the_parts_of_a_difference_sum_to_it(rows):
    for first, other in itertools.permutations(rows, 2):
        for name, difference in compare.differences(first, other).items():
            assert difference.change == other[name] - first[name]
            assert sum(difference.parts.values()) == pytest.approx(difference.change, rel=1e-9, abs=1e-6 * first[name])


def test_the_other_way_round_every_part_changes_its_sign(rows):
    for first, other in itertools.combinations(rows, 2):
        there, back = compare.differences(first, other), compare.differences(other, first)
        for name, difference in there.items():
            assert {cause: -part for cause, part in back[name].parts.items()} == pytest.approx(difference.parts, rel=1e-9, abs=1e-9)


def test_a_row_beside_itself_differs_in_nothing(rows):
    for row in rows:
        for difference in compare.differences(row, row).values():
            assert (difference.change, difference.cause) == (0, "")
            assert set(difference.parts.values()) <= {0.0}


def test_memory_is_made_of_the_components_and_the_cause_is_the_one_that_was_changed(catalogs):
    first, *others = beside(catalogs, TRAINED, RUN)
    found = [compare.differences(first, other)["memory_bytes"] for other in others]
    assert all(list(difference.parts) == list(COMPONENTS) for difference in found)
    assert found[0].cause == "optimizer_bytes"
    assert found[0].change < 0
    assert found[2].cause == "activations_bytes"


def test_money_and_time_name_what_makes_them(catalogs):
    plain, _, twice, _, longer, *_ = beside(catalogs, TRAINED, RUN)
    spot, *_ = beside(catalogs, TRAINED[:1], RUN, "spot")
    hourly = compare.differences(plain, twice)["usd_per_hour"]
    assert hourly.cause == "instances"
    assert hourly.parts["price"] == 0
    assert hourly.change == pytest.approx(plain["usd_per_hour"])
    assert compare.differences(plain, twice)["hours"].cause == "speed"
    run = compare.differences(plain, longer)["usd"]
    assert run.cause == "train_tokens"
    assert run.change == pytest.approx(plain["run_usd_on_demand"] - plain["start_hours"] * plain["usd_per_hour"])  # starting is paid once
    cheaper = compare.differences(plain, spot)["usd"]
    assert cheaper.cause == "price"
    assert cheaper.parts["interruptions"] > 0
    assert compare.differences(plain, twice)["usd"].against in ("speed", "instances")
    assert compare.differences(plain, longer)["usd"].against == ""
    assert spot["usd"] == pytest.approx(spot["run_usd_spot"])


def test_a_month_is_compared_with_a_month_and_not_with_a_run(catalogs, rows):
    served, *others = beside(catalogs, SERVED, SERVE)
    assert set(compare.differences(rows[0], served)) == {"memory_bytes", "usd_per_hour"}
    assert compare.differences(others[1], others[2])["usd"].cause == "hours_per_month"
    assert compare.differences(others[1], others[3])["usd"].cause == "instances"
    assert served["usd"] == pytest.approx(served["usd_per_month_on_demand"])


def test_a_row_without_a_price_has_no_parts(catalogs):
    first, other = beside(catalogs, ({}, {"instance": "", "gpu": "h100-80gb-sxm"}), RUN)
    found = compare.differences(first, other)
    assert found["usd"].parts == {}
    assert found["usd"].cause == ""
    assert found["memory_bytes"].change == 0


def test_choices_that_differ_come_first_and_in_words(catalogs):
    found = compare.choices(billed(catalogs, TRAINED[:3], RUN), catalogs)
    differing = found[found["differs"]]
    assert list(differing["choice"]) == ["instances_needed", "gpus", "optimizer"]
    assert list(differing[1]) == ["1", "8", "AdamW 8-bit"]
    assert found["differs"].is_monotonic_decreasing
    assert not {"kv_precision", "lora_rank", "restart_seconds", "decoder_tokens"} & set(found["choice"])


def test_what_a_kind_of_work_never_reads_is_empty(catalogs):
    both = [{**RUN, "work": "training"}, {**SERVE, **SERVED[0]}]
    found = compare.choices(bill.billed(table(both).assign(market="on-demand"), catalogs), catalogs).set_index("choice")
    assert found.loc["optimizer", [0, 1]].tolist() == ["AdamW", ""]
    assert found.loc["prompt_tokens", [0, 1]].tolist() == ["", "6,000"]
    assert found.loc["batch", "label"] == "Micro-batch"


def test_an_assumption_is_named_where_it_differs(catalogs):
    found = compare.choices(billed(catalogs, ({}, {"restart_seconds": 7200}), RUN), catalogs)
    assert list(found[found["differs"]]["label"]) == [catalogs.assumptions["label"]["restart_seconds"]]


def test_tanks_share_a_scale_that_one_giant_does_not_spoil():
    fitting = {"gpu_memory_bytes": 80.0, "memory_high_bytes": 60.0}
    giant = {"gpu_memory_bytes": 40.0, "memory_high_bytes": 400.0}
    assert compare.tank_scale([fitting]) == 80
    assert compare.tank_scale([fitting, {**giant, "memory_high_bytes": 100.0}]) == 100
    assert compare.tank_scale([fitting, giant]) == 160
    assert compare.tank_scale([{"gpu_memory_bytes": float("nan"), "memory_high_bytes": 50.0}]) == 50
    assert compare.tank_scale([]) == 1
