"""The line that says how a row is set: whatever changes its memory changes the line, so that read again it gives the same number."""

from examples import catalogs, table

from calc import estimate
from calc.say.setting import setting
from calc.scenarios.inputs import BY_NAME

TRAINED = {
    "model": "llama-3.1-8b",
    "tuning": "lora",
    "precision": "bf16",
    "gpus": 8,
    "sharding": "zero3",
    "batch": 2,
    "accumulation_steps": 2,
    "sequence_tokens": 4096,
    "instance": "p5.48xlarge",
}
SERVED = {
    "model": "llama-3.1-8b",
    "work": "inference",
    "implementation": "vllm",
    "precision": "bf16",
    "gpus": 8,
    "tensor_parallel": 4,
    "batch": 16,
    "sequence_tokens": 4096,
    "prompt_tokens": 2048,
    "instance": "p5.48xlarge",
}
OTHERS = {
    "training": {
        "precision": "nf4-dq",
        "tuning": "full",
        "lora_rank": 64,
        "lora_targets": "attention",
        "adapter_precision": "bf16",
        "optimizer": "adamw-8bit",
        "optimizer_kernel": "foreach",
        "gradient_precision": "fp32",
        "recompute": "full",
        "attention": "eager",
        "loss": "fused",
        "implementation": "deepspeed",
        "compile": "yes",
        "reduce_precision": "bf16",
        "tie_embeddings": "yes",
        "batch": 4,
        "sequence_tokens": 2048,
        "accumulation_steps": 4,
        "gpus": 16,
        "sharding": "zero1",
        "tensor_parallel": 2,
        "pipeline_parallel": 2,
        "context_parallel": 2,
        "offload": "optimizer",
        "images_per_sequence": 2,
        "image_tokens": 300,
    },
    "inference": {
        "precision": "fp8",
        "implementation": "transformers",
        "attention": "eager",
        "tie_embeddings": "yes",
        "batch": 32,
        "sequence_tokens": 8192,
        "prompt_tokens": 1024,
        "gpus": 16,
        "tensor_parallel": 2,
        "pipeline_parallel": 2,
        "kv_precision": "fp8",
        "max_sequences": 32,
        "max_batched_tokens": 2048,
        "memory_utilization": 0.8,
        "logits": "all",
        "images_per_sequence": 2,
        "image_tokens": 300,
    },
}


def test_what_changes_the_memory_is_in_the_line():
    for base in (TRAINED, SERVED):
        others = OTHERS[base.get("work", "training")]
        before, *changed = table([{}, *({name: value} for name, value in others.items())], **base).to_dict("records")
        assert before["problem"] == ""
        for name, after in zip(others, changed, strict=True):
            assert setting(before, catalogs()) != setting(after, catalogs()), name


def test_every_column_that_may_change_the_memory_is_tried():
    """Place, price and length of the run do not; an encoder's and an expert's columns are not of these models."""
    elsewhere = {
        "scenario",
        "work",
        "model",
        "gpu",
        "instance",
        "region",
        "train_tokens",
        "hours_per_month",
        "private_prices",
        "software_release",
        "runs_per_month",
        "plan_months",
    }
    elsewhere |= {"decoder_tokens", "expert_parallel"}
    assert {*OTHERS["training"], *OTHERS["inference"]} == {*BY_NAME} - elsewhere


def test_the_line_is_in_words_of_the_field():
    said = setting(estimate(TRAINED, catalogs(), solve=False), catalogs())
    assert said.startswith("LoRA rank 16 on all-linear, fp32 adapters, over bf16 · AdamW · FSDP (ZeRO 3) over 8 GPUs")
    assert "micro-batch 2 × 2 steps of 4,096 tokens · no recompute" in said
    said = setting(estimate(SERVED, catalogs(), solve=False), catalogs())
    assert said == "bf16 · 2 replicas · 16 sequences on each of 4,096 tokens · prompt 2,048 · tensor parallel 4 · vLLM"
