"""Rows side by side: the parts of a difference sum to it, the other way round they change sign, and
the cause is the one made.
"""

import itertools

import pytest
from examples import recorded, table

from calc.columns import COMPONENTS
from calc.plan import bill
from calc.say.differences import choices, in_words
from calc.studies import differences as compare

RUN = {
    "model": "llama-3.1-8b",
    "instance": "p5.48xlarge",
    "gpus": 8,
    "sharding": "zero3",
    "sequence_tokens": 4096,
    "train_tokens": 1e9,
}
SERVE = {
    "work": "inference",
    "model": "qwen2.5-32b",
    "implementation": "vllm",
    "sequence_tokens": 8192,
    "prompt_tokens": 6000,
}
TRAINED, SERVED = recorded("cases/compare.json").values()


def bill_rows(catalogs, rows, same, market="on-demand"):
    """The bills of rows that all have `same` as well."""
    results = table(rows, **same)
    assert set(results["problem"]) == {""}
    return bill.bill_rows(results.assign(market=market), catalogs)


def dicts(*arguments):
    return bill_rows(*arguments).to_dict("records")


@pytest.fixture(scope="module")
def rows(catalogs):
    trained = dicts(catalogs, TRAINED, RUN) + dicts(catalogs, TRAINED[:3], RUN, "spot")
    return (
        trained
        + dicts(catalogs, SERVED, SERVE)
        + dicts(catalogs, SERVED[:1], SERVE, "sagemaker-hosting")
    )


def test_the_parts_of_a_difference_sum_to_it_and_the_other_way_round_each_changes_its_sign(rows):
    for first, other in itertools.product(rows, repeat=2):
        there, back = compare.differences(first, other), compare.differences(other, first)
        for name, difference in there.items():
            assert difference.change == other[name] - first[name]
            assert first is not other or difference.cause == ""
            assert sum(difference.parts.values()) == pytest.approx(
                difference.change, rel=1e-9, abs=1e-6 * first[name]
            )
            assert {cause: -part for cause, part in back[name].parts.items()} == pytest.approx(
                difference.parts, rel=1e-9, abs=1e-9
            )


def test_memory_is_made_of_the_components_and_the_cause_is_the_one_that_was_changed(catalogs):
    first, *others = dicts(catalogs, TRAINED, RUN)
    differences = [compare.differences(first, other)["needed_bytes"] for other in others]
    assert all(list(difference.parts) == list(COMPONENTS) for difference in differences)
    assert (differences[0].cause, differences[0].change < 0, differences[2].cause) == (
        "optimizer_bytes",
        True,
        "activations_bytes",
    )


def test_money_and_time_name_what_makes_them(catalogs):
    plain, _, twice, _, longer, *_ = dicts(catalogs, TRAINED, RUN)
    spot, *_ = dicts(catalogs, TRAINED[:1], RUN, "spot")
    doubled, run, cheaper = (compare.differences(plain, other) for other in (twice, longer, spot))
    assert (
        doubled["usd_per_hour"].cause,
        doubled["usd_per_hour"].parts["price"],
        doubled["hours"].cause,
    ) == ("instances", 0, "speed")
    assert doubled["usd_per_hour"].change == pytest.approx(plain["usd_per_hour"])
    assert doubled["usd"].against in ("speed", "instances")
    assert (run["usd"].cause, run["usd"].against) == ("train_tokens", "")
    start_usd = plain["start_hours"] * plain["usd_per_hour"]  # paid once
    assert run["usd"].change == pytest.approx(plain["run_usd_on_demand"] - start_usd)
    assert cheaper["usd"].cause == "price"
    assert cheaper["usd"].parts["interruptions"] > 0
    assert spot["usd"] == pytest.approx(spot["run_usd_spot"])


def test_a_month_is_compared_with_a_month_and_not_with_a_run(catalogs, rows):
    served, *others = dicts(catalogs, SERVED, SERVE)
    assert set(compare.differences(rows[0], served)) == {"needed_bytes", "usd_per_hour"}
    assert compare.differences(others[1], others[2])["usd"].cause == "hours_per_month"
    assert compare.differences(others[1], others[3])["usd"].cause == "instances"
    assert served["usd"] == pytest.approx(served["usd_per_month_on_demand"])


def test_a_row_without_a_price_has_no_parts(catalogs):
    first, other = dicts(catalogs, ({}, {"instance": "", "gpu": "h100-80gb-sxm"}), RUN)
    differences = compare.differences(first, other)
    assert (
        differences["usd"].parts,
        differences["usd"].cause,
        differences["needed_bytes"].change,
    ) == ({}, "", 0)


def test_choices_that_differ_come_first_and_in_words(catalogs):
    rows = choices(bill_rows(catalogs, TRAINED[:3], RUN), catalogs)
    differing = rows[rows["differs"]]
    assert list(differing["choice"]) == ["instances_needed", "gpus", "optimizer"]
    assert list(differing[1]) == ["1", "8", "AdamW 8-bit"]
    assert rows["differs"].is_monotonic_decreasing
    assert not {"kv_precision", "lora_rank", "restart_seconds", "decoder_tokens"} & set(
        rows["choice"]
    )
    rows = choices(bill_rows(catalogs, ({}, {"restart_seconds": 7200}), RUN), catalogs)
    assert list(rows[rows["differs"]]["label"]) == [
        catalogs.assumptions["label"]["restart_seconds"]
    ]


def test_what_a_kind_of_work_never_reads_is_empty(catalogs):
    both = [{**RUN, "work": "training"}, {**SERVE, **SERVED[0]}]
    rows = choices(
        bill.bill_rows(table(both).assign(market="on-demand"), catalogs), catalogs
    ).set_index("choice")
    assert rows.loc["optimizer", [0, 1]].tolist() == ["AdamW", ""]
    assert rows.loc["prompt_tokens", [0, 1]].tolist() == ["", "6,000"]
    assert rows.loc["batch", "label"] == "Micro-batch, or concurrent sequences"
    assert not rows.loc["optimizer", "differs"]
    assert rows.loc[["optimizer", "prompt_tokens"], "shared"].tolist() == ["AdamW", "6,000"]


def test_a_count_is_in_digits_however_large(catalogs):
    row = {"work": "training", "tuning": "full", "adapters": 0, "gpus": 1.0, "train_tokens": 2e10}
    words = [in_words(name, row | {"sequence_tokens": 1}, catalogs) for name in row][3:]
    assert words == ["1", "20,000,000,000"]
