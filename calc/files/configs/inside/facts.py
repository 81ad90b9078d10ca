"""Facts in a file's values about machines, models and variables, with their lines."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from calc.files.configs.fields import field_catalog
from calc.files.configs.inside.cards import cards_in
from calc.files.configs.inside.docker import gpus_of_docker
from calc.files.configs.inside.terms import market_of, terms_of
from calc.files.configs.model_names import JUMPSTART, NIM
from calc.mappings import Json

Path = tuple[str, ...]
MOST_LEAVES = 20_000
INSTANCE = re.compile(r"(?:ml\.)?([a-z]{1,4}\d[a-z0-9-]{0,8}\.(?:\d{0,3}x?large|metal[\w-]{0,8}))")
REPOSITORY = re.compile(
    r"(?:hf://|huggingface://|https://huggingface\.co/)?([\w.-]{1,96}/[\w.-]{1,96})"
)
FAMILY = re.compile(r"[a-z]{1,4}\d[a-z0-9-]{0,8}")  # g6e
LONGEST_IMAGE = 200  # characters
ENVIRONMENTS = (
    *("env", "envs", "environment", "env_vars", "environment_variables", "envvars"),
    "variables",  # of GitLab
)
GPU_COUNTS = (
    *("nvidia.com/gpu", "request_gpu", "gpu_count", "num_gpus", "n_gpus", "gpus", "ngpus"),
    *(
        "gpus_per_node",
        "num_gpus_per_node",
        "n_gpus_per_node",
        "nproc_per_node",
        "gpus_per_replica",
    ),
    *(
        "num_gpus_per_worker",
        "gpus_per_worker",
        "gpus_per_task",
        "devices",
        "gpu_num",
        "proc_per_node",
    ),
    *("num_proc_per_node", "gpu", "accelerator_count", "number_of_gpus"),
)
NODE_COUNTS = (
    "num_nodes",
    "nnodes",
    "nodes",
    "instance_count",
    "num_machines",
    "node_count",
    "n_nodes",
)
COPIES = (
    *("replicas", "min_replicas", "replica_count", "initial_instance_count", "num_replicas"),
    *("desired_capacity", "desired_size", "desired_count", "workers_min", "min_containers"),
    *(
        "min_replica_count",
        "min_capacity",
        "min_instance_count",
        "autoscaling.knative.dev/min_scale",
    ),
)
OF_COPIES = re.compile(r"group\.|resource\.aws_instance\.")  # blocks of Nomad and Terraform
OF_GROUP = re.compile(r"autoscaling|scaling_config|node_group")  # of machines, on AWS
OF_DEVICES = re.compile(r"devices$|gpus?$|accelerators$|device\.nvidia")
# Of one job.
WORKERS = {"replica_specs", "pytorch_replica_specs", "mpi_replica_specs", "worker_group_specs"}
GROUPS_OF_CARDS = {"gpu", "accelerators", "flavors"}
MOST_COPIES = (
    *("max_replicas", "max_replica_count", "max_capacity", "max_instance_count"),
    *("workers_max", "max_containers", "autoscaling.knative.dev/max_scale"),
)
SPOT: tuple[str, ...] = (
    "use_spot",
    "use_spot_instances",
    "spot_policy",
    "capacity_type",
    "provisioning_model",
    "market_type",
)
SPOT += ("karpenter.sh/capacity_type", "eks.amazonaws.com/capacity_type", "spot")
SPOT += ("cloud.google.com/gke_spot", "spot_instance", "instance_lifecycle")
SPOT += ("enable_managed_spot_training", "managed_spot_training")  # of SageMaker
CARD_KEYS = re.compile(
    r"gpu|accelerator|card|resource_?profile|device_type|machine_type|device\.model|runs_on"
    r"|constraints|^partition$|^tags$"
)
SELECTORS = (
    ("key", "values"),
    ("labelKey", "labelValues"),
    ("attribute", "value"),
)  # of nodes in Kubernetes, in llm-d and in Nomad: the name of a trait, and its values
MODEL_KEYS = (
    *(
        "model",
        "model_id",
        "model_name",
        "model_path",
        "model_url",
        "modelurl",
        "model_uri",
        "repo_id",
    ),
    *("hf_model_id", "model_source", "storage_uri", "url", "uri", "repo", "model_name_or_path"),
    *(
        "option_model_id",
        "hf_model_name",
        "pretrained_model_name_or_path",
        "base_model",
        "model_tag",
        "model_location",
    ),
)
ENGINE_KEYS = (
    *("image", "repository", "engine", "framework", "backend", "runtime", "backend_framework"),
    *("inference_engine", "model_engine", "engine_type", "model_format", "class", "image_uri"),
    *("rolling_batch", "option_rolling_batch", "server", "name"),
)
OF_MEMORY = re.compile(
    r"offload|lmcache|kv_?cache|swap|quanti|speculat|draft|max_model|utilization|lora|parallel",
)
MEMORY = re.compile(
    r"(?:nvidia:)?(\d{1,3}) ?(?:GB|GiB|Gi)?(?:\.\.(?:\d{1,3} ?GB)?)?\+?"
    r"(?::(\d{1,3})(?:\.\.\d{0,3})?)?",
    re.I,
)  # 24GB.., and with a number of cards 80GB:2..4
SPAN = re.compile(r"([0-9]{1,5})\.\.([0-9]{1,5})")
JOBS = {"pytorch_replica_specs", "mpi_replica_specs", "replica_specs", "leader_worker_template"}


class Fact(NamedTuple):
    """One statement: its kind, its value, where it stands, and its text.

    Kinds: gpus, devices, nodes, copies, most_copies (numbers); card (ids with a number each);
    memory (GB of a card); tensor, data, data_local (degrees in charts of llm-d, the last on one
    node); instance; family (of instances); spot; spot_too; on_demand; region; time_limit;
    model; engine; recipe (the trainer of HyperPod's); variable (name and value).
    """

    kind: str
    value: Any
    path: Path
    text: str


def snake(name: str) -> str:
    """A key as other tools spell it: maxModelLen, max-model-len and MAX_MODEL_LEN alike."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).replace("-", "_").lower()


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every scalar, and every list of scalars, with its path.

    A selector of nodes, {key: NAME, values: [...]}, is a list under that name.
    """
    if isinstance(tree, dict) and (selector := _selector(tree)):
        yield (*path, selector[0]), selector[1]
    elif isinstance(tree, dict) and str(tree.get("class", "")).endswith("InstanceType.of"):
        yield (*path, "instance_type"), instance_of_cdk(str(tree.get("0")), str(tree.get("1")))
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, (*path, str(key)))
    elif isinstance(tree, list) and any(isinstance(item, dict | list) for item in tree):
        for place, value in enumerate(tree):
            yield from leaves(value, (*path, str(place)))
    else:
        yield path, tree


def _selector(tree: Json) -> tuple[str, Any] | None:
    """The name of a trait of nodes and the values that a mapping asks for."""
    for name, values in SELECTORS:
        if isinstance(tree.get(name), str) and values in tree:
            return tree[name].strip("${}"), tree[values]
    return None


def instance_of_cdk(family: str, size: str) -> str:
    """The instance of CDK's InstanceType.of: g5.12xlarge of InstanceClass.G5 and XLARGE12."""
    name = re.search(r"InstanceClass\.(\w+)", family)
    sizes = re.search(r"InstanceSize\.(\D+)(\d*)", size)
    if not name or not sizes:
        return ""
    return f"{name[1]}.{sizes[2]}{sizes[1].rstrip('}_')}".lower()


def facts_of(tree: Any) -> list[Fact]:
    """Every fact of a tree, in order."""
    return [
        fact
        for number, (path, value) in enumerate(leaves(tree))
        if number < MOST_LEAVES and path
        for fact in _facts(path, value)
    ] + list(_named_variables(tree, ()))


def _facts(path: Path, value: Any) -> Iterator[Fact]:
    """Yield what one field says about machines, cards, the model and variables."""
    key, parents = snake(path[-1]), [snake(name) for name in path[:-1]]
    if key in SPOT and (market := market_of(str(value).lower())):
        yield Fact(market, True, path, f"{path[-1]} {value}")
        return
    key = "gpu" if key.endswith(("/gpu", ".com/gpu")) else key
    if key.isdigit() and parents:
        key = parents[-1]
    text = f"{path[-1]} {value}"
    if parents and parents[-1] in ENVIRONMENTS and isinstance(value, str | int | float):
        yield from _variable(path[-1], str(value), path)
        return
    for one in value if isinstance(value, list) else [value]:
        yield from (Fact(kind, term, path, text) for kind, term in terms_of(key, str(one)))
    if isinstance(value, list):
        if key in ENVIRONMENTS:  # - NAME=value
            for item in value:
                name, equals, setting = str(item).partition("=")
                if equals:
                    yield from _variable(name, setting, path)
        elif key == "device_ids":
            yield Fact("devices", len(value), path, text)
        elif "instance" in key or CARD_KEYS.search(key):
            for item in value:
                yield from _of_machine(key, parents, str(item), path, text)
        return
    if parents and parents[-1] in ("accelerators", "gpus") and (cards := cards_in(path[-1])):
        number = value if isinstance(value, int) and value else cards[0][1]
        yield Fact("card", [(cards[0][0], number)], path, text)
        return
    if value is None or isinstance(value, bool):
        return
    yield from _of_machine(key, parents, str(value), path, text)
    if key == "model_type" and parents[-1:] == ["run"]:  # which trainer a HyperPod recipe runs
        yield Fact("recipe", str(value), path, text)
    of_model = key in MODEL_KEYS or (key in ("id", "name") and parents[-1:] == ["model"])
    if of_model and (match := REPOSITORY.fullmatch(str(value).strip())):
        yield Fact("model", match[1], path, text)
    elif key == "model_id" and JUMPSTART.fullmatch(str(value).strip()):
        yield Fact("model", str(value).strip(), path, text)
    if key in ENGINE_KEYS and (named := NIM.match(str(value)[:LONGEST_IMAGE])):
        yield Fact("model", f"nim/{named[1]}", path, text)
    if key in ENGINE_KEYS and isinstance(value, str):
        yield Fact("engine", value.lower(), path, text)


def _of_machine(key: str, parents: list[str], value: str, path: Path, text: str) -> Iterator[Fact]:
    """Return what one value says of machines."""
    if key == "expression" and "instance-type" in value:  # a placement constraint of ECS
        for name in INSTANCE.findall(value):
            yield Fact("instance", name, path, text)
        return
    number = (int(value) or None) if re.fullmatch(r"[0-9]{1,5}", value) else None
    if key in COPIES and (span := SPAN.fullmatch(value)):
        yield Fact("copies", int(span[1]), path, text)
        yield Fact("most_copies", int(span[2]), path, text)
        return
    if match := INSTANCE.fullmatch(value):
        yield Fact("instance", match[1], path, text)
    elif "instance_family" in key and FAMILY.fullmatch(value):
        yield Fact("family", value, path, text)
    elif machine := field_catalog().machines.get(value):
        yield Fact("card", cards_in(machine), path, text)
    elif (key in NODE_COUNTS and number) or (
        key == "size" and "leader_worker_template" in parents and number
    ):
        yield Fact("nodes", number, path, text)
    elif key == "num_workers" and parents[-1:] == ["scaling_config"] and number:
        yield Fact("gpus", number, path, text)  # of Ray Train, one for each worker
    elif key == "tensor" and parents[-1:] == ["parallelism"] and number:
        yield Fact("tensor", number, path, text)
    elif key in ("data", "data_local") and parents[-1:] == ["parallelism"] and number:
        yield Fact(key, number, path, text)
    elif WORKERS & set(parents) and key in (*COPIES, *MOST_COPIES):
        if key == "replicas" and number:
            yield Fact("workers", number, path, text)
    elif number and (key in COPIES or (key == "count" and OF_COPIES.match(" ".join(parents[-1:])))):
        yield Fact("copies", number, path, text)
    elif key == "parallelism" and parents[-1:] == ["spec"] and number:
        yield Fact("copies", number, path, text)  # of the pods of a Job
    elif number and (
        key in MOST_COPIES or (key == "max_size" and OF_GROUP.search(" ".join(parents)))
    ):
        yield Fact("most_copies", number, path, text)
    elif key == "gpus" and not number and (count := gpus_of_docker(value)):
        yield Fact("devices", count, path, text)
    elif (key in GPU_COUNTS and number) or (
        key == "count" and number and any(map(OF_DEVICES.match, parents))
    ):
        yield Fact("gpus", number, path, text)
    elif key in ("gpu", "memory", "gpu_memory") and (memory := MEMORY.fullmatch(value.strip())):
        if not number and (key != "memory" or parents[-1:] == ["gpu"]):
            yield Fact("memory", int(memory[1]), path, text)
            if memory[2]:
                yield Fact("gpus", int(memory[2]), path, text)
    elif (CARD_KEYS.search(key) or set(parents) & GROUPS_OF_CARDS) and cards_in(value):
        yield Fact("card", cards_in(value), path, text)


def _variable(name: str, value: str, path: Path) -> Iterator[Fact]:
    """A variable, and what it says as a field of its name."""
    yield Fact("variable", (name, value), path, f"{name} {value}")
    yield from _of_variable(name, value, path)


def _of_variable(name: str, value: str, path: Path) -> Iterator[Fact]:
    """Yield what an environment variable says about GPUs and the model."""
    key = snake(name)
    yield from (Fact(kind, term, path, f"{name} {value}") for kind, term in terms_of(key, value))
    if key in ("cuda_visible_devices", "nvidia_visible_devices") and re.fullmatch(
        r"[\d,\s]+", value
    ):
        devices = len([device for device in value.split(",") if device.strip()])
        yield Fact("devices", devices, path, f"{name} {value}")
    elif key in ("nproc_per_node", "sm_num_gpus") and re.fullmatch(r"[0-9]{1,5}", value):
        yield Fact("gpus", int(value), path, f"{name} {value}")
    if key in MODEL_KEYS and (match := REPOSITORY.fullmatch(value.strip())):
        yield Fact("model", match[1], path, f"{name} {value}")


def _named_variables(tree: Any, path: Path) -> Iterator[Fact]:
    """Variables that a manifest lists as {name, value}."""
    if isinstance(tree, list):
        for place, item in enumerate(tree):
            if isinstance(item, dict) and isinstance(item.get("name"), str) and "value" in item:
                yield from _variable(item["name"], str(item["value"]), (*path, str(place)))
            else:
                yield from _named_variables(item, (*path, str(place)))
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from _named_variables(value, (*path, str(key)))


def machine_in_words(lines: list[str]) -> Json:
    """The instance, or the card, that lines of prose name, if they name one alone."""
    instances = {match for line in lines for match in INSTANCE.findall(line)}
    cards = {card for line in lines for card, _ in cards_in(line)}
    if len(instances) == 1:
        return {"instance": instances.pop()}
    return {"gpu": cards.pop()} if len(cards) == 1 and not instances else {}


def common_steps(first: Path, second: Path) -> int:
    """Number of steps from the root that two paths have in common."""
    return next(
        (place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )


def job_path(path: Path) -> Path:
    """The beginning of a path that leads to a job of a master and workers; empty without one."""
    names = [snake(name) for name in path]
    place = next((at for at, name in enumerate(names) if name in JOBS), -1)
    return path[: place + 1]


def _beginnings(paths: list[Path]) -> set[Path]:
    """Every path above one of these, themselves included."""
    return {path[:steps] for path in paths for steps in range(1, len(path) + 1)}


def near_facts(facts: list[Fact], path: Path, others: list[Path]) -> list[Fact]:
    """The facts that concern the program at a path, the nearest first.

    A fact that stands nearer to another program is that program's.
    """
    of_others = _beginnings(others)
    near = []
    for fact in facts:
        steps = common_steps(fact.path, path)
        one_further = fact.path[: steps + 1]
        if len(one_further) == steps or one_further not in of_others:
            near.append((steps, fact))
    return [fact for _, fact in sorted(near, key=lambda each: -each[0])]


def unread_memory(tree: Any, program: Path, read: list[Path], others: list[Path]) -> Json:
    """Settings near a program whose names speak of memory, and which nothing has read.

    They are named to the reader, since what they change is not counted. What stands nearer to
    another program (`others`) is that program's.
    """
    fields = {}
    prefixes = set(read)
    of_others = _beginnings(others)
    for path, value in leaves(tree):
        if not path or not OF_MEMORY.search(snake(path[-1])):
            continue
        steps = common_steps(path, program)
        if snake(path[-1]) == "parallelism":  # pods of a job
            continue
        near = steps >= min(len(program), 1) and path[: steps + 1] not in of_others
        has_value = value not in (None, "", False, [], 0, "0", "false", "none")
        known = any(path[:length] in prefixes for length in range(len(path) + 1))
        if near and has_value and not known:
            fields[".".join(snake(name) for name in path)] = value
    return fields
