"""Runs that a log says without a command of an engine: banners, arguments, configs, code."""

import pytest
from examples import catalogs

from calc.commands.oom import explained_alone
from calc.files.imported_run import import_run
from calc.files.oom.command_in_log import command_in_log
from calc.files.oom.explain import tells
from calc.files.oom.run_in_log import documents_in_log, printed_run

BANNER = """+ torchrun --nproc_per_node 4 train.py --model_name_or_path Qwen/Qwen2.5-3B --bf16 True
***** Running training *****
  Instantaneous batch size per device = 4
  Gradient Accumulation steps = 8
  Total optimization steps = 1,218
| N/A   61C    P0   389W / 400W |  66012MiB / 81920MiB |    100%      Default |
"""
NAMESPACE = """[rank 0/16] host=a device=NVIDIA H100 80GB HBM3
args: Namespace(model='Qwen/Qwen2.5-3B', seq_len=8192, mbs=2, grad_accum=8, lr=1e-05, steps=300,
 fsdp='full', ac='full', lora_r=64, opt='adamw', resume=None)
step 10 | loss 1.8 | peak 44.8 GiB alloc / 55.1 GiB reserved
"""
RESOLVED = """INFO:torchtune.utils._logging:Running LoRAFinetuneRecipe with resolved config:

batch_size: 2
model:
  _component_: torchtune.models.qwen2_5.lora_qwen2_5_3b
  lora_rank: 16
tokenizer:
  max_seq_len: 2048
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
"""
CODE = """First step dies on one A100:

    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-3B")
    args = TrainingArguments(per_device_train_batch_size=3, bf16=True,
                             gradient_checkpointing=True)
    # seq len 2048

Traceback (most recent call last):
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BANNER, ("micro-batch 4", "accumulation steps 8", "GPUs 4", "64.46")),
        (
            NAMESPACE,
            ("LoRA rank 64", "recompute full", "micro-batch 2", "GPUs 16", "44.80", "55.10"),
        ),
        (RESOLVED, ("qwen2.5-3b", "LoRA rank 16", "micro-batch 2", "context 2048")),
        (CODE, ("qwen2.5-3b", "micro-batch 3", "recompute full")),
    ],
)
def test_a_log_says_its_run(text, words):
    said = explained_alone("run.log", text, catalogs())
    assert [word for word in words if word not in said] == []


def test_a_log_of_steps_is_a_log():
    assert tells(NAMESPACE.encode())
    assert documents_in_log("a.log", "nothing here") == []


ENGINE = """$ kubectl logs qwen-0 | grep -v health
INFO [api_server.py:1395] vLLM API server version 0.9.2
INFO [cli_args.py:325] non-default args: {'model': 'Qwen/Qwen2.5-32B-Instruct', 'max_num_seqs': 48}
INFO [core.py:69] Initializing a V1 LLM engine (v0.9.2) with config: \
model='Qwen/Qwen2.5-32B-Instruct', \
override_neuron_config={}, max_seq_len=32768
"""


def test_a_log_of_an_engine_is_imported_as_the_run_that_it_prints():
    row = import_run([("pod.log", ENGINE.encode())], catalogs()).row
    assert (row["model"], row["max_sequences"]) == ("qwen2.5-32b", 48)


@pytest.mark.parametrize("prompt", ["me@ws-07:~/bench$ ", "(venv) me@ws:/data# ", "$ ", ""])
def test_a_typed_command_says_more_than_the_configuration_that_the_engine_prints(prompt):
    log = (
        f"{prompt}vllm serve Qwen/Qwen3-14B --max-num-seqs 1024\n"
        "INFO [core.py:71] Initializing a V1 LLM engine (v0.10.0) with config: "
        "model='Qwen/Qwen3-14B', max_seq_len=16384\n"
    )
    command = command_in_log(log)
    assert command.startswith("vllm serve Qwen/Qwen3-14B --max-num-seqs 1024")
    assert command.endswith("--image-release 0.10.0")


MEGATRON = """using world size: 64, data-parallel size: 8, tensor-model-parallel size: 2
------------------------ arguments ------------------------
  bf16 ........................................... True
  ffn_hidden_size ................................ 14336
  fp8 ............................................ None
  global_batch_size .............................. 512
  hidden_size .................................... 4096
  micro_batch_size ............................... 1
  normalization .................................. RMSNorm
  num_attention_heads ............................ 32
  num_layers ..................................... 32
  num_query_groups ............................... 8
  pipeline_model_parallel_size ................... 4
  position_embedding_type ........................ rope
  seq_length ..................................... 8192
  swiglu ......................................... True
  tensor_model_parallel_size ..................... 2
  train_iters .................................... 95000
  use_distributed_optimizer ...................... True
-------------------- end of arguments ---------------------
 > padded vocab (size: 128256) with 0 dummy tokens (new size: 128256)
"""
SETTINGS = """22:40:07 | rank00 | torch 2.7.1, world=16 (2 nodes x 8)
22:40:08 | rank00 | cfg {"hf": "microsoft/phi-4", "init_dtype": "float32", "micro_bs": 2, \
"fsdp": {"shard": "full", "param_dtype": "bf16", "offload": false}, "ctx": 4096, "ga": 4, \
"opt": {"name": "adamw", "lr": 1e-05}, "ac": "full", "attn": "flash_attention_2"}
22:45:07 | rank00 | step 20/2861 | loss 1.8
"""


def test_the_arguments_that_megatron_prints_are_its_run():
    row = import_run([("rank0.log", MEGATRON.encode())], catalogs()).row
    assert (row["model"], row["gpus"], row["accumulation_steps"]) == ("llama-3-8b", 64, 64)
    assert (row["tensor_parallel"], row["pipeline_parallel"], row["sharding"]) == (2, 4, "zero1")


def test_the_settings_that_a_trainer_of_ones_own_prints_are_its_run():
    row = import_run([("run.log", SETTINGS.encode())], catalogs()).row
    assert (row["model"], row["gpus"], row["batch"]) == ("phi-4", 16, 2)
    assert (row["sharding"], row["precision"]) == ("zero3", "bf16-mixed")
    assert (row["recompute"], row["attention"]) == ("full", "flash-2")


PROGRESS = """loading weights file model.safetensors from cache at \
/c/hub/models--Qwen--Qwen2.5-3B/snapshots/a1/model.safetensors.index.json
Instantiating Qwen2ForCausalLM model under default dtype torch.bfloat16.
{}[INFO|trainer.py:2414] 2026-04-03 >> ***** Running training *****
[INFO|trainer.py:2417] 2026-04-03 >>   Instantaneous batch size per device = 2
[INFO|trainer.py:2420] 2026-04-03 >>   Total train batch size (w. parallel, distributed & \
accumulation) = 64
[INFO|trainer.py:2421] 2026-04-03 >>   Gradient Accumulation steps = 4
[INFO|trainer.py:2422] 2026-04-03 >>   Total optimization steps = 1,200
  1%|          | 12/1200 [01:00<1:40:00, 5.05s/it]
"""
ADAPTER = "trainable params: 9,000,000 || all params: 3,100,000,000 || trainable%: 0.29\n"


@pytest.mark.parametrize(("before", "tuning"), [("", "full"), (ADAPTER, "lora")])
def test_the_banner_of_a_trainer_is_the_run_of_a_log_without_a_command(before, tuning):
    row = import_run([("train.log", PROGRESS.format(before).encode())], catalogs()).row
    assert (row["model"], row["batch"], row["accumulation_steps"]) == ("qwen2.5-3b", 2, 4)
    assert (row["gpus"], row["tuning"]) == (8, tuning)


def test_a_banner_without_a_number_is_no_run():
    log = PROGRESS.format("").replace("per device = 2", "per device = ,")
    assert not printed_run("train.log", log)
