"""Configs of training and serving tools as scenario rows: every listed field settles its column, and none is dropped."""

import json

import pytest
from examples import catalogs

from calc.configs.fields import rules, tools
from calc.configs.problem import ConfigProblem
from calc.configs.run import run_row
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
    kinds = {"yaml": "a.yaml", "toml": "a.toml", "json": "a.json", "sh": "a.sh"}
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


@pytest.mark.parametrize("tool", tools().values(), ids=lambda tool: tool.id)
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


def test_the_table_of_fields_leads_to_columns_and_parts_that_are_used():
    used = {part for name in ("huggingface", "torchtitan", "torchtune", "vllm") for rule in rules(name) for part in rule["when"]}
    derived = {"global_batch", "steps", "dp_shard", "dp_replicate", "gpus_per_node", "nodes", "replicas", "experts_spread", "linear"}
    derived |= {"lora_attention", "lora_mlp", "model_name", "model_flavor", "component", "compile_parts", "float8", "plugins"}
    derived |= {"accelerate", "deepspeed", "vllm"}
    for tool in tools().values():
        for told in tool.fields.values():
            assert told.read == "open" or told.to in BY_NAME or told.to in used | derived, (tool.id, told.name)
            assert told.read != "words" or told.words, (tool.id, told.name)
        for identifier in tool.models.values():
            assert identifier in catalogs().models.index, identifier
