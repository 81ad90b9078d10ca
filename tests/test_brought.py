"""What a team brings: every field of its files has a line, and the run becomes a scenario with its estimate."""

import json

import pytest
from examples import catalogs

from calc.files.brought import brought, sorted_documents
from calc.files.configs.run import read_run
from calc.files.configs.texts import flat, format_of, read_mapping
from calc.files.oom.failures import failures

TRL = """model_name_or_path: meta-llama/Llama-3.1-8B
max_length: 1024
per_device_train_batch_size: 8
use_peft: true
load_in_4bit: true
packing: true
learning_rate: 0.0002
a_field_of_next_year: 1
"""
HF = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16,
      "num_key_value_heads": 8, "intermediate_size": 4096, "vocab_size": 32000}  # fmt: skip


def lines(*documents):
    return read_run([(name, text.encode()) for name, text in documents], catalogs()).lines


def test_every_field_of_the_files_has_one_line_with_the_columns_that_it_settles():
    found = lines(("a.yaml", TRL))
    assert [each.field for each in found if each.file] == list(flat(read_mapping(TRL, "a.yaml", "YAML"), "a.yaml"))
    assert {each.field: (each.standing, each.columns) for each in found if each.file} == {
        "model_name_or_path": ("read", {"model": "llama-3.1-8b"}),
        "max_length": ("read", {"sequence_tokens": "1024"}),
        "per_device_train_batch_size": ("read", {"batch": "8"}),
        "use_peft": ("read", {"tuning": "lora"}),
        "load_in_4bit": ("read", {"precision": "nf4"}),
        "packing": ("unused", {}),
        "learning_rate": ("idle", {}),
        "a_field_of_next_year": ("unused", {}),
    }
    both = lines(("a.yaml", "model_name_or_path: gpt2\ndtype: float32\nbf16: true\nper_device_train_batch_size: 1\n"))
    settled = {each.field: each.columns for each in both}
    assert settled["dtype"] == settled["bf16"] == {"precision": "bf16-mixed"}
    script = "N=8\nsource venv/bin/activate && torchrun --nproc_per_node $N t.py --model_name_or_path gpt2 --max_length 512\n"
    assert [each.field for each in lines(("a.sh", script)) if each.standing == "aside"] == ["N=8", "source venv/bin/activate"]


def test_every_column_of_the_row_is_read_assumed_or_open():
    run = read_run([("a.yaml", TRL.encode())], catalogs())
    named = {column for each in run.lines for column in each.columns}
    by = {each: [line for line in run.lines if line.standing == each] for each in ("assumed", "open")}
    assumed = {*run.row["source_defaults"].split("+"), "work", "implementation"}
    assert {column for line in by["assumed"] for column in line.columns} == assumed
    assert {column for line in by["open"] if not line.file for column in line.columns} == set(run.row["not_said"].split("+"))
    assert {"model", "batch", "precision", "tuning", "implementation"} <= named


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (TRL, "YAML"),
        ("# made by hand\n\nbase_model: x\n", "YAML"),
        ("---\na: 1\n", "YAML"),
        ('  {"a": 1}', "JSON"),
        ("[model]\nname = 'x'\n", "TOML"),
        ("#!/bin/bash\nN=8\ntorchrun --nproc_per_node=$N t.py\n", "command"),
        ("vllm serve gpt2 --config a: b\n", "command"),
    ],
)
def test_a_pasted_text_is_known_by_how_it_begins(text, form):
    assert format_of(text, "pasted") == form


def test_only_what_the_files_settle_becomes_the_scenario():
    found = brought([("pasted", TRL.encode())], catalogs())
    assert (found.scenario["batch"], found.scenario["implementation"], found.row["problem"]) == (8, "trl", "")
    assert not {"instance", "gpus", "train_tokens", "scenario"} & found.scenario.keys()
    assert found.row["memory_bytes"] > 0


def test_a_config_json_among_the_files_is_the_model():
    unknown = TRL.replace("meta-llama/Llama-3.1-8B", "./ours")
    alone = brought([("a.yaml", unknown.encode())], catalogs())
    assert "ours is not in the catalog" in alone.row["problem"]
    found = brought([("a.yaml", unknown.encode()), ("ours-8l.json", json.dumps(HF).encode())], catalogs())
    assert (found.row["problem"], found.scenario["model"], list(found.models)) == ("", "ours-8l", ["ours-8l"])
    assert found.row["memory_bytes"] > 0


def test_files_are_sorted_into_configs_and_logs():
    log = (
        b"CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.75 GiB total capacity; 12.00 GiB already allocated; "
        b"1.00 GiB free; 13.00 GiB reserved in total by PyTorch)"
    )
    configs, logs = sorted_documents([("a.yaml", TRL.encode()), ("run.log", log), ("s.pickle", b"\x80\x04x")])
    assert [name for name, _ in configs] == ["a.yaml"]
    assert [name for name, _ in logs] == ["run.log", "s.pickle"]
    assert failures(log.decode())
