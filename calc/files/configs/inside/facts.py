"""Facts that a file's values state about machines, models and variables."""

import re
from collections.abc import Iterator
from typing import Any

from calc.files.configs.fields import field_catalog
from calc.files.configs.folders import is_folder
from calc.files.configs.inside.cards import cards_in
from calc.files.configs.inside.fact import Fact, Path, Setting, snake
from calc.files.configs.inside.machine_facts import machine_facts, names_machines
from calc.files.configs.inside.terms import market_of, terms_of
from calc.files.configs.model_names import JUMPSTART, NIM
from calc.mappings import Json

MOST_LEAVES = 20_000
REPOSITORY = re.compile(
    r"(?:hf://|huggingface://|https://huggingface\.co/)?([\w.-]{1,96}/[\w.-]{1,96})"
)
OF_RAY_DATA = "EngineProcessorConfig"  # the end of classes of Ray Data, whose engines run apart
LONGEST_IMAGE = 200  # characters
OF_MODEL = {("model", "id"), ("model", "name"), ("storage", "path")}  # the last of KServe
STORES = ("s3_uri", "model_data", "model_data_url", "model_location", "storage_uri")
OF_DATA = {"dataset", "datasets"}  # whose repositories hold no model
# Keys above the schedule of a job: of Vertex AI, of Azure, and of a function of Modal.
OF_JOB = ("scheduling", "limits", "decorator 0")
VISIBLE_DEVICES = ("cuda_visible_devices", "nvidia_visible_devices")
# Of nodes in Kubernetes, in llm-d and in Nomad: the name of a trait, and its values.
SELECTORS = (
    ("key", "values"),
    ("key", "value"),
    ("labelKey", "labelValues"),
    ("attribute", "value"),
)


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
            is_copies = key == "concurrency" and str(tree.get("class", "")).endswith(OF_RAY_DATA)
            yield from leaves(value, (*path, "num_replicas" if is_copies else str(key)))
    elif isinstance(tree, list) and any(isinstance(item, dict | list) for item in tree):
        for place, value in enumerate(tree):
            yield from leaves(value, (*path, str(place)))
    else:
        yield path, tree


def _selector(tree: Json) -> tuple[str, Any] | None:
    """The name of a trait of nodes and the values that a mapping asks for."""
    for name, values in SELECTORS:
        is_other = (name, values) == ("key", "value") and "effect" not in tree  # no toleration
        if isinstance(tree.get(name), str) and values in tree and not is_other:
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
    """Yield the facts that one field states, whose value is a scalar or a list of scalars."""
    keys = field_catalog().keys
    key, parents = snake(path[-1]), [snake(name) for name in path[:-1]]
    text = f"{path[-1]} {value}"
    if key in keys.spot and (market := market_of(str(value).lower())):
        yield Fact(market, True, path, text)
        return
    if key.endswith(("/gpu", ".com/gpu")):
        key = "gpu"
    if key.isdigit() and parents:
        key = parents[-1]
    if parents and parents[-1] in keys.environments and isinstance(value, str | int | float):
        yield from _variable(path[-1], str(value), path)
        return
    items = value if isinstance(value, list) else [value]
    settings = [Setting(key, parents, str(item), path, text) for item in items]
    if settings and settings[0].parent in OF_JOB and key in ("timeout", "strategy"):
        yield from _facts_of_schedule(settings[0])
        return
    for setting in settings:
        yield from (setting.states(kind, term) for kind, term in terms_of(key, setting.value))
    if isinstance(value, list):
        yield from _facts_of_list(settings)
    elif settings[0].parent in ("accelerators", "gpus") and (cards := cards_in(path[-1])):
        number = value if isinstance(value, int) and value else cards[0][1]
        yield Fact("card", [(cards[0][0], number)], path, text)
    elif value is not None and not isinstance(value, bool):
        yield from machine_facts(settings[0])
        yield from _facts_about_software(settings[0], is_text=isinstance(value, str))


def _facts_of_schedule(setting: Setting) -> Iterator[Fact]:
    """Yield the longest time, or Spot, that the schedule of a job asks for."""
    market = market_of(setting.value.lower())
    if setting.key == "strategy" and market:
        yield setting.states(market, True)
    elif setting.key == "timeout" and setting.value[:1].isdigit():
        yield setting.states("time_limit", f"timeout {setting.value}")


def _facts_of_list(settings: list[Setting]) -> Iterator[Fact]:
    """Yield what the items of a list state: variables as NAME=value, devices, or machines."""
    if not settings:
        return
    if settings[0].key in field_catalog().keys.environments:
        for setting in settings:
            name, equals, value = setting.value.partition("=")
            if equals:
                yield from _variable(name, value, setting.path)
    elif settings[0].key == "device_ids":
        yield settings[0].states("devices", len(settings))
        yield settings[0].states("device_names", ",".join(one.value for one in settings))
    elif names_machines(settings[0].key):
        for setting in settings:
            yield from machine_facts(setting)


def _facts_about_software(setting: Setting, is_text: bool) -> Iterator[Fact]:
    """Yield the model, the engine and the trainer that a field names."""
    keys, key, name = field_catalog().keys, setting.key, setting.value.strip()
    if key == "model_type" and setting.parent == "run":  # which trainer a HyperPod recipe runs
        yield setting.states("recipe", setting.value)
    of_model = key in keys.model or (setting.parent, key) in OF_MODEL
    name = name.rstrip("/") if key == "path" else name
    of_model = of_model and not OF_DATA & set(setting.parents)
    if of_model and (match := REPOSITORY.fullmatch(name)):
        yield setting.states("model", match[1])
    elif (of_model and "model" in f"{key} {setting.parent}" and is_folder(name)) or (
        key == "model_id" and JUMPSTART.fullmatch(name)
    ):
        yield setting.states("model", name)
    elif key in STORES and "://" in name:
        yield setting.states("named_as", folder_in_store(name))
    elif key == "model_name" and name and "/" not in name:
        yield setting.states("named_as", name)
    if key in keys.engine and (match := NIM.match(setting.value[:LONGEST_IMAGE])):
        yield setting.states("model", f"nim/{match[1]}")
    if key in keys.engine and is_text:
        yield setting.states("engine", setting.value.lower())


def folder_in_store(address: str) -> str:
    """The folder that an address in a store names last, an archive in it left out."""
    parts = [part for part in address.partition("://")[2].split("/") if part]
    is_archive = len(parts) > 1 and parts[-1].endswith((".tar.gz", ".tgz", ".tar", ".zip"))
    return "".join(parts[-2:-1] if is_archive else parts[-1:])


def _variable(name: str, value: str, path: Path) -> Iterator[Fact]:
    """Yield a variable, and what it states about GPUs and the model as a field of its name."""
    setting = Setting(snake(name), [], value, path, f"{name} {value}")
    yield setting.states("variable", (name, value))
    yield from (setting.states(kind, term) for kind, term in terms_of(setting.key, value))
    if setting.key in VISIBLE_DEVICES and re.fullmatch(r"[\d,\s]+", value):
        devices = [device for device in value.split(",") if device.strip()]
        yield setting.states("devices", len(devices))
        yield setting.states("device_names", ",".join(map(str.strip, devices)))
    elif setting.key in ("nproc_per_node", "sm_num_gpus") and re.fullmatch(r"[0-9]{1,5}", value):
        yield setting.states("gpus", int(value))
    if setting.key in field_catalog().keys.model and (match := REPOSITORY.fullmatch(value.strip())):
        yield setting.states("model", match[1])


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
