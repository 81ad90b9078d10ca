"""The Bring page: a config becomes the plan, a message stands beside it, and nothing that is wrong empties the page."""

import pytest
from pages import by_hand, opened, page_text, run, title

TRL = "model_name_or_path: meta-llama/Llama-3.1-8B\nmax_length: 1024\nper_device_train_batch_size: 8\nuse_peft: true\npacking: true\n"
MESSAGE = (
    "CUDA out of memory. Tried to allocate 424.00 MiB. GPU 0 has a total capacity of 21.96 GiB of which 163.12 MiB is free. Including "
    "non-PyTorch memory, this process has 21.80 GiB memory in use. Of the allocated memory 20.30 GiB is allocated by PyTorch, and 1.15 GiB "
    "is reserved by PyTorch but unallocated."
)


@pytest.fixture
def app():
    return opened("bring")


def table(app, column):
    return next(each.value for each in app.dataframe if column in each.value)


def test_the_empty_page_says_what_it_reads_and_a_pasted_config_has_its_memory_and_every_line(app):
    assert (title(app), list(app.error)) == ("Bring what you have", [])
    assert "axolotl" in app.caption[0].value
    run(app.text_area(key="brought_text").set_value(TRL))
    assert title(app).startswith("TRL: training Llama 3.1 8B takes ")
    shown = table(app, "What becomes of it").set_index("Field")
    assert (shown.index[0], shown.loc["packing", "What becomes of it"]) == ("packing", "no place here")
    assert shown.loc["max_length", "In the plan"] == "Sequence: 1,024"


def test_it_can_be_kept_and_becomes_the_plan_and_what_it_leaves_open_is_the_answers(app):
    run(app.text_area(key="brought_text").set_value(TRL))
    run(app.button(key="keep_brought").click())
    assert [(entry["name"], entry["scenario"]["batch"]) for entry in app.session_state["kept"]] == [("TRL", 8)]
    run(app.button(key="take_brought").click())
    assert title(app).startswith("LoRA fine-tuning Llama 3.1 8B costs about ")
    assert [app.session_state[name] for name in ("method", "sequence_tokens", "batch")] == ["lora", 1024, [8]]
    assert by_hand(app, "instance") == []


def test_a_message_is_explained_beside_the_plan_and_beside_what_was_brought(app):
    run(app.text_area(key="brought_log").set_value(MESSAGE))
    assert ["by its capacity A10G or L4" in page_text(app), "Plain lack" in page_text(app)] == [True, True]
    before = table(app, "measured_gib")["estimated_gib"].iloc[0]
    run(app.text_area(key="brought_text").set_value(TRL))
    parts = table(app, "measured_gib")
    assert parts["measured_gib"].iloc[0] == pytest.approx(20.3)
    assert parts["estimated_gib"].iloc[0] != before


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("brought_text", "colour: blue\nsize: 3\n", "belong to no tool that is read"),
        ("brought_text", "vllm serve 'gpt2", "leaves a quote open"),
        ("brought_log", "all is well", "No out-of-memory message"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(app, key, text, words):
    run(app.text_area(key=key).set_value(text))
    assert [words in each.value for each in app.error] == [True]
    assert title(app) == "Bring what you have"
