"""Configs of training and serving tools as scenario rows: every listed field settles its column, and none is dropped."""

import json

import pytest
from examples import catalogs

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


CASES = [
    ("transformers fsdp words", {"yaml": "model_name_or_path: gpt2\n" +
        "per_device_train_batch_size: 2\nfsdp: full_shard auto_wrap offload\nbf16: true\n"},
     {"sharding": "zero3", "offload": "states", "precision": "bf16-mixed", "batch": "2", "implementation": "transformers"}),
    ("transformers autocast", {"yaml": "model_name_or_path: gpt2\nper_device_train_batch_size: 2\nbf16: true\noptim: adamw_torch\n"},
     {"precision": "bf16-autocast", "optimizer": "adamw", "optimizer_kernel": "foreach", "recompute": "none"}),
    ("transformers fp32", {"yaml": "model_name_or_path: gpt2\nper_device_train_batch_size: 2\ndtype: float32\ntorch_compile: true\n"},
     {"precision": "fp32", "compile": "yes"}),
    ("trl", {"yaml": TRL}, {"model": "llama-3.1-8b", "sequence_tokens": "4096", "batch": "2",
      "precision": "bf16-mixed", "recompute": "full",
                            "loss": "fused", "implementation": "trl", "tuning": "full", "accumulation_steps": "1"}),
    ("trl qlora", {"yaml": TRL + "use_peft: true\nload_in_4bit: true\n" +
        "use_bnb_nested_quant: true\nlora_r: 8\nlora_target_modules: [q_proj, v_proj]\n"},
     {"precision": "nf4-dq", "tuning": "lora", "lora_rank": "8", "lora_targets": "q+v"}),
    ("trl 8-bit", {"yaml": TRL + "use_peft: true\nload_in_8bit: true\n"}, {"precision": "int8"}),
    ("trl command", {"sh": "accelerate launch --num_processes 4 train.py --model_name_or_path gpt2 --max_length 512 --bf16 True\n"},
     {"gpus": "4", "model": "gpt2", "sequence_tokens": "512"}),
    ("torchrun", {"sh": "N=8\ntorchrun --nproc_per_node=$N --nnodes 2 t.py --model_name_or_path gpt2 --max_length 512 --max_steps 10\n"},
     {"gpus": "16", "train_tokens": str(10 * 16 * 8 * 512)}),
    ("axolotl", {"yaml": AXOLOTL + "micro_batch_size: 2\nadapter: qlora\n" +
        "load_in_4bit: true\nlora_r: 32\nlora_target_linear: true\nbf16: auto\n"},
     {"model": "llama-2-7b", "precision": "nf4-dq", "tuning": "lora", "lora_rank": "32", "lora_targets": "all-linear", "batch": "2"}),
    ("axolotl full", {"yaml": AXOLOTL + "optimizer: paged_adamw_8bit\n" +
        "gradient_checkpointing: offload\ndp_shard_size: 4\ntensor_parallel_size: 2\n"},
     {"precision": "bf16", "optimizer": "adamw-8bit", "recompute": "full", "offload": "activations", "gpus": "8", "tensor_parallel": "2"}),
    ("axolotl fsdp1", {"yaml": AXOLOTL + "fsdp: [full_shard, auto_wrap]\nfsdp_config:\n  fsdp_offload_params: true\n"},
     {"precision": "bf16-mixed", "sharding": "zero3", "offload": "states"}),
    ("axolotl fsdp2", {"yaml": AXOLOTL + "fsdp_version: 2\nfsdp_config:\n" +
        "  reshard_after_forward: false\nliger_fused_linear_cross_entropy: true\n"},
     {"precision": "bf16", "sharding": "zero2", "loss": "fused"}),
    ("LLaMA-Factory", {"yaml": FACTORY}, {"tuning": "lora", "lora_rank": "8", "lora_targets": "all-linear",
      "recompute": "full", "model": "qwen3-4b"}),
    ("LLaMA-Factory full", {"yaml": FACTORY + "finetuning_type: full\n" +
        "bf16: true\ndisable_gradient_checkpointing: true\nflash_attn: disabled\n"},
     {"precision": "bf16-mixed", "recompute": "none", "attention": "eager"}),
    ("LLaMA-Factory 4-bit", {"yaml": FACTORY + "quantization_bit: 4\nbf16: true\n"}, {"precision": "nf4-dq"}),
    ("torchtune", {"yaml": TUNE + "dtype: bf16\ngradient_accumulation_steps: 8\n"},
     {"model": "llama-3.1-8b", "tuning": "lora", "precision": "bf16", "adapter_precision": "bf16", "accumulation_steps": "8"}),
    ("torchtune 8-bit", {"yaml": TUNE + "optimizer:\n  _component_: bitsandbytes.optim.PagedAdamW8bit\ntokenizer:\n  max_seq_len: 2048\n"},
     {"optimizer": "adamw-8bit", "optimizer_kernel": "loop", "sequence_tokens": "2048"}),
    ("torchtitan", {"toml": TITAN + '[activation_checkpoint]\nmode = "selective"\nselective_ac_option = "op"\n[compile]\nenable = true\n'},
     {"model": "llama-3.1-8b", "precision": "bf16-mixed", "recompute": "selective-ops", "compile": "yes",
      "sharding": "zero3", "batch": "1"}),
    ("torchtitan float8", {"toml": TITAN.replace("[training]", 'converters = ["float8"]\n[training]')}, {"precision": "fp8-mixed"}),
    ("vLLM", {"sh": "vllm serve openai/gpt-oss-120b -tp 2 --max-model-len 8K --max-num-seqs 64 " +
        "--kv-cache-dtype fp8 --gpu-memory-utilization 0.9\n"},
     {"work": "inference", "model": "gpt-oss-120b", "tensor_parallel": "2", "gpus": "2", "sequence_tokens": "8192", "max_sequences": "64",
      "kv_precision": "fp8", "memory_utilization": "0.9", "implementation": "vllm", "precision": ""}),
    ("litgpt qlora", {"yaml": "checkpoint_dir: checkpoints/meta-llama/Meta-Llama-3-8B\nprecision: bf16-true\nquantize: bnb.nf4\n" +
        "devices: 1\nlora_r: 32\nlora_query: true\nlora_key: false\nlora_value: true\nlora_projection: false\nlora_mlp: false\n" +
        "train:\n  global_batch_size: 8\n  micro_batch_size: 2\n  max_seq_length: 512\n"},
     {"model": "llama-3-8b", "precision": "nf4", "tuning": "lora", "lora_targets": "q+v", "lora_rank": "32", "accumulation_steps": "4",
      "sharding": "none", "recompute": "none", "gpus": "1", "implementation": "litgpt"}),
    ("litgpt several", {"yaml": "checkpoint_dir: x/Meta-Llama-3-8B\nprecision: bf16-true\ndevices: 8\nlora_query: true\nlora_key: true\n" +
        "lora_value: true\nlora_projection: true\nlora_mlp: true\ntrain:\n  micro_batch_size: 1\n"},
     {"sharding": "zero3", "recompute": "full", "gpus": "8", "lora_targets": "all-linear", "precision": "bf16"}),
    ("LLM Foundry", {"yaml": "variables:\n  max_seq_len: 4096\nmax_seq_len: ${variables.max_seq_len}\nmodel:\n  name: hf_causal_lm\n" +
        "  pretrained_model_name_or_path: meta-llama/Llama-3.1-70B-Instruct\n  use_flash_attention_2: true\nprecision: amp_bf16\n" +
        "device_train_microbatch_size: 1\nglobal_train_batch_size: 32\nfsdp_config:\n  sharding_strategy: FULL_SHARD\n" +
        "  mixed_precision: PURE\n  activation_checkpointing: true\noptimizer:\n  name: decoupled_adamw\ncompute:\n  gpus: 16\n"},
     {"model": "llama-3.1-70b", "sequence_tokens": "4096", "sharding": "zero3", "recompute": "full", "reduce_precision": "bf16",
      "accumulation_steps": "2", "gpus": "16", "precision": "bf16-mixed", "optimizer": "adamw", "implementation": "llm-foundry"}),
    ("Megatron-LM", {"sh": "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 32 --hidden-size 4096 " +
        "--ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention --num-query-groups 8 --vocab-size 128256 " +
        "--seq-length 8192 --micro-batch-size 1 --global-batch-size 128 --train-iters 100 --bf16 --use-distributed-optimizer " +
        "--tensor-model-parallel-size 2 --recompute-granularity selective --swiglu\n"},
     {"model": "llama-3-8b", "gpus": "16", "tensor_parallel": "2", "sharding": "zero1", "recompute": "selective",
      "precision": "bf16-master",
      "gradient_precision": "fp32", "accumulation_steps": "16", "train_tokens": str(100 * 128 * 8192), "implementation": "megatron"}),
    ("SGLang", {"sh": "python -m sglang.launch_server --model-path meta-llama/Llama-4-Scout-17B-16E-Instruct --tp 8 --dp 2 " +
        "--context-length 65536 --max-running-requests 64 --kv-cache-dtype fp8_e5m2\n"},
     {"work": "inference", "model": "llama-4-scout-17b-16e", "tensor_parallel": "8", "gpus": "16", "sequence_tokens": "65536",
      "max_sequences": "64", "kv_precision": "fp8", "implementation": ""}),
    ("SGLang's attention", {"sh": "python -m sglang.launch_server --model deepseek-ai/DeepSeek-V3 --tp 8 --dp 8 --enable-dp-attention\n"},
     {"gpus": "8", "tensor_parallel": "8"}),
    ("TensorRT-LLM", {"sh": "trtllm-serve meta-llama/Llama-3.3-70B-Instruct --tp_size 4 --max_batch_size 64 --max_seq_len 8192\n"},
     {"work": "inference", "model": "llama-3.3-70b", "tensor_parallel": "4", "gpus": "4", "max_sequences": "64", "sequence_tokens": "8192",
      "max_batched_tokens": "8192"}),
    ("SkyPilot", {"yaml": "resources:\n  accelerators: H200:8\nnum_nodes: 4\nrun: |\n  NP=$(($SKYPILOT_NUM_GPUS_PER_NODE * " +
        "$SKYPILOT_NUM_NODES))\n  accelerate launch --num_processes $NP train.py --model_name_or_path gpt2 --max_length 512\n"},
     {"model": "gpt2", "gpus": "32", "gpu": "h200-sxm", "sequence_tokens": "512", "implementation": "trl"}),
    ("SkyPilot place", {"yaml": "resources:\n  infra: aws/us-west-2\n  instance_type: p5.48xlarge\nenvs:\n  MODEL: gpt2\n" +
        "run: |\n  vllm serve $MODEL --max-model-len 512\n"},
     {"work": "inference", "model": "gpt2", "instance": "p5.48xlarge", "region": "us-west-2"}),
    ("torchtitan 2026", {"json": json.dumps({"model_spec": {"name": "llama3", "flavor": "70B"}, "hf_assets_path": "x",
      "optimizer": {"param_groups": [{"pattern": ".*", "optimizer_name": "AdamW"}], "implementation": "foreach"},
      "training": {"local_batch_size": 2, "seq_len": 4096}, "parallelism": {"tensor_parallel_degree": 8},
      "activation_checkpoint": {"force_recompute_mm_shapes_by_fqns": ["moe.router.gate"]}, "loss": {"num_chunks": 8}})},
     {"model": "llama-3.1-70b", "batch": "2", "sequence_tokens": "4096", "recompute": "selective-ops", "loss": "fused",
      "tensor_parallel": "8", "optimizer_kernel": "foreach"}),
    ("torchtitan function", {"py": "def llama3_8b():\n    return Trainer.Config(\n        model_spec=model_registry('8B'),\n" +
        "        training=TrainingConfig(num_tokens_per_microbatch_per_dp_rank=4 * 8192, max_context_length=8192),\n" +
        "        activation_checkpoint=FullAC.Config(),\n        compile=CompileConfig(enable=True),\n    )\n"},
     {"model": "llama-3.1-8b", "batch": "4", "sequence_tokens": "8192", "recompute": "full", "compile": "yes"}),
    ("LLaMA-Factory v1", {"yaml": "model: Qwen/Qwen3-4B\nmodel_class: llm\npeft_config:\n  name: lora\n  r: 16\n  target_modules: all\n" +
        "quant_config:\n  name: bnb\n  quantization_bit: 4\ndist_config:\n  name: fsdp2\nmicro_batch_size: 2\ncutoff_len: 1024\n"},
     {"model": "qwen3-4b", "tuning": "lora", "lora_rank": "16", "lora_targets": "all-linear", "precision": "nf4-dq", "sharding": "zero3",
      "batch": "2", "sequence_tokens": "1024", "recompute": "full", "loss": "full"}),
    ("GPT-NeoX", {"yaml": '{"pipe_parallel_size": 0, "model_parallel_size": 2, "num_layers": 44, "hidden_size": 6144, ' +
        '"num_attention_heads": 64, "seq_length": 2048, "zero_optimization": {"stage": 1}, "fp16": {"enabled": True, "fp16": True}, ' +
        '"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8, "attention_config": [[["flash"], "all"]], ' +
        '"optimizer": {"type": "Adam",}, "checkpoint_activations": true,}'},
     {"model": "gpt-neox-20b", "pipeline_parallel": "1", "tensor_parallel": "2", "attention": "flash", "recompute": "full",
      "precision": "fp16-master", "sharding": "zero1", "batch": "4", "accumulation_steps": "8", "implementation": "deepspeed"}),
    ("NeMo", {"yaml": "trainer:\n  devices: 8\n  num_nodes: 2\n  precision: bf16\n  max_steps: 10\nmodel:\n  micro_batch_size: 1\n" +
        "  global_batch_size: 32\n  tensor_model_parallel_size: 2\n  encoder_seq_length: 4096\n  num_layers: 32\n  hidden_size: 4096\n" +
        "  num_attention_heads: 32\n  num_query_groups: 8\n  ffn_hidden_size: 14336\n  optim:\n    name: distributed_fused_adam\n"},
     {"gpus": "16", "sharding": "zero1", "precision": "bf16-master", "accumulation_steps": "4", "train_tokens": str(10 * 32 * 4096),
      "implementation": "megatron"}),
    ("Slurm", {"sh": "#SBATCH --nodes=2 # of them\n#SBATCH --gres=gpu:h100:8\n#SBATCH --exclusive\nmodule load cuda\n" +
        "srun torchrun --nnodes $SLURM_NNODES train.py --max_context_width=8192 --num_layers=80 --hidden_width=8192 --num_heads=64 " +
        "--num_key_value_heads=8 --intermediate_size=28672 --model_type=llama_v3 --train_batch_size=1 --offload_activations=1\n"},
     {"gpus": "16", "model": "llama-3-70b", "sharding": "zero3", "offload": "activations", "recompute": "full",
      "precision": "bf16-mixed"}),
    ("EC2", {"sh": "aws ec2 run-instances --region eu-west-1 --instance-type p5.48xlarge --count 2 --image-id \"$IMAGE\"\n" +
        "torchrun --nnodes 2 --nproc_per_node 8 t.py --model_name_or_path gpt2 --max_length 512\n"},
     {"instance": "p5.48xlarge", "region": "eu-west-1", "gpus": "16", "model": "gpt2"}),
    ("a script of one's own", {"sh": "accelerate launch --num_processes 4 train.py --model_id openai/gpt-oss-20b --lr 1\n"},
     {"model": "gpt-oss-20b", "gpus": "4", "unused": "lr"}),
    ("LLM Foundry's tokens", {"yaml": "model:\n  pretrained_model_name_or_path: gpt2\nmax_seq_len: 512\nmax_duration: 2e9tok\n"},
     {"train_tokens": "2000000000"}),
    ("vLLM quantised", {"sh": "vllm serve casperhansen/Llama-3.1-8B-Instruct-AWQ --enable-expert-parallel " +
        "-dp 2 --max-num-batched-tokens 4096\n"},
     {"model": "llama-3.1-8b", "precision": "awq-4bit", "expert_parallel": "2", "gpus": "2", "max_batched_tokens": "4096"}),
]  # fmt: skip


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


def test_what_the_tool_takes_by_itself_is_told_apart_from_what_the_file_says():
    found = row(yaml=TRL + "bf16: true\ndtype: bfloat16\n")
    assert {"recompute", "loss", "accumulation_steps"} <= set(listed(found["source_defaults"]))
    assert not {"model", "batch", "precision", "sequence_tokens"} & set(listed(found["source_defaults"]))
    assert {"gpus", "gpu", "instance"} <= set(listed(found["not_said"]))
    assert "kv_precision" not in listed(found["not_said"])


def test_a_file_that_is_named_and_not_given_leaves_its_columns_open():
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


def test_sizes_of_no_model_are_one_sentence():
    found = row(sh="torchrun p.py --num-layers 3 --hidden-size 96 --num-attention-heads 3 --tensor-model-parallel-size 1\n")
    assert "no model of the catalog has these sizes (heads 3, hidden 96, layers 3)" in found["problem"]


def test_the_table_of_fields_leads_to_columns_and_parts_that_are_used():
    listed_rules = [rule for tool in tools().values() for name in tool.rules for rule in rules()[name]]
    used = {part for rule in listed_rules for part in (*rule["when"], rule["is"].removeprefix("="))}
    derived = {"global_batch", "steps", "dp_shard", "dp_replicate", "gpus_per_node", "nodes", "replicas", "experts_spread", "linear"}
    derived |= {"lora_attention", "lora_mlp", "model_name", "model_flavor", "component", "compile_parts", "float8", "plugins"}
    derived |= {
        "tokenizer",
        "chunks",
        "micro_batch_tokens",
        "step_tokens",
        "samples",
        "accelerate",
        "deepspeed",
        "vllm",
        "litgpt",
        "trtllm",
        "foundry",
        "megatron",
        *SINGLE,
    }
    derived |= {f"size_{name}" for name in ("model_type", "layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "experts")}
    for tool in tools().values():
        for told in tool.fields.values():
            assert told.read == "open" or told.to in BY_NAME or told.to in used | derived, (tool.id, told.name)
            assert told.read != "words" or told.words, (tool.id, told.name)
    for identifier in [*copies().values(), *(each for tool in tools().values() for each in tool.models.values())]:
        assert identifier in catalogs().models.index, identifier


def test_a_model_of_anothers_shapes_is_that_model():
    assert row(sh="vllm serve deepseek-ai/DeepSeek-V3.1-Base -tp 8\n")["model"] == "deepseek-v3"
    assert row(sh="vllm serve Qwen/Qwen2.5-Coder-32B-Instruct-AWQ\n")["model"] == "qwen2.5-32b"
    assert "not in the catalog" in row(sh="vllm serve Qwen/Qwen2.5-Other-32B\n")["problem"]
