"""What a team brings: every field of its files has a line, the run becomes a scenario, on the page
a plan with the message beside it.
"""

import json

import pytest
from examples import SMALL_LLAMA, catalogs, recorded
from pages import by_hand, job_line, opened, page_text, pasted, run, title

from calc.files.configs.run import read_run
from calc.files.configs.texts import flat, format_of, read_mapping
from calc.files.imported_run import import_run, sorted_documents
from calc.files.oom.failures import failures

CASES = recorded("cases/brought.json")
TRL, MESSAGE = CASES["trl"], CASES["message"]


def lines(*documents):
    return read_run([(name, text.encode()) for name, text in documents], catalogs()).lines


def test_every_field_of_the_files_has_one_line_with_the_columns_that_it_settles():
    of_file = [line for line in lines(("a.yaml", TRL)) if line.file]
    assert [line.field for line in of_file] == list(
        flat(read_mapping(TRL, "a.yaml", "YAML"), "a.yaml")
    )
    assert {line.field: [line.standing, line.columns] for line in of_file} == CASES["lines"]
    both = lines(
        (
            "a.yaml",
            (
                "model_name_or_path: gpt2\ndtype: float32\nbf16: "
                "true\nper_device_train_batch_size: 1\n"
            ),
        )
    )
    settled = {line.field: line.columns for line in both}
    assert settled["dtype"] == settled["bf16"] == {"precision": "bf16-mixed"}
    script = (
        "N=8\nsource venv/bin/activate && torchrun --nproc_per_node $N t.py --model_name_or_path "
        "gpt2 --max_length 512\n"
    )
    assert [line.field for line in lines(("a.sh", script)) if line.standing == "aside"] == [
        "N=8",
        "source venv/bin/activate",
    ]


def test_every_column_of_the_row_is_read_assumed_or_open():
    run = read_run([("a.yaml", TRL.encode())], catalogs())
    named = {column for line in run.lines for column in line.columns}
    by = {
        standing: [line for line in run.lines if line.standing == standing]
        for standing in ("assumed", "open")
    }
    assumed = {*run.row["source_defaults"].split("+"), "work", "implementation"}
    assert {column for line in by["assumed"] for column in line.columns} == assumed
    assert {column for line in by["open"] if not line.file for column in line.columns} == set(
        run.row["not_said"].split("+")
    )
    assert {"model", "batch", "precision", "tuning", "implementation"} <= named


@pytest.mark.parametrize(("text", "form"), CASES["forms"])
def test_a_pasted_text_is_known_by_how_it_begins(text, form):
    assert format_of(text, "pasted") == form


def test_only_what_the_files_settle_becomes_the_scenario():
    run = import_run([("pasted", TRL.encode())], catalogs())
    assert (run.scenario["batch"], run.scenario["implementation"], run.row["problem"]) == (
        8,
        "trl",
        "",
    )
    assert not {"instance", "gpus", "train_tokens", "scenario"} & run.scenario.keys()
    assert run.row["memory_bytes"] > 0


def test_a_config_json_among_the_files_is_the_model():
    unknown = TRL.replace("meta-llama/Llama-3.1-8B", "./ours")
    alone = import_run([("a.yaml", unknown.encode())], catalogs())
    assert "./ours does not say which model it holds" in alone.row["problem"]
    both = import_run(
        [("a.yaml", unknown.encode()), ("ours-8l.json", json.dumps(SMALL_LLAMA).encode())],
        catalogs(),
    )
    assert (both.row["problem"], both.scenario["model"], list(both.models)) == (
        "",
        "ours-8l",
        ["ours-8l"],
    )
    assert both.row["memory_bytes"] > 0


def test_files_are_sorted_into_configs_and_logs():
    configs, logs = sorted_documents(
        [("a.yaml", TRL.encode()), ("run.log", MESSAGE.encode()), ("s.pickle", b"\x80\x04x")]
    )
    assert [name for name, _ in configs] == ["a.yaml"]
    assert [name for name, _ in logs] == ["run.log", "s.pickle"]
    assert failures(MESSAGE)


LORA = (
    "model_name_or_path: meta-llama/Llama-3.1-8B\nmax_length: 1024\nper_device_train_batch_size: "
    "8\nuse_peft: true\npacking: true\n"
)


@pytest.fixture
def app():
    return opened("bring")


def table(app, column):
    return next(frame.value for frame in app.dataframe if column in frame.value)


def test_the_empty_page_says_what_it_reads_and_a_pasted_config_has_its_memory_and_every_line(app):
    assert (title(app), list(app.error)) == ("Paste or upload what you have", [])
    assert "axolotl" in app.caption[0].value
    pasted(app, LORA)
    assert title(app).startswith("TRL: training Llama 3.1 8B takes ")
    shown = table(app, "What became of it").set_index("Field")
    assert (shown.index[0], shown.loc["packing", "What became of it"]) == (
        "packing",
        "not used by the estimate",
    )
    assert shown.loc["max_length", "In the plan"] == "Context: 1,024"


def test_it_can_be_kept_and_becomes_the_plan_and_what_it_leaves_open_is_the_answers(app):
    pasted(app, LORA)
    run(app.button(key="keep_brought").click())
    assert [(entry.name, entry.scenario["batch"]) for entry in app.session_state["kept"]] == [
        ("TRL", 8)
    ]
    run(app.button(key="take_brought").click())
    assert job_line(app).startswith("Fine-tune Llama 3.1 8B by LoRA on ")
    assert [app.session_state[name] for name in ("method", "sequence_tokens", "batch")] == [
        "lora",
        1024,
        [8],
    ]
    assert by_hand(app, "instance") == []


@pytest.mark.bench
@pytest.mark.long
def test_a_training_that_is_brought_while_the_page_serves_becomes_a_training():
    app = opened("bring", goal="serve", model="qwen3-14b")
    pasted(app, LORA)
    run(app.button(key="take_brought").click())
    assert job_line(app).startswith("Fine-tune ")


def test_a_message_of_another_card_than_the_plans_asks_for_its_model_or_config_first(app):
    pasted(app, MESSAGE)
    assert [
        "by its capacity A10G or L4" in page_text(app),
        "The card was full" in page_text(app),
    ] == [True, False]
    assert ["this is another run" in page_text(app), app.dataframe, taken(app)] == [True, [], []]
    run(app.selectbox(key="brought_model").set_value("qwen3-0.6b"))
    assert [
        "The card was full" in page_text(app),
        table(app, "measured_gib")["measured_gib"].iloc[0],
    ] == [True, pytest.approx(20.3)]
    before = table(app, "measured_gib")["estimated_gib"].iloc[0]
    pasted(app, LORA)
    assert "brought_model" not in {box.key for box in app.selectbox}
    assert table(app, "measured_gib")["estimated_gib"].iloc[0] != before


@pytest.mark.long
def test_a_message_of_the_plans_card_is_explained_beside_it_and_the_machine_at_hand_comes_first():
    app = opened("bring", instance="p5.48xlarge")
    text = MESSAGE.replace("21.96", "79.65").replace("21.80", "79.50").replace("20.30", "77.00")
    pasted(app, text)
    assert "brought_model" not in {box.key for box in app.selectbox}
    heads = [head.value for head in app.header]
    assert heads == ["Why it ran out", "On the machine you have", "On another machine"]
    first = taken(app)[0]
    run(first.click())
    assert title(app).startswith("About ")


@pytest.mark.long
def test_a_change_of_a_brought_run_becomes_the_plan_with_its_model(app):
    config = TRL.replace("meta-llama/Llama-3.1-8B", "./ours")
    app.file_uploader(key="brought_files").set_value(
        [
            ("a.yaml", config.encode(), "text/yaml"),
            ("ours-8l.json", json.dumps(SMALL_LLAMA).encode(), ""),
        ]
    )
    pasted(app, MESSAGE)
    run(taken(app)[0].click())
    assert (app.session_state["model"], [*app.session_state["custom_models"]]) == (
        "ours-8l",
        ["ours-8l"],
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "text",
    ["vllm serve ./ours --max-model-len 8192", TRL.replace("meta-llama/Llama-3.1-8B", "./ours")],
)
def test_files_without_a_model_of_the_catalog_ask_for_it(app, text):
    pasted(app, text)
    assert [
        title(app).endswith(": which model does it run?"),
        list(app.error),
        list(app.warning),
    ] == [True, [], []]
    assert len(table(app, "In the file"))
    run(app.selectbox(key="brought_model").set_value("qwen3-8b"))
    assert " Qwen3 8B takes " in title(app)
    run(app.button(key="take_brought").click())
    assert app.session_state["model"] == "qwen3-8b"


def taken(app):
    return [
        button for button in app.button if button.key and button.key.removeprefix("take_").isdigit()
    ]


@pytest.mark.parametrize(("text", "sentence"), CASES["unreadable"])
def test_what_cannot_be_read_is_one_sentence(app, text, sentence):
    pasted(app, text)
    assert any(sentence in said.value for said in (*app.error, *app.warning))
    assert title(app) == "Paste or upload what you have"


@pytest.mark.bench
def test_a_question_of_the_field_is_answered_by_a_button():
    app = pasted(opened(), "llama 70b lora")
    assert "'llama 70b' may be llama-3.3-70b" in app.warning[0].value
    run(app.button(key="answer_0_0").click())
    assert job_line(app).startswith("Fine-tune Llama 3.3 70B by LoRA")


@pytest.mark.long
def test_one_field_on_plan_takes_words_addresses_links_and_sends_a_run_to_its_page():
    app = pasted(opened(), "qwen3 32b for 20 people, zyx")
    assert job_line(app).startswith("Serve Qwen3 32B to 20 people")
    assert "Assumed: prompts of 1,024 tokens" in page_text(app)
    assert "Not counted: zyx." in page_text(app)
    assert app.text_area(key="pasted").value == ""
    app = pasted(app, "https://huggingface.co/Qwen/Qwen3-8B")  # the rest of the plan stays
    assert job_line(app).startswith("Serve Qwen3 8B to 20 people")
    app = pasted(app, "http://localhost:8501/?goal=tune&method=lora&model=llama-3.1-8b")
    assert job_line(app).startswith("Fine-tune Llama 3.1 8B by LoRA")
    app = pasted(app, LORA)
    assert title(app).startswith("TRL: training Llama 3.1 8B takes ")
    app = pasted(app, MESSAGE)
    assert app.header[0].value == "Why it ran out"
    run(app.button(key="clear_pasted").click())
    assert title(app) == "Paste or upload what you have"
