"""Launch files of further forms: justfiles, units, Nomad, charts, pages, notebooks."""

import json

import pytest
from examples import catalogs

from calc.files.configs.run import read_runs
from calc.files.configs.run_summary import summary_of
from calc.scenarios.inputs import DEFAULTS

pytestmark = pytest.mark.usefixtures("read_once")

JUSTFILE = """
model := "Qwen/Qwen3-8B"
gpus := env_var_or_default("GPUS", "4")

serve ctx="16384":
    vllm serve {{model}} -tp {{gpus}} --max-model-len {{ctx}}
"""
UNIT = """
[Service]
Environment="CUDA_VISIBLE_DEVICES=0,1"
ExecStart=/opt/bin/vllm serve /data/Qwen3-8B \\
    --tensor-parallel-size 2
"""
NOMAD = """
job "llm" {
  group "llm" {
    count = 2
    task "server" {
      config {
        image = "vllm/vllm-openai:v0.8.4"
        args = ["--model", "Qwen/Qwen3-8B"]
      }
      resources {
        device "nvidia/gpu" {
          count = 1
          constraint {
            attribute = "${device.model}"
            value = "NVIDIA L40S"
          }
        }
      }
    }
  }
}
"""
LLM_D = """
decode:
  acceleratorTypes: {labelKey: nvidia.com/gpu.product, labelValues: [NVIDIA-L40S]}
  containers:
  - image: vllm/vllm-openai:v0.8.4
    args: [--model, Qwen/Qwen3-8B]
"""
NIM = """
image: {repository: nvcr.io/nim/meta/llama-3.1-8b-instruct, tag: "1.8"}
env: [{name: NIM_MAX_MODEL_LEN, value: "16384"}]
nodeSelector: {node.kubernetes.io/instance-type: g6e.2xlarge}
"""
SKY = """
resources:
  accelerators: {H100:8, A100-80GB:8}
  use_spot: true
run: |
  accelerate launch --num_processes 8 \\
    --use_fsdp --mixed_precision bf16 \\
    sft.py --model_name_or_path Qwen/Qwen3-8B --max_length 4096
"""
PAGE = """We serve it on one g6e.12xlarge.

```bash
vllm serve Qwen/Qwen3-8B -tp 4
```
"""
JUMPSTART = """
model_id, version = "meta-textgeneration-llama-3-1-70b-instruct", "2.*"
model = JumpStartModel(model_id=model_id, model_version=version, instance_type="ml.p4d.24xlarge")
"""
BRANCH = """
if [[ "$USE_FSDP" == 1 ]]; then EXTRA="--fsdp full_shard"; else EXTRA="--optim adamw_torch"; fi
torchrun --nproc_per_node 8 sft.py --model_name_or_path Qwen/Qwen3-8B --max_length 4096 $EXTRA
"""
BENCHED = """
vllm serve Qwen/Qwen3-8B &
vllm bench serve --model Qwen/Qwen3-8B --random-input-len 4000 --max-concurrency 32
"""
NOTEBOOK = json.dumps(
    {
        "cells": [{"cell_type": "code", "source": "!vllm serve Qwen/Qwen3-8B"}],
        "metadata": {"colab": {"gpuType": "A100"}},
        "nbformat": 4,
    }
)
FOLDER = """
initContainers:
- command: [sh, -c, "huggingface-cli download Qwen/Qwen3-8B --local-dir /models/chat"]
containers:
- image: vllm/vllm-openai:v0.8.4
  args: [--model=/models/chat]
"""
HYDRA = (
    "torchrun --nproc_per_node=8 train.py model_name_or_path=Qwen/Qwen3-8B "
    "trainer.max_seq_length=4096 trainer.per_device_train_batch_size=2 trainer.bf16=true"
)
SCRIPT = """
parser.add_argument("--recompute", action="store_true")
args = parser.parse_args()
TrainingArguments(output_dir="o", gradient_checkpointing=args.recompute)
Trainer(model=AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B"))
"""
DSTACK = """
type: service
commands: [python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp $DSTACK_GPUS_NUM]
resources: {gpu: "24GB:2.."}
replicas: 1..4
"""
RUNTIME = """
kind: ServingRuntime
metadata: {name: own}
spec: {containers: [{args: [--model=/models, --max-model-len=8192]}]}
---
kind: InferenceService
spec:
  predictor:
    model:
      modelFormat: {name: vLLM}
      runtime: own
      storageUri: oci://registry/models:qwen3-8b
"""
JOB = """
kind: PyTorchJob
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: &pod {containers: [{
      command: [torchrun, train.py, --model_name_or_path=Qwen/Qwen3-8B, --max_seq_length=4096],
      resources: {limits: {nvidia.com/gpu: 8}}}]}}
    Worker: {replicas: 3, template: *pod}
"""
FAMILY = """
- matchExpressions: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [g5]}]
- image: vllm/vllm-openai:v0.8.4
  args: [--model, Qwen/Qwen3-8B]
"""
ANSIBLE = """
- vars: {model: Qwen/Qwen3-8B, tp: 2}
  tasks:
  - docker_container:
      image: vllm/vllm-openai:v0.8.4
      command: "--model {{ model }} --tensor-parallel-size {{ tp }}"
"""
ARGO = """
arguments: {parameters: [{name: model, value: Qwen/Qwen3-8B}]}
container: {command: [sh, -c, "vllm serve {{workflow.parameters.model}}"]}
"""
SWITCH = "deepspeed main.py --model_name_or_path Qwen/Qwen3-8B --zero_stage 2 --max_seq_len 512"
P5 = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --constraint="p5"
srun torchrun --nproc_per_node 8 sft.py --model_name_or_path Qwen/Qwen3-8B --max_length 4096
"""
TASKFILE = """
vars: {MODEL: Qwen/Qwen3-8B}
tasks: {serve: {cmds: ["vllm serve {{.MODEL}} --max-model-len 8192"]}}
"""
HELM_RELEASE = """
resource "helm_release" "vllm" {
  values = [<<-YAML
    repository: vllm/vllm-openai
    modelURL: Qwen/Qwen3-8B
    vllmConfig: {tensorParallelSize: 4}
  YAML
  ]
}
"""
SWARM = """
services:
  llm:
    image: vllm/vllm-openai:v0.9.1
    command: --model Qwen/Qwen3-8B
    deploy: {placement: {constraints: ["node.labels.gpu == L40S"]}}
"""
COMPOSER = """
compute: {gpus: 16, gpu_type: a100_80gb}
parameters:
  max_seq_len: 8192
  device_train_microbatch_size: 2
  global_train_batch_size: 128
  model: {name: hf_causal_lm, pretrained_model_name_or_path: Qwen/Qwen3-8B}
"""
PRIME = """
seq_len = 4096
model.name = "Qwen/Qwen3-8B"
orchestrator.batch_size = 128
[deployment]
num_train_gpus = 4
num_infer_gpus = 2
"""
INT8 = 'vllm serve "${1:-Qwen/Qwen3-8B-GPTQ-Int8}" --quantization gptq_marlin'
ZERO2 = "torchrun sft.py --model_name_or_path Qwen/Qwen3-8B --deepspeed zero2_no_offload.json"
PIPELINE = """
count = ParameterInteger(name="Count", default_value=2)
hp = {"model_id": "Qwen/Qwen3-8B", "per_device_train_batch_size": 2, "max_seq_length": 2048}
est = HuggingFace(hyperparameters=hp, instance_type="ml.g5.12xlarge", instance_count=count)
"""


LOOPED = """#!/bin/bash
#SBATCH --nodes=1 --gres=gpu:h100:4
#SBATCH --time=08:00:00
for LR in 1e-5 2e-5; do
  torchrun --nproc_per_node=$(nvidia-smi -L | wc -l) sft.py --model_name_or_path Qwen/Qwen3-8B \\
    --learning_rate $LR --gradient_accumulation_steps $((64 / (2 * SLURM_GPUS_ON_NODE)))
done
"""
WRITTEN = """
LENGTH=8192
cat > conf/run.yaml <<EOF
base_model: Qwen/Qwen3-8B
sequence_len: $LENGTH
micro_batch_size: 2
EOF
axolotl train conf/run.yaml
"""
HYPERPOD = """
python3 main.py recipes=fine-tuning/qwen/hf_qwen3_8b_seq8k_gpu_lora recipes.trainer.num_nodes=2 \\
  recipes.model.hf_model_name_or_path=Qwen/Qwen3-8B instance_type=ml.p5.48xlarge
"""
ENGINE = """
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
settings = {"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 2}}
engine, *_ = deepspeed.initialize(model=model, config=settings)
"""
ESTIMATOR = """
session = boto3.Session(region_name="%s")
HuggingFace(instance_type="ml.p5.48xlarge", max_run=7200, hyperparameters={
    "model_id": "Qwen/Qwen3-8B", "per_device_train_batch_size": 2, "lora_r": 8})
"""


LISTS = """
trainer_gpu_ids = [1, 2]
inference_gpu_ids = [0]
seq_len = 4096
model.name = "Qwen/Qwen3-8B"
[orchestrator]
batch_size = 64
rollouts_per_example = 8
"""
RAY_LOOP = """
def train(config):
    model = AutoModelForCausalLM.from_pretrained(config["model"])
    TrainingArguments(per_device_train_batch_size=config.get("batch", 1), bf16=True)
TorchTrainer(train, train_loop_config={"model": "Qwen/Qwen3-8B", "batch": 6},
             scaling_config=ScalingConfig(num_workers=4))
"""
CODE = """
kind: Job
spec:
  parallelism: 3
  template:
    spec:
      nodeSelector: {node.kubernetes.io/instance-type: g6.12xlarge}
      containers:
        - {command: [python, batch.py]}
---
kind: ConfigMap
data:
  batch.py: |
    llm = LLM(model="Qwen/Qwen3-8B", tensor_parallel_size=4)
"""
CLUSTER = """
kind: RayJob
spec:
  entrypoint: accelerate launch --use_fsdp sft.py --model_name_or_path Qwen/Qwen3-8B
  rayClusterSpec:
    headGroupSpec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}}
    workerGroupSpecs:
      - replicas: 3
        maxReplicas: 3
        template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 8}}}]}}
"""


def runs_of(name, text):
    """The runs of one file."""
    return read_runs([(name, text.encode())], catalogs())


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("justfile", JUSTFILE, {"gpus": "4", "sequence_tokens": "16384"}),
        ("llm.service", UNIT, {"gpus": "2"}),
        ("llm.nomad.hcl", NOMAD, {"gpu": "l40s"}),
        ("values.yaml", LLM_D, {"gpu": "l40s"}),
        (
            "nim.yaml",
            NIM,
            {"model": "llama-3.1-8b", "sequence_tokens": "16384", "instance": "g6e.2xlarge"},
        ),
        ("sky.yaml", SKY, {"gpu": "h100-80gb-sxm", "gpus": "8", "sharding": "zero3"}),
        ("README.md", PAGE, {"instance": "g6e.12xlarge"}),
        ("deploy.py", JUMPSTART, {"model": "llama-3.1-70b", "gpus": "8"}),
        ("serve.ipynb", NOTEBOOK, {"gpu": "a100-40gb-sxm"}),
        ("pod.yaml", FOLDER, {}),
        ("run.sh", HYDRA, {"gpus": "8", "sequence_tokens": "4096", "batch": "2"}),
        ("service.dstack.yml", DSTACK, {"gpus": "2"}),
        ("served.yaml", RUNTIME, {"sequence_tokens": "8192"}),
        ("job.yaml", JOB, {"gpus": "32"}),
        ("pool.yaml", FAMILY, {"gpu": "a10g"}),
        ("play.yml", ANSIBLE, {"gpus": "2"}),
        ("workflow.yaml", ARGO, {}),
        ("rlhf.sh", f"{SWITCH} --lora_dim 8 --deepspeed", {"sharding": "zero2", "problem": ""}),
        ("p5.sbatch", P5, {"gpu": "h100-80gb-sxm", "gpus": "16"}),
        ("Taskfile.yml", TASKFILE, {"sequence_tokens": "8192"}),
        ("release.tf", HELM_RELEASE, {"gpus": "4"}),
        ("swarm.yml", SWARM, {"gpu": "l40s"}),
        ("composer.yaml", COMPOSER, {"gpu": "a100-80gb-sxm", "gpus": "16"}),
        ("rl.toml", PRIME, {"gpus": "6", "rollout_gpus": "2"}),
        ("int8.sh", INT8, {"precision": "gptq-8bit"}),
        ("zero2.sh", f"{ZERO2} --max_seq_length 512", {"sharding": "zero2", "offload": ""}),
        ("pipeline.py", PIPELINE, {"gpus": "8"}),
        ("train.py", SCRIPT, {"recompute": "none"}),
        ("lists.toml", LISTS, {"gpus": "3", "rollout_gpus": "1", "prompts_per_step": "8"}),
        ("loop.py", RAY_LOOP, {"batch": "6", "gpus": "4"}),
        ("batch.yaml", CODE, {"instance": "g6.12xlarge", "gpus": "4"}),
        ("cluster.yaml", CLUSTER, {"gpus": "32", "sharding": "zero3"}),
        ("sweep.sh", LOOPED, {"gpus": "4", "accumulation_steps": "8"}),
        ("run.sh", WRITTEN, {"sequence_tokens": "8192", "batch": "2"}),
        ("launch.sh", HYPERPOD, {"gpus": "16", "tuning": "lora", "sequence_tokens": "8192"}),
        ("engine.py", ENGINE, {"sharding": "zero2", "batch": "4"}),
        ("estimator.py", ESTIMATOR % "us-east-2", {"region": "us-east-2", "gpus": "8"}),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 14 else "",
)
def test_a_launcher_of_any_form_says_what_it_runs(name, text, expected):
    row = runs_of(name, text)[0].row
    expected = {"model": "qwen3-8b"} | expected
    assert {column: row[column] for column in expected} == expected


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("sky.yaml", SKY, "Spot is asked for"),
        (
            "span.yml",
            "commands: [vllm serve Qwen/Qwen3-8B]\nresources: {gpu: 'H100:4..8'}\n",
            "4 to 8 GPUs are allowed",
        ),
        ("llm.nomad.hcl", NOMAD, "2 replicas"),
        ("few.yaml", LLM_D.replace("8B]", "8B, -tp, 4]") + "  gpu: 2", "takes 4 GPUs, and only 2"),
        ("llm.yaml", LLM_D + "  replicas: 1\n  maxReplicas: 4", "1 to 4 replicas"),
        ("service.dstack.yml", DSTACK, "1 to 4 replicas"),
        ("llm.yaml", LLM_D + "  minReplicaCount: 2\n  maxReplicaCount: 8", "2 to 8 replicas"),
        ("run.sh", BRANCH, "if [[ $USE_FSDP == 1 ]]: not decided here"),
        ("sweep.sh", LOOPED, "for LR in 1e-5 2e-5 (2 times)"),
        ("batch.yaml", CODE, "3 replicas"),
        ("task.yaml", SKY.replace("use_spot: true", "spot_policy: auto"), "Spot is allowed beside"),
        ("sweep.sh", LOOPED, "time 08:00:00"),
        ("estimator.py", ESTIMATOR % "us-east-2", "max_run 7200"),
        (
            "sky.yaml",
            SKY.replace(
                "  use", "  any_of: [{infra: aws/us-east-1}, {infra: aws/us-west-2}]\n  use"
            ),
            "regions us-east-1 or us-west-2",
        ),
        ("run.sh", BENCHED, "--random-input-len 4000 --max-concurrency 32"),
    ],
)
def test_what_changes_the_bill_is_said(name, text, said):
    run = runs_of(name, text)[0]
    lines = summary_of(run.row, run.lines, DEFAULTS, {}).not_counted
    assert any(said in line for line in lines)


def test_each_document_with_a_config_is_a_run_of_its_own():
    text = "base_model: Qwen/Qwen3-8B\nmicro_batch_size: 1\n---\n"
    models = [
        run.row["model"] for run in runs_of("a.yml", text + text.replace("8B", "14B").rstrip("-\n"))
    ]
    assert models == ["qwen3-8b", "qwen3-14b"]


def test_a_folder_that_nothing_fills_is_asked_for():
    problem = runs_of("run.sh", "vllm serve /models/chat")[0].row["problem"]
    assert "does not say which model it holds" in problem
