"""Columns that follow from several fields: GPUs, accumulation, tokens, LoRA targets."""

from math import prod
from typing import Any

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.files.configs.fields import Tool
from calc.files.configs.gpus_of_run import settle_gpus
from calc.files.configs.model_names import model_id, stored_as
from calc.files.configs.run_settings import RunSettings
from calc.layout import replicas

ALL_LINEAR = "q+k+v+o+gate+up+down"
SINGLE = {
    "target_q": "q",
    "target_k": "k",
    "target_v": "v",
    "target_o": "o",
    "target_mlp": "gate+up+down",
}  # litgpt has a switch for each
LAYOUT = ("tensor_parallel", "pipeline_parallel", "context_parallel")
OF_32_BITS = ("encoder", "encoder-decoder")  # published so: torch_dtype of their config.json
HYBRID, FULL = "hsdp", "zero3"  # sharded inside a node, and over all GPUs
NODE_GPUS = 8  # where no file says how many a node has
# GPUs that generate, more than those that train.
BESIDE = (("engines", "rollout_tensor_parallel"), ("rollout_nodes", "rollout_node_gpus"))
# Those of the cluster that generate.
WITHIN = (("generation_nodes", "gpus_per_node"), ("generation_gpus",))


def derive(settings: RunSettings, main: Tool, catalogs: Catalogs) -> None:
    """Fill in the columns that follow from several fields, as far as these fields are there."""
    _model(settings, main, catalogs)
    _targets(settings)
    _attention_copies(settings, catalogs)
    settle_gpus(settings, main)
    _generating(settings)
    _groups(settings, catalogs.shardings["group_gpus"])
    _experts(settings)
    _stacked_experts(settings, catalogs)
    _lengths(settings)
    copies = _replicas(settings)
    objective = catalogs.objectives.loc[settings.values.get("objective") or "sft"]
    _by_tokens(settings, copies, int(objective["sequences_each"]))
    _pipelined(settings)
    _whole_batch(settings)
    _accumulation(settings, copies)
    _tokens(settings, copies, objective)


def _model(settings: RunSettings, main: Tool, catalogs: Catalogs) -> None:
    """Set the model from its name and size in separate fields: llama3 with flavor 8B."""
    named, size = (settings.values.get(part) for part in ("model", "model_flavor"))
    if named and size and not model_id(str(named), catalogs):
        settings.derive("model", f"{named}-{size}", ("model", "model_flavor"))
    word = " ".join(
        str(settings.values[part])
        for part in ("model_name", "model_flavor", "builder")
        if part in settings.values
    ).lower()
    if word and "model" not in settings.values:
        parts = ("model_flavor", "model_name", "builder")
        spaced = " ".join(word.rsplit("_", 1))  # of llama3_8b, the name of a config function
        settings.derive("model", main.models.get(word) or main.models.get(spaced, word), parts)


def _targets(settings: RunSettings) -> None:
    """Set the LoRA targets from switches: one for each matrix, for all, or for attention."""
    values = settings.values
    switched = [letters for part, letters in SINGLE.items() if values.get(part) == "yes"]
    if switched:
        targets, parts = "+".join(switched), tuple(SINGLE)
    elif values.get("linear") == "yes":
        targets, parts = ALL_LINEAR, ("linear",)
    elif values.get("lora_attention"):
        targets = values["lora_attention"] + (
            "+gate+up+down" if values.get("lora_mlp") == "yes" else ""
        )
        parts = ("lora_attention",)
    else:
        return
    settings.derive("lora_targets", "all-linear" if targets == ALL_LINEAR else targets, parts)


def _groups(settings: RunSettings, group_gpus: pd.Series) -> None:
    """Hybrid sharding with the GPUs of a group; a group size without a catalog entry is unused."""
    copies, sharding = settings.values.get("dp_replicate") or 1, settings.values.get("sharding")
    if sharding == HYBRID:
        part, size = "strategy", settings.values.get("gpus_per_node") or NODE_GPUS
        settings.values["sharding"] = FULL
    elif copies > 1 and sharding != "none":
        ranks = (_replicas(settings) or 0) * int(settings.values.get("context_parallel", 1))
        part, size = "dp_replicate", ranks / copies * (sharding == FULL)
    else:
        return
    matches = group_gpus.index[(group_gpus > 0) & (group_gpus == size)]
    if len(matches):
        settings.derive("sharding", matches[0], (part,))
    else:
        settings.unused[settings.fields[part]] = None


def _attention_copies(settings: RunSettings, catalogs: Catalogs) -> None:
    """Copy attention and its cache where SGLang divides experts alone over all GPUs.

    Source: SGLang, server_args.py, enable_dp_attention: each copy has tp_size / dp_size GPUs.
    """
    values = settings.values
    tensor_parallel, copies = (int(values.get(part) or 1) for part in ("tensor_parallel", "dp"))
    has_experts = _has_experts(settings, catalogs)
    if values.get("dp_attention") != "yes" or not has_experts or tensor_parallel % copies:
        return
    settings.unused.pop(settings.fields["dp_attention"], None)
    settings.derive("tensor_parallel", tensor_parallel // copies, ("tensor_parallel", "dp"))
    settings.derive("replicas", copies, ("dp",))
    if copies > 1:
        settings.derive("expert_parallel", tensor_parallel, ("tensor_parallel", "dp_attention"))


def _stacked_experts(settings: RunSettings, catalogs: Catalogs) -> None:
    """Name the setting without which a quantized model's experts stay in 16 bits."""
    is_quantized = settings.values.get("precision") in ("nf4", "nf4-dq", "int8")
    leaves_experts = settings.values.get("experts_quantized") == "no"
    if is_quantized and leaves_experts and _has_experts(settings, catalogs):
        settings.unused["quantize_moe_experts"] = None


def _has_experts(settings: RunSettings, catalogs: Catalogs) -> bool:
    model = model_id(str(settings.values.get("model", "")), catalogs)
    return bool((catalogs.stacks["experts"][catalogs.stacks["model"] == model] > 0).any())


def _experts(settings: RunSettings) -> None:
    """Divide experts over all GPUs of a replica and all replicas, if the engine spreads them."""
    if settings.values.get("experts_spread") == "yes":
        sizes = [int(settings.values.get(part, 1)) for part in ("tensor_parallel", "replicas")]
        settings.derive("expert_parallel", prod(sizes), ("experts_spread",))


def _replicas(settings: RunSettings) -> int | None:
    """Replicas of the model that trains; None where the GPUs are unknown or do not divide."""
    sizes = {name: int(settings.values.get(name, 1)) for name in ("gpus", *LAYOUT)}
    sizes["gpus"] = max(sizes["gpus"] - int(settings.values.get("rollout_gpus", 0)), 0)
    divides = (
        "gpus" in settings.values and sizes["gpus"] % prod(sizes[name] for name in LAYOUT) == 0
    )
    return int(replicas(sizes)) if divides else None


def _by_tokens(settings: RunSettings, copies: int | None, sequences_each: int) -> None:
    """Micro-batches where a tool counts in tokens, in prompts or over all GPUs.

    `sequences_each`: sequences of one example, two of a pair.
    """
    steps_of_all = int(settings.values.get("accumulation_of_all") or 0)
    if steps_of_all and copies and steps_of_all % copies == 0:
        settings.derive("accumulation_steps", steps_of_all // copies, ("accumulation_of_all",))
    everywhere = settings.values.get("micro_batch_all")
    prompts = settings.values.get("mini_prompts")
    if everywhere and copies and "batch" not in settings.explicit and int(everywhere) % copies == 0:
        settings.derive("batch", int(everywhere) // copies, ("micro_batch_all",))
    rollouts, each = (settings.values.get(part) for part in ("rollouts_per_step", "generations"))
    if rollouts and each and int(rollouts) % int(each) == 0:
        parts = ("rollouts_per_step", "generations")
        settings.derive("prompts_per_step", int(rollouts) // int(each), parts)
    elif rollouts:
        settings.unused[settings.fields["rollouts_per_step"]] = None
    if prompts:
        settings.derive(
            "global_batch",
            int(prompts) * int(settings.values.get("generations", 1)),
            ("mini_prompts", "generations"),
        )
    unit = int(settings.values.get("sequence_tokens") or 0)
    for part, column, several in (
        ("tokens_each", "batch", sequences_each),
        ("score_tokens_each", "log_prob_batch", 1),
    ):
        if unit and settings.values.get(part):  # of each GPU at most, in whole sequences
            most = int(settings.values[part]) * int(settings.values.get("context_parallel", 1))
            settings.derive(column, max(most // (unit * several), 1), (part,))
    for part, column in (("micro_batch_tokens", "batch"), ("step_tokens", "accumulation_steps")):
        tokens = settings.values.get(part)
        if column == "accumulation_steps":
            unit *= int(settings.values.get("batch") or 0) * (copies or 0)
        if tokens and unit and tokens % unit == 0:
            settings.derive(column, tokens // unit, (part,))
        elif tokens:
            settings.unused[settings.fields[part]] = None


def _pipelined(settings: RunSettings) -> None:
    """Split the batch of a rank into the micro-batches that its pipeline stages pass on."""
    batch, each = (int(settings.values.get(part) or 0) for part in ("batch", "stage_batch"))
    if int(settings.values.get("pipeline_parallel") or 1) < 2 or not each or batch % each:
        return
    steps = batch // each * int(settings.values.get("accumulation_steps") or 1)
    settings.derive("batch", each, ("stage_batch", "batch"))
    if "global_batch" not in settings.values:
        settings.derive("accumulation_steps", steps, ("stage_batch", "batch"))


def _whole_batch(settings: RunSettings) -> None:
    """Take the batch of a script as that of all steps where it names a micro-batch beside it."""
    if {"script_batch", "batch"} <= settings.explicit and "global_batch" not in settings.values:
        settings.derive("global_batch", int(settings.values["script_batch"]), ("script_batch",))


def _accumulation(settings: RunSettings, copies: int | None) -> None:
    """Derive micro-batch and accumulation from the global batch and the number of replicas."""
    sequences, batch = settings.values.get("global_batch"), int(settings.values.get("batch") or 0)
    if sequences is None:
        return
    source = settings.fields["global_batch"]
    steps = int(settings.values.get("accumulation_steps") or 1)
    open_batch = "batch" not in settings.values or (
        "batch" in settings.defaulted and "accumulation_steps" in settings.explicit
    )
    if copies and open_batch and sequences % (copies * steps) == 0:
        settings.derive("batch", sequences // (copies * steps), ("global_batch",))
        settings.left.discard("batch")
        if "accumulation_steps" not in settings.values:
            settings.derive("accumulation_steps", 1, ("global_batch",))
        return
    if "accumulation_steps" in settings.explicit or not copies or not batch:
        settings.unused[source] = None
        if "accumulation_steps" in settings.defaulted:
            settings.defaulted.discard("accumulation_steps")
            settings.values.pop("accumulation_steps")
    elif sequences % (copies * batch) and "tokens_each" in settings.made_of.get("batch", ()):
        # filled up to so many tokens, micro-batches differ in their sequences
        settings.derive("accumulation_steps", -(-sequences // (copies * batch)), ("global_batch",))
    elif sequences % (copies * batch):
        settings.complain(
            f"{source}: {sequences} sequences are not a multiple of batch {batch} x {copies} "
            f"replicas; make them one.",
            "batch",
        )
    else:
        settings.derive("accumulation_steps", sequences // (copies * batch), ("global_batch",))


def _tokens(settings: RunSettings, copies: int | None, objective: pd.Series) -> None:
    """Derive the tokens of the run from its samples, or from its steps."""
    values = settings.values
    length, samples = values.get("sequence_tokens"), values.get("samples")
    steps, parts = values.get("steps"), ["steps"]
    if steps is None and values.get("steps_each") is not None:
        steps, parts = int(values["steps_each"] * values.get("epochs", 1)), ["steps_each", "epochs"]
    if samples and length:
        settings.derive("train_tokens", samples * int(length), ("samples",))
    factors = [
        copies,
        values.get("accumulation_steps", 1),
        values.get("batch"),
        objective["sequences_each"],
    ]
    if objective["rolls_out"] and values.get("prompts_per_step"):
        factors = [
            values["prompts_per_step"],
            values.get("generations", objective["usual_generations"]),
        ]
    if steps is not None and (length is None or None in factors):
        settings.unused[settings.fields[parts[0]]] = None
    elif steps is not None:
        settings.derive("train_tokens", steps * prod(map(int, [*factors, length])), parts)


def _lengths(settings: RunSettings) -> None:
    """The length of prompt and answer together, or what the longest sequence leaves to one."""
    source, target = (settings.values.get(name) for name in ("source_tokens", "target_tokens"))
    if source and "sequence_tokens" not in settings.explicit:
        parts = ("source_tokens", "target_tokens") if target else ("source_tokens",)
        settings.derive("sequence_tokens", int(source) + int(target or 0), parts)
    if decoder := settings.values.get("decoder_tokens"):  # behind an encoder of images
        settings.derive("sequence_tokens", int(decoder), ("decoder_tokens",))
    if "sequence_tokens" in settings.explicit and "prompt_tokens" not in settings.explicit:
        settings.values.pop(
            "prompt_tokens", None
        )  # what the sequence leaves, not the tool's usual length
    longest = settings.values.get("most_prompt_tokens")
    both = settings.values.get("sequence_tokens")
    most_new = int(settings.values.get("most_new_tokens") or 0)
    if most_new and both and most_new < int(both) and not longest:
        settings.derive("completion_tokens", most_new, ("most_new_tokens",))
    if longest and both and int(longest) < int(both):
        settings.derive("prompt_tokens", int(longest), ("most_prompt_tokens",))
        new: Any = settings.values.get("most_new_tokens", both)
        most = min(int(both) - int(longest), int(new))
        settings.derive(
            "completion_tokens",
            most,
            ("sequence_tokens", "most_prompt_tokens", "most_new_tokens"),
        )
    prompt, answer = (settings.values.get(name) for name in ("prompt_tokens", "completion_tokens"))
    if prompt and answer and "sequence_tokens" not in settings.explicit:
        settings.derive(
            "sequence_tokens",
            int(prompt) + int(answer),
            ("prompt_tokens", "completion_tokens"),
        )
        settings.left.discard("sequence_tokens")
    elif answer and both and not prompt and int(both) > int(answer):
        settings.derive(
            "prompt_tokens",
            int(both) - int(answer),
            ("sequence_tokens", "completion_tokens"),
        )


def _generating(settings: RunSettings) -> None:
    """The GPUs that generate apart; those of the job are these and those that train."""
    values = settings.values
    parts = next(
        (parts for parts in (*BESIDE, *WITHIN) if all(values.get(part) for part in parts)), ()
    )
    if values.get("rollout") == "own gpus" and parts:
        settings.derive("rollout_gpus", prod(int(values[part]) for part in parts), parts)
        if parts in BESIDE and "gpus" in values:
            settings.derive(
                "gpus",
                int(values["gpus"]) + values["rollout_gpus"],
                ("gpus", "gpus_per_node", *parts),
            )


def settle_stored_format(settings: RunSettings, catalogs: Catalogs) -> None:
    """Set the part `stored`: the number format in the model's name, else the one published."""
    model = str(settings.values.get("model", ""))
    named = stored_as(model)
    stored = named or catalogs.models["published_precision"].get(model_id(model, catalogs), "")
    if stored:
        settings.values["stored"], settings.fields["stored"] = stored, settings.fields["model"]
    if named:
        settings.explicit.add("stored")
    kind = catalogs.models["kind"].get(model_id(model, catalogs), "")
    if settings.values.get("weights") == "auto" and kind in OF_32_BITS:
        settings.values["weights"] = "fp32"
