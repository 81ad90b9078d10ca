"""Numbers, changes and verdicts in words: one way to write each; and the line that says how a row
is set.
"""

import pytest
from examples import catalogs, recorded, table

from calc import estimate
from calc.say import numbers
from calc.say.cards import layout_line
from calc.say.change import cause_in_words
from calc.say.setting import setting
from calc.say.verdict import memory_of, verdict
from calc.scenarios.inputs import BY_NAME
from calc.units import GIB

UNKNOWN = float("nan")


@pytest.mark.parametrize(("value", "written"), recorded("cases/say.json")["three_digits"])
def test_three_significant_digits(value, written):
    assert numbers.three_digits(value) == written


@pytest.mark.parametrize(("seconds", "written"), recorded("cases/say.json")["durations"])
def test_a_stretch_of_time_is_written_in_the_unit_that_people_say(seconds, written):
    assert numbers.duration(seconds) == written
    assert numbers.span(seconds / 3600) == written


def test_numbers_changes_and_verdicts_name_what_is_unknown():
    assert numbers.span(4.5, 3.61, 6.92) == "4.5 h (3.6 to 6.9)"
    assert numbers.span(4.5, 3.61, UNKNOWN) == "4.5 h"
    assert numbers.span(UNKNOWN) == "unknown time"
    assert numbers.usd(UNKNOWN) == "no price"
    assert (numbers.gib(0.0075), numbers.gib(0.0125), numbers.gib(0)) == (
        *("7.68 MiB", "0.0125 GiB", "0 GiB"),
    )
    assert numbers.gib(UNKNOWN) == numbers.percent(UNKNOWN) == numbers.count(None) == "unknown"
    assert numbers.size(424 * 2**20) == "424 MiB"
    assert numbers.size(1230 * GIB) == "1,230 GiB"
    assert [numbers.changed_by(ratio) for ratio in (0.12, -0.09)] == ["12 % more", "9 % less"]
    words = ["under 1 % more", "6 % more", "3.2 times as much", "42 times as much"]
    assert [numbers.more(ratio) for ratio in (1.004, 1.06, 3.24, 42.3)] == words
    assert cause_in_words("optimizer_bytes") == "optimizer state"
    assert cause_in_words("speed") == "speed"
    assert [verdict("yes", "yes"), verdict("tight", "emulated"), verdict("yes", "no")] == [
        "fits",
        "tight, emulated",
        "does not run",
    ]
    row = {
        name: size * GIB
        for name, size in (
            ("memory_bytes", 58.0),
            ("needed_bytes", 53.6),
            ("needed_low_bytes", 48.1),
            ("needed_high_bytes", 62.0),
        )
    }
    card = row | {"gpu_memory_bytes": 79.6 * GIB, "fits": "yes"}
    assert memory_of(card) == "53.6 of 79.6 GiB per GPU (48.1 to 62.0): fits"
    assert memory_of(card | {"fit_probability": 0.9996}).endswith(": fits, 99 % likely")
    assert memory_of(card | {"fits": "tight", "fit_probability": 0.628}).endswith(
        ": tight, 62 % likely to fit"
    )
    assert memory_of(card | {"fits": "no", "fit_probability": 0.3}).endswith(": does not fit")
    served = card | {"max_concurrency": 33.4, "batch": 20.0}
    assert memory_of(served).endswith(": fits; cache for 33 requests, 20 in flight")
    assert "cache" not in memory_of(served | {"fits": "no"})
    assert (
        memory_of(row | {"gpu_memory_bytes": UNKNOWN, "fits": ""})
        == "53.6 GiB per GPU (48.1 to 62.0)"
    )


@pytest.mark.parametrize(
    ("usd", "exact", "about"),
    [(3.356, "$3.36", "$3.36"), (36.2, "$36.20", "$36"), (40_213, "$40,200", "$40,200")],
)
def test_money_has_cents_where_they_count(usd, exact, about):
    assert (numbers.usd(usd), numbers.about(usd)) == (exact, about)
    assert numbers.with_sign(-usd, numbers.usd) == f"−{exact}"


TRAINED = recorded("cases/settings.json")["trained"]
REWARDED = recorded("cases/settings.json")["rewarded"]
SERVED = recorded("cases/settings.json")["served"]
OTHERS = recorded("cases/settings.json")["others"]


def test_what_changes_the_memory_is_in_the_line():
    for kind, base in {"training": TRAINED, "rewarded": REWARDED, "inference": SERVED}.items():
        others = OTHERS[kind]
        before, *changed = table(
            [{}, *({name: value} for name, value in others.items())], **base
        ).to_dict("records")
        assert before["problem"] == ""
        for name, after in zip(others, changed, strict=True):
            assert setting(before, catalogs()) != setting(after, catalogs()), name


def test_every_column_that_may_change_the_memory_is_tried_and_the_line_is_in_words_of_the_field():
    """Place, price, pace and length of the run do not; an encoder's and an expert's columns are not
    of these models, and engines on the training GPUs take all of them.
    """
    elsewhere = set(recorded("cases/settings.json")["elsewhere"])
    elsewhere |= {"decoder_tokens", "expert_parallel", "rollout_gpus"}
    assert {name for others in OTHERS.values() for name in others} == {*BY_NAME} - elsewhere
    line = setting(estimate(TRAINED, catalogs(), solve=False), catalogs())
    assert line.startswith(
        "LoRA rank 16 on all-linear, fp32 adapters, over bf16 · AdamW · FSDP (ZeRO 3) over 8 GPUs"
    )
    assert "micro-batch 2 × 2 steps of 4,096 tokens · no recompute" in line
    line = setting(estimate(SERVED, catalogs(), solve=False), catalogs())
    assert line == (
        "bf16 · 2 replicas · 16 sequences on each of 4,096 tokens · prompt 2,048 · tensor "
        "parallel 4 · vLLM"
    )
    other = setting(estimate(SERVED | {"inference_engine": "sglang"}, catalogs()), catalogs())
    assert other.endswith("SGLang")


def test_the_line_of_a_training_names_every_degree():
    run = {"model": "qwen3-30b-a3b", "implementation": "megatron", "gpu": "h200-sxm", "gpus": 16}
    degrees = {"tensor_parallel": 2, "pipeline_parallel": 2, "expert_parallel": 4}
    line = layout_line(estimate(run | degrees, catalogs(), solve=False), catalogs())
    assert "tensor parallel 2, 2 pipeline stages, experts over 4" in line
