"""Facts about machines that a setting of a file states: instances, cards, and their numbers."""

import re
from collections.abc import Iterable

from calc.files.configs.fields import field_catalog
from calc.files.configs.inside.cards import cards_in
from calc.files.configs.inside.docker import gpus_of_docker
from calc.files.configs.inside.fact import Fact, Setting
from calc.files.configs.inside.terms import REGION, place_of
from calc.mappings import Json

INSTANCE = re.compile(r"(?:ml\.)?([a-z]{1,4}\d[a-z0-9-]{0,8}\.(?:\d{0,3}x?large|metal[\w-]{0,8}))")
SIZE = re.compile(r"\d{0,3}x?large|metal")  # 2xlarge
FAMILY = re.compile(r"[a-z]{1,4}\d[a-z0-9-]{0,8}")  # g6e
POOL = re.compile(r"((?:g|p)\d[a-z]{0,3})-(?:gpu|karpenter|nodes?)\b")  # g5-gpu-karpenter, of nodes
OF_COPIES = re.compile(r"group\.|resource\.aws_instance\.")  # blocks of Nomad and Terraform
OF_GROUP = re.compile(r"autoscaling|scaling_config|node_group")  # of machines, on AWS
OF_DEVICES = re.compile(r"devices$|gpus?$|accelerators?$|device\.nvidia")
# Of one job.
WORKERS = {"replica_specs", "pytorch_replica_specs", "mpi_replica_specs", "worker_group_specs"}
GROUPS_OF_CARDS = {"gpu", "accelerator", "accelerators", "flavors"}
CARD_KEYS = re.compile(
    r"gpu|accelerator|card|compute_config|resource_?profile|device_type|machine_type"
    r"|device\.model|runs_on|constraints|^partition$|^tags$"
)
SLICE = re.compile(r"nvidia\.com/mig_(\w+\.\w+gb)")  # nvidia.com/mig-3g.20gb, of a card
MEMORY = re.compile(
    r"(?:nvidia:)?(\d{1,3}) ?(?:GB|GiB|Gi)?(?:\.\.(?:\d{1,3} ?GB)?)?\+?"
    r"(?::(\d{1,3})(?:\.\.\d{0,3})?)?",
    re.I,
)  # 24GB.., and with a number of cards 80GB:2..4
GPU_SPAN = re.compile(r":(\d{1,4})\.\.(\d{1,4})$")
SPAN = re.compile(r"([0-9]{1,5})\.\.([0-9]{1,5})")


def names_machines(key: str) -> bool:
    """Return whether the values of a key may name instances or cards."""
    return "instance" in key or bool(CARD_KEYS.search(key))


def machine_facts(setting: Setting) -> Iterable[Fact]:
    """The facts about machines that a setting states. The first reader that finds any decides."""
    return next((facts for read in _READERS if (facts := read(setting))), [])


def _instances_of_constraint(setting: Setting) -> list[Fact]:
    """Instances in a placement constraint of ECS."""
    if setting.key != "expression" or "instance-type" not in setting.value:
        return []
    return [setting.states("instance", name) for name in INSTANCE.findall(setting.value)]


def _span_of_copies(setting: Setting) -> list[Fact]:
    """Copies from one number to another, written as 1..4."""
    span = SPAN.fullmatch(setting.value)
    if not span or setting.key not in field_catalog().keys.copies:
        return []
    return [setting.states("copies", int(span[1])), setting.states("most_copies", int(span[2]))]


def _machine(setting: Setting) -> list[Fact]:
    """An instance, a family of instances, or a machine of another cloud."""
    value = setting.value
    if match := INSTANCE.fullmatch(value):
        is_managed = value.startswith("ml.") and "spec" not in setting.parents  # of no cluster
        managed = [setting.states("sagemaker", True)] if is_managed else []
        return [setting.states("instance", match[1]), *managed]
    if "instance_family" in setting.key and FAMILY.fullmatch(value):
        return [setting.states("family", value)]
    if "instance_size" in setting.key and SIZE.fullmatch(value):
        return [setting.states("size", value)]
    if setting.parent == "node_selector" and (pool := POOL.match(value)):
        return [setting.states("family", pool[1])]
    machine = field_catalog().machines.get(value)
    return [setting.states("card", cards_in(machine))] if machine else []


def _nodes(setting: Setting) -> list[Fact]:
    """The number of nodes of a job, or of instances of a job or of an endpoint."""
    key, parents = setting.key, setting.parents
    is_node_count = key in field_catalog().keys.nodes or (
        key == "size" and "leader_worker_template" in parents
    )
    if setting.key == "instance_count" and setting.number:
        return [setting.states("instances", setting.number)]
    return [setting.states("nodes", setting.number)] if is_node_count and setting.number else []


def _degree(setting: Setting) -> list[Fact]:
    """A degree of parallelism in a chart of llm-d, or the workers of Ray Train, one GPU each."""
    if not setting.number:
        return []
    if setting.key == "num_workers" and setting.parent == "scaling_config":
        return [setting.states("gpus", setting.number)]
    if setting.key in ("tensor", "data", "data_local") and setting.parent == "parallelism":
        return [setting.states(setting.key, setting.number)]
    return []


def _copies(setting: Setting) -> list[Fact]:
    """Copies of a deployment, the most that it scales to, or the workers of one job."""
    keys, key, number = field_catalog().keys, setting.key, setting.number
    if not number:
        return []
    if WORKERS & set(setting.parents) and key in (*keys.copies, *keys.most_copies):
        return [setting.states("workers", number)] if key == "replicas" else []
    is_pods_of_job = key == "parallelism" and setting.parent == "spec"
    is_block = key == "count" and OF_COPIES.match(setting.parent)
    if key in keys.copies or is_block or is_pods_of_job:
        return [setting.states("copies", number)]
    is_group = key == "max_size" and OF_GROUP.search(" ".join(setting.parents))
    if key in keys.most_copies or is_group:
        return [setting.states("most_copies", number)]
    return []


def _gpus(setting: Setting) -> list[Fact]:
    """The number of GPUs, or of the devices that a container sees."""
    key, number = setting.key, setting.number
    if (part := SLICE.match(key)) and number:
        return [setting.states("gpus", number), setting.states("slice", part[1])]
    if key == "gpus" and not number and (count := gpus_of_docker(setting.value)):
        return [setting.states("devices", count)]
    is_count = key in field_catalog().keys.gpus or (
        key == "count" and any(map(OF_DEVICES.match, setting.parents))
    )
    if is_count and (span := SPAN.fullmatch(setting.value)):
        named = setting.states("gpus_named", f"{span[1]} to {span[2]}")
        return [setting.states("gpus", int(span[1])), named]
    return [setting.states("gpus", number)] if is_count and number else []


def _memory(setting: Setting) -> list[Fact]:
    """The memory of a card, with the number of cards if it stands beside it."""
    is_of_card = setting.key in ("gpu", "gpu_memory") or (
        setting.key == "memory" and setting.parent == "gpu"
    )
    memory = MEMORY.fullmatch(setting.value.strip())
    if not is_of_card or not memory or setting.number:
        return []
    facts = [setting.states("memory", int(memory[1])), *_span_of_gpus(setting)]
    return [*facts, setting.states("gpus", int(memory[2]))] if memory[2] else facts


def _card(setting: Setting) -> list[Fact]:
    """Cards named in the value of a key that speaks of cards."""
    if not CARD_KEYS.search(setting.key) and not set(setting.parents) & GROUPS_OF_CARDS:
        return []
    cards = cards_in(setting.value)
    return [setting.states("card", cards), *_span_of_gpus(setting)] if cards else []


def _span_of_gpus(setting: Setting) -> list[Fact]:
    """GPUs from one number to another behind a card or its memory, as in H100:4..8."""
    span = GPU_SPAN.search(setting.value)
    return [setting.states("gpus_named", f"{span[1]} to {span[2]}")] if span else []


_READERS = (
    _instances_of_constraint,
    _span_of_copies,
    _machine,
    _nodes,
    _degree,
    _copies,
    _gpus,
    _memory,
    _card,
)


def machine_in_words(lines: list[str]) -> Json:
    """The instance, or the card, and the region that lines of prose name, each if one alone."""
    instances = {match for line in lines for match in INSTANCE.findall(line)}
    cards = {card for line in lines for card, _ in cards_in(line)}
    place: Json = {**place_of([match for line in lines for match in REGION.findall(line)])}
    if len(instances) == 1:
        return {"instance": instances.pop(), **place}
    return ({"gpu": cards.pop()} if len(cards) == 1 and not instances else {}) | place
