"""The columns of a row in the terms of launch files."""

import json
import re
from dataclasses import dataclass
from math import ceil, lcm
from typing import Any

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.files.configs.fields import tools
from calc.files.launch.shell import Script, shell_word
from calc.files.launch.specs import torchtune_recipes
from calc.layout import replicas
from calc.mappings import Json
from calc.models.foreign import MARK
from calc.plan.matching import tag_value
from calc.plan.ownership import OWNERSHIP
from calc.scenarios.inputs import BY_NAME
from calc.table import is_missing
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
# Torchtune's module of a builder: how its name begins.
FAMILY = re.compile(r"(llama3_[123]|qwen2_5|[a-z]+\d*)_")
RENDEZVOUS = Script('--rdzv_backend c10d --rdzv_endpoint "${MASTER_ADDR:-127.0.0.1}:29500" ')
NOT_IN_A_LABEL = re.compile(r"[^a-z0-9]+")
LONGEST_LABEL = 40  # characters; a namespace and a queue name have 63 with what stands around them
TAGGED = ("instance", "volume")  # kinds of resources that aws.sh starts
RECIPES = {"full": "full_finetune", "lora": "lora_finetune"}


@dataclass(frozen=True)
class _Counts:
    """Counts that several values are derived from.

    `rollout_gpus`: GPUs of a rollout engine that has its own. `replicas`: copies of the model on
    the other GPUs. `generations`: answers to each prompt, 1 without a rollout.
    """

    gpus: int
    nodes: int
    rollout_gpus: int
    replicas: int
    generations: int

    @classmethod
    def of(cls, values: Json, nodes: int) -> "_Counts":
        """Return the counts of a row's plain values."""
        has_own = values["rollout"] == "own gpus"
        rollout_gpus = (values["rollout_gpus"] or 0) if has_own else 0
        copies = int(replicas({**values, "gpus": values["gpus"] - rollout_gpus}))
        return cls(values["gpus"], nodes, rollout_gpus, copies, values["generations"] or 1)

    @property
    def training_gpus(self) -> int:
        """The GPUs that train."""
        return self.gpus - self.rollout_gpus


def launch_values(row: Row, catalogs: Catalogs, market: str = "on-demand") -> Json:
    """Return the row's columns as plain values, and those derived for launch files."""
    values = {name: _plain(row.get(name)) for name in BY_NAME}
    counts = _Counts.of(values, _plain(row.get("instances_needed")) or 1)
    return {
        **values,
        **_model_names(values["model"], catalogs),
        **_machines(values, counts),
        **_batches(row, values, counts, catalogs),
        **_rollout(values, counts),
        **_division(values, counts, catalogs),
        **_adapters(values),
        **_shares(values, catalogs),
        **_place(row, catalogs, market, counts.nodes),
        **_tags(row),
        **_names(values),
        **_sizes(values["model"], catalogs),
    }


def _machines(values: Json, counts: _Counts) -> Json:
    """Return the GPUs, the machines, and how the processes on them find each other."""
    gpus, nodes, trainers = counts.gpus, counts.nodes, counts.training_gpus
    extent = "single_device" if gpus == 1 else "distributed"
    return {
        "nodes": nodes,
        "gpus_per_node": ceil(gpus / nodes),
        "alone": _yes(gpus == 1),
        "several_nodes": _yes(nodes > 1),
        "replicas": counts.replicas,
        "trainers": trainers,
        "training_devices": _devices(range(trainers)),
        "rollout_devices": _devices(range(trainers, gpus)),
        "recipe": f"{RECIPES[values['tuning']]}_{extent}",
        "rendezvous": RENDEZVOUS if nodes > 1 else Script(""),
    }


def _batches(row: Row, values: Json, counts: _Counts, catalogs: Catalogs) -> Json:
    """Return the batch of a step, the steps of the run, and how often it is saved."""
    objective = values["objective"] or "sft"
    global_batch = values["batch"] * values["accumulation_steps"] * counts.replicas
    sequences = global_batch * int(catalogs.objectives.at[objective, "sequences_each"])
    steps = _steps(values, sequences)
    return {
        "global_batch": global_batch,
        "steps": steps,
        "save_steps": _save_steps(row, steps),
        # TRL's KTO refuses batches of one row.
        "mixes": _yes(values["objective"] != "kto" or values["batch"] > 1),
        "ranked": str(values["objective"] in ("dpo", "orpo", "reward")).lower(),
    }


def _steps(values: Json, sequences: int) -> int | None:
    """Return the steps of a run that takes so many sequences a step; None if it does not train."""
    if not values["train_tokens"]:
        return None
    return ceil(values["train_tokens"] / (sequences * values["sequence_tokens"]))


def _rollout(values: Json, counts: _Counts) -> Json:
    """Return the prompts and the engine of a training run that generates its answers."""
    batch, accumulations = values["batch"], values["accumulation_steps"]
    generations = counts.generations
    prompts = max(batch * accumulations * counts.replicas // generations, 1)
    step_prompts = values["prompts_per_step"] or prompts
    # axolotl generates whole groups of answers on each GPU.
    generation_batch = counts.replicas * lcm(batch, generations)
    has_engine = values["rollout"] in ("colocated", "own gpus")
    return {
        "prompts": prompts,
        "step_prompts": step_prompts,
        "rollouts": _steps(values, step_prompts * generations),
        "rollout_copies": counts.rollout_gpus // (values["rollout_tensor_parallel"] or 1),
        "generation_batch": generation_batch,
        "generation_steps": _generation_steps(batch * counts.replicas, accumulations, generations),
        "score_batch": values["log_prob_batch"] or batch,
        "with_engine": Script("[vllm]" if has_engine else ""),
    }


def _division(values: Json, counts: _Counts, catalogs: Catalogs) -> Json:
    """Return how the model and its states are divided over the GPUs."""
    sharding = catalogs.shardings.loc[values["sharding"]]
    is_sharded = bool(sharding["shards_gradients"])
    shard_degree = 1
    if is_sharded:
        group_gpus = int(sharding["group_gpus"] or counts.gpus)
        shard_degree = max(min(counts.replicas, group_gpus // values["context_parallel"]), 1)
    has_shard_replicas = is_sharded and shard_degree < counts.replicas
    is_split = any(
        values[name] > 1 for name in ("tensor_parallel", "pipeline_parallel", "context_parallel")
    )
    return {
        "tensor_split": _yes(values["tensor_parallel"] > 1),
        "split": _yes(is_split),
        "meshed": _yes(is_split or values["sharding"].startswith("hsdp")),
        "experts_spread": _yes(values["expert_parallel"] > 1),
        **_shared_experts(values, counts),
        "sharded": _yes(is_sharded),
        "kind": values["sharding"].partition("-")[0],
        "shard_degree": shard_degree,
        "shard_replicas": counts.replicas // shard_degree if has_shard_replicas else None,
        "trainer_recomputes": _yes(not is_sharded or values["implementation"] == "deepspeed"),
    }


def _shared_experts(values: Json, counts: _Counts) -> Json:
    """Return the copies of attention of a service that share experts, and the GPUs of all.

    SGLang counts the GPUs of all copies as those of tensor parallel.
    """
    sharing_gpus = max(values["tensor_parallel"], values["expert_parallel"])
    copies = sharing_gpus // values["tensor_parallel"]
    shares = values["work"] == "inference" and copies > 1
    return {
        "copies_attention": _yes(shares),
        "sharing_gpus": sharing_gpus if shares else values["tensor_parallel"],
        "attention_copies": copies if shares else counts.replicas,
    }


def _adapters(values: Json) -> Json:
    """Return the modules that LoRA adapts or trains whole, and what a service has of both."""
    lora_targets = str(values["lora_targets"])
    targets = TARGETS.get(lora_targets, lora_targets).split("+")
    modules = [MODULES[target] for target in targets if target in MODULES]
    attention = [MODULES[target] for target in targets if target in "qkvo"]
    saved = values["modules_to_save"]
    offload_bytes = values["kv_offload_bytes"]
    return {
        "target_modules": modules,
        "target_names": ",".join(modules),
        "all_linear": _yes(lora_targets == "all-linear"),
        "attention_modules": [name.replace("o_proj", "output_proj") for name in attention],
        "adapts_mlp": _yes("gate" in targets),
        "trains_whole": _yes(saved != "none"),
        "saved_modules": saved.split("-and-"),
        "saved_names": saved.replace("-and-", ","),
        "serves_adapters": _yes(values["work"] == "inference" and values["adapters"]),
        "kv_offload_gib": offload_bytes / GIB if offload_bytes else None,
    }


def _shares(values: Json, catalogs: Catalogs) -> Json:
    """Return the share of the card that each serving engine would take for this row.

    The row's own engine takes the row's share; another one its default on this card.
    """
    given = {name: value for name, value in values.items() if value not in (None, "")}
    own = given.pop("memory_utilization", None)
    is_served = values["work"] == "inference" and values["gpu"]
    shares = {}
    for engine in catalogs.serving_engines.index:
        share = own if engine == values["inference_engine"] else None
        if is_served and share is None:
            scenario = given | {"inference_engine": engine}
            share = _plain(estimate(scenario, catalogs, solve=False)["memory_utilization"])
        shares[f"share_of_{engine.replace('-', '_')}"] = share
    return shares


def _model_names(model: str, catalogs: Catalogs) -> dict[str, str]:
    """Its repository, and how a comment names it: a model of one's own with its marked name."""
    hub = str(catalogs.models["hf_repo"].get(model) or model)
    name = catalogs.models["name"][model]
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
    of_group = shell_word(json.dumps([{"ResourceType": "placement-group", "Tags": each}]))
    return {
        "tagged": _yes(bool(tags)),
        "tags": tags or None,
        "tag_specifications": json.dumps(specifications),
        "group_tags": Script(f"--tag-specifications {of_group} " if tags else ""),
        "has_team": _yes("team" in tags and bool(row.get("instance"))),
        "has_project": _yes("project" in tags),
        "team_id": _label(tags.get("team", "")),
        "project_id": _label(tags.get("project", "")),
        "plan_id": _label(tags.get("plan", "plan")),
    }


def _label(name: str) -> str:
    """A name as Kubernetes and Slurm take it: lower-case letters, digits and dashes."""
    return NOT_IN_A_LABEL.sub("-", name.lower())[:LONGEST_LABEL].strip("-") or "unnamed"


def _generation_steps(sequences: int, accumulation_steps: int, generations: int) -> int | None:
    """Micro-batches of one generation, where those of one step hold no whole prompts."""
    if sequences * accumulation_steps % generations == 0:
        return None
    return lcm(sequences, generations) // sequences


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
    recipe = ""
    if family:
        recipe = (
            f"{family[1]}/{size if size == 'mini' else size.upper()}_{method[:-1] or 'full'}{alone}"
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
    most = steps // 2
    interval_seconds = _plain(row.get("checkpoint_interval_seconds"))
    step_seconds = _plain(row.get("step_seconds"))
    if interval_seconds and step_seconds:
        most = min(most, interval_seconds // step_seconds)
    return int(max(most, 1))


def _plain(value: Any) -> Any:
    """A value as plain Python: a whole number without its point, none for a missing one."""
    if is_missing(value):
        return None if not isinstance(value, str) else ""
    if hasattr(value, "item"):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _yes(holds: bool | float) -> str:
    return "yes" if holds else "no"
