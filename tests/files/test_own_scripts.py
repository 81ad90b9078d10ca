"""Flags and fields of people's own training scripts: lengths, formats, names that say LoRA."""

import pytest
from examples import catalogs

from calc.files.configs.run import read_run
from calc.files.configs.run_summary import summary_of
from calc.scenarios.inputs import DEFAULTS

pytestmark = pytest.mark.usefixtures("read_once")

MODEL = "--model_name_or_path meta-llama/Llama-2-7b-hf"
OWN = f"torchrun --nproc_per_node 2 {{}} {MODEL} --per_device_train_batch_size 2 --num_epochs 2 "


def run_of(text, name="train.sh"):
    """The row of the run in a file's text."""
    return read_run([(name, text.encode())], catalogs()).row


@pytest.mark.parametrize(
    ("flags", "length"),
    [
        ("--max_input_length 512 --max_output_length 256", "768"),
        ("--max_input_length 512", "512"),
        ("--data_max_length 1024", "1024"),
    ],
)
def test_prompt_and_answer_together_are_the_length_of_a_sequence(flags, length):
    assert run_of(OWN.format("train.py") + flags)["sequence_tokens"] == length


@pytest.mark.parametrize(
    ("script", "flags", "expected"),
    [
        ("train_lora.py", "", {"tuning": "lora"}),
        ("train_qlora.py", "", {"tuning": "lora", "precision": "nf4"}),
        ("train_qlora.py", "--bits 8", {"tuning": "lora", "precision": "int8"}),
        ("train_lora.py", "--use_lora false", {"tuning": "full"}),
        ("explore.py", "", {"tuning": ""}),
    ],
)
def test_the_name_of_a_script_says_lora_where_no_flag_speaks_of_it(script, flags, expected):
    run = run_of(OWN.format(script) + flags)
    assert {name: run[name] for name in expected} == expected


def test_a_module_that_trains_by_its_own_sizes_is_asked_for_its_model():
    text = (
        "torchrun --nproc_per_node=8 -m scripts.pretrain -- --depth=24 --device-batch-size=16 --fp8"
    )
    run = run_of(text)
    assert (run["gpus"], run["batch"], run["precision"]) == ("8", "16", "fp8-mixed")
    assert "model" in run["problem"]
    assert "depth" in run["unused"]


def test_sections_of_a_trainer_say_its_sharding_and_whether_it_compiles():
    text = """
optim: {lr: 3.0e-3, weight_decay: 0.03, warmup: 5000}
distributed: {fsdp_type: full_shard, compile: true, model_dtype: bf16, tp_size: 1}
model: {dim: 2048, n_layers: 25, n_heads: 16}
data: {batch_size: 4, seq_len: 4096}
learning_rate: 3.0e-3
"""
    run = run_of(text, "pretrain.yaml")
    assert (run["sharding"], run["compile"]) == ("zero3", "yes")
    assert "hidden 2048" in run["problem"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--lora_r 8 --fp16 true", "fp16 true leaves open"),
        ("--lora_r 8 --fp16 false", "no precision is in the file"),
    ],
)
def test_a_precision_left_open_names_the_format_that_the_file_says(flags, words):
    read = read_run([("train.sh", (OWN.format("train.py") + flags).encode())], catalogs())
    said = summary_of(read.row, read.lines, DEFAULTS, {})
    assert any(words in item for item in said.assumed)


OWN_CONFIG = """
model_name: meta-llama/Llama-2-7b-hf
training_type: {}
training_config: {{per_device_train_batch_size: 2, learning_rate: 1.0e-6, num_train_epochs: 1{}}}
"""


@pytest.mark.parametrize(
    ("kind", "more", "expected"),
    [
        ("moe_dpo", "", {"objective": "dpo"}),
        ("sft", "", {"objective": ""}),
        ("sft", ", num_generations: 8", {"objective": ""}),
        (
            "grpo",
            ", num_generations: 8, max_completion_length: 768",
            {"objective": "grpo", "generations": "8", "completion_tokens": "768"},
        ),
    ],
)
def test_the_method_of_an_own_config_is_its_objective(kind, more, expected):
    run = run_of(OWN_CONFIG.format(kind, more), "run.yaml")
    assert {name: run[name] for name in expected} == expected


def test_a_list_of_models_to_choose_from_is_asked_about():
    text = """
models:
  small: {hf_id: meta-llama/Llama-2-7b-hf, bf16: true}
  medium: {hf_id: meta-llama/Llama-2-13b-hf, bf16: true}
  large: {hf_id: meta-llama/Llama-2-70b-hf, bf16: true}
training: {batch_size: 2, learning_rate: 1.0e-4, epochs: 3, max_seq_len: 2048}
"""
    run = run_of(text, "base.yaml")
    assert not run["model"]
    assert "one of 3: small, medium, large" in run["problem"]


def test_a_script_may_be_wide_text_and_have_quotes_within_quotes():
    text = (
        "import os\n"
        "mount = f'{os.environ['FOLDER']}:/data'\n"
        "args = TrainingArguments(output_dir=mount, per_device_train_batch_size=3)\n"
        "model = AutoModelForCausalLM.from_pretrained('meta-llama/Llama-2-7b-hf')\n"
        "Trainer(model, args).train()\n"
    )
    run = read_run([("train.py", text.encode("utf-16"))], catalogs()).row
    assert (run["model"], run["batch"]) == ("llama-2-7b", "3")


LOOP = """
import torch
from omegaconf import OmegaConf
from transformers import AutoModelForCausalLM
{settings}
def main():
    {cfg}
    model = AutoModelForCausalLM.from_pretrained({name}, torch_dtype=getattr(torch, "bfloat16"))
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
"""


def test_arguments_that_a_function_of_the_script_parses_have_their_defaults():
    settings = """
def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", default="Qwen/Qwen3-4B")
    return parser.parse_args()
"""
    text = LOOP.format(settings=settings, cfg="a = get_args()", name="a.base")
    assert run_of(text, "train.py")["model"] == "qwen3-4b"


def test_settings_in_a_text_of_yaml_are_read_by_their_names_and_by_names_for_parts_of_them():
    settings = 'BASE = OmegaConf.create("""\nllm:\n  id: Qwen/Qwen3-4B\n  name: x-${llm.id}\n""")\n'
    cfg = "cfg = OmegaConf.merge(BASE, OmegaConf.from_cli()); llm = cfg.llm"
    row = run_of(LOOP.format(settings=settings, cfg=cfg, name="llm.id"), "train.py")
    assert row["model"] == "qwen3-4b"


def test_arguments_of_a_trainer_may_stand_in_a_mapping():
    text = """
import lightning as L
from transformers import AutoModelForCausalLM
TRAINER = dict(devices=4, precision="bf16-true", accumulate_grad_batches=2)
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-4B")
L.Trainer(max_epochs=1, **TRAINER).fit(model)
"""
    row = run_of(text, "train.py")
    assert (row["gpus"], row["precision"], row["accumulation_steps"]) == ("4", "bf16", "2")


def test_a_recipe_of_nemo_takes_what_a_call_gives_to_its_function():
    text = """
import argparse
from nemo.collections import llm

def recipe(nodes, gpus):
    r = llm.llama3_8b.finetune_recipe(num_nodes=nodes, num_gpus_per_node=gpus, peft_scheme="lora")
    r.peft.target_modules = ["linear_qkv", "linear_proj"]
    return r

p = argparse.ArgumentParser()
p.add_argument("--nodes", type=int, default=2)
p.add_argument("--gpus", type=int, default=4)
a = p.parse_args()
recipe(a.nodes, a.gpus)
"""
    row = run_of(text, "recipe.py")
    assert (row["gpus"], row["lora_targets"]) == ("8", "q+k+v+o")


def test_a_config_written_under_the_name_of_a_variable_is_the_one_that_a_command_names():
    text = """#!/bin/bash
#SBATCH --gres=gpu:a100:8
#SBATCH --constraint=a100_80gb
DS=$TMPDIR/ds.json
cat > "$DS" <<'JSON'
{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}}
JSON
accelerate launch --num_processes 8 --use_deepspeed --deepspeed_config_file $DS train.py \\
  --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 1
"""
    row = run_of(text, "job.sbatch")
    assert (row["sharding"], row["offload"], row["gpu"]) == ("zero3", "optimizer", "a100-80gb-sxm")


def test_the_command_in_the_comments_of_a_config_gives_its_gpus():
    text = """# start: FORCE_TORCHRUN=1 NPROC_PER_NODE=8 llamafactory-cli train sft.yaml
stage: sft
finetuning_type: full
model_name_or_path: Qwen/Qwen3-8B
per_device_train_batch_size: 1
"""
    assert run_of(text, "sft.yaml")["gpus"] == "8"
