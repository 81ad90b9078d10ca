"""The line that says how a row is set: whatever changes its memory changes the line, so that read again it gives the same number."""

from examples import catalogs, recorded, table

from calc import estimate
from calc.say.setting import setting
from calc.scenarios.inputs import BY_NAME

TRAINED = recorded("cases/settings.json")["trained"]
SERVED = recorded("cases/settings.json")["served"]
OTHERS = recorded("cases/settings.json")["others"]


def test_what_changes_the_memory_is_in_the_line():
    for base in (TRAINED, SERVED):
        others = OTHERS[base.get("work", "training")]
        before, *changed = table([{}, *({name: value} for name, value in others.items())], **base).to_dict("records")
        assert before["problem"] == ""
        for name, after in zip(others, changed, strict=True):
            assert setting(before, catalogs()) != setting(after, catalogs()), name


def test_every_column_that_may_change_the_memory_is_tried_and_the_line_is_in_words_of_the_field():
    """Place, price and length of the run do not; an encoder's and an expert's columns are not of these models."""
    elsewhere = set(recorded("cases/settings.json")["elsewhere"])
    elsewhere |= {"decoder_tokens", "expert_parallel"}
    assert {*OTHERS["training"], *OTHERS["inference"]} == {*BY_NAME} - elsewhere
    line = setting(estimate(TRAINED, catalogs(), solve=False), catalogs())
    assert line.startswith("LoRA rank 16 on all-linear, fp32 adapters, over bf16 · AdamW · FSDP (ZeRO 3) over 8 GPUs")
    assert "micro-batch 2 × 2 steps of 4,096 tokens · no recompute" in line
    line = setting(estimate(SERVED, catalogs(), solve=False), catalogs())
    assert line == "bf16 · 2 replicas · 16 sequences on each of 4,096 tokens · prompt 2,048 · tensor parallel 4 · vLLM"
