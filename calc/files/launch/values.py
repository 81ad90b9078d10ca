"""The columns of a row in the terms of launch files."""

import re
from math import ceil
from typing import Any

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.configs.fields import tools
from calc.layout import replicas
from calc.scenarios.inputs import BY_NAME
from calc.units import GIB

MODULES = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "o_proj", "gate": "gate_proj", "up": "up_proj", "down": "down_proj"}
TARGETS = {"attention": "q+k+v+o", "all-linear": "q+k+v+o+gate+up+down"}
FAMILY = re.compile(r"(llama3_[123]|qwen2_5|[a-z]+\d*)_")  # torchtune's module of a builder: how its name begins
RECIPES = {"full": "full_finetune", "lora": "lora_finetune"}


def launch_values(row: Row, catalogs: Catalogs) -> dict[str, Any]:
    """The row's columns as plain values, and those derived for launch files."""
    values = {name: _plain(row.get(name)) for name in BY_NAME}
    gpus, nodes, copies = values["gpus"], _plain(row.get("instances_needed")) or 1, int(replicas(values))
    global_batch = values["batch"] * values["accumulation_steps"] * copies
    steps = ceil(values["train_tokens"] / (global_batch * values["sequence_tokens"])) if values["train_tokens"] else None
    split = any(values[name] > 1 for name in ("tensor_parallel", "pipeline_parallel", "context_parallel"))
    targets = TARGETS.get(values["lora_targets"], values["lora_targets"]).split("+")
    sharding = catalogs.shardings.loc[values["sharding"]]
    sharded = bool(sharding["shards_gradients"])
    shard_degree = max(min(copies, int(sharding["group_gpus"] or gpus) // values["context_parallel"]), 1) if sharded else 1
    return {
        **values,
        "hub": str(catalogs.models["hf_repo"].get(values["model"]) or values["model"]),
        "nodes": nodes,
        "gpus_per_node": ceil(gpus / nodes),
        "replicas": copies,
        "alone": _yes(gpus == 1),
        "several_nodes": _yes(nodes > 1),
        "tensor_split": _yes(values["tensor_parallel"] > 1),
        "sharded": _yes(sharded),
        "kind": values["sharding"].partition("-")[0],
        "split": _yes(split),
        "meshed": _yes(split or values["sharding"].startswith("hsdp")),
        "shard_degree": shard_degree,
        "shard_replicas": copies // shard_degree if sharded and shard_degree < copies else None,
        "global_batch": global_batch,
        "steps": steps,
        "save_steps": _save_steps(row, steps),
        "target_modules": [MODULES[target] for target in targets if target in MODULES],
        "all_linear": _yes(values["lora_targets"] == "all-linear"),
        "attention_modules": [MODULES[target].replace("o_proj", "output_proj") for target in targets if target in "qkvo"],
        "adapts_mlp": _yes("gate" in targets),
        "serves_adapters": _yes(values["work"] == "inference" and values["adapters"]),
        "kv_offload_gib": values["kv_offload_bytes"] / GIB if values["kv_offload_bytes"] else None,
        "experts_spread": _yes(values["expert_parallel"] > 1),
        "recipe": f"{RECIPES[values['tuning']]}_{'single_device' if gpus == 1 else 'distributed'}",
        "arch": "arm64" if row.get("instance") and bool(catalogs.instances["arm"].get(row["instance"])) else "x86_64",
        **_names(values),
        **_sizes(values["model"], catalogs),
    }


def _names(values: dict[str, Any]) -> dict[str, str]:
    """The model's names in torchtune and torchtitan, where they have any."""
    builder = next((name for name, model in tools()["torchtune"].models.items() if model == values["model"]), "")
    method = {"full": "", "lora": "qlora_" if values["precision"] == "nf4-dq" else "lora_"}[values["tuning"]]
    flavour = next((name for name, model in tools()["torchtitan"].models.items() if model == values["model"]), "")
    name, _, flavor = flavour.partition(" ")
    family = FAMILY.match(builder)
    component = f"torchtune.models.{family[1]}.{method}{builder}" if family else ""
    return {"component": component, "name": name, "flavor": flavor.upper()}


def _sizes(model: str, catalogs: Catalogs) -> dict[str, Any]:
    """The model's sizes for Megatron's flags, which take dense models with equal blocks only."""
    sizes, stacks = catalogs.models.loc[model], catalogs.stacks[catalogs.stacks["model"] == model]
    stack, grouped = stacks.iloc[0], sizes["kv_heads"] != sizes["heads"]
    return {
        **{name: _plain(sizes[name]) for name in ("layers", "hidden", "heads", "vocab", "max_position")},
        "dense": _yes(len(stacks) == 1 and sizes["kind"] == "decoder" and not stacks["experts"].max()),
        "kv_heads": _plain(sizes["kv_heads"]) if grouped else None,
        "grouped": _yes(grouped),
        "ffn": _plain(stack["ffn_width"]),
        "gated": _yes(stack["gated_ffn_width"] > 0),
        "rms_norms": _yes(sizes["rms_norms"]),
        "tied": _yes(sizes["tied"]),
    }


def _save_steps(row: Row, steps: int | None) -> int | None:
    """Steps between checkpoints: Daly's interval, where the row has it. [steps]"""
    interval, step = row.get("checkpoint_interval_seconds"), row.get("step_seconds")
    if not steps or not interval or not step or interval != interval or step != step:
        return None
    return int(min(max(1, interval // step), steps))


def _plain(value: Any) -> Any:
    if value is None or value == "" or value != value:
        return None if not isinstance(value, str) else ""
    if hasattr(value, "item"):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _yes(holds: bool | float) -> str:
    return "yes" if holds else "no"
