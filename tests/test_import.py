"""Configs of training and serving tools as scenario rows: every listed field settles its column, and none is dropped."""

import json

import pytest
from examples import catalogs, recorded

from calc.files.configs.derived import SINGLE
from calc.files.configs.fields import copies, rules, tools
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import run_row
from calc.scenarios.inputs import BY_NAME

TRL = "model_name_or_path: meta-llama/Llama-3.1-8B-Instruct\nmax_length: 4096\nper_device_train_batch_size: 2\n"
DEEPSPEED = {"zero_optimization": {"stage": 3}, "bf16": {"enabled": "auto"}, "train_micro_batch_size_per_gpu": "auto"}
AXOLOTL = "base_model: NousResearch/Llama-2-7b-hf\nsequence_len: 4096\n"
FACTORY = "model_name_or_path: Qwen/Qwen3-4B-Instruct-2507\ncutoff_len: 2048\n"
TUNE = "model:\n  _component_: torchtune.models.llama3_1.lora_llama3_1_8b\ncheckpointer:\n  _component_: a.B\nbatch_size: 2\n"
TITAN = '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 1\nseq_len = 8192\n'
ACCELERATE = "compute_environment: LOCAL_MACHINE\nnum_processes: 8\nmixed_precision: bf16\n"
FSDP2 = ACCELERATE + "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: true\n"


def row(*documents, **named):
    """The row of one run: texts named by what they are, or (name, text)."""
    kinds = {"yaml": "a.yaml", "toml": "a.toml", "json": "a.json", "sh": "a.sh", "py": "a.py"}
    pairs = [*documents, *((kinds[kind], text) for kind, text in named.items())]
    return run_row([(name, text.encode()) for name, text in pairs], catalogs())


def listed(cell):
    return cell.split("+") if cell else []


CASES = recorded("cases/import.json")["settled"]


@pytest.mark.parametrize(("files", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_fields_settle_their_columns(files, expected):
    found = row(**files)
    assert {name: found[name] for name in expected} == expected
    assert found["problem"] == ""


@pytest.mark.parametrize(
    ("launcher", "expected"),
    [
        (("b.yaml", FSDP2), {"precision": "bf16-mixed", "sharding": "zero3", "gpus": "8", "offload": "none"}),
        (("b.yaml", ACCELERATE + "distributed_type: MULTI_GPU\n"), {"sharding": "none", "precision": "bf16-mixed"}),
        (("b.yaml", ACCELERATE + "distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 2\n  offload_optimizer_device: cpu\n"),
         {"precision": "bf16-master", "sharding": "zero2", "offload": "optimizer", "implementation": "deepspeed"}),
        (("b.json", json.dumps(DEEPSPEED)), {"precision": "bf16-master", "sharding": "zero3", "implementation": "deepspeed", "gpus": ""}),
    ],
)  # fmt: skip
def test_a_config_with_its_launcher_is_one_run(launcher, expected):
    found = row(("a.yaml", TRL), launcher)
    assert {name: found[name] for name in expected} == expected
    assert found["source_tool"].startswith("trl+")
    assert found["source_file"] == f"a.yaml+{launcher[0]}"


def test_a_launcher_written_into_the_config_is_read_too():
    found = row(yaml=TRL + "deepspeed:\n  zero_optimization:\n    stage: 2\n    offload_optimizer:\n      device: cpu\n")
    assert (found["sharding"], found["offload"], found["precision"]) == ("zero2", "optimizer", "bf16-master")


def test_what_the_tool_takes_by_itself_and_what_a_missing_file_leaves_open_is_told_apart():
    found = row(yaml=TRL + "bf16: true\ndtype: bfloat16\n")
    assert {"recompute", "loss", "accumulation_steps"} <= set(listed(found["source_defaults"]))
    assert not {"model", "batch", "precision", "sequence_tokens"} & set(listed(found["source_defaults"]))
    assert {"gpus", "gpu", "instance"} <= set(listed(found["not_said"]))
    assert "kv_precision" not in listed(found["not_said"])
    found = row(yaml=FACTORY + "finetuning_type: full\nbf16: true\ndeepspeed: ds_z3.json\n")
    assert found["sharding"] == found["offload"] == ""
    assert {"sharding", "offload"} <= set(listed(found["not_said"]))
    assert listed(found["unused"]) == ["deepspeed"]


@pytest.mark.parametrize("tool", [tool for tool in tools().values() if tool.marks], ids=lambda tool: tool.id)
def test_no_field_is_dropped(tool):
    """A field with a strange word, or that nobody knows, is named: in `unused` or in a sentence."""
    mark = tool.marks[0]
    for name in [*tool.fields, "a_field_of_next_year"]:
        idle = next(pattern for pattern in tool.idle if "*" not in pattern)
        text = json.dumps({mark: "x", idle: "x"} | {name: ["strange"]})
        try:
            found = row(json=text)
        except ConfigProblem:  # the fields are another tool's as well
            continue
        if tool.id in found["source_tool"]:
            named = name in listed(found["unused"]) or f"{name} " in found["problem"]
            assert named, name


def test_a_cluster_file_settles_where_a_run_goes():
    queue = (
        "    - Name: gpu\n      CapacityType: SPOT\n      ComputeResources:\n        - InstanceType: p5.48xlarge\n          MaxCount: 2\n"
    )
    cluster = f"Region: us-east-2\nHeadNode:\n  InstanceType: m5.large\nScheduling:\n  Scheduler: slurm\n  SlurmQueues:\n{queue}"
    found = row(("a.yaml", TRL), ("cluster.yaml", cluster), ("job.sbatch", "#SBATCH -N 2\n#SBATCH --gpus-per-node=8\nsrun python t.py\n"))
    assert (found["instance"], found["region"], found["gpus"]) == ("p5.48xlarge", "us-east-2", "16")
    assert listed(found["unused"]) == ["Scheduling.SlurmQueues.0.CapacityType"]
    second = row(("a.yaml", TRL), ("cluster.yaml", cluster + queue))
    assert "Scheduling.SlurmQueues.1.ComputeResources.0.InstanceType" in listed(second["unused"])
    open_one = row(("a.yaml", TRL), ("cluster.yaml", cluster.replace("p5.48xlarge", "${INSTANCE}")))
    assert "InstanceType holds the variable ${INSTANCE}; write its value." in open_one["problem"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def a(:\n", "this is not Python"),
        ("def a():\n    return 1\n", "this has none"),
        ("def a():\n    return C(x=1)\ndef b():\n    return C(x=2)\n", "this has a, b; keep the one that runs"),
    ],
)
def test_python_is_parsed_and_never_run(text, words):
    with pytest.raises(ConfigProblem, match=words):
        row(py=text)


def test_sizes_of_no_model_are_one_sentence_and_those_of_anothers_shapes_that_model():
    found = row(sh="torchrun p.py --num-layers 3 --hidden-size 96 --num-attention-heads 3 --tensor-model-parallel-size 1\n")
    assert "no model of the catalog has these sizes (heads 3, hidden 96, layers 3)" in found["problem"]
    assert row(sh="vllm serve deepseek-ai/DeepSeek-V3.1-Base -tp 8\n")["model"] == "deepseek-v3"
    assert row(sh="vllm serve Qwen/Qwen2.5-Coder-32B-Instruct-AWQ\n")["model"] == "qwen2.5-32b"
    assert "not in the catalog" in row(sh="vllm serve Qwen/Qwen2.5-Other-32B\n")["problem"]


def test_the_table_of_fields_leads_to_columns_and_parts_that_are_used():
    listed_rules = [rule for tool in tools().values() for name in tool.rules for rule in rules()[name]]
    used = {part for rule in listed_rules for part in (*rule["when"], rule["is"].removeprefix("="))}
    derived = {*recorded("cases/import.json")["derived"], *SINGLE}
    for tool in tools().values():
        for told in tool.fields.values():
            assert told.read == "open" or told.to in BY_NAME or told.to in used | derived, (tool.id, told.name)
            assert told.read != "words" or told.words, (tool.id, told.name)
    for identifier in [*copies().values(), *(each for tool in tools().values() for each in tool.models.values())]:
        assert identifier in catalogs().models.index, identifier
