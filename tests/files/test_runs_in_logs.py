"""Runs that a log says without a command of an engine: banners, arguments, configs, code."""

import pytest
from examples import catalogs

from calc.commands.oom import explained_alone
from calc.files.imported_run import import_run
from calc.files.oom.command_in_log import command_in_log
from calc.files.oom.explain import tells
from calc.files.oom.run_in_log import documents_in_log

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
