"""Configs of training and serving tools as scenario rows: every listed field settles its column,
and none is dropped.
"""

import json
from contextlib import suppress

import pytest
from examples import catalogs, recorded, written

from calc.__main__ import main
from calc.files.configs.combined_fields import SINGLE
from calc.files.configs.fields import field_catalog, tools
from calc.files.configs.problem import LARGEST_BYTES, ConfigProblem
from calc.files.configs.run import read_run
from calc.scenarios.inputs import BY_NAME

TRL = (
    "model_name_or_path: meta-llama/Llama-3.1-8B-Instruct\nmax_length: "
    "4096\nper_device_train_batch_size: 2\n"
)
GOOD = "model_name_or_path: gpt2\nmax_length: 512\nper_device_train_batch_size: 2\n"
FACTORY = "model_name_or_path: Qwen/Qwen3-4B-Instruct-2507\ncutoff_len: 2048\n"


CASES = recorded("cases/import.json")


def row_of(text, *documents, name="a.yaml"):
    """The row of one run: a text, and other documents as (name, text)."""
    return read_run(
        [(name, text.encode()) for name, text in [(name, text), *documents]], catalogs()
    ).row


def listed(cell):
    """The names in a cell that lists them."""
    return set(cell.split("+"))


@pytest.mark.parametrize(
    ("files", "expected"),
    [case[1:] for case in CASES["settled"]],
    ids=[case[0] for case in CASES["settled"]],
)
def test_fields_settle_their_columns(files, expected):
    (name, text), *others = files.items()
    row = row_of(text, *others, name=name)
    assert {name: row[name] for name in expected} == expected
    assert row["problem"] == ""


def test_what_the_tool_takes_by_itself_and_what_a_missing_file_leaves_open_is_told_apart():
    row = row_of(TRL + "bf16: true\ndtype: bfloat16\n")
    assert {"recompute", "loss", "accumulation_steps"} <= listed(row["source_defaults"])
    assert not {"model", "batch", "precision", "sequence_tokens"} & listed(row["source_defaults"])
    assert {"gpus", "gpu", "instance"} <= listed(row["not_said"])
    assert "kv_precision" not in listed(row["not_said"])
    row = row_of(FACTORY + "finetuning_type: full\nbf16: true\ndeepspeed: ds_z3.json\n")
    assert (row["sharding"], row["offload"], row["unused"]) == ("zero3", "", "deepspeed")
    assert "offload" in listed(row["not_said"])


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "tool", [tool for tool in tools().values() if tool.marks], ids=lambda tool: tool.id
)
def test_no_field_is_dropped(tool):
    """A field with a strange word, or that nobody knows, is named: in `unused` or in a sentence."""
    idle = next(pattern for pattern in tool.idle if "*" not in pattern)
    for name in [*tool.fields, "a_field_of_next_year"]:
        with suppress(ConfigProblem):  # the fields are another tool's as well
            row = row_of(
                json.dumps({tool.marks[0]: "x", idle: "x"} | {name: ["strange"]}), name="a.json"
            )
            assert (
                tool.id not in row["source_tool"]
                or name in listed(row["unused"])
                or f"{name} " in row["problem"]
            ), name


def test_a_cluster_file_settles_where_a_run_goes():
    queue = (
        "    - Name: gpu\n      CapacityType: SPOT\n      ComputeResources:\n        - "
        "InstanceType: p5.48xlarge\n          MaxCount: 2\n"
    )
    cluster = (
        f"Region: us-east-2\nHeadNode:\n  InstanceType: m5.large\nScheduling:\n  Scheduler: "
        f"slurm\n  SlurmQueues:\n{queue}"
    )
    script = "#SBATCH -N 2\n#SBATCH --gpus-per-node=8\nsrun python t.py\n"
    row = row_of(TRL, ("cluster.yaml", cluster), ("job.sbatch", script))
    assert (row["instance"], row["region"], row["gpus"]) == ("p5.48xlarge", "us-east-2", "16")
    assert row["unused"] == "Scheduling.SlurmQueues.0.CapacityType"
    two_queues = row_of(TRL, ("cluster.yaml", cluster + queue))
    assert "Scheduling.SlurmQueues.1.ComputeResources.0.InstanceType" in listed(
        two_queues["unused"]
    )
    variable = row_of(TRL, ("cluster.yaml", cluster.replace("p5.48xlarge", "${INSTANCE}")))
    assert "InstanceType holds the variable ${INSTANCE}; write its value." in variable["problem"]


def test_sizes_of_no_model_are_one_sentence_and_those_of_anothers_shapes_that_model():
    sizes = (
        "torchrun p.py --num-layers 3 --hidden-size 96 --num-attention-heads 3 "
        "--tensor-model-parallel-size 1\n"
    )
    sentence = "no model of the catalog has these sizes (heads 3, hidden 96, layers 3)"
    assert sentence in row_of(sizes, name="a.sh")["problem"]
    for repository, model in (
        ("deepseek-ai/DeepSeek-V3.1-Base", "deepseek-v3"),
        ("Qwen/Qwen2.5-Coder-32B-Instruct-AWQ", "qwen2.5-32b"),
    ):
        assert row_of(f"vllm serve {repository} -tp 8\n", name="a.sh")["model"] == model
    assert (
        "not in the catalog"
        in row_of("vllm serve Qwen/Qwen2.5-Other-32B\n", name="a.sh")["problem"]
    )


def parts_read(tool):
    """The parts that the rules of a tool read; a launcher stands before any tool."""
    names = field_catalog().rules if tool.launches else tool.rules
    rules = [rule for name in names for rule in field_catalog().rules[name]]
    parts = {part for rule in rules for part in (*rule.when, rule.is_.removeprefix("="))}
    return parts | {rule.unused for rule in rules}


def test_the_table_of_fields_leads_to_columns_and_to_parts_that_the_rules_of_the_tool_read():
    """A part that no rule of the tool reads would drop its field without a word."""
    derived = {*CASES["derived"], *SINGLE, *tools()}
    for tool in tools().values():
        read = parts_read(tool) | derived | set(tool.product)
        for field in tool.fields.values():
            is_whole = not field.to or field.sets or field.read in field_catalog().lists
            assert field.read == "open" or field.to in read | set(BY_NAME) or is_whole, (
                tool.id,
                field.name,
            )
            assert field.read != "words" or field.words, (tool.id, field.name)
    assert {
        *field_catalog().copies.values(),
        *(model for tool in tools().values() for model in tool.models.values()),
    } <= set(catalogs().models.index)


@pytest.mark.parametrize(("name", "text", "sentence"), CASES["asked"])
def test_a_model_or_a_count_that_the_files_leave_open_is_asked_for_and_never_guessed(
    name, text, sentence
):
    row = row_of(text, name=name)
    assert sentence in row["problem"]
    assert row["model" if "is it" in sentence else "gpus"] == ""


@pytest.mark.usefixtures("read_once")
def test_the_output_is_a_scenario_csv(tmp_path):
    (tmp_path / "a.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "serve.sh").write_text(
        "vllm serve openai/gpt-oss-20b --max-model-len 4096\n", encoding="utf-8"
    )
    (tmp_path / "launch.sh").write_text("torchrun --nproc_per_node 2 train.py\n", encoding="utf-8")
    runs = [f"{tmp_path / 'a.yaml'}+{tmp_path / 'launch.sh'}", str(tmp_path / "serve.sh")]
    assert main(["import", *runs, "-o", str(tmp_path / "s.csv")]) == 0
    rows = written(tmp_path / "s.csv")
    assert [(row["model"], row["gpus"], row["work"]) for row in rows] == [
        ("gpt2", "2", "training"),
        ("gpt-oss-20b", "1", "inference"),
    ]
    assert main([str(tmp_path / "s.csv"), "-o", str(tmp_path / "e.csv")]) == 0
    for row, estimated in zip(rows, written(tmp_path / "e.csv"), strict=True):
        assert estimated["problem"] == ""
        assert float(estimated["memory_bytes"]) > 0
        assert all(estimated[name] == row[name] for name in BY_NAME if row[name])
        assert estimated["source_file"] == row["source_file"]


@pytest.mark.usefixtures("read_once")
def test_a_bad_file_has_its_sentence_and_the_others_are_read(tmp_path, capsys):
    (tmp_path / "a.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "b.json").write_text('{"zero_optimization": {', encoding="utf-8")
    assert (
        main(
            [
                "import",
                str(tmp_path / "b.json"),
                str(tmp_path / "a.yaml"),
                "-o",
                str(tmp_path / "s.csv"),
            ]
        )
        == 0
    )
    bad, good = written(tmp_path / "s.csv")
    assert bad["problem"].startswith(f"{tmp_path / 'b.json'}: this is not JSON")
    assert (bad["model"], good["model"], good["problem"]) == ("", "gpt2", "")
    told, assumed, refused = capsys.readouterr().err.splitlines()
    assert refused == bad["problem"]
    assert told.startswith(f"{tmp_path / 'a.yaml'}: Understood: TRL; model gpt2")
    assert "Assumed: GPUs 1" in assumed


@pytest.mark.usefixtures("read_once")
def test_nothing_readable_is_two_and_writes_nothing(tmp_path, capsys):
    assert (
        main(["import", str(tmp_path / "no.yaml"), str(tmp_path), "-o", str(tmp_path / "s.csv")])
        == 2
    )
    missing, folder = capsys.readouterr().err.splitlines()
    assert missing.endswith("No such file or directory; check the path.")
    assert "is a folder" in folder
    assert not (tmp_path / "s.csv").exists()


LARGE = (  # beside the recorded ones, whose bytes are text, each its own character
    ["a.yaml", "a: " + "[" * 5000, "nested deeper"],
    ["a.json", '{"a": ' + "[" * 100_000, "nested deeper"],
    ["a.json", '{"a": ' * 40 + "1" + "}" * 40, "nested deeper"],
    ["a.yaml", "#" * (LARGEST_BYTES + 1), "more than 1,000,000 bytes"],
)


@pytest.mark.parametrize(("name", "content", "sentence"), [*CASES["unreadable"], *LARGE])
def test_a_file_that_cannot_be_read_is_one_sentence(name, content, sentence):
    with pytest.raises(ConfigProblem, match=sentence) as error:
        read_run([(name, content.encode("latin-1"))], catalogs())
    assert str(error.value).startswith(name)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(("line", "sentence"), CASES["unreadable values"])
def test_a_value_that_cannot_be_read_leaves_its_column_open(line, sentence):
    row = row_of(f"model_name_or_path: gpt2\nmax_length: 512\n{line}\n")
    assert sentence in row["problem"]
    assert (row["batch"], row["model"], row["sequence_tokens"]) == ("", "gpt2", "512")


def test_an_unknown_model_is_named_with_the_nearest_and_two_files_that_differ_are_told():
    row = row_of(GOOD.replace("gpt2", "Qwen/Qwen2.5-Forest-32B-Instruct"))
    assert (
        "Qwen/Qwen2.5-Forest-32B-Instruct is not in the catalog (the nearest is qwen2.5-32b)"
        in row["problem"]
    )
    deepspeed = (
        '{"zero_optimization": {"stage": 2}, "gradient_accumulation_steps": 4, '
        '"train_micro_batch_size_per_gpu": 2}'
    )
    row = row_of(GOOD + "gradient_accumulation_steps: 2\n", ("d.json", deepspeed))
    assert row["accumulation_steps"] == "2"
    assert row["problem"] == (
        "d.json, gradient_accumulation_steps: 4 here and 2 in a.yaml; 2 was taken, make them equal."
    )


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (  # as many public scripts end: the output goes to a file
            "nohup vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 16384 > vllm.log 2>&1 &",
            {"sequence_tokens": "16384", "problem": ""},
        ),
        (  # verl, examples/grpo_trainer: a default with another variable in it
            "vllm serve ${MODEL:-${DATA}/models/Qwen3-8B} --tensor-parallel-size 2",
            {"model": "qwen3-8b", "tensor_parallel": "2"},
        ),
        (  # a quotation over two lines, a comment that ends in a backslash
            'echo "it starts\nnow"\n# --max-model-len 1 \\\n\nvllm serve Qwen/Qwen3-8B',
            {"model": "qwen3-8b", "sequence_tokens": ""},
        ),
        (  # ms-swift, examples/megatron/sft.sh
            "NPROC_PER_NODE=2 megatron sft --model Qwen/Qwen2.5-7B-Instruct --max_length 2048 "
            "--tensor_model_parallel_size 2 --micro_batch_size 16 --global_batch_size 16",
            {"implementation": "megatron", "gpus": "2", "tensor_parallel": "2", "batch": "16"},
        ),
        (  # verl, examples/grpo_trainer of 2026: the branches that run on NVIDIA GPUs
            "DEVICE=$(python -c 'import torch_npu' && echo npu || echo gpu)\nTP=${TP:-}\n"
            'LEN=4096\nEXTRA=()\ncase "${DEVICE}" in\n gpu | cuda)\n  TP=${TP:-2}\n'
            "  if [ $TP -gt 4 ]; then\n   SEQS=8\n  else\n   SEQS=64\n  fi\n  ;;\n npu)\n"
            "  TP=4\n  LEN=512\n  EXTRA+=(\n   --kv-cache-dtype fp8\n  )\n  ;;\nesac\n"
            "vllm serve Qwen/Qwen3-8B --tensor-parallel-size $TP --max-model-len $LEN "
            '--max-num-seqs $SEQS "${EXTRA[@]}"',
            {
                "tensor_parallel": "2",
                "sequence_tokens": "4096",
                "max_sequences": "64",
                "kv_precision": "",
            },
        ),
        (  # ms-swift, examples/megatron/grpo/real.sh: a server, and the trainer that it serves
            "CUDA_VISIBLE_DEVICES=2 swift rollout --model Qwen/Qwen2.5-7B-Instruct\n"
            "NPROC_PER_NODE=2 CUDA_VISIBLE_DEVICES=0,1 megatron rlhf --rlhf_type grpo --model "
            "Qwen/Qwen2.5-7B-Instruct --max_length 1024 --max_completion_length 2048 --vllm_mode "
            "server --micro_batch_size 8 --global_batch_size 128",
            {
                "work": "training",
                "objective": "grpo",
                "implementation": "nemo-rl",
                "gpus": "2",
                "sequence_tokens": "3072",
                "rollout": "own gpus",
                "batch": "8",
            },
        ),
        (  # slime, scripts: the sizes of the model stand in a file that is not here
            "source models/x.sh\nray job submit -- python3 train.py --actor-num-nodes 1 "
            "--actor-num-gpus-per-node 8 --colocate ${MODEL_ARGS[@]} --hf-checkpoint "
            "models/Qwen3-30B-A3B --rollout-batch-size 32 --n-samples-per-prompt 8 "
            "--rollout-max-response-len 8192 --global-batch-size 256 "
            "--tensor-model-parallel-size 4 --expert-model-parallel-size 8 "
            "--use-dynamic-batch-size --max-tokens-per-gpu 20480 --advantage-estimator grpo "
            "--optimizer-cpu-offload --sglang-mem-fraction-static 0.7",
            {
                "model": "qwen3-30b-a3b",
                "objective": "grpo",
                "rollout": "colocated",
                "rollout_share": "0.7",
                "gpus": "8",
                "expert_parallel": "8",
                "batch": "2",
                "offload": "optimizer",
            },
        ),
        (  # Qwen3's model card: YaRN lets vLLM take more tokens than the config says
            "vllm serve Qwen/Qwen3-32B --max-model-len 131072 --hf-overrides "
            """'{"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}'""",
            {"context_extension": "yarn", "sequence_tokens": "131072", "unused": ""},
        ),
        (  # OpenRLHF 0.5, examples/scripts/train_ppo_llama.sh: the policy generates by itself
            "deepspeed --module openrlhf.cli.train_ppo --pretrain meta-llama/Meta-Llama-3-8B "
            "--prompt_max_len 1024 --generate_max_len 1024 --zero_stage 2 --adam_offload",
            {"objective": "ppo", "rollout": "none", "rollout_share": "", "offload": "optimizer"},
        ),
        (  # a launcher before it may have a flag twice
            "uv run --extra vllm --extra fsdp python -m verl.trainer.main_ppo "
            "algorithm.adv_estimator=grpo actor_rollout_ref.model.path=Qwen/Qwen3-8B",
            {"model": "qwen3-8b", "objective": "grpo"},
        ),
        (  # open-instruct, scripts/train/olmo2: 24 GPUs learn, 40 generate
            "python mason.py --gpus 8 -- source setup.sh \\&\\& python open_instruct/grpo_fast.py "
            "--model_name_or_path allenai/OLMo-2-0325-32B --num_learners_per_node 8 8 8 "
            "--vllm_num_engines 40 --response_length 2048 --max_prompt_token_length 2048",
            {"gpus": "64", "rollout_gpus": "40", "completion_tokens": "2048"},
        ),
    ],
)
def test_scripts_are_read_as_a_shell_reads_them(script, expected):
    row = row_of(script, name="a.sh")
    assert {name: row[name] for name in expected} == expected


def test_supervised_training_of_prime_rl_is_read_apart_from_its_reinforcement_learning():
    """prime-rl, examples/vlm_sft_moe/sft.toml: the trainer's fields stand at the top."""
    row = row_of(
        '[model]\nname = "Qwen/Qwen3-30B-A3B"\nep = 8\noptimization_dtype = "bfloat16"\n'
        "[model.ac]\nfreq = 1\n[data]\nseq_len = 16384\nbatch_size = 16\n"
        "[deployment]\nnum_train_gpus = 8\n",
        name="sft.toml",
    )
    expected = {
        "objective": "",
        "rollout": "",
        "precision": "bf16",
        "expert_parallel": "8",
        "gpus": "8",
        "batch": "1",
        "accumulation_steps": "2",
        "recompute": "full",
    }
    assert {name: row[name] for name in expected} == expected


def test_a_service_of_kserve_is_vllm_with_the_flags_of_its_variable():
    """KServe, docs/samples/llmisvc: the manifest leaves the command to the runtime."""
    row = row_of(
        "kind: LLMInferenceService\napiVersion: serving.kserve.io/v1alpha2\nspec:\n"
        "  model: {uri: 'hf://Qwen/Qwen2.5-7B-Instruct'}\n  parallelism: {tensor: 2}\n"
        "  template:\n    containers:\n    - name: main\n      env:\n"
        "      - {name: VLLM_ADDITIONAL_ARGS, value: '--max-model-len 8192'}\n",
        name="a.yaml",
    )
    assert (row["model"], row["tensor_parallel"], row["sequence_tokens"]) == (
        "qwen2.5-7b",
        "2",
        "8192",
    )


def test_cells_of_a_notebook_that_are_no_python_leave_the_others_to_be_read():
    """unslothai/notebooks: an installation over several lines, a log that a cell printed."""
    cells = [
        '!uv pip install -qqq \\\n    "torch>=2.8.0" \\\n    unsloth',
        "2025 09:00 no code",
        'from trl import SFTConfig\nlength = 2048\nSFTConfig(model="Qwen/Qwen3-8B", '
        "max_length=length - 1024, per_device_train_batch_size=2)",
    ]
    notebook = {"nbformat": 4, "cells": [{"cell_type": "code", "source": one} for one in cells]}
    row = row_of(json.dumps(notebook), name="a.ipynb")
    assert (row["sequence_tokens"], row["batch"]) == ("1024", "2")
