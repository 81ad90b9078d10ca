"""The columns of a row in the terms of launch files."""

import json
import re
from math import ceil, lcm
from typing import Any

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.configs.fields import tools
from calc.files.launch.shell import Script
from calc.files.launch.specs import torchtune_recipes
from calc.layout import replicas
from calc.mappings import Json
from calc.models.foreign import MARK
from calc.plan.matching import tag_value
from calc.plan.ownership import OWNERSHIP
from calc.scenarios.inputs import BY_NAME
from calc.units import GIB

MODULES = {
    "q": "q_proj",
    "k": "k_proj",
    "v": "v_proj",
    "o": "o_proj",
    "gate": "gate_proj",
    "up": "up_proj",
    "down": "down_proj",
}
TARGETS = {"attention": "q+k+v+o", "all-linear": "q+k+v+o+gate+up+down"}
NO_ALIBI = ("bloom", "mpt")  # families whose positions Megatron-LM has no word for
FAMILY = re.compile(
    r"(llama3_[123]|qwen2_5|[a-z]+\d*)_"
)  # torchtune's module of a builder: how its name begins
RENDEZVOUS = Script('--rdzv_backend c10d --rdzv_endpoint "${MASTER_ADDR:-127.0.0.1}:29500" ')
TAGGED = ("instance", "volume")  # kinds of resources that aws.sh starts
RECIPES = {"full": "full_finetune", "lora": "lora_finetune"}


def launch_values(row: Row, catalogs: Catalogs, market: str = "on-demand") -> Json:
    """The row's columns as plain values, and those derived for launch files."""
    values = {name: _plain(row.get(name)) for name in BY_NAME}
    gpus, nodes = values["gpus"], _plain(row.get("instances_needed")) or 1
    apart = values["rollout_gpus"] or 0 if values["rollout"] == "own gpus" else 0
    copies = int(replicas({**values, "gpus": gpus - apart}))
    global_batch = values["batch"] * values["accumulation_steps"] * copies
    sequences = global_batch * int(
        catalogs.objectives.at[values["objective"] or "sft", "sequences_each"]
    )
    prompts = max(global_batch // (values["generations"] or 1), 1)
    rolled_out = (values["prompts_per_step"] or prompts) * (values["generations"] or 1)
    steps, rollouts = (
        ceil(values["train_tokens"] / (number * values["sequence_tokens"]))
        if values["train_tokens"]
        else None
        for number in (sequences, rolled_out)
    )
    split = any(
        values[name] > 1 for name in ("tensor_parallel", "pipeline_parallel", "context_parallel")
    )
    targets = TARGETS.get(values["lora_targets"], values["lora_targets"]).split("+")
    sharding = catalogs.shardings.loc[values["sharding"]]
    sharded = bool(sharding["shards_gradients"])
    shard_degree = (
        max(min(copies, int(sharding["group_gpus"] or gpus) // values["context_parallel"]), 1)
        if sharded
        else 1
    )
    return {
        **values,
        **_model_names(values["model"], catalogs),
        "nodes": nodes,
        "gpus_per_node": ceil(gpus / nodes),
        "replicas": copies,
        "trainers": gpus - apart,
        "training_devices": _devices(range(gpus - apart)),
        "rollout_devices": _devices(range(gpus - apart, gpus)),
        "rollout_copies": apart // (values["rollout_tensor_parallel"] or 1),
        "prompts": prompts,
        "step_prompts": values["prompts_per_step"] or prompts,
        "rollouts": rollouts,
        "generation_batch": copies
        * lcm(
            values["batch"], values["generations"] or 1
        ),  # whole groups on each GPU, as axolotl asks for
        "generation_steps": _generation_steps(
            values["batch"] * copies, values["accumulation_steps"], values["generations"] or 1
        ),
        "score_batch": values["log_prob_batch"] or values["batch"],
        "mixes": _yes(
            values["objective"] != "kto" or values["batch"] > 1
        ),  # KTO of TRL refuses rows one by one
        "engine": Script("vllm" if values["rollout"] in ("colocated", "own gpus") else ""),
        "ranked": str(values["objective"] in ("dpo", "orpo", "reward")).lower(),
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
        "trains_whole": _yes(values["modules_to_save"] != "none"),
        "saved_modules": values["modules_to_save"].split("-and-"),
        "saved_names": values["modules_to_save"].replace("-and-", ","),
        "attention_modules": [
            MODULES[target].replace("o_proj", "output_proj")
            for target in targets
            if target in "qkvo"
        ],
        "adapts_mlp": _yes("gate" in targets),
        "serves_adapters": _yes(values["work"] == "inference" and values["adapters"]),
        "kv_offload_gib": values["kv_offload_bytes"] / GIB if values["kv_offload_bytes"] else None,
        "experts_spread": _yes(values["expert_parallel"] > 1),
        "target_names": ",".join(MODULES[target] for target in targets if target in MODULES),
        "trainer_recomputes": _yes(not sharded or values["implementation"] == "deepspeed"),
        "recipe": f"{RECIPES[values['tuning']]}_{'single_device' if gpus == 1 else 'distributed'}",
        "rendezvous": RENDEZVOUS if nodes > 1 else Script(""),
        **_place(row, catalogs, market, nodes),
        **_tags(row),
        **_names(values),
        **_sizes(values["model"], catalogs),
    }


def _model_names(model: str, catalogs: Catalogs) -> dict[str, str]:
    """Its repository, and how a comment names it: a model of one's own with its marked name."""
    hub, name = str(catalogs.models["hf_repo"].get(model) or model), catalogs.models["name"][model]
    return {"hub": hub, "shown_model": f"{hub} ({name})" if name.endswith(MARK) else hub}


def _place(row: Row, catalogs: Catalogs, market: str, nodes: int) -> Json:
    """The machines: processor, network cards, how AWS sells them, and what it asks per hour."""
    instance = row.get("instance")
    card = catalogs.instances.loc[instance] if instance else {}
    usd = _plain(row.get("instance_usd_per_hour_on_demand"))
    return {
        "arch": "arm64" if card.get("arm") else "x86_64",
        "infra": f"aws/{row.get('region') or ''}",
        "efa_interfaces": int(card.get("efa_interfaces", 0)),
        "efa": _yes(nodes > 1 and card.get("efa_interfaces", 0) > 0),
        "many_cards": _yes(card.get("efa_interfaces", 0) > 1),
        "market": market,
        "spot": str(market == "spot").lower(),
        "watched": _yes(market == "spot" and row["work"] == "training"),
        "saves": "no",
        "placement_group": _yes(
            nodes > 1 and market != "capacity-block"
        ),  # a block lies close together of itself
        "priced": _yes(usd),
        "usd_per_hour": usd,
        "limit": Script(f'"MaxPrice": "{float(usd)}", ' if usd else ""),
    }


def _tags(row: Row) -> Json:
    """The tags of all that is rented: plan, team, owner and project, those that the row has."""
    named = {"plan": row.get("scenario"), **{name: row.get(name) for name in OWNERSHIP}}
    tags = {key: value for key, name in named.items() if name and (value := tag_value(str(name)))}
    each = [{"Key": key, "Value": value} for key, value in tags.items()]
    specifications = [{"ResourceType": kind, "Tags": each} for kind in TAGGED]
    return {
        "tagged": _yes(bool(tags)),
        "tags": tags or None,
        "tag_specifications": json.dumps(specifications),
    }


def _generation_steps(sequences: int, accumulation_steps: int, generations: int) -> int | None:
    """Micro-batches of one generation, where those of one step hold no whole prompts."""
    return (
        None
        if sequences * accumulation_steps % generations == 0
        else lcm(sequences, generations) // sequences
    )


def _devices(cards: range) -> str:
    return ",".join(map(str, cards))


def _names(values: Json) -> dict[str, str]:
    """The model's names in torchtune and torchtitan, where they have any."""
    builder = next(
        (name for name, model in tools()["torchtune"].models.items() if model == values["model"]),
        "",
    )
    method = {"full": "", "lora": "qlora_" if values["precision"] == "nf4-dq" else "lora_"}[
        values["tuning"]
    ]
    flavour = next(
        (name for name, model in tools()["torchtitan"].models.items() if model == values["model"]),
        "",
    )
    name, _, flavor = flavour.partition(" ")
    family = FAMILY.match(builder)
    component = f"torchtune.models.{family[1]}.{method}{builder}" if family else ""
    size = builder.removeprefix(family[0]).removesuffix("_base").replace("_", ".") if family else ""
    alone = "_single_device" if values["gpus"] == 1 else ""
    recipe = (
        f"{family[1]}/{size if size == 'mini' else size.upper()}_{method[:-1] or 'full'}{alone}"
        if family
        else ""
    )
    kin = family[1].rstrip("_0123456789") if family else ""
    return {
        "component": component,
        "recipe_config": recipe,
        "recipe_ships": _yes(recipe in torchtune_recipes()),
        "family": kin if kin in ("llama", "qwen") and not builder.startswith("llama2") else "other",
        "name": name,
        "flavor": flavor.upper(),
    }


def _sizes(model: str, catalogs: Catalogs) -> Json:
    """The model's sizes for Megatron's flags, which take dense models with equal blocks only."""
    sizes, stacks = catalogs.models.loc[model], catalogs.stacks[catalogs.stacks["model"] == model]
    stack, grouped = stacks.iloc[0], sizes["kv_heads"] != sizes["heads"]
    norms = (
        stack["rms_norm_width"]
        + 2 * stack["layer_norm_width"]
        + 2 * stack["head_dim"] * stack["norms_heads"]
    )
    biases = stack["block_parameters"] - stack["block_linear_parameters"] - norms
    products = sum(stack[f"{name}_width"] for name in ("query", "key", "value"))
    beside = sizes["outside_parameters"] - sizes["embedding_parameters"] - sizes["head_parameters"]
    return {
        **{
            name: _plain(sizes[name])
            for name in ("layers", "hidden", "heads", "head_dim", "vocab", "max_position")
        },
        "dense": _yes(
            len(stacks) == 1
            and sizes["kind"] == "decoder"
            and not stacks["experts"].max()
            and sizes["family"] not in NO_ALIBI
        ),
        "rotary": _yes(beside < sizes["max_position"] * sizes["hidden"]),
        "biases": "no" if biases <= 0 else "qkv" if biases == products else "yes",
        "norms_heads": _yes(stack["norms_heads"]),
        "kv_heads": _plain(sizes["kv_heads"]) if grouped else None,
        "grouped": _yes(grouped),
        "ffn": _plain(stack["ffn_width"]),
        "gated": _yes(stack["gated_ffn_width"] > 0),
        "rms_norms": _yes(sizes["rms_norms"]),
        "tied": _yes(sizes["tied"]),
    }


def _save_steps(row: Row, steps: int | None) -> int | None:
    """Steps between checkpoints: Daly's interval, at most half of the run. [steps]"""
    if not steps:
        return None
    interval, step = (
        _plain(row.get(name)) for name in ("checkpoint_interval_seconds", "step_seconds")
    )
    return int(max(1, min(interval // step if interval and step else steps, steps // 2)))


def _plain(value: Any) -> Any:
    if value is None or value == "" or value != value:
        return None if not isinstance(value, str) else ""
    if hasattr(value, "item"):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _yes(holds: bool | float) -> str:
    return "yes" if holds else "no"
