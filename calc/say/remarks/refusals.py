"""The sentences on refused layouts, objectives and places, by the code of their rule."""

from calc.remarks import Sentences
from calc.say.remarks.contexts import context_exceeded

LAYOUTS: Sentences = {
    "positions-exceeded": (
        "{model} has learned positions for {longest_sequence_tokens:.0f} tokens, and "
        "{tokens:.0f} are asked for; take at most {longest_sequence_tokens:.0f}."
    ),
    "context-exceeded": context_exceeded,
    "images-not-taken": (
        "{model} takes no images or sounds, or its tower is not modeled; set "
        "images_per_sequence to 0."
    ),
    "images-exceed-tokens": (
        "{images_per_sequence:g} images or sounds are {tokens:,.0f} tokens, more than {what} "
        "({held:,.0f}); raise it, or take fewer."
    ),
    "images-with-parallel": (
        "Images and sounds are not estimated with pipeline or context parallel; set both to "
        "1, or images_per_sequence to 0."
    ),
    "degrees-exceed-gpus": (
        "tensor x pipeline x context parallel is {replica_gpus:.0f}, more than the "
        "{training_gpus:.0f} GPUs; take {replica_gpus:.0f} GPUs or smaller degrees."
    ),
    "gpus-not-divided": (
        "{training_gpus:.0f} GPUs do not divide by tensor x pipeline x context parallel = "
        "{replica_gpus:.0f}; take {below:.0f} or {above:.0f} GPUs."
    ),
    "heads-not-divided": (
        "tensor parallel {tensor_parallel:.0f} does not divide the {most_heads:.0f} heads of "
        "{model}; take {nearest}."
    ),
    "stages-exceed-blocks": (
        "pipeline parallel {pipeline_parallel:.0f} exceeds the {all_layers:.0f} blocks of "
        "{model}; take at most {all_layers:.0f}."
    ),
    "no-experts": "{model} has no experts to divide; set expert_parallel to 1.",
    "experts-not-divided": (
        "expert parallel {expert_parallel:.0f} does not divide the {most_experts:.0f} experts "
        "of {model}; take {nearest}."
    ),
    "experts-exceed-stage": (
        "expert parallel {expert_parallel:.0f} needs as many GPUs per pipeline stage, and "
        "there are {stage:.0f}; take at most that."
    ),
    "sequence-not-divided": (
        "context parallel {context_parallel:.0f} does not divide {sequence_tokens:.0f} tokens "
        "evenly; take a multiple of {twice:.0f} tokens."
    ),
    "states-not-divided": (
        "{implementation} does not divide sequences of {model} over GPUs, whose layers keep a "
        "state from token to token; set context_parallel to 1, or choose implementation "
        "megatron."
    ),
    "shard-group-not-filled": (
        "{sharding} shards inside groups of {group_gpus:.0f} GPUs, and data x context "
        "parallel is {ranks:.0f}; take a multiple of {group_gpus:.0f}, or sharding zero3."
    ),
    "offload-in-serving": "Offloading is estimated for training; set offload to none to serve.",
    "context-parallel-in-serving": (
        "Context parallel is estimated for training only; set context_parallel to 1 to serve."
    ),
    "prompt-exceeds-sequence": (
        "prompt_tokens {prompt_tokens:.0f} exceeds sequence_tokens {sequence_tokens:.0f}, "
        "which holds prompt and answer; raise sequence_tokens."
    ),
    "needs-engine": (
        "A shared or reused prompt, turns, speculation, served adapters and a cache in CPU "
        "memory are estimated for implementation vllm; choose it, or leave "
        "shared_prompt_tokens, reused_prompt_tokens, turns, speculation, adapters and "
        "kv_offload_bytes empty."
    ),
    "shared-prompt-exceeds-prompt": (
        "shared_prompt_tokens {shared_prompt_tokens:.0f} exceeds prompt_tokens "
        "{prompt_tokens:.0f}, which begins with them; raise prompt_tokens."
    ),
    "reused-prompt-exceeds-prompt": (
        "reused_prompt_tokens {reused_prompt_tokens:.0f} exceeds prompt_tokens "
        "{prompt_tokens:.0f}, which holds them; raise prompt_tokens."
    ),
    "turns-and-reused-prompt": (
        "turns {turns:.0f} and reused_prompt_tokens {reused_prompt_tokens:.0f} both say what "
        "earlier turns leave in the cache; leave one of the two empty."
    ),
    "turns-without-answers": (
        "A conversation of {turns:.0f} turns needs answers, and none is generated; raise "
        "sequence_tokens above prompt_tokens, or set turns to 1."
    ),
    "turns-exceed-prompt": (
        "The prompt of a mean turn has {prompt_tokens:,.0f} tokens, too few for {turns:.0f} "
        "turns with answers of {answer:,.0f} tokens; take fewer turns, or prompts of at least "
        "{least:,.0f} tokens."
    ),
    "prefix-cache-unknown": (
        "The memory that a prefix cache saves for {model} is not known; leave "
        "shared_prompt_tokens, reused_prompt_tokens and turns empty."
    ),
    "encoder-in-vllm": (
        "vLLM's cache serves decoders; choose implementation transformers for an encoder."
    ),
    "trains-decoders-only": (
        "{implementation} trains decoders of text alone, and {model} is none; choose "
        "implementation transformers."
    ),
    "no-such-layer": "{model} has no linear layer named {lora_targets}; choose all-linear.",
    "shard-not-whole-blocks": (
        "{implementation} refuses {model} in {precision} with tensor parallel "
        "{tensor_parallel:.0f}: a GPU's {refused_shard_elements:g} columns are not whole "
        "blocks of {scale_elements:.0f}; take fewer GPUs to a replica, experts divided by as "
        "many (expert_parallel), or another precision."
    ),
}
OBJECTIVES: Sentences = {
    "rollout-share-too-small": (
        "The rollout engine's weights are {weights:.1f} GiB on each card, and its share of "
        "{rollout_share:.2g} is {share:.1f}; take a larger rollout_share or "
        "rollout_tensor_parallel, or rollout own gpus."
    ),
    "objective-needs-decoder": (
        "objective {objective} trains models that make text token by token; {model} is none, "
        "choose sft."
    ),
    "adapter-off-without-adapters": (
        "reference adapter-off is the base without LoRA's adapters, and tuning is full; "
        "choose kept, precomputed or none."
    ),
    "rollout-leaves-no-gpus": (
        "rollout_gpus {rollout_gpus:.0f} leaves none of the {gpus:.0f} GPUs to train; take "
        "fewer, or more GPUs."
    ),
    "rollout-not-divided": (
        "rollout_tensor_parallel {rollout_tensor_parallel:.0f} does not divide the "
        "{rollout_gpus:.0f} GPUs that generate; take a divisor."
    ),
}
PLACEMENT: Sentences = {
    "fraction-not-joined": (
        "{instance} is a fraction of a card, and fractions cannot be joined; take 1 GPU or "
        "whole cards."
    ),
    "tensor-parallel-exceeds-island": (
        "Tensor parallel {tensor_parallel:.0f} leaves the {island_gpus:.0f} GPUs that "
        "{instance} joins; take at most {island_gpus:.0f}, and pipeline or data parallel "
        "between instances."
    ),
    "network-too-slow": (
        "{instance} has no EFA of 100 Gbit/s or more, which work over several instances "
        "needs; take at most {instance_gpus:.0f} GPUs or a type with it."
    ),
    "host-memory-exceeded": (
        "Offloading takes {need:.0f} GiB of CPU memory on each {instance}, which has "
        "{has:.0f}; offload less, shard over more GPUs or take an instance with more."
    ),
    "expert-not-whole-tiles": (
        "{implementation} fails with {model} in {precision} on a card without fp8: a GPU's "
        "{untiled_shard_elements:g} columns of an expert are not whole tiles of its kernel "
        "({serving_marlin_expert_tile:.0f}); take another precision, or other GPUs to a "
        "replica."
    ),
}
