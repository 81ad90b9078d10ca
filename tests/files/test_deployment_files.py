"""Deployment files and scripts as people write them: what each of them runs, and where."""

import pytest
from examples import catalogs

from calc.files.configs.run import read_runs
from calc.files.imported_run import import_run
from calc.files.request import request_of
from calc.say.replicas import replicas_sentence

pytestmark = pytest.mark.usefixtures("read_once")

COMPOSE = """
services:
  llm:
    image: lmsysorg/sglang:v0.5.3
    entrypoint: python3 -m sglang.launch_server
    command: >
      --model-path Qwen/Qwen3-8B
      --context-length 32768
      --tp-size ${TP:-2}
"""
TASK = """
{"placementConstraints": [
  {"type": "memberOf", "expression": "attribute:ecs.instance-type == g6e.2xlarge"}],
 "containerDefinitions": [
  {"name": "vllm", "image": "vllm/vllm-openai:v0.9.2",
   "command": ["--model", "Qwen/Qwen3-8B", "--max-model-len", "16384"],
   "resourceRequirements": [{"type": "GPU", "value": "1"}]}]}
"""
TERRAFORM = """
variable "model" { default = "Qwen/Qwen3-8B" }
resource "aws_instance" "llm" {
  instance_type = "g6.12xlarge"
  user_data = <<-EOF
    #!/bin/bash
    docker run -d --gpus all -p 8000:8000 vllm/vllm-openai:v0.8.5 --model ${var.model} -tp 4
  EOF
}
"""
CDK = """
import * as ec2 from 'aws-cdk-lib/aws-ec2';
cluster.addCapacity('Gpu', {
  instanceType: %s,
});
task.addContainer('llm', {
  image: ecs.ContainerImage.fromRegistry('vllm/vllm-openai:v0.9.2'),
  command: ['--model', 'Qwen/Qwen3-8B', '-tp', '4'],
});
"""
SLURM = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gres=gpu:h100:8
LAUNCHER="accelerate launch --num_processes 16 --num_machines 2 --use_fsdp --mixed_precision bf16"
CMD="sft.py --model_name_or_path Qwen/Qwen3-8B --max_length 4096 --dataset_name a/b"
srun --jobid $SLURM_JOBID bash -c "$LAUNCHER $CMD" 2>&1 | tee main.log
"""
VERL = """
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo \\
  actor_rollout_ref.model.path=Qwen/Qwen3-8B \\
  actor_rollout_ref.model.lora_adapter_path=%s \\
  trainer.n_gpus_per_node=4
"""
NEMO = """
from nemo.collections import llm
def configure(nodes: int = 2, gpus_per_node: int = 8):
    recipe = llm.qwen3_8b.finetune_recipe(num_nodes=nodes, num_gpus_per_node=gpus_per_node)
    return recipe
"""
INCLUDED = (
    "deepspeed --include worker-1:0,1,2@worker-2:0,1,2 sft.py --model_name_or_path Qwen/Qwen3-8B"
)


def row_of(text, name):
    """The row of the first run of one file."""
    return read_runs([(name, text.encode())], catalogs())[0].row


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("compose.yml", COMPOSE, {"model": "qwen3-8b", "tensor_parallel": "2"}),
        ("taskdef.json", TASK, {"model": "qwen3-8b", "instance": "g6e.2xlarge"}),
        ("main.tf", TERRAFORM, {"model": "qwen3-8b", "instance": "g6.12xlarge", "gpus": "4"}),
        (
            "stack.ts",
            CDK % "new ec2.InstanceType('g5.12xlarge')",
            {"model": "qwen3-8b", "instance": "g5.12xlarge", "gpus": "4"},
        ),
        (
            "other.ts",
            CDK % "ec2.InstanceType.of(ec2.InstanceClass.G5, ec2.InstanceSize.XLARGE12)",
            {"instance": "g5.12xlarge"},
        ),
        (
            "job.slurm",
            SLURM,
            {"model": "qwen3-8b", "gpus": "16", "sharding": "zero3", "sequence_tokens": "4096"},
        ),
        (
            "docker.sh",
            'docker run --gpus 2 -it image:1 bash -lc "pip install x && vllm serve Qwen/Qwen3-8B"',
            {"model": "qwen3-8b"},
        ),
        ("grpo.sh", VERL % "/models/adapter", {"tuning": "lora"}),
        ("grpo.sh", VERL % "null", {"tuning": "full"}),
        ("recipe.py", NEMO, {"model": "qwen3-8b", "gpus": "16"}),
        ("run.sh", INCLUDED, {"gpus": "6"}),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 12 else "",
)
def test_a_deployment_says_what_runs_and_where(name, text, expected):
    row = row_of(text, name)
    assert {column: row[column] for column in expected} == expected


CLUSTER = """#!/bin/bash
#SBATCH -N2
#SBATCH --gpus-per-node=%s
#SBATCH --constraint=h100
srun torchrun --nproc_per_node 8 sft.py --model_name_or_path Qwen/Qwen3-8B --max_length 4096
"""


@pytest.mark.parametrize(("gpus", "card"), [("8", "h100-80gb-sxm"), ("h200:8", "h200-sxm")])
def test_a_constraint_of_slurm_names_the_card_where_its_gpus_do_not(gpus, card):
    row = row_of(CLUSTER % gpus, "job.sbatch")
    assert (row["gpu"], row["gpus"]) == (card, "16")


OVER_BASE = """
defaults: [grpo_math_1B.yaml]
policy:
  model_name: Qwen/Qwen3-8B
  train_global_batch_size: 128
  train_micro_batch_size: 2
  max_total_sequence_length: 2048
  dtensor_cfg: {tensor_parallel_size: 2, activation_checkpointing: true}
dpo: {reference_policy_kl_penalty: 0.05}
cluster: {gpus_per_node: 8, num_nodes: 1}
"""


def test_what_a_file_says_itself_counts_though_its_base_is_missing():
    row = row_of(OVER_BASE, "dpo.yaml")
    settled = ("tensor_parallel", "recompute", "objective")
    assert [row[name] for name in settled] == ["2", "full", "dpo"]


def test_an_adapter_without_a_rank_leaves_the_rank_to_ask():
    row = row_of(VERL % "/models/adapter", "grpo.sh")
    assert row["lora_rank"] == ""
    assert "actor_rollout_ref.model.lora_adapter_path" in row["unused"].split("+")


LIGHTNING = """
import lightning as L
from transformers import AutoModelForCausalLM
from peft import LoraConfig, get_peft_model

class Tuner(L.LightningModule):
    def __init__(self, name="Qwen/Qwen3-8B"):
        model = AutoModelForCausalLM.from_pretrained(self.hparams.name)
        model.gradient_checkpointing_enable()
        self.model = get_peft_model(model, LoraConfig(r=16))

def collate(rows, length=1024):
    return tokenizer(rows, max_length=length, truncation=True)

loader = DataLoader(rows, batch_size=4, collate_fn=collate)
trainer = L.Trainer(precision="bf16-mixed", accumulate_grad_batches=2, max_steps=100, %s)
"""


@pytest.mark.parametrize(
    ("machines", "expected"),
    [
        ("devices=8, strategy=FSDPStrategy(cpu_offload=True)", ("8", "zero3", "states")),
        ("devices=[0, 1], strategy='ddp'", ("2", "none", "none")),
        ("devices=4, num_nodes=2, strategy='deepspeed_stage_3_offload'", ("8", "zero3", "states")),
        (
            "devices=4, strategy=DeepSpeedStrategy(stage=2, offload_optimizer=True)",
            ("4", "zero2", "optimizer"),
        ),
        ("devices=4, strategy=DeepSpeedStrategy(stage=3)", ("4", "zero3", "none")),
    ],
)
def test_a_script_of_lightning_says_its_machines_strategy_and_inputs(machines, expected):
    row = row_of(LIGHTNING % machines, "train.py")
    assert (row["gpus"], row["sharding"], row["offload"]) == expected
    settled = {
        "model": "qwen3-8b",
        "tuning": "lora",
        "lora_rank": "16",
        "precision": "bf16-mixed",
        "batch": "4",
        "sequence_tokens": "1024",
        "accumulation_steps": "2",
        "recompute": "full",
        "implementation": "transformers",
    }
    if "deepspeed" in machines.lower():
        settled["implementation"] = "deepspeed"
    assert {name: row[name] for name in settled} == settled


LOOP = """
accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=4)
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
rows = data.map(lambda row: tokenizer(row["text"], max_length=512))
loader = DataLoader(rows, batch_size=2)
"""


def test_a_loop_of_accelerate_is_read_with_its_loader_and_tokenizer():
    row = row_of(LOOP, "loop.py")
    settled = ("model", "precision", "batch", "sequence_tokens", "accumulation_steps")
    assert [row[name] for name in settled] == ["qwen3-8b", "bf16-mixed", "2", "512", "4"]


def test_a_trainers_own_length_outweighs_its_tokenizers():
    row = row_of(LOOP + "args = SFTConfig(max_length=2048, output_dir='x')\n", "sft.py")
    assert row["sequence_tokens"] == "2048"


JOB = """
kind: ConfigMap
data:
  fsdp.yaml: |
    distributed_type: FSDP
    fsdp_config:
      fsdp_sharding_strategy: FULL_SHARD
      fsdp_activation_checkpointing: true
    num_processes: 8
---
kind: Job
spec:
  containers:
    - command: ["/bin/bash", "-lc"]
      args:
        - accelerate launch --config_file /cfg/fsdp.yaml dpo.py --model_name_or_path Qwen/Qwen3-8B
"""


def test_a_job_takes_the_config_of_its_launcher_and_the_objective_of_its_script():
    row = row_of(JOB, "job.yaml")
    settled = ("model", "objective", "sharding", "recompute", "gpus")
    assert [row[name] for name in settled] == ["qwen3-8b", "dpo", "zero3", "full", "8"]


WRITTEN = '''
CONFIG = """
base_model: Qwen/Qwen3-8B
adapter: lora
sequence_len: 8192
micro_batch_size: 2
gradient_accumulation_steps: 4
"""
open("config.yml", "w").write(CONFIG)
subprocess.run("accelerate launch -m axolotl.cli.train config.yml", shell=True)
'''


def test_a_script_that_writes_the_config_of_its_command_is_one_run():
    runs = read_runs([("train.py", WRITTEN.encode())], catalogs())
    assert len(runs) == 1
    settled = ("model", "tuning", "sequence_tokens", "batch", "accumulation_steps")
    assert [runs[0].row[name] for name in settled] == ["qwen3-8b", "lora", "8192", "2", "4"]


BRIDGE = """
from megatron.bridge.recipes.llama import llama32_1b_pretrain_config
cfg = llama32_1b_pretrain_config()
cfg.model.tensor_model_parallel_size = 2
cfg.train.global_batch_size = 32
cfg.dataset.seq_length = 4096
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("bridge.py", BRIDGE, ("llama-3.2-1b", "full", "bf16-master", "zero1", "2", "8")),
        (
            "bridge.sh",
            "torchrun --nproc-per-node=8 --nnodes=2 finetune_recipe.py --peft lora "
            "--recipe llama31_8b_finetune_config model.tensor_model_parallel_size=2",
            ("llama-3.1-8b", "lora", "bf16", "none", "2", "16"),
        ),
        (
            "nemo.sh",
            "nemo llm finetune --factory llama3_8b trainer.devices=4 peft=none -y",
            ("llama-3-8b", "full", "bf16-master", "zero1", "1", "4"),
        ),
    ],
)
def test_a_recipe_of_nemo_or_megatron_bridge_is_known_by_its_name(name, text, expected):
    row = row_of(text, name)
    settled = ("model", "tuning", "precision", "sharding", "tensor_parallel", "gpus")
    assert tuple(row[name] for name in settled) == expected


def test_lightning_with_megatrons_strategy_trains_with_megatron():
    text = LIGHTNING % "devices=8, strategy=nl.MegatronStrategy(tensor_model_parallel_size=4)"
    row = row_of(text, "train.py")
    assert (row["implementation"], row["tensor_parallel"]) == ("megatron", "4")


def test_lightning_keeps_four_bits_under_its_precision():
    quantized = "AutoModelForCausalLM.from_pretrained('x', BitsAndBytesConfig(load_in_4bit=True))\n"
    row = row_of(LIGHTNING % "devices=1" + quantized, "train.py")
    assert row["precision"] == "nf4"


REPLICATED = """
kind: Deployment
spec:
  replicas: 3
  containers: [{command: [vllm, serve, Qwen/Qwen3-8B]}]
"""


def test_the_bill_of_all_replicas_stands_beside_that_of_one():
    assert import_run([("d.yaml", REPLICATED.encode())], catalogs()).summary.replicas == 3
    row = {"instance": "p5.48xlarge", "gpus": 4, "instances_needed": 1, "usd_per_hour": 50.0}
    row["usd"] = 36_500.0
    assert replicas_sentence(row, 3, catalogs()) == (
        "all 3 take 2 × p5.48xlarge: about $73,000 a month, $100 an hour"
    )
    assert not replicas_sentence(row, 1, catalogs())


def test_a_file_that_asks_for_spot_is_billed_on_spot():
    text = REPLICATED + "  nodeSelector: {karpenter.sh/capacity-type: spot}\n"
    request = request_of([("d.yaml", text.encode())], catalogs())
    assert request.columns["markets"] == "spot"
    assert "market Spot" in request.run.summary.understood
    assert not any("Spot" in item for item in request.run.summary.not_counted)


def test_a_model_prepared_for_training_in_few_bits_recomputes():
    prepared = "model = prepare_model_for_kbit_training(model)\n"
    row = row_of(LOOP + prepared + "TrainingArguments(optim='adamw_torch')\n", "train.py")
    assert row["recompute"] == "full"


def test_variables_that_a_call_takes_are_one_service_with_it():
    """The container of TGI in SageMaker reads HF_MODEL_QUANTIZE and SM_NUM_GPUS."""
    text = """
config = {"HF_MODEL_ID": "Qwen/Qwen2.5-32B-Instruct", "SM_NUM_GPUS": json.dumps(4),
          "MAX_INPUT_LENGTH": "2048", "MAX_TOTAL_TOKENS": "4096", "HF_MODEL_QUANTIZE": "gptq",
          "MESSAGES_API_ENABLED": "true"}
image = get_huggingface_llm_image_uri("huggingface", version="2.0.2")
llm = HuggingFaceModel(role=role, image_uri=image, env=config)
llm.deploy(initial_instance_count=1, instance_type="ml.g5.12xlarge")
"""
    (run,) = read_runs([("serve.py", text.encode())], catalogs())
    read = ("precision", "gpus", "instance", "sequence_tokens", "unused")
    assert [run.row[name] for name in read] == ["gptq-4bit", "4", "g5.12xlarge", "4096", ""]


MODAL = """
MODEL = "Qwen/Qwen3-8B"
image = modal.Image.debian_slim().pip_install("vllm==0.11.0")

@app.function(image=image, gpu="L40S:2")
def serve():
    cmd = ["vllm", "serve", MODEL, "--max-model-len", "32768"]
    cmd += ["--tensor-parallel-size", str(2)]
    subprocess.Popen(" ".join(cmd), shell=True)
"""
DSTACK = """
type: task
nodes: 2
commands:
  - accelerate launch --num_machines=$DSTACK_NODES_NUM --num_processes=$DSTACK_GPUS_NUM --use_fsdp
    sft.py --model_name_or_path Qwen/Qwen3-8B --max_length 4096 --dataset_name a/b
resources: {gpu: H100:8}
"""


def test_a_script_with_an_image_is_read_by_the_command_that_it_starts():
    row = row_of(MODAL, "serve.py")
    read = ("gpus", "tensor_parallel", "sequence_tokens", "gpu")
    assert [row[name] for name in read] == ["2", "2", "32768", "l40s"]


def test_dstack_counts_the_gpus_of_all_nodes():
    """DSTACK_GPUS_NUM is of the run, DSTACK_GPUS_PER_NODE of a node (dstack, tasks)."""
    assert row_of(DSTACK, "task.dstack.yml")["gpus"] == "16"
    each = DSTACK.replace("$DSTACK_GPUS_NUM", "$DSTACK_GPUS_PER_NODE")
    assert row_of(each, "task.dstack.yml")["gpus"] == "8"
