"""Columns that several fields settle together: GPUs, accumulation, tokens, LoRA targets."""

from math import prod

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.files.configs.fields import Tool
from calc.files.configs.model_names import model_id, stored_as
from calc.files.configs.settled import Settled
from calc.layout import replicas
from calc.scenarios.inputs import BY_NAME
from calc.units import GIB

ALL_LINEAR = "q+k+v+o+gate+up+down"
SINGLE = {
    "target_q": "q",
    "target_k": "k",
    "target_v": "v",
    "target_o": "o",
    "target_mlp": "gate+up+down",
}  # litgpt has a switch for each
LAYOUT = ("tensor_parallel", "pipeline_parallel", "context_parallel")
HYBRID, FULL = "hsdp", "zero3"  # sharded inside a node, and over all GPUs
SHOWN_SHARE = 0.9  # of the memory that a card is sold with, its driver reports at least so much
NODE_GPUS = 8  # where no file says how many a node has
BESIDE = (
    ("engines", "rollout_tensor_parallel"),
    ("rollout_nodes", "rollout_node_gpus"),
)  # GPUs that generate, more than those that train
WITHIN = (
    ("generation_nodes", "gpus_per_node"),
    ("generation_gpus",),
)  # those of the cluster that generate


def derive(settled: Settled, main: Tool, catalogs: Catalogs) -> None:
    """Fill in the columns that several fields settle; a field that does not suffice is unused."""
    _model(settled, main)
    _targets(settled)
    _gpus(settled, main)
    _generating(settled)
    _groups(settled, catalogs.shardings["group_gpus"])
    _experts(settled)
    _lengths(settled)
    copies = _replicas(settled)
    objective = catalogs.objectives.loc[settled.values.get("objective") or "sft"]
    _by_tokens(settled, copies, int(objective["sequences_each"]))
    _accumulation(settled, copies)
    _tokens(settled, copies, objective)


def _set(
    settled: Settled, column: str, value: int | str, parts: list[str] | tuple[str, ...]
) -> None:
    """Settle a column from parts; it is a default where all of them are."""
    settled.values[column], settled.made_of[column] = value, tuple(parts)
    settled.fields[column] = next(
        (settled.fields[part] for part in parts if part in settled.fields), column
    )
    if not any(part in settled.explicit for part in parts):
        settled.defaulted.add(column)
        return
    settled.defaulted.discard(column)
    if column not in BY_NAME:
        settled.explicit.add(column)


def _model(settled: Settled, main: Tool) -> None:
    word = " ".join(
        str(settled.values[part])
        for part in ("model_name", "model_flavor", "builder")
        if part in settled.values
    ).lower()
    if word and "model" not in settled.values:
        parts = ("model_flavor", "model_name", "builder")
        spaced = " ".join(word.rsplit("_", 1))  # of llama3_8b, the name of a config function
        _set(settled, "model", main.models.get(word) or main.models.get(spaced, word), parts)


def _targets(settled: Settled) -> None:
    values = settled.values
    switched = [letters for part, letters in SINGLE.items() if values.get(part) == "yes"]
    if switched:
        targets, parts = "+".join(switched), tuple(SINGLE)
    elif values.get("linear") == "yes":
        targets, parts = ALL_LINEAR, ("linear",)
    elif values.get("lora_attention"):
        targets, parts = (
            values["lora_attention"] + ("+gate+up+down" if values.get("lora_mlp") == "yes" else ""),
            ("lora_attention",),
        )
    else:
        return
    _set(settled, "lora_targets", "all-linear" if targets == ALL_LINEAR else targets, parts)


def _gpus(settled: Settled, main: Tool) -> None:
    """All GPUs of the job: those of each node, or those that the layout of a service takes."""
    if "gpus" in settled.explicit:
        return
    per_node = settled.values.get("gpus_per_node") if "nodes" not in settled.left else None
    source = "gpus_per_node"
    if not per_node and "nodes" not in settled.left:
        per_node, source = settled.values.get("asked_gpus"), "asked_gpus"
    sizes = [settled.values.get(part) for part in main.product]
    if main.work == "inference" or (not per_node and settled.values.get("dp_shard") is not None):
        _set(
            settled,
            "gpus",
            prod(int(size or 1) for size in sizes),
            [part for part in main.product if part in settled.explicit],
        )
    elif per_node:
        parts = (source, *(["nodes"] if "nodes" in settled.explicit else []))
        _set(settled, "gpus", int(per_node) * int(settled.values.get("nodes", 1)), parts)
    elif {"nodes", "gpus_per_node"} & settled.left:
        settled.unused |= {
            settled.fields[part]: None
            for part in ("gpus_per_node", "nodes")
            if part in settled.fields
        }
    elif "nodes" in settled.explicit:
        settled.unused[settled.fields["nodes"]] = None
    if settled.values.get("dp_shard") is not None and "gpus" not in settled.values:
        settled.unused[settled.fields["dp_shard"]] = None


def machine(settled: Settled, main: Tool, catalogs: Catalogs) -> None:
    """Settle what a file says of its machine otherwise than as an id: its memory, all its GPUs."""
    memory, instance = settled.values.get("card_memory_gb"), settled.values.get("instance")
    if memory and not {"gpu", "instance"} & settled.explicit:
        sold = catalogs.gpus.loc[catalogs.gpus.index.isin(catalogs.instances["gpu"])]
        sizes = sold["memory_bytes"].astype(float) / GIB
        fits = sizes[sizes >= SHOWN_SHARE * float(memory)].sort_values(kind="stable")
        whole = [name for name in fits.index if "/" not in str(name)]
        if whole:
            smallest = [name for name in whole if fits[name] <= fits[whole[0]] * 1.02]
            _set(settled, "gpu", max(map(str, smallest)), ("card_memory_gb",))
    if instance in catalogs.instances.index and "asked_gpus" not in settled.values:
        settled.values["asked_gpus"] = int(catalogs.instances["gpus"][instance])
        settled.fields["asked_gpus"] = settled.fields["instance"]
        if main.work == "training":
            settled.explicit.add("asked_gpus")


def _groups(settled: Settled, group_gpus: pd.Series) -> None:
    """Hybrid sharding with the GPUs of a group; a group size without a catalog entry is unused."""
    copies, sharding = settled.values.get("dp_replicate") or 1, settled.values.get("sharding")
    if sharding == HYBRID:
        part, size = "strategy", settled.values.get("gpus_per_node") or NODE_GPUS
        settled.values["sharding"] = FULL
    elif copies > 1 and sharding != "none":
        ranks = (_replicas(settled) or 0) * int(settled.values.get("context_parallel", 1))
        part, size = "dp_replicate", ranks / copies * (sharding == FULL)
    else:
        return
    matches = group_gpus.index[(group_gpus > 0) & (group_gpus == size)]
    if len(matches):
        _set(settled, "sharding", matches[0], (part,))
    else:
        settled.unused[settled.fields[part]] = None


def _experts(settled: Settled) -> None:
    if settled.values.get("experts_spread") == "yes":
        sizes = [int(settled.values.get(part, 1)) for part in ("tensor_parallel", "replicas")]
        _set(settled, "expert_parallel", prod(sizes), ("experts_spread",))


def _replicas(settled: Settled) -> int | None:
    """Replicas of the model that trains; None where the GPUs are unknown or do not divide."""
    sizes = {name: int(settled.values.get(name, 1)) for name in ("gpus", *LAYOUT)}
    sizes["gpus"] = max(sizes["gpus"] - int(settled.values.get("rollout_gpus", 0)), 0)
    divides = "gpus" in settled.values and sizes["gpus"] % prod(sizes[name] for name in LAYOUT) == 0
    return int(replicas(sizes)) if divides else None


def _by_tokens(settled: Settled, copies: int | None, sequences_each: int) -> None:
    """Micro-batches where a tool counts in tokens, in prompts or over all GPUs.

    `sequences_each`: sequences of one example, two of a pair.
    """
    everywhere, prompts = settled.values.get("micro_batch_all"), settled.values.get("mini_prompts")
    if everywhere and copies and "batch" not in settled.explicit and int(everywhere) % copies == 0:
        _set(settled, "batch", int(everywhere) // copies, ("micro_batch_all",))
    if prompts:
        _set(
            settled,
            "global_batch",
            int(prompts) * int(settled.values.get("generations", 1)),
            ("mini_prompts", "generations"),
        )
    unit = int(settled.values.get("sequence_tokens") or 0)
    for part, column, several in (
        ("tokens_each", "batch", sequences_each),
        ("score_tokens_each", "log_prob_batch", 1),
    ):
        if unit and settled.values.get(part):  # of each GPU at most, in whole sequences
            most = int(settled.values[part]) * int(settled.values.get("context_parallel", 1))
            _set(settled, column, max(most // (unit * several), 1), (part,))
    for part, column in (("micro_batch_tokens", "batch"), ("step_tokens", "accumulation_steps")):
        tokens = settled.values.get(part)
        if column == "accumulation_steps":
            unit *= int(settled.values.get("batch") or 0) * (copies or 0)
        if tokens and unit and tokens % unit == 0:
            _set(settled, column, tokens // unit, (part,))
        elif tokens:
            settled.unused[settled.fields[part]] = None


def _accumulation(settled: Settled, copies: int | None) -> None:
    sequences, batch = settled.values.get("global_batch"), settled.values.get("batch")
    if sequences is None:
        return
    source = settled.fields["global_batch"]
    steps = int(settled.values.get("accumulation_steps") or 1)
    open_batch = "batch" not in settled.values or (
        "batch" in settled.defaulted and "accumulation_steps" in settled.explicit
    )
    if copies and open_batch and sequences % (copies * steps) == 0:
        _set(settled, "batch", sequences // (copies * steps), ("global_batch",))
        settled.left.discard("batch")
        if "accumulation_steps" not in settled.values:
            _set(settled, "accumulation_steps", 1, ("global_batch",))
        return
    if "accumulation_steps" in settled.explicit or not copies or not batch:
        settled.unused[source] = None
        if "accumulation_steps" in settled.defaulted:
            settled.defaulted.discard("accumulation_steps")
            settled.values.pop("accumulation_steps")
    elif sequences % (copies * batch) and "tokens_each" in settled.made_of.get("batch", ()):
        # filled up to so many tokens, micro-batches differ in their sequences
        _set(settled, "accumulation_steps", -(-sequences // (copies * batch)), ("global_batch",))
    elif sequences % (copies * batch):
        settled.problems.append(
            f"{source}: {sequences} sequences are not a multiple of batch {batch} x {copies} "
            f"replicas; make them one."
        )
    else:
        _set(settled, "accumulation_steps", sequences // (copies * batch), ("global_batch",))


def _tokens(settled: Settled, copies: int | None, objective: pd.Series) -> None:
    values = settled.values
    length, samples, steps = (
        values.get("sequence_tokens"),
        values.get("samples"),
        values.get("steps"),
    )
    if samples and length:
        _set(settled, "train_tokens", samples * int(length), ("samples",))
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
        settled.unused[settled.fields["steps"]] = None
    elif steps is not None:
        _set(settled, "train_tokens", steps * prod(map(int, [*factors, length])), ("steps",))


def _lengths(settled: Settled) -> None:
    """The length of prompt and answer together, or what the longest sequence leaves to one."""
    if "sequence_tokens" in settled.explicit and "prompt_tokens" not in settled.explicit:
        settled.values.pop(
            "prompt_tokens", None
        )  # what the sequence leaves, not the tool's usual length
    longest, both = settled.values.get("most_prompt_tokens"), settled.values.get("sequence_tokens")
    if longest and both and int(longest) < int(both):
        _set(settled, "prompt_tokens", int(longest), ("most_prompt_tokens",))
        most = min(int(both) - int(longest), int(settled.values.get("most_new_tokens", both)))
        _set(
            settled,
            "completion_tokens",
            most,
            ("sequence_tokens", "most_prompt_tokens", "most_new_tokens"),
        )
    prompt, answer = (settled.values.get(name) for name in ("prompt_tokens", "completion_tokens"))
    if prompt and answer and "sequence_tokens" not in settled.explicit:
        _set(
            settled,
            "sequence_tokens",
            int(prompt) + int(answer),
            ("prompt_tokens", "completion_tokens"),
        )
        settled.left.discard("sequence_tokens")
    elif answer and both and not prompt and int(both) > int(answer):
        _set(
            settled,
            "prompt_tokens",
            int(both) - int(answer),
            ("sequence_tokens", "completion_tokens"),
        )


def _generating(settled: Settled) -> None:
    """The GPUs that generate apart; those of the job are these and those that train."""
    values = settled.values
    parts = next(
        (parts for parts in (*BESIDE, *WITHIN) if all(values.get(part) for part in parts)), ()
    )
    if values.get("rollout") == "own gpus" and parts:
        _set(settled, "rollout_gpus", prod(int(values[part]) for part in parts), parts)
        if parts in BESIDE and "gpus" in values:
            _set(
                settled,
                "gpus",
                int(values["gpus"]) + values["rollout_gpus"],
                ("gpus", "gpus_per_node", *parts),
            )


def stored(settled: Settled, catalogs: Catalogs) -> None:
    """Settle the part `stored`: the number format in the model's name, else its maker's."""
    model = str(settled.values.get("model", ""))
    if name := stored_as(model):
        settled.values["stored"], settled.fields["stored"] = name, settled.fields["model"]
        settled.explicit.add("stored")
    elif name := catalogs.models["published_precision"].get(model_id(model, catalogs), ""):
        settled.values["stored"], settled.fields["stored"] = name, settled.fields["model"]
