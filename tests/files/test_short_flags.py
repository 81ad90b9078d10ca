"""Flags of own scripts: short spellings, early returns, values that the command changes."""

import pytest
from examples import catalogs

from calc.files.configs.flags import fields_of
from calc.files.configs.run import read_run

pytestmark = pytest.mark.usefixtures("read_once")

SHORT_FLAGS = """
import argparse
p = argparse.ArgumentParser()
p.add_argument("-m", "--name", dest="model", default="gpt2")
p.add_argument("-b", "--batch", type=int, default=16)
p.add_argument("-l", "--seqlen", type=int, default=512)
p.add_argument("--optim", default="adamw")
args = p.parse_args()

def make_optimizer(parameters):
    if args.optim == "adamw":
        return torch.optim.AdamW(parameters)
    if args.optim == "sgd":
        return torch.optim.SGD(parameters)
    return Adafactor(parameters)

model = AutoModelForCausalLM.from_pretrained(args.model)
optimizer = make_optimizer(model.parameters())
for x in batches(args.batch, args.seqlen):
    model(x, labels=x).loss.backward()
"""


@pytest.mark.parametrize(
    ("flags", "optimizer"),
    [
        ("-m EleutherAI/pythia-410m -b 8 \\\n  -l 1024", "adamw"),
        ("-l=1024 -b 8 --optim adafactor", "adafactor"),
    ],
)
def test_short_flags_are_read_by_the_names_that_the_script_gives_them(flags, optimizer):
    command = f"torchrun --nproc_per_node 2 ft.py {flags}"
    row = read_run([("go.sh", command.encode()), ("ft.py", SHORT_FLAGS.encode())], catalogs()).row
    assert (row["batch"], row["sequence_tokens"]) == ("8", "1024")
    assert (row["optimizer"], row["unused"]) == (optimizer, "")


def test_a_field_that_the_command_changes_is_not_among_those_left_out():
    config = b"base_model: Qwen/Qwen2.5-7B\nsequence_len: 4096\nmicro_batch_size: 2\n"
    command = b"axolotl train c.yml --micro-batch-size 1"
    row = read_run([("go.sh", command), ("c.yml", config)], catalogs()).row
    assert row["batch"] == "1"
    assert "micro_batch_size" not in row["unused"]


def test_a_flag_that_sets_a_field_each_time_may_stand_twice():
    fields, others = fields_of(["--set=train.batch=1", "--set", "train.steps=8"], "run.sh", {})
    assert (fields, others) == ({}, ["train.batch=1", "train.steps=8"])


@pytest.mark.parametrize(
    "array",
    [
        "MORE=( --data $(cat blend.txt) --split 9,1\n  --save out )",
        "MORE=(--data $(cat blend.txt)\n  --save out\n)",
    ],
)
def test_an_array_may_begin_behind_its_bracket_and_hold_a_command(array):
    script = (
        "PAR=(\n  --bf16 --micro-batch-size 2 --tensor-model-parallel-size 2\n"
        f"  --use-distributed-optimizer --recompute-activations\n)\n{array}\n"
        'torchrun --nproc_per_node 8 pretrain_gpt.py --seq-length 4096 "${PAR[@]}" "${MORE[@]}"'
    )
    row = read_run([("go.sh", script.encode())], catalogs()).row
    assert (row["batch"], row["recompute"]) == ("2", "selective")


def test_a_name_of_a_part_of_a_recipe_sets_the_recipe():
    script = b"""
from nemo.collections import llm
r = llm.llama31_70b.finetune_recipe(num_nodes=4, num_gpus_per_node=8, peft_scheme="lora")
trainer = r.trainer
s = trainer.strategy
s.tensor_model_parallel_size = 4
s.pipeline_model_parallel_size = 2
r.data.global_batch_size = 32
"""
    row = read_run([("recipe.py", script)], catalogs()).row
    assert (row["tensor_parallel"], row["pipeline_parallel"]) == ("4", "2")
